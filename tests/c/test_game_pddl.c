/* Reading PDDL: what is understood, and what is refused with which words. */
#include "base/buf.h"
#include "check.h"
#include "game/pddl.h"
#include <stdio.h>
#include <string.h>

#define PREDICATES    "(:predicates (p ?x) (q ?x ?y) (r))"
#define ACTION(text)  "(define (domain d) " PREDICATES " (:action a " text "))"
#define PROBLEM(text) "(define (problem x) (:domain d) " text ")"

static struct err fault;

static struct domain *domain(const char *text)
{
    fault = (struct err){ 0 };
    return domain_read(text, strlen(text), "room.json", NULL, &fault);
}

/* The message for a domain that must not be read. */
static const char *domain_fault(const char *text)
{
    struct domain *d = domain(text);
    if (!d)
        return fault.message;
    share_drop(&d->share);
    return "it was read";
}

static const char *problem_fault(const char *text)
{
    struct domain *d = domain("(define (domain d) (:types cup - object) " PREDICATES ")");
    struct problem p = { 0 };
    bool ok = problem_read(&p, d, text, strlen(text), "room.json", &fault);
    problem_free(&p);
    share_drop(&d->share);
    return ok ? "it was read" : fault.message;
}

#define DOMAIN(line, what)  "room.json, pddl_domain, line " #line ": " what
#define TROUBLE(line, what) "room.json, pddl_problem, line " #line ": " what

/* --- lists ----------------------------------------------------------------------------
 */

static void brackets(void)
{
    CHECK_TEXT(domain_fault(""), DOMAIN(1, "the text is empty"));
    CHECK_TEXT(domain_fault("; only a comment\n"), DOMAIN(2, "the text is empty"));
    CHECK_TEXT(domain_fault("\n(define (domain d)"),
               DOMAIN(2, "a closing bracket is missing at the end"));
    CHECK_TEXT(domain_fault("(define)\n)"),
               DOMAIN(2, "something follows the last bracket"));
    CHECK_TEXT(domain_fault("(define)\n; and\n x"),
               DOMAIN(3, "something follows the last bracket"));
    CHECK_TEXT(domain_fault(")"), DOMAIN(1, "a closing bracket too many"));
    CHECK_TEXT(domain_fault("define"), DOMAIN(1, "an opening bracket is expected"));
}

static void ascii_only(void)
{
    CHECK_TEXT(domain_fault("(define\n(domain caf\xc3\xa9))"),
               DOMAIN(2, "a character is not printable ASCII"));
    struct domain *d = domain("(define (domain d)) ; caf\xc3\xa9");
    CHECK(d != NULL);
    share_drop(&d->share);
}

static void deep(void)
{
    struct buf text = { 0 };
    for (int i = 0; i < 100000; i++)
        buf_add_char(&text, '(');
    CHECK_TEXT(domain_fault(buf_text(&text)), DOMAIN(1, "brackets are nested too deep"));
    buf_free(&text);
}

static void many_alternatives(void)
{
    struct buf text = { 0 };
    buf_add_text(&text, "(define (domain d) (:predicates (r))\n(:action a :effect (r) "
                        ":precondition (or");
    for (int i = 0; i <= PDDL_MAX_CASES; i++)
        buf_add_text(&text, " (r)");
    buf_add_text(&text, ")))");
    CHECK_TEXT(domain_fault(buf_text(&text)), DOMAIN(2, "more than 256 alternatives"));
    buf_free(&text);
}

static void long_text(void)
{
    struct buf text = { 0 };
    buf_add_text(&text, "(define");
    for (int i = 0; i < LIST_MAX_NODES; i++)
        buf_add_text(&text, " x");
    CHECK_TEXT(domain_fault(buf_text(&text)), DOMAIN(1, "the text is too long"));
    buf_free(&text);
}

/* --- domains ---------------------------------------------------------------------------
 */

static void case_and_blanks(void)
{
    struct domain *d = domain("(DEFINE(Domain D)(:Predicates(P?x?y)))");
    CHECK_TEXT(d->name, "d");
    CHECK_TEXT(names_text(&d->vocabulary.predicates, 0, NULL), "p");
    CHECK_INT(d->vocabulary.arities[0], 2);
    share_drop(&d->share);
}

