/* test_chunks.c - the program's Lua files, compiled when it was built. */
#include "base/buf.h"
#include "check.h"
#include "host/chunks.h"
#include "io/file.h"
#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char file[] = "lua/skillopt/names.lua";

/* Load a text under a name; the status, and whether it was compiled before. */
static int load(const char *text, size_t n, const char *name, bool *was_ready,
                struct buf *said)
{
    lua_State *L = luaL_newstate();
    int status = chunk_load(L, text, n, name, "@/elsewhere/names.lua", was_ready);
    lua_Debug where = { 0 };
    if (status == LUA_OK) {
        lua_getinfo(L, ">SL", &where); /* pushes a table, its keys the lines of code */
        lua_pushnil(L);
        buf_add_format(said, "%s, %s", where.short_src,
                       lua_next(L, -2) ? "with lines" : "without lines");
    } else {
        buf_add_format(said, "%s", lua_tostring(L, -1));
    }
    lua_close(L);
    return status;
}

static void an_unchanged_file_is_ready(void)
{
    struct buf text = { 0 }, said = { 0 };
    bool was_ready = false;
    CHECK(file_read(file, &text, NULL));
    CHECK_INT(load(buf_text(&text), text.len, file, &was_ready, &said), LUA_OK);
    CHECK(was_ready);
    CHECK_TEXT(buf_text(&said), "/elsewhere/names.lua, with lines");
    buf_free(&text);
    buf_free(&said);
}

static bool load_file(const char *path, const char *name)
{
    lua_State *L = luaL_newstate();
    bool is_ready = chunk_load_file(L, path, name, "@names.lua");
    CHECK_INT(lua_gettop(L), is_ready);
    CHECK(!is_ready || lua_isfunction(L, 1));
    lua_close(L);
    return is_ready;
}

static void a_file_on_disk_is_ready_while_it_is_what_was_compiled(void)
{
    struct buf text = { 0 };
    char path[] = "build/test_chunks.XXXXXX";
    int fd = mkstemp(path);
    CHECK(fd >= 0 && file_read(file, &text, NULL));
    CHECK(load_file(file, file));
    CHECK(!load_file("lua/skillopt/no_such_file.lua", file));
    CHECK(!load_file(file, NULL));
    CHECK(!load_file(file, "lua/skillopt/cli.lua"));
    CHECK_INT(write(fd, buf_text(&text), text.len), text.len);
    CHECK(load_file(path, file));
    CHECK_INT(write(fd, "\n", 1), 1);
    CHECK(!load_file(path, file)); /* longer */
    CHECK_INT(ftruncate(fd, (off_t)text.len - 1), 0);
    CHECK(!load_file(path, file)); /* cut */
    CHECK_INT(pwrite(fd, "xx", 2, (off_t)text.len - 2), 2);
    CHECK(!load_file(path, file)); /* as long, and another */
    close(fd);
    unlink(path);
    buf_free(&text);
}

static void another_text_is_compiled(void)
{
    struct buf text = { 0 }, said = { 0 };
    bool was_ready = true;
    CHECK(file_read(file, &text, NULL));
    buf_add(&text, "\n", 1);
    CHECK_INT(load(buf_text(&text), text.len, file, &was_ready, &said), LUA_OK);
    CHECK(!was_ready);
    text.ptr[0] = '=';
    CHECK_INT(load(buf_text(&text), text.len - 1, file, &was_ready, &said),
              LUA_ERRSYNTAX);
    CHECK(!was_ready);
    buf_free(&text);
    buf_free(&said);
}

static void a_file_from_elsewhere_is_compiled(void)
{
    struct buf said = { 0 };
    bool was_ready = true;
    CHECK_INT(load("return 1", 8, NULL, &was_ready, &said), LUA_OK);
    CHECK(!was_ready);
    CHECK_INT(load("return 1", 8, "lua/of/nobody.lua", &was_ready, &said), LUA_OK);
    CHECK(!was_ready);
    buf_free(&said);
}

static void compiled_bytes_are_refused(void)
{
    struct buf said = { 0 };
    const char code[] = LUA_SIGNATURE "T";
    CHECK_INT(load(code, sizeof code, file, NULL, &said), LUA_ERRSYNTAX);
    CHECK(strstr(buf_text(&said), "attempt to load a binary chunk"));
    buf_free(&said);
}

static void sizes_of_names(void)
{
    unsigned char out[CHUNK_SIZE_MAX];
    CHECK_INT(chunk_name_size(0, out), 1);
    CHECK_INT(out[0], 0x81);
    CHECK_INT(chunk_name_size(126, out), 1);
    CHECK_INT(out[0], 0xff);
    CHECK_INT(chunk_name_size(127, out), 2);
    CHECK_INT(out[0], 1);
    CHECK_INT(out[1], 0x80);
}

int main(void)
{
    check_run("a file as it was built with is ready, under the name it has now",
              an_unchanged_file_is_ready);
    check_run("a file on disk is ready while it is what was compiled",
              a_file_on_disk_is_ready_while_it_is_what_was_compiled);
    check_run("a file with another text is compiled from that", another_text_is_compiled);
    check_run("a file of another name is compiled", a_file_from_elsewhere_is_compiled);
    check_run("a file that holds compiled bytes is refused", compiled_bytes_are_refused);
    check_run("the size of a name is written as Lua writes it", sizes_of_names);
    return check_end();
}
