/* file.c - see file.h. Every write, sync and rename of this room's plain files goes
 * through write_all, sync_fd and rename_at. */
#include "io/file.h"
#include "base/digest.h"
#include "base/fault.h"
#include "base/mem.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* ---- errors ---- */

static const char *hint_of(int code)
{
    switch (code) {
    case ENOENT:
        return "check the path; relative paths start at the working directory";
    case EACCES:
    case EPERM:
        return "check the permissions of it and of the folders above it";
    case ENOSPC:
    case EDQUOT:
        return "free some space and start again";
    case EROFS:
        return "the file system is mounted read-only; choose another folder";
    case EMFILE:
    case ENFILE:
        return "raise the number of open files (ulimit -n)";
    case EISDIR:
        return "this is a folder; name a file";
    case ENOTDIR:
        return "a part of the path is not a folder";
    default:
        return NULL;
    }
}

bool file_err(struct err *e, const char *verb, const char *path, int code)
{
    char words[128];
    err_set(e, ERR_IO, "cannot %s %s: %s", verb, path,
            strerror_r(code, words, sizeof words));
    const char *hint = hint_of(code);
    return hint ? err_hint(e, "%s", hint) : false;
}

/* ---- one system call each ---- */

static bool write_all(int fd, const char *p, size_t n)
{
    if (!fault_pass(FAULT_WRITE))
        return fault_refuse(fd, p, n, -1);
    while (n) {
        ssize_t k = write(fd, p, n);
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0)
            return false;
        p += k;
        n -= (size_t)k;
    }
    return true;
}

/* EINVAL: not a thing that can be synced (some folders of some file systems). */
static bool sync_fd(int fd)
{
    return fault_pass(FAULT_SYNC) && (fsync(fd) == 0 || errno == EINVAL);
}

static bool rename_at(int dir, const char *from, const char *to)
{
    return fault_pass(FAULT_RENAME) && renameat(dir, from, dir, to) == 0;
}

static ssize_t read_some(int fd, char *p, size_t n)
{
    ssize_t k = read(fd, p, n);
    while (k < 0 && errno == EINTR)
        k = read(fd, p, n);
    return k;
}

/* ---- reading ---- */

static enum file_kind kind_of(mode_t mode)
{
    if (S_ISREG(mode))
        return FILE_REGULAR;
    if (S_ISDIR(mode))
        return FILE_FOLDER;
    return S_ISLNK(mode) ? FILE_LINK : FILE_OTHER;
}

static bool is_absent(int code)
{
    return code == ENOENT || code == ENOTDIR;
}

bool file_stat(const char *path, struct file_info *info, struct err *e)
{
    struct stat s;
    *info = (struct file_info){ .kind = FILE_NONE };
    if (lstat(path, &s) != 0)
        return is_absent(errno) || file_err(e, "look at", path, errno);
    struct stat behind;
    if (S_ISLNK(s.st_mode) && stat(path, &behind) == 0)
        s = behind;
    else if (S_ISLNK(s.st_mode) && !is_absent(errno) && errno != ELOOP)
        return file_err(e, "look at", path, errno);
    info->kind = kind_of(s.st_mode);
    info->size = info->kind == FILE_REGULAR ? s.st_size : 0;
    info->mode = s.st_mode & 07777;
    return true;
}

enum { READ_STEP = 1 << 16 };

/* Bytes of a regular file; 0 when that is not known. The size is only a guess: files of
 * /proc say 0. */
static size_t size_of(int fd)
{
    struct stat s;
    bool is_known = fstat(fd, &s) == 0 && S_ISREG(s.st_mode) && s.st_size > 0;
    return is_known ? (size_t)s.st_size : 0;
}

static bool too_large(const char *path, size_t max, struct err *e)
{
    return err_set(e, ERR_LIMIT, "%s is larger than %zu bytes", path, max);
}

/* When `out` has no room left one byte more is asked for: it may be the end. One byte
 * more than the file's size shows the end without growing the buf, and without another
 * read where just that size comes. */
