/* pattern.c - see pattern.h. */
#include "text/pattern.h"
#include <assert.h>

/* ------------------------------------------------------------------- classes */

enum class {
    ALPHA = 1,
    CONTROL = 2,
    DIGIT = 4,
    GRAPH = 8,
    LOWER = 16,
    PUNCT = 32,
    SPACE = 64,
    UPPER = 128,
    HEX = 256,
    ZERO = 512
};

#define REP10(x) x, x, x, x, x, x, x, x, x, x
enum {
    C = CONTROL,
    W = CONTROL | SPACE,
    P = PUNCT | GRAPH,
    D = DIGIT | HEX | GRAPH,
    L = ALPHA | LOWER | GRAPH,
    U = ALPHA | UPPER | GRAPH,
    LX = L | HEX,
    UX = U | HEX
};

/* Of the 128 bytes of ASCII; the others are of no class. */
static const uint16_t classes[256] = {
    C | ZERO, C,  C,        C,        C, C, C, C, C, W,     W,        W,  W,  W,
    REP10(C), C,  C,        C,        C, C, C, C, C, SPACE, REP10(P), P,  P,  P,
    P,        P,  REP10(D), P,        P, P, P, P, P, P,     UX,       UX, UX, UX,
    UX,       UX, REP10(U), REP10(U), P, P, P, P, P, P,     LX,       LX, LX, LX,
    LX,       LX, REP10(L), REP10(L), P, P, P, P, C,
};

/* The bits of class letter `letter` (in lower case), or 0: then it is no class. */
static unsigned class_bits(unsigned char letter)
{
    switch (letter) {
    case 'a':
        return ALPHA;
    case 'c':
        return CONTROL;
    case 'd':
        return DIGIT;
    case 'g':
        return GRAPH;
    case 'l':
        return LOWER;
    case 'p':
        return PUNCT;
    case 's':
        return SPACE;
    case 'u':
        return UPPER;
    case 'w':
        return ALPHA | DIGIT;
    case 'x':
        return HEX;
    case 'z': /* of Lua 5.1, and not in the manual any more */
        return ZERO;
    default:
        return 0;
    }
}

/* Is `c` what `%` and then `letter` stand for? */
static bool class_has(unsigned char letter, unsigned char c)
{
    bool is_upper = classes[letter] & UPPER;
    unsigned bits = class_bits(is_upper ? letter | 0x20 : letter);
    if (!bits)
        return letter == c;
    return ((classes[c] & bits) != 0) != is_upper;
}

/* Is `c` in the set between `p` (behind its bracket) and its closing bracket `end`? A
 * range whose upper end is an escape reads it as `%`, as Lua does. */
static bool set_has(const char *p, const char *end, unsigned char c)
{
    bool is_turned = *p == '^';
    for (p += is_turned; p < end; p++) {
        unsigned char low = (unsigned char)*p;
        if (low == '%') {
            p++;
            if (class_has((unsigned char)*p, c))
                return !is_turned;
        } else if (p[1] == '-' && p + 2 < end) {
            p += 2;
            if (low <= c && c <= (unsigned char)*p)
                return !is_turned;
        } else if (low == c) {
            return !is_turned;
        }
    }
    return is_turned;
}

/* --------------------------------------------------------------------- items */

enum item_kind { ITEM_ANY, ITEM_BYTE, ITEM_CLASS, ITEM_SET };

/* What stands for one byte of the subject, without a repetition behind it. */
struct item {
    enum item_kind kind;
    const char *at;  /* the byte, the class's letter, or behind the bracket */
    const char *end; /* behind the item */
};

enum {
    SET_SHORT = 64,
    BYTES_A_STEP = 16 /* where libc compares */
};

/* Steps that one look at an item takes. */
static int64_t item_cost(const struct item *item)
{
    return item->end - item->at;
}

enum choice_kind {
    CHOICE_GREEDY, /* took `count` bytes from `at`; could take one less */
    CHOICE_LAZY,   /* took up to `at`; could take one more */
    CHOICE_SKIP,   /* took one byte at `at`; could take none */
    CHOICE_OPENED, /* opened a capture */
    CHOICE_CLOSED  /* closed capture `count` */
};

struct choice {
    enum choice_kind kind;
    struct item item;
    const char *at;
    size_t count;
};

struct matcher {
    struct pattern *m;
    const char *p, *s; /* what is looked at next: in the pattern, in the subject */
    int64_t steps;     /* left of this slice; below 0 it is over */
    int64_t slice;     /* how long it was */
    int open;          /* choices */
    struct choice *choices;
};

/* What one move leads to. The first values are those of pattern_outcome. */
enum move { MOVE_ON = PATTERN_STOPPED + 1 };

