/* journal_vfs.c - see journal_vfs.h.
 *
 * A file that SQLite's own code has opened gets another table of methods: a copy of its
 * own in which three are ours. Behind the copy stands the original, so a method finds
 * what it stands before. SQLite has a few such tables, one for each way of locking. */
#include "io/journal_vfs.h"
#include "base/fault.h"
#include <errno.h>
#include <pthread.h>
#include <sqlite3.h>

#define VFS_NAME "skillopt-fault"

enum { TABLES_MAX = 8 };

static struct table {
    sqlite3_io_methods ours; /* first: a file points here */
    const sqlite3_io_methods *real;
} tables[TABLES_MAX];

static int table_n;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sqlite3_vfs vfs, *system_vfs;

static const sqlite3_io_methods *real_of(const sqlite3_file *f)
{
    return ((const struct table *)f->pMethods)->real;
}

static int refused(int otherwise)
{
    return errno == ENOSPC ? SQLITE_FULL : otherwise;
}

static int vfs_write(sqlite3_file *f, const void *p, int n, sqlite3_int64 at)
{
    if (fault_pass(FAULT_DB_WRITE))
        return real_of(f)->xWrite(f, p, n, at);
    if (fault_is_tear()) {
        real_of(f)->xWrite(f, p, n / 2, at);
        fault_crash();
    }
    return refused(SQLITE_IOERR_WRITE);
}

static int vfs_sync(sqlite3_file *f, int flags)
{
    return fault_pass(FAULT_DB_SYNC) ? real_of(f)->xSync(f, flags)
                                     : refused(SQLITE_IOERR_FSYNC);
}

static int vfs_truncate(sqlite3_file *f, sqlite3_int64 size)
{
    return fault_pass(FAULT_DB_TRUNCATE) ? real_of(f)->xTruncate(f, size)
                                         : refused(SQLITE_IOERR_TRUNCATE);
}

/* The table with ours in it; NULL when there are more than was thought possible. */
static const sqlite3_io_methods *table_for(const sqlite3_io_methods *real)
{
    for (int i = 0; i < table_n; i++)
        if (tables[i].real == real)
            return &tables[i].ours;
    if (table_n == TABLES_MAX)
        return NULL;
    struct table *t = &tables[table_n++];
    *t = (struct table){ .ours = *real, .real = real };
    t->ours.xWrite = vfs_write;
    t->ours.xSync = vfs_sync;
    t->ours.xTruncate = vfs_truncate;
    return &t->ours;
}

static int vfs_open(sqlite3_vfs *v, sqlite3_filename name, sqlite3_file *f, int flags,
                    int *out)
{
    int code = system_vfs->xOpen(system_vfs, name, f, flags, out);
    if (code != SQLITE_OK || !f->pMethods)
        return code;
    pthread_mutex_lock(&lock);
    const sqlite3_io_methods *ours = table_for(f->pMethods);
    pthread_mutex_unlock(&lock);
    if (ours)
        f->pMethods = ours;
    return ours ? SQLITE_OK : SQLITE_CANTOPEN;
}

const char *journal_vfs(void)
{
    if (!fault_is_on)
        return NULL;
    pthread_mutex_lock(&lock);
    if (!system_vfs) {
        system_vfs = sqlite3_vfs_find(NULL);
        vfs = *system_vfs;
        vfs.zName = VFS_NAME;
        vfs.pNext = NULL;
        vfs.xOpen = vfs_open;
        sqlite3_vfs_register(&vfs, 0);
    }
    pthread_mutex_unlock(&lock);
    return VFS_NAME;
}
