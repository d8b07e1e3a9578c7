/* game.c - see game.h. */
#include "game/game.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "game/state.h"
#include <stdlib.h>
#include <string.h>

enum {
    OBSERVATION_MAX_BYTES = 256 << 10,
    TEXTS_MAX_BYTES = 4 << 20,
    COMMANDS_MAX = 65536
};

bool state_refuse_work(const struct game *g, struct err *e)
{
    return err_set(e, ERR_LIMIT, "%s: the game takes too much work", g->name);
}

void state_teller(struct game *g, struct teller *t, struct buf *out, long *work,
                  struct err *e)
{
    t->world = g->world;
    t->told = &g->told;
    t->file = g->name;
    t->answers = &g->answers;
    t->out = out;
    t->work = work;
    t->e = e;
    t->depth = 0;
    t->count = 0;
}

/* --- the commands that are possible --------------------------------------------------
 */

struct lister {
    struct game *g;
    struct teller teller;
    const struct action *action;
    const struct action_case *in;
    bool failed; /* a message is set */
};

static void keep_objects(struct game *g, const struct action *a, const struct scene *s)
{
    uint32_t need = g->object_count + a->parameter_count;
    if (need >= g->object_room) {
        g->object_room = need * 2 + 64;
        g->objects = mem_grow(g->objects, g->object_room * sizeof *g->objects);
    }
    for (uint32_t i = 0; i < a->parameter_count; i++)
        g->objects[g->object_count++] = s->slots[a->parameters[i].slot];
}

/* The text is added later: `texts` moves while it grows. */
static void keep_command(struct lister *l, uint32_t length, uint32_t objects)
{
    struct game *g = l->g;
    if (g->command_count == g->command_room) {
        g->command_room = g->command_room ? g->command_room * 2 : 64;
        g->commands = mem_grow(g->commands, g->command_room * sizeof *g->commands);
    }
    const struct domain *d = g->world->grammar->domain;
    g->commands[g->command_count++] =
        (struct command){ .length = length,
                          .action = (uint16_t)(l->action - d->actions),
                          .in = (uint16_t)(l->in - l->action->cases),
                          .objects = objects };
}

static bool tell_command(struct lister *l, uint32_t objects)
{
    struct game *g = l->g;
    const struct grammar *grammar = g->world->grammar;
    uint32_t number = (uint32_t)(l->action - grammar->domain->actions);
    size_t start = g->texts.len;
    if (g->command_count == COMMANDS_MAX)
        return err_set(l->teller.e, ERR_LIMIT, "%s: more than %d commands are possible",
                       g->name, COMMANDS_MAX);
    tell_bind(&l->teller, number, g->objects + objects);
    if (!tell_phrase(&l->teller, &grammar->spoken[number].action->template))
        return false;
    keep_command(l, (uint32_t)(g->texts.len - start), objects);
    return buf_add_char(&g->texts, '\0') ||
           err_set(l->teller.e, ERR_LIMIT, "%s: the commands are too long", g->name);
}

static bool list_command(void *arg, struct scene *s)
{
    struct lister *l = arg;
    struct game *g = l->g;
    if (l->in->may_be_void) {
        if (!effects_find(&g->changes, s, l->action, l->in))
            return false;
        if (g->changes.count == 0)
            return true;
    }
    uint32_t objects = g->object_count;
    keep_objects(g, l->action, s);
    l->failed = !tell_command(l, objects);
    return !l->failed;
}

static int compare_texts(const struct command *a, const struct command *b)
{
    size_t n = a->length < b->length ? a->length : b->length;
    int order = memcmp(a->text, b->text, n);
    return order ? order : (a->length > b->length) - (a->length < b->length);
}

/* Of several ways to one text the first in the order of the file is taken. */
static int compare_commands(const void *a, const void *b)
{
    const struct command *x = a, *y = b;
    int order = compare_texts(x, y);
    if (order)
        return order;
    if (x->action != y->action)
        return x->action < y->action ? -1 : 1;
    return x->objects < y->objects ? -1 : x->objects > y->objects;
}

static void sort_commands(struct game *g)
{
    const char *text = buf_text(&g->texts);
    for (uint32_t i = 0; i < g->command_count; i++) {
        g->commands[i].text = text;
        text += g->commands[i].length + 1;
    }
    if (!g->command_count)
        return;
    qsort(g->commands, g->command_count, sizeof *g->commands, compare_commands);
    uint32_t kept = 1;
    for (uint32_t i = 1; i < g->command_count; i++)
        if (compare_texts(&g->commands[i], &g->commands[kept - 1]) != 0)
            g->commands[kept++] = g->commands[i];
    g->command_count = kept;
}

