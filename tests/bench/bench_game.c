/* bench_game.c - how fast text games are played: steps a second, milliseconds to load,
 * bytes a game.
 *
 * bench_game [FILE...] takes game files; without any it takes those of the shared
 * data, and without these the game that the tests bring along. */
#include "base/buf.h"
#include "base/mem.h"
#include "game/game.h"
#include "game/shared.h"
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { OPEN_GAMES = 2000, STEPS = 20000, LOADS = 200, EPISODE = 50 };

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static bool read_file(const char *path, struct buf *text)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return false;
    char block[65536];
    for (size_t n = fread(block, 1, sizeof block, f); n;
         n = fread(block, 1, sizeof block, f))
        buf_add(text, block, n);
    fclose(f);
    return true;
}

/* Loads without any sharing, as for the first game of a kind. */
static double time_load(const struct buf *file)
{
    double start = now_s();
    for (int i = 0; i < LOADS; i++)
        game_close(game_open(file->ptr, file->len, "bench", NULL, NULL));
    return (now_s() - start) / LOADS * 1e3;
}

/* Random admissible commands; back to the start after each episode. */
static double time_steps(struct game *g)
{
    uint64_t dice = 88172645463325252u;
    double start = now_s();
    for (int i = 0; i < STEPS; i++) {
        dice ^= dice << 13;
        dice ^= dice >> 7;
        dice ^= dice << 17;
        size_t n = 0;
        const char *command = game_command(g, dice % game_command_count(g), &n);
        if (i % EPISODE == 0 ? !game_reset(g, NULL) : !game_step(g, command, n, NULL))
            abort();
    }
    return STEPS / (now_s() - start);
}

/* Many games of the files at once: what one costs, with its part of what is shared. */
static void measure_memory(const struct buf *files, size_t count)
{
    struct game_shared *shared = game_shared_new();
    struct game **games = mem_new_array(OPEN_GAMES, sizeof(struct game *));
    size_t own = 0, common = 0;
    double start = now_s();
    for (size_t i = 0; i < OPEN_GAMES; i++) {
        const struct buf *file = &files[i % count];
        games[i] = game_open(file->ptr, file->len, "bench", shared, NULL);
        own += game_own_bytes(games[i]);
        common += i < count ? game_shared_bytes(games[i]) : 0;
    }
    printf("%d games open: %.3f ms each, %zu bytes each, and %zu bytes a file\n",
           OPEN_GAMES, (now_s() - start) / OPEN_GAMES * 1e3, own / OPEN_GAMES,
           common / count);
    for (size_t i = 0; i < OPEN_GAMES; i++)
        game_close(games[i]);
    mem_free(games);
    game_shared_free(shared);
}

static void measure_file(const char *path, const struct buf *file)
{
    struct err e = { 0 };
    struct game *g = game_open(file->ptr, file->len, path, NULL, &e);
    if (!g) {
        printf("%s\n", e.message);
        exit(1);
    }
    size_t length = strlen(path);
    printf("%-52s %6.0f steps/s  load %.3f ms  %zu bytes own, %zu shared\n",
           path + (length > 52 ? length - 52 : 0), time_steps(g), time_load(file),
           game_own_bytes(g), game_shared_bytes(g));
    game_close(g);
}

static void find_games(glob_t *found)
{
    const char *shared = getenv("SKILLOPT_SHARED");
    char pattern[4096];
    snprintf(pattern, sizeof pattern, "%s/data/alfworld/games/*/game.tw-pddl",
             shared ? shared : "../shared");
    if (glob(pattern, 0, NULL, found) != 0)
        glob("tests/cases/game_*.tw-pddl", 0, NULL, found);
}

int main(int argc, char **argv)
{
    glob_t found = { 0 };
    if (argc < 2)
        find_games(&found);
    char **paths = argc > 1 ? argv + 1 : found.gl_pathv;
    size_t count = argc > 1 ? (size_t)argc - 1 : found.gl_pathc;
    struct buf *files = mem_new_array(count, sizeof *files);
    for (size_t i = 0; i < count; i++)
        if (read_file(paths[i], &files[i]))
            measure_file(paths[i], &files[i]);
    if (count)
        measure_memory(files, count);
    for (size_t i = 0; i < count; i++)
        buf_free(&files[i]);
    mem_free(files);
    globfree(&found);
    return count ? 0 : 1;
}
