/* scratch.c - see scratch.h. */
#include "io/scratch.h"
#include "base/buf.h"
#include "base/mem.h"
#include "io/file.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX "skillopt-work-"

struct scratch {
    char *path;
    int fd; /* of the folder, locked */
};

/* The folder at `path`, opened and locked; -1 when it is in use or not ours. */
static int take(const char *path)
{
    struct stat s;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &s) == 0 && s.st_uid == geteuid() &&
        flock(fd, LOCK_EX | LOCK_NB) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* A folder between mkdtemp and flock looks left behind as well: its maker sees that it
 * is gone and makes another one. */
static void remove_left_behind(const char *base)
{
    struct file_list list;
    if (!file_list(base, &list, NULL))
        return;
    for (size_t i = 0; i < list.n; i++) {
        struct buf path = { 0 };
        buf_add_format(&path, "%s/%s", base, list.names[i]);
        bool is_one = strncmp(list.names[i], PREFIX, strlen(PREFIX)) == 0;
        int fd = is_one ? take(buf_text(&path)) : -1;
        if (fd >= 0) {
            file_remove_tree(base, list.names[i], NULL);
            close(fd);
        }
        buf_free(&path);
    }
    file_list_free(&list);
}

/* Is the folder that was locked still the one with this name? */
static bool is_there(const struct scratch *s)
{
    struct stat a, b;
    return fstat(s->fd, &a) == 0 && lstat(s->path, &b) == 0 && a.st_ino == b.st_ino &&
           a.st_dev == b.st_dev;
}

static bool make(struct scratch *s, const char *base, struct err *e)
{
    struct buf path = { 0 };
    for (;;) {
        buf_clear(&path);
        buf_add_format(&path, "%s/%sXXXXXX", base, PREFIX);
        if (!mkdtemp(path.ptr)) {
            file_err(e, "make a folder in", base, errno);
            break;
        }
        s->fd = take(path.ptr);
        s->path = path.ptr;
        if (s->fd >= 0 && is_there(s))
            return true;
        if (s->fd >= 0)
            close(s->fd);
    }
    buf_free(&path);
    return false;
}

struct scratch *scratch_open(struct err *e)
{
    const char *given = getenv("TMPDIR");
    struct buf base = { 0 };
    struct scratch *s = mem_new(sizeof *s);
    bool ok = file_absolute(given && given[0] ? given : "/tmp", &base, e);
    if (ok)
        remove_left_behind(buf_text(&base));
    ok = ok && make(s, buf_text(&base), e);
    buf_free(&base);
    if (ok)
        return s;
    mem_free(s);
    return NULL;
}

const char *scratch_path(const struct scratch *s)
{
    return s->path;
}

void scratch_close(struct scratch *s)
{
    if (!s)
        return;
    char *name = strrchr(s->path, '/');
    *name = '\0';
    file_remove_tree(s->path[0] ? s->path : "/", name + 1, NULL);
    close(s->fd);
    mem_free(s->path);
    mem_free(s);
}
