/* check.c - see check.h. */
#include "check.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char why[1024];
static bool is_skipped;
static int failures;

void check_run(const char *name, void (*test)(void))
{
    why[0] = '\0';
    is_skipped = false;
    test();
    if (why[0] && !is_skipped)
        failures++;
    printf("%s - %s%s%s\n",
           is_skipped ? "skip"
           : why[0]   ? "FAIL"
                      : "ok",
           name, why[0] ? ": " : "", why);
    fflush(stdout);
}

int check_end(void)
{
    return failures ? 1 : 0;
}

bool check_that(bool is_true, const char *what, const char *file, int line)
{
    if (!is_true && !why[0])
        snprintf(why, sizeof why, "%s:%d: %s", file, line, what);
    return is_true;
}

bool check_text(const char *got, const char *want, const char *file, int line)
{
    bool same = got && want ? strcmp(got, want) == 0 : got == want;
    if (!same && !why[0])
        snprintf(why, sizeof why, "%s:%d: got \"%.300s\", wanted \"%.300s\"", file, line,
                 got ? got : "(null)", want ? want : "(null)");
    return same;
}

bool check_int(long long got, long long want, const char *file, int line)
{
    if (got != want && !why[0])
        snprintf(why, sizeof why, "%s:%d: got %lld, wanted %lld", file, line, got, want);
    return got == want;
}

void check_skip(const char *reason)
{
    is_skipped = true;
    snprintf(why, sizeof why, "%s", reason);
}

const char *check_shared(void)
{
    const char *path = getenv("SKILLOPT_SHARED");
    struct stat info;
    if (!path || !*path)
        path = "../shared";
    return stat(path, &info) == 0 ? path : NULL;
}
