/* convert.h - documents into Lua values and Lua values into JSON.
 *
 *   null        json.null, one userdata; true in conditions, prints "null"
 *   array       table with the metatable of json.array
 *   object      plain table; an empty one has the metatable of json.object
 *   number      integer as integer, with fraction or exponent as float
 *
 * On the way out a mark decides; without one a table is an array when its keys are
 * 1..n (or it is empty) and an object when all are strings. Names are written sorted
 * by byte unless an order is declared. The content of a frozen table counts.
 * No function here waits, calls Lua code or looks at __index. */
#pragma once
#include "text/json.h"
#include <lua.h>

/* Push the value. Big integers become floats. The stack grows as needed, which may
 * raise: keep the document where it is collected (convert_doc). */
void convert_push(lua_State *L, const struct value *v);

/* Write the value at `index` into `w`; faults are kept there. `order` is the stack
 * index of a table that declares the order of names, or 0. In it the items are the
 * names that come first; a field is such a table for the value under that name,
 * "*" for all others. An order goes through arrays to their items. */
void convert_write(lua_State *L, int index, struct json_writer *w, int order);

/* The value at `index` as one text behind what `out` has. */
bool convert_encode(lua_State *L, int index, enum json_style style, struct buf *out,
                    struct err *e);

/* Raise at argument `arg` unless the table there is an order as convert_write wants. */
void convert_check_order(lua_State *L, int arg, int order);

void convert_push_null(lua_State *L);
bool convert_is_null(lua_State *L, int index);

/* Give the table on top of the stack the mark of an array or an object. One with a
 * metatable of its own must not be marked. */
bool convert_may_mark(lua_State *L, int index);
void convert_mark_array(lua_State *L);
void convert_mark_object(lua_State *L);

/* What the value at `index` would be written as. */
enum convert_shape { CONVERT_SCALAR, CONVERT_ARRAY, CONVERT_OBJECT, CONVERT_NEITHER };
enum convert_shape convert_shape(lua_State *L, int index);

/* Push nil and the error of a reader, the message led by the name of the text ("x.json,
 * line 3, ..."; NULL: none). Returns 2 like bind_err. */
int convert_named_err(lua_State *L, const char *name, const struct err *e);

/* A document and a text that belong to the state: emptied by each call, freed with
 * the state whatever raises meanwhile. For bindings that parse, push and forget. */
struct value_doc *convert_doc(lua_State *L);
struct buf *convert_buf(lua_State *L);
