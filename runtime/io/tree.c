/* tree.c - see tree.h. */
#include "io/tree.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "io/file.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct timespec TIMES[2] = { { .tv_sec = TREE_TIME },
                                          { .tv_sec = TREE_TIME } };

/* A scan; `path` is that of the entry in hand, with no slash at its end. */
struct walk {
    const char *root;
    struct tree *tree;
    const struct tree_limits *limits;
    struct buf path;
    int depth; /* folders above the entry in hand */
};

/* ---- paths ---- */

static bool is_step(const char *step, size_t n)
{
    bool is_dots = (n == 1 && step[0] == '.') || (n == 2 && memcmp(step, "..", 2) == 0);
    return n > 0 && n <= NAME_MAX && !is_dots;
}

bool tree_is_path(const char *path, size_t n)
{
    if (n == 0 || n > TREE_PATH_MAX || memchr(path, 0, n) || !utf8_is_valid(path, n))
        return false;
    int depth = 0;
    for (const char *p = path, *end = path + n;; p++) {
        const char *slash = memchr(p, '/', (size_t)(end - p));
        const char *stop = slash ? slash : end;
        if (!is_step(p, (size_t)(stop - p)))
            return false;
        if (!slash)
            return true;
        if (++depth > TREE_DEPTH_MAX)
            return false;
        p = slash;
    }
}

static int count_slashes(const char *path)
{
    int n = 0;
    for (const char *p = strchr(path, '/'); p; p = strchr(p + 1, '/'))
        n++;
    return n;
}

/* Links on the way stay inside by the same rule, and from wherever they lead the rest of
 * the target only goes down: so none leads out. */
bool tree_is_inside(const char *path, const char *target)
{
    size_t n = strlen(target);
    int up = 0;
    if (n == 0 || n > TREE_PATH_MAX || target[0] == '/' || !utf8_is_valid(target, n))
        return false;
    while (strncmp(target, "../", 3) == 0) {
        target += 3;
        up++;
    }
    if (strcmp(target, "..") == 0) {
        target += 2;
        up++;
    }
    for (const char *p = strstr(target, ".."); p; p = strstr(p + 1, ".."))
        if ((p == target || p[-1] == '/') && (p[2] == '/' || !p[2]))
            return false;
    return up <= count_slashes(path);
}

/* ---- what was found ---- */

static bool too_many(const struct walk *w, struct err *e)
{
    return err_set(e, ERR_LIMIT, "more than %zu files", w->limits->entries);
}

static bool add(struct walk *w, const struct tree_entry *found, struct err *e)
{
    struct tree *t = w->tree;
    if (t->n == w->limits->entries)
        return too_many(w, e);
    if (t->n == t->cap) {
        t->cap = t->cap ? 2 * t->cap : 64;
        t->entries = mem_grow(t->entries, t->cap * sizeof *t->entries);
    }
    t->entries[t->n] = *found;
    t->entries[t->n++].path = mem_copy(buf_text(&w->path), w->path.len);
    return true;
}

/* Remove what cannot be kept, and note it. */
static bool drop(struct walk *w, const char *why, struct err *e)
{
    struct tree *t = w->tree;
    if (!file_remove_tree(w->root, buf_text(&w->path), e))
        return false;
    if (t->note_count == TREE_NOTES_MAX)
        return true;
    if (!t->notes)
        t->notes = mem_new_array(TREE_NOTES_MAX, sizeof *t->notes);
    struct buf text = { 0 };
    utf8_fix(&text, buf_text(&w->path), w->path.len);
    t->notes[t->note_count++] =
        (struct tree_note){ .path = buf_give(&text, NULL), .why = why };
    return true;
}

/* ---- files ---- */

enum { STEP = 1 << 16 };

/* Read all of `fd` into the digest and, when there is one, the buf. */
static bool read_all(int fd, struct digest *d, struct buf *copy)
{
    char *step = mem_new(STEP);
    struct digest_stream *s = digest_stream_new();
    ssize_t n;
    for (n = read(fd, step, STEP); n > 0 || (n < 0 && errno == EINTR);
         n = read(fd, step, STEP)) {
        if (n < 0)
            continue;
        digest_stream_add(s, step, (size_t)n);
        if (copy)
            buf_add(copy, step, (size_t)n);
    }
    int code = errno;
    *d = digest_stream_final(s);
    mem_free(step);
    errno = code;
    return n == 0;
}

static bool write_all(int fd, const char *p, size_t n)
{
    while (n) {
        ssize_t k = write(fd, p, n);
        if (k < 0 && errno != EINTR)
            return false;
        p += k > 0 ? k : 0;
        n -= k > 0 ? (size_t)k : 0;
    }
    return true;
}