static bool list_commands(struct game *g, long *work, struct err *e)
{
    struct lister l = { .g = g };
    struct scene s;
    const struct domain *d = g->world->grammar->domain;
    state_teller(g, &l.teller, &g->texts, work, e);
    g->command_count = g->object_count = 0;
    buf_clear(&g->texts);
    for (uint32_t i = 0; i < d->action_count; i++) {
        l.action = &d->actions[i];
        for (uint32_t j = 0; j < l.action->case_count; j++) {
            l.in = &l.action->cases[j];
            scene_init(&s, g->world, &g->now, &l.action->frame, work);
            if (!scene_search(&s, &l.in->plan, list_command, &l)) {
                g->command_count = 0;
                return !l.failed && state_refuse_work(g, e);
            }
        }
    }
    sort_commands(g);
    return true;
}

/* --- moving on -----------------------------------------------------------------------
 */

static bool refresh(struct game *g, long *work, struct err *e)
{
    struct scene s;
    scene_init_goal(&s, g->world, &g->now, work);
    g->is_won = scene_holds(&s, g->world->problem.goal);
    return scene_is_tired(&s) ? state_refuse_work(g, e) : list_commands(g, work, e);
}

bool game_reset(struct game *g, struct err *e)
{
    long work = STATE_MAX_WORK;
    struct teller t;
    facts_copy(&g->now, &g->world->initial);
    facts_copy(&g->told, &g->world->initial);
    g->steps = 0;
    g->was_admissible = false;
    buf_clear(&g->observation);
    state_teller(g, &t, &g->observation, &work, e);
    return tell_rule(&t, g->world->grammar->intro) && refresh(g, &work, e);
}

/* Removals come first: what is both removed and added is there in the end. */
static bool change_now(struct game *g)
{
    const struct changes *c = &g->changes;
    bool ok = true;
    for (uint32_t i = 0; i < c->count; i++)
        if (c->list[i].happens && c->list[i].is_removal)
            facts_remove(&g->now, c->list[i].key);
    for (uint32_t i = 0; i < c->count; i++)
        if (c->list[i].happens && !c->list[i].is_removal)
            ok = facts_add(&g->now, c->list[i].key) && ok;
    return ok;
}

/* What is told follows every effect in its order, whether its `when` holds or not. */
static bool change_told(struct game *g)
{
    const struct changes *c = &g->changes;
    uint64_t flag = fact_key(WORLD_NOT, NULL, 0);
    bool ok = true;
    for (uint32_t i = 0; i < c->count; i++) {
        uint64_t key = c->list[i].key;
        bool is_removal = c->list[i].is_removal;
        facts_remove(&g->told, is_removal ? key : key | flag);
        ok = facts_add(&g->told, is_removal ? key | flag : key) && ok;
    }
    return ok;
}

static bool perform(struct game *g, const struct command *c, long *work, struct err *e)
{
    const struct action *a = &g->world->grammar->domain->actions[c->action];
    struct scene s;
    scene_init(&s, g->world, &g->now, &a->frame, work);
    for (uint32_t i = 0; i < a->parameter_count; i++)
        s.slots[a->parameters[i].slot] = g->objects[c->objects + i];
    if (!effects_find(&g->changes, &s, a, &a->cases[c->in]))
        return state_refuse_work(g, e);
    if (!change_now(g) || !change_told(g))
        return err_set(e, ERR_LIMIT, "%s: more than %d facts", g->name, FACT_MAX_COUNT);
    struct teller t;
    state_teller(g, &t, &g->observation, work, e);
    tell_bind(&t, c->action, g->objects + c->objects);
    return tell_phrase(&t, &g->world->grammar->spoken[c->action].action->feedback) &&
           refresh(g, work, e);
}

static bool is_blank(uint32_t code)
{
    return code == ' ' || (code >= '\t' && code <= '\r') ||
           (code >= 0x1c && code <= 0x1f) || code == 0x85 || code == 0xa0 ||
           code == 0x1680 || (code >= 0x2000 && code <= 0x200a) || code == 0x2028 ||
           code == 0x2029 || code == 0x202f || code == 0x205f || code == 0x3000;
}

