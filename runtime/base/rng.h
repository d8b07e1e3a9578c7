/* rng.h - random numbers that are the same on every machine.
 *
 * MT19937 with the seeding, the bounded draw and the shuffle of CPython's
 * `random.Random`, bit for bit: a batch drawn here equals the one drawn there.
 * A generator is plain memory (2.5 KB), must be seeded before the first draw,
 * and may be copied to fork a stream. Not for secrets. */
#pragma once
#include <stddef.h>
#include <stdint.h>

enum { RNG_WORDS = 624 };

struct rng {
    uint32_t state[RNG_WORDS];
    size_t next; /* words of `state` already given out */
};

/* Seed with a whole number; only its absolute value counts. */
void rng_seed(struct rng *r, int64_t seed);

/* Seed with the n > 0 words of a larger number, least significant first. The
 * words are used as they are: a number has no zero word at its upper end. */
void rng_seed_words(struct rng *r, const uint32_t *words, size_t n);

/* Seed with the eight big-endian words of the SHA-256 of a text. */
void rng_seed_text(struct rng *r, const char *p, size_t n);

uint32_t rng_u32(struct rng *r);

/* A number of k random bits, k from 0 to 64. */
uint64_t rng_bits(struct rng *r, unsigned k);

/* A number from 0 to n - 1, each equally likely; n > 0. */
uint64_t rng_below(struct rng *r, uint64_t n);

/* 53 random bits from 0 up to, but not including, 1. */
double rng_random(struct rng *r);

/* Put the n entries of `index` in random order. */
void rng_shuffle(struct rng *r, size_t *index, size_t n);

/* Write k different numbers below n, in random order; k <= n. */
void rng_sample(struct rng *r, size_t n, size_t *picked, size_t k);