static void slice_begin(struct matcher *x)
{
    uint64_t left = x->m->steps_left;
    x->slice = left < PATTERN_SLICE ? (int64_t)left : PATTERN_SLICE;
    x->steps = x->slice;
}

/* Settle what was used of the slice. */
static void slice_end(struct matcher *x)
{
    uint64_t used = (uint64_t)(x->slice - x->steps);
    x->m->steps_left -= used < x->m->steps_left ? used : x->m->steps_left;
}

static int slice_next(struct matcher *x)
{
    slice_end(x);
    slice_begin(x);
    if (x->m->stop && *x->m->stop)
        return PATTERN_STOPPED;
    return x->slice > 0 ? MOVE_ON : PATTERN_ENDLESS;
}

static int faulty(struct matcher *x, const char *what)
{
    x->m->fault = what;
    return PATTERN_FAULTY;
}

/* The end of the set that opens in front of `p`; NULL when there is none. */
static const char *set_end(const struct pattern *m, const char *p)
{
    if (p < m->end && *p == '^')
        p++;
    for (bool is_first = true; p < m->end; is_first = false) {
        if (*p == ']' && !is_first)
            return p;
        p += *p == '%' && p + 1 < m->end ? 2 : 1;
    }
    return NULL;
}

/* Read the item at x->p; false when the pattern is faulty. */
static bool item_read(struct matcher *x, struct item *item)
{
    const char *p = x->p;
    *item = (struct item){ ITEM_BYTE, p, p + 1 };
    if (*p == '.') {
        item->kind = ITEM_ANY;
    } else if (*p == '%') {
        *item = (struct item){ ITEM_CLASS, p + 1, p + 2 };
        if (p + 1 == x->m->end)
            return faulty(x, "it ends in '%'"), false;
    } else if (*p == '[') {
        const char *end = set_end(x->m, p + 1);
        if (!end)
            return faulty(x, "a set has no closing ']'"), false;
        *item = (struct item){ ITEM_SET, p + 1, end + 1 };
        x->steps -= end - p;
    }
    return true;
}

/* Is the byte at `s`, if there is one, what the item stands for? */
static inline bool item_has(const struct pattern *m, const struct item *item,
                            const char *s)
{
    if (s >= m->subject_end)
        return false;
    switch (item->kind) {
    case ITEM_ANY:
        return true;
    case ITEM_BYTE:
        return *s == *item->at;
    case ITEM_CLASS:
        return class_has((unsigned char)*item->at, (unsigned char)*s);
    default:
        return set_has(item->at, item->end - 1, (unsigned char)*s);
    }
}

/* Count the bytes from x->s on that are what the item stands for. */
static int item_span(struct matcher *x, const struct item *item, size_t *count)
{
    const char *s = x->s;
    const char *end = x->m->subject_end;
    *count = (size_t)(end - s);
    if (item->kind == ITEM_ANY)
        return MOVE_ON;
    int64_t cost = item_cost(item);
    int64_t part = cost <= SET_SHORT ? PATTERN_SLICE / SET_SHORT : 1;
    while (s < end) {
        const char *stop = end - s < part ? end : s + part;
        const char *start = s;
        while (s < stop && item_has(x->m, item, s))
            s++;
        x->steps -= (s - start) * cost;
        if (s < stop)
            break;
        if (x->steps < 0) {
            int move = slice_next(x);
            if (move != MOVE_ON)
                return move;
        }
    }
    *count = (size_t)(s - x->s);
    return MOVE_ON;
}

/* ------------------------------------------------------------------- choices */

static int choose(struct matcher *x, enum choice_kind kind, const struct item *item,
                  const char *at, size_t count)
{
    if (x->open == PATTERN_CHOICES_MAX)
        return PATTERN_COMPLEX;
    struct choice *c = &x->choices[x->open++];
    c->kind = kind;
    c->at = at;
    c->count = count;
    if (item)
        c->item = *item;
    return MOVE_ON;
}

/* Take the newest choice another way, or take it back. */
static int back_up(struct matcher *x)
{
    struct choice *c = &x->choices[x->open - 1];
    switch (c->kind) {
    case CHOICE_GREEDY:
        if (c->count == 0)
            break;
        x->s = c->at + --c->count;
        x->p = c->item.end + 1;
        return MOVE_ON;
    case CHOICE_LAZY:
        x->steps -= item_cost(&c->item) - 1;
        if (!item_has(x->m, &c->item, c->at))
            break;
        x->s = ++c->at;
        x->p = c->item.end + 1;
        return MOVE_ON;
    case CHOICE_SKIP:
        x->s = c->at;
        x->p = c->item.end + 1;
        x->open--;
        return MOVE_ON;
    case CHOICE_OPENED:
        x->m->count--;
        break;
    default:
        x->m->captures[c->count].size = PATTERN_OPEN;
    }
    x->open--;
    return PATTERN_ABSENT;
}

