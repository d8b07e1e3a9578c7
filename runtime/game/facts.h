/* facts.h - a set of ground facts, sorted.
 *
 * A fact is one number: the predicate in the top 16 bits, then up to four object
 * numbers of 12 bits. Objects are numbered in the order of their names, so facts of
 * one predicate lie together in the order of their arguments. A zeroed set is valid
 * and empty; it owns its memory. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    FACT_MAX_ARGS = 4,
    FACT_MAX_OBJECTS = 4096,
    FACT_OBJECT_BITS = 12,
    FACT_MAX_COUNT = 65536
};

struct facts {
    uint64_t *keys;
    uint32_t count, room;
};

/* `objects` holds n numbers below FACT_MAX_OBJECTS. */
uint64_t fact_key(uint16_t predicate, const uint16_t *objects, unsigned n);

uint16_t fact_predicate(uint64_t key);
uint16_t fact_object(uint64_t key, unsigned index);

/* How far apart the keys are that agree in the predicate and in the first n objects. */
uint64_t fact_span(unsigned n);

bool facts_has(const struct facts *f, uint64_t key);

/* Index of the first fact that is not below `key`. */
uint32_t facts_find(const struct facts *f, uint64_t key);

/* Adding a fact that is there, or removing one that is not, does nothing. False
 * when the set would pass FACT_MAX_COUNT. */
bool facts_add(struct facts *f, uint64_t key);
void facts_remove(struct facts *f, uint64_t key);

/* For building a set from many facts: push them in any order, then sort once. */
bool facts_push(struct facts *f, uint64_t key);
void facts_sort(struct facts *f);

void facts_copy(struct facts *to, const struct facts *from);
void facts_free(struct facts *f);
