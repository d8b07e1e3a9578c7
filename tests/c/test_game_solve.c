/* Solving: shortest, whatever the state, and within limits. */
#include "base/buf.h"
#include "base/mem.h"
#include "check.h"
#include "game/cuts.h"
#include "game/game.h"
#include "game/task.h"
#include "text/json.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct err fault;

static struct game *open_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    struct buf text = { 0 };
    char block[65536];
    for (size_t n = f ? fread(block, 1, sizeof block, f) : 0; n;
         n = fread(block, 1, sizeof block, f))
        buf_add(&text, block, n);
    if (f)
        fclose(f);
    fault = (struct err){ 0 };
    struct game *g = game_open(buf_text(&text), text.len, "file", NULL, &fault);
    CHECK_TEXT(fault.message, "");
    buf_free(&text);
    return g;
}

static struct game *attic(void)
{
    return open_file("tests/cases/game_attic.tw-pddl");
}

static volatile sig_atomic_t stop;

static bool solve(const struct game *g, size_t max_nodes, struct game_plan *plan)
{
    *plan = (struct game_plan){ 0 };
    fault = (struct err){ 0 };
    return game_solve(g, max_nodes, &stop, plan, &fault);
}

/* Whether the commands, played on a copy, win with the last one and not before. */
static void check_plan(const struct game *g, const struct game_plan *plan)
{
    struct game *copy = game_clone(g);
    for (size_t i = 0; i < plan->count; i++) {
        CHECK(!game_won(copy));
        CHECK(game_step(copy, plan->commands[i], strlen(plan->commands[i]), &fault));
        CHECK(game_was_admissible(copy));
    }
    CHECK(game_won(copy));
    game_close(copy);
}

/* --- against a search without any estimate
 * -------------------------------------------------- */

struct breadth {
    const struct task *task;
    uint64_t *states;
    uint32_t *depths;
    uint32_t count;
    uint32_t *table;
};

enum { BREADTH_STATES = 1 << 19, BREADTH_SLOTS = 1 << 20 };

static void meet(struct breadth *b, const uint64_t *state, uint32_t depth)
{
    size_t words = b->task->words;
    uint64_t hash = 0;
    for (size_t i = 0; i < words; i++)
        hash = (hash ^ state[i]) * 0x9e3779b97f4a7c15u >> 3;
    uint32_t i = hash % BREADTH_SLOTS;
    for (; b->table[i]; i = (i + 1) % BREADTH_SLOTS)
        if (memcmp(b->states + (b->table[i] - 1) * words, state, words * 8) == 0)
            return;
    if (!CHECK(b->count < BREADTH_STATES))
        return;
    memcpy(b->states + b->count * words, state, words * 8);
    b->depths[b->count] = depth;
    b->table[i] = ++b->count;
}

/* The number of commands of a shortest solution. */
static uint32_t search_all(const struct task *t)
{
    struct breadth b = { .task = t };
    b.states = mem_new_array((size_t)BREADTH_STATES * t->words, 8);
    b.depths = mem_new_array(BREADTH_STATES, sizeof *b.depths);
    b.table = mem_new_array(BREADTH_SLOTS, sizeof *b.table);
    uint64_t next[64];
    uint32_t found = UINT32_MAX;
    meet(&b, t->start, 0);
    for (uint32_t i = 0; i < b.count && found == UINT32_MAX; i++) {
        const uint64_t *state = b.states + (size_t)i * t->words;
        if (formula_holds(t->goal, state))
            found = b.depths[i];
        for (uint32_t j = 0; j < t->operator_count; j++) {
            if (!formula_holds(t->operators[j].precondition, state))
                continue;
            task_apply(t, &t->operators[j], state, next);
            meet(&b, next, b.depths[i] + 1);
        }
    }
    mem_free(b.states);
    mem_free(b.depths);
    mem_free(b.table);
    return found;
}

