/* lock.c - see lock.h. */
#include "io/lock.h"
#include "base/buf.h"
#include "base/fault.h"
#include "base/mem.h"
#include "io/file.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* The text of a lock file. `pid` 0: nobody is named. */
struct holder {
    long pid;
    char host[LOCK_HOST_MAX];
    double started, heartbeat; /* seconds since 1970 */
};

struct lock {
    int fd; /* -1: a shared lock without a file */
    char *path;
    enum lock_mode mode;
    struct holder holder;
};

enum { TEXT_BYTES = 512 };

/* ---- the text ---- */

static void print_time(char text[32], double t)
{
    time_t seconds = (time_t)t;
    struct tm tm;
    if (!gmtime_r(&seconds, &tm) || !strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &tm))
        text[0] = '\0';
}

static double parse_time(const char *text)
{
    struct tm tm = { 0 };
    const char *end = strptime(text, "%Y-%m-%dT%H:%M:%SZ", &tm);
    return end ? (double)timegm(&tm) : 0;
}

/* The rest of the line that begins with `name` and a blank; "" when there is none. */
static void line_of(const char *text, const char *name, char *out, size_t size)
{
    size_t n = strlen(name);
    out[0] = '\0';
    for (const char *p = text; p; p = strchr(p, '\n')) {
        p += *p == '\n';
        if (strncmp(p, name, n) != 0 || p[n] != ' ')
            continue;
        snprintf(out, size, "%.*s", (int)strcspn(p + n + 1, "\n"), p + n + 1);
        return;
    }
}

static void holder_parse(struct holder *h, const char *text)
{
    char word[LOCK_HOST_MAX];
    *h = (struct holder){ 0 };
    line_of(text, "pid", word, sizeof word);
    h->pid = strtol(word, NULL, 10);
    line_of(text, "host", h->host, sizeof h->host);
    line_of(text, "started", word, sizeof word);
    h->started = parse_time(word);
    line_of(text, "heartbeat", word, sizeof word);
    h->heartbeat = parse_time(word);
    if (h->pid < 0 || h->pid > INT_MAX || !h->host[0])
        h->pid = 0;
}

static void holder_read(int fd, struct holder *h)
{
    char text[TEXT_BYTES + 1];
    ssize_t n = pread(fd, text, TEXT_BYTES, 0);
    text[n > 0 ? n : 0] = '\0';
    holder_parse(h, text);
}

/* One write of a fixed size: a reader sees the old text or the new one. */
static bool holder_write(int fd, const struct holder *h)
{
    char text[TEXT_BYTES + 1], started[32], heartbeat[32];
    memset(text, '\n', TEXT_BYTES);
    print_time(started, h->started);
    print_time(heartbeat, h->heartbeat);
    int n = snprintf(text, sizeof text, "pid %ld\nhost %s\nstarted %s\nheartbeat %s\n",
                     h->pid, h->host, started, heartbeat);
    if (n > 0 && n < TEXT_BYTES)
        text[n] = '\n';
    if (!fault_pass(FAULT_LOCK))
        return fault_refuse(fd, text, TEXT_BYTES, 0);
    return pwrite(fd, text, TEXT_BYTES, 0) == TEXT_BYTES;
}

