/* chunk_writer.c - compile Lua files into the block of runtime/host/chunks.h.
 *
 *   chunk_writer OUT FILE...
 *
 * Files are named as below the home folder. Lines are kept, so that messages name them.
 * The name of the file itself stands in a compiled form and differs from one place of
 * installation to another: it is left out, and how it is put back is tried here with
 * two names. A file that does not compile, or a Lua that writes something else, ends
 * the build. */
#include "base/buf.h"
#include "host/chunks.h"
#include "io/file.h"
#include <lauxlib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILES_MAX = 4096, HEAD = 32 }; /* Lua's header, then the number of upvalues */

static const char OTHER_WAY[] = "this Lua writes compiled files in another way";

static void fail(const char *what, const char *name)
{
    fprintf(stderr, "chunk_writer: %s: %s\n", name, what);
    exit(1);
}

static int write_piece(lua_State *L, const void *p, size_t n, void *out)
{
    (void)L;
    return !buf_add(out, p, n);
}

/* The compiled form of a text under a name. */
static struct buf compile(lua_State *L, struct buf *text, const char *chunk_name)
{
    struct buf code = { 0 };
    if (luaL_loadbufferx(L, buf_text(text), text->len, chunk_name, "t") != LUA_OK)
        fail(lua_tostring(L, -1), chunk_name);
    if (lua_dump(L, write_piece, &code, 0) != 0)
        fail("cannot be written compiled", chunk_name);
    lua_pop(L, 1);
    return code;
}

/* Bytes before the rest of a compiled form: head, size of the name, name; that the form
 * begins with them is tried. */
static size_t front_size(struct buf *code, const char *head, const char *chunk_name)
{
    struct buf front = { 0 };
    unsigned char size[CHUNK_SIZE_MAX];
    buf_add(&front, head, HEAD);
    buf_add(&front, size, chunk_name_size(strlen(chunk_name), size));
    buf_add(&front, chunk_name, strlen(chunk_name));
    size_t n = front.len;
    if (code->len <= n || memcmp(buf_text(code), buf_text(&front), n) != 0)
        fail(OTHER_WAY, chunk_name);
    buf_free(&front);
    return n;
}

/* Add the compiled form behind its name, which must be the same whatever the name. Gives
 * its size. */
static size_t add_rest(lua_State *L, struct buf *text, const char *path, const char *head,
                       struct buf *out)
{
    char here[600], there[900];
    snprintf(here, sizeof here, "@%s", path);
    snprintf(there, sizeof there, "@/%0300d/%s", 0, path);
    struct buf code = compile(L, text, here);
    struct buf other = compile(L, text, there);
    size_t at = front_size(&code, head, here);
    size_t other_at = front_size(&other, head, there);
    size_t n = code.len - at;
    if (n != other.len - other_at || memcmp(code.ptr + at, other.ptr + other_at, n) != 0)
        fail(OTHER_WAY, path);
    buf_add(out, code.ptr + at, n);
    buf_free(&code);
    buf_free(&other);
    return n;
}

/* Names lie together: a search goes through few pages. */
static void add_name(struct chunk_entry *e, const char *path, struct buf *data,
                     size_t before)
{
    e->name = (uint32_t)(before + data->len);
    buf_add(data, path, strlen(path) + 1);
}

/* The rest of a file's entry; what it points at goes to `data`, which stands `before`
 * bytes behind the start of the block. */
static void add_file(struct chunk_entry *e, lua_State *L, const char *path,
                     const char *head, struct buf *data, size_t before)
{
    struct buf text = { 0 };
    struct err why;
    if (!file_read(path, &text, &why))
        fail(why.message, path);
    e->text = (uint32_t)(before + data->len);
    e->text_size = (uint32_t)text.len;
    buf_add(data, buf_text(&text), text.len);
    e->code = (uint32_t)(before + data->len);
    e->code_size = (uint32_t)add_rest(L, &text, path, head, data);
    buf_free(&text);
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* What all entries share. */
static struct chunks first_part(lua_State *L, int count)
{
    struct chunks all = { .head_size = HEAD, .count = (uint32_t)count };
    struct buf nothing = { 0 };
    struct buf code = compile(L, &nothing, "@");
    if (strlen(lua_ident) >= sizeof all.lua || code.len < HEAD)
        fail(OTHER_WAY, lua_ident);
    memcpy(all.lua, lua_ident, strlen(lua_ident));
    memcpy(all.head, code.ptr, HEAD);
    buf_free(&code);
    return all;
}

int main(int argc, char **argv)
{
    static struct chunk_entry entries[FILES_MAX];
    struct buf data = { 0 }, out = { 0 };
    struct err e;
    lua_State *L = luaL_newstate();
    if (!L || argc < 3 || argc - 2 > FILES_MAX)
        fail("cannot begin", "chunk_writer OUT FILE...");
    char **paths = argv + 2;
    struct chunks all = first_part(L, argc - 2);
    size_t before = sizeof all + all.count * sizeof *entries;
    qsort(paths, all.count, sizeof *paths, compare_paths);
    for (uint32_t i = 0; i < all.count; i++)
        add_name(&entries[i], paths[i], &data, before);
    for (uint32_t i = 0; i < all.count; i++)
        add_file(&entries[i], L, paths[i], all.head, &data, before);
    buf_add(&out, &all, sizeof all);
    buf_add(&out, entries, all.count * sizeof *entries);
    buf_add(&out, buf_text(&data), data.len);
    if (!file_write_atomic(argv[1], buf_text(&out), out.len, 0, &e))
        fail(e.message, argv[1]);
    buf_free(&data);
    buf_free(&out);
    lua_close(L);
    return 0;
}
