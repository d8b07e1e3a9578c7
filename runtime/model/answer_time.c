/* answer_time.c - see answer_time.h. */
#include "model/answer_time.h"
#include <ctype.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Digits with at most one point; *end behind them. */
static double read_number(const char *p, const char **end)
{
    size_t digits = strspn(p, "0123456789");
    size_t n = digits;
    if (p[n] == '.')
        n += 1 + strspn(p + n + 1, "0123456789");
    *end = p;
    if (digits == 0 || digits > 15 || n > 40)
        return -1;
    char text[48];
    memcpy(text, p, n);
    text[n] = '\0';
    *end = p + n;
    return strtod(text, NULL);
}

static const char *skip_blanks(const char *p)
{
    return p + strspn(p, " \t");
}

double time_number(const char *text)
{
    const char *end;
    double n = read_number(skip_blanks(text), &end);
    return *skip_blanks(end) == '\0' ? n : -1;
}

/* Seconds of the unit at p, 0 when there is none; *end behind it. */
static double read_unit(const char *p, const char **end)
{
    static const struct {
        const char *name;
        double seconds;
    } units[] = { { "ms", 1e-3 }, { "us", 1e-6 }, { "ns", 1e-9 }, { "d", 86400 },
                  { "h", 3600 },  { "m", 60 },    { "s", 1 } };
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        size_t n = strlen(units[i].name);
        if (strncmp(p, units[i].name, n) == 0) {
            *end = p + n;
            return units[i].seconds;
        }
    }
    *end = p;
    return 0;
}

double time_duration(const char *text)
{
    double sum = 0;
    const char *p = skip_blanks(text);
    if (!isdigit((unsigned char)*p))
        return -1;
    while (isdigit((unsigned char)*p)) {
        double n = read_number(p, &p);
        if (n < 0)
            return -1;
        double unit = read_unit(p, &p);
        if (unit == 0)
            return sum + n; /* a bare number counts seconds */
        sum += n * unit;
    }
    return sum;
}

static int month_number(const char *name)
{
    static const char names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    const char *at = strstr(names, name);
    return at && (at - names) % 3 == 0 ? (int)(at - names) / 3 + 1 : 0;
}

/* Days since 1970-01-01 of a day in the Gregorian calendar. */
static int64_t day_number(int year, int month, int day)
{
    int64_t y = month <= 2 ? year - 1 : year;
    int64_t era = y / 400;
    int64_t year_of_era = y - era * 400;
    int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    int64_t day_of_era =
        year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * 146097 + day_of_era - 719468;
}

double time_http_date(const char *text)
{
    int day, year, hour, minute, second, end = 0;
    char name[4];
    int n = sscanf(text, " %*3[A-Za-z], %2d %3[A-Za-z] %4d %2d:%2d:%2d GMT%n", &day, name,
                   &year, &hour, &minute, &second, &end);
    int month = n == 6 ? month_number(name) : 0;
    if (end == 0 || month == 0 || year < 1970 || day < 1 || day > 31 || hour < 0 ||
        hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60)
        return -1;
    int64_t days = day_number(year, month, day);
    return (double)(((days * 24 + hour) * 60 + minute) * 60 + second);
}
