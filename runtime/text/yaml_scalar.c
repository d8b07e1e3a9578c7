/* yaml_scalar.c - the types of plain scalars, see yaml.h. */
#include "text/yaml.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FLOAT_MAX = 512 };

/* What a matcher says: not of this type, of it, or of it but out of range. */
enum match { MATCH_NO, MATCH_YES, MATCH_LARGE };

static bool is_one_of(const char *text, size_t n, const char *const words[])
{
    for (size_t i = 0; words[i]; i++)
        if (strlen(words[i]) == n && memcmp(words[i], text, n) == 0)
            return true;
    return false;
}

static const char *span(const char *p, const char *end, const char *set)
{
    while (p < end && *p && strchr(set, *p))
        p++;
    return p;
}

/* ":59" at p: the end, or NULL. */
static const char *sixty_end(const char *p, const char *end)
{
    if (p == end || *p != ':')
        return NULL;
    const char *q = span(p + 1, end, "0123456789");
    size_t n = (size_t)(q - p - 1);
    return n == 1 || (n == 2 && p[1] <= '5') ? q : NULL;
}

/* One or more of them; `p` itself when there is none. */
static const char *sixties_end(const char *p, const char *end)
{
    for (const char *q = sixty_end(p, end); q; q = sixty_end(q, end))
        p = q;
    return p;
}

static int digit_value(char c)
{
    return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
}

/* Add the digits p..end, signed, to *sum; underscores do not count. */
static bool add_digits(const char *p, const char *end, int base, int sign, int64_t *sum)
{
    for (; p < end; p++)
        if (*p != '_' && (__builtin_mul_overflow(*sum, base, sum) ||
                          __builtin_add_overflow(*sum, sign * digit_value(*p), sum)))
            return false;
    return true;
}

/* Behind the first group of a base 60 number. */
static bool add_sixties(const char *p, const char *end, int sign, int64_t *sum)
{
    while (p < end) {
        const char *q = sixty_end(p, end);
        int64_t part = 0;
        if (!add_digits(p + 1, q, 10, sign, &part) ||
            __builtin_mul_overflow(*sum, 60, sum) ||
            __builtin_add_overflow(*sum, part, sum))
            return false;
        p = q;
    }
    return true;
}

struct notation {
    const char *prefix, *digits;
    int base;
};

/* A prefix and at least one digit (a prefix of 0 is one itself), to the end. */
static const struct notation *notation_of(const char *p, const char *end)
{
    static const struct notation all[] = { { "0b", "01_", 2 },
                                           { "0x", "0123456789abcdefABCDEF_", 16 },
                                           { "0", "01234567_", 8 } };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        size_t n = strlen(all[i].prefix);
        if ((size_t)(end - p) > n && memcmp(p, all[i].prefix, n) == 0 &&
            span(p + n, end, all[i].digits) == end &&
            (all[i].base == 8 || span(p + n, end, "_") != end))
            return &all[i];
    }
    return NULL;
}

static enum match match_integer(const char *p, const char *end, struct value *out)
{
    int sign = *p == '-' ? -1 : 1;
    int64_t sum = 0;
    p += *p == '-' || *p == '+';
    if (p == end)
        return MATCH_NO;
    const struct notation *form = notation_of(p, end);
    const char *group = *p == '0' ? p + 1 : *p == '_' ? p : span(p, end, "0123456789_");
    const char *rest = *p == '0' ? group : sixties_end(group, end);
    if (!form && (group == p || rest != end))
        return MATCH_NO;
    bool fits = form ? add_digits(p + strlen(form->prefix), end, form->base, sign, &sum)
                     : add_digits(p, group, 10, sign, &sum) &&
                           add_sixties(group, end, sign, &sum);
    out->kind = VALUE_INTEGER;
    out->integer = sum;
    return fits ? MATCH_YES : MATCH_LARGE;
}

/* "e+07" at p: its end; p when there is none. */
static const char *exponent_end(const char *p, const char *end)
{
    if (end - p < 3 || (*p | 0x20) != 'e' || (p[1] != '+' && p[1] != '-'))
        return p;
    const char *q = span(p + 2, end, "0123456789");
    return q == p + 2 ? p : q;
}

