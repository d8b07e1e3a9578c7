/* answer.c - see answer.h. */
#include "model/answer.h"
#include "base/buf.h"
#include "base/utf8.h"
#include "model/answer_time.h"
#include "model/answer_words.h"
#include "text/json.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

enum { WORDS_MAX = 8192, MESSAGE_MAX = 500, TITLE_MAX = 120 };

/* A number of seconds from here on is a time since 1970 (in milliseconds from a thousand
 * times as many on), not a duration. */
#define EPOCH_LEAST 1e9

/* What an error body holds, whatever its shape. */
struct words {
    struct span message, more; /* `more`: what the server behind the server said */
    struct span code, type, param;
    int status; /* 0: none inside */
    double retry_after_s;
};

static const char *header(const struct answer *a, const char *name)
{
    return a->header ? a->header(a->arg, name) : NULL;
}

/* --- headers -------------------------------------------------------------------- */

/* The server's clock, or ours where it does not say. */
static double server_time(const struct answer *a)
{
    const char *date = header(a, "date");
    double now = date ? time_http_date(date) : -1;
    return now >= 0 ? now : a->wall_s;
}

/* Seconds until an allowance is whole again, -1 when nothing is understood. Some servers
 * give the time of day for it: taken for a duration, it would be waited for for years. */
static double read_reset(const struct answer *a, const char *text)
{
    double n = time_number(text);
    if (n < EPOCH_LEAST)
        return strpbrk(text, "-:") ? -1 : time_duration(text);
    double until = n < EPOCH_LEAST * 1000 ? n : n / 1000;
    return fmax(until - server_time(a), 0);
}

static bool read_allowance(const struct answer *a, const char *kind,
                           struct answer_allowance *out)
{
    static const char *const words[] = { "limit", "remaining", "reset" };
    double *const fields[] = { &out->limit, &out->remaining, &out->reset_s };
    bool is_given = false;
    for (size_t i = 0; i < 3; i++) {
        char name[64];
        snprintf(name, sizeof name, "x-ratelimit-%s-%s", words[i], kind);
        const char *text = header(a, name);
        *fields[i] = !text ? -1 : i == 2 ? read_reset(a, text) : time_number(text);
        is_given = is_given || *fields[i] >= 0;
    }
    return is_given;
}

struct answer_limits answer_limits(const struct answer *a)
{
    struct answer_limits l = { 0 };
    bool has_requests = read_allowance(a, "requests", &l.requests);
    bool has_tokens = read_allowance(a, "tokens", &l.tokens);
    l.is_given = has_requests || has_tokens;
    return l;
}

double answer_retry_after(const struct answer *a)
{
    const char *ms = header(a, "retry-after-ms");
    double wait = ms ? time_number(ms) : -1;
    if (wait >= 0)
        return wait / 1000;
    const char *text = header(a, "retry-after");
    if (!text)
        return -1;
    wait = time_number(text);
    double until = wait < 0 ? time_http_date(text) : -1;
    return until < 0 ? wait : fmax(until - server_time(a), 0);
}

/* --- words ---------------------------------------------------------------------- */

static struct span text_of(const struct value *v)
{
    const char *text = value_text(v);
    return text ? (struct span){ text, v->count } : CHAT_NONE;
}

static bool is_key_byte(unsigned char c)
{
    return isalnum(c) || c == '-' || c == '_' || c == '.' || c == '*';
}

/* How many bytes at p are a key: those behind a prefix that keys have. */
static size_t key_length(const char *p, size_t n)
{
    static const char *const starts[] = {
        "sk-", "gsk_", "xai-", "AIza", "hf_", "Bearer "
    };
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
        size_t k = strlen(starts[i]);
        if (n < k || memcmp(p, starts[i], k) != 0)
            continue;
        while (k < n && is_key_byte((unsigned char)p[k]))
            k++;
        if (k >= strlen(starts[i]) + 6)
            return k;
    }
    return 0;
}

static void add_clean(struct buf *b, const char *p, size_t n)
{
    for (size_t i = 0; i < n;) {
        bool starts_word = i == 0 || !is_key_byte((unsigned char)p[i - 1]);
        size_t key = starts_word ? key_length(p + i, n - i) : 0;
        unsigned char c = (unsigned char)p[i];
        if (key) {
            buf_add_text(b, "***");
        } else if (c <= ' ' || c == 0x7F) {
            if (b->len && b->ptr[b->len - 1] != ' ')
                buf_add_char(b, ' ');
        } else {
            buf_add_char(b, (char)c);
        }
        i += key ? key : 1;
    }
}