static void verbatim_types(void)
{
    struct domain *d =
        domain("(define (domain d) (:types cup) (:predicates (p ?x))"
               "(:action a :parameters (?x - cup, ?y - cup) :effect (p ?x)))");
    CHECK_INT(d->actions[0].frame.types[0], LOGIC_NO_TYPE);
    CHECK_INT(d->actions[0].frame.types[1], 1);
    share_drop(&d->share);
}

static void untyped(void)
{
    struct domain *d = domain("(define (domain d) (:types a b - c c) (:predicates (p ?x))"
                              "(:action go :parameters (?x) :effect (p ?x)))");
    const struct vocabulary *v = &d->vocabulary;
    CHECK_TEXT(names_text(&v->types, 0, NULL), "object");
    CHECK_INT(v->parents[names_find(&v->types, "c", 1)], 0);
    CHECK_INT(v->parents[names_find(&v->types, "b", 1)], names_find(&v->types, "c", 1));
    CHECK_TEXT(d->actions[0].parameters[0].type, "object");
    share_drop(&d->share);
}

static void no_effect(void)
{
    struct domain *d =
        domain("(define (domain d) " PREDICATES
               "(:action idle :effect (increase (total-cost) 1))"
               "(:action empty :effect ())"
               "(:action none :precondition (r))"
               "(:action some :effect (and (r) (increase (total-cost) 5))))");
    CHECK_INT(d->action_count, 1);
    CHECK_TEXT(d->actions[0].name, "some");
    CHECK_INT(d->actions[0].effect_count, 1);
    share_drop(&d->share);
}

static void bad_head(void)
{
    CHECK_TEXT(domain_fault("(define)"),
               DOMAIN(1, "(define (domain NAME) ...) is expected"));
    CHECK_TEXT(domain_fault("(x (domain d))"),
               DOMAIN(1, "(define (domain NAME) ...) is expected"));
    CHECK_TEXT(domain_fault("(define (domain))"),
               DOMAIN(1, "(define (domain NAME) ...) is expected"));
    CHECK_TEXT(domain_fault("(define (domain (d)))"),
               DOMAIN(1, "(define (domain NAME) ...) is expected"));
}

static void bad_sections(void)
{
    CHECK_TEXT(domain_fault("(define (domain d)\n(:derived (p) (q)))"),
               DOMAIN(2, "the section :derived is not supported"));
    CHECK_TEXT(domain_fault("(define (domain d) x)"),
               DOMAIN(1, "the section x is not supported"));
    CHECK_TEXT(domain_fault("(define (domain d) (:types a)\n(:types b))"),
               DOMAIN(2, "there are two sections :types"));
}

static void bad_types(void)
{
    CHECK_TEXT(domain_fault("(define (domain d) (:types a\na))"),
               DOMAIN(2, "the type a is declared twice"));
    CHECK_TEXT(domain_fault("(define (domain d) (:types a - b))"),
               DOMAIN(1, "the type b is not declared"));
    CHECK_TEXT(domain_fault("(define (domain d) (:types a - b b - a))"),
               DOMAIN(1, "types are nested too deep, or in a circle"));
    CHECK_TEXT(domain_fault("(define (domain d) (:types a - (either b c)))"),
               DOMAIN(1, "(either ...) as a type is not supported"));
    CHECK_TEXT(domain_fault("(define (domain d) (:types a -))"),
               DOMAIN(1, "a type is missing behind the dash"));
    CHECK_TEXT(domain_fault("(define (domain d) (:types a object - a))"),
               DOMAIN(1, "object cannot be a sub-type"));
}

static void bad_predicates(void)
{
    CHECK_TEXT(domain_fault("(define (domain d) (:predicates (p)\n(p ?x)))"),
               DOMAIN(2, "the predicate p is declared twice"));
    CHECK_TEXT(domain_fault("(define (domain d) (:predicates (p ?a ?b ?c ?d ?e)))"),
               DOMAIN(1, "p has more than 4 arguments"));
    CHECK_TEXT(domain_fault("(define (domain d) (:predicates (= ?a ?b)))"),
               DOMAIN(1, "= cannot be declared as a predicate"));
    CHECK_TEXT(domain_fault("(define (domain d) (:predicates p))"),
               DOMAIN(1, "p cannot be declared as a predicate"));
    CHECK_TEXT(domain_fault("(define (domain d) (:predicates (p (?x))))"),
               DOMAIN(1, "a name is expected, not a list"));
}

