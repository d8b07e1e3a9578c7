/* rng.c - see rng.h. */
#include "base/rng.h"
#include "base/digest.h"
#include "base/mem.h"
#include <assert.h>

enum { SHIFT = 397 };

static void seed_one(struct rng *r, uint32_t seed)
{
    r->state[0] = seed;
    for (uint32_t i = 1; i < RNG_WORDS; i++) {
        uint32_t last = r->state[i - 1];
        r->state[i] = 1812433253u * (last ^ (last >> 30)) + i;
    }
    r->next = RNG_WORDS;
}

/* One step of the two mixing passes over the state. */
static uint32_t mixed(const struct rng *r, size_t i, uint32_t factor)
{
    uint32_t last = r->state[i - 1];
    return r->state[i] ^ ((last ^ (last >> 30)) * factor);
}

static size_t advance(struct rng *r, size_t i)
{
    if (++i < RNG_WORDS)
        return i;
    r->state[0] = r->state[RNG_WORDS - 1];
    return 1;
}

void rng_seed_words(struct rng *r, const uint32_t *words, size_t n)
{
    assert(n > 0);
    seed_one(r, 19650218u);
    size_t i = 1;
    size_t rounds = n > RNG_WORDS ? n : RNG_WORDS;
    for (size_t round = 0; round < rounds; round++) {
        size_t j = round % n;
        r->state[i] = mixed(r, i, 1664525u) + words[j] + (uint32_t)j;
        i = advance(r, i);
    }
    for (size_t round = 1; round < RNG_WORDS; round++) {
        r->state[i] = mixed(r, i, 1566083941u) - (uint32_t)i;
        i = advance(r, i);
    }
    r->state[0] = 0x80000000u;
}

void rng_seed(struct rng *r, int64_t seed)
{
    uint64_t size = seed < 0 ? 0 - (uint64_t)seed : (uint64_t)seed;
    uint32_t words[2] = { (uint32_t)size, (uint32_t)(size >> 32) };
    rng_seed_words(r, words, words[1] ? 2 : 1);
}

void rng_seed_text(struct rng *r, const char *p, size_t n)
{
    struct digest d = digest_of(p, n);
    uint32_t words[DIGEST_BYTES / 4];
    for (size_t i = 0; i < DIGEST_BYTES / 4; i++) {
        const unsigned char *b = d.bytes + 4 * i;
        words[i] =
            (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
    }
    rng_seed_words(r, words, DIGEST_BYTES / 4);
}

static void refill(struct rng *r)
{
    uint32_t *s = r->state;
    for (size_t i = 0; i < RNG_WORDS; i++) {
        uint32_t y = (s[i] & 0x80000000u) | (s[(i + 1) % RNG_WORDS] & 0x7fffffffu);
        s[i] = s[(i + SHIFT) % RNG_WORDS] ^ (y >> 1) ^ (y & 1 ? 0x9908b0dfu : 0);
    }
    r->next = 0;
}

uint32_t rng_u32(struct rng *r)
{
    if (r->next >= RNG_WORDS)
        refill(r);
    uint32_t y = r->state[r->next++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
}

uint64_t rng_bits(struct rng *r, unsigned k)
{
    assert(k <= 64);
    if (k == 0)
        return 0;
    if (k <= 32)
        return rng_u32(r) >> (32 - k);
    uint64_t low = rng_u32(r);
    uint64_t high = rng_u32(r) >> (64 - k);
    return high << 32 | low;
}

uint64_t rng_below(struct rng *r, uint64_t n)
{
    assert(n > 0);
    unsigned k = 64 - (unsigned)__builtin_clzll(n);
    uint64_t drawn = rng_bits(r, k);
    while (drawn >= n)
        drawn = rng_bits(r, k);
    return drawn;
}

double rng_random(struct rng *r)
{
    double high = rng_u32(r) >> 5;
    double low = rng_u32(r) >> 6;
    return (high * 67108864.0 + low) / 9007199254740992.0;
}

void rng_shuffle(struct rng *r, size_t *index, size_t n)
{
    for (size_t i = n; i > 1; i--) {
        size_t j = (size_t)rng_below(r, i);
        size_t kept = index[i - 1];
        index[i - 1] = index[j];
        index[j] = kept;
    }
}

/* Draw from a list of all numbers: the taken one gives its place to the last. */
static void sample_from_pool(struct rng *r, size_t n, size_t *picked, size_t k)
{
    size_t *pool = mem_new_array(n, sizeof *pool);
    for (size_t i = 0; i < n; i++)
        pool[i] = i;
    for (size_t i = 0; i < k; i++) {
        size_t j = (size_t)rng_below(r, n - i);
        picked[i] = pool[j];
        pool[j] = pool[n - i - 1];
    }
    mem_free(pool);
}

static void sample_by_trial(struct rng *r, size_t n, size_t *picked, size_t k)
{
    unsigned char *is_taken = mem_new(n);
    for (size_t i = 0; i < k; i++) {
        size_t j = (size_t)rng_below(r, n);
        while (is_taken[j])
            j = (size_t)rng_below(r, n);
        is_taken[j] = 1;
        picked[i] = j;
    }
    mem_free(is_taken);
}

void rng_sample(struct rng *r, size_t n, size_t *picked, size_t k)
{
    assert(k <= n);
    /* Which way is taken decides what is drawn, so the border is CPython's: 21,
     * plus the first power of four above 3k when k is above 5. */
    size_t border = 21;
    if (k > 5) {
        size_t power = 1;
        while (power < 3 * k)
            power *= 4;
        border += power;
    }
    if (n <= border)
        sample_from_pool(r, n, picked, k);
    else
        sample_by_trial(r, n, picked, k);
}
