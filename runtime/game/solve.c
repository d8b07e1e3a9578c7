/* solve.c - the shortest way to the goal, see game.h.
 *
 * A* over the states of the task. A new state first gets its parent's estimate less
 * one, which is never too high; the dear estimate is made when it is its turn. */
#include "base/mem.h"
#include "game/cuts.h"
#include "game/task.h"
#include <string.h>

#define NO_NODE UINT32_MAX

enum { NODES_MAX = 100000000, STATES_MAX_WORDS = 64 << 20 };

struct node {
    uint32_t parent;
    uint32_t operator;
    uint32_t cost;     /* commands from the start */
    uint32_t estimate; /* commands to the goal, at least */
    bool is_estimated; /* `estimate` is its own, not its parent's */
    bool is_done;
};

struct entry {
    uint32_t node;
    uint32_t cost, estimate; /* the node's at that time */
    uint32_t number;         /* the newest has the highest */
};

struct solver {
    const struct task *task;
    struct cuts *cuts;
    size_t max_nodes;
    struct node *nodes;
    uint64_t *states; /* `task->words` for each node */
    uint32_t count, room;
    uint32_t *table; /* node + 1 by state, open addressing */
    uint32_t table_room;
    struct entry *heap;
    uint32_t heap_count, heap_room;
    uint32_t pushed;
    uint64_t *next; /* scratch: one state */
    long work;      /* what is left of it */
    const volatile sig_atomic_t *stop;
    bool is_full;
};

/* For each state allowed; a usual estimate costs ten times as much, but few are made. */
enum { WORK_A_NODE = 20000, WORK_BASE = 20000000 };

/* --- the queue ------------------------------------------------------------------------
 */

/* Cheapest first; of equals the one that is nearer to the goal, then the newest. */
static bool is_before(const struct entry *a, const struct entry *b)
{
    uint32_t x = a->cost + a->estimate, y = b->cost + b->estimate;
    if (x != y)
        return x < y;
    return a->estimate != b->estimate ? a->estimate < b->estimate : a->number > b->number;
}

static void sift_up(struct solver *s, uint32_t i)
{
    struct entry moved = s->heap[i];
    for (; i > 0 && is_before(&moved, &s->heap[(i - 1) / 2]); i = (i - 1) / 2)
        s->heap[i] = s->heap[(i - 1) / 2];
    s->heap[i] = moved;
}

static void sift_down(struct solver *s)
{
    struct entry moved = s->heap[0];
    uint32_t i = 0;
    for (uint32_t child = 1; child < s->heap_count; child = i * 2 + 1) {
        if (child + 1 < s->heap_count && is_before(&s->heap[child + 1], &s->heap[child]))
            child++;
        if (!is_before(&s->heap[child], &moved))
            break;
        s->heap[i] = s->heap[child];
        i = child;
    }
    s->heap[i] = moved;
}

static void enqueue(struct solver *s, uint32_t node)
{
    const struct node *n = &s->nodes[node];
    if (s->heap_count == s->heap_room) {
        s->heap_room = s->heap_room ? s->heap_room * 2 : 1024;
        s->heap = mem_grow(s->heap, s->heap_room * sizeof *s->heap);
    }
    s->heap[s->heap_count] = (struct entry){
        .node = node, .cost = n->cost, .estimate = n->estimate, .number = s->pushed++
    };
    sift_up(s, s->heap_count++);
}

static struct entry dequeue(struct solver *s)
{
    struct entry first = s->heap[0];
    s->heap[0] = s->heap[--s->heap_count];
    if (s->heap_count)
        sift_down(s);
    return first;
}

/* --- states seen -----------------------------------------------------------------------
 */

static uint64_t *state_of(const struct solver *s, uint32_t node)
{
    return s->states + (size_t)node * s->task->words;
}

