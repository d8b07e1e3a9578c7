/* rt_document.c - the skill document for Lua: bytes in, bytes out. */
#include "base/buf.h"
#include "base/digest.h"
#include "base/mem.h"
#include "host/bind.h"
#include "host/convert.h"
#include "host/modules.h"
#include "host/watch.h"
#include "text/edit.h"
#include "text/skill.h"
#include "text/unicode.h"
#include <lauxlib.h>

#define WORK_TYPE "rt.document.work"

enum { PREVIEW = 200, SHORT_HEX = 16 };

/* What a call needs; it belongs to the state, so that an error frees it as well. */
struct work {
    struct buf text, out, key;
    struct edit_row row;
    struct span *notes;
};

static void work_clear(struct work *w)
{
    buf_free(&w->text);
    buf_free(&w->out);
    buf_free(&w->key);
    edit_row_free(&w->row);
    mem_free(w->notes);
    w->notes = NULL;
}

static int work_release(lua_State *L)
{
    work_clear(luaL_checkudata(L, 1, WORK_TYPE));
    return 0;
}

static struct work *work(lua_State *L)
{
    struct work *w = lua_touserdata(L, lua_upvalueindex(1));
    work_clear(w);
    return w;
}

static struct span check_span(lua_State *L, int index)
{
    struct span text;
    text.ptr = luaL_checklstring(L, index, &text.len);
    return text;
}

static int push_span(lua_State *L, struct span text)
{
    lua_pushlstring(L, text.ptr, text.len);
    return 1;
}

static int push_short(lua_State *L, struct span text)
{
    struct digest d = digest_of(text.ptr, text.len);
    char hex[DIGEST_HEX + 1];
    digest_hex(&d, hex);
    lua_pushlstring(L, hex, SHORT_HEX);
    return 1;
}

static enum skill_kind check_kind(lua_State *L, int index)
{
    enum skill_kind kind;
    if (!skill_kind_of(check_span(L, index), &kind))
        luaL_argerror(L, index, "must be \"slow_update\" or \"appendix\"");
    return kind;
}

/* ---- body and regions ---- */

/* document.body(text) is the body and the content of the regions by name. */
static int l_body(lua_State *L)
{
    struct span text = check_span(L, 1);
    struct work *w = work(L);
    struct err e;
    if (!skill_body(&w->out, text, &e))
        return bind_err(L, &e);
    push_span(L, span_of(&w->out));
    lua_newtable(L);
    for (int kind = 0; kind < SKILL_KIND_COUNT; kind++) {
        struct span content;
        if (!skill_region(text, (enum skill_kind)kind, &content))
            continue;
        push_span(L, content);
        lua_setfield(L, -2, skill_kind_name((enum skill_kind)kind));
    }
    return 2;
}

static int l_with_body(lua_State *L)
{
    struct span text = check_span(L, 1);
    struct span body = check_span(L, 2);
    struct work *w = work(L);
    struct err e;
    if (!skill_set_body(&w->out, text, body, &e))
        return bind_err(L, &e);
    return push_span(L, span_of(&w->out));
}

static int l_region(lua_State *L)
{
    struct span content;
    if (!skill_region(check_span(L, 1), check_kind(L, 2), &content))
        return 0;
    return push_span(L, content);
}

static int l_with_region(lua_State *L)
{
    struct span text = check_span(L, 1);
    enum skill_kind kind = check_kind(L, 2);
    struct span content = check_span(L, 3);
    struct work *w = work(L);
    skill_set_region(&w->out, text, kind, content);
    return push_span(L, span_of(&w->out));
}

static int l_without_region(lua_State *L)
{
    struct span text = check_span(L, 1);
    enum skill_kind kind = check_kind(L, 2);
    struct work *w = work(L);
    skill_drop_region(&w->out, text, kind);
    return push_span(L, span_of(&w->out));
}

static int l_hash(lua_State *L)
{
    return push_short(L, check_span(L, 1));
}

static int l_key(lua_State *L)
{
    struct span text = check_span(L, 1);
    struct work *w = work(L);
    skill_essence(&w->out, text);
    return push_short(L, span_of(&w->out));
}

static int l_clean(lua_State *L)
{
    struct span text = check_span(L, 1);
    struct work *w = work(L);
    skill_clean(&w->out, text);
    return push_span(L, span_of(&w->out));
}

