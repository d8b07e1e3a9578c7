/* stub.c - a scripted model provider for tests: the transport.
 *
 * One thread, one loop: libmicrohttpd on its epoll descriptor, a heap of calls
 * that wait for their moment, a second epoll descriptor that sees clients hang
 * up meanwhile. A waiting call is a suspended connection, so 10,000 of them cost
 * no thread. What is answered is decided in Lua: provider.lua reads the options
 * and turns each request into an answer table; this file sends it. With --fast
 * one canned reply is sent and Lua sees only /stats and /reset.
 *
 * A call belongs to its connection and is freed when libmicrohttpd reports the
 * request as completed. The stub ends on SIGTERM, after --max-seconds, and with
 * whoever started it: when stdin, a pipe, closes, else when the parent ends. */
#include "base/buf.h"
#include "base/mem.h"
#include "host/modules.h"
#include "host/order.h"
#include <arpa/inet.h>
#include <errno.h>
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <microhttpd.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define BODY_MAX     ((size_t)64 << 20)
#define CUT_NONE     SIZE_MAX
#define MICROSECONDS 1000000

enum { PATH_SIZE = 4096, CONNECTION_MEMORY = 16384, HANGUPS_A_TURN = 64 };

enum call_kind {
    CALL_SCRIPTED, /* answered by provider.lua */
    CALL_CONTROL,  /* /stats and /reset: not counted */
    CALL_FAST      /* the canned reply */
};

struct call {
    struct stub *stub;
    struct MHD_Connection *connection;
    enum call_kind kind;
    char *path;
    struct buf request;
    bool is_answered;              /* the fields below are set */
    bool is_gone;                  /* the client hung up while the call waited */
    bool is_due;                   /* a pause is over, the next piece may go */
    struct MHD_Response *response; /* NULL when `reply` is the raw reply */
    unsigned status;
    struct buf reply;
    size_t cut, piece_bytes; /* the connection is closed after `cut` bytes */
    int64_t pause_us;        /* between two pieces */
    bool is_stream;          /* a piece is one server-sent event */
    int64_t due_us;          /* while it waits */
    size_t place;            /* in the heap, counted from 1; 0: not there */
};

/* Calls that wait, earliest first. */
struct heap {
    struct call **at;
    size_t count, room;
};

struct stub {
    lua_State *L; /* `provider` is at index 1 */
    struct MHD_Daemon *daemon;
    struct MHD_Response *canned;
    struct heap waiting;
    int hangups, signals;
    bool is_fast, watches_stdin, is_ending;
    int64_t latency_us, end_us;
    lua_Integer in_flight, in_flight_max, fast_calls, closed_early;
};

static int64_t now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * MICROSECONDS + t.tv_nsec / 1000;
}

/* ---- the heap ---- */

static void heap_put(struct heap *h, size_t place, struct call *c)
{
    h->at[place] = c;
    c->place = place;
}

static void heap_rise(struct heap *h, struct call *c)
{
    size_t i = c->place;
    for (; i > 1 && c->due_us < h->at[i / 2]->due_us; i /= 2)
        heap_put(h, i, h->at[i / 2]);
    heap_put(h, i, c);
}

static void heap_sink(struct heap *h, struct call *c)
{
    size_t i = c->place;
    for (size_t next = 2 * i; next <= h->count; next = 2 * i) {
        if (next < h->count && h->at[next + 1]->due_us < h->at[next]->due_us)
            next++;
        if (c->due_us <= h->at[next]->due_us)
            break;
        heap_put(h, i, h->at[next]);
        i = next;
    }
    heap_put(h, i, c);
}

static void heap_add(struct heap *h, struct call *c)
{
    if (h->count + 2 > h->room) {
        h->room = 2 * h->room + 64;
        h->at = mem_grow(h->at, h->room * sizeof(struct call *));
    }
    heap_put(h, ++h->count, c);
    heap_rise(h, c);
}

static void heap_remove(struct heap *h, struct call *c)
{
    struct call *last = h->at[h->count--];
    size_t place = c->place;
    c->place = 0;
    if (last == c)
        return;
    heap_put(h, place, last);
    heap_rise(h, last);
    heap_sink(h, last);
}

/* ---- waiting ---- */

static int call_socket(struct call *c)
{
    return MHD_get_connection_info(c->connection, MHD_CONNECTION_INFO_CONNECTION_FD)
        ->connect_fd;
}

