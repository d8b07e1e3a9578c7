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

bool log_secret_add(const char *secret)
{
    size_t n = secret ? strlen(secret) : 0;
    if (n < SECRET_MIN)
        return true;
    pthread_mutex_lock(&lock);
    bool is_new = !is_known(secret, n);
    bool has_room = secrets.n < SECRETS_MAX;
    if (is_new && has_room) {
        secrets.text[secrets.n] = mem_copy(secret, n);
        secrets.length[secrets.n++] = n;
    }
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

/* A secret that begins inside the masked piece is masked to its end. */
static size_t end_of(size_t next[], const char *text, size_t n, size_t end)
{
    for (size_t i = 0; i < secrets.n; i++) {
        if (next[i] >= end || next[i] == n)
            continue;
        size_t its_end = next[i] + secrets.length[i];
        next[i] = find_from(i, text, n, next[i] + 1);
        if (its_end > end)
            end = its_end;
        i = SIZE_MAX; /* look at all of them again: the piece or its neighbours moved */
    }
    return end;
}

static size_t first_of(const size_t next[], size_t n)
{
    size_t first = n;
    for (size_t i = 0; i < secrets.n; i++)
        if (next[i] < first)
            first = next[i];
    return first;
}

/* Each secret is searched once through the text: its next place is remembered. */
static void mask(struct buf *out, const char *text, size_t n)
{
    size_t next[SECRETS_MAX] = { 0 }, at = 0;
    for (size_t i = 0; i < secrets.n; i++)
        next[i] = find_from(i, text, n, 0);
    for (size_t first = first_of(next, n); first < n; first = first_of(next, n)) {
        buf_add(out, text + at, first - at);
        buf_add_text(out, "***");
        at = end_of(next, text, n, first + 1);
    }
    buf_add(out, text + at, n - at);
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

/* Length of the longest beginning of at most MESSAGE_MAX bytes that ends with a whole
 * character. */
static size_t cut(const struct buf *b)
{
    size_t n = b->len;
    if (n <= MESSAGE_MAX)
        return n;
    n = MESSAGE_MAX;
    while (n > 0 && ((unsigned char)b->ptr[n] & 0xC0) == 0x80)
        n--;
    return n;
}

/* Masked first and cut then, for half a secret would not be found. */
static void emit(enum log_level level, const char *text, size_t n)
{
    struct buf masked = { 0 };
    pthread_mutex_lock(&lock);
    mask(&masked, text, n);
    if (target.sink && level >= target.least)
        target.sink(target.data, level, buf_text(&masked), cut(&masked));
    pthread_mutex_unlock(&lock);
    buf_free(&masked);
}

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
