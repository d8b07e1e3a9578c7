/* bench_http.c - what a call costs with libcurl alone.
 *
 *   bench_http URL CALLS IN_FLIGHT NAME
 *
 * CALLS posts of one 3 KB body to URL, IN_FLIGHT of them at a time, over libcurl's
 * multi interface on epoll; no JSON, no journal, no Lua. Prints
 *
 *   bare NAME.calls_per_s N 1/s
 *   bare NAME.cpu_us N us
 */
#include "base/buf.h"
#include "base/mem.h"
#include <curl/curl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <time.h>

enum {
    BODY_SIZE = 3072,
    EVENTS_A_TURN = 256,
    IN_FLIGHT_MAX = 20000,
    CALLS_MAX = 10000000
};

static struct {
    CURLM *multi;
    struct curl_slist *headers;
    const char *url;
    char body[BODY_SIZE + 1];
    int epoll;
    double due; /* when libcurl wants to be called; negative: never */
    long to_start, running, failed;
} bench;

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void fill_body(void)
{
    static const char head[] =
        "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"";
    static const char tail[] = "\"}]}";
    memset(bench.body, 'x', BODY_SIZE);
    memcpy(bench.body, head, sizeof head - 1);
    memcpy(bench.body + BODY_SIZE - (sizeof tail - 1), tail, sizeof tail - 1);
}

/* ---- what libcurl calls ---- */

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *arg, void *known)
{
    struct epoll_event event = { .data.fd = fd };
    event.events =
        (what & CURL_POLL_IN ? EPOLLIN : 0u) | (what & CURL_POLL_OUT ? EPOLLOUT : 0u);
    int action = what == CURL_POLL_REMOVE ? EPOLL_CTL_DEL
                 : known                  ? EPOLL_CTL_MOD
                                          : EPOLL_CTL_ADD;
    epoll_ctl(bench.epoll, action, fd, &event);
    curl_multi_assign(bench.multi, fd, what == CURL_POLL_REMOVE ? NULL : &bench);
    return 0;
}

static int on_timer(CURLM *multi, long timeout_ms, void *arg)
{
    bench.due = timeout_ms < 0 ? -1 : seconds(CLOCK_MONOTONIC) + (double)timeout_ms / 1e3;
    return 0;
}

static size_t on_bytes(char *p, size_t size, size_t n, void *to)
{
    buf_add(to, p, size * n);
    return size * n;
}

/* ---- calls ---- */

/* The handle owns `reply` as its private pointer until it is freed. */
static CURL *call_new(void)
{
    CURL *easy = curl_easy_init();
    struct buf *reply = mem_new(sizeof *reply);
    curl_easy_setopt(easy, CURLOPT_URL, bench.url);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, bench.headers);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, bench.body);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, (long)BODY_SIZE);
    curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, 16384L);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_bytes);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, reply);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, reply);
    return easy;
}

static struct buf *call_reply(CURL *easy)
{
    char *reply = NULL;
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, &reply);
    return (struct buf *)(void *)reply;
}

static void call_free(CURL *easy)
{
    struct buf *reply = call_reply(easy);
    curl_easy_cleanup(easy);
    buf_free(reply);
    mem_free(reply);
}

static void call_start(CURL *easy)
{
    buf_clear(call_reply(easy));
    curl_multi_add_handle(bench.multi, easy);
    bench.to_start--;
    bench.running++;
}

static void call_end(const CURLMsg *m)
{
    CURL *easy = m->easy_handle;
    long status = 0;
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    bench.failed += m->data.result != CURLE_OK || status != 200;
    bench.running--;
    curl_multi_remove_handle(bench.multi, easy);
    if (bench.to_start > 0)
        call_start(easy);
    else
        call_free(easy);
}

static int wait_ms(void)
{
    double left = bench.due < 0 ? -1 : (bench.due - seconds(CLOCK_MONOTONIC)) * 1e3;
    return bench.due < 0 ? -1 : left <= 0 ? 0 : (int)left + 1;
}

static void turn(void)
{
    struct epoll_event events[EVENTS_A_TURN];
    int running, left, n = epoll_wait(bench.epoll, events, EVENTS_A_TURN, wait_ms());
    if (bench.due >= 0 && bench.due <= seconds(CLOCK_MONOTONIC)) {
        bench.due = -1;
        curl_multi_socket_action(bench.multi, CURL_SOCKET_TIMEOUT, 0, &running);
    }
    for (int i = 0; i < n; i++) {
        uint32_t seen = events[i].events;
        int what = (seen & EPOLLIN ? CURL_CSELECT_IN : 0) |
                   (seen & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
                   (seen & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0);
        curl_multi_socket_action(bench.multi, events[i].data.fd, what, &running);
    }
    for (CURLMsg *m = curl_multi_info_read(bench.multi, &left); m;
         m = curl_multi_info_read(bench.multi, &left))
        call_end(m);
}

static void run(long calls, long in_flight)
{
    bench.to_start = calls;
    for (long i = 0; i < in_flight && bench.to_start > 0; i++)
        call_start(call_new());
    while (bench.running > 0)
        turn();
}

static void bench_init(const char *url, long in_flight)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
    fill_body();
    bench.url = url;
    bench.epoll = epoll_create1(EPOLL_CLOEXEC);
    bench.due = -1;
    bench.headers = curl_slist_append(NULL, "Content-Type: application/json");
    bench.headers = curl_slist_append(bench.headers, "Expect:");
    bench.multi = curl_multi_init();
    curl_multi_setopt(bench.multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    curl_multi_setopt(bench.multi, CURLMOPT_TIMERFUNCTION, on_timer);
    curl_multi_setopt(bench.multi, CURLMOPT_MAXCONNECTS, in_flight);
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

static void bench_fini(void)
{
    curl_multi_cleanup(bench.multi);
    curl_slist_free_all(bench.headers);
    curl_global_cleanup();
}

int main(int argc, char **argv)
{
    long calls = argc == 5 ? strtol(argv[2], NULL, 10) : 0;
    long in_flight = argc == 5 ? strtol(argv[3], NULL, 10) : 0;
    if (calls < 1 || calls > CALLS_MAX || in_flight < 1 || in_flight > IN_FLIGHT_MAX) {
        fprintf(stderr, "usage: bench_http URL CALLS IN_FLIGHT NAME\n");
        return 2;
    }
    bench_init(argv[1], in_flight);
    double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    run(calls, in_flight);
    wall = seconds(CLOCK_MONOTONIC) - wall;
    cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    printf("bare %s.calls_per_s %.0f 1/s\n", argv[4], (double)calls / wall);
    printf("bare %s.cpu_us %.1f us\n", argv[4], cpu * 1e6 / (double)calls);
    bench_fini();
    if (bench.failed > 0)
        fprintf(stderr, "bench_http: %ld of %ld calls failed\n", bench.failed, calls);
    return bench.failed > 0;
}
