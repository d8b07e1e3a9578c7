/* journal_index.c - see journal_index.h. */
#include "io/journal_index.h"
#include "base/mem.h"
#include <string.h>

struct index_entry {
    uint64_t name[2];
    int64_t n; /* 0: free */
};

static bool may_repeat(enum journal_kind kind)
{
    return kind == JOURNAL_OPEN || kind == JOURNAL_INTENT;
}

/* Kind, slot and its zero byte, key: no two names have the same bytes. */
static void name_of(uint64_t name[2], enum journal_kind kind, const char *slot,
                    const char *key)
{
    char bytes[1 + JOURNAL_SLOT_MAX + 1 + JOURNAL_KEY_MAX];
    size_t slot_n = strnlen(slot, JOURNAL_SLOT_MAX);
    size_t key_n = strnlen(key, JOURNAL_KEY_MAX);
    bytes[0] = (char)kind;
    memcpy(bytes + 1, slot, slot_n);
    bytes[1 + slot_n] = '\0';
    memcpy(bytes + 2 + slot_n, key, key_n);
    struct digest d = digest_of(bytes, 2 + slot_n + key_n);
    memcpy(name, d.bytes, 2 * sizeof *name);
}

/* The entry with this name, or the free one where it belongs. */
static struct index_entry *place(const struct journal_index *x, const uint64_t name[2])
{
    size_t i = name[0] & (x->cap - 1);
    while (x->entries[i].n && memcmp(x->entries[i].name, name, 16) != 0)
        i = (i + 1) & (x->cap - 1);
    return &x->entries[i];
}

static void grow(struct journal_index *x)
{
    struct journal_index old = *x;
    x->cap = old.cap ? 2 * old.cap : 256;
    x->entries = mem_new_array(x->cap, sizeof *x->entries);
    for (size_t i = 0; i < old.cap; i++)
        if (old.entries[i].n)
            *place(x, old.entries[i].name) = old.entries[i];
    mem_free(old.entries);
}

static void add_kind(struct journal_index *x, enum journal_kind kind)
{
    if ((size_t)x->last == x->kinds_cap) {
        x->kinds_cap = x->kinds_cap ? 2 * x->kinds_cap : 1024;
        x->kinds = mem_grow(x->kinds, x->kinds_cap);
    }
    x->kinds[x->last++] = (unsigned char)kind;
}

int64_t index_add(struct journal_index *x, enum journal_kind kind, const char *slot,
                  const char *key)
{
    uint64_t name[2];
    if (4 * (x->used + 1) > 3 * x->cap)
        grow(x);
    name_of(name, kind, slot, key);
    struct index_entry *entry = place(x, name);
    if (entry->n && !may_repeat(kind))
        return 0;
    x->used += entry->n == 0;
    add_kind(x, kind);
    memcpy(entry->name, name, sizeof name);
    entry->n = x->last;
    return entry->n;
}

int64_t index_find(const struct journal_index *x, enum journal_kind kind,
                   const char *slot, const char *key)
{
    uint64_t name[2];
    if (!x->cap)
        return 0;
    name_of(name, kind, slot, key);
    return place(x, name)->n;
}

int64_t index_next(const struct journal_index *x, enum journal_kind kind, int64_t after,
                   int64_t last)
{
    for (int64_t n = after < 0 ? 1 : after + 1; n <= last && n <= x->last; n++)
        if (kind == JOURNAL_NONE || x->kinds[n - 1] == kind)
            return n;
    return 0;
}

void index_free(struct journal_index *x)
{
    mem_free(x->entries);
    mem_free(x->kinds);
    *x = (struct journal_index){ 0 };
}
