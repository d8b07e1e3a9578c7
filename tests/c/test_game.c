/* Playing: a small game of our own, and games made for one question each. */
#include "base/buf.h"
#include "base/mem.h"
#include "check.h"
#include "game/game.h"
#include "game/shared.h"
#include "game/state.h"
#include "text/json.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct err fault;

/* --- the attic
 * --------------------------------------------------------------------------- */

static struct game *attic(struct game_shared *shared)
{
    FILE *f = fopen("tests/cases/game_attic.tw-pddl", "rb");
    struct buf text = { 0 };
    char block[65536];
    for (size_t n = f ? fread(block, 1, sizeof block, f) : 0; n;
         n = fread(block, 1, sizeof block, f))
        buf_add(&text, block, n);
    if (f)
        fclose(f);
    fault = (struct err){ 0 };
    struct game *g = game_open(buf_text(&text), text.len, "attic", shared, &fault);
    CHECK_TEXT(fault.message, "");
    buf_free(&text);
    return g;
}

static const char *step(struct game *g, const char *command)
{
    fault = (struct err){ 0 };
    return game_step(g, command, strlen(command), &fault) ? game_observation(g, NULL)
                                                          : fault.message;
}

/* The commands in one text, with bars between. The caller frees. */
static void list(const struct game *g, struct buf *out)
{
    for (size_t i = 0; i < game_command_count(g); i++) {
        size_t n = 0;
        const char *command = game_command(g, i, &n);
        CHECK_INT(strlen(command), n);
        buf_add_format(out, "%s%s", i ? "|" : "", command);
    }
}

static bool check_commands(const struct game *g, const char *want)
{
    struct buf text = { 0 };
    list(g, &text);
    bool ok = CHECK_TEXT(buf_text(&text), want);
    buf_free(&text);
    return ok;
}

static void start(void)
{
    struct game *g = attic(NULL);
    CHECK_TEXT(
        game_observation(g, NULL),
        "You climb into the attic.\n\nYou are in the loft. There is shelf 2 with a "
        "broom 1. shelf 1 with a lamp 1, and a key 1. \n\nYour task is to: sweep "
        "the attic and put a jar at a window.");
    check_commands(g, "look|rest|take broom 1 from shelf 2|take key 1 from shelf 1|"
                      "take lamp 1 from shelf 1|turn lamp 1|walk to gable|"
                      "walk up to sill 1");
    CHECK(!game_won(g));
    CHECK(!game_was_admissible(g));
    CHECK_INT(game_steps(g), 0);
    game_close(g);
}

static void unknown_command(void)
{
    struct game *g = attic(NULL);
    CHECK_TEXT(step(g, "fly"), "Nothing happens.");
    CHECK_TEXT(step(g, "Look"), "Nothing happens.");
    CHECK_TEXT(step(g, "look around"), "Nothing happens.");
    CHECK_TEXT(step(g, ""), "Nothing happens.");
    CHECK(!game_was_admissible(g));
    CHECK_INT(game_steps(g), 4);
    check_commands(g, "look|rest|take broom 1 from shelf 2|take key 1 from shelf 1|"
                      "take lamp 1 from shelf 1|turn lamp 1|walk to gable|"
                      "walk up to sill 1");
    game_close(g);
}

static void trimmed(void)
{
    struct game *g = attic(NULL);
    CHECK_TEXT(step(g, " \t\n\xc2\xa0\xe3\x80\x80rest\xe2\x80\x83\r\n"), "You rest.");
    CHECK(game_was_admissible(g));
    CHECK_TEXT(step(g, "take  key 1 from shelf 1"), "Nothing happens.");
    CHECK_TEXT(step(g, "\xff\xfe"), "Nothing happens.");
    CHECK(game_step(g, "rest\0", 5, &fault));
    CHECK_TEXT(game_observation(g, NULL), "Nothing happens.");
    game_close(g);
}