/* A new file under this name, whatever file or link was there. */
static bool make_file(int dir, const char *name, unsigned mode, const char *p, size_t n)
{
    if (unlinkat(dir, name, 0) != 0 && errno != ENOENT)
        return false;
    int fd =
        openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    bool ok = write_all(fd, p, n) && fchmod(fd, mode) == 0;
    int code = errno;
    close(fd);
    errno = code;
    return ok;
}

/* Opened for reading. A file of one name is made readable first; one of several may be
 * somebody else's as well and is left as it is. */
static int open_file(int dir, const char *name, const struct stat *s, unsigned mode)
{
    bool is_alone = s->st_nlink == 1;
    if (is_alone && mode != (s->st_mode & 07777) && fchmodat(dir, name, mode, 0) != 0)
        return -1;
    return openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
}

static bool take_file(int dir, const char *name, const struct stat *s,
                      struct tree_entry *found)
{
    struct buf copy = { 0 };
    bool is_alone = s->st_nlink == 1;
    int fd = open_file(dir, name, s, found->mode);
    if (fd < 0)
        return false;
    bool ok = read_all(fd, &found->digest, is_alone ? NULL : &copy);
    close(fd);
    if (ok && !is_alone)
        ok = make_file(dir, name, found->mode, buf_text(&copy), copy.len);
    buf_free(&copy);
    return ok && utimensat(dir, name, TIMES, AT_SYMLINK_NOFOLLOW) == 0;
}

static bool visit_file(struct walk *w, int dir, const char *name, const struct stat *s,
                       struct err *e)
{
    struct tree_entry found = { .kind = TREE_FILE, .mode = (s->st_mode & 0777) | 0600 };
    found.size = s->st_size;
    if (s->st_size > w->limits->bytes - w->tree->bytes)
        return err_set(e, ERR_LIMIT, "more than %lld bytes in files",
                       (long long)w->limits->bytes);
    w->tree->bytes += s->st_size;
    if (!take_file(dir, name, s, &found))
        return errno == EACCES ? drop(w, "a file that cannot be read", e)
                               : file_err(e, "read", buf_text(&w->path), errno);
    return add(w, &found, e);
}

/* ---- links ---- */

static bool visit_link(struct walk *w, int dir, const char *name, struct err *e)
{
    char target[TREE_PATH_MAX + 2];
    ssize_t n = readlinkat(dir, name, target, sizeof target - 1);
    if (n < 0)
        return file_err(e, "read", buf_text(&w->path), errno);
    target[n] = '\0';
    if (!tree_is_inside(buf_text(&w->path), target))
        return drop(w, "a link that leads outside", e);
    if (utimensat(dir, name, TIMES, AT_SYMLINK_NOFOLLOW) != 0)
        return file_err(e, "set the time of", buf_text(&w->path), errno);
    struct tree_entry found = { .kind = TREE_LINK,
                                .target = mem_copy(target, (size_t)n) };
    bool ok = add(w, &found, e);
    if (!ok)
        mem_free(found.target);
    return ok;
}

/* ---- folders ---- */

static bool walk_folder(struct walk *w, int fd, struct err *e);

static bool visit_folder(struct walk *w, int dir, const char *name, const struct stat *s,
                         struct err *e)
{
    struct tree_entry found = { .kind = TREE_FOLDER, .mode = (s->st_mode & 0777) | 0700 };
    if (w->depth == TREE_DEPTH_MAX)
        return err_set(e, ERR_LIMIT, "more than %d folders in each other",
                       TREE_DEPTH_MAX);
    if (!add(w, &found, e))
        return false;
    int rc = found.mode == (s->st_mode & 07777) ? 0 : fchmodat(dir, name, found.mode, 0);
    int fd =
        rc == 0 ? openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
    if (fd < 0)
        return file_err(e, "open", buf_text(&w->path), errno);
    w->depth++;
    bool ok = walk_folder(w, fd, e);
    w->depth--;
    return ok;
}

static bool visit(struct walk *w, int dir, const char *name, struct err *e)
{
    struct stat s;
    if (fstatat(dir, name, &s, AT_SYMLINK_NOFOLLOW) != 0)
        return file_err(e, "look at", buf_text(&w->path), errno);
    if (S_ISDIR(s.st_mode))
        return visit_folder(w, dir, name, &s, e);
    if (S_ISREG(s.st_mode))
        return visit_file(w, dir, name, &s, e);
    if (S_ISLNK(s.st_mode))
        return visit_link(w, dir, name, e);
    return drop(w, "neither a file nor a folder nor a link", e);
}

/* A name that is no text cannot be written down. */
static bool visit_name(struct walk *w, int dir, const char *name, struct err *e)
{
    size_t before = w->path.len;
    if (before)
        buf_add_char(&w->path, '/');
    buf_add_text(&w->path, name);
    bool ok;
    if (w->path.len > TREE_PATH_MAX)
        ok = err_set(e, ERR_LIMIT, "a path of more than %d bytes", TREE_PATH_MAX);
    else if (!utf8_is_valid(name, strlen(name)))
        ok = drop(w, "a name that is no UTF-8", e);
    else
        ok = visit(w, dir, name, e);
    w->path.len = before;
    w->path.ptr[before] = '\0';
    return ok;
}