/* --------------------------------------------------------------------- moves */

static int open_capture(struct matcher *x)
{
    struct pattern *m = x->m;
    bool is_position = x->p + 1 < m->end && x->p[1] == ')';
    if (m->count == PATTERN_CAPTURES_MAX)
        return faulty(x, "it has more than 32 captures");
    m->captures[m->count].at = x->s;
    m->captures[m->count].size = is_position ? PATTERN_POSITION : PATTERN_OPEN;
    m->count++;
    x->p += is_position ? 2 : 1;
    return choose(x, CHOICE_OPENED, NULL, NULL, 0);
}

static int close_capture(struct matcher *x)
{
    struct pattern *m = x->m;
    int i = m->count - 1;
    while (i >= 0 && m->captures[i].size != PATTERN_OPEN)
        i--;
    if (i < 0)
        return faulty(x, "a ')' closes no capture");
    m->captures[i].size = x->s - m->captures[i].at;
    x->p++;
    return choose(x, CHOICE_CLOSED, NULL, NULL, (size_t)i);
}

/* `%1` to `%9`: the text of a capture once more. */
static int match_again(struct matcher *x)
{
    struct pattern *m = x->m;
    int i = x->p[1] - '1';
    if (i < 0 || i >= m->count || m->captures[i].size == PATTERN_OPEN)
        return faulty(x, "it refers to a capture that is not there or still open");
    ptrdiff_t size = m->captures[i].size;
    if (size < 0 || m->subject_end - x->s < size)
        return PATTERN_ABSENT;
    x->steps -= size / BYTES_A_STEP;
    if (memcmp(m->captures[i].at, x->s, (size_t)size) != 0)
        return PATTERN_ABSENT;
    x->s += size;
    x->p += 2;
    return MOVE_ON;
}

/* `%bxy`: from an x to its y. */
static int match_balance(struct matcher *x)
{
    const struct pattern *m = x->m;
    if (m->end - x->p < 4)
        return faulty(x, "'%b' needs two characters behind it");
    char opens = x->p[2];
    char closes = x->p[3];
    const char *s = x->s;
    if (s == m->subject_end || *s != opens)
        return PATTERN_ABSENT;
    size_t depth = 1;
    while (++s < m->subject_end && depth > 0) {
        if (*s == closes)
            depth--;
        else if (*s == opens)
            depth++;
    }
    x->steps -= s - x->s;
    x->s = s;
    x->p += 4;
    return depth == 0 ? MOVE_ON : PATTERN_ABSENT;
}

/* `%f[set]`: between a byte outside of the set and one in it. */
static int match_frontier(struct matcher *x)
{
    const struct pattern *m = x->m;
    const char *set = x->p + 3;
    if (m->end - x->p < 3 || x->p[2] != '[')
        return faulty(x, "'%f' needs a set behind it");
    const char *end = set_end(m, set);
    if (!end)
        return faulty(x, "a set has no closing ']'");
    x->steps -= end - set;
    unsigned char before = x->s == m->subject ? 0 : (unsigned char)x->s[-1];
    unsigned char here = x->s == m->subject_end ? 0 : (unsigned char)*x->s;
    if (set_has(set, end, before) || !set_has(set, end, here))
        return PATTERN_ABSENT;
    x->p = end + 1;
    return MOVE_ON;
}

/* `*` and `+`: as many as there are. `least`: 0 or 1. */
static int match_greedy(struct matcher *x, const struct item *item, size_t least)
{
    size_t count;
    int move = item_span(x, item, &count);
    if (move != MOVE_ON)
        return move;
    if (count < least)
        return PATTERN_ABSENT;
    const char *start = x->s;
    x->s += count;
    x->p = item->end + 1;
    return count == 0 ? MOVE_ON
                      : choose(x, CHOICE_GREEDY, item, start + least, count - least);
}

/* An item and the repetition behind it. */
static int match_item(struct matcher *x)
{
    struct item item;
    if (!item_read(x, &item))
        return PATTERN_FAULTY;
    const char *s = x->s;
    switch (item.end < x->m->end ? *item.end : '\0') {
    case '*':
        return match_greedy(x, &item, 0);
    case '+':
        return match_greedy(x, &item, 1);
    case '-':
        x->p = item.end + 1;
        return item_has(x->m, &item, s) ? choose(x, CHOICE_LAZY, &item, s, 0) : MOVE_ON;
    case '?':
        x->p = item.end + 1;
        if (!item_has(x->m, &item, s))
            return MOVE_ON;
        x->s++;
        return choose(x, CHOICE_SKIP, &item, s, 0);
    default:
        if (!item_has(x->m, &item, s))
            return PATTERN_ABSENT;
        x->s++;
        x->p = item.end;
        return MOVE_ON;
    }
}