static void conditions(void)
{
    struct game *g = attic(NULL);
    CHECK_TEXT(step(g, "take lamp 1 from shelf 1"), "You take lamp 1.");
    check_commands(g, "bow|look|put lamp 1 on shelf 1|put lamp 1 on shelf 2|turn lamp 1|"
                      "walk to gable|walk up to sill 1");
    CHECK_TEXT(step(g, "turn lamp 1"), "lamp 1, thing: on");
    check_commands(g, "bow|look|put lamp 1 on shelf 1|put lamp 1 on shelf 2|rest|"
                      "turn lamp 1|walk to gable|walk up to sill 1");
    CHECK_TEXT(step(g, "walk to gable"), "You walk to the gable .You hold a light.");
    game_close(g);
}

/* An effect under `when` is told as done whether it was or not. */
static void told_facts(void)
{
    struct game *g = attic(NULL);
    CHECK_TEXT(step(g, "turn lamp 1"), "lamp 1, thing: on");
    CHECK_TEXT(step(g, "turn lamp 1"), "lamp 1, thing: on");
    CHECK_TEXT(step(g, "take lamp 1 from shelf 1"), "You take lamp 1.");
    check_commands(g, "bow|look|put lamp 1 on shelf 1|put lamp 1 on shelf 2|turn lamp 1|"
                      "walk to gable|walk up to sill 1");
    game_close(g);
}

static void play_until_nook(struct game *g)
{
    step(g, "take key 1 from shelf 1");
    step(g, "walk to gable");
    step(g, "walk to nook");
}

/* not_locked is told only after an action made it so. */
static void made_false(void)
{
    struct game *g = attic(NULL);
    play_until_nook(g);
    CHECK_TEXT(step(g, "look"), "You are in the nook. There is chest 1 (locked). ");
    CHECK_TEXT(step(g, "unlock chest 1 with key 1"),
               "chest 1 (unlocked) with a jar 2, and a jar 1. ");
    CHECK_TEXT(step(g, "put key 1 on chest 1"), "chest 1 now holds jar 2, and jar 1");
    game_close(g);
}

/* Going to where one is changes nothing, so there is no such command. */
static void void_commands(void)
{
    struct game *g = attic(NULL);
    CHECK_TEXT(step(g, "walk up to sill 1"), "You stand at the sill 1.");
    check_commands(g, "look|rest|walk to loft|walk to nook");
    game_close(g);
}

static void progress_of(const struct game *g, size_t satisfied, size_t total)
{
    struct game_progress p;
    CHECK(game_progress(g, &p, &fault));
    CHECK_INT(p.satisfied, satisfied);
    CHECK_INT(p.total, total);
}

static void winning(void)
{
    static const char *const commands[] = {
        "take key 1 from shelf 1",
        "walk to gable",
        "walk to nook",
        "unlock chest 1 with key 1",
        "put key 1 on chest 1",
        "take jar 1 from chest 1",
        "walk to gable",
        "put jar 1 on sill 1",
        "walk to loft",
        "take broom 1 from shelf 2",
        "sweep",
        "walk to gable",
    };
    struct game *g = attic(NULL);
    progress_of(g, 0, 2);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        step(g, commands[i]);
        CHECK(game_was_admissible(g));
        CHECK(!game_won(g));
    }
    progress_of(g, 1, 2);
    CHECK_TEXT(step(g, "sweep"), "Dust flies.");
    CHECK(game_won(g));
    progress_of(g, 2, 2);
    CHECK_TEXT(step(g, "bow"), "You bow.");
    CHECK(game_won(g));
    game_close(g);
}

static void again(void)
{
    struct game *g = attic(NULL);
    struct buf before = { 0 }, after = { 0 };
    buf_add_text(&before, game_observation(g, NULL));
    list(g, &before);
    play_until_nook(g);
    CHECK(game_reset(g, &fault));
    buf_add_text(&after, game_observation(g, NULL));
    list(g, &after);
    CHECK_TEXT(buf_text(&after), buf_text(&before));
    CHECK_INT(game_steps(g), 0);
    buf_free(&before);
    buf_free(&after);
    game_close(g);
}

