/* tagged.c - see tagged.h. */
#include "text/score/tagged.h"
#include "base/buf.h"
#include "base/utf8.h"
#include "text/plain.h"
#include "text/unicode.h"

struct tag {
    size_t start, end; /* bytes of the tag, brackets included */
    bool is_close;
};

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

/* Bytes of the character at the start of the text when it is `c` in any case, or 0.
 * Case folding lets the long s and the Kelvin sign stand for s and k, as the
 * reference's pattern does. */
static size_t letter_length(struct span text, char c)
{
    uint32_t code;
    uint32_t folded[4];
    uint32_t wanted[4];
    if (text.len == 0)
        return 0;
    if ((unsigned char)text.ptr[0] < 0x80)
        return lower(text.ptr[0]) == lower(c);
    size_t n = utf8_decode(text.ptr, text.len, &code);
    unicode_fold_code((unsigned char)c, wanted);
    return unicode_fold_code(code, folded) == 1 && folded[0] == wanted[0] ? n : 0;
}

/* Bytes of `name` at the start of the text, or 0. */
static size_t name_length(struct span text, struct span name)
{
    size_t i = 0;
    for (size_t j = 0; j < name.len; j++) {
        size_t n = letter_length(span_from(text, i), name.ptr[j]);
        if (n == 0)
            return 0;
        i += n;
    }
    return i;
}

/* The tag that starts at `start`, where there is a '<'. */
static bool tag_at(struct span text, size_t start, struct span name, struct tag *tag)
{
    size_t i = start + 1;
    tag->is_close = i < text.len && text.ptr[i] == '/';
    i += tag->is_close;
    size_t length = name_length(span_from(text, i), name);
    if (length == 0 || i + length >= text.len || text.ptr[i + length] != '>')
        return false;
    tag->start = start;
    tag->end = i + length + 1;
    return true;
}

static bool next_tag(struct span text, size_t from, struct span name, struct tag *tag)
{
    for (;; from++) {
        from = plain_find(text, SPAN("<"), from);
        if (from == PLAIN_NONE)
            return false;
        if (tag_at(text, from, name, tag))
            return true;
    }
}

/* A tag of `name` that opens or, as asked, closes. */
static bool next_kind(struct span text, size_t from, struct span name, bool is_close,
                      struct tag *tag)
{
    while (next_tag(text, from, name, tag)) {
        if (tag->is_close == is_close)
            return true;
        from = tag->end;
    }
    return false;
}

static const struct span thoughts[] = {
    { "think", 5 }, { "thinking", 8 }, { "thought", 7 }, { "reasoning", 9 }
};

/* Most brackets are of other tags, which their first letter shows. */
static bool may_be_thought(struct span text, size_t start)
{
    size_t i = start + 1;
    i += i < text.len && text.ptr[i] == '/';
    char c = i < text.len ? lower(text.ptr[i]) : '>';
    return c == 't' || c == 'r' || (unsigned char)c >= 0x80;
}

/* The next tag of any of those names; which one it is, is *name. */
static bool next_thought(struct span text, size_t from, struct span *name,
                         struct tag *tag)
{
    for (;; from++) {
        from = plain_find(text, SPAN("<"), from);
        if (from == PLAIN_NONE)
            return false;
        if (!may_be_thought(text, from))
            continue;
        for (size_t i = 0; i < sizeof thoughts / sizeof thoughts[0]; i++)
            if (tag_at(text, from, thoughts[i], tag)) {
                *name = thoughts[i];
                return true;
            }
    }
}

static void cut_to(struct buf *out, size_t len)
{
    if (out->len <= len)
        return;
    out->ptr[len] = '\0';
    out->len = len;
}

bool tagged_drop_thought(struct buf *out, struct span text)
{
    struct tag tag;
    struct span name;
    size_t start = out->len;
    size_t done = 0;
    while (next_thought(text, done, &name, &tag)) {
        if (tag.is_close)
            cut_to(out, start); /* all before it was thought as well */
        else
            span_add(out, span_between(text, done, tag.start));
        done = tag.end;
        if (tag.is_close)
            continue;
        if (!next_kind(text, tag.end, name, true, &tag))
            return !out->is_full;
        done = tag.end;
    }
    return span_add(out, span_from(text, done));
}

bool tagged_find(struct span text, struct span name, struct span *content)
{
    struct tag tag;
    bool is_open = false;
    bool is_found = false;
    size_t start = 0;
    for (size_t from = 0; next_tag(text, from, name, &tag); from = tag.end) {
        if (tag.is_close && is_open) {
            *content = span_between(text, start, tag.start);
            is_found = true;
        }
        is_open = !tag.is_close;
        start = tag.end;
    }
    if (is_found)
        *content = unicode_strip(*content);
    return is_found;
}

static void drop_tags(struct buf *out, struct span text, struct span name)
{
    struct tag tag;
    size_t done = 0;
    while (next_tag(text, done, name, &tag)) {
        buf_add(out, text.ptr + done, tag.start - done);
        done = tag.end;
    }
    span_add(out, span_from(text, done));
}

static struct span last_line(struct span text)
{
    struct span line;
    struct span last = SPAN("");
    while (unicode_next_line(&text, &line)) {
        line = unicode_strip(line);
        if (line.len > 0)
            last = line;
    }
    return last;
}

bool tagged_last_line(struct buf *out, struct span text, struct span name)
{
    struct buf bare = { 0 };
    drop_tags(&bare, text, name);
    struct span line = last_line(span_of(&bare));
    span_add(out, line);
    buf_free(&bare);
    return line.len > 0;
}

struct span tagged_as_reference(struct span text, struct span name)
{
    struct tag open;
    struct tag close;
    struct span content = SPAN("");
    bool is_found = false;
    size_t from = 0;
    while (next_kind(text, from, name, false, &open) &&
           next_kind(text, open.end, name, true, &close)) {
        content = span_between(text, open.end, close.start);
        is_found = true;
        from = close.end;
    }
    return is_found ? unicode_strip(content) : last_line(text);
}