static void bad_actions(void)
{
    CHECK_TEXT(domain_fault(ACTION(":duration 3")),
               DOMAIN(1, ":duration is not supported here"));
    CHECK_TEXT(domain_fault(ACTION(":effect (r) :effect (r)")),
               DOMAIN(1, ":effect is not supported here"));
    CHECK_TEXT(domain_fault(ACTION(":effect")), DOMAIN(1, "nothing follows :effect"));
    CHECK_TEXT(domain_fault("(define (domain d) (:action))"),
               DOMAIN(1, "the name of an action is missing"));
    CHECK_TEXT(domain_fault("(define (domain d) (:predicates (r)) (:action a :effect (r))"
                            "\n(:action a :effect (r)))"),
               DOMAIN(2, "the action a is declared twice"));
    CHECK_TEXT(domain_fault(ACTION(":parameters (x) :effect (r)")),
               DOMAIN(1, "x is not a variable"));
    CHECK_TEXT(domain_fault(ACTION(":parameters (?x ?x) :effect (r)")),
               DOMAIN(1, "the variable ?x is named twice"));
    CHECK_TEXT(domain_fault(ACTION(":parameters ?x :effect (r)")),
               DOMAIN(1, "a list of variables is expected"));
}

static void bad_conditions(void)
{
    CHECK_TEXT(domain_fault(ACTION(":precondition (s) :effect (r)")),
               DOMAIN(1, "the predicate s is not declared"));
    CHECK_TEXT(domain_fault(ACTION(":precondition (and (r)\n(q ?x)) :effect (r)")),
               DOMAIN(2, "(q ...) takes 2, not 1"));
    CHECK_TEXT(domain_fault(ACTION(":precondition (p ?x) :effect (r)")),
               DOMAIN(1, "the variable ?x is not declared"));
    CHECK_TEXT(domain_fault(ACTION(":precondition (not (r) (r)) :effect (r)")),
               DOMAIN(1, "(not ...) takes 1, not 2"));
    CHECK_TEXT(domain_fault(ACTION(":precondition (exists (?x) (r) (r)) :effect (r)")),
               DOMAIN(1, "(exists ...) takes 2, not 3"));
    CHECK_TEXT(domain_fault(ACTION(":precondition (imply (r)) :effect (r)")),
               DOMAIN(1, "(imply ...) takes 2, not 1"));
    CHECK_TEXT(domain_fault(ACTION(":precondition (= a) :effect (r)")),
               DOMAIN(1, "(= ...) takes 2, not 1"));
    CHECK_TEXT(domain_fault(ACTION(":precondition ((r)) :effect (r)")),
               DOMAIN(1, "a predicate is expected at ()"));
    CHECK_TEXT(domain_fault(ACTION(":precondition r :effect (r)")),
               DOMAIN(1, "a predicate is expected at r"));
    CHECK_TEXT(domain_fault(ACTION(":precondition (p (r)) :effect (r)")),
               DOMAIN(1, "a name is expected, not a list"));
    CHECK_TEXT(domain_fault(ACTION(":precondition (and (exists (?x) (p ?x)) (p ?x)) "
                                   ":effect (r)")),
               DOMAIN(1, "the variable ?x is not declared"));
}

static void bad_effects(void)
{
    CHECK_TEXT(domain_fault(ACTION(":effect (or (r) (r))")),
               DOMAIN(1, "the predicate or is not declared"));
    CHECK_TEXT(domain_fault(ACTION(":effect (increase (fuel) 1)")),
               DOMAIN(1, "only (total-cost) can be increased"));
    CHECK_TEXT(domain_fault(ACTION(":effect (when (r) (when (r) (r)))")),
               DOMAIN(1, "when inside when is not supported"));
    CHECK_TEXT(domain_fault(ACTION(":effect (when (r) (forall (?x) (p ?x)))")),
               DOMAIN(1, "forall inside when is not supported"));
    CHECK_TEXT(domain_fault(ACTION(":effect (not (and (r) (r)))")),
               DOMAIN(1, "the predicate and is not declared"));
}

/* The message for a domain with a piece that is there once too often. */
static const char *crowded(const char *before, const char *piece, int count,
                           const char *after)
{
    struct buf text = { 0 };
    static char message[ERR_MESSAGE_MAX];
    buf_add_text(&text, before);
    for (int i = 0; i < count; i++) {
        buf_add_text(&text, piece);
        buf_add_format(&text, "%d)", i);
    }
    buf_add_text(&text, after);
    snprintf(message, sizeof message, "%s", domain_fault(buf_text(&text)));
    buf_free(&text);
    return message;
}