static void clones(void)
{
    struct game *g = attic(NULL);
    play_until_nook(g);
    struct game *c = game_clone(g);
    CHECK_TEXT(game_observation(c, NULL), game_observation(g, NULL));
    CHECK_INT(game_steps(c), 3);
    CHECK(game_was_admissible(c));
    step(c, "unlock chest 1 with key 1");
    CHECK_TEXT(step(g, "look"), "You are in the nook. There is chest 1 (locked). ");
    game_close(g);
    CHECK_TEXT(step(c, "look"),
               "You are in the nook. There is chest 1 (unlocked) with a jar 2, and a jar "
               "1. ");
    check_commands(c, "bow|look|put key 1 on chest 1|walk to gable|walk up to sill 1");
    game_close(c);
}

static void sharing(void)
{
    struct game_shared *s = game_shared_new();
    struct game *a = attic(s), *b = attic(s);
    CHECK_INT(game_shared_count(s), 3);
    step(a, "take key 1 from shelf 1");
    CHECK_TEXT(step(b, "take key 1 from shelf 1"), "You take key 1.");
    game_close(a);
    game_shared_free(s);
    CHECK_TEXT(step(b, "put key 1 on shelf 2"), "shelf 2 now holds broom 1");
    game_close(b);
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
    struct game *g = game_open(file.ptr, file.len, "made.json", NULL, &fault);
    buf_free(&file);
    return g;
}

#define DOMAIN(text)  "(define (domain d) " text ")"
#define PROBLEM(text) "(define (problem p) (:domain d) " text ")"
#define RULES(json)   "grammar :: \"\"\"{" json "}\"\"\"; "
#define ACT(name, template)                                                              \
    "action " name " { template :: \"" template "\"; feedback :: \"done\"; } "

static void file_refusals(void)
{
    struct err e = { 0 };
    CHECK(!game_open("[", 1, "made.json", NULL, &e));
    CHECK_INT(e.kind, ERR_DATA);
    CHECK(strncmp(e.message, "made.json: not JSON: line 1", 27) == 0);
    CHECK(!game_open("[]", 2, "made.json", NULL, &e));
    CHECK_TEXT(e.message, "made.json: the file has no text \"pddl_domain\"");
    char *large = mem_new(3 << 20);
    CHECK(!game_open(large, 3 << 20, "made.json", NULL, &e));
    CHECK_TEXT(e.message, "made.json: a game file has at most 2097152 bytes");
    CHECK_INT(e.kind, ERR_LIMIT);
    mem_free(large);
}

/* Facts of exactly the declared types come first, then those of sub-types, breadth
 * first; within each by the ids. */
static void answer_order(void)
{
    struct game *g = make(
        DOMAIN("(:types cup - thing mug - cup box - thing thing) (:predicates (on ?x))"),
        RULES("\"intro\": [{\"rhs\": \"[{x.id | on(x:thing)}]\"}], "
              "\"list_empty\": [{\"rhs\": \"-\"}], "
              "\"list_separator\": [{\"rhs\": \", \"}], "
              "\"list_last_separator\": [{\"rhs\": \" / \"}]"),
        PROBLEM("(:objects a - mug b - box c - cup d - thing e - cup f - object g - "
                "thing) (:init (on a) (on b) (on c) (on d) (on e) (on f) (on g)) "
                "(:goal (on a))"));
    CHECK_TEXT(g ? game_observation(g, NULL) : fault.message, "d, g, c, e, b/ a");
    CHECK(g && game_won(g));
    progress_of(g, 1, 1);
    game_close(g);
}

