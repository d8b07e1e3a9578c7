/* Preloaded, it makes every file system look like NFS, whose locks are not to be relied
 * on: for the test of what a run does there. */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

int statfs(const char *path, struct statfs *out);

int statfs(const char *path, struct statfs *out)
{
    int failed = (int)syscall(SYS_statfs, path, out);
    out->f_type = 0x6969;
    return failed;
}

int statfs64(const char *path, struct statfs64 *out);

int statfs64(const char *path, struct statfs64 *out)
{
    int failed = (int)syscall(SYS_statfs, path, out);
    out->f_type = 0x6969;
    return failed;
}