static int match_escape(struct matcher *x)
{
    unsigned char c = x->p + 1 < x->m->end ? (unsigned char)x->p[1] : '\0';
    if (c == 'b')
        return match_balance(x);
    if (c == 'f')
        return match_frontier(x);
    return classes[c] & DIGIT ? match_again(x) : match_item(x);
}

/* Match what is next in the pattern. */
static int advance(struct matcher *x)
{
    if (x->p == x->m->end)
        return PATTERN_FOUND;
    switch (*x->p) {
    case '(':
        return open_capture(x);
    case ')':
        return close_capture(x);
    case '%':
        return match_escape(x);
    case '$':
        if (x->p + 1 == x->m->end)
            return x->s == x->m->subject_end ? PATTERN_FOUND : PATTERN_ABSENT;
        return match_item(x);
    default:
        return match_item(x);
    }
}

/* -------------------------------------------------------------------- search */

/* Match the whole pattern from `s` on; leaves the end of the match in x->s. */
static int match_at(struct matcher *x, const char *s)
{
    x->p = x->m->begin;
    x->s = s;
    x->open = 0;
    x->m->count = 0;
    for (;;) {
        int move = --x->steps < 0 ? slice_next(x) : MOVE_ON;
        if (move == MOVE_ON)
            move = advance(x);
        while (move == PATTERN_ABSENT && x->open > 0)
            move = back_up(x);
        if (move != MOVE_ON)
            return move;
    }
}

/* The next place at `s` or behind it where a match may begin; NULL for none. */
static const char *candidate(struct matcher *x, const char *s)
{
    int first = x->m->first_byte;
    if (first < 0 || x->m->is_anchored)
        return s;
    const char *hit = memchr(s, first, (size_t)(x->m->subject_end - s));
    x->steps -= ((hit ? hit : x->m->subject_end) - s) / BYTES_A_STEP;
    return hit;
}

enum pattern_outcome pattern_search(struct pattern *m, const char *from,
                                    const char *not_end)
{
    assert(from >= m->subject && from <= m->subject_end);
    struct choice choices[PATTERN_CHOICES_MAX];
    struct matcher x = { .m = m, .choices = choices };
    slice_begin(&x);
    int move = PATTERN_ABSENT;
    for (const char *s = from; s <= m->subject_end && move == PATTERN_ABSENT; s++) {
        s = candidate(&x, s);
        if (!s)
            break;
        move = match_at(&x, s);
        if (move == PATTERN_FOUND && x.s == not_end)
            move = PATTERN_ABSENT;
        m->first = s;
        m->last = x.s;
        if (m->is_anchored)
            break;
    }
    slice_end(&x);
    return (enum pattern_outcome)move;
}

/* Can the byte mean something else than itself? */
static bool is_special(char c)
{
    switch (c) {
    case '^':
    case '$':
    case '*':
    case '+':
    case '?':
    case '.':
    case '(':
    case ')':
    case '[':
    case '%':
    case '-':
        return true;
    default:
        return false;
    }
}

/* A byte that every match begins with, or -1 when that is not known. */
static int first_byte(const struct pattern *m)
{
    if (m->begin == m->end || is_special(*m->begin))
        return -1;
    char next = m->begin + 1 < m->end ? m->begin[1] : '\0';
    return next == '*' || next == '?' || next == '-' ? -1 : (unsigned char)*m->begin;
}

void pattern_init(struct pattern *m, struct span subject, struct span pattern,
                  bool has_anchor)
{
    m->subject = subject.ptr;
    m->subject_end = subject.ptr + subject.len;
    m->begin = pattern.ptr;
    m->end = pattern.ptr + pattern.len;
    m->is_anchored = has_anchor && pattern.len > 0 && *pattern.ptr == '^';
    m->begin += m->is_anchored;
    m->steps_left = PATTERN_STEPS_MAX;
    m->stop = NULL;
    m->count = 0;
    m->fault = NULL;
    m->first_byte = first_byte(m);
}

bool pattern_is_plain(struct span pattern)
{
    for (size_t i = 0; i < pattern.len; i++) {
        if (is_special(pattern.ptr[i]) && pattern.ptr[i] != ')')
            return false;
    }
    return true;
}
