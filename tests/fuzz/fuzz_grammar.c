/* A grammar file: read alone and, when it is valid UTF-8, played with a small room. */
#include "base/buf.h"
#include "base/mem.h"
#include "game/game.h"
#include "game/grammar.h"
#include "text/json.h"
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static const char domain[] =
    "(define (domain d) (:types who room cup - object mug - cup)"
    "(:predicates (in ?w - who ?r - room) (has ?r - room ?c - cup) (holds ?w - who ?c - "
    "cup))"
    "(:action take :parameters (?w - who ?r - room ?c - cup) :precondition (and (in ?w "
    "?r) "
    "(has ?r ?c)) :effect (and (holds ?w ?c) (not (has ?r ?c))))"
    "(:action go :parameters (?w - who ?from ?to - room) :precondition (in ?w ?from) "
    ":effect (and (not (in ?w ?from)) (in ?w ?to))))";

static const char problem[] =
    "(define (problem p) (:domain d) (:objects me - who hall den - room "
    "cup_bar_1 cup_bar_2 - cup mug_bar_1 - mug idle - cup) (:init (in me hall) "
    "(has hall cup_bar_1) (has den cup_bar_2) (has den mug_bar_1)) (:goal (holds me "
    "mug_bar_1)))";

static void write_part(struct json_writer *w, const char *key, const char *text, size_t n)
{
    json_key(w, key);
    json_text_n(w, text, n);
}

static void play(struct game *g)
{
    for (size_t i = 0; i < 6 && game_command_count(g); i++) {
        size_t length = 0;
        const char *command = game_command(g, i * 5 % game_command_count(g), &length);
        char *copy = mem_copy(command, length);
        if (!game_step(g, copy, length, NULL))
            i = 6;
        mem_free(copy);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    const char *text = n ? (const char *)data : "";
    struct grammar *grammar = grammar_read(text, n, NULL, "fuzz", NULL, NULL);
    if (!grammar)
        return 0;
    share_drop(&grammar->share);
    struct buf file = { 0 };
    struct json_writer w;
    json_begin(&w, &file, JSON_LINE);
    json_object(&w);
    write_part(&w, "pddl_domain", domain, strlen(domain));
    write_part(&w, "pddl_problem", problem, strlen(problem));
    write_part(&w, "grammar", text, n);
    json_object_end(&w);
    struct game *g = json_end(&w, NULL)
                         ? game_open(buf_text(&file), file.len, "fuzz", NULL, NULL)
                         : NULL;
    if (g)
        play(g);
    game_close(g);
    buf_free(&file);
    return 0;
}
