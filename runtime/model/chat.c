/* chat.c - see chat.h. */
#include "model/chat.h"
#include <ctype.h>
#include <stdio.h>

/* Tokens beside the words, as far as they are known at all. */
enum { TOKENS_A_MESSAGE = 4, TOKENS_AN_IMAGE = 1000 };

const char *chat_role_name(enum chat_role role)
{
    static const char *const names[] = {
#define ROLE_NAME(id, name) name,
        CHAT_ROLES(ROLE_NAME)
#undef ROLE_NAME
    };
    return names[role];
}

const char *chat_finish_name(enum chat_finish finish)
{
    static const char *const names[] = {
#define FINISH_NAME(id, name) name,
        CHAT_FINISHES(FINISH_NAME)
#undef FINISH_NAME
    };
    return names[finish];
}

const char *chat_outcome_name(enum chat_outcome outcome)
{
    static const char *const names[] = {
#define OUTCOME_NAME(id, name) name,
        CHAT_OUTCOMES(OUTCOME_NAME)
#undef OUTCOME_NAME
    };
    return names[outcome];
}

/* --- estimates ------------------------------------------------------------------ */

/* The bits 7 of eight bytes, and of those the ones with bit 6: bytes outside ASCII and
 * bytes that begin a character there. */
static void count_eight(const char *p, int64_t *high, int64_t *starts)
{
    uint64_t bytes;
    memcpy(&bytes, p, sizeof bytes);
    uint64_t top = bytes & 0x8080808080808080u;
    *high += __builtin_popcountll(top);
    *starts += __builtin_popcountll(top & bytes << 1);
}

int64_t chat_text_tokens(struct span text)
{
    int64_t high = 0, starts = 0;
    size_t i = 0;
    for (; i + 8 <= text.len; i += 8)
        count_eight(text.ptr + i, &high, &starts);
    for (; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        high += c >= 0x80;
        starts += c >= 0xC0;
    }
    return ((int64_t)text.len - high + 3) / 4 + starts;
}

static int64_t message_tokens(const struct chat_message *m)
{
    int64_t n = TOKENS_A_MESSAGE;
    for (size_t i = 0; i < m->part_count; i++)
        n += m->parts[i].is_image ? TOKENS_AN_IMAGE : chat_text_tokens(m->parts[i].text);
    for (size_t i = 0; i < m->call_count; i++)
        n += chat_text_tokens(m->calls[i].name) + chat_text_tokens(m->calls[i].arguments);
    return n;
}

int64_t chat_request_tokens(const struct chat_request *r)
{
    int64_t n = chat_text_tokens(r->schema);
    for (size_t i = 0; i < r->message_count; i++)
        n += message_tokens(&r->messages[i]);
    for (size_t i = 0; i < r->tool_count; i++) {
        n += chat_text_tokens(r->tools[i].name);
        n += chat_text_tokens(r->tools[i].description);
        n += chat_text_tokens(r->tools[i].parameters);
    }
    return n;
}

static int64_t reply_tokens(const struct chat_reply *r)
{
    int64_t n = chat_text_tokens(r->text) + chat_text_tokens(r->reasoning) +
                chat_text_tokens(r->refusal);
    for (size_t i = 0; i < r->call_count; i++)
        n += chat_text_tokens(r->calls[i].name) + chat_text_tokens(r->calls[i].arguments);
    return n;
}

/* A zero for something that is there was not measured. */
static void finish_usage(struct chat_reply *r, const struct chat_reading *how)
{
    struct chat_usage *u = &r->usage;
    int64_t written = reply_tokens(r);
    if (u->completion < 0 || (u->completion == 0 && written > 0)) {
        u->completion = written;
        u->is_estimated = true;
    }
    if (u->prompt <= 0) {
        u->prompt = how->prompt_tokens > 0 ? how->prompt_tokens : -1;
        u->is_estimated = true;
    }
}

/* --- think blocks --------------------------------------------------------------- */

static struct span skip_blanks(struct span s)
{
    size_t i = 0;
    while (i < s.len && isspace((unsigned char)s.ptr[i]))
        i++;
    return span_from(s, i);
}

static struct span trim(struct span s)
{
    s = skip_blanks(s);
    while (s.len > 0 && isspace((unsigned char)s.ptr[s.len - 1]))
        s.len--;
    return s;
}

/* Byte of the first `tag`, or s.len. */
static size_t find(struct span s, struct span tag)
{
    const char *at = memmem(s.ptr, s.len, tag.ptr, tag.len);
    return at ? (size_t)(at - s.ptr) : s.len;
}

static const struct span THINK = { "<think>", 7 };
static const struct span THINK_END = { "</think>", 8 };