static const char *intro(const char *rules)
{
    static char text[1024];
    struct game *g =
        make(DOMAIN("(:types cup) (:predicates (on ?x) (by ?x ?y)) (:constants c_bar_1 - "
                    "cup)"),
             rules,
             PROBLEM("(:objects a - cup b - cup lost - cup) "
                     "(:init (on a) (on b) (by a b) (by b c_bar_1)) (:goal (on a))"));
    snprintf(text, sizeof text, "%s", g ? game_observation(g, NULL) : fault.message);
    game_close(g);
    return text;
}

#define INTRO(rhs) RULES("\"intro\": [{\"rhs\": \"" rhs "\"}]")

static void expressions(void)
{
    CHECK_TEXT(intro(INTRO("{x.id + '=' + x.name | on(x:cup)}")), "a=a b=b ");
    CHECK_TEXT(intro(INTRO("{x.type + x.definite + x.indefinite | on(x:cup)}")),
               "cupthea"
               "cupthea");
    CHECK_TEXT(intro(INTRO("{'' or x.id | on(x:cup)}")), "ab");
    CHECK_TEXT(intro(INTRO("{x.id or 'never' | on(x:cup)}!")), "ab!");
    CHECK_TEXT(intro(INTRO("{y | by(x:cup, y:cup)}")), "b c 1");
    CHECK_TEXT(intro(INTRO("{z}")),
               "made.json, grammar: nothing is bound to the variable: z");
}

/* A new placeholder never takes an object that another one has. */
static void placeholders(void)
{
    CHECK_TEXT(intro(INTRO("{x.id + y.id + ' ' | on(x:cup) & on(y:cup)}")), "ab ba ");
    CHECK_TEXT(intro(INTRO("{x.id + y.id + z.id | by(x:cup, y:cup) & by(y:cup, z:cup)}")),
               "abc_bar_1");
    CHECK_TEXT(intro(INTRO("{x.id | on(x:cup) & by(x:cup, x:cup)}none")), "none");
    CHECK_TEXT(intro(INTRO("{x.id | under(x:cup)}{x.id | on(x:dish)}{x.id | by(x:cup)}"
                           "none")),
               "none");
}

static void rules(void)
{
    CHECK_TEXT(intro(INTRO("#missing#")),
               "made.json, grammar: there is no rule: missing");
    CHECK_TEXT(
        intro(RULES("\"intro\": [{\"rhs\": \"a\", \"condition\": \"under(x:cup)\"}]")),
        "made.json, grammar: no alternative applies of the rule: intro");
    CHECK_TEXT(intro(RULES("\"intro\": [{\"rhs\": \"#intro#\"}]")),
               "made.json, grammar: rules refer to each other too deep: intro");
    CHECK_INT(fault.kind, ERR_LIMIT);
    CHECK_TEXT(
        intro(RULES("\"intro\": [{\"rhs\": \"a\", \"condition\": \"by(x:cup, y:cup) & "
                    "by(y:cup, x:cup)\"}, {\"rhs\": \"b\"}]")),
        "b");
    CHECK_TEXT(intro(""), "made.json, grammar: there is no rule: intro");
    CHECK_TEXT(intro(INTRO("[{x.id | on(x:cup)}]")),
               "made.json, grammar: there is no rule: list_last_separator");
}

static void text_limits(void)
{
    struct buf rules = { 0 };
    buf_add_text(&rules, RULES("\"x0\": [{\"rhs\": \"0123456789\"}]"));
    for (int i = 1; i < 40; i++)
        buf_add_format(&rules,
                       "grammar :: \"\"\"{\"x%d\": [{\"rhs\": \"#x%d##x%d#\"}]}\"\"\"; ",
                       i, i - 1, i - 1);
    buf_add_text(&rules, RULES("\"intro\": [{\"rhs\": \"#x39#\"}]"));
    CHECK_TEXT(intro(buf_text(&rules)), "made.json, grammar: a text is too long");
    CHECK_INT(fault.kind, ERR_LIMIT);
    buf_clear(&rules);
    buf_add_text(&rules, RULES("\"x0\": [{\"rhs\": \"\"}]"));
    for (int i = 1; i < 40; i++)
        buf_add_format(&rules,
                       "grammar :: \"\"\"{\"x%d\": [{\"rhs\": \"#x%d##x%d#\"}]}\"\"\"; ",
                       i, i - 1, i - 1);
    buf_add_text(&rules, RULES("\"intro\": [{\"rhs\": \"#x39#\"}]"));
    CHECK_TEXT(intro(buf_text(&rules)), "made.json, grammar: a text takes too much work");
    buf_free(&rules);
}

