/* shared.h - one copy of what many games have in common.
 *
 * Things read from equal texts are kept once and counted; the last user frees them.
 * The cache lives until its owner and all things in it are gone, so games may
 * outlive the owner. Not thread safe. */
#pragma once
#include "base/digest.h"
#include <stdbool.h>
#include <stddef.h>

struct game_shared;
struct share;

struct game_shared *game_shared_new(void);

/* The owner's last use; things in use stay. NULL is allowed. */
void game_shared_free(struct game_shared *s);

/* How many things the cache holds. */
size_t game_shared_count(const struct game_shared *s);

/* The first member of a thing that can be shared. */
struct share {
    size_t users;
    void (*release)(struct share *share); /* frees the thing; called once */
    struct game_shared *home;             /* NULL when not shared */
    struct share *next;
    struct digest key;
};

/* The thing of the kind that `release` frees with this key, with one user more, or
 * NULL. `s` may be NULL. */
struct share *share_find(struct game_shared *s, const struct digest *key,
                         void (*release)(struct share *share));

/* Start counting a new thing with one user and make it known. `s` may be NULL. */
void share_init(struct share *share, struct game_shared *s, const struct digest *key,
                void (*release)(struct share *share));

/* One user more, one less. */
void share_use(struct share *share);
void share_drop(struct share *share);