void answer_clean(struct span text, char *out, size_t n)
{
    struct buf valid = { 0 }, clean = { 0 };
    utf8_fix(&valid, text.ptr, text.len < 4 * n ? text.len : 4 * n);
    add_clean(&clean, buf_text(&valid), valid.len);
    size_t end = clean.len < n - 1 ? clean.len : n - 1;
    while (end < clean.len && end > 0 && ((unsigned char)clean.ptr[end] & 0xC0) == 0x80)
        end--;
    memcpy(out, buf_text(&clean), end);
    out[end] = '\0';
    while (end > 0 && out[end - 1] == ' ')
        out[--end] = '\0';
    buf_free(&valid);
    buf_free(&clean);
}

/* A code may be a text or a number. */
static struct span code_of(const struct value *v, char digits[32])
{
    if (value_is(v, VALUE_TEXT))
        return text_of(v);
    if (!value_is(v, VALUE_INTEGER))
        return CHAT_NONE;
    int n = snprintf(digits, 32, "%lld", (long long)v->integer);
    return (struct span){ digits, (size_t)n };
}

static int status_in(struct span code)
{
    char *end;
    long n = code.len == 3 ? strtol(code.ptr, &end, 10) : 0;
    return n >= 400 && n <= 599 && end == code.ptr + 3 ? (int)n : 0;
}

static double wait_in_details(const struct value *details)
{
    for (size_t i = 0; i < value_count(details); i++) {
        const char *text = value_text_or(value_at(details, i), "retryDelay", NULL);
        if (text)
            return time_duration(text);
    }
    return -1;
}

static double wait_in_message(struct span message)
{
    static const char phrase[] = "try again in ";
    const char *at = memmem(message.ptr, message.len, phrase, sizeof phrase - 1);
    return at ? time_duration(at + sizeof phrase - 1) : -1;
}

static struct span first_text(const struct value *object, const char *const names[])
{
    for (size_t i = 0; names[i]; i++) {
        struct span s = text_of(value_get(object, names[i]));
        if (s.len)
            return s;
    }
    return CHAT_NONE;
}

static void read_error_object(const struct value *error, struct words *w, char digits[32])
{
    static const char *const messages[] = { "message", "msg", "detail", "error", NULL };
    static const char *const types[] = { "type", "status", NULL };
    w->message = first_text(error, messages);
    w->type = first_text(error, types);
    w->code = code_of(value_get(error, "code"), digits);
    w->param = text_of(value_get(error, "param"));
    w->status = status_in(w->code);
    w->more = text_of(value_get(value_get(error, "metadata"), "raw"));
    if (!w->more.len)
        w->more = text_of(value_get(value_get(error, "innererror"), "code"));
    w->retry_after_s = wait_in_details(value_get(error, "details"));
    if (w->retry_after_s < 0)
        w->retry_after_s = wait_in_message(w->message);
}

/* {"detail": "..."} or {"detail": [{"loc": ["body", "seed"], "msg": "..."}]} */
static void read_detail(const struct value *detail, struct words *w)
{
    const struct value *first = value_at(detail, 0);
    const struct value *loc = value_get(first, "loc");
    size_t n = value_count(loc);
    w->message =
        detail->kind == VALUE_TEXT ? text_of(detail) : text_of(value_get(first, "msg"));
    w->param = n ? text_of(value_at(loc, n - 1)) : CHAT_NONE;
}

/* {"base_resp": {"status_code": 1004, "status_msg": "..."}}, 0 when all is well. */
static void read_base_resp(const struct value *base, struct words *w, char digits[32])
{
    static const int map[][2] = {
        { 1001, 504 }, { 1002, 429 }, { 1004, 401 }, { 1008, 402 },
        { 1039, 429 }, { 2013, 400 }, { 2049, 401 },
    };
    int64_t code = value_integer_or(base, "status_code", 0);
    w->message = text_of(value_get(base, "status_msg"));
    w->code = code_of(value_get(base, "status_code"), digits);
    w->status = 500;
    for (size_t i = 0; i < sizeof map / sizeof map[0]; i++)
        if (map[i][0] == code)
            w->status = map[i][1];
    if (code == 1026 || code == 1027)
        w->type = SPAN("content_filter");
}