static void call_wait(struct call *c, int64_t us)
{
    struct epoll_event event = { .events = EPOLLRDHUP | EPOLLONESHOT, .data.ptr = c };
    epoll_ctl(c->stub->hangups, EPOLL_CTL_ADD, call_socket(c), &event);
    c->due_us = now_us() + us;
    heap_add(&c->stub->waiting, c);
    MHD_suspend_connection(c->connection);
}

static void call_resume(struct call *c)
{
    epoll_ctl(c->stub->hangups, EPOLL_CTL_DEL, call_socket(c), NULL);
    heap_remove(&c->stub->waiting, c);
    c->is_due = true;
    MHD_resume_connection(c->connection);
}

static void resume_due(struct stub *s)
{
    int64_t now = now_us();
    while (s->waiting.count > 0 && (s->is_ending || s->waiting.at[1]->due_us <= now))
        call_resume(s->waiting.at[1]);
}

static void resume_gone(struct stub *s)
{
    struct epoll_event events[HANGUPS_A_TURN];
    int n = epoll_wait(s->hangups, events, HANGUPS_A_TURN, 0);
    for (int i = 0; i < n; i++) {
        struct call *c = events[i].data.ptr;
        c->is_gone = true;
        call_resume(c);
    }
}

/* ---- the answer ---- */

/* Bytes of the next piece that starts at `at`. */
static size_t piece_size(const struct call *c, size_t at)
{
    const char *start = c->reply.ptr + at;
    size_t left = c->reply.len - at;
    if (!c->is_stream)
        return c->piece_bytes < left ? c->piece_bytes : left;
    const char *end = memmem(start, left, "\n\n", 2);
    return end ? (size_t)(end + 2 - start) : left;
}

static ssize_t read_reply(void *cls, uint64_t at, char *out, size_t max)
{
    struct call *c = cls;
    size_t end = c->cut < c->reply.len ? c->cut : c->reply.len;
    if (c->is_gone || c->stub->is_ending || (at >= end && end < c->reply.len))
        return MHD_CONTENT_READER_END_WITH_ERROR;
    if (at >= end)
        return MHD_CONTENT_READER_END_OF_STREAM;
    if (c->pause_us && at > 0 && !c->is_due) {
        call_wait(c, c->pause_us);
        return 0;
    }
    c->is_due = false;
    size_t n = piece_size(c, at);
    n = n < end - at ? n : end - at;
    n = n < max ? n : max;
    memcpy(out, c->reply.ptr + at, n);
    return (ssize_t)n;
}

static struct MHD_Response *response_new(struct call *c)
{
    if (c->cut == CUT_NONE && !c->pause_us && !c->is_stream) {
        size_t n;
        char *p = buf_give(&c->reply, &n);
        return MHD_create_response_from_buffer_with_free_callback(n, p, mem_free);
    }
    uint64_t size = c->is_stream ? MHD_SIZE_UNKNOWN : c->reply.len;
    return MHD_create_response_from_callback(size, CONNECTION_MEMORY / 4, read_reply, c,
                                             NULL);
}

static void add_headers(lua_State *L, struct MHD_Response *r) /* answer on top */
{
    if (lua_getfield(L, -1, "headers") == LUA_TTABLE)
        for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1))
            MHD_add_response_header(r, lua_tostring(L, -2), lua_tostring(L, -1));
    lua_pop(L, 1);
}

static lua_Integer field_integer(lua_State *L, const char *name, lua_Integer otherwise)
{
    lua_getfield(L, -1, name);
    lua_Integer value = lua_isinteger(L, -1) ? lua_tointeger(L, -1) : otherwise;
    lua_pop(L, 1);
    return value;
}

static bool field_is_true(lua_State *L, const char *name)
{
    lua_getfield(L, -1, name);
    bool is_true = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return is_true;
}

/* Take what provider.lua answered, the table on top of the stack. Returns how long
 * the reply waits. */
static int64_t take_answer(struct call *c, lua_State *L)
{
    size_t n;
    lua_getfield(L, -1, "body");
    const char *body = lua_tolstring(L, -1, &n);
    buf_add(&c->reply, body ? body : "", body ? n : 0);
    lua_pop(L, 1);
    lua_Integer cut = field_integer(L, "cut", -1);
    c->cut = cut < 0 ? CUT_NONE : (size_t)cut;
    c->piece_bytes = (size_t)field_integer(L, "piece_bytes", 64);
    c->pause_us = field_integer(L, "pause_ms", 0) * 1000;
    c->is_stream = field_is_true(L, "stream");
    c->status = (unsigned)field_integer(L, "status", MHD_HTTP_OK);
    if (!field_is_true(L, "raw")) {
        c->response = response_new(c);
        add_headers(L, c->response);
    }
    return field_integer(L, "delay_ms", 0) * 1000;
}

