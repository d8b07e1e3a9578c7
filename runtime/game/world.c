/* world.c - see world.h. */
#include "game/world.h"
#include "base/mem.h"
#include "text/json.h"
#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { FILE_MAX_BYTES = 2 << 20, FILE_MAX_DEPTH = 64, DOC_MAX_BYTES = 64 << 20 };

/* --- names for people -------------------------------------------------------------- */

/* The part of the id that its name starts with: before `_bar_`, with `basin` behind
 * it when the id has that word anywhere. 0 for an id without `_bar_`. */
static size_t base_of(const char *id, const char **suffix)
{
    const char *bar = strstr(id, "_bar_");
    *suffix = strstr(id, "basin") ? "basin" : "";
    return bar ? (size_t)(bar - id) : 0;
}

/* Ids of one base are not always neighbours ("mug_bar_.." and "mugholder_bar_.."), so
 * they are counted by base: one number up on the way in, one down on the way out. */
struct counter {
    struct names bases;
    uint32_t counts[FACT_MAX_OBJECTS];
    char *base;
};

static uint32_t count_base(struct counter *c, const char *id, size_t base_n,
                           const char *suffix, const char **base)
{
    size_t suffix_n = strlen(suffix);
    c->base = mem_grow(c->base, base_n + suffix_n + 1);
    memcpy(c->base, id, base_n);
    memcpy(c->base + base_n, suffix, suffix_n + 1);
    *base = c->base;
    return names_add(&c->bases, c->base, base_n + suffix_n);
}

static const char *name_object(struct arena *a, struct counter *c, const char *id)
{
    const char *suffix, *base = id;
    size_t n = base_of(id, &suffix);
    uint32_t number = 0;
    if (n)
        number = c->counts[count_base(c, id, n, suffix, &base)]--;
    size_t size = strlen(base) + sizeof " 4294967295";
    char *name = arena_new(a, size, 1);
    if (n)
        snprintf(name, size, "%s %u", base, number);
    else
        snprintf(name, size, "%s ", base);
    return name;
}

const char **world_names(struct arena *a, const struct object *objects, uint32_t count,
                         const bool *is_named)
{
    const char **names = arena_new(a, count, sizeof *names);
    struct counter *c = mem_new(sizeof *c);
    for (uint32_t i = 0; i < count; i++) {
        const char *suffix, *base;
        size_t n = base_of(objects[i].name, &suffix);
        if (is_named[i] && n)
            c->counts[count_base(c, objects[i].name, n, suffix, &base)]++;
    }
    for (uint32_t i = 0; i < count; i++)
        if (is_named[i])
            names[i] = name_object(a, c, objects[i].name);
    names_free(&c->bases);
    mem_free(c->base);
    mem_free(c);
    return names;
}

/* Only objects that some fact is about have a name. */
static void name_objects(struct world *w)
{
    struct problem *p = &w->problem;
    const struct vocabulary *v = &w->grammar->domain->vocabulary;
    bool *is_named = mem_new_array(p->object_count, sizeof *is_named);
    for (uint32_t i = 0; i < p->facts.count; i++) {
        uint64_t key = p->facts.keys[i];
        for (unsigned j = 0; j < v->arities[fact_predicate(key)]; j++)
            is_named[fact_object(key, j)] = true;
    }
    w->names = world_names(&p->arena, p->objects, p->object_count, is_named);
    mem_free(is_named);
}

/* --- types ------------------------------------------------------------------------ */

static bool is_below(const struct vocabulary *v, uint16_t type, uint16_t wanted)
{
    while (type != wanted && type)
        type = v->parents[type];
    return type == wanted;
}

static void list_members(struct world *w, uint16_t type)
{
    struct problem *p = &w->problem;
    const struct vocabulary *v = &w->grammar->domain->vocabulary;
    uint64_t *bits = arena_new(&p->arena, (p->object_count + 63) / 64, sizeof *bits);
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->object_count; i++)
        count += is_below(v, p->objects[i].type, type);
    uint16_t *objects = arena_new(&p->arena, count, sizeof *objects);
    count = 0;
    for (uint32_t i = 0; i < p->object_count; i++) {
        if (!is_below(v, p->objects[i].type, type))
            continue;
        objects[count++] = (uint16_t)i;
        bits[i / 64] |= (uint64_t)1 << i % 64;
    }
    w->members[type] =
        (struct members){ .objects = objects, .count = count, .bits = bits };
}

bool world_is_member(const struct world *w, uint16_t type, uint16_t object)
{
    return type != LOGIC_NO_TYPE &&
           (w->members[type].bits[object / 64] >> object % 64 & 1);
}

/* --- making a world ---------------------------------------------------------------- */