static uint32_t *slot_of(const struct solver *s, const uint64_t *state)
{
    uint64_t hash = 0;
    for (uint32_t i = 0; i < s->task->words; i++) {
        hash = (hash ^ state[i]) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    uint32_t mask = s->table_room - 1;
    for (uint32_t i = (uint32_t)hash & mask;; i = (i + 1) & mask) {
        uint32_t *slot = &s->table[i];
        if (!*slot ||
            memcmp(state_of(s, *slot - 1), state, s->task->words * sizeof *state) == 0)
            return slot;
    }
}

static void grow(struct solver *s)
{
    s->room = s->room ? s->room * 2 : 1024;
    s->nodes = mem_grow(s->nodes, s->room * sizeof *s->nodes);
    s->states = mem_grow(s->states, (size_t)s->room * s->task->words * sizeof *s->states);
    mem_free(s->table);
    s->table_room = s->room * 2;
    s->table = mem_new_array(s->table_room, sizeof *s->table);
    for (uint32_t i = 0; i < s->count; i++)
        *slot_of(s, state_of(s, i)) = i + 1;
}

/* The node of a state, new or old. */
static uint32_t node_of(struct solver *s, const uint64_t *state)
{
    if (s->count == s->room)
        grow(s);
    uint32_t *slot = slot_of(s, state);
    if (*slot)
        return *slot - 1;
    memcpy(state_of(s, s->count), state, s->task->words * sizeof *state);
    s->nodes[s->count] =
        (struct node){ .parent = NO_NODE, .operator= NO_NODE, .cost = UINT32_MAX };
    *slot = s->count + 1;
    return s->count++;
}

/* --- searching -------------------------------------------------------------------------
 */

/* The state in `next` is reached from `parent` by the operator. */
static void discover(struct solver *s, uint32_t parent, uint32_t operator)
{
    uint32_t before = s->count;
    uint32_t node = node_of(s, s->next);
    struct node *n = &s->nodes[node], *from = &s->nodes[parent];
    if (n->cost <= from->cost + 1)
        return;
    if (node == before)
        n->estimate = from->estimate > 0 ? from->estimate - 1 : 0;
    n->parent = parent;
    n->operator= operator;
    n->cost = from->cost + 1;
    n->is_done = false;
    enqueue(s, node);
}

static void expand(struct solver *s, uint32_t node)
{
    const struct task *t = s->task;
    s->work -= t->operator_count;
    for (uint32_t i = 0; i < t->operator_count; i++) {
        if (!formula_holds(t->operators[i].precondition, state_of(s, node)))
            continue;
        s->is_full = s->count >= s->max_nodes ||
                     (size_t)s->count * s->task->words >= STATES_MAX_WORDS;
        if (s->is_full)
            return;
        task_apply(t, &t->operators[i], state_of(s, node), s->next);
        discover(s, node, i);
    }
}

/* Make the node's own estimate. False when it has to wait or leads nowhere. */
static bool estimate(struct solver *s, uint32_t node)
{
    struct node *n = &s->nodes[node];
    uint32_t found = cuts_estimate(s->cuts, state_of(s, node));
    n->is_estimated = true;
    if (found == CUTS_NEVER) {
        n->is_done = true;
        return false;
    }
    if (found <= n->estimate)
        return true;
    n->estimate = found;
    enqueue(s, node);
    return false;
}

static bool is_stopped(const struct solver *s)
{
    return s->stop && *s->stop;
}

static bool is_outdated(const struct solver *s, const struct entry *e)
{
    const struct node *n = &s->nodes[e->node];
    return n->is_done || n->cost != e->cost || n->estimate != e->estimate;
}

/* The node in which the goal holds, or NO_NODE. */
static uint32_t search(struct solver *s)
{
    uint32_t start = node_of(s, s->task->start);
    s->nodes[start].cost = 0;
    enqueue(s, start);
    while (s->heap_count && !s->is_full && s->work >= 0 && !is_stopped(s)) {
        struct entry e = dequeue(s);
        if (is_outdated(s, &e))
            continue;
        if (!s->nodes[e.node].is_estimated && !estimate(s, e.node))
            continue;
        if (formula_holds(s->task->goal, state_of(s, e.node)))
            return e.node;
        s->nodes[e.node].is_done = true;
        expand(s, e.node);
    }
    return NO_NODE;
}

static void solver_free(struct solver *s)
{
    cuts_free(s->cuts);
    mem_free(s->nodes);
    mem_free(s->states);
    mem_free(s->table);
    mem_free(s->heap);
    mem_free(s->next);
}

/* --- from operators to words
 * -------------------------------------------------------------- */

/* The command of the game that performs the operator, or NULL. */
static const struct command *find_command(const struct game *g, const struct operator* o)
{
    uint32_t n = g->world->grammar->domain->actions[o->action].parameter_count;
    for (uint32_t i = 0; i < g->command_count; i++) {
        const struct command *c = &g->commands[i];
        if (c->action == o->action &&
            (n == 0 ||
             memcmp(g->objects + c->objects, o->objects, n * sizeof *o->objects) == 0))
            return c;
    }
    return NULL;
}

/* The operators that lead to the node, first to last. */
static void trace(const struct solver *s, uint32_t node, uint32_t *operators)
{
    for (uint32_t i = s->nodes[node].cost; i > 0; i--) {
        operators[i - 1] = s->nodes[node].operator;
        node = s->nodes[node].parent;
    }
}

/* Play the operators on a copy of the game and write down the commands. */
static bool speak(struct game *copy, const struct solver *s, const uint32_t *operators,
                  uint32_t count, struct game_plan *plan, struct err *e)
{
    plan->commands = mem_new_array(count, sizeof(char *));
    for (uint32_t i = 0; i < count; i++) {
        const struct command *c = find_command(copy, &s->task->operators[operators[i]]);
        if (!c)
            return err_set(e, ERR_DATA, "%s: a needed action has no command of its own",
                           copy->name);
        char *text = mem_copy(c->text, c->length);
        plan->commands[plan->count++] = text;
        if (!game_step(copy, text, strlen(text), e))
            return false;
    }
    return game_won(copy) ||
           err_set(e, ERR_BUG, "%s: the solution does not lead to the goal", copy->name);
}

static bool finish(struct game *copy, const struct solver *s, uint32_t node,
                   struct game_plan *plan, struct err *e)
{
    if (node == NO_NODE && is_stopped(s))
        return err_set(e, ERR_LIMIT, "%s: the search was stopped", copy->name);
    if (node == NO_NODE && (s->is_full || s->work < 0))
        return err_set(e, ERR_LIMIT, "%s: no solution found within %zu states",
                       copy->name, s->max_nodes);
    if (node == NO_NODE)
        return err_set(e, ERR_DATA, "%s: no sequence of commands leads to the goal",
                       copy->name);
    uint32_t count = s->nodes[node].cost;
    uint32_t *operators = mem_new_array(count, sizeof *operators);
    trace(s, node, operators);
    bool ok = speak(copy, s, operators, count, plan, e);
    mem_free(operators);
    return ok;
}

static bool solve(struct game *copy, const struct task *t, size_t max_nodes,
                  const volatile sig_atomic_t *stop, struct game_plan *plan,
                  struct err *e)
{
    struct solver s = { .task = t, .max_nodes = max_nodes, .stop = stop };
    s.work = WORK_BASE + (long)max_nodes * WORK_A_NODE;
    s.cuts = cuts_new(t, &s.work);
    s.next = mem_new_array(t->words, sizeof *s.next);
    uint32_t node = search(&s);
    plan->nodes = s.count;
    bool ok = finish(copy, &s, node, plan, e);
    solver_free(&s);
    return ok;
}

bool game_solve(const struct game *g, size_t max_nodes, const volatile sig_atomic_t *stop,
                struct game_plan *plan, struct err *e)
{
    struct task task = { 0 };
    max_nodes = max_nodes < NODES_MAX ? max_nodes : NODES_MAX;
    struct game *copy = game_clone(g);
    bool ok = task_build(&task, copy, e) && solve(copy, &task, max_nodes, stop, plan, e);
    task_free(&task);
    game_close(copy);
    return ok;
}

void game_plan_free(struct game_plan *plan)
{
    for (size_t i = 0; i < plan->count; i++)
        mem_free(plan->commands[i]);
    mem_free(plan->commands);
    *plan = (struct game_plan){ 0 };
}
