/* cuts.h - how many commands are needed at least from a state to the goal.
 *
 * The estimate counts disjoint landmarks: sets of operators of which every sequence to
 * the goal uses at least one, found in the task in which nothing is ever removed (the
 * LM-cut method). It never counts more than are needed. */
#pragma once
#include "game/task.h"

#define CUTS_NEVER UINT32_MAX

struct cuts;

/* For the task, which must outlive it. What estimates cost is taken from *work. */
struct cuts *cuts_new(const struct task *t, long *work);

/* CUTS_NEVER when the goal cannot be reached from the state. When the work is used up
 * the count ends early, which only makes it smaller. */
uint32_t cuts_estimate(struct cuts *c, const uint64_t *state);

void cuts_free(struct cuts *c);
