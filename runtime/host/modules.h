/* modules.h - the rt.* modules, one line each: X(name) is `rt.name`, opened by
 * luaopen_rt_name in host/rt_name.c. */
#pragma once
#include <lua.h>

#define RT_MODULES(X)                                                                    \
    X(archive)                                                                           \
    X(columns)                                                                           \
    X(digest)                                                                            \
    X(document)                                                                          \
    X(file)                                                                              \
    X(flow)                                                                              \
    X(game)                                                                              \
    X(http)                                                                              \
    X(journal)                                                                           \
    X(json)                                                                              \
    X(ledger)                                                                            \
    X(limit)                                                                             \
    X(lines)                                                                             \
    X(lock)                                                                              \
    X(model)                                                                             \
    X(process)                                                                           \
    X(raw)                                                                               \
    X(reply)                                                                             \
    X(rng)                                                                               \
    X(score)                                                                             \
    X(spool)                                                                             \
    X(stdin)                                                                             \
    X(stdout)                                                                            \
    X(task)                                                                              \
    X(template)                                                                          \
    X(text)                                                                              \
    X(tree)                                                                              \
    X(version)                                                                           \
    X(watch)                                                                             \
    X(yaml)

#define RT_DECLARE(name) int luaopen_rt_##name(lua_State *L);
RT_MODULES(RT_DECLARE)
#undef RT_DECLARE
