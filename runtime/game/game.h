/* game.h - playing a text game of the ALFWorld kind.
 *
 * A game is a world (see world.h, shared by all games of one file) and a state: the
 * facts that hold, the facts that its texts are told from, the commands that are
 * possible now. Games know nothing of each other and of no global, so thousands can
 * be open at once. Texts handed out live until the game's next change. */
#pragma once
#include "base/err.h"
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

struct game;
struct game_shared;

/* Open a game file (JSON with pddl_domain, grammar and pddl_problem), ready for the
 * first command. `name` stands for the file in messages. What equal files have in
 * common is kept once in `shared` (may be NULL, see shared.h). NULL on error: kind
 * data (with the line where there is one) or limit. */
struct game *game_open(const char *bytes, size_t n, const char *name,
                       struct game_shared *shared, struct err *e);

/* A second game in the same state, which goes its own way. Never NULL. */
struct game *game_clone(const struct game *g);

void game_close(struct game *g);

/* Back to the start. After false the game can only be reset or closed. */
bool game_reset(struct game *g, struct err *e);

/* Perform a command. Blanks round it do not count, upper and lower case do. A command
 * that is not among the admissible ones changes nothing and is answered with "Nothing
 * happens." False is no answer of the game but a fault in its file; the game can then
 * only be reset or closed. */
bool game_step(struct game *g, const char *command, size_t n, struct err *e);

/* What the latest reset or step had to say. *n may be NULL. */
const char *game_observation(const struct game *g, size_t *n);

/* Whether the latest command was one of the admissible ones; false after a reset. */
bool game_was_admissible(const struct game *g);

/* The commands that are possible now, ascending by code point, none twice. */
size_t game_command_count(const struct game *g);
const char *game_command(const struct game *g, size_t index, size_t *n);

/* Whether the goal holds. Play may go on. */
bool game_won(const struct game *g);

/* Commands since the reset, admissible or not. */
size_t game_steps(const struct game *g);

/* How much of the goal holds: of its conditions that actions can change, the most
 * that hold together for one choice of objects of the wanted types. A condition that
 * is an `or` or a `forall` counts as one. A goal that nothing can change counts as
 * one condition. False with kind limit when the goal is too large to say. */
struct game_progress {
    size_t satisfied, total;
};
bool game_progress(const struct game *g, struct game_progress *p, struct err *e);

/* --- solving ---------------------------------------------------------------------- */

/* A sequence of commands, each zero-terminated. */
struct game_plan {
    char **commands;
    size_t count;
    size_t nodes; /* states that were looked at */
};

/* Find a shortest sequence of commands from here to the goal, looking at no more than
 * `max_nodes` states. The game itself does not move. False with kind limit when the
 * states do not suffice, the game is too large, or *stop (NULL is fine) is no longer 0;
 * with kind data when no sequence leads to the goal. The plan must be zeroed; free it in
 * any case. */
bool game_solve(const struct game *g, size_t max_nodes, const volatile sig_atomic_t *stop,
                struct game_plan *plan, struct err *e);

void game_plan_free(struct game_plan *plan);

/* Bytes of memory this game holds alone, and those it shares with others. */
size_t game_own_bytes(const struct game *g);
size_t game_shared_bytes(const struct game *g);