/* ---- notes ---- */

static int l_notes(lua_State *L)
{
    struct span content;
    struct span note;
    bool has_notes = skill_region(check_span(L, 1), SKILL_APPENDIX, &content);
    lua_newtable(L);
    for (lua_Integer i = 1; has_notes && skill_next_note(&content, &note); i++) {
        push_span(L, note);
        lua_seti(L, -2, i);
    }
    return 1;
}

/* Push the notes of the list at `index` that differ, as they are kept. */
static lua_Integer push_distinct(lua_State *L, int index, struct work *w)
{
    lua_Integer n = luaL_len(L, index);
    lua_Integer count = 0;
    lua_newtable(L);
    lua_newtable(L);
    for (lua_Integer i = 1; i <= n; i++) { /* kept seen */
        lua_geti(L, index, i);
        if (lua_type(L, -1) != LUA_TSTRING)
            luaL_argerror(L, index, "notes must be strings");
        buf_clear(&w->out);
        buf_clear(&w->key);
        skill_note(&w->out, &w->key, check_span(L, -1));
        lua_pop(L, 1);
        push_span(L, span_of(&w->key));
        lua_pushvalue(L, -1);
        if (w->key.len > 0 && lua_rawget(L, -3) == LUA_TNIL) { /* kept seen key nil */
            lua_pop(L, 1);
            lua_pushboolean(L, 1);
            lua_rawset(L, -3);
            push_span(L, span_of(&w->out));
            lua_rawseti(L, -3, ++count);
        } else {
            lua_pop(L, 2);
        }
    }
    lua_pop(L, 1);
    return count;
}

static int l_distinct_notes(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    push_distinct(L, 1, work(L));
    return 1;
}

/* document.with_notes(text, notes) is the text with these notes and no others. */
static int l_with_notes(lua_State *L)
{
    struct span text = check_span(L, 1);
    luaL_checktype(L, 2, LUA_TTABLE);
    lua_settop(L, 2);
    struct work *w = work(L);
    size_t count = (size_t)push_distinct(L, 2, w); /* text notes kept */
    w->notes = mem_new_array(count, sizeof *w->notes);
    for (size_t i = 0; i < count; i++) {
        lua_rawgeti(L, 3, (lua_Integer)i + 1);
        w->notes[i] = check_span(L, -1);
        lua_pop(L, 1); /* the list still holds it */
    }
    buf_clear(&w->out);
    skill_set_notes(&w->out, text, w->notes, count);
    return push_span(L, span_of(&w->out));
}

/* ---- edits ---- */

/* Push a field of the edit at `index`; as text, missing and null are empty. False
 * for another type. */
static bool push_field(lua_State *L, int index, const char *name, struct span *text)
{
    int type = lua_getfield(L, index, name);
    *text = type == LUA_TSTRING ? check_span(L, -1) : SPAN("");
    return type == LUA_TSTRING || type == LUA_TNIL || convert_is_null(L, -1);
}

/* Read the value at `index` and push op, target and content, which hold the texts.
 * Returns what is wrong with it, or NULL. */
static const char *read_edit(lua_State *L, int index, struct edit *edit)
{
    *edit = (struct edit){ SPAN(""), SPAN(""), SPAN(""), true };
    bool is_list = lua_istable(L, index) && convert_shape(L, index) == CONVERT_ARRAY &&
                   luaL_len(L, index) > 0;
    if (!lua_istable(L, index) || is_list) {
        lua_settop(L, index + 3);
        return "an edit must be an object";
    }
    push_field(L, index, "op", &edit->op);
    bool has_target = push_field(L, index, "target", &edit->target);
    bool has_content = push_field(L, index, "content", &edit->content);
    edit->is_malformed = !has_target || !has_content;
    return !has_target    ? "'target' must be text"
           : !has_content ? "'content' must be text"
                          : NULL;
}

static void set_text(lua_State *L, const char *name, struct span text)
{
    push_span(L, unicode_slice(text, 0, PREVIEW));
    lua_setfield(L, -2, name);
}

/* The operation by its name, or what was proposed in its place. */
static struct span shown_op(const struct edit *edit, const struct edit_row *row)
{
    const char *name = edit_op_name(row->op);
    return row->op == EDIT_UNKNOWN ? edit->op : (struct span){ name, strlen(name) };
}

