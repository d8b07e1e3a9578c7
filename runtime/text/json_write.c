/* json_write.c - the writer of json.h. */
#include "base/mem.h"
#include "base/utf8.h"
#include "text/json.h"
#include "text/json_scan.h"
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One member of an open object in canonical style, as offsets: texts move. */
struct json_member {
    size_t name, name_length; /* in the writer's names */
    size_t start, end;        /* in `out`, the comma excluded; end 0 while the last */
    const char *names;        /* base for comparing, set before sorting */
};

void json_begin(struct json_writer *w, struct buf *out, enum json_style style)
{
    /* The levels are set when they are opened; clearing them all would be slow. */
    w->out = out;
    w->style = style;
    w->depth = 0;
    w->has_name = w->has_failed = false;
    w->names = (struct buf){ .max = MEM_MAX }; /* `out` has the ceiling */
    w->members = NULL;
    w->member_count = w->member_room = 0;
    w->levels[0] = (struct json_level){ 0 };
}

bool json_end(struct json_writer *w, struct err *e)
{
    assert(json_failed(w) || (w->depth == 0 && w->levels[0].count == 1));
    bool ok = !w->has_failed;
    if (!ok && e)
        *e = w->fault;
    else if (w->out->is_full)
        ok = err_set(e, ERR_LIMIT, "the JSON text is longer than %zu bytes",
                     w->out->max ? w->out->max : BUF_DEFAULT_MAX);
    buf_free(&w->names);
    mem_free(w->members);
    return ok;
}

bool json_failed(const struct json_writer *w)
{
    return w->has_failed || w->out->is_full;
}

/* --- where the writer stands ---------------------------------------------------- */

static bool is_plain_name(const char *name, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!(name[i] == '_' || (name[i] >= 'a' && name[i] <= 'z') ||
              (name[i] >= 'A' && name[i] <= 'Z') ||
              (i > 0 && ((name[i] >= '0' && name[i] <= '9') || name[i] == '-'))))
            return false;
    return n > 0;
}

static void add_name(struct buf *path, const char *name, size_t n)
{
    if (is_plain_name(name, n)) {
        if (path->len)
            buf_add_char(path, '.');
        buf_add(path, name, n);
        return;
    }
    buf_add_char(path, '[');
    json_quote(path, name, n);
    buf_add_char(path, ']');
}

static void add_path(const struct json_writer *w, struct buf *path)
{
    for (unsigned i = 1; i <= w->depth; i++) {
        const struct json_level *l = &w->levels[i];
        if (l->count == 0)
            break;
        size_t end = i < w->depth ? w->levels[i + 1].names : w->names.len;
        if (l->is_object)
            add_name(path, buf_text(&w->names) + l->name, end - l->name);
        else
            buf_add_format(path, "[%zu]", l->count);
    }
}

/* Keep the fault, with the place of the value that was begun last. */
static void fail(struct json_writer *w, const char *what)
{
    if (w->has_failed)
        return;
    struct buf path = { .max = ERR_MESSAGE_MAX / 2 };
    add_path(w, &path);
    w->has_failed = true;
    err_set(&w->fault, ERR_DATA, "%s: %s", path.len ? path.ptr : "the value", what);
    buf_free(&path);
}

void json_refuse(struct json_writer *w, const char *what)
{
    struct json_level *l = &w->levels[w->depth];
    l->count += w->depth > 0 && !l->is_object;
    fail(w, what);
}

/* --- layout --------------------------------------------------------------------- */

static void cut(struct buf *b, size_t n)
{
    if (b->ptr) {
        b->len = n;
        b->ptr[n] = '\0';
    }
}

static void break_line(struct json_writer *w)
{
    char *p = buf_room(w->out, 1 + 2 * (size_t)w->depth);
    if (!p)
        return;
    *p = '\n';
    memset(p + 1, ' ', 2 * (size_t)w->depth);
    buf_added(w->out, 1 + 2 * (size_t)w->depth);
}

/* Before a member or an item. */
static void separate(struct json_writer *w, struct json_level *l)
{
    if (l->count++)
        buf_add(w->out, ", ", w->style == JSON_LINE ? 2 : 1);
    if (w->style == JSON_INDENT)
        break_line(w);
}

