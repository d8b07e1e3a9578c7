/* bench_game.c - how fast text games are played, and what they weigh.
 *
 * bench_game [FILE...] takes game files; without any it takes those of the shared
 * data, and without these the game that the tests bring along. Times are of the CPU.
 * Prints
 *
 *   figure game.steps_per_s N 1/s     random commands, each with its list of commands
 *   figure game.load_ms N ms          the first game of a file
 *   figure game.load_again_ms N ms    the next ones of it
 *   figure game.bytes N B             a game of its own file, with all it shares
 *   figure game.bytes_again N B       one more game of the file
 *   figure game.solve_ms N ms         a shortest solution from the start
 */
#include "base/buf.h"
#include "base/mem.h"
#include "game/game.h"
#include "game/shared.h"
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { OPEN_GAMES = 2000, STEPS = 5000, LOADS = 30, EPISODE = 50, SOLVE_NODES = 100000 };

struct figures {
    double steps_per_s, load_ms, load_again_ms, bytes, bytes_again, solve_ms;
};

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
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

static struct game *open_game(const struct buf *file, struct game_shared *shared)
{
    struct err e = { 0 };
    struct game *g = game_open(file->ptr, file->len, "bench", shared, &e);
    if (!g) {
        fprintf(stderr, "%s\n", e.message);
        exit(1);
    }
    return g;
}

static double time_load(const struct buf *file)
{
    double start = now_s();
    for (int i = 0; i < LOADS; i++)
        game_close(open_game(file, NULL));
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

/* A game without a solution takes part too. */
static double time_solve(const struct game *g)
{
    struct game_plan plan = { 0 };
    double start = now_s();
    game_solve(g, SOLVE_NODES, NULL, &plan, NULL);
    game_plan_free(&plan);
    return (now_s() - start) * 1e3;
}

/* Many games of the files at once. */
static void measure_many(const struct buf *files, size_t count, struct figures *f)
{
    struct game_shared *shared = game_shared_new();
    struct game **games = mem_new_array(OPEN_GAMES + count, sizeof(struct game *));
    for (size_t i = 0; i < count; i++)
        games[i] = open_game(&files[i], shared);
    double start = now_s();
    for (size_t i = 0; i < OPEN_GAMES; i++) {
        games[count + i] = open_game(&files[i % count], shared);
        f->bytes_again += (double)game_own_bytes(games[count + i]) / OPEN_GAMES;
    }
    f->load_again_ms = (now_s() - start) / OPEN_GAMES * 1e3;
    for (size_t i = 0; i < OPEN_GAMES + count; i++)
        game_close(games[i]);
    mem_free(games);
    game_shared_free(shared);
}

static void measure_file(const struct buf *file, size_t count, struct figures *f)
{
    struct game *g = open_game(file, NULL);
    f->solve_ms += time_solve(g) / (double)count;
    f->load_ms += time_load(file) / (double)count;
    f->steps_per_s += time_steps(g) / (double)count;
    f->bytes += (double)(game_own_bytes(g) + game_shared_bytes(g)) / (double)count;
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

static void print(const struct figures *f)
{
    printf("figure game.steps_per_s %.0f 1/s\n", f->steps_per_s);
    printf("figure game.load_ms %.3f ms\n", f->load_ms);
    printf("figure game.load_again_ms %.3f ms\n", f->load_again_ms);
    printf("figure game.bytes %.0f B\n", f->bytes);
    printf("figure game.bytes_again %.0f B\n", f->bytes_again);
    printf("figure game.solve_ms %.1f ms\n", f->solve_ms);
}

int main(int argc, char **argv)
{
    glob_t found = { 0 };
    struct figures f = { 0 };
    if (argc < 2)
        find_games(&found);
    char **paths = argc > 1 ? argv + 1 : found.gl_pathv;
    size_t count = argc > 1 ? (size_t)argc - 1 : found.gl_pathc;
    struct buf *files = mem_new_array(count, sizeof *files);
    bool ok = count > 0;
    for (size_t i = 0; i < count; i++)
        ok = read_file(paths[i], &files[i]) && ok;
    for (size_t i = 0; i < count && ok; i++)
        measure_file(&files[i], count, &f);
    if (ok) {
        measure_many(files, count, &f);
        print(&f);
    }
    for (size_t i = 0; i < count; i++)
        buf_free(&files[i]);
    mem_free(files);
    globfree(&found);
    return ok ? 0 : 1;
}
