/* pddl_problem.c - reading a problem, see pddl.h. */
#include "base/mem.h"
#include "game/pddl.h"
#include <stdlib.h>
#include <string.h>

struct problem_reader {
    struct compiler c;
    struct list_tree tree;
    const struct domain *d;
    struct problem *p;
    uint32_t name, domain, requirements, objects, init, goal, metric;
};

static const struct list_node *at(const struct problem_reader *r, uint32_t node)
{
    return &r->tree.nodes[node];
}

static uint32_t second(const struct problem_reader *r, uint32_t list)
{
    return at(r, at(r, list)->first)->next;
}

/* --- objects ---------------------------------------------------------------------- */

static bool add_object(void *arg, uint32_t entry, uint32_t type)
{
    struct problem_reader *r = arg;
    struct problem *p = r->p;
    const struct list_node *n = at(r, entry);
    uint16_t number = logic_type(&r->c, type);
    if (number == LOGIC_NO_TYPE)
        return logic_refuse(&r->c, type, "the type %.40s is not declared",
                            at(r, type)->word);
    if (p->object_count == FACT_MAX_OBJECTS)
        return logic_refuse(&r->c, entry, "more than %d objects", FACT_MAX_OBJECTS);
    p->objects[p->object_count++] = (struct object){
        .name = arena_copy(&p->arena, n->word, n->count), .type = number, .line = n->line
    };
    return true;
}

static int compare_objects(const void *a, const void *b)
{
    return strcmp(((const struct object *)a)->name, ((const struct object *)b)->name);
}

static bool read_objects(struct problem_reader *r)
{
    struct problem *p = r->p;
    const struct domain *d = r->d;
    uint32_t room = d->object_count + (r->objects ? at(r, r->objects)->count : 0);
    if (d->object_count > FACT_MAX_OBJECTS)
        return logic_refuse(&r->c, LIST_ROOT, "more than %d objects", FACT_MAX_OBJECTS);
    p->objects = arena_new(&p->arena, room, sizeof *p->objects);
    for (; p->object_count < d->object_count; p->object_count++) {
        const struct object *o = &d->objects[p->object_count];
        p->objects[p->object_count] = *o;
        p->objects[p->object_count].name =
            arena_copy(&p->arena, o->name, strlen(o->name));
    }
    if (r->objects && !logic_typed_list(&r->c, second(r, r->objects), add_object, r))
        return false;
    qsort(p->objects, p->object_count, sizeof *p->objects, compare_objects);
    for (uint32_t i = 1; i < p->object_count; i++)
        if (strcmp(p->objects[i - 1].name, p->objects[i].name) == 0)
            return place_refuse(r->c.at, p->objects[i].line, r->c.e,
                                "the object %.40s is declared twice", p->objects[i].name);
    return true;
}

int problem_object(const struct problem *p, const char *name)
{
    struct object wanted = { .name = name };
    const struct object *found = bsearch(&wanted, p->objects, p->object_count,
                                         sizeof *p->objects, compare_objects);
    return found ? (int)(found - p->objects) : -1;
}

/* --- facts ------------------------------------------------------------------------ */

static bool read_fact(struct problem_reader *r, uint32_t node)
{
    const struct vocabulary *v = &r->d->vocabulary;
    const char *head = list_head(&r->tree, node);
    uint32_t predicate = names_find(&v->predicates, head, strlen(head));
    if (!*head || predicate == NAMES_NONE)
        return logic_refuse(&r->c, node, "the predicate %.40s is not declared",
                            list_show(&r->tree, node));
    if (!logic_count(&r->c, node, v->arities[predicate]))
        return false;
    uint16_t objects[FACT_MAX_ARGS];
    unsigned count = 0;
    for (uint32_t i = second(r, node); i; i = at(r, i)->next) {
        int object = at(r, i)->word ? problem_object(r->p, at(r, i)->word) : -1;
        if (object < 0)
            return logic_refuse(&r->c, i, "the object %.40s is not declared",
                                list_show(&r->tree, i));
        objects[count++] = (uint16_t)object;
    }
    return facts_push(&r->p->facts, fact_key((uint16_t)predicate, objects, count)) ||
           logic_refuse(&r->c, node, "more than %d facts", FACT_MAX_COUNT);
}