static bool is_error_value(const struct value *v)
{
    return value_is(v, VALUE_OBJECT) || (value_is(v, VALUE_TEXT) && v->count > 0);
}

/* False when `v` tells of no error. */
static bool read_words(const struct value *v, struct words *w, char digits[32])
{
    *w = (struct words){ CHAT_NONE, CHAT_NONE, CHAT_NONE, CHAT_NONE, CHAT_NONE, 0, -1 };
    if (value_is(v, VALUE_ARRAY))
        v = value_at(v, 0);
    const struct value *error = value_get(v, "error");
    const struct value *base = value_get(v, "base_resp");
    const struct value *detail = value_get(v, "detail");
    if (!is_error_value(error) && value_count(value_get(v, "errors")) > 0)
        error = value_at(value_get(v, "errors"), 0);
    if (is_error_value(error) && error->kind == VALUE_TEXT)
        w->message = text_of(error);
    else if (is_error_value(error))
        read_error_object(error, w, digits);
    else if (value_integer_or(base, "status_code", 0) != 0)
        read_base_resp(base, w, digits);
    else if (value_get(v, "choices"))
        return false;
    else if (is_error_value(detail) || value_count(detail) > 0)
        read_detail(detail, w);
    else
        read_error_object(v, w, digits);
    return w->message.len > 0 || w->code.len > 0 || w->type.len > 0;
}

/* --- judgement ------------------------------------------------------------------ */

static enum err_kind kind_of_status(int status)
{
    switch (status) {
    case 401:
    case 402:
    case 403:
    case 407:
        return ERR_AUTH;
    case 408:
    case 504:
        return ERR_TIMEOUT;
    case 409:
    case 423:
    case 425:
        return ERR_SERVER;
    case 429:
        return ERR_RATE_LIMIT;
    default:
        return status >= 300 && status < 500 ? ERR_BAD_REQUEST : ERR_SERVER;
    }
}

/* Lower-case words of all fields, for the tables of spellings. */
static void gather(const struct words *w, struct buf *all)
{
    const struct span fields[] = { w->code, w->type, w->message, w->more };
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        size_t room = WORDS_MAX - all->len;
        buf_add(all, fields[i].ptr, fields[i].len < room ? fields[i].len : room);
        buf_add_char(all, ' ');
    }
    for (size_t i = 0; i < all->len; i++)
        all->ptr[i] = (char)tolower((unsigned char)all->ptr[i]);
}

static bool may_be_answer(int status)
{
    return status != 401 && status != 402 && status != 404 && status != 429;
}

static enum err_kind kind_of(int status, struct span all)
{
    if (may_be_answer(status) && words_are_about(WORDS_FILTERED, all))
        return ERR_FILTERED;
    if (may_be_answer(status) && status != 403 && words_are_about(WORDS_TOO_LONG, all))
        return ERR_TOO_LONG;
    if ((status == 429 || status == 403 || status == 400) &&
        words_are_about(WORDS_NO_CREDIT, all))
        return ERR_AUTH;
    return kind_of_status(status);
}

static void hint_for(const struct answer *a, int status, struct span all, struct err *e)
{
    const char *place = header(a, "location");
    if (e->kind == ERR_AUTH && (status == 402 || words_are_about(WORDS_NO_CREDIT, all)))
        err_hint(e, "the account of this key has no credit left");
    else if (status == 401)
        err_hint(e, "check the API key of this endpoint");
    else if (status == 403)
        err_hint(e, "this key may not use this model or this address");
    else if (status == 404 || status == 405)
        err_hint(e, "check the model's name and the base URL");
    else if (status >= 300 && status < 400)
        err_hint(e, "redirects are not followed: set the base URL to %.150s",
                 place ? place : "where the server really is");
}

static void set_param(const struct words *w, struct span all, struct fault *f)
{
    if (f->err.kind != ERR_BAD_REQUEST)
        return;
    answer_clean(w->param, f->param, sizeof f->param);
    const char *named = w->param.len ? NULL : words_parameter(all);
    if (named)
        snprintf(f->param, sizeof f->param, "%s", named);
}

static void set_retry(const struct answer *a, double wait_s, struct fault *f)
{
    const char *wish = header(a, "x-should-retry");
    if (wish && strcasecmp(wish, "false") == 0)
        f->err.retry = false;
    else if (wish && strcasecmp(wish, "true") == 0)
        f->err.retry = true;
    f->retry_after_s = answer_retry_after(a);
    if (f->retry_after_s < 0)
        f->retry_after_s = wait_s;
}