/* Before a value; false when nothing may be written. */
static bool start_value(struct json_writer *w)
{
    if (json_failed(w))
        return false;
    struct json_level *l = &w->levels[w->depth];
    if (w->depth == 0) {
        assert(l->count == 0);
        l->count = 1;
    } else if (l->is_object) {
        assert(w->has_name);
        w->has_name = false;
    } else {
        separate(w, l);
    }
    return true;
}

static void open_level(struct json_writer *w, bool is_object)
{
    if (!start_value(w))
        return;
    if (w->depth == JSON_MAX_DEPTH) {
        fail(w, "nesting too deep");
        return;
    }
    buf_add_char(w->out, is_object ? '{' : '[');
    w->levels[++w->depth] = (struct json_level){
        .is_object = is_object,
        .start = w->out->len,
        .names = w->names.len,
        .members = w->member_count,
    };
}

static void close_level(struct json_writer *w, bool is_object)
{
    const struct json_level *l = &w->levels[w->depth];
    assert(w->depth > 0 && l->is_object == is_object && !w->has_name);
    w->depth--;
    if (l->count && w->style == JSON_INDENT)
        break_line(w);
    buf_add_char(w->out, is_object ? '}' : ']');
    cut(&w->names, l->names);
    w->member_count = l->members;
}

/* --- canonical order ------------------------------------------------------------ */

static int compare_members(const void *a, const void *b)
{
    const struct json_member *x = a;
    const struct json_member *y = b;
    size_t n = x->name_length < y->name_length ? x->name_length : y->name_length;
    int order = memcmp(x->names + x->name, y->names + y->name, n);
    if (order == 0 && x->name_length != y->name_length)
        order = x->name_length < y->name_length ? -1 : 1;
    return order ? order : (x->start > y->start) - (x->start < y->start);
}

static bool is_same_name(const struct json_member *x, const struct json_member *y)
{
    return x->name_length == y->name_length &&
           memcmp(x->names + x->name, y->names + y->name, x->name_length) == 0;
}

static void add_member(struct json_writer *w, struct json_level *l, size_t n)
{
    if (w->member_count == w->member_room) {
        w->member_room = w->member_room ? w->member_room * 2 : 32;
        w->members = mem_grow(w->members, w->member_room * sizeof *w->members);
    }
    struct json_member *m = &w->members[w->member_count++];
    *m = (struct json_member){ .name = l->name,
                               .name_length = n,
                               .start = w->out->len,
                               .names = buf_text(&w->names) };
    if (w->member_count - 1 == l->members)
        return;
    m[-1].end = w->out->len - 1;
    m[-1].names = m->names;
    if (compare_members(&m[-1], m) > 0 || is_same_name(&m[-1], m))
        l->is_unsorted = true;
}

static void sort_members(struct json_writer *w, struct json_level *l)
{
    struct json_member *m = w->members + l->members;
    size_t n = w->member_count - l->members;
    struct buf sorted = { .max = w->out->max };
    m[n - 1].end = w->out->len;
    for (size_t i = 0; i < n; i++)
        m[i].names = buf_text(&w->names);
    qsort(m, n, sizeof *m, compare_members);
    for (size_t i = 0; i < n; i++) {
        if (i + 1 < n && is_same_name(&m[i], &m[i + 1]))
            continue; /* the last of equal names counts */
        if (sorted.len)
            buf_add_char(&sorted, ',');
        buf_add(&sorted, w->out->ptr + m[i].start, m[i].end - m[i].start);
    }
    cut(w->out, l->start);
    buf_add(w->out, sorted.ptr, sorted.len);
    buf_free(&sorted);
}

/* --- the calls ------------------------------------------------------------------ */

void json_object(struct json_writer *w)
{
    open_level(w, true);
}

void json_object_end(struct json_writer *w)
{
    if (json_failed(w))
        return;
    if (w->levels[w->depth].is_unsorted)
        sort_members(w, &w->levels[w->depth]);
    close_level(w, true);
}

void json_array(struct json_writer *w)
{
    open_level(w, false);
}

void json_array_end(struct json_writer *w)
{
    if (!json_failed(w))
        close_level(w, false);
}