/* An object that no fact is about has no name; only its id can be said. */
static void nameless(void)
{
    static const char domain[] = DOMAIN("(:predicates (on ?x) (r)) (:action see "
                                        ":parameters (?x) :effect (on ?x))");
    static const char problem[] =
        PROBLEM("(:objects a b_bar_2 b_bar_1) (:init (on b_bar_1)) "
                "(:goal (r))");
    struct game *g =
        make(domain, INTRO("go") ACT("see", "see {x.name or x.id}"), problem);
    CHECK_TEXT(fault.message, "");
    check_commands(g, "see a|see b 1|see b_bar_2");
    game_close(g);
    CHECK(!make(domain, INTRO("go") ACT("see", "see {x}"), problem));
    CHECK_TEXT(fault.message, "made.json, grammar: an object has no name in: x");
    CHECK(
        !make(domain, INTRO("go") ACT("see", "see {'the ' + x.name or x.id}"), problem));
    CHECK_TEXT(fault.message, "made.json, grammar: an object has no name in: 'the ' + "
                              "x.name or x.id");
}

/* A removal of what the action adds, and an addition of what it requires, are none. */
static void no_change(void)
{
    struct game *g = make(
        DOMAIN("(:predicates (p) (q) (s)) (:action keep :precondition (p) :effect (p)) "
               "(:action both :effect (and (q) (not (q)))) "
               "(:action undo :precondition (not (s)) :effect (not (s))) "
               "(:action mend :precondition (p) :effect (when (q) (s)))"),
        INTRO("go") ACT("keep", "keep") ACT("both", "both") ACT("undo", "undo")
            ACT("mend", "mend"),
        PROBLEM("(:init (p)) (:goal (and (q) (s)))"));
    CHECK_TEXT(fault.message, "");
    check_commands(g, "both|mend");
    step(g, "mend");
    progress_of(g, 0, 2);
    step(g, "both");
    progress_of(g, 1, 2);
    step(g, "mend");
    CHECK(game_won(g));
    game_close(g);
}

static void forall_effects(void)
{
    struct game *g = make(
        DOMAIN("(:types cup dish - object) (:predicates (full ?x) (old ?x)) "
               "(:action pour :effect (forall (?x - cup) (full ?x))) "
               "(:action swap :effect (forall (?x) (and (when (full ?x) (not (full ?x))) "
               "(when (not (full ?x)) (full ?x)))))"),
        INTRO("go") ACT("pour", "pour") ACT("swap", "swap"),
        PROBLEM(
            "(:objects a b - cup c - dish) (:init) "
            "(:goal (forall (?x) (imply (full ?x) (exists (?y - dish) (= ?x ?y)))))"));
    CHECK_TEXT(fault.message, "");
    CHECK(game_won(g));
    step(g, "pour");
    CHECK(!game_won(g));
    progress_of(g, 0, 1);
    step(g, "swap");
    CHECK(game_won(g));
    game_close(g);
}