/* ---- the request, as provider.lua gets it ---- */

static enum MHD_Result add_pair(void *cls, enum MHD_ValueKind kind, const char *key,
                                const char *value)
{
    lua_State *L = cls; /* the table is on top */
    char name[256];
    size_t n = 0;
    for (; n < sizeof name - 1 && key[n]; n++) {
        bool is_upper = kind == MHD_HEADER_KIND && key[n] >= 'A' && key[n] <= 'Z';
        name[n] = (char)(is_upper ? key[n] + 'a' - 'A' : key[n]);
    }
    name[n] = '\0';
    lua_pushstring(L, value ? value : "");
    lua_setfield(L, -2, name);
    return MHD_YES;
}

static void set_pairs(struct call *c, enum MHD_ValueKind kind, const char *name)
{
    lua_State *L = c->stub->L;
    lua_newtable(L);
    MHD_get_connection_values(c->connection, kind, add_pair, L);
    lua_setfield(L, -2, name);
}

static void set_integer(lua_State *L, const char *name, lua_Integer value)
{
    lua_pushinteger(L, value);
    lua_setfield(L, -2, name);
}

static void push_request(struct call *c, const char *method)
{
    struct stub *s = c->stub;
    lua_newtable(s->L);
    lua_pushstring(s->L, method);
    lua_setfield(s->L, -2, "method");
    lua_pushstring(s->L, c->path);
    lua_setfield(s->L, -2, "path");
    lua_pushlstring(s->L, buf_text(&c->request), c->request.len);
    lua_setfield(s->L, -2, "body");
    set_pairs(c, MHD_HEADER_KIND, "headers");
    set_pairs(c, MHD_GET_ARGUMENT_KIND, "query");
    if (c->kind != CALL_CONTROL)
        return;
    set_integer(s->L, "in_flight", s->in_flight);
    set_integer(s->L, "in_flight_max", s->in_flight_max);
    set_integer(s->L, "closed_early", s->closed_early);
    set_integer(s->L, "fast_calls", s->fast_calls);
}

static void reset(struct stub *s)
{
    s->in_flight_max = s->in_flight;
    s->closed_early = s->fast_calls = 0;
}

/* Ask provider.serve. A fault in provider.lua itself is told and answered as 500. */
static int64_t call_answer(struct call *c, const char *method)
{
    lua_State *L = c->stub->L;
    lua_getfield(L, 1, "serve");
    push_request(c, method);
    bool ok = lua_pcall(L, 1, 1, 0) == LUA_OK;
    if (!ok || !lua_istable(L, -1)) {
        fprintf(stderr, "stub: %s\n", ok ? "no answer" : lua_tostring(L, -1));
        lua_newtable(L);
        set_integer(L, "status", MHD_HTTP_INTERNAL_SERVER_ERROR);
    }
    int64_t wait_us = take_answer(c, L);
    lua_settop(L, 1);
    if (c->kind == CALL_CONTROL && strcmp(c->path, "/reset") == 0)
        reset(c->stub);
    c->is_answered = true;
    return wait_us;
}

/* ---- what libmicrohttpd calls ---- */

static struct call *call_new(struct stub *s, struct MHD_Connection *m, const char *url,
                             enum call_kind kind)
{
    struct call *c = mem_new(sizeof *c);
    c->stub = s;
    c->connection = m;
    c->kind = kind;
    c->path = mem_copy(url, strlen(url));
    c->request.max = BODY_MAX;
    if (kind == CALL_CONTROL)
        return c;
    s->in_flight++;
    if (s->in_flight > s->in_flight_max)
        s->in_flight_max = s->in_flight;
    return c;
}

static void on_completed(void *cls, struct MHD_Connection *connection, void **state,
                         enum MHD_RequestTerminationCode code)
{
    struct stub *s = cls;
    struct call *c = *state;
    if (!c)
        return;
    bool is_ours = c->cut != CUT_NONE || (c->is_answered && !c->response);
    if (c->is_gone || (code != MHD_REQUEST_TERMINATED_COMPLETED_OK && !is_ours))
        s->closed_early++;
    if (c->kind != CALL_CONTROL)
        s->in_flight--;
    if (c->response)
        MHD_destroy_response(c->response);
    buf_free(&c->request);
    buf_free(&c->reply);
    mem_free(c->path);
    mem_free(c);
    *state = NULL;
}

