/* test_rng.c - random numbers equal to CPython's. */
#include "base/rng.h"
#include "check.h"

static void first_words(void)
{
    struct rng r;
    rng_seed(&r, 42);
    CHECK_INT(rng_u32(&r), 2746317213);
    CHECK_INT(rng_u32(&r), 478163327);
    CHECK_INT(rng_u32(&r), 107420369);
}

static void sign_is_ignored(void)
{
    struct rng a;
    struct rng b;
    rng_seed(&a, -42);
    rng_seed(&b, 42);
    CHECK_INT(rng_u32(&a), rng_u32(&b));
    rng_seed(&a, INT64_MIN);
    uint32_t words[] = { 0, 0x80000000u };
    rng_seed_words(&b, words, 2);
    CHECK_INT(rng_u32(&a), rng_u32(&b));
}

static void far_words(void)
{
    struct rng r;
    rng_seed(&r, 5489);
    uint32_t word = 0;
    for (int i = 0; i < 10000; i++)
        word = rng_u32(&r);
    CHECK_INT(word, 2375762794);
}

static void shuffles(void)
{
    struct rng r;
    size_t index[10];
    static const size_t want[10] = { 7, 3, 2, 8, 5, 6, 9, 4, 0, 1 };
    for (size_t i = 0; i < 10; i++)
        index[i] = i;
    rng_seed(&r, 42);
    rng_shuffle(&r, index, 10);
    for (size_t i = 0; i < 10; i++)
        CHECK_INT(index[i], want[i]);
}

static void wide_draws(void)
{
    struct rng r;
    rng_seed(&r, 7);
    CHECK_INT(rng_bits(&r, 0), 0);
    CHECK(rng_bits(&r, 64) == 17485029721327973432u);
    CHECK(rng_bits(&r, 33) == 647892279u);
    CHECK_INT(rng_below(&r, 1), 0);
    CHECK(rng_below(&r, (uint64_t)1 << 63) == 1736392818365009963u);
}

static void samples(void)
{
    struct rng r;
    size_t picked[6];
    static const size_t from_pool[6] = { 10, 4, 12, 1, 2, 13 };
    static const size_t by_trial[6] = { 331, 970, 154, 404, 666, 49 };
    rng_seed(&r, 7);
    rng_sample(&r, 20, picked, 6);
    for (size_t i = 0; i < 6; i++)
        CHECK_INT(picked[i], from_pool[i]);
    rng_seed(&r, 7);
    rng_sample(&r, 1000, picked, 6);
    for (size_t i = 0; i < 6; i++)
        CHECK_INT(picked[i], by_trial[i]);
}

static void texts(void)
{
    struct rng a;
    struct rng b;
    uint32_t words[] = { 0xe3b0c442, 0x98fc1c14, 0x9afbf4c8, 0x996fb924,
                         0x27ae41e4, 0x649b934c, 0xa495991b, 0x7852b855 };
    rng_seed_text(&a, "", 0);
    rng_seed_words(&b, words, 8);
    for (int i = 0; i < 3; i++)
        CHECK_INT(rng_u32(&a), rng_u32(&b));
    CHECK(rng_random(&a) < 1);
}

int main(void)
{
    check_run("seed 42 gives the known first words", first_words);
    check_run("a seed and its negative are the same seed", sign_is_ignored);
    check_run("the ten thousandth word is right", far_words);
    check_run("a shuffle equals CPython's", shuffles);
    check_run("draws of more than 32 bits take the low word first", wide_draws);
    check_run("samples equal CPython's on both ways of drawing", samples);
    check_run("a text seeds with the words of its SHA-256", texts);
    return check_end();
}
