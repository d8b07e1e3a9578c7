/* chunks.c - see chunks.h. */
#include "host/chunks.h"
#include <fcntl.h>
#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of packaging/chunks.S; programs that are linked without it have none. */
extern const unsigned char chunks_block[] __attribute__((weak));

size_t chunk_name_size(size_t length, unsigned char out[CHUNK_SIZE_MAX])
{
    size_t rest = length + 1, n = 1;
    for (size_t more = rest >> 7; more; more >>= 7)
        n++;
    for (size_t i = n; i-- > 0; rest >>= 7)
        out[i] = rest & 0x7f;
    out[n - 1] |= 0x80;
    return n;
}

static const struct chunks *block(void)
{
    const struct chunks *all = (const void *)chunks_block;
    return all && strcmp(all->lua, lua_ident) == 0 ? all : NULL;
}

static const char *bytes_at(uint32_t offset)
{
    return (const char *)chunks_block + offset;
}

static int compare_name(const void *name, const void *entry)
{
    return strcmp(name, bytes_at(((const struct chunk_entry *)entry)->name));
}

static const struct chunk_entry *entry_of(const char *name)
{
    const struct chunks *all = block();
    if (!all || !name)
        return NULL;
    return bsearch(name, all + 1, all->count, sizeof(struct chunk_entry), compare_name);
}

/* Was it compiled from exactly this text? */
static bool is_of(const struct chunk_entry *e, const char *text, size_t n)
{
    return e->text_size == n && memcmp(bytes_at(e->text), text, n) == 0;
}

/* A compiled form in its pieces: head, size of the name, name, the rest. */
struct pieces {
    struct {
        const void *ptr;
        size_t len;
    } list[4];
    size_t next;
};

static const char *read_piece(lua_State *L, void *state, size_t *size)
{
    (void)L;
    struct pieces *p = state;
    if (p->next == sizeof p->list / sizeof *p->list)
        return NULL;
    *size = p->list[p->next].len;
    return p->list[p->next++].ptr;
}

static int load_ready(lua_State *L, const struct chunk_entry *e, const char *chunk_name)
{
    const struct chunks *all = block();
    unsigned char size[CHUNK_SIZE_MAX];
    size_t length = strlen(chunk_name);
    struct pieces p = {
        .list = {
            { all->head, all->head_size },
            { size, chunk_name_size(length, size) },
            { chunk_name, length },
            { bytes_at(e->code), e->code_size },
        },
    };
    return lua_load(L, read_piece, &p, chunk_name, "b");
}

enum { FILE_MAX = 1 << 16 }; /* a larger one is read as a text */

bool chunk_load_file(lua_State *L, const char *path, const char *name,
                     const char *chunk_name)
{
    char text[FILE_MAX];
    const struct chunk_entry *e = entry_of(name);
    if (!e || e->text_size >= sizeof text)
        return false;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, e->text_size + 1);
    if (fd >= 0)
        close(fd);
    if (n < 0 || !is_of(e, text, (size_t)n))
        return false;
    if (load_ready(L, e, chunk_name) == LUA_OK)
        return true;
    lua_pop(L, 1);
    return false;
}

int chunk_load(lua_State *L, const char *text, size_t n, const char *name,
               const char *chunk_name, bool *was_ready)
{
    const struct chunk_entry *e = entry_of(name);
    bool is_ready = e && is_of(e, text, n);
    if (was_ready)
        *was_ready = is_ready;
    return is_ready ? load_ready(L, e, chunk_name)
                    : luaL_loadbufferx(L, text, n, chunk_name, "t");
}