static void crowds(void)
{
    CHECK_TEXT(crowded("(define (domain d) (:functions", "(x", 300, "))"), "it was read");
    CHECK_TEXT(crowded("(define (domain d) (:predicates", "(x", 1025, "))"),
               DOMAIN(1, "more than 1024 predicates"));
    CHECK_TEXT(crowded("(define (domain d)", "(:action x", 257, ")"),
               DOMAIN(1, "more than 256 actions"));
    CHECK_TEXT(crowded("(define (domain d) (:predicates (p ?x)) (:action a :effect (and",
                       "(p x", 257, ")))"),
               DOMAIN(1, "more than 256 effects"));
}

static void long_lists(void)
{
    struct buf types = { 0 }, parameters = { 0 };
    buf_add_text(&types, "(define (domain d) (:types");
    for (int i = 0; i < 256; i++)
        buf_add_format(&types, " t%d", i);
    buf_add_text(&types, "))");
    CHECK_TEXT(domain_fault(buf_text(&types)), DOMAIN(1, "more than 256 types"));
    buf_add_text(&parameters, "(define (domain d) (:action a :parameters (");
    for (int i = 0; i < 17; i++)
        buf_add_format(&parameters, " ?v%d", i);
    buf_add_text(&parameters, ")))");
    CHECK_TEXT(domain_fault(buf_text(&parameters)), DOMAIN(1, "more than 16 parameters"));
    buf_free(&types);
    buf_free(&parameters);
}

static void too_many_variables(void)
{
    struct buf text = { 0 };
    buf_add_text(&text, "(define (domain d) (:predicates (r)) (:action a :effect (r) "
                        ":precondition (exists (");
    for (int i = 0; i < 65; i++)
        buf_add_format(&text, " ?v%d", i);
    buf_add_text(&text, ") (r))))");
    CHECK_TEXT(domain_fault(buf_text(&text)), DOMAIN(1, "more than 64 variables"));
    buf_free(&text);
}

/* --- problems
 * --------------------------------------------------------------------------- */

static void objects_in_order(void)
{
    struct domain *d = domain("(define (domain d) (:constants m) (:predicates (p ?x)))");
    struct problem p = { 0 };
    const char *text = PROBLEM("(:objects Z a) (:init (p z) (p a) (p a) (not (p m)) "
                               "(= (total-cost) 0)) (:goal (p M))");
    CHECK(problem_read(&p, d, text, strlen(text), "x", &fault));
    CHECK_INT(p.object_count, 3);
    CHECK_TEXT(p.objects[0].name, "a");
    CHECK_TEXT(p.objects[1].name, "m");
    CHECK_TEXT(p.objects[2].name, "z");
    CHECK_INT(p.facts.count, 2);
    CHECK_INT(fact_object(p.facts.keys[1], 0), 2);
    problem_free(&p);
    share_drop(&d->share);
}

static void bad_problems(void)
{
    CHECK_TEXT(problem_fault("(x)"),
               TROUBLE(1, "(define (problem NAME) ...) is expected"));
    CHECK_TEXT(problem_fault(PROBLEM("(:init) (:goal (r)) (:plan)")),
               TROUBLE(1, "the section :plan is not supported"));
    CHECK_TEXT(problem_fault(PROBLEM("(:init) (:init) (:goal (r))")),
               TROUBLE(1, "there are two sections :init"));
    CHECK_TEXT(problem_fault(PROBLEM("(:init)")), TROUBLE(1, "the :goal is missing"));
    CHECK_TEXT(problem_fault(PROBLEM("(:goal (r))")), TROUBLE(1, "the :init is missing"));
    CHECK_TEXT(problem_fault("(define (problem x) (:init) (:goal (r)))"),
               TROUBLE(1, "the :domain is missing"));
    CHECK_TEXT(problem_fault("(define (problem x) (:domain e)\n(:init) (:goal (r)))"),
               TROUBLE(1, "the problem is for the domain e, not d"));
}

static void bad_objects(void)
{
    CHECK_TEXT(problem_fault(PROBLEM("(:objects a b\na) (:init) (:goal (r))")),
               TROUBLE(2, "the object a is declared twice"));
    CHECK_TEXT(problem_fault(PROBLEM("(:objects a - mug) (:init) (:goal (r))")),
               TROUBLE(1, "the type mug is not declared"));
}

