/* answer.c - see answer.h. */
#include "text/score/answer.h"
#include "base/mem.h"
#include "base/utf8.h"
#include <stdlib.h>
#include <string.h>

enum kind { OTHER, BLANK, PUNCTUATION, WORD };

static enum kind ascii_kind(unsigned char c)
{
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z'))
        return WORD;
    if (unicode_is_space(c))
        return BLANK;
    return c > 0x20 && c < 0x7F ? PUNCTUATION : OTHER;
}

static enum kind kind_of(uint32_t code)
{
    if (code == UTF8_INVALID)
        return OTHER;
    return unicode_is_space(code) ? BLANK : unicode_is_word(code) ? WORD : OTHER;
}

/* The normalised text as it grows. A word is looked at when it has ended: an
 * article is taken back, with the space in front of it. */
struct writer {
    char *text;
    size_t len;
    size_t mark; /* length before the space and the word being written */
    size_t word; /* where that word starts */
    bool is_spaced, is_in_word;
};

static bool is_article(const char *word, size_t n)
{
    return (n == 1 && word[0] == 'a') || (n == 2 && memcmp(word, "an", 2) == 0) ||
           (n == 3 && memcmp(word, "the", 3) == 0);
}

static void end_word(struct writer *w)
{
    if (w->is_in_word && is_article(w->text + w->word, w->len - w->word)) {
        w->len = w->mark;
        w->is_spaced = true;
    }
    w->is_in_word = false;
}

/* Blanks become one space, written only between other characters. */
static void start_piece(struct writer *w)
{
    if (w->is_spaced && w->len > 0)
        w->text[w->len++] = ' ';
    w->is_spaced = false;
}

static void put(struct writer *w, enum kind kind, const char *bytes, size_t n)
{
    if (kind == WORD && !w->is_in_word) {
        w->mark = w->len;
        start_piece(w);
        w->word = w->len;
        w->is_in_word = true;
    } else if (kind != WORD) {
        end_word(w);
        if (kind == BLANK) {
            w->is_spaced = true;
            return;
        }
        start_piece(w);
    }
    for (size_t i = 0; i < n; i++)
        w->text[w->len++] = bytes[i];
}

static void put_ascii(struct writer *w, char c)
{
    enum kind kind = ascii_kind((unsigned char)c);
    if (c >= 'A' && c <= 'Z')
        c = (char)(c + 0x20);
    if (kind != PUNCTUATION)
        put(w, kind, &c, 1);
}

/* Append the normalised form of a text whose non-ASCII letters are in lower case.
 * The result is never longer than the text. */
static bool normalize_lowered(struct buf *out, struct span text)
{
    char *room = buf_room(out, text.len);
    if (!room)
        return false;
    struct writer w = { .text = room };
    for (size_t i = 0; i < text.len;) {
        if ((unsigned char)text.ptr[i] < 0x80) {
            put_ascii(&w, text.ptr[i++]);
            continue;
        }
        uint32_t code;
        size_t length = utf8_decode(text.ptr + i, text.len - i, &code);
        put(&w, kind_of(code), text.ptr + i, length);
        i += length;
    }
    end_word(&w);
    buf_added(out, w.len);
    return true;
}

static bool is_ascii(struct span text)
{
    unsigned char seen = 0;
    for (size_t i = 0; i < text.len; i++)
        seen |= (unsigned char)text.ptr[i];
    return seen < 0x80;
}

static bool normalize(struct buf *out, struct buf *lowered, struct span text)
{
    if (is_ascii(text))
        return normalize_lowered(out, text);
    buf_clear(lowered);
    unicode_lower(lowered, text);
    return normalize_lowered(out, span_of(lowered));
}

bool answer_normalize(struct buf *out, struct span text)
{
    struct buf lowered = { 0 };
    bool ok = normalize(out, &lowered, text);
    buf_free(&lowered);
    return ok;
}

static int compare(const void *a, const void *b)
{
    const struct span *x = a;
    const struct span *y = b;
    if (x->len != y->len)
        return x->len < y->len ? -1 : 1;
    return memcmp(x->ptr, y->ptr, x->len);
}

static void sort(struct span *words, size_t count)
{
    enum { SHORT = 16 };
    if (count > SHORT) {
        qsort(words, count, sizeof *words, compare);
        return;
    }
    for (size_t i = 1; i < count; i++) {
        struct span word = words[i];
        size_t j = i;
        for (; j > 0 && compare(&word, &words[j - 1]) < 0; j--)
            words[j] = words[j - 1];
        words[j] = word;
    }
}

static void add_word(struct answer_side *side, const char *start, const char *end)
{
    if (side->count == side->room) {
        side->room += side->room / 2 + 16;
        side->words = mem_grow(side->words, side->room * sizeof *side->words);
    }
    side->words[side->count++] = (struct span){ start, (size_t)(end - start) };
}

static void split(struct answer_side *side)
{
    const char *start = buf_text(&side->text);
    const char *end = start + side->text.len;
    side->count = 0;
    while (start < end) {
        const char *space = memchr(start, ' ', (size_t)(end - start));
        const char *stop = space ? space : end;
        add_word(side, start, stop);
        start = stop + 1;
    }
    sort(side->words, side->count);
}

static void side_set(struct answer *a, struct answer_side *side, struct span text)
{
    buf_clear(&side->text);
    side->text.max = a->lowered.max = MEM_MAX; /* a full buffer would look empty */
    normalize(&side->text, &a->lowered, text);
}

void answer_read(struct answer *a, struct span text)
{
    side_set(a, &a->own, text);
    split(&a->own);
}

bool answer_equals(struct answer *a, struct span gold)
{
    side_set(a, &a->gold, gold);
    return a->own.text.len == a->gold.text.len &&
           memcmp(buf_text(&a->own.text), buf_text(&a->gold.text), a->own.text.len) == 0;
}

/* Words in both sorted lists, each as often as in the list that has it less. */
static size_t shared(const struct answer_side *a, const struct answer_side *b)
{
    size_t n = 0;
    for (size_t i = 0, j = 0; i < a->count && j < b->count;) {
        int order = compare(&a->words[i], &b->words[j]);
        n += order == 0;
        i += order <= 0;
        j += order >= 0;
    }
    return n;
}

double answer_f1(struct answer *a, struct span gold)
{
    side_set(a, &a->gold, gold);
    split(&a->gold);
    if (a->own.count == 0 || a->gold.count == 0)
        return a->own.count == a->gold.count ? 1 : 0;
    double n = (double)shared(&a->own, &a->gold);
    if (n == 0)
        return 0;
    double precision = n / (double)a->own.count;
    double recall = n / (double)a->gold.count;
    return 2 * precision * recall / (precision + recall);
}

bool answer_overlaps(struct answer *a, struct span gold)
{
    side_set(a, &a->gold, gold);
    const struct buf *own = &a->own.text;
    const struct buf *other = &a->gold.text;
    if (own->len == 0 || other->len == 0)
        return false;
    return memmem(own->ptr, own->len, other->ptr, other->len) ||
           memmem(other->ptr, other->len, own->ptr, own->len);
}

static void side_free(struct answer_side *side)
{
    buf_free(&side->text);
    mem_free(side->words);
}

void answer_free(struct answer *a)
{
    side_free(&a->own);
    side_free(&a->gold);
    buf_free(&a->lowered);
    *a = (struct answer){ 0 };
}
