/* check.h - the smallest test harness that says what failed.
 *
 * A program's main calls check_run for each test and returns check_end(). It
 * prints one line a test: `ok - name`, `FAIL - name: why` or `skip - name: why`;
 * tests/run.sh counts them. Names are sentences. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

void check_run(const char *name, void (*test)(void));
int check_end(void);

/* Inside a test: the first failure is reported, the test goes on. */
#define CHECK(condition)      check_that((condition), #condition, __FILE__, __LINE__)
#define CHECK_TEXT(got, want) check_text((got), (want), __FILE__, __LINE__)
#define CHECK_INT(got, want)                                                             \
    check_int((long long)(got), (long long)(want), __FILE__, __LINE__)

bool check_that(bool is_true, const char *what, const char *file, int line);
bool check_text(const char *got, const char *want, const char *file, int line);
bool check_int(long long got, long long want, const char *file, int line);

/* Mark the running test as skipped, with the reason. */
void check_skip(const char *why);

/* $SKILLOPT_SHARED, or ../shared; NULL when the folder is not there. */
const char *check_shared(void);
