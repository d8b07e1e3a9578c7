/* json_number.c - doubles as text, see json.h. */
#include "text/json.h"
#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS_MAX = 17 };

/* d = 0.D1D2D3... * 10^point, without trailing zeros. */
struct decimal {
    char digits[DIGITS_MAX + 1];
    int count, point;
};

/* Add one to the last digit of "d.ddde+dd"; false when all are nines. */
static bool bump(char *text)
{
    for (char *p = strchr(text, 'e') - 1; p >= text; p--) {
        if (*p >= '0' && *p < '9') {
            ++*p;
            return true;
        }
        if (*p == '9')
            *p = '0';
    }
    return false;
}

/* Write d with `count` digits; true when that reads back as d. Below a power of two
 * doubles lie closer together than above it, so there the nearest decimal may be
 * too low while the next one is right. */
static bool write_digits(double d, int count, char *text, size_t size)
{
    int exponent;
    snprintf(text, size, "%.*e", count - 1, d);
    if (strtod(text, NULL) == d)
        return true;
    return frexp(d, &exponent) == 0.5 && bump(text) && strtod(text, NULL) == d;
}

/* d as a decimal of at most `count` digits, false when they are too few (d > 0). */
static bool decimal_of(double d, int count, struct decimal *out)
{
    char text[DIGITS_MAX + 16];
    if (!write_digits(d, count, text, sizeof text))
        return false;
    char *exponent = strchr(text, 'e');
    out->point = (int)strtol(exponent + 1, NULL, 10) + 1;
    out->count = 0;
    for (const char *p = text; p < exponent; p++)
        if (*p != '.')
            out->digits[out->count++] = *p;
    while (out->count > 1 && out->digits[out->count - 1] == '0')
        out->count--;
    return true;
}

/* 15 digits name every normal double that has a short name; subnormal ones have
 * fewer digits, so all lengths are tried. */
static void shortest(double d, struct decimal *out)
{
    int count = d < DBL_MIN ? 1 : DBL_DIG;
    while (!decimal_of(d, count, out)) {
        count++;
        assert(count <= DIGITS_MAX);
    }
}

static char *put(char *p, const char *digits, int count)
{
    memcpy(p, digits, (size_t)count);
    return p + count;
}

static char *put_zeros(char *p, int count)
{
    for (; count > 0; count--)
        *p++ = '0';
    return p;
}

static char *put_exponent(char *p, const struct decimal *n)
{
    int exponent = n->point - 1;
    *p++ = n->digits[0];
    if (n->count > 1) {
        *p++ = '.';
        p = put(p, n->digits + 1, n->count - 1);
    }
    return p + snprintf(p, 8, "e%c%02d", exponent < 0 ? '-' : '+', abs(exponent));
}

static char *put_plain(char *p, const struct decimal *n)
{
    int whole = n->point < n->count ? n->point : n->count;
    if (n->point <= 0) {
        p = put(p, "0.", 2);
        p = put_zeros(p, -n->point);
        return put(p, n->digits, n->count);
    }
    p = put(p, n->digits, whole);
    p = put_zeros(p, n->point - n->count);
    *p++ = '.';
    return whole < n->count ? put(p, n->digits + whole, n->count - whole)
                            : put(p, "0", 1);
}

size_t json_format_double(double d, char text[JSON_NUMBER_MAX])
{
    char *p = text;
    if (signbit(d) && !isnan(d))
        *p++ = '-';
    if (isnan(d) || isinf(d)) {
        p = put(p, isnan(d) ? "nan" : "inf", 3);
    } else if (d == 0) {
        p = put(p, "0.0", 3);
    } else {
        struct decimal n = { 0 };
        shortest(fabs(d), &n);
        p = n.point > -4 && n.point <= 16 ? put_plain(p, &n) : put_exponent(p, &n);
    }
    *p = '\0';
    return (size_t)(p - text);
}

double json_round(double d, int n)
{
    char text[DBL_MAX_10_EXP + 40];
    assert(n >= 0 && n <= 30);
    if (!isfinite(d))
        return d;
    snprintf(text, sizeof text, "%.*f", n, d);
    return strtod(text, NULL);
}
