/* rt_model_request.h - Lua's request and quirks as the model room takes them.
 *
 * Texts point into the Lua strings of the tables read, which must stay where they are;
 * lists and JSON made on the way belong to the value_doc. What has the wrong type or
 * an unknown name is raised with its place ("messages[2].content"). */
#pragma once
#include "model/openai_chat.h"
#include <lua.h>

/* The request table at `index` (see lua/meta/rt.model.lua). */
void model_read_request(lua_State *L, int index, struct value_doc *d,
                        struct chat_request *r);

/* The quirks table at `index`; nil or absent counts as empty. */
void model_read_quirks(lua_State *L, int index, struct value_doc *d,
                       struct openai_quirks *q);

/* Write the fields in which `q` differs from `before` into the table at `index`. */
void model_write_quirks(lua_State *L, int index, const struct openai_quirks *before,
                        const struct openai_quirks *q);