static void check_shortest(struct game *g)
{
    struct task t = { 0 };
    struct game_plan plan;
    long work = 1000000000;
    CHECK(task_build(&t, g, &fault));
    CHECK(t.words <= 64);
    struct cuts *cuts = cuts_new(&t, &work);
    uint32_t length = search_all(&t);
    CHECK(cuts_estimate(cuts, t.start) <= length);
    CHECK(solve(g, 100000, &plan));
    CHECK_INT(plan.count, length);
    check_plan(g, &plan);
    game_plan_free(&plan);
    cuts_free(cuts);
    task_free(&t);
}

/* From the start and from wherever random play has led. */
static void shortest(void)
{
    struct game *g = attic();
    uint32_t dice = 12345;
    for (int round = 0; round < 8; round++) {
        check_shortest(g);
        for (int i = 0; i < 12; i++) {
            dice = dice * 1664525 + 1013904223;
            size_t n = 0, count = game_command_count(g);
            const char *command = game_command(g, (dice >> 8) % count, &n);
            CHECK(game_step(g, command, n, &fault));
        }
    }
    game_close(g);
}

static void unmoved(void)
{
    struct game *g = attic();
    struct game_plan plan;
    CHECK(solve(g, 100000, &plan));
    CHECK_INT(plan.count, 13);
    CHECK(plan.nodes > 0 && plan.nodes < 100000);
    CHECK_INT(game_steps(g), 0);
    CHECK(strncmp(game_observation(g, NULL), "You climb", 9) == 0);
    game_plan_free(&plan);
    game_close(g);
}

static void too_few_nodes(void)
{
    struct game *g = attic();
    struct game_plan plan;
    CHECK(!solve(g, 20, &plan));
    CHECK_INT(fault.kind, ERR_LIMIT);
    CHECK_TEXT(fault.message, "file: no solution found within 20 states");
    game_plan_free(&plan);
    CHECK(!solve(g, 0, &plan));
    CHECK_INT(fault.kind, ERR_LIMIT);
    game_plan_free(&plan);
    game_close(g);
}

static void stopped(void)
{
    struct game *g = attic();
    struct game_plan plan;
    stop = 1;
    CHECK(!solve(g, 100000, &plan));
    stop = 0;
    CHECK_INT(fault.kind, ERR_LIMIT);
    CHECK(strstr(fault.message, "stopped") != NULL);
    game_plan_free(&plan);
    game_close(g);
}

static void won_already(void)
{
    struct game *g = attic();
    struct game_plan plan, none;
    CHECK(solve(g, 100000, &plan));
    for (size_t i = 0; i < plan.count; i++)
        CHECK(game_step(g, plan.commands[i], strlen(plan.commands[i]), &fault));
    CHECK(solve(g, 100000, &none));
    CHECK_INT(none.count, 0);
    game_plan_free(&plan);
    game_plan_free(&none);
    game_close(g);
}

/* --- games made for one question
 * ------------------------------------------------------------ */

static struct game *make(const char *domain, const char *grammar, const char *problem)
{
    struct buf file = { 0 };
    struct json_writer w;
    json_begin(&w, &file, JSON_LINE);
    json_object(&w);
    json_key(&w, "pddl_domain");
    json_text(&w, domain);
    json_key(&w, "grammar");
    json_text(&w, grammar);
    json_key(&w, "pddl_problem");
    json_text(&w, problem);
    json_object_end(&w);
    CHECK(json_end(&w, NULL));
    fault = (struct err){ 0 };
    struct game *g = game_open(file.ptr, file.len, "made", NULL, &fault);
    CHECK_TEXT(fault.message, "");
    buf_free(&file);
    return g;
}

#define INTRO "grammar :: \"\"\"{\"intro\": [{\"rhs\": \"go\"}]}\"\"\"; "
#define ACT(name, template)                                                              \
    "action " name " { template :: \"" template "\"; feedback :: \"done\"; } "

static void impossible(void)
{
    struct game_plan plan;
    struct game *g =
        make("(define (domain d) (:predicates (p) (q)) (:action a :precondition "
             "(p) :effect (not (p))) (:action b :precondition (and (not (p)) "
             "(q)) :effect (p)))",
             INTRO ACT("a", "a") ACT("b", "b"),
             "(define (problem x) (:domain d) (:init (p)) (:goal (q)))");
    CHECK(!solve(g, 1000, &plan));
    CHECK_INT(fault.kind, ERR_DATA);
    CHECK_TEXT(fault.message, "made: no sequence of commands leads to the goal");
    game_plan_free(&plan);
    game_close(g);
}

