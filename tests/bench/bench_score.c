/* bench_score.c - how fast short answers are judged: exact match and F1 a second, each
 * pair against two golds. */
#include "text/score/answer.h"
#include <stdio.h>
#include <time.h>

enum { ROUNDS = 250000 };

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double judge(struct answer *a, struct span answer, struct span gold,
                    struct span other)
{
    answer_read(a, answer);
    double marks = answer_equals(a, gold) || answer_equals(a, other);
    answer_read(a, answer);
    double first = answer_f1(a, gold);
    double second = answer_f1(a, other);
    return marks + (first > second ? first : second);
}

static void time_set(const char *name, const struct span (*set)[3], size_t count)
{
    struct answer a = { 0 };
    double sum = 0;
    double start = now_s();
    for (size_t i = 0; i < ROUNDS; i++)
        sum += judge(&a, set[i % count][0], set[i % count][1], set[i % count][2]);
    double spent = now_s() - start;
    printf("figure score.%s %.0f marks/s\n", name, ROUNDS / spent);
    answer_free(&a);
    if (sum <= 0)
        printf("score.%s: nothing was right\n", name);
}

int main(void)
{
    const struct span ascii[][3] = {
        { SPAN("the Lake Ladoga."), SPAN("Lake Ladoga"), SPAN("Ladoga") },
        { SPAN("1,000 meters"), SPAN("1000 metres"), SPAN("1000 m") },
        { SPAN("Ada Lovelace, the mathematician"), SPAN("Ada Lovelace"),
          SPAN("Lovelace") },
        { SPAN("in the year of 1969"), SPAN("1969"), SPAN("July 1969") },
    };
    const struct span other[][3] = {
        { SPAN("Café de Flore"), SPAN("the café de flore"), SPAN("Flore") },
        { SPAN("São Tomé"), SPAN("Sao Tome"), SPAN("são tomé") },
    };
    time_set("ascii", ascii, 4);
    time_set("unicode", other, 2);
    return 0;
}