static enum MHD_Result call_send(struct call *c)
{
    if (c->is_gone)
        return MHD_NO;
    if (c->kind == CALL_FAST)
        return MHD_queue_response(c->connection, MHD_HTTP_OK, c->stub->canned);
    c->is_due = false;
    if (c->response)
        return MHD_queue_response(c->connection, c->status, c->response);
    send(call_socket(c), buf_text(&c->reply), c->reply.len, MSG_NOSIGNAL);
    return MHD_NO; /* closes the connection */
}

/* The whole request is here. */
static enum MHD_Result call_end(struct call *c, const char *method)
{
    if (c->is_answered)
        return call_send(c);
    int64_t wait_us = c->stub->latency_us;
    if (c->kind == CALL_FAST)
        c->is_answered = true;
    else
        wait_us = call_answer(c, method);
    if (wait_us <= 0)
        return call_send(c);
    call_wait(c, wait_us);
    return MHD_YES;
}

static enum call_kind kind_of(const struct stub *s, const char *url)
{
    if (strcmp(url, "/stats") == 0 || strcmp(url, "/reset") == 0)
        return CALL_CONTROL;
    return s->is_fast ? CALL_FAST : CALL_SCRIPTED;
}

static enum MHD_Result on_request(void *cls, struct MHD_Connection *m, const char *url,
                                  const char *method, const char *version,
                                  const char *data, size_t *n, void **state)
{
    struct stub *s = cls;
    struct call *c = *state;
    if (s->is_ending)
        return MHD_NO;
    if (!c) {
        *state = call_new(s, m, url, kind_of(s, url));
        return MHD_YES;
    }
    if (*n == 0) {
        s->fast_calls += c->kind == CALL_FAST && !c->is_answered;
        return call_end(c, method);
    }
    if (c->kind != CALL_FAST && !buf_add(&c->request, data, *n))
        return MHD_NO;
    *n = 0;
    return MHD_YES;
}

/* ---- start ---- */

static bool folder_of_stub(char folder[PATH_SIZE])
{
    ssize_t n = readlink("/proc/self/exe", folder, PATH_SIZE - 1);
    folder[n < 0 ? 0 : n] = '\0';
    char *slash = strrchr(folder, '/');
    if (slash)
        *slash = '\0';
    return slash != NULL;
}

/* provider.lua lives in tests/stub; the program in build/MODE. */
static bool load_provider(lua_State *L)
{
    char folder[PATH_SIZE];
    luaL_openlibs(L);
    luaL_requiref(L, "rt.json", luaopen_rt_json, 0);
    luaL_requiref(L, "rt.digest", luaopen_rt_digest, 0);
    luaL_requiref(L, "rt.rng", luaopen_rt_rng, 0);
    luaL_requiref(L, "rt.text", luaopen_rt_text, 0);
    luaL_requiref(L, "rt.document", luaopen_rt_document, 0);
    order_install(L);
    lua_settop(L, 0);
    if (!folder_of_stub(folder))
        return false;
    lua_getglobal(L, "package");
    lua_pushfstring(L, "%s/../../tests/stub/?.lua", folder);
    lua_setfield(L, -2, "path");
    lua_settop(L, 0);
    lua_getglobal(L, "require");
    lua_pushstring(L, "provider");
    if (lua_pcall(L, 1, 1, 0) == LUA_OK)
        return true;
    fprintf(stderr, "stub: %s\n", lua_tostring(L, -1));
    return false;
}

/* provider.start reads the options; its settings are left on the stack. */
static bool start_provider(lua_State *L, int argc, char **argv)
{
    lua_getfield(L, 1, "start");
    lua_newtable(L);
    for (int i = 1; i < argc; i++) {
        lua_pushstring(L, argv[i]);
        lua_rawseti(L, -2, i);
    }
    if (lua_pcall(L, 1, 1, 0) == LUA_OK)
        return true;
    fprintf(stderr, "stub: %s\n", lua_tostring(L, -1));
    return false;
}

static unsigned raise_file_limit(void)
{
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max < 65536 ? limit.rlim_max : 65536;
    setrlimit(RLIMIT_NOFILE, &limit);
    return (unsigned)limit.rlim_cur - 32;
}