/* A name that nobody declared stands for nothing, but does not spoil the game. */
static void undeclared_constant(void)
{
    struct game *g =
        make(DOMAIN("(:predicates (p ?x) (done)) "
                    "(:action a :precondition (p nobody) :effect (done)) "
                    "(:action b :precondition (not (p nobody)) :effect (done)) "
                    "(:action c :parameters (?x) :precondition (p ?x) "
                    ":effect (and (p nobody) (done)))"),
             INTRO("go") ACT("a", "a") ACT("b", "b") ACT("c", "c"),
             PROBLEM("(:objects x) (:init (p x)) (:goal (done))"));
    CHECK_TEXT(fault.message, "");
    check_commands(g, "b|c");
    step(g, "c");
    CHECK(game_won(g));
    game_close(g);
}

static void equal_texts(void)
{
    struct game *g = make(DOMAIN("(:predicates (p ?x)) (:action go :parameters (?x) "
                                 ":effect (p ?x))"),
                          INTRO("go") "action go { template :: \"go\"; "
                                      "feedback :: \"{x.id}\"; }",
                          PROBLEM("(:objects b a c) (:init (p a) (p b)) (:goal (p a))"));
    check_commands(g, "go");
    CHECK_TEXT(step(g, "go"), "a");
    game_close(g);
    g = make(DOMAIN("(:predicates (p) (q)) (:action one :effect (p)) "
                    "(:action two :effect (q))"),
             INTRO("go") ACT("two", "go") ACT("one", "go"),
             PROBLEM("(:init) (:goal (p))"));
    check_commands(g, "go");
    step(g, "go");
    CHECK(game_won(g));
    game_close(g);
}

/* Four variables over a thousand objects would be searched for hours. */
static void too_much_work(void)
{
    struct buf problem = { 0 };
    buf_add_text(&problem, "(define (problem p) (:domain d) (:init (p o1 o2)) "
                           "(:goal (r)) (:objects");
    for (int i = 0; i < 1000; i++)
        buf_add_format(&problem, " o%d", i);
    buf_add_text(&problem, "))");
    CHECK(
        !make(DOMAIN("(:predicates (p ?x ?y) (r)) (:action a :parameters (?a ?b ?c ?d ?e "
                     "?f) :precondition (and (p ?e ?f) (not (= ?d ?d))) "
                     ":effect (r))"),
              INTRO("go") ACT("a", "a"), buf_text(&problem)));
    CHECK_TEXT(fault.message, "made.json: the game takes too much work");
    CHECK_INT(fault.kind, ERR_LIMIT);
    buf_free(&problem);
}

static void too_many_commands(void)
{
    struct buf problem = { 0 };
    buf_add_text(&problem,
                 "(define (problem p) (:domain d) (:init) (:goal (and)) (:objects");
    for (int i = 0; i < 257; i++)
        buf_add_format(&problem, " o%d", i);
    buf_add_text(&problem, "))");
    CHECK(!make(DOMAIN("(:predicates (p ?x ?y)) (:action a :parameters (?x ?y) "
                       ":effect (p ?x ?y))"),
                INTRO("go") ACT("a", "a"), buf_text(&problem)));
    CHECK_TEXT(fault.message, "made.json: more than 65536 commands are possible");
    buf_free(&problem);
}

/* Each part is named by its key in the file. */
static void faulty_parts(void)
{
    CHECK(!make("(define)", "", ""));
    CHECK_TEXT(fault.message,
               "made.json, pddl_domain, line 1: (define (domain NAME) ...) is "
               "expected");
    CHECK(!make(DOMAIN(""), "x", ""));
    CHECK_TEXT(fault.message,
               "made.json, grammar, line 1: grammar or action is expected");
    CHECK(!make(DOMAIN(""), INTRO("go"), "(define)"));
    CHECK_TEXT(fault.message, "made.json, pddl_problem, line 1: the (problem NAME) is "
                              "missing");
}

static void small_games(void)
{
    struct game *g = attic(NULL);
    CHECK(game_own_bytes(g) > 1000);
    CHECK(game_own_bytes(g) < 20000);
    CHECK(game_shared_bytes(g) > 10000);
    CHECK(game_own_bytes(g) + game_shared_bytes(g) < 200000);
    game_close(g);
}

