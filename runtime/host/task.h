/* task.h - coroutines as tasks: a tree of them, parked and woken by one loop.
 *
 * A task is a Lua coroutine with an owner and a slot (the path of labels from the
 * root). It is running, ready or parked; parked means it waits for exactly one
 * `struct wait`. Nothing here knows what is waited for: the operation embeds a
 * wait, parks on it and wakes it.
 *
 * A parent outlives its children: a task whose body has ended stays until the last
 * child has, so no task is ever orphaned. Cancellation is deep and sticky. Of
 * several failing children the error of the smallest ordinal is the parent's; it
 * cancels the children behind it and lets those before it end. */
#pragma once
#include <lua.h>
#include <stdbool.h>

struct task;

struct wait {
    struct task *task;             /* who is parked here; NULL when nobody is */
    void (*cancel)(struct wait *); /* stop the operation, or drop what came of it when it
                                    * is over already; called at most once */
};

/* Raise unless L is a task that may wait now. A binding calls this before it
 * starts the operation, so that nothing is left running when it raises. */
void task_check(lua_State *L);

/* Park the calling coroutine on `w`; tail-call it from a lua_CFunction. `k`
 * runs once after the wake and returns the results; a cancelled task raises
 * there instead, before `k` is called. */
int task_park(lua_State *L, struct wait *w, lua_KFunction k, lua_KContext ctx);

/* As task_park for work that must be seen to its end: cancellation neither stops
 * the operation nor raises before `k`. */
int task_park_shielded(lua_State *L, struct wait *w, lua_KFunction k, lua_KContext ctx);

/* Make the parked task ready; a no-op when nobody is parked. */
void task_wake(struct wait *w);

/* The same for an answer from outside: tasks that task_wake made ready go before it, so
 * that what is about to be sent leaves first and the server is never without work. */
void task_wake_later(struct wait *w);

/* Run ready tasks, `most` at most, the last of them one that was woken later if there is
 * any; true when others are left. Called by the loop, never by a task. */
bool task_run_ready(int most);

/* Live tasks; the loop may stop at 0. */
size_t task_count(void);

/* Append the slots of tasks that wait for something other than their children, ", "
 * between them; those behind the first few are counted. */
struct buf;
void task_list_waiting(struct buf *out);

/* The task L runs in; raises outside of one. */
struct task *task_self(lua_State *L);

/* Does `a` come before `b` in program order (that of a run that does one thing at
 * a time)? A task comes before its children. */
bool task_before(const struct task *a, const struct task *b);

/* Slot of the task, "" for the root. Owned by the task. */
const char *task_slot(const struct task *t);

/* Virtual clock: completion time of the last effect received, Unix seconds. It
 * never runs backwards. A parent takes over the latest of its children once all have
 * ended (of failed ones only that of the error it raises), so no sibling sees it. */
double task_time(const struct task *t);
void task_set_time(struct task *t, double unix_s);

/* Push the task's table for the library (made on demand, gone with the task). */
void task_push_locals(lua_State *L, struct task *t);

/* Start the root task on the function and `nargs` arguments on top of L, which is
 * the main state. `unix_s` is where its virtual clock starts. */
void task_start(lua_State *L, int nargs, double unix_s);

/* Does the task L runs in run user code (see host/watch.h)? Children begin as their
 * parent is. */
void task_set_watched(lua_State *L, bool is_watched);

/* Cancel the root, and so everything. */
void task_cancel_all(void);

/* After the root has ended: true and its first result pushed, or false and the
 * error (an err table or a string with traceback) pushed. */
bool task_result(lua_State *L);

int luaopen_rt_task(lua_State *L);