/* Each switch can be on alone, never both: nothing tells that but trying. */
static void hopeless(void)
{
    struct game_plan plan;
    struct game *g =
        make("(define (domain d) (:predicates (p) (q)) (:action a :effect (and "
             "(p) (not (q)))) (:action b :effect (and (q) (not (p)))))",
             INTRO ACT("a", "a") ACT("b", "b"),
             "(define (problem x) (:domain d) (:init) (:goal (and (p) (q))))");
    CHECK(!solve(g, 1000, &plan));
    CHECK_INT(fault.kind, ERR_DATA);
    CHECK_INT(plan.nodes, 3);
    game_plan_free(&plan);
    game_close(g);
}

/* The same with ten lamps more, which double the states each. */
static void many_states(void)
{
    struct game_plan plan;
    struct game *g = make(
        "(define (domain d) (:predicates (p) (q) (on ?x)) "
        "(:action a :effect (and (p) (not (q)))) (:action b :effect (and (q) (not (p)))) "
        "(:action flip :parameters (?x) :effect (and (when (on ?x) (not (on ?x))) "
        "(when (not (on ?x)) (on ?x)))))",
        INTRO ACT("a", "a") ACT("b", "b") ACT("flip", "flip {x.id}"),
        "(define (problem x) (:domain d) (:objects a b c d e f g h i j) (:init) "
        "(:goal (and (p) (q) (forall (?x) (on ?x)))))");
    CHECK(!solve(g, 100000, &plan));
    CHECK_INT(fault.kind, ERR_DATA);
    CHECK_INT(plan.nodes, 3 * 1024);
    game_plan_free(&plan);
    game_close(g);
}

/* "go" means the first of the two actions, so the second can never be performed. */
static void ambiguous(void)
{
    struct game_plan plan;
    struct game *g =
        make("(define (domain d) (:predicates (p) (q)) (:action a :effect (p)) "
             "(:action b :effect (q)))",
             INTRO ACT("a", "go") ACT("b", "go"),
             "(define (problem x) (:domain d) (:init) (:goal (q)))");
    CHECK_INT(game_command_count(g), 1);
    CHECK(!solve(g, 1000, &plan));
    CHECK_TEXT(fault.message, "made: a needed action has no command of its own");
    game_plan_free(&plan);
    game_close(g);
}

/* The blank at the end of "cup " is trimmed away, so the shorter way cannot be typed. */
static void typeable(void)
{
    struct game_plan plan;
    struct game *g = make(
        "(define (domain d) (:predicates (on ?x) (lit ?x) (r)) "
        "(:action touch :parameters (?x) :precondition (on ?x) :effect (r)) "
        "(:action light :parameters (?x) :precondition (on ?x) :effect (lit ?x)) "
        "(:action end :precondition (lit cup) :effect (r)))",
        INTRO ACT("touch", "touch {x}") ACT("light", "light {x.id}") ACT("end", "end"),
        "(define (problem p) (:domain d) (:objects cup) (:init (on cup)) (:goal (r)))");
    CHECK(solve(g, 1000, &plan));
    if (CHECK_INT(plan.count, 2)) {
        CHECK_TEXT(plan.commands[0], "light cup");
        CHECK_TEXT(plan.commands[1], "end");
    }
    game_plan_free(&plan);
    game_close(g);
}

/* Effects under `when` and `forall`, and an `or` in the goal. */
static void conditional(void)
{
    struct game_plan plan;
    struct game *g = make(
        "(define (domain d) (:predicates (up ?x) (ready) (far)) "
        "(:action get :effect (ready)) "
        "(:action all :effect (forall (?x) (when (ready) (up ?x)))) "
        "(:action flip :parameters (?x) :precondition (up ?x) :effect (not (up ?x))) "
        "(:action leave :precondition (not (ready)) :effect (far)))",
        INTRO ACT("get", "get") ACT("all", "all") ACT("flip", "flip {x.id}")
            ACT("leave", "leave"),
        "(define (problem p) (:domain d) (:objects a b c) (:init) (:goal (and (not (up "
        "b)) "
        "(or (and (far) (up a)) (and (up a) (up c) (ready) (imply (far) (up b)))))))");
    CHECK(solve(g, 1000, &plan));
    check_plan(g, &plan);
    CHECK_INT(plan.count, 3);
    game_plan_free(&plan);
    game_close(g);
}

