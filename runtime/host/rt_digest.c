/* rt_digest.c - SHA-256 for Lua. */
#include "base/digest.h"
#include "host/bind.h"
#include "host/convert.h"
#include "host/modules.h"
#include <lauxlib.h>

#define STREAM_TYPE "rt.digest.stream"

enum { SHORT_HEX = 16 };

struct stream {
    struct digest_stream *digest;
};

static int push_hex(lua_State *L, const char *text, size_t n, size_t length)
{
    struct digest d = digest_of(text, n);
    char hex[DIGEST_HEX + 1];
    digest_hex(&d, hex);
    lua_pushlstring(L, hex, length);
    return 1;
}

static int l_sha256(lua_State *L)
{
    size_t n;
    const char *text = luaL_checklstring(L, 1, &n);
    return push_hex(L, text, n, DIGEST_HEX);
}

/* digest.short(text) is the name under which the reference's files list a text. */
static int l_short(lua_State *L)
{
    size_t n;
    const char *text = luaL_checklstring(L, 1, &n);
    return push_hex(L, text, n, SHORT_HEX);
}

/* digest.canonical(value) is that of json.canonical(value), which it does not make. */
static int l_canonical(lua_State *L)
{
    struct err e;
    struct buf *text = convert_buf(L);
    luaL_checkany(L, 1);
    if (!convert_encode(L, 1, JSON_CANONICAL, text, &e))
        return luaL_argerror(L, 1, e.message);
    return push_hex(L, buf_text(text), text->len, DIGEST_HEX);
}

static int stream_release(lua_State *L)
{
    struct stream *s = luaL_checkudata(L, 1, STREAM_TYPE);
    if (s->digest)
        digest_stream_final(s->digest);
    s->digest = NULL;
    return 0;
}

static struct stream *stream_check(lua_State *L)
{
    struct stream *s = luaL_checkudata(L, 1, STREAM_TYPE);
    luaL_argcheck(L, s->digest, 1, "the digest was taken already");
    return s;
}

/* stream() -> the digest of a text that comes in pieces. */
static int l_stream(lua_State *L)
{
    struct stream *s = bind_new(L, STREAM_TYPE, sizeof *s);
    s->digest = digest_stream_new();
    return 1;
}

/* stream:add(text) */
static int l_add(lua_State *L)
{
    struct stream *s = stream_check(L);
    size_t n;
    const char *text = luaL_checklstring(L, 2, &n);
    digest_stream_add(s->digest, text, n);
    return 0;
}

/* stream:hex() -> 64 digits; the stream is over. */
static int l_hex(lua_State *L)
{
    struct stream *s = stream_check(L);
    struct digest d = digest_stream_final(s->digest);
    char hex[DIGEST_HEX + 1];
    s->digest = NULL;
    digest_hex(&d, hex);
    lua_pushlstring(L, hex, DIGEST_HEX);
    return 1;
}

static const luaL_Reg methods[] = { { "add", l_add }, { "hex", l_hex }, { NULL, NULL } };

static const luaL_Reg functions[] = {
    { "sha256", l_sha256 }, { "short", l_short }, { "canonical", l_canonical },
    { "stream", l_stream }, { NULL, NULL },
};

int luaopen_rt_digest(lua_State *L)
{
    bind_type(L, STREAM_TYPE, methods, stream_release);
    luaL_newlib(L, functions);
    return 1;
}
