/* fault.c - see fault.h. */
#include "base/fault.h"
#include "base/buf.h"
#include "base/mem.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum fault_mode { MODE_COUNT, MODE_CRASH, MODE_TEAR, MODE_FAIL, MODE_FULL };

static const char *const point_names[FAULT_POINT_COUNT] = {
#define FAULT_NAME(id, name) [FAULT_##id] = (name),
    FAULT_POINTS(FAULT_NAME)
#undef FAULT_NAME
};

static struct plan {
    enum fault_mode mode;
    enum fault_point point;
    long long n;
    bool stays;       /* every pass behind the n-th too */
    char *count_path; /* MODE_COUNT */
} plan;

bool fault_is_on;
static atomic_llong passes[FAULT_POINT_COUNT];

const char *fault_point_name(enum fault_point point)
{
    return point_names[point];
}

/* ---- the words ---- */

static bool is_word(const char *p, size_t n, const char *word)
{
    return strlen(word) == n && memcmp(p, word, n) == 0;
}

static bool parse_point(const char *p, size_t n, struct plan *out)
{
    for (int i = 0; i < FAULT_POINT_COUNT; i++)
        if (is_word(p, n, point_names[i])) {
            out->point = (enum fault_point)i;
            return true;
        }
    return false;
}

static bool parse_mode(const char *word, struct plan *out)
{
    static const char *const words[] = { [MODE_CRASH] = "crash",
                                         [MODE_TEAR] = "tear",
                                         [MODE_FAIL] = "fail",
                                         [MODE_FULL] = "full" };
    for (int i = MODE_CRASH; i <= MODE_FULL; i++)
        if (strcmp(word, words[i]) == 0) {
            out->mode = (enum fault_mode)i;
            return true;
        }
    return false;
}

/* `N:MODE` or `N+:MODE`. */
static bool parse_pass(const char *p, struct plan *out)
{
    char *end;
    if (*p < '1' || *p > '9')
        return false;
    errno = 0;
    out->n = strtoll(p, &end, 10);
    if (errno)
        return false;
    out->stays = *end == '+';
    end += out->stays;
    return *end == ':' && parse_mode(end + 1, out);
}

static bool parse(const char *words, struct plan *out)
{
    size_t n = strcspn(words, ":");
    if (!words[n] || !words[n + 1])
        return false;
    if (!is_word(words, n, "count"))
        return parse_point(words, n, out) && parse_pass(words + n + 1, out);
    out->count_path = mem_copy(words + n + 1, strlen(words + n + 1));
    return true;
}

static bool refuse_words(const char *words, struct err *e)
{
    struct buf list = { 0 };
    for (int i = 0; i < FAULT_POINT_COUNT; i++)
        buf_add_format(&list, "%s%s", i ? " " : "", point_names[i]);
    err_set(e, ERR_USAGE, "SKILLOPT_FAULT=%s is not POINT:N:MODE or count:PATH", words);
    err_hint(e, "points are %s; modes are crash tear fail full", buf_text(&list));
    buf_free(&list);
    return false;
}

/* ---- counting ---- */

static void write_counts(void)
{
    struct buf text = { 0 };
    if (!plan.count_path)
        return;
    for (int i = 0; i < FAULT_POINT_COUNT; i++)
        buf_add_format(&text, "%s %lld\n", point_names[i], atomic_load(&passes[i]));
    int fd = open(plan.count_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd >= 0) {
        ssize_t n = write(fd, text.ptr, text.len);
        (void)n; /* a test that reads a short list says so */
        close(fd);
    }
    buf_free(&text);
}

bool fault_init(const char *words, struct err *e)
{
    static bool is_registered;
    struct plan next = { 0 };
    bool wants = words && words[0];
    if (wants && !parse(words, &next))
        return refuse_words(words, e);
    mem_free(plan.count_path);
    plan = next;
    for (int i = 0; i < FAULT_POINT_COUNT; i++)
        atomic_store(&passes[i], 0);
    fault_is_on = wants;
    if (wants && !is_registered)
        is_registered = atexit(write_counts) == 0;
    return true;
}

/* ---- passing ---- */

void fault_crash(void)
{
    kill(getpid(), SIGKILL);
    for (;;)
        pause();
}

bool fault_is_tear(void)
{
    return fault_is_on && plan.mode == MODE_TEAR;
}

static bool writes_bytes(enum fault_point point)
{
    return point == FAULT_WRITE || point == FAULT_APPEND || point == FAULT_LOCK ||
           point == FAULT_DB_WRITE;
}

bool fault_check(enum fault_point point)
{
    long long n = atomic_fetch_add(&passes[point], 1) + 1;
    bool is_hit = plan.mode != MODE_COUNT && point == plan.point &&
                  (plan.stays ? n >= plan.n : n == plan.n);
    if (!is_hit)
        return true;
    bool is_end = plan.mode == MODE_CRASH || (fault_is_tear() && !writes_bytes(point));
    if (is_end)
        fault_crash();
    errno = plan.mode == MODE_FULL ? ENOSPC : EIO;
    return false;
}

bool fault_refuse(int fd, const void *p, size_t n, off_t at)
{
    if (!fault_is_tear())
        return false;
    ssize_t half = at < 0 ? write(fd, p, n / 2) : pwrite(fd, p, n / 2, at);
    (void)half; /* torn earlier is torn, too */
    fault_crash();
}