/* `(= (f ...) number)` and `(not ...)` say nothing that a closed world needs. */
static bool is_silent(const struct problem_reader *r, uint32_t node)
{
    const char *head = list_head(&r->tree, node);
    if (strcmp(head, "not") == 0)
        return true;
    uint32_t first = strcmp(head, "=") == 0 ? second(r, node) : 0;
    return first && !at(r, first)->word;
}

static bool read_init(struct problem_reader *r)
{
    for (uint32_t i = second(r, r->init); i; i = at(r, i)->next)
        if (!is_silent(r, i) && !read_fact(r, i))
            return false;
    facts_sort(&r->p->facts);
    return true;
}

/* --- goal ------------------------------------------------------------------------- */

static bool read_goal(struct problem_reader *r)
{
    struct problem *p = r->p;
    if (!logic_count(&r->c, r->goal, 1))
        return false;
    p->goal = logic_condition(&r->c, second(r, r->goal), false);
    if (!p->goal)
        return false;
    for (uint32_t i = 0; i < p->constants.count; i++) {
        const char *name = names_text(&p->constants, i, NULL);
        if (problem_object(p, name) < 0)
            return logic_refuse(&r->c, r->goal,
                                "the goal names %.40s, which is not declared", name);
    }
    logic_plan_inside(&p->arena, &r->d->vocabulary, p->goal);
    return true;
}

/* --- the whole -------------------------------------------------------------------- */

static uint32_t *section_of(struct problem_reader *r, const char *head)
{
    return strcmp(head, "problem") == 0         ? &r->name
           : strcmp(head, ":domain") == 0       ? &r->domain
           : strcmp(head, ":requirements") == 0 ? &r->requirements
           : strcmp(head, ":objects") == 0      ? &r->objects
           : strcmp(head, ":init") == 0         ? &r->init
           : strcmp(head, ":goal") == 0         ? &r->goal
           : strcmp(head, ":metric") == 0       ? &r->metric
                                                : NULL;
}

static bool find_sections(struct problem_reader *r)
{
    if (!list_is(&r->tree, at(r, LIST_ROOT)->first, "define"))
        return logic_refuse(&r->c, LIST_ROOT, "(define (problem NAME) ...) is expected");
    for (uint32_t i = second(r, LIST_ROOT); i; i = at(r, i)->next) {
        const char *head = list_head(&r->tree, i);
        uint32_t *section = section_of(r, head);
        if (!section)
            return logic_refuse(&r->c, i, "the section %.40s is not supported",
                                list_show(&r->tree, i));
        if (*section)
            return logic_refuse(&r->c, i, "there are two sections %.40s", head);
        *section = i;
    }
    if (r->name && r->domain && r->init && r->goal)
        return true;
    return logic_refuse(&r->c, LIST_ROOT, "the %s is missing",
                        !r->name     ? "(problem NAME)"
                        : !r->domain ? ":domain"
                        : !r->init   ? ":init"
                                     : ":goal");
}

static bool check_domain(struct problem_reader *r)
{
    if (!logic_count(&r->c, r->domain, 1))
        return false;
    uint32_t name = second(r, r->domain);
    return list_is(&r->tree, name, r->d->name) ||
           logic_refuse(&r->c, r->domain,
                        "the problem is for the domain %.40s, not %.40s",
                        list_show(&r->tree, name), r->d->name);
}

bool problem_read(struct problem *p, const struct domain *d, const char *text, size_t n,
                  const char *file, struct err *e)
{
    struct place place = { .file = file, .part = "pddl_problem" };
    struct problem_reader r = { .d = d, .p = p };
    r.c = (struct compiler){ .tree = &r.tree,
                             .at = &place,
                             .e = e,
                             .arena = &p->arena,
                             .vocabulary = &d->vocabulary,
                             .constants = &p->constants,
                             .frame = &p->frame };
    bool ok = list_read(&r.tree, text, n, &place, e) && find_sections(&r) &&
              check_domain(&r) && read_objects(&r) && read_init(&r) && read_goal(&r);
    list_free(&r.tree);
    return ok;
}

void problem_free(struct problem *p)
{
    names_free(&p->constants);
    facts_free(&p->facts);
    arena_free(&p->arena);
    *p = (struct problem){ 0 };
}
