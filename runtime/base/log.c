/* log.c - see log.h. */
#include "base/log.h"
#include "base/mem.h"
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct {
    enum log_level least;
    void (*sink)(void *data, enum log_level level, const char *message, size_t n);
    void *data;
} target;

/* The longest first, so that the first that fits at a place is the right one. */
static struct {
    char *text[SECRETS_MAX];
    size_t length[SECRETS_MAX];
    size_t n;
} secrets;

const char *log_level_name(enum log_level level)
{
    static const char *const names[LOG_LEVELS] = { "debug", "info", "warning", "error" };
    return names[level];
}

void log_set_sink(enum log_level least,
                  void (*sink)(void *data, enum log_level level, const char *message,
                               size_t n),
                  void *data)
{
    pthread_mutex_lock(&lock);
    target.least = least;
    target.sink = sink;
    target.data = data;
    pthread_mutex_unlock(&lock);
}

bool log_wants(enum log_level level)
{
    pthread_mutex_lock(&lock);
    bool wants = target.sink && level >= target.least;
    pthread_mutex_unlock(&lock);
    return wants;
}

/* ---- secrets ---- */

static bool is_known(const char *secret, size_t n)
{
    for (size_t i = 0; i < secrets.n; i++)
        if (secrets.length[i] == n && memcmp(secrets.text[i], secret, n) == 0)
            return true;
    return false;
}

static void insert(const char *secret, size_t n)
{
    size_t i = secrets.n++;
    for (; i > 0 && secrets.length[i - 1] < n; i--) {
        secrets.text[i] = secrets.text[i - 1];
        secrets.length[i] = secrets.length[i - 1];
    }
    secrets.text[i] = mem_copy(secret, n);
    secrets.length[i] = n;
}

bool log_secret_add(const char *secret)
{
    size_t n = secret ? strlen(secret) : 0;
    if (n < SECRET_MIN)
        return true;
    pthread_mutex_lock(&lock);
    bool is_new = !is_known(secret, n);
    bool has_room = secrets.n < SECRETS_MAX;
    if (is_new && has_room)
        insert(secret, n);
    pthread_mutex_unlock(&lock);
    return !is_new || has_room;
}

void log_secrets_clear(void)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < secrets.n; i++) {
        explicit_bzero(secrets.text[i], secrets.length[i]);
        mem_free(secrets.text[i]);
    }
    secrets.n = 0;
    pthread_mutex_unlock(&lock);
}

/* Next place of secret i at or behind `from`, n when there is none. */
static size_t find_from(size_t i, const char *text, size_t n, size_t from)
{
    const char *p =
        from < n ? memmem(text + from, n - from, secrets.text[i], secrets.length[i])
                 : NULL;
    return p ? (size_t)(p - text) : n;
}

/* Each secret is searched once through the text: its next place is remembered. */
static void mask(struct buf *out, const char *text, size_t n)
{
    size_t next[SECRETS_MAX], at = 0;
    for (size_t i = 0; i < secrets.n; i++)
        next[i] = find_from(i, text, n, 0);
    for (;;) {
        size_t first = n, which = 0;
        for (size_t i = 0; i < secrets.n; i++) {
            if (next[i] < at)
                next[i] = find_from(i, text, n, at);
            if (next[i] < first) {
                first = next[i];
                which = i;
            }
        }
        buf_add(out, text + at, first - at);
        if (first == n)
            return;
        buf_add_text(out, "***");
        at = first + secrets.length[which];
    }
}

bool log_mask(struct buf *out, const char *text, size_t n)
{
    pthread_mutex_lock(&lock);
    mask(out, text, n);
    pthread_mutex_unlock(&lock);
    return !out->is_full;
}

/* ---- messages ---- */

enum { MESSAGE_MAX = 1 << 16 };

static void emit(enum log_level level, const char *text, size_t n)
{
    struct buf masked = { .max = 4 * MESSAGE_MAX };
    pthread_mutex_lock(&lock);
    mask(&masked, text, n);
    if (target.sink && level >= target.least)
        target.sink(target.data, level, buf_text(&masked), masked.len);
    pthread_mutex_unlock(&lock);
    buf_free(&masked);
}

/* A message beyond MESSAGE_MAX bytes is cut, behind the masking of what is left: a
 * secret cut in two would be no secret any more, so the cut part is dropped first. */
void log_write(enum log_level level, const char *format, ...)
{
    if (!log_wants(level))
        return;
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    size_t size = n < 0 ? 0 : (size_t)n;
    char *text = mem_new(size + 1);
    vsnprintf(text, size + 1, format, again);
    va_end(again);
    emit(level, text, size);
    mem_free(text);
}