struct lock_self lock_self_now(void)
{
    struct lock_self self = { .pid = (long)getpid() };
    struct timespec t;
    if (gethostname(self.host, sizeof self.host - 1) != 0 || !self.host[0])
        snprintf(self.host, sizeof self.host, "localhost");
    clock_gettime(CLOCK_REALTIME, &t);
    self.now = (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
    return self;
}

/* ---- who has it ---- */

static void print_age(char text[32], double seconds)
{
    long s = seconds > 0 ? (long)seconds : 0;
    if (s < 120)
        snprintf(text, 32, "%ld s", s);
    else if (s < 7200)
        snprintf(text, 32, "%ld min", s / 60);
    else
        snprintf(text, 32, "%ld h", s / 3600);
}

static bool is_process(long pid)
{
    return kill((pid_t)pid, 0) == 0 || errno == EPERM;
}

static bool is_here(const struct holder *h, const struct lock_self *self)
{
    return strcmp(h->host, self->host) == 0;
}

static bool is_alive(const struct holder *h, const struct lock_self *self)
{
    if (!h->pid)
        return false;
    if (is_here(h, self))
        return h->pid != self->pid && is_process(h->pid);
    return self->now - h->heartbeat < LOCK_STALE_S;
}

bool lock_text_is_alive(const char *text, const struct lock_self *self)
{
    struct holder h;
    holder_parse(&h, text);
    return is_alive(&h, self);
}

static bool refuse(const char *path, const struct holder *h, const struct lock_self *self,
                   struct err *e)
{
    char age[32], silence[32];
    bool is_gone = is_here(h, self) && !is_process(h->pid);
    if (!h->pid || is_gone) {
        err_set(e, ERR_IO, "%s: another process is using this folder", path);
        return err_hint(e, "wait until it has ended, or choose another folder");
    }
    print_age(age, self->now - h->started);
    print_age(silence, self->now - h->heartbeat);
    err_set(e, ERR_IO,
            "%s: process %ld on %s is using this folder (started %s ago, last sign of "
            "life %s ago)",
            path, h->pid, h->host, age, silence);
    return err_hint(e, "wait until it has ended, stop it, or choose another folder");
}

static void say_taken_over(char note[LOCK_NOTE_MAX], const struct holder *h,
                           const struct lock_self *self)
{
    char silence[32];
    print_age(silence, self->now - h->heartbeat);
    snprintf(note, LOCK_NOTE_MAX,
             "took over from process %ld on %s, which did not end cleanly (last sign of "
             "life %s ago)",
             h->pid, h->host, silence);
}

/* ---- the file ---- */

static bool kernel_lock(int fd, enum lock_mode mode)
{
    struct flock range = { .l_type = mode == LOCK_SHARED ? F_RDLCK : F_WRLCK,
                           .l_whence = SEEK_SET };
    return fcntl(fd, F_OFD_SETLK, &range) == 0;
}

/* False when the file was removed by its last holder in the meantime. */
static bool is_still_at(int fd, const char *path)
{
    struct stat a, b;
    return fstat(fd, &a) == 0 && lstat(path, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

static int open_file(const char *path, enum lock_mode mode)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    bool is_denied = fd < 0 && (errno == EACCES || errno == EROFS || errno == EPERM);
    if (is_denied && mode == LOCK_SHARED)
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    return fd;
}

static bool is_unsupported(int code)
{
    return code == ENOLCK || code == EOPNOTSUPP || code == EINVAL || code == ENOSYS;
}

/* The open and locked file, or -1 with *e set. *is_sure: the kernel's word counts. */
static int lock_file(const char *path, enum lock_mode mode, const struct lock_self *self,
                     bool *is_sure, struct err *e)
{
    for (;;) {
        int fd = open_file(path, mode);
        if (fd < 0) {
            file_err(e, "lock", path, errno);
            return -1;
        }
        bool is_locked = kernel_lock(fd, mode);
        int code = errno;
        *is_sure = is_locked && !file_is_on_network(path);
        if ((is_locked || is_unsupported(code)) && is_still_at(fd, path))
            return fd;
        struct holder h;
        holder_read(fd, &h);
        close(fd);
        if (is_locked || is_unsupported(code))
            continue;
        if (code == EAGAIN || code == EACCES)
            refuse(path, &h, self, e);
        else
            file_err(e, "lock", path, code);
        return -1;
    }
}

static struct lock *lock_new(const char *path, enum lock_mode mode, int fd)
{
    struct lock *l = mem_new(sizeof *l);
    l->fd = fd;
    l->path = mem_copy(path, strlen(path));
    l->mode = mode;
    return l;
}

static bool lock_sign(struct lock *l, const struct lock_self *self, struct err *e)
{
    l->holder =
        (struct holder){ .pid = self->pid, .started = self->now, .heartbeat = self->now };
    memcpy(l->holder.host, self->host, sizeof l->holder.host);
    return holder_write(l->fd, &l->holder) || file_err(e, "lock", l->path, errno);
}

/* A folder that cannot be written and holds no lock file: nobody works there. */
static bool needs_no_file(const char *path, enum lock_mode mode)
{
    struct file_info info;
    char *folder = mem_copy(path, strlen(path));
    char *slash = strrchr(folder, '/');
    if (slash)
        slash[slash == folder] = '\0';
    bool is_denied = eaccess(slash ? folder : ".", W_OK) != 0 && errno != ENOENT;
    mem_free(folder);
    return mode == LOCK_SHARED && is_denied && file_stat(path, &info, NULL) &&
           info.kind == FILE_NONE;
}

struct lock *lock_acquire(const char *path, enum lock_mode mode,
                          const struct lock_self *self, char note[LOCK_NOTE_MAX],
                          struct err *e)
{
    struct holder before;
    bool is_sure;
    note[0] = '\0';
    if (needs_no_file(path, mode))
        return lock_new(path, mode, -1);
    int fd = lock_file(path, mode, self, &is_sure, e);
    if (fd < 0)
        return NULL;
    holder_read(fd, &before);
    if (!is_sure && is_alive(&before, self)) {
        refuse(path, &before, self, e);
        close(fd);
        return NULL;
    }
    struct lock *l = lock_new(path, mode, fd);
    if (mode == LOCK_SHARED)
        return l;
    if (!lock_sign(l, self, e)) {
        lock_release(l);
        return NULL;
    }
    if (before.pid)
        say_taken_over(note, &before, self);
    return l;
}

void lock_beat(struct lock *l, double now)
{
    if (l->mode == LOCK_SHARED)
        return;
    l->holder.heartbeat = now;
    holder_write(l->fd, &l->holder); /* a missed sign of life is followed by another */
}

static bool is_last(const struct lock *l)
{
    struct holder left;
    holder_read(l->fd, &left);
    return l->mode == LOCK_EXCLUSIVE || (!left.pid && kernel_lock(l->fd, LOCK_EXCLUSIVE));
}

/* The last one out removes the file; a text that a killed process left stays until
 * somebody takes the lock over. */
void lock_release(struct lock *l)
{
    if (!l)
        return;
    if (l->fd >= 0 && is_last(l))
        unlink(l->path);
    if (l->fd >= 0)
        close(l->fd);
    mem_free(l->path);
    mem_free(l);
}
