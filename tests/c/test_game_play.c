/* Recorded play of seventeen games, step by step. */
#include "base/buf.h"
#include "check.h"
#include "game/game.h"
#include "game/shared.h"
#include "text/json.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ADMISSIBLE_MAX = 256 };

static int steps_played;

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

/* --- the recorded list of admissible commands ----------------------------------------
 */

struct recorded {
    const char *commands[ADMISSIBLE_MAX];
    size_t count;
};

static void record_add(struct recorded *r, const struct value *list)
{
    for (size_t i = 0; i < value_count(list) && r->count < ADMISSIBLE_MAX; i++)
        r->commands[r->count++] = value_text(value_at(list, i));
}

static void record_remove(struct recorded *r, const struct value *list)
{
    for (size_t i = 0; i < value_count(list); i++) {
        size_t kept = 0;
        for (size_t j = 0; j < r->count; j++)
            if (strcmp(r->commands[j], value_text(value_at(list, i))) != 0)
                r->commands[kept++] = r->commands[j];
        r->count = kept;
    }
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool check_step(const struct game *g, const struct value *step, struct recorded *r)
{
    record_add(r, value_get(step, "admissible"));
    record_remove(r, value_get(step, "del"));
    record_add(r, value_get(step, "add"));
    qsort(r->commands, r->count, sizeof *r->commands, compare);
    bool ok =
        CHECK_TEXT(game_observation(g, NULL), value_text_or(step, "obs", NULL)) &&
        CHECK_INT(game_won(g), value_bool_or(step, "won", false)) &&
        CHECK_INT(game_command_count(g), value_integer_or(step, "n_admissible", -1)) &&
        CHECK_INT(game_command_count(g), r->count);
    for (size_t i = 0; ok && i < r->count; i++)
        ok = CHECK_TEXT(game_command(g, i, NULL), r->commands[i]);
    return ok;
}

/* --- cases ---------------------------------------------------------------------------
 */

static bool play(struct game *g, const struct value *steps)
{
    struct recorded r = { .count = 0 };
    struct err e = { 0 };
    bool ok = true;
    for (size_t i = 0; ok && i < value_count(steps); i++) {
        const struct value *step = value_at(steps, i);
        const char *command = value_text_or(step, "cmd", NULL);
        if (command && !game_step(g, command, strlen(command), &e))
            return CHECK_TEXT(e.message, "");
        ok = check_step(g, step, &r);
        steps_played += ok;
        if (!ok)
            fprintf(stderr, "step %zu: %s\n", i, command ? command : "(reset)");
    }
    return ok;
}

static bool play_case(const struct value *recording, struct game_shared *shared)
{
    struct buf text = { 0 };
    struct err e = { 0 };
    char path[512];
    const char *name = value_text_or(recording, "game", "");
    snprintf(path, sizeof path, "%s/data/alfworld/games/%s/game.tw-pddl", check_shared(),
             name);
    CHECK(read_file(path, &text));
    struct game *g = game_open(buf_text(&text), text.len, name, shared, &e);
    CHECK_TEXT(e.message, "");
    bool ok = g && play(g, value_get(recording, "steps"));
    if (!ok)
        fprintf(stderr, "in %s, %s\n", name, value_text_or(recording, "how", ""));
    game_close(g);
    buf_free(&text);
    return ok;
}

static void play_file(const char *path)
{
    struct buf text = { 0 };
    struct value_doc doc = { 0 };
    struct err e = { 0 };
    if (!check_shared()) {
        check_skip("no shared data: the game files are not there");
        return;
    }
    CHECK(read_file(path, &text));
    const struct value *cases =
        value_get(json_read(&doc, buf_text(&text), text.len, NULL, &e), "cases");
    CHECK(value_count(cases) > 0);
    struct game_shared *shared = game_shared_new();
    for (size_t i = 0; i < value_count(cases); i++)
        if (!play_case(value_at(cases, i), shared))
            break;
    CHECK_INT(game_shared_count(shared), 0);
    game_shared_free(shared);
    value_doc_free(&doc);
    buf_free(&text);
}

#define PART(n)                                                                          \
    static void part_##n(void)                                                           \
    {                                                                                    \
        play_file("tests/vectors/envs_alfworld_play_" #n ".json");                       \
    }
PART(1)
PART(2)
PART(3)
PART(4)
PART(5)
PART(6)
PART(7)

static void every_step(void)
{
    if (!check_shared()) {
        check_skip("no shared data: the game files are not there");
        return;
    }
    CHECK_INT(steps_played, 2517);
}

int main(void)
{
    check_run("observations, commands and goal are as recorded, part 1", part_1);
    check_run("observations, commands and goal are as recorded, part 2", part_2);
    check_run("observations, commands and goal are as recorded, part 3", part_3);
    check_run("observations, commands and goal are as recorded, part 4", part_4);
    check_run("observations, commands and goal are as recorded, part 5", part_5);
    check_run("observations, commands and goal are as recorded, part 6", part_6);
    check_run("observations, commands and goal are as recorded, part 7", part_7);
    check_run("all 2,517 recorded steps were played", every_step);
    return check_end();
}