static void bad_facts(void)
{
    CHECK_TEXT(problem_fault(PROBLEM("(:objects a) (:init (s a)) (:goal (r))")),
               TROUBLE(1, "the predicate s is not declared"));
    CHECK_TEXT(problem_fault(PROBLEM("(:objects a) (:init (p a a)) (:goal (r))")),
               TROUBLE(1, "(p ...) takes 1, not 2"));
    CHECK_TEXT(problem_fault(PROBLEM("(:objects a) (:init (p\nb)) (:goal (r))")),
               TROUBLE(2, "the object b is not declared"));
    CHECK_TEXT(problem_fault(PROBLEM("(:objects a) (:init (p (a))) (:goal (r))")),
               TROUBLE(1, "the object a is not declared"));
    CHECK_TEXT(problem_fault(PROBLEM("(:init (= a b)) (:goal (r))")),
               TROUBLE(1, "the predicate = is not declared"));
    CHECK_TEXT(problem_fault(PROBLEM("(:init x) (:goal (r))")),
               TROUBLE(1, "the predicate x is not declared"));
}

static void bad_goals(void)
{
    CHECK_TEXT(problem_fault(PROBLEM("(:init) (:goal)")),
               TROUBLE(1, "(:goal ...) takes 1, not 0"));
    CHECK_TEXT(problem_fault(PROBLEM("(:init) (:goal (p nobody))")),
               TROUBLE(1, "the goal names nobody, which is not declared"));
    CHECK_TEXT(problem_fault(PROBLEM("(:init) (:goal (p ?x))")),
               TROUBLE(1, "the variable ?x is not declared"));
}

static void too_many_objects(void)
{
    struct buf text = { 0 };
    buf_add_text(&text, "(define (problem x) (:domain d) (:init) (:goal (r)) (:objects");
    for (int i = 0; i <= FACT_MAX_OBJECTS; i++)
        buf_add_format(&text, " o%d", i);
    buf_add_text(&text, "))");
    CHECK_TEXT(problem_fault(buf_text(&text)), TROUBLE(1, "more than 4096 objects"));
    buf_free(&text);
}

static void shared_domain(void)
{
    static const char text[] = "(define (domain d))";
    struct game_shared *s = game_shared_new();
    struct domain *a = domain_read(text, strlen(text), "a", s, NULL);
    struct domain *b = domain_read(text, strlen(text), "b", s, NULL);
    CHECK(a == b);
    CHECK_INT(game_shared_count(s), 1);
    share_drop(&a->share);
    game_shared_free(s);
    CHECK_TEXT(b->name, "d");
    share_drop(&b->share);
}

int main(void)
{
    check_run("brackets that do not match are refused with their line", brackets);
    check_run("characters beyond ASCII stand in comments only", ascii_only);
    check_run("deep nesting is refused", deep);
    check_run("a text of too many words is refused", long_text);
    check_run("a precondition has at most 256 alternatives", many_alternatives);
    check_run("case, and blanks round brackets and variables, do not count",
              case_and_blanks);
    check_run("types are taken verbatim, and an unknown one has no members",
              verbatim_types);
    check_run("what has no type is an object", untyped);
    check_run("an action without effects does not exist", no_effect);
    check_run("a domain starts with define and its name", bad_head);
    check_run("unknown and double sections are refused", bad_sections);
    check_run("types that are double, unknown or in a circle are refused", bad_types);
    check_run("impossible predicates are refused", bad_predicates);
    check_run("actions with unknown or double parts are refused", bad_actions);
    check_run("conditions that make no sense are refused", bad_conditions);
    check_run("effects that make no sense are refused", bad_effects);
    check_run("too many predicates, actions or effects are refused", crowds);
    check_run("too many types or parameters are refused", long_lists);
    check_run("an action has at most 64 variables", too_many_variables);
    check_run("objects are numbered by name, facts are a set", objects_in_order);
    check_run("problems with missing, double or unknown sections are refused",
              bad_problems);
    check_run("objects that are double or of an unknown type are refused", bad_objects);
    check_run("facts about something undeclared are refused", bad_facts);
    check_run("goals about something undeclared are refused", bad_goals);
    check_run("a problem has at most 4096 objects", too_many_objects);
    check_run("equal domains are read once and outlive their cache's owner",
              shared_domain);
    return check_end();
}