/* The names of a folder; at most one more than there may be entries. */
static bool read_names(DIR *dir, size_t most, struct file_list *list)
{
    size_t cap = 0;
    errno = 0;
    for (struct dirent *d = readdir(dir); d && list->n <= most; d = readdir(dir)) {
        if (!is_step(d->d_name, strlen(d->d_name)))
            continue;
        if (list->n == cap) {
            cap = cap ? 2 * cap : 16;
            list->names = mem_grow(list->names, cap * sizeof *list->names);
        }
        list->names[list->n++] = mem_copy(d->d_name, strlen(d->d_name));
    }
    return errno == 0;
}

/* Takes the descriptor. Times are set last: what is removed changes them. */
static bool walk_folder(struct walk *w, int fd, struct err *e)
{
    struct file_list list = { 0 };
    DIR *dir = fdopendir(fd);
    if (!dir) {
        close(fd);
        return file_err(e, "list", buf_text(&w->path), ENOMEM);
    }
    bool ok = read_names(dir, w->limits->entries, &list);
    if (!ok)
        file_err(e, "list", buf_text(&w->path), errno);
    for (size_t i = 0; ok && i < list.n; i++)
        ok = visit_name(w, fd, list.names[i], e);
    if (ok && futimens(fd, TIMES) != 0)
        ok = file_err(e, "set the time of", buf_text(&w->path), errno);
    file_list_free(&list);
    closedir(dir);
    return ok;
}

/* ---- the whole ---- */

static int by_path(const void *a, const void *b)
{
    const struct tree_entry *x = a, *y = b;
    return strcmp(x->path, y->path);
}

static int by_note(const void *a, const void *b)
{
    const struct tree_note *x = a, *y = b;
    return strcmp(x->path, y->path);
}

bool tree_scan(const char *root, const struct tree_limits *limits, struct tree *t,
               struct err *e)
{
    struct walk w = { .root = root, .tree = t, .limits = limits };
    *t = (struct tree){ 0 };
    buf_add(&w.path, "", 0);
    int fd = chmod(root, 0700) == 0 ? open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    bool ok = fd >= 0 ? walk_folder(&w, fd, e) : file_err(e, "open", root, errno);
    buf_free(&w.path);
    if (ok && t->n)
        qsort(t->entries, t->n, sizeof *t->entries, by_path);
    if (t->note_count)
        qsort(t->notes, t->note_count, sizeof *t->notes, by_note);
    return ok;
}

void tree_free(struct tree *t)
{
    for (size_t i = 0; i < t->n; i++) {
        mem_free(t->entries[i].path);
        mem_free(t->entries[i].target);
    }
    for (size_t i = 0; i < t->note_count; i++)
        mem_free(t->notes[i].path);
    mem_free(t->entries);
    mem_free(t->notes);
    *t = (struct tree){ 0 };
}

/* ---- making ---- */

/* The folder that `path` lies in, *name its last step; -1 with errno. */
static int open_above(const char *root, const char *path, const char **name)
{
    int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int dir = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (const char *slash = strchr(path, '/'); dir >= 0 && slash;
         slash = strchr(path, '/')) {
        char *step = mem_copy(path, (size_t)(slash - path));
        int below = openat(dir, step, flags);
        int code = errno;
        close(dir);
        mem_free(step);
        errno = code;
        dir = below;
        path = slash + 1;
    }
    *name = path;
    return dir;
}

static bool make_folder(int dir, const char *name, unsigned mode)
{
    struct stat s;
    if (mkdirat(dir, name, 0700) != 0 && errno != EEXIST)
        return false;
    if (fstatat(dir, name, &s, AT_SYMLINK_NOFOLLOW) != 0)
        return false;
    if (!S_ISDIR(s.st_mode)) {
        errno = ENOTDIR;
        return false;
    }
    return fchmodat(dir, name, mode, 0) == 0;
}

static bool make_link(int dir, const char *name, const char *target)
{
    if (unlinkat(dir, name, 0) != 0 && errno != ENOENT)
        return false;
    return symlinkat(target, dir, name) == 0;
}

bool tree_put(const char *root, const struct tree_entry *entry, const void *p, size_t n,
              struct err *e)
{
    const char *name;
    bool ok = false;
    int dir = open_above(root, entry->path, &name);
    if (dir < 0)
        return file_err(e, "open the folder of", entry->path, errno);
    if (entry->kind == TREE_FILE)
        ok = make_file(dir, name, entry->mode, p, n);
    else if (entry->kind == TREE_FOLDER)
        ok = make_folder(dir, name, entry->mode);
    else
        ok = make_link(dir, name, entry->target);
    if (!ok)
        file_err(e, "make", entry->path, errno);
    close(dir);
    return ok;
}
