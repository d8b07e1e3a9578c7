/* rt_version.c - rt.version: what the program runs with. */
#include "host/modules.h"
#include "host/version.h"
#include <lauxlib.h>

/* libraries() -> { {name, version}, ... } */
static int l_libraries(lua_State *L)
{
    struct library all[VERSION_LIBRARIES];
    version_libraries(all);
    lua_createtable(L, VERSION_LIBRARIES, 0);
    for (int i = 0; i < VERSION_LIBRARIES; i++) {
        lua_createtable(L, 0, 2);
        lua_pushstring(L, all[i].name);
        lua_setfield(L, -2, "name");
        lua_pushstring(L, all[i].version);
        lua_setfield(L, -2, "version");
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

static const luaL_Reg functions[] = {
    { "libraries", l_libraries },
    { NULL, NULL },
};

int luaopen_rt_version(lua_State *L)
{
    luaL_newlib(L, functions);
    return 1;
}
