/* bench_journal.c - what an effect costs in the journal.
 *
 *   bench_journal [EFFECTS [GROUP]]
 *
 * Appends EFFECTS times a body of 3 KB and a reply of 1 KB, GROUP effects between two
 * looks at the callbacks, as a loop would; then finds and reads each reply; closes and
 * opens again, which verifies every row. The file lives in $TMPDIR, else /tmp, and is
 * removed. Prints
 *
 *   figure journal.append.rows_per_s N 1/s     figure journal.append.cpu_us N us
 *   figure journal.trickle.rows_per_s N 1/s    figure journal.trickle.cpu_us N us
 *   figure journal.read.rows_per_s N 1/s       figure journal.read.cpu_us N us
 *   figure journal.open.rows_per_s N 1/s       figure journal.open.cpu_us N us
 *
 * where a row is an effect, but at open a row of the file. In a trickle each effect waits
 * until the one before is stored.
 */
#include "base/digest.h"
#include "io/file.h"
#include "io/journal.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    BODY = 3072,
    REPLY = 1024,
    TEXTS = 512,
    EFFECTS = 20000,
    GROUP = 64,
    TRICKLE = 2000
};

static char bodies[TEXTS][BODY], replies[TEXTS][REPLY];

struct span {
    double wall, cpu;
};

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static struct span span_start(void)
{
    return (struct span){ seconds(CLOCK_MONOTONIC), seconds(CLOCK_PROCESS_CPUTIME_ID) };
}

static void span_print(struct span s, const char *name, long rows)
{
    double wall = seconds(CLOCK_MONOTONIC) - s.wall;
    double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - s.cpu;
    printf("figure %s.rows_per_s %.0f 1/s\n", name, (double)rows / wall);
    printf("figure %s.cpu_us %.1f us\n", name, cpu * 1e6 / (double)rows);
}

/* Words and numbers: shrinks about as much as prompts do. */
static void fill(char *text, size_t size, unsigned *state)
{
    static const char *const words[] = {
        "the ",   "answer ",   "is ",      "river ", "question ",   "of ",    "step ",
        "in ",    "context ",  "born ",    "city ",  "model ",      "skill ", "rule ",
        "which ", "passage ",  "between ", "north ", "author ",     "film ",  "\\n",
        "when ",  "document ", "series ",  "1987 ",  "population ", "and ",
    };
    size_t n = 0;
    while (n + 20 < size) {
        *state = *state * 1103515245u + 12345u;
        unsigned draw = *state >> 12;
        n += (size_t)snprintf(text + n, 20, "%s", words[draw % 27]);
        if (draw % 5 == 0)
            n += (size_t)snprintf(text + n, 8, "%x", draw & 0xffff);
    }
    memset(text + n, '.', size - n);
}

static void name_of(long i, char slot[64], char key[DIGEST_HEX + 1])
{
    int n = snprintf(slot, 64, "steps/step_0001/rollout/q%ld", i);
    struct digest d = digest_of(slot, (size_t)n);
    digest_hex(&d, key);
}

static long stored;

static void count(void *arg, const struct err *e)
{
    stored += e == NULL;
}

static bool append_one(struct journal *j, long i, struct err *e)
{
    char slot[64], key[DIGEST_HEX + 1];
    name_of(i, slot, key);
    return journal_append(j, JOURNAL_BODY, "", key, bodies[i % TEXTS], BODY, NULL, NULL,
                          e) &&
           journal_append(j, JOURNAL_EFFECT, slot, key, replies[i % TEXTS], REPLY, count,
                          NULL, e);
}

static bool trickle(struct journal *j, long first, long effects, struct err *e)
{
    bool ok = true;
    for (long i = first; ok && i < first + effects; i++) {
        ok = append_one(j, i, e) && journal_sync(j, e);
        journal_deliver(j);
    }
    return ok;
}

static bool append(struct journal *j, long effects, long group, struct err *e)
{
    for (long i = 0; i < effects; i++) {
        if (!append_one(j, i, e))
            return false;
        if (i % group == group - 1)
            while (stored + 8 * group < i)
                journal_sync(j, NULL), journal_deliver(j);
    }
    bool ok = journal_sync(j, e);
    journal_deliver(j);
    return ok && stored == effects;
}

static bool read_all(struct journal *j, long effects, struct err *e)
{
    char slot[64], key[DIGEST_HEX + 1];
    struct buf data = { 0 };
    bool ok = true;
    for (long i = 0; ok && i < effects; i++) {
        name_of(i, slot, key);
        int64_t n = journal_find(j, JOURNAL_EFFECT, slot, key);
        ok = n && journal_read(j, n, &data, e) && data.len == REPLY;
    }
    buf_free(&data);
    return ok;
}

static bool run(const char *path, long effects, long group, struct err *e)
{
    struct journal_options o = { .ballast_bytes = JOURNAL_BALLAST_SIZE };
    struct journal *j = journal_open(path, &o, e);
    if (!j)
        return false;
    struct span s = span_start();
    bool ok = append(j, effects, group, e);
    span_print(s, "journal.append", effects);
    s = span_start();
    ok = ok && read_all(j, effects, e);
    span_print(s, "journal.read", effects);
    s = span_start();
    ok = ok && trickle(j, effects, TRICKLE, e);
    span_print(s, "journal.trickle", TRICKLE);
    ok = journal_close(j, e) && ok;
    s = span_start();
    j = ok ? journal_open(path, &o, e) : NULL;
    span_print(s, "journal.open", 2 * (effects + TRICKLE));
    return journal_close(j, e) && j;
}

int main(int argc, char **argv)
{
    long effects = argc > 1 ? strtol(argv[1], NULL, 10) : EFFECTS;
    long group = argc > 2 ? strtol(argv[2], NULL, 10) : GROUP;
    const char *root = getenv("TMPDIR");
    char folder[4096], path[4200];
    struct err e = { 0 };
    unsigned state = 1;
    snprintf(folder, sizeof folder, "%s/bench_journal.XXXXXX", root ? root : "/tmp");
    if (effects < 1 || group < 1 || !mkdtemp(folder)) {
        fprintf(stderr, "usage: bench_journal [EFFECTS [GROUP]]\n");
        return 2;
    }
    for (int i = 0; i < TEXTS; i++) {
        fill(bodies[i], BODY, &state);
        fill(replies[i], REPLY, &state);
    }
    snprintf(path, sizeof path, "%s/journal.db", folder);
    bool ok = run(path, effects, group, &e);
    if (!ok)
        fprintf(stderr, "bench_journal: %s\n", e.message);
    char *slash = strrchr(folder, '/');
    *slash = '\0';
    file_remove_tree(folder, slash + 1, NULL);
    return ok ? 0 : 1;
}
