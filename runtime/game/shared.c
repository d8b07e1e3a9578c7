/* shared.c - see shared.h. */
#include "game/shared.h"
#include "base/mem.h"
#include <assert.h>
#include <string.h>

enum { BUCKETS = 256 };

struct game_shared {
    size_t users; /* the owner and each thing */
    size_t things;
    struct share *buckets[BUCKETS];
};

struct game_shared *game_shared_new(void)
{
    struct game_shared *s = mem_new(sizeof *s);
    s->users = 1;
    return s;
}

void game_shared_free(struct game_shared *s)
{
    if (s && --s->users == 0)
        mem_free(s);
}

size_t game_shared_count(const struct game_shared *s)
{
    return s->things;
}

static struct share **bucket_of(struct game_shared *s, const struct digest *key)
{
    return &s->buckets[key->bytes[0]];
}

static bool is_same(const struct share *share, const struct digest *key,
                    void (*release)(struct share *share))
{
    return share->release == release && memcmp(&share->key, key, sizeof *key) == 0;
}

struct share *share_find(struct game_shared *s, const struct digest *key,
                         void (*release)(struct share *share))
{
    struct share *found = s ? *bucket_of(s, key) : NULL;
    while (found && !is_same(found, key, release))
        found = found->next;
    if (found)
        found->users++;
    return found;
}

void share_init(struct share *share, struct game_shared *s, const struct digest *key,
                void (*release)(struct share *share))
{
    *share = (struct share){ .users = 1, .release = release, .home = s, .key = *key };
    if (!s)
        return;
    struct share **bucket = bucket_of(s, key);
    share->next = *bucket;
    *bucket = share;
    s->users++;
    s->things++;
}

static void forget(struct share *share)
{
    struct game_shared *s = share->home;
    struct share **link = bucket_of(s, &share->key);
    while (*link != share)
        link = &(*link)->next;
    *link = share->next;
    s->things--;
    game_shared_free(s);
}

void share_use(struct share *share)
{
    share->users++;
}

void share_drop(struct share *share)
{
    assert(share->users > 0);
    if (--share->users > 0)
        return;
    if (share->home)
        forget(share);
    share->release(share);
}