static bool read_fd(int fd, const char *path, struct buf *out, struct err *e)
{
    size_t max = out->max ? out->max : BUF_DEFAULT_MAX;
    size_t size = size_of(fd), start = out->len;
    size_t step = size ? size + 1 : READ_STEP;
    for (;;) {
        char extra = 0;
        size_t left = max > out->len ? max - out->len : 0;
        size_t want = left < step ? left : step;
        char *room = want ? buf_room(out, want) : &extra;
        if (!room)
            return too_large(path, max, e);
        ssize_t k = read_some(fd, room, want ? want : 1);
        int code = errno;
        if (want)
            buf_added(out, k > 0 ? (size_t)k : 0);
        if (k < 0)
            return file_err(e, "read", path, code);
        bool is_whole = size && out->len - start == size && (size_t)k < want;
        if (k == 0 || is_whole)
            return true;
        if (!want)
            return too_large(path, max, e);
        step = step > (size_t)k ? step - (size_t)k : READ_STEP;
    }
}

bool file_read(const char *path, struct buf *out, struct err *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return file_err(e, "open", path, errno);
    bool ok = read_fd(fd, path, out, e);
    close(fd);
    return ok;
}

bool file_read_part(const char *path, int64_t at, size_t n, struct buf *out,
                    struct err *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return file_err(e, "open", path, errno);
    char *to = buf_room(out, n);
    size_t done = 0;
    ssize_t k = 1;
    while (to && done < n && k != 0) {
        k = pread(fd, to + done, n - done, at + (int64_t)done);
        if (k < 0 && errno != EINTR)
            break;
        done += k > 0 ? (size_t)k : 0;
    }
    int code = errno;
    close(fd);
    if (k < 0 && done < n)
        return file_err(e, "read", path, code);
    if (to)
        buf_added(out, done);
    return to || too_large(path, out->max, e);
}

/* ---- writing ---- */

/* Where a name is: the folder, held open, and the two names in it. */
struct spot {
    int dir;
    const char *path, *name;
    char temp[NAME_MAX + 8];
};

/* `.NAME.tmp`, or 16 digits for a name that is too long to grow. */
static void temp_name(struct spot *s, size_t n)
{
    char hex[DIGEST_HEX + 1] = "";
    bool is_long = n + strlen("..tmp") > NAME_MAX;
    if (is_long) {
        struct digest d = digest_of(s->name, n);
        digest_hex(&d, hex);
    }
    snprintf(s->temp, sizeof s->temp, ".%.*s.tmp", is_long ? 16 : NAME_MAX,
             is_long ? hex : s->name);
}

static bool spot_open(struct spot *s, const char *path, struct err *e)
{
    const char *slash = strrchr(path, '/');
    s->path = path;
    s->dir = -1;
    s->name = slash ? slash + 1 : path;
    size_t n = strlen(s->name);
    if (!n || strcmp(s->name, ".") == 0 || strcmp(s->name, "..") == 0)
        return file_err(e, "write", path, EISDIR);
    if (n > NAME_MAX)
        return file_err(e, "write", path, ENAMETOOLONG);
    temp_name(s, n);
    char *folder = slash ? mem_copy(path, (size_t)(slash - path) + 1) : mem_copy(".", 1);
    s->dir = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    mem_free(folder);
    return s->dir >= 0 || file_err(e, "write", path, errno);
}