static bool listen_on(struct stub *s, uint16_t port)
{
    struct sockaddr_in here = { .sin_family = AF_INET,
                                .sin_port = htons(port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    s->daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, port, NULL, NULL, on_request, s,
        MHD_OPTION_SOCK_ADDR, &here, MHD_OPTION_CONNECTION_LIMIT, raise_file_limit(),
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY,
        MHD_OPTION_LISTEN_BACKLOG_SIZE, 4096u, MHD_OPTION_NOTIFY_COMPLETED, on_completed,
        s, MHD_OPTION_END);
    if (!s->daemon)
        fprintf(stderr, "stub: cannot listen on 127.0.0.1:%u: %s\n", port,
                strerror(errno));
    return s->daemon != NULL;
}

static bool write_port(unsigned port, const char *path)
{
    char draft[PATH_SIZE];
    snprintf(draft, sizeof draft, "%s.new", path);
    FILE *f = fopen(draft, "w");
    bool ok = f && fprintf(f, "%u\n", port) > 0;
    ok = (!f || fclose(f) == 0) && ok && rename(draft, path) == 0;
    if (!ok)
        fprintf(stderr, "stub: cannot write %s: %s\n", path, strerror(errno));
    return ok;
}

/* When the line is on stdout, the file is there as well. */
static bool tell_port(const struct stub *s, const char *port_file)
{
    unsigned port = MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_BIND_PORT)->port;
    if (port_file && !write_port(port, port_file))
        return false;
    printf("port %u\n", port);
    fflush(stdout);
    return true;
}

/* End with whoever started the stub. */
static void watch_parent(struct stub *s)
{
    struct stat info;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigprocmask(SIG_BLOCK, &set, NULL);
    s->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    bool is_open = fstat(STDIN_FILENO, &info) == 0;
    s->watches_stdin = is_open && (S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode));
    if (!s->watches_stdin)
        prctl(PR_SET_PDEATHSIG, SIGTERM);
}

static struct MHD_Response *canned_new(const char *body, size_t n)
{
    struct MHD_Response *r = MHD_create_response_from_buffer_with_free_callback(
        n, mem_copy(body, n), mem_free);
    MHD_add_response_header(r, "Content-Type", "application/json");
    return r;
}

static bool stub_start(struct stub *s, lua_State *L) /* settings on top of the stack */
{
    s->is_fast = field_is_true(L, "fast");
    s->latency_us = field_integer(L, "latency_ms", 0) * 1000;
    s->end_us = now_us() + field_integer(L, "max_seconds", 600) * MICROSECONDS;
    s->hangups = epoll_create1(EPOLL_CLOEXEC);
    watch_parent(s);
    uint16_t port = (uint16_t)field_integer(L, "port", 0);
    lua_getfield(L, -1, "canned");
    s->canned = canned_new(lua_tostring(L, -1), lua_rawlen(L, -1));
    lua_getfield(L, -2, "port_file");
    bool ok = listen_on(s, port) && tell_port(s, lua_tostring(L, -1));
    lua_settop(L, 1);
    return ok;
}

/* ---- the loop ---- */

static int wait_ms(const struct stub *s)
{
    MHD_UNSIGNED_LONG_LONG timeout;
    if (MHD_get_timeout(s->daemon, &timeout) == MHD_YES && timeout == 0)
        return 0;
    int64_t due = s->end_us;
    if (s->waiting.count > 0 && s->waiting.at[1]->due_us < due)
        due = s->waiting.at[1]->due_us;
    int64_t left = (due - now_us() + 999) / 1000;
    return (int)(left < 0 ? 0 : left);
}

static bool stdin_is_closed(void)
{
    char bytes[256];
    return read(STDIN_FILENO, bytes, sizeof bytes) <= 0;
}

static void stub_turn(struct stub *s)
{
    int mhd = MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
    struct pollfd fds[] = { { .fd = mhd, .events = POLLIN },
                            { .fd = s->hangups, .events = POLLIN },
                            { .fd = s->signals, .events = POLLIN },
                            { .fd = s->watches_stdin ? STDIN_FILENO : -1,
                              .events = POLLIN } };
    poll(fds, sizeof fds / sizeof fds[0], wait_ms(s));
    if (fds[2].revents || (fds[3].revents && stdin_is_closed()))
        s->is_ending = true;
    if (now_us() >= s->end_us) {
        fprintf(stderr, "stub: ended after --max-seconds\n");
        s->is_ending = true;
    }
    if (fds[1].revents)
        resume_gone(s);
    resume_due(s);
    MHD_run(s->daemon);
}

static void stub_stop(struct stub *s)
{
    if (s->daemon) {
        resume_due(s);
        MHD_run(s->daemon);
        MHD_stop_daemon(s->daemon);
    }
    if (s->canned)
        MHD_destroy_response(s->canned);
    mem_free(s->waiting.at);
    lua_close(s->L);
}

int main(int argc, char **argv)
{
    struct stub s = { .L = luaL_newstate() };
    bool ok =
        load_provider(s.L) && start_provider(s.L, argc, argv) && stub_start(&s, s.L);
    while (ok && !s.is_ending)
        stub_turn(&s);
    stub_stop(&s);
    return ok ? 0 : 2;
}
