/* watch.h - ends user code that runs on and on without waiting.
 *
 * A stretch is what a task does from one wait to the next. A thread looks ten times a
 * second how much CPU time the loop's thread has spent in a stretch that is watched.
 * Above the patience it signals that thread, whose handler puts a hook on the
 * coroutine that is running: the hook raises an err of kind `limit` that names the
 * slot and carries `runaway = true`. Our own C that may run long (patterns, sort, the
 * loops of the table library) looks at a flag and raises the same. C that does not come
 * back to Lua for as long again cannot be unwound: then the process ends with the slot
 * in its last words, which a journal survives. While a stretch is watched, Lua's memory
 * has a ceiling.
 *
 * All but the thread's own work happens on the loop's thread. A hook on a task's
 * coroutine does not see the coroutines made in it, so coroutine.resume, wrap and
 * close say which one is running. */
#pragma once
#include "base/err.h"
#include <lua.h>
#include <signal.h>
#include <stdbool.h>

/* Start the thread, and have the coroutine library of L tell who runs. */
bool watch_start(lua_State *L, struct err *e);

/* End the thread; what runs after it is not watched. Fine without a start. */
void watch_stop(void);

/* `co` runs from now on, or nothing (NULL). */
void watch_running(lua_State *co);

/* A watched stretch begins; `slot` stays valid until it ends. Time starts anew. */
void watch_begin(const char *slot);
void watch_end(void);

/* For C that may run long: is no longer 0 once the watched stretch is to end. Then undo
 * what must be undone and call watch_raise, which raises the err and does not return. */
const volatile sig_atomic_t *watch_flag(void);
int watch_raise(lua_State *L);

/* watch_raise if it is time to: for loops that own nothing, every thousand rounds. */
void watch_check(lua_State *L);

/* Set the patience in seconds of CPU time, or the ceiling of Lua's memory in bytes; 0
 * changes nothing. What it was before. */
double watch_patience(double seconds);
size_t watch_memory(size_t bytes);