/* A query whose types stand for too many combinations is refused, not searched. */
static void too_many_signatures(void)
{
    struct buf domain = { 0 };
    buf_add_text(&domain, "(define (domain d) (:predicates (by ?x ?y)) (:types");
    for (int i = 0; i < 40; i++)
        buf_add_format(&domain, " t%d", i);
    buf_add_text(&domain, "))");
    CHECK(!make(buf_text(&domain), INTRO("{x.id | by(x:object, y:object)}"),
                PROBLEM("(:init) (:goal (and))")));
    CHECK_TEXT(fault.message,
               "made.json, grammar: by stands for too many combinations of "
               "types");
    buf_free(&domain);
}

/* After a fault a game can be reset, and stepping on does no harm. */
static void after_a_fault(void)
{
    struct game *g = make(
        DOMAIN("(:predicates (p)) (:action a :effect (p)) (:action b :precondition (p) "
               ":effect (not (p)))"),
        INTRO("go") "action a { template :: \"a\"; feedback :: \"#none#\"; } "
                    "action b { template :: \"#none#\"; feedback :: \"b\"; }",
        PROBLEM("(:init) (:goal (p))"));
    CHECK_TEXT(fault.message, "");
    CHECK_TEXT(step(g, "a"), "made.json, grammar: there is no rule: none");
    step(g, "a");
    step(g, "b");
    CHECK(game_reset(g, &fault));
    check_commands(g, "a");
    game_close(g);
}

static void names_by_facts(void)
{
    struct game *g = make(
        DOMAIN("(:predicates (on ?x ?y))"),
        INTRO("{x.name + ',' + y.name + ' ' | on(x:object, y:object)}"),
        PROBLEM(
            "(:objects sink_bar_1_bar_sinkbasin sink_bar_1 sink_bar_2 cup sink_bar_3) "
            "(:init (on sink_bar_1 sink_bar_1_bar_sinkbasin) (on sink_bar_2 cup)) "
            "(:goal (on cup cup))"));
    CHECK_TEXT(g ? game_observation(g, NULL) : fault.message,
               "sink 2,sinkbasin 1 sink 1,cup  ");
    game_close(g);
}

int main(void)
{
    check_run("a game starts with its intro, its commands and no step", start);
    check_run("an unknown command changes nothing and counts as a step", unknown_command);
    check_run("blanks of any kind round a command do not count", trimmed);
    check_run("imply, exists, forall and or decide on the commands", conditions);
    check_run("texts follow conditional effects that did not happen", told_facts);
    check_run("what an action made false can be asked for", made_false);
    check_run("a command that would change nothing does not exist", void_commands);
    check_run("winning is seen, and play may go on", winning);
    check_run("a reset leads back to the start", again);
    check_run("a clone goes its own way", clones);
    check_run("games of one file share all but their state", sharing);
    check_run("files that are no games are refused", file_refusals);
    check_run("answers come by type, then by id", answer_order);
    check_run("expressions say names, ids, types and articles", expressions);
    check_run("different placeholders stand for different objects", placeholders);
    check_run("rules that cannot be told are named", rules);
    check_run("texts have a limit in length and in work", text_limits);
    check_run("an object without a name is said by its id or refused", nameless);
    check_run("effects that cancel each other leave no command", no_change);
    check_run("effects for all objects follow their conditions", forall_effects);
    check_run("an undeclared name in the domain makes conditions false",
              undeclared_constant);
    check_run("of two ways to one command the first counts", equal_texts);
    check_run("a game that would search for hours is refused", too_much_work);
    check_run("more than 65,536 commands are refused", too_many_commands);
    check_run("a fault in any part of the file is said with its place", faulty_parts);
    check_run("a game takes less than 200 KB", small_games);
    check_run("queries over too many types are refused", too_many_signatures);
    check_run("after a fault a game can be reset", after_a_fault);
    check_run("names are numbered downwards among objects with facts", names_by_facts);
    return check_end();
}