bool chat_split_think(struct span *text, struct span *think)
{
    struct span rest = skip_blanks(*text);
    size_t end = find(rest, THINK_END);
    if (!span_starts(rest, THINK) && (end == rest.len || find(rest, THINK) < end))
        return false;
    const char *start = span_starts(rest, THINK) ? rest.ptr + THINK.len : rest.ptr;
    const char *stop;
    do {
        end = find(rest, THINK_END);
        stop = rest.ptr + end;
        rest = span_from(rest, end < rest.len ? end + THINK_END.len : end);
        rest = skip_blanks(rest);
    } while (span_starts(rest, THINK));
    *think = trim((struct span){ start, (size_t)(stop - start) });
    *text = rest;
    return true;
}

static bool join(struct value_doc *d, struct span *a, struct span b, struct err *e)
{
    if (b.len == 0)
        return true;
    if (a->len == 0) {
        *a = b;
        return true;
    }
    char *p = value_alloc(d, a->len + b.len + 3);
    if (!p)
        return err_set(e, ERR_LIMIT, "the answer is too large");
    memcpy(p, a->ptr, a->len);
    memcpy(p + a->len, "\n\n", 2);
    memcpy(p + a->len + 2, b.ptr, b.len);
    p[a->len + 2 + b.len] = '\0';
    *a = (struct span){ p, a->len + 2 + b.len };
    return true;
}

/* Where the server keeps reasoning apart, a lone closing tag is part of the answer. */
static bool finish_think(struct value_doc *d, struct chat_reply *r, struct err *e)
{
    struct span think;
    if (r->reasoning.len > 0 && !span_starts(skip_blanks(r->text), THINK))
        return true;
    return !chat_split_think(&r->text, &think) || join(d, &r->reasoning, think, e);
}

/* --- calls ---------------------------------------------------------------------- */

static bool id_is_taken(const struct chat_reply *r, struct span id)
{
    for (size_t i = 0; i < r->call_count; i++)
        if (span_equals(r->calls[i].id, id))
            return true;
    return false;
}

/* The place in the reply is the id: the same reply gives the same ids. */
static bool give_id(struct value_doc *d, const struct chat_reply *r, size_t place,
                    struct span *id)
{
    char text[48];
    struct span wanted = { text, 0 };
    for (size_t i = place + 1;; i += r->call_count) {
        wanted.len = (size_t)snprintf(text, sizeof text, "call_%zu", i);
        if (!id_is_taken(r, wanted))
            break;
    }
    const char *copy = value_copy(d, text, wanted.len);
    if (copy)
        *id = (struct span){ copy, wanted.len };
    return copy != NULL;
}

static bool finish_calls(struct value_doc *d, struct chat_reply *r, struct err *e)
{
    if (r->call_count == 0)
        return true;
    struct chat_call *calls = value_alloc(d, r->call_count * sizeof *calls);
    if (!calls)
        return err_set(e, ERR_LIMIT, "the answer has too many tool calls");
    memcpy(calls, r->calls, r->call_count * sizeof *calls);
    r->calls = calls;
    for (size_t i = 0; i < r->call_count; i++) {
        if (trim(calls[i].arguments).len == 0)
            calls[i].arguments = SPAN("{}");
        if (calls[i].id.len == 0 && !give_id(d, r, i, &calls[i].id))
            return err_set(e, ERR_LIMIT, "the answer has too many tool calls");
    }
    return true;
}

static bool has_call_markup(const struct chat_reply *r)
{
    static const char *const marks[] = { "<tool_call>", "<function=", "[TOOL_CALLS]",
                                         "<|tool_call" };
    for (size_t i = 0; i < sizeof marks / sizeof marks[0] && r->call_count == 0; i++)
        if (memmem(r->text.ptr, r->text.len, marks[i], strlen(marks[i])))
            return true;
    return false;
}

/* --- outcome -------------------------------------------------------------------- */

static enum chat_outcome judge(const struct chat_reply *r)
{
    bool has_text = trim(r->text).len > 0;
    if (r->finish == CHAT_FINISH_CONTENT_FILTER)
        return CHAT_FILTERED;
    if (!has_text && r->call_count == 0) {
        if (r->refusal.len > 0)
            return CHAT_REFUSED;
        if (r->reasoning.len > 0 || r->usage.reasoning > 0)
            return CHAT_REASONING_ONLY;
        return r->finish == CHAT_FINISH_LENGTH ? CHAT_TRUNCATED : CHAT_EMPTY;
    }
    return r->finish == CHAT_FINISH_LENGTH ? CHAT_TRUNCATED : CHAT_OK;
}

bool chat_reply_finish(struct value_doc *d, struct chat_reply *r,
                       const struct chat_reading *how, struct err *e)
{
    if (!how->keep_think && !finish_think(d, r, e))
        return false;
    if (!finish_calls(d, r, e))
        return false;
    if (r->finish == CHAT_FINISH_OTHER && r->call_count > 0)
        r->finish = CHAT_FINISH_TOOL_CALLS;
    finish_usage(r, how);
    r->has_call_markup = has_call_markup(r);
    r->outcome = judge(r);
    return true;
}