static void push_row(lua_State *L, const struct edit *edit, const struct edit_row *row,
                     const char *error)
{
    bool is_malformed = row->fate == EDIT_MALFORMED;
    const char *fate = edit_fate_name(row->fate);
    lua_createtable(L, 0, 8);
    set_text(L, "op", is_malformed ? SPAN("") : shown_op(edit, row));
    set_text(L, "target", is_malformed ? SPAN("") : edit->target);
    set_text(L, "content_preview", is_malformed ? SPAN("") : span_of(&row->content));
    set_text(L, "status", (struct span){ row->status, strlen(row->status) });
    set_text(L, "fate", (struct span){ fate, strlen(fate) });
    if (row->fate == EDIT_ANCHOR_AMBIGUOUS) {
        lua_pushinteger(L, (lua_Integer)row->matches);
        lua_setfield(L, -2, "matches");
    }
    if (row->near.len > 0)
        set_text(L, "near", span_of(&row->near));
    if (error) {
        lua_pushstring(L, error);
        lua_setfield(L, -2, "error");
    }
}

static int too_large(lua_State *L)
{
    struct err e;
    err_set(&e, ERR_LIMIT, "the skill is larger than 16 MiB");
    return bind_err(L, &e);
}

/* document.apply(text, edits, {max_tokens}) is the text and a row for each edit. */
static int l_apply(lua_State *L)
{
    static const char *const names[] = { "max_tokens", NULL };
    struct span text = check_span(L, 1);
    luaL_checktype(L, 2, LUA_TTABLE);
    bind_opts(L, 3, names);
    lua_Integer max = bind_opt_integer(L, 3, "max_tokens", SKILL_MAX, 0, SKILL_MAX);
    struct work *w = work(L);
    if (text.len > SKILL_MAX)
        return too_large(L);
    span_add(&w->text, text);
    lua_Integer n = luaL_len(L, 2);
    lua_settop(L, 2);
    lua_newtable(L);
    for (lua_Integer i = 1; i <= n; i++) { /* text edits rows edit op target content */
        struct edit edit;
        watch_check(L);
        lua_geti(L, 2, i);
        const char *error = read_edit(L, 4, &edit);
        edit_apply(&w->text, &edit, (size_t)max, &w->row);
        push_row(L, &edit, &w->row, error);
        lua_pushinteger(L, i);
        lua_setfield(L, -2, "index");
        lua_seti(L, 3, i);
        lua_settop(L, 3);
    }
    push_span(L, span_of(&w->text));
    lua_insert(L, 3);
    return 2;
}

/* ---- checks ---- */

/* document.front_matter(text) is its YAML and where the rest begins, in bytes. */
static int l_front_matter(lua_State *L)
{
    struct span yaml;
    size_t end;
    if (!skill_front_matter(check_span(L, 1), &yaml, &end))
        return 0;
    push_span(L, yaml);
    lua_pushinteger(L, (lua_Integer)end + 1);
    return 2;
}

static int l_check(lua_State *L)
{
    unsigned problems = skill_problems(check_span(L, 1));
    lua_Integer n = 0;
    lua_newtable(L);
    for (int i = 0; i < SKILL_PROBLEM_COUNT; i++) {
        if (!(problems & 1u << i))
            continue;
        lua_pushstring(L, skill_problem_words((enum skill_problem)i));
        lua_rawseti(L, -2, ++n);
    }
    return 1;
}

static const luaL_Reg functions[] = {
    { "apply", l_apply },
    { "body", l_body },
    { "check", l_check },
    { "clean", l_clean },
    { "distinct_notes", l_distinct_notes },
    { "front_matter", l_front_matter },
    { "hash", l_hash },
    { "key", l_key },
    { "notes", l_notes },
    { "region", l_region },
    { "with_body", l_with_body },
    { "with_notes", l_with_notes },
    { "with_region", l_with_region },
    { "without_region", l_without_region },
    { NULL, NULL },
};

int luaopen_rt_document(lua_State *L)
{
    luaL_newlibtable(L, functions);
    bind_type(L, WORK_TYPE, NULL, work_release);
    bind_new(L, WORK_TYPE, sizeof(struct work));
    luaL_setfuncs(L, functions, 1); /* all share one room for work */
    return 1;
}
