/* plain.c - see plain.h. */
#include "text/plain.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"
#include <assert.h>
#include <string.h>

size_t plain_find(struct span text, struct span find, size_t from)
{
    const char *found = memmem(text.ptr + from, text.len - from, find.ptr, find.len);
    return found ? (size_t)(found - text.ptr) : PLAIN_NONE;
}

bool plain_replace(struct buf *out, struct span text, struct span find, struct span with,
                   size_t max, size_t *count)
{
    assert(find.len > 0);
    size_t done = 0;
    size_t n = 0;
    for (; n < max; n++) {
        size_t at = plain_find(text, find, done);
        if (at == PLAIN_NONE)
            break;
        buf_add(out, text.ptr + done, at - done);
        span_add(out, with);
        done = at + find.len;
    }
    if (count)
        *count = n;
    return span_add(out, span_from(text, done));
}

/* Longest part of `find` that both ends what was read and starts `find`, after
 * one more byte (Knuth, Morris and Pratt). */
static size_t follow(const struct plain_walk *w, size_t matched, char c)
{
    while (matched > 0 && (matched == w->find.len || w->find.ptr[matched] != c))
        matched = w->border[matched - 1];
    return w->find.ptr[matched] == c ? matched + 1 : matched;
}

void plain_walk_start(struct plain_walk *w, struct span text, struct span find)
{
    assert(find.len > 0);
    *w = (struct plain_walk){ .text = text, .find = find };
    w->at = plain_find(text, find, 0);
    if (w->at == PLAIN_NONE) {
        w->at = text.len;
        return;
    }
    w->border = mem_new_array(find.len, sizeof *w->border);
    for (size_t i = 1; i < find.len; i++)
        w->border[i] = follow(w, w->border[i - 1], find.ptr[i]);
}

bool plain_walk_next(struct plain_walk *w, size_t *offset)
{
    while (w->at < w->text.len) {
        w->matched = follow(w, w->matched, w->text.ptr[w->at++]);
        if (w->matched == w->find.len) {
            *offset = w->at - w->find.len;
            return true;
        }
    }
    return false;
}

void plain_walk_end(struct plain_walk *w)
{
    mem_free(w->border);
    w->border = NULL;
}

static bool is_secret(struct span secret)
{
    return secret.len >= PLAIN_SECRET_MIN &&
           utf8_length(secret.ptr, secret.len) >= PLAIN_SECRET_MIN;
}

bool plain_has_secret(struct span text, const struct span *secrets, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (is_secret(secrets[i]) && plain_find(text, secrets[i], 0) != PLAIN_NONE)
            return true;
    return false;
}

static void cover(char *is_covered, struct span text, struct span secret)
{
    struct plain_walk walk;
    size_t done = 0;
    size_t at;
    plain_walk_start(&walk, text, secret);
    while (plain_walk_next(&walk, &at)) {
        size_t start = at > done ? at : done;
        done = at + secret.len;
        memset(is_covered + start, 1, done - start);
    }
    plain_walk_end(&walk);
}

bool plain_scrub(struct buf *out, struct span text, const struct span *secrets,
                 size_t count)
{
    if (!plain_has_secret(text, secrets, count))
        return span_add(out, text);
    char *is_covered = mem_new(text.len);
    for (size_t i = 0; i < count; i++)
        if (is_secret(secrets[i]))
            cover(is_covered, text, secrets[i]);
    for (size_t i = 0; i < text.len;) {
        size_t start = i;
        while (i < text.len && is_covered[i] == is_covered[start])
            i++;
        if (is_covered[start])
            buf_add_text(out, "***");
        else
            buf_add(out, text.ptr + start, i - start);
    }
    mem_free(is_covered);
    return !out->is_full;
}