static void judge_words(const struct answer *a, const struct words *w, struct fault *f)
{
    struct buf all = { .max = WORDS_MAX + 16 };
    char message[MESSAGE_MAX], more[MESSAGE_MAX];
    gather(w, &all);
    struct span words = span_of(&all);
    bool is_success = a->status >= 200 && a->status < 300;
    int status = is_success ? w->status : a->status;
    if (!status)
        status = words_status(words) ? words_status(words) : 500;
    answer_clean(w->message.len ? w->message : w->type, message, sizeof message);
    answer_clean(w->more, more, sizeof more);
    answer_clean(w->code, f->code, sizeof f->code);
    err_set(&f->err, kind_of(status, words), "the server answered %d: %s%s%s", status,
            message[0] ? message : "an error without words", more[0] ? ": " : "", more);
    hint_for(a, status, words, &f->err);
    f->status = status;
    set_param(w, words, f);
    set_retry(a, w->retry_after_s, f);
    buf_free(&all);
}

static void fault_clear(struct fault *f)
{
    *f = (struct fault){ .retry_after_s = -1 };
}

void fault_set(struct fault *f, enum err_kind kind, const char *message)
{
    fault_clear(f);
    err_set(&f->err, kind, "%s", message);
}

bool answer_judge_object(const struct answer *a, const struct value *v, struct fault *f)
{
    struct words w;
    char digits[32];
    fault_clear(f);
    if (!read_words(v, &w, digits))
        return false;
    judge_words(a, &w, f);
    return true;
}

/* --- bodies that are no JSON ---------------------------------------------------- */

static struct span first_line(struct span body)
{
    size_t i = 0;
    while (i < body.len && isspace((unsigned char)body.ptr[i]))
        i++;
    return span_from(body, i);
}

static bool is_page(const struct answer *a)
{
    const char *type = header(a, "content-type");
    struct span body = first_line(a->body);
    return (type && strncasecmp(type, "text/html", 9) == 0) ||
           (body.len > 0 && body.ptr[0] == '<');
}

static struct span page_title(struct span body)
{
    const char *start = memmem(body.ptr, body.len, "<title>", 7);
    if (!start)
        return CHAT_NONE;
    struct span rest = span_from(body, (size_t)(start + 7 - body.ptr));
    const char *end = memchr(rest.ptr, '<', rest.len);
    return end ? span_between(rest, 0, (size_t)(end - rest.ptr)) : CHAT_NONE;
}

static void describe_page(const struct answer *a, char *out, size_t n)
{
    char title[TITLE_MAX];
    answer_clean(page_title(a->body), title, sizeof title);
    snprintf(out, n, "a web page%s%s%s", title[0] ? " \"" : "", title,
             title[0] ? "\"" : "");
}

static void hint_page(struct err *e)
{
    err_hint(e, "a web page came instead of JSON: check the base URL (it often ends in "
                "/v1) and proxies");
}

static void judge_page(const struct answer *a, struct fault *f)
{
    char page[TITLE_MAX + 32];
    describe_page(a, page, sizeof page);
    f->status = a->status;
    err_set(&f->err, kind_of_status(a->status), "the server answered %d: %s", a->status,
            page);
    hint_page(&f->err);
    set_retry(a, -1, f);
}

void answer_judge(const struct answer *a, struct value_doc *d, struct fault *f)
{
    struct json_rules rules = { .fix_utf8 = true, .allow_bom = true, .allow_nan = true };
    struct words w = { CHAT_NONE, CHAT_NONE, CHAT_NONE, CHAT_NONE, CHAT_NONE, 0, -1 };
    char digits[32];
    fault_clear(f);
    if (is_page(a)) {
        judge_page(a, f);
        return;
    }
    const struct value *v = json_read(d, a->body.ptr, a->body.len, &rules, NULL);
    if (!v || !read_words(v, &w, digits))
        w.message = a->body;
    judge_words(a, &w, f);
}

void answer_judge_foreign(const struct answer *a, const struct err *parse,
                          struct fault *f)
{
    fault_clear(f);
    f->status = a->status;
    if (is_page(a)) {
        judge_page(a, f);
    } else if (first_line(a->body).len == 0) {
        err_set(&f->err, ERR_PARSE, "the server answered %d with an empty body",
                a->status);
    } else {
        err_set(&f->err, ERR_PARSE, "the answer is not the JSON it should be: %s",
                parse->message);
    }
}