const char *state_trim(const char *text, size_t *n)
{
    size_t start = 0, end = 0;
    bool is_start = true;
    for (size_t i = 0; i < *n;) {
        uint32_t code = 0;
        size_t length = utf8_decode(text + i, *n - i, &code);
        if (!is_blank(code)) {
            start = is_start ? i : start;
            is_start = false;
            end = i + length;
        }
        i += length;
    }
    *n = end - start;
    return text + start;
}

static int find_command(const void *wanted, const void *command)
{
    return compare_texts(wanted, command);
}

bool game_step(struct game *g, const char *command, size_t n, struct err *e)
{
    long work = STATE_MAX_WORK;
    const struct command *found = NULL;
    const char *text = state_trim(command, &n);
    struct command wanted = { .text = text, .length = (uint32_t)n };
    g->steps++;
    if (n <= TEXTS_MAX_BYTES && g->command_count)
        found =
            bsearch(&wanted, g->commands, g->command_count, sizeof wanted, find_command);
    buf_clear(&g->observation);
    g->was_admissible = found != NULL;
    if (found)
        return perform(g, found, &work, e);
    return buf_add_text(&g->observation, "Nothing happens.");
}

/* --- opening and closing ------------------------------------------------------------ */

static struct game *game_new(struct world *w, const char *name)
{
    struct game *g = mem_new(sizeof *g);
    g->world = w;
    g->name = mem_copy(name, strlen(name));
    g->observation.max = OBSERVATION_MAX_BYTES;
    g->texts.max = TEXTS_MAX_BYTES;
    return g;
}

struct game *game_open(const char *bytes, size_t n, const char *name,
                       struct game_shared *shared, struct err *e)
{
    struct world *w = world_read(bytes, n, name, shared, e);
    if (!w)
        return NULL;
    struct game *g = game_new(w, name);
    if (game_reset(g, e))
        return g;
    game_close(g);
    return NULL;
}

struct game *game_clone(const struct game *g)
{
    share_use(&g->world->share);
    struct game *c = game_new(g->world, g->name);
    facts_copy(&c->now, &g->now);
    facts_copy(&c->told, &g->told);
    buf_add(&c->observation, buf_text(&g->observation), g->observation.len);
    buf_add(&c->texts, buf_text(&g->texts), g->texts.len);
    c->command_count = c->command_room = g->command_count;
    c->commands = mem_new_array(g->command_count, sizeof *c->commands);
    for (uint32_t i = 0; i < g->command_count; i++) {
        c->commands[i] = g->commands[i];
        c->commands[i].text = c->texts.ptr + (g->commands[i].text - g->texts.ptr);
    }
    c->object_count = c->object_room = g->object_count;
    c->objects = mem_new_array(g->object_count, sizeof *c->objects);
    if (g->object_count)
        memcpy(c->objects, g->objects, g->object_count * sizeof *c->objects);
    c->steps = g->steps;
    c->is_won = g->is_won;
    c->was_admissible = g->was_admissible;
    return c;
}

void game_close(struct game *g)
{
    if (!g)
        return;
    share_drop(&g->world->share);
    mem_free(g->name);
    facts_free(&g->now);
    facts_free(&g->told);
    buf_free(&g->observation);
    mem_free(g->commands);
    buf_free(&g->texts);
    mem_free(g->objects);
    answers_free(&g->answers);
    changes_free(&g->changes);
    mem_free(g);
}

/* --- looking ---------------------------------------------------------------------------
 */

const char *game_observation(const struct game *g, size_t *n)
{
    if (n)
        *n = g->observation.len;
    return buf_text(&g->observation);
}

bool game_was_admissible(const struct game *g)
{
    return g->was_admissible;
}

size_t game_command_count(const struct game *g)
{
    return g->command_count;
}

const char *game_command(const struct game *g, size_t index, size_t *n)
{
    if (n)
        *n = g->commands[index].length;
    return g->commands[index].text;
}

bool game_won(const struct game *g)
{
    return g->is_won;
}

size_t game_steps(const struct game *g)
{
    return g->steps;
}

size_t game_own_bytes(const struct game *g)
{
    return sizeof *g + strlen(g->name) + 1 +
           (g->now.room + g->told.room) * sizeof(uint64_t) + g->observation.cap +
           g->texts.cap + g->command_room * sizeof *g->commands +
           g->object_room * sizeof *g->objects +
           g->answers.room * sizeof *g->answers.list +
           g->changes.room * sizeof *g->changes.list;
}

size_t game_shared_bytes(const struct game *g)
{
    const struct grammar *grammar = g->world->grammar;
    return world_size(g->world) + grammar_size(grammar) + domain_size(grammar->domain);
}
