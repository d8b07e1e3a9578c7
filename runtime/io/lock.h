/* lock.h - one process a run folder, or many that only read it.
 *
 * A lock file is locked by the kernel (open file description lock, so closing other
 * descriptors of the process does not drop it, and children do not keep it). Its text
 * says who has it: pid, host, start and the last sign of life. The kernel's word is
 * enough on a local file system: when it gives the lock, the holder named in the text
 * has ended. Where its locks are not dependable (network), a holder on another host
 * counts as alive until STALE_S after its last sign of life, one on this host while
 * its process is there. The file is gone after a clean end. */
#pragma once
#include "base/err.h"

enum { LOCK_STALE_S = 120, LOCK_BEAT_S = 20, LOCK_HOST_MAX = 256, LOCK_NOTE_MAX = 512 };

/* Who asks, and when (seconds since 1970). */
struct lock_self {
    long pid;
    char host[LOCK_HOST_MAX];
    double now;
};
struct lock_self lock_self_now(void);

struct lock;

enum lock_mode { LOCK_EXCLUSIVE, LOCK_SHARED };

/* Lock or fail at once: ERR_IO, saying who has it and what to do. When a lock was left
 * behind by a process that ended, `note` says so, else it is "". A shared lock in a
 * folder that cannot be written and has no lock file is given without one. */
struct lock *lock_acquire(const char *path, enum lock_mode mode,
                          const struct lock_self *self, char note[LOCK_NOTE_MAX],
                          struct err *e);

/* What counts where the kernel's locks are not dependable: whether the writer of this
 * text is alive as far as `self` can tell. */
bool lock_text_is_alive(const char *text, const struct lock_self *self);

/* Give a sign of life; about every LOCK_BEAT_S. Does nothing for a shared lock. */
void lock_beat(struct lock *l, double now);

/* NULL is fine. */
void lock_release(struct lock *l);
