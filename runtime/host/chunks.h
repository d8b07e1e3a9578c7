/* chunks.h - Lua files of the program's own, compiled when it was built.
 *
 * The build writes the text and the compiled form of each file of lua/ into one block
 * (packaging/chunk_writer.c), which is a part of the program, so that no bytes from
 * elsewhere are ever taken for compiled Lua. The file on disk stays the source: only
 * where it holds the very text that was compiled is the compiled form taken, so an edited
 * file counts at once. Without a block, or with another release of Lua than it was
 * written by, everything is compiled from text. */
#pragma once
#include <lua.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The block: this, the entries by name, then what they point at. */
struct chunks {
    char lua[256];  /* lua_ident of the library that compiled */
    uint32_t count; /* of entries */
    uint32_t
        head_size; /* bytes of a compiled form before its file's name, the same in all */
    char head[64];
};

/* Offsets are from the start of the block. */
struct chunk_entry {
    uint32_t
        name; /* below the home folder, as "lua/skillopt/cli.lua", ends with a zero */
    uint32_t text, text_size;
    uint32_t code, code_size; /* the compiled form behind its file's name */
};

enum { CHUNK_SIZE_MAX = 10 };

/* How a compiled form says the length of its file's name, which stands behind that.
 * Gives the number of bytes in `out`. */
size_t chunk_name_size(size_t length, unsigned char out[CHUNK_SIZE_MAX]);

/* Push the function of the file at `path` when it holds the very text that was compiled,
 * without making a text of it. False, with nothing pushed, when it has to be read. */
bool chunk_load_file(lua_State *L, const char *path, const char *name,
                     const char *chunk_name);

/* Push the function of a file's text, or a message; gives lua_load's status. `name` is
 * the path below the home folder, NULL for a file from elsewhere; `chunk_name` is what
 * messages call it. `*was_ready`, when not NULL, says whether it was compiled before. */
int chunk_load(lua_State *L, const char *text, size_t n, const char *name,
               const char *chunk_name, bool *was_ready);