static bool is_same_file(int fd, int dir, const char *name)
{
    struct stat a, b;
    return fstat(fd, &a) == 0 && fstatat(dir, name, &b, AT_SYMLINK_NOFOLLOW) == 0 &&
           a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* The temporary file, empty and locked, -1 with errno on failure. Another writer
 * of the same name is waited for: when it has renamed its file, the name is free. */
static int temp_open(const struct spot *s)
{
    for (;;) {
        int fd = openat(s->dir, s->temp,
                        O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
        if (fd < 0)
            return -1;
        while (flock(fd, LOCK_EX) != 0 && errno == EINTR)
            continue;
        if (is_same_file(fd, s->dir, s->temp)) {
            if (ftruncate(fd, 0) == 0)
                return fd;
            int code = errno;
            close(fd);
            errno = code;
            return -1;
        }
        close(fd);
    }
}

static bool temp_fill(const struct spot *s, int fd, const char *p, size_t n,
                      unsigned flags)
{
    struct stat old;
    bool is_there = fstatat(s->dir, s->name, &old, AT_SYMLINK_NOFOLLOW) == 0;
    if (is_there && S_ISREG(old.st_mode) && fchmod(fd, old.st_mode & 0777) != 0)
        return false;
    return write_all(fd, p, n) && (!(flags & FILE_SYNC) || sync_fd(fd));
}

/* A folder held with O_PATH cannot be synced: open it again. */
static bool sync_folder(int dir)
{
    int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return errno == EACCES; /* writable but not readable: nothing to be done */
    bool ok = sync_fd(fd);
    close(fd);
    return ok;
}

static bool is_equal_fd(int fd, const char *p, size_t n)
{
    char *piece = mem_new(READ_STEP);
    size_t at = 0;
    ssize_t k = read_some(fd, piece, READ_STEP);
    while (k > 0 && (size_t)k <= n - at && memcmp(piece, p + at, (size_t)k) == 0) {
        at += (size_t)k;
        k = read_some(fd, piece, READ_STEP);
    }
    mem_free(piece);
    return k == 0 && at == n;
}

static bool has_bytes(const struct spot *s, const char *p, size_t n)
{
    struct stat st;
    if (fstatat(s->dir, s->name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode) ||
        (size_t)st.st_size != n)
        return false;
    int fd = openat(s->dir, s->name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool equal = is_equal_fd(fd, p, n);
    close(fd);
    return equal;
}

static bool spot_write(const struct spot *s, const void *p, size_t n, unsigned flags,
                       struct err *e)
{
    int fd = temp_open(s);
    if (fd < 0)
        return file_err(e, "write", s->path, errno);
    bool ok = temp_fill(s, fd, p, n, flags) && rename_at(s->dir, s->temp, s->name);
    if (!ok) {
        file_err(e, "write", s->path, errno);
        unlinkat(s->dir, s->temp, 0);
    } else if ((flags & FILE_SYNC) && !sync_folder(s->dir)) {
        ok = file_err(e, "sync the folder of", s->path, errno);
    }
    close(fd);
    return ok;
}

bool file_write_atomic(const char *path, const void *p, size_t n, unsigned flags,
                       struct err *e)
{
    struct spot s;
    if (!spot_open(&s, path, e))
        return false;
    bool is_equal = (flags & FILE_KEEP_EQUAL) && has_bytes(&s, p, n);
    bool ok = is_equal || spot_write(&s, p, n, flags, e);
    close(s.dir);
    return ok;
}

/* ---- writing in pieces ---- */

enum { DRAFT_PIECE = 1 << 16 };

struct draft {
    struct spot spot;
    char *path;
    unsigned flags;
    int fd;
    struct buf waiting;
};

struct draft *draft_open(const char *path, unsigned flags, struct err *e)
{
    struct draft *d = mem_new(sizeof *d);
    d->path = mem_copy(path, strlen(path));
    d->flags = flags;
    d->fd = -1;
    if (spot_open(&d->spot, d->path, e)) {
        d->fd = temp_open(&d->spot);
        if (d->fd >= 0 && temp_fill(&d->spot, d->fd, "", 0, 0))
            return d;
        file_err(e, "write", path, errno);
    }
    draft_drop(d);
    return NULL;
}

static bool draft_flush(struct draft *d, struct err *e)
{
    bool ok = write_all(d->fd, buf_text(&d->waiting), d->waiting.len);
    buf_clear(&d->waiting);
    return ok || file_err(e, "write", d->path, errno);
}

bool draft_add(struct draft *d, const void *p, size_t n, struct err *e)
{
    if (!buf_add(&d->waiting, p, n))
        return err_set(e, ERR_LIMIT, "a piece of %s is too long", d->path);
    return d->waiting.len < DRAFT_PIECE || draft_flush(d, e);
}

/* Is the draft what the file holds already? */
static bool is_as_before(const struct draft *d)
{
    char *a = mem_new(READ_STEP), *b = mem_new(READ_STEP);
    int old = openat(d->spot.dir, d->spot.name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    int new = openat(d->spot.dir, d->spot.temp, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    struct stat was, is;
    bool equal = old >= 0 && new >= 0 && fstat(old, &was) == 0 && fstat(new, &is) == 0 &&
                 S_ISREG(was.st_mode) && was.st_size == is.st_size;
    for (off_t at = 0; equal && at < is.st_size; at += READ_STEP) {
        ssize_t n = pread(old, a, READ_STEP, at);
        equal =
            n > 0 && pread(new, b, READ_STEP, at) == n && memcmp(a, b, (size_t)n) == 0;
    }
    if (old >= 0)
        close(old);
    if (new >= 0)
        close(new);
    mem_free(a);
    mem_free(b);
    return equal;
}

static bool draft_settle(struct draft *d, struct err *e)
{
    if (!draft_flush(d, e))
        return false;
    if ((d->flags & FILE_KEEP_EQUAL) && is_as_before(d))
        return unlinkat(d->spot.dir, d->spot.temp, 0) == 0 ||
               file_err(e, "write", d->path, errno);
    if ((d->flags & FILE_SYNC) && !sync_fd(d->fd))
        return file_err(e, "write", d->path, errno);
    if (!rename_at(d->spot.dir, d->spot.temp, d->spot.name))
        return file_err(e, "write", d->path, errno);
    return !(d->flags & FILE_SYNC) || sync_folder(d->spot.dir) ||
           file_err(e, "sync the folder of", d->path, errno);
}

static void draft_free(struct draft *d)
{
    if (d->fd >= 0)
        close(d->fd);
    if (d->spot.dir >= 0)
        close(d->spot.dir);
    buf_free(&d->waiting);
    mem_free(d->path);
    mem_free(d);
}

bool draft_end(struct draft *d, struct err *e)
{
    bool ok = draft_settle(d, e);
    if (!ok)
        unlinkat(d->spot.dir, d->spot.temp, 0);
    draft_free(d);
    return ok;
}

void draft_drop(struct draft *d)
{
    if (d->fd >= 0)
        unlinkat(d->spot.dir, d->spot.temp, 0);
    draft_free(d);
}

static bool links_to(const struct spot *s, const char *target)
{
    char now[PATH_MAX];
    ssize_t n = readlinkat(s->dir, s->name, now, sizeof now);
    return n >= 0 && (size_t)n == strlen(target) && memcmp(now, target, (size_t)n) == 0;
}

bool file_write_link(const char *path, const char *target, struct err *e)
{
    struct spot s;
    if (!spot_open(&s, path, e))
        return false;
    bool ok = links_to(&s, target);
    if (!ok) {
        unlinkat(s.dir, s.temp, 0);
        ok = fault_pass(FAULT_LINK) && symlinkat(target, s.dir, s.temp) == 0 &&
             rename_at(s.dir, s.temp, s.name);
        if (!ok) {
            file_err(e, "link", path, errno);
            unlinkat(s.dir, s.temp, 0);
        }
    }
    close(s.dir);
    return ok;
}

/* ---- folders ---- */

static bool make_one(const char *path, struct err *e)
{
    struct stat s;
    if (fault_pass(FAULT_FOLDER) && mkdir(path, 0777) == 0)
        return true;
    int code = errno;
    if (code == EEXIST && stat(path, &s) == 0)
        return S_ISDIR(s.st_mode) || file_err(e, "make the folder", path, code);
    return file_err(e, "make the folder", path, code);
}

bool file_make_folder(const char *path, struct err *e)
{
    struct stat s;
    if (stat(path, &s) == 0 && S_ISDIR(s.st_mode))
        return true;
    if (!path[0])
        return file_err(e, "make the folder", "\"\"", ENOENT);
    char *part = mem_copy(path, strlen(path));
    bool ok = true;
    for (char *slash = strchr(part + 1, '/'); ok && slash;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        ok = make_one(part, e);
        *slash = '/';
    }
    ok = ok && make_one(part, e);
    mem_free(part);
    return ok;
}

static int by_byte(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static bool list_fill(DIR *dir, const char *path, struct file_list *list, struct err *e)
{
    size_t cap = 0;
    errno = 0;
    for (struct dirent *d = readdir(dir); d; d = readdir(dir)) {
        if (is_dots(d->d_name))
            continue;
        if (list->n == FILE_LIST_MAX)
            return err_set(e, ERR_LIMIT, "%s has more than %d entries", path,
                           FILE_LIST_MAX);
        if (list->n == cap) {
            cap = cap ? 2 * cap : 16;
            list->names = mem_grow(list->names, cap * sizeof *list->names);
        }
        list->names[list->n++] = mem_copy(d->d_name, strlen(d->d_name));
        errno = 0;
    }
    return errno == 0 || file_err(e, "list", path, errno);
}

bool file_list(const char *path, struct file_list *list, struct err *e)
{
    *list = (struct file_list){ 0 };
    DIR *dir = opendir(path);
    if (!dir)
        return file_err(e, "list", path, errno);
    bool ok = list_fill(dir, path, list, e);
    closedir(dir);
    if (!ok)
        file_list_free(list);
    else if (list->n)
        qsort(list->names, list->n, sizeof *list->names, by_byte);
    return ok;
}

void file_list_free(struct file_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        mem_free(list->names[i]);
    mem_free(list->names);
    *list = (struct file_list){ 0 };
}

/* ---- removing ----
 *
 * A tree is removed in linear time with two folders open and no recursion,
 * however deep it is: what lies two steps below the top is first moved up one
 * step, under a number for a name, and met again in the next pass. */

struct pruning {
    const char *path; /* for messages */
    int top;
    dev_t device;
    unsigned long number; /* the last name given to a folder that was moved up */
};

/* A folder that can be emptied: readable, writable, on the same file system. */
static int folder_open(struct pruning *w, int dir, const char *name, struct err *e)
{
    int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int fd = openat(dir, name, flags);
    if (fd < 0 && errno == EACCES && fchmodat(dir, name, 0700, 0) == 0)
        fd = openat(dir, name, flags);
    struct stat s;
    if (fd < 0 || fstat(fd, &s) != 0) {
        file_err(e, "remove", w->path, errno);
        goto fail;
    }
    if (s.st_dev != w->device) {
        err_set(e, ERR_IO, "cannot remove %s: %s in it is another file system", w->path,
                name);
        goto fail;
    }
    if ((s.st_mode & 0700) != 0700)
        fchmod(fd, 0700);
    return fd;
fail:
    if (fd >= 0)
        close(fd);
    return -1;
}

static bool move_up(struct pruning *w, int dir, const char *name, struct err *e)
{
    struct stat s;
    bool is_known = fstatat(dir, name, &s, AT_SYMLINK_NOFOLLOW) == 0;
    if (is_known && (s.st_mode & 0700) != 0700)
        fchmodat(dir, name, 0700, 0);
    for (;;) {
        char to[32];
        snprintf(to, sizeof to, "%lu", ++w->number);
        if (renameat(dir, name, w->top, to) == 0)
            return true;
        if (errno != ENOTEMPTY && errno != EEXIST && errno != ENOTDIR)
            return file_err(e, "remove", w->path, errno);
    }
}

/* Call `folder` for each folder in `fd` (taken over), unlink all else. *seen counts. */
static bool empty(struct pruning *w, int fd, size_t *seen,
                  bool (*folder)(struct pruning *, int, const char *, struct err *),
                  struct err *e)
{
    DIR *dir = fdopendir(fd);
    if (!dir) {
        int code = errno;
        close(fd);
        return file_err(e, "remove", w->path, code);
    }
    bool ok = true;
    for (struct dirent *d = readdir(dir); ok && d; d = ok ? readdir(dir) : NULL) {
        if (is_dots(d->d_name))
            continue;
        ++*seen;
        if (unlinkat(fd, d->d_name, 0) == 0 || errno == ENOENT)
            continue;
        ok = errno == EISDIR ? folder(w, fd, d->d_name, e)
                             : file_err(e, "remove", w->path, errno);
    }
    closedir(dir);
    return ok;
}

static bool remove_child(struct pruning *w, int top, const char *name, struct err *e)
{
    size_t seen = 0;
    int fd = folder_open(w, top, name, e);
    if (fd < 0 || !empty(w, fd, &seen, move_up, e))
        return false;
    return unlinkat(top, name, AT_REMOVEDIR) == 0 ||
           file_err(e, "remove", w->path, errno);
}

static bool remove_at(int parent, const char *name, const char *path, struct err *e)
{
    struct stat s;
    struct pruning w = { .path = path, .top = -1 };
    if (unlinkat(parent, name, 0) == 0 || errno == ENOENT)
        return true;
    if (errno != EISDIR || fstat(parent, &s) != 0)
        return file_err(e, "remove", path, errno);
    w.device = s.st_dev;
    w.top = folder_open(&w, parent, name, e);
    bool ok = w.top >= 0;
    for (size_t seen = 1; ok && seen;) {
        seen = 0;
        int fd = openat(w.top, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        ok = fd >= 0 ? empty(&w, fd, &seen, remove_child, e)
                     : file_err(e, "remove", path, errno);
    }
    if (w.top >= 0)
        close(w.top);
    if (ok && unlinkat(parent, name, AT_REMOVEDIR) != 0)
        ok = file_err(e, "remove", path, errno);
    return ok;
}

/* Cut the next step off *rest; NULL at the end. */
static char *next_step(char **rest)
{
    char *step = *rest + strspn(*rest, "/");
    if (!*step)
        return NULL;
    char *end = step + strcspn(step, "/");
    *rest = *end ? end + 1 : end;
    *end = '\0';
    return step;
}

static bool not_below(const char *path, struct err *e)
{
    return err_set(e, ERR_USAGE, "cannot remove \"%s\": it is not below the root", path);
}

/* Walk all steps but the last, so that no link can lead elsewhere. Closes `dir`. */
static bool remove_steps(int dir, char *rest, const char *path, struct err *e)
{
    char *step = next_step(&rest);
    for (char *next = next_step(&rest); next && !is_dots(step);
         step = next, next = next_step(&rest)) {
        int fd = openat(dir, step, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        int code = errno;
        close(dir);
        if (fd < 0)
            return code == ENOENT || file_err(e, "remove", path, code);
        dir = fd;
    }
    bool is_below = step && !is_dots(step);
    bool ok = is_below ? remove_at(dir, step, path, e) : not_below(path, e);
    close(dir);
    return ok;
}

bool file_remove_tree(const char *root, const char *inside, struct err *e)
{
    if (inside[0] == '/')
        return not_below(inside, e);
    int dir = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return errno == ENOENT || file_err(e, "open", root, errno);
    char *steps = mem_copy(inside, strlen(inside));
    bool ok = remove_steps(dir, steps, inside, e);
    mem_free(steps);
    return ok;
}

bool file_remove(const char *path, struct err *e)
{
    if (unlink(path) == 0 || is_absent(errno))
        return true;
    if (errno == EISDIR && rmdir(path) == 0)
        return true;
    return file_err(e, "remove", path, errno);
}

/* ---- paths ---- */

static bool absolute_of(const char *path, size_t n, struct buf *out)
{
    char *part = n ? mem_copy(path, n) : mem_copy(".", 1);
    char real[PATH_MAX];
    bool found = realpath(part, real) != NULL;
    int code = errno;
    if (found)
        buf_add_text(out, strcmp(real, "/") == 0 ? "" : real);
    mem_free(part);
    errno = code;
    return found;
}

/* End of the path without its last step: the root's slash stays. */
static size_t parent_end(const char *path, size_t n)
{
    while (n && path[n - 1] == '/')
        n--;
    while (n && path[n - 1] != '/')
        n--;
    while (n > 1 && path[n - 1] == '/')
        n--;
    return n;
}

static bool add_steps(const char *p, struct buf *out)
{
    while (*p) {
        size_t slashes = strspn(p, "/"), n = strcspn(p + slashes, "/");
        const char *step = p + slashes;
        p = step + n;
        if (n == 0 || (n == 1 && step[0] == '.'))
            continue;
        if (n == 2 && step[0] == '.' && step[1] == '.')
            return false;
        buf_add_char(out, '/');
        buf_add(out, step, n);
    }
    return true;
}

bool file_absolute(const char *path, struct buf *out, struct err *e)
{
    size_t start = out->len, n = strlen(path);
    bool found = n && absolute_of(path, n, out);
    while (!found && errno == ENOENT && n) {
        n = parent_end(path, n);
        found = absolute_of(path, n, out);
    }
    if (!found || !add_steps(path + n, out))
        return file_err(e, "find", path, found || !path[0] ? ENOENT : errno);
    if (out->len == start)
        buf_add_char(out, '/');
    return !out->is_full || file_err(e, "find", path, ENAMETOOLONG);
}

static bool nearest_statfs(const char *path, struct statfs *s)
{
    size_t n = strlen(path);
    for (;;) {
        char *part = n ? mem_copy(path, n) : mem_copy(".", 1);
        int failed = statfs(part, s);
        mem_free(part);
        if (!failed || !is_absent(errno) || !n)
            return !failed;
        n = parent_end(path, n);
    }
}

bool file_is_on_network(const char *path)
{
    static const uint32_t magics[] = {
        0x6969,     /* NFS */
        0x517B,     /* SMB */
        0xFE534D42, /* SMB2 */
        0xFF534D42, /* CIFS */
        0x65735546, /* FUSE */
        0x01021997, /* 9P */
        0x5346414F, /* AFS */
        0x73757245, /* Coda */
        0x00C36400, /* Ceph */
        0x0BD00BD0, /* Lustre */
        0x47504653, /* GPFS */
        0x01161970, /* GFS2 */
        0x7461636F, /* OCFS2 */
        0x786F4256, /* folders shared by VirtualBox */
        0xBACBACBC, /* folders shared by VMware */
    };
    struct statfs s;
    if (!nearest_statfs(path, &s))
        return false;
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++)
        if ((uint32_t)s.f_type == magics[i])
            return true;
    return false;
}

int64_t file_free_bytes(const char *path)
{
    struct statfs s;
    if (!nearest_statfs(path, &s))
        return -1;
    int64_t block = s.f_frsize ? s.f_frsize : s.f_bsize;
    return (int64_t)s.f_bavail * block;
}

/* ---- names made of data ---- */

static bool is_plain(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '.' || c == '_' || c == '-';
}

static void add_digits(struct buf *out, const char *p, size_t n, size_t digits)
{
    struct digest d = digest_of(p, n);
    char hex[DIGEST_HEX + 1];
    digest_hex(&d, hex);
    buf_add(out, hex, digits);
}

void file_label(struct buf *out, const char *p, size_t n)
{
    static const char digits[] = "0123456789ABCDEF";
    size_t start = out->len;
    if (!n)
        buf_add_char(out, '%');
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)p[i];
        char escaped[3] = { '%', digits[c >> 4], digits[c & 15] };
        bool plain = is_plain(c) && (c != '.' || i > 0);
        size_t k = plain ? 1 : 3;
        if (out->len - start + k > FILE_LABEL_KEPT) {
            add_digits(out, p, n, FILE_LABEL_MAX - FILE_LABEL_KEPT);
            return;
        }
        buf_add(out, plain ? p + i : escaped, k);
    }
}

void file_label_distinct(struct buf *out, const char *p, size_t n)
{
    file_label(out, p, n);
    buf_add_char(out, '~');
    add_digits(out, p, n, 8);
}