static void large(void)
{
    struct buf problem = { 0 };
    struct game_plan plan;
    buf_add_text(&problem,
                 "(define (problem p) (:domain d) (:init) (:goal (r)) (:objects");
    for (int i = 0; i < 400; i++)
        buf_add_format(&problem, " o%d", i);
    buf_add_text(&problem, "))");
    struct game *g =
        make("(define (domain d) (:predicates (p ?x ?y) (on ?x) (r)) "
             "(:action a :parameters (?x) :effect (on ?x)) "
             "(:action b :parameters (?x ?y) :precondition (and (on ?x) (on ?y) "
             "(not (= ?x ?y))) :effect (p ?x ?y)) "
             "(:action c :parameters (?x ?y) :precondition (and (p ?x ?y) "
             "(p ?y ?x) (on ?x)) :effect (r)))",
             INTRO ACT("a", "a {x.id}") ACT("b", "b {x.id} {y.id}")
                 ACT("c", "c {x.id} {y.id}"),
             buf_text(&problem));
    CHECK(!solve(g, 1000, &plan));
    CHECK_INT(fault.kind, ERR_LIMIT);
    game_plan_free(&plan);
    game_close(g);
    buf_free(&problem);
}

/* --- recorded games
 * --------------------------------------------------------------------------- */

/* Lengths of the solutions that a planner found for the recorded games. */
static const struct {
    const char *game;
    int length;
} recorded[] = {
    { "bathroom_clean", 7 },
    { "bathroom_two", 4 },
    { "bedroom_light", 3 },
    { "bedroom_safe", 4 },
    { "bedroom_two", 4 },
    { "kitchen_clean", 6 },
    { "kitchen_cool", 6 },
    { "kitchen_heat", 6 },
    { "kitchen_place", 5 },
    { "kitchen_two", 9 },
    { "living_light", 4 },
    { "living_place", 0 },
    { "odd_lamp_in_drawer", 4 },
    { "odd_start_at_receptacle", 5 },
    { "oldlogic_kitchen_clean", 6 },
    { "real_kitchen_heat_potato", 6 },
    { "textworld_test", -1 }, /* needs commands that end in a blank */
};

static void recorded_games(void)
{
    if (!check_shared()) {
        check_skip("no shared data: the game files are not there");
        return;
    }
    for (size_t i = 0; i < sizeof recorded / sizeof *recorded; i++) {
        char path[512];
        struct game_plan plan;
        snprintf(path, sizeof path, "%s/data/alfworld/games/%s/game.tw-pddl",
                 check_shared(), recorded[i].game);
        struct game *g = open_file(path);
        bool is_solved = solve(g, 100000, &plan);
        CHECK_INT(is_solved ? (int)plan.count : -1, recorded[i].length);
        if (is_solved)
            check_plan(g, &plan);
        game_plan_free(&plan);
        game_close(g);
    }
}

int main(void)
{
    check_run("solutions are as short as an exhaustive search finds", shortest);
    check_run("solving does not move the game", unmoved);
    check_run("too few states are a limit, not an answer", too_few_nodes);
    check_run("a search that is told to stop does", stopped);
    check_run("a game that is won needs no command", won_already);
    check_run("a goal out of reach is said so", impossible);
    check_run("a goal that only trying can refute is said so", hopeless);
    check_run("a search through thousands of states ends", many_states);
    check_run("an action that shares its command with another is said so", ambiguous);
    check_run("solutions consist of commands that can be typed", typeable);
    check_run("conditional effects and alternatives are planned for", conditional);
    check_run("a game too large to be searched is a limit", large);
    check_run("the recorded games are solved as shortly as a planner did",
              recorded_games);
    return check_end();
}