void json_key_n(struct json_writer *w, const char *name, size_t n)
{
    if (json_failed(w))
        return;
    struct json_level *l = &w->levels[w->depth];
    assert(w->depth > 0 && l->is_object && !w->has_name);
    if (!utf8_is_valid(name, n)) {
        l->count = 0; /* the path ends at the object */
        fail(w, "a name is not valid UTF-8");
        return;
    }
    if (w->style != JSON_CANONICAL)
        cut(&w->names, l->names);
    l->name = w->names.len;
    buf_add(&w->names, name, n);
    separate(w, l);
    if (w->style == JSON_CANONICAL)
        add_member(w, l, n);
    json_quote(w->out, name, n);
    buf_add(w->out, ": ", w->style == JSON_CANONICAL ? 1 : 2);
    w->has_name = true;
}

void json_key(struct json_writer *w, const char *name)
{
    json_key_n(w, name, strlen(name));
}

void json_raw(struct json_writer *w, const char *text, size_t n)
{
    if (start_value(w))
        buf_add(w->out, text, n);
}

void json_null(struct json_writer *w)
{
    json_raw(w, "null", 4);
}

void json_bool(struct json_writer *w, bool b)
{
    json_raw(w, b ? "true" : "false", b ? 4 : 5);
}

void json_integer(struct json_writer *w, int64_t i)
{
    char text[JSON_NUMBER_MAX];
    int n = snprintf(text, sizeof text, "%" PRId64, i);
    json_raw(w, text, (size_t)n);
}

void json_double(struct json_writer *w, double d)
{
    char text[JSON_NUMBER_MAX];
    if (w->style == JSON_CANONICAL && d == floor(d) && fabs(d) < 0x1p63) {
        json_integer(w, (int64_t)d);
        return;
    }
    json_raw(w, text, json_format_double(d, text));
    if (!isfinite(d))
        fail(w, isnan(d) ? "NaN cannot be written as JSON"
                         : "infinity cannot be written as JSON");
}

void json_text_n(struct json_writer *w, const char *text, size_t n)
{
    if (!start_value(w))
        return;
    if (utf8_is_valid(text, n))
        json_quote(w->out, text, n);
    else
        fail(w, "the text is not valid UTF-8");
}

void json_text(struct json_writer *w, const char *text)
{
    json_text_n(w, text, strlen(text));
}

static void write_container(struct json_writer *w, const struct value *v)
{
    if (v->kind == VALUE_ARRAY) {
        json_array(w);
        for (uint32_t i = 0; i < v->count && !json_failed(w); i++)
            json_value(w, &v->items[i]);
        json_array_end(w);
        return;
    }
    json_object(w);
    for (uint32_t i = 0; i < v->count && !json_failed(w); i++) {
        json_key_n(w, v->entries[i].key, v->entries[i].key_length);
        json_value(w, &v->entries[i].value);
    }
    json_object_end(w);
}

void json_value(struct json_writer *w, const struct value *v)
{
    switch (v->kind) {
    case VALUE_NULL:
        json_null(w);
        break;
    case VALUE_BOOL:
        json_bool(w, v->boolean);
        break;
    case VALUE_INTEGER:
        json_integer(w, v->integer);
        break;
    case VALUE_DOUBLE:
        json_double(w, v->number);
        break;
    case VALUE_BIG:
        json_raw(w, v->text, v->count);
        break;
    case VALUE_TEXT:
        json_text_n(w, v->text, v->count);
        break;
    case VALUE_ARRAY:
    case VALUE_OBJECT:
        write_container(w, v);
        break;
    }
}

static void add_escape(struct buf *out, char c)
{
    static const char from[] = "\"\\\b\f\n\r\t";
    static const char to[] = "\"\\bfnrt";
    const char *known = c ? strchr(from, c) : NULL;
    if (known) {
        char pair[2] = { '\\', to[known - from] };
        buf_add(out, pair, 2);
    } else {
        buf_add_format(out, "\\u%04x", (unsigned)c);
    }
}

bool json_quote(struct buf *out, const char *text, size_t n)
{
    buf_add_char(out, '"');
    for (size_t i = 0; i < n;) {
        size_t plain = scan_plain(text + i, n - i, '"');
        buf_add(out, text + i, plain);
        i += plain;
        if (i < n)
            add_escape(out, text[i++]);
    }
    return buf_add_char(out, '"');
}