/* Copy without underscores, so that strtod can read it. */
static enum match to_double(const char *p, const char *end, double *d)
{
    char text[FLOAT_MAX];
    size_t n = 0;
    for (; p < end; p++) {
        if (n == sizeof text - 1)
            return MATCH_LARGE;
        if (*p != '_')
            text[n++] = *p;
    }
    text[n] = '\0';
    *d = strtod(text, NULL);
    return isinf(*d) ? MATCH_LARGE : MATCH_YES;
}

/* Groups from the last to the first, as the reference adds them. */
static enum match sixty_to_double(const char *p, const char *end, double *d)
{
    double base = 1;
    *d = 0;
    while (end > p) {
        const char *start = end;
        double part;
        while (start > p && start[-1] != ':')
            start--;
        if (to_double(start, end, &part) != MATCH_YES)
            return MATCH_LARGE;
        *d += part * base;
        base *= 60;
        end = start > p ? start - 1 : p;
    }
    return isinf(*d) ? MATCH_LARGE : MATCH_YES;
}

static enum match match_float(const char *p, const char *end, double *d)
{
    static const char digits[] = "0123456789_";
    double sign = *p == '-' ? -1 : 1;
    const char *first = p + (*p == '-' || *p == '+');
    const char *whole = first < end && *first != '_' ? span(first, end, digits) : first;
    const char *sixties = whole > first ? sixties_end(whole, end) : whole;
    if (sixties == end || *sixties != '.')
        return MATCH_NO;
    const char *fraction = span(sixties + 1, end, digits);
    bool is_bare = whole == first; /* .5 has no sign and at least one digit */
    if (is_bare && (first != p || fraction == p + 1 || p[1] == '_'))
        return MATCH_NO;
    const char *q = sixties > whole ? fraction : exponent_end(fraction, end);
    if (q != end)
        return MATCH_NO;
    enum match m =
        sixties > whole ? sixty_to_double(first, end, d) : to_double(first, end, d);
    *d *= sign;
    return m;
}

static enum match match_special(const char *text, size_t n, double *d)
{
    static const char *const infinite[] = { ".inf", ".Inf", ".INF", NULL };
    static const char *const nans[] = { ".nan", ".NaN", ".NAN", NULL };
    size_t sign = *text == '-' || *text == '+';
    if (is_one_of(text + sign, n - sign, infinite)) {
        *d = *text == '-' ? -INFINITY : INFINITY;
        return MATCH_YES;
    }
    if (!is_one_of(text, n, nans))
        return MATCH_NO;
    *d = NAN;
    return MATCH_YES;
}

static enum match match_number(const char *text, size_t n, struct value *out)
{
    if (!strchr("-+.0123456789", *text))
        return MATCH_NO;
    enum match m = match_integer(text, text + n, out);
    if (m != MATCH_NO)
        return m;
    double d;
    m = match_special(text, n, &d);
    if (m == MATCH_NO)
        m = match_float(text, text + n, &d);
    if (m == MATCH_YES) {
        out->kind = VALUE_DOUBLE;
        out->number = d;
    }
    return m;
}

bool yaml_resolve(const char *text, size_t n, struct value *out)
{
    static const char *const nulls[] = { "", "~", "null", "Null", "NULL", NULL };
    static const char *const trues[] = { "yes",  "Yes", "YES", "true", "True",
                                         "TRUE", "on",  "On",  "ON",   NULL };
    static const char *const falses[] = { "no",    "No",  "NO",  "false", "False",
                                          "FALSE", "off", "Off", "OFF",   NULL };
    bool is_true = is_one_of(text, n, trues);
    if (is_one_of(text, n, nulls)) {
        out->kind = VALUE_NULL;
    } else if (is_true || is_one_of(text, n, falses)) {
        out->kind = VALUE_BOOL;
        out->boolean = is_true;
    } else {
        enum match m = n && *text ? match_number(text, n, out) : MATCH_NO;
        if (m == MATCH_NO) {
            out->kind = VALUE_TEXT;
            out->count = (uint32_t)n;
            out->text = text;
        }
        return m != MATCH_LARGE;
    }
    return true;
}