static const uint16_t *find_constants(struct world *w, const struct names *names)
{
    uint16_t *found = arena_new(&w->problem.arena, names->count, sizeof *found);
    for (uint32_t i = 0; i < names->count; i++) {
        int object = problem_object(&w->problem, names_text(names, i, NULL));
        found[i] = object < 0 ? WORLD_NO_OBJECT : (uint16_t)object;
    }
    return found;
}

static void split_facts(struct world *w)
{
    const bool *is_changeable = w->grammar->domain->vocabulary.is_changeable;
    struct facts *all = &w->problem.facts;
    for (uint32_t i = 0; i < all->count; i++) {
        bool changes = is_changeable[fact_predicate(all->keys[i])];
        facts_push(changes ? &w->initial : &w->statics, all->keys[i]);
    }
    facts_free(all);
}

static void prepare(struct world *w)
{
    const struct domain *d = w->grammar->domain;
    uint32_t types = d->vocabulary.types.count;
    w->members = arena_new(&w->problem.arena, types, sizeof *w->members);
    for (uint32_t i = 0; i < types; i++)
        list_members(w, (uint16_t)i);
    w->constants = find_constants(w, &d->constants);
    w->goal_constants = find_constants(w, &w->problem.constants);
    name_objects(w);
    split_facts(w);
}

static void world_release(struct share *share)
{
    struct world *w = (struct world *)share;
    if (w->grammar)
        share_drop(&w->grammar->share);
    problem_free(&w->problem);
    facts_free(&w->statics);
    facts_free(&w->initial);
    mem_free(w);
}

/* --- the file --------------------------------------------------------------------- */

/* Texts of the file; they belong to the doc. */
struct parts {
    const struct value *domain, *grammar, *problem;
    const char *file;
    struct game_shared *shared;
    struct err *e;
};

static bool find_part(const struct parts *p, const struct value *file, const char *key,
                      const struct value **part)
{
    *part = value_get(file, key);
    return value_is(*part, VALUE_TEXT) ||
           err_set(p->e, ERR_DATA, "%s: the file has no text \"%s\"", p->file, key);
}

static bool find_parts(struct parts *p, struct value_doc *doc, const char *bytes,
                       size_t n)
{
    static const struct json_rules rules = { .allow_bom = true, .depth = FILE_MAX_DEPTH };
    if (n > FILE_MAX_BYTES)
        return err_set(p->e, ERR_LIMIT, "%s: a game file has at most %d bytes", p->file,
                       FILE_MAX_BYTES);
    struct err fault = { 0 };
    const struct value *file = json_read(doc, bytes, n, &rules, &fault);
    if (!file)
        return err_set(p->e, fault.kind == ERR_LIMIT ? ERR_LIMIT : ERR_DATA,
                       "%s: not JSON: %s", p->file, fault.message);
    return find_part(p, file, "pddl_domain", &p->domain) &&
           find_part(p, file, "grammar", &p->grammar) &&
           find_part(p, file, "pddl_problem", &p->problem);
}

static struct digest key_of(const struct grammar *g, const struct value *problem)
{
    struct digest_stream *s = digest_stream_new();
    digest_stream_add(s, &g->share.key, sizeof g->share.key);
    digest_stream_add(s, problem->text, problem->count);
    return digest_stream_final(s);
}

/* Takes over one use of the grammar. */
static struct world *make_world(const struct parts *p, struct grammar *g)
{
    struct digest key = key_of(g, p->problem);
    struct share *known = share_find(p->shared, &key, world_release);
    if (known) {
        share_drop(&g->share);
        return (struct world *)known;
    }
    struct world *w = mem_new(sizeof *w);
    w->grammar = g;
    if (!problem_read(&w->problem, g->domain, p->problem->text, p->problem->count,
                      p->file, p->e)) {
        world_release(&w->share);
        return NULL;
    }
    prepare(w);
    share_init(&w->share, p->shared, &key, world_release);
    return w;
}

static struct world *read_parts(const struct parts *p)
{
    assert(p->domain && p->grammar && p->problem);
    struct domain *d =
        domain_read(p->domain->text, p->domain->count, p->file, p->shared, p->e);
    if (!d)
        return NULL;
    struct grammar *g =
        grammar_read(p->grammar->text, p->grammar->count, d, p->file, p->shared, p->e);
    share_drop(&d->share);
    return g ? make_world(p, g) : NULL;
}

struct world *world_read(const char *bytes, size_t n, const char *file,
                         struct game_shared *s, struct err *e)
{
    struct parts parts = { .file = file, .shared = s, .e = e };
    struct value_doc doc = { .max = DOC_MAX_BYTES };
    struct world *w = NULL;
    if (find_parts(&parts, &doc, bytes, n))
        w = read_parts(&parts);
    value_doc_free(&doc);
    return w;
}

size_t world_size(const struct world *w)
{
    return sizeof *w + w->problem.arena.size_bytes + names_size(&w->problem.constants) +
           (w->statics.room + w->initial.room) * sizeof(uint64_t);
}
