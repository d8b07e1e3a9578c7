/* test_spool.c - texts that wait on disk. */
#include "base/mem.h"
#include "check.h"
#include "io/spool.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXTS = 300, LONG = 100000 };

/* The i-th text: short ones, and now and then one longer than what is read ahead. */
static size_t text(int i, char *out)
{
    size_t n = i % 50 == 7 ? LONG : (size_t)i * 37 % 9000;
    memset(out, 'a' + i % 26, n);
    return n;
}

/* A spool with all texts and a last long one, which is written to disk with them. */
static struct spool *full(int64_t places[TEXTS], char *bytes)
{
    struct spool *s = spool_new(".");
    struct err e;
    int64_t last;
    for (int i = 0; i < TEXTS; i++)
        CHECK(spool_add(s, bytes, text(i, bytes), &places[i], &e));
    memset(bytes, 'z', SPOOL_IN_MEMORY);
    CHECK(spool_add(s, bytes, SPOOL_IN_MEMORY, &last, &e));
    return s;
}

static void expect_text(struct spool *s, int i, int64_t place, char *bytes)
{
    struct buf out = { 0 };
    struct err e;
    size_t n = text(i, bytes);
    CHECK(spool_read(s, place, &out, &e));
    CHECK(out.len == n && (n == 0 || memcmp(out.ptr, bytes, n) == 0));
    buf_free(&out);
}

static void texts_come_back_in_any_order(void)
{
    int64_t places[TEXTS];
    char *bytes = mem_new(SPOOL_IN_MEMORY);
    struct spool *s = full(places, bytes);
    for (int i = 0; i < TEXTS; i++)
        expect_text(s, i, places[i], bytes);
    for (int i = 0; i < TEXTS; i++)
        expect_text(s, i * 131 % TEXTS, places[i * 131 % TEXTS], bytes);
    for (int i = TEXTS; i-- > 0;)
        expect_text(s, i, places[i], bytes);
    spool_free(s);
    mem_free(bytes);
}

/* The file has no name: it is found among those this process has open. */
static int file_behind(void)
{
    static const char ending[] = " (deleted)";
    DIR *d = opendir("/proc/self/fd");
    int found = -1;
    for (struct dirent *one; d && (one = readdir(d));) {
        char link[320], to[4096];
        snprintf(link, sizeof link, "/proc/self/fd/%s", one->d_name);
        ssize_t n = readlink(link, to, sizeof to);
        size_t tail = sizeof ending - 1;
        if (n > (ssize_t)tail && memcmp(to + (size_t)n - tail, ending, tail) == 0)
            found = (int)strtol(one->d_name, NULL, 10);
    }
    if (d)
        closedir(d);
    return found;
}

static void expect_refused(struct spool *s, int64_t place)
{
    struct buf out = { 0 };
    struct err e = { 0 };
    CHECK(!spool_read(s, place, &out, &e));
    CHECK_INT(e.kind, ERR_IO);
    CHECK(strstr(e.message, "is not there any more"));
    buf_free(&out);
}

/* Cut in a text, in a length, and before it. */
static void half_a_text_does_not_pass_for_a_whole_one(void)
{
    static const int64_t cuts[] = { 8 + LONG - 1, 8 + LONG / 2, 8 + 10, 3, 0, -1 };
    int64_t places[TEXTS];
    char *bytes = mem_new(SPOOL_IN_MEMORY);
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        struct spool *s = full(places, bytes);
        expect_text(s, 1, places[1], bytes); /* what is read ahead lies far away */
        CHECK_INT(ftruncate(file_behind(), places[57] + cuts[i]), 0);
        expect_refused(s, places[57]);
        expect_refused(s, places[58]);
        expect_text(s, 1, places[1], bytes);
        spool_free(s);
    }
    mem_free(bytes);
}

int main(void)
{
    check_run("texts come back in any order", texts_come_back_in_any_order);
    check_run("half a text does not pass for a whole one",
              half_a_text_does_not_pass_for_a_whole_one);
    return check_end();
}
