/* raw_server.h - a server on loopback that answers with bytes as they are written.
 *
 * One thread a connection; the test gives a function from path to bytes. What a
 * proper HTTP library would never send (cut, late, malformed) is the point. For one
 * program each: everything here is static. */
#pragma once
#include "base/buf.h"
#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct raw_request {
    char path[256];
    char head[8192]; /* request line and headers */
    struct buf body;
};

static struct raw_server {
    int fd, port;
    pthread_t thread;
    void (*answer)(int fd, const struct raw_request *r); /* shuts fd down to close it */
    pthread_mutex_t lock;
    int open[1024]; /* connections that live, for the end */
    size_t open_n;
    size_t accepted;
} raw = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void raw_send(int fd, const void *p, size_t n)
{
    for (ssize_t k; n > 0; p = (const char *)p + k, n -= (size_t)k) {
        k = send(fd, p, n, MSG_NOSIGNAL);
        if (k <= 0)
            return;
    }
}

static void raw_text(int fd, const char *text)
{
    raw_send(fd, text, strlen(text));
}

/* Wait ms, but no longer than the other side keeps the connection. */
static void raw_wait(int fd, int ms)
{
    struct pollfd p = { .fd = fd, .events = POLLRDHUP };
    poll(&p, 1, ms);
}

static bool raw_read_head(int fd, struct raw_request *r)
{
    size_t n = 0;
    while (n + 1 < sizeof r->head) {
        if (recv(fd, r->head + n, 1, 0) != 1)
            return false;
        if (r->head[0] == 0x16) { /* a TLS greeting */
            raw_text(fd, "HTTP/1.1 400 Bad Request\r\n\r\n");
            return false;
        }
        r->head[++n] = '\0';
        if (n >= 4 && strcmp(r->head + n - 4, "\r\n\r\n") == 0)
            break;
    }
    const char *path = strchr(r->head, ' ');
    size_t length = path ? strcspn(path + 1, " ") : 0;
    if (!path || length >= sizeof r->path)
        return false;
    memcpy(r->path, path + 1, length);
    r->path[length] = '\0';
    return true;
}

static bool raw_read_body(int fd, struct raw_request *r)
{
    const char *line = strcasestr(r->head, "content-length:");
    size_t left = line ? strtoul(line + 15, NULL, 10) : 0;
    buf_clear(&r->body);
    while (left > 0) {
        char piece[4096];
        ssize_t k = recv(fd, piece, left < sizeof piece ? left : sizeof piece, 0);
        if (k <= 0)
            return false;
        buf_add(&r->body, piece, (size_t)k);
        left -= (size_t)k;
    }
    return true;
}

static void *raw_serve(void *arg)
{
    int fd = (int)(intptr_t)arg;
    struct raw_request r = { 0 };
    while (raw_read_head(fd, &r) && raw_read_body(fd, &r))
        raw.answer(fd, &r);
    shutdown(fd, SHUT_RDWR);
    buf_free(&r.body);
    return NULL;
}

static void *raw_accept(void *arg)
{
    pthread_t threads[1024];
    for (;;) {
        int fd = accept4(raw.fd, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0 || raw.open_n == 1024)
            break;
        pthread_mutex_lock(&raw.lock);
        raw.accepted++;
        raw.open[raw.open_n] = fd;
        pthread_create(&threads[raw.open_n++], NULL, raw_serve, (void *)(intptr_t)fd);
        pthread_mutex_unlock(&raw.lock);
    }
    for (size_t i = 0; i < raw.open_n; i++) {
        shutdown(raw.open[i], SHUT_RDWR);
        pthread_join(threads[i], NULL);
        close(raw.open[i]);
    }
    return NULL;
}

static size_t raw_accepted(void)
{
    pthread_mutex_lock(&raw.lock);
    size_t n = raw.accepted;
    pthread_mutex_unlock(&raw.lock);
    return n;
}

static bool raw_start(void (*answer)(int fd, const struct raw_request *r))
{
    struct sockaddr_in a = { .sin_family = AF_INET };
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t n = sizeof a;
    raw.answer = answer;
    raw.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(raw.fd, (struct sockaddr *)&a, sizeof a) < 0 || listen(raw.fd, 1024) < 0 ||
        getsockname(raw.fd, (struct sockaddr *)&a, &n) < 0)
        return false;
    raw.port = ntohs(a.sin_port);
    return pthread_create(&raw.thread, NULL, raw_accept, NULL) == 0;
}

static void raw_stop(void)
{
    shutdown(raw.fd, SHUT_RDWR);
    pthread_join(raw.thread, NULL);
    close(raw.fd);
}
