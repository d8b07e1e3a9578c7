/* test_stub.c - the scripted provider of the tests, tested itself. */
#include "base/buf.h"
#include "base/digest.h"
#include "base/mem.h"
#include "check.h"
#include <arpa/inet.h>
#include <curl/curl.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define ECHO_SCRIPT "--script", "tests/stub/scripts/echo.lua"

enum { ARGS_MAX = 16 };

static char stub_path[4096];
static char folder[64];

/* ---- a stub in a child process ---- */

struct server {
    pid_t pid;
    int input; /* the stub ends when this closes */
    unsigned port;
};

static unsigned read_port(int fd)
{
    char line[64];
    unsigned port = 0;
    ssize_t n = read(fd, line, sizeof line - 1);
    line[n > 0 ? n : 0] = '\0';
    sscanf(line, "port %u", &port);
    return port;
}

/* Start the stub with these options (NULL behind the last). Port 0: it ended. */
static struct server start(const char *const options[])
{
    const char *argv[ARGS_MAX + 2] = { "stub" };
    for (size_t i = 0; i < ARGS_MAX && options[i]; i++)
        argv[i + 1] = options[i];
    int in[2] = { -1, -1 }, out[2] = { -1, -1 };
    bool ok = pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0;
    struct server s = { .pid = ok ? fork() : -1, .input = in[1] };
    if (s.pid == 0) {
        dup2(in[0], STDIN_FILENO);
        dup2(out[1], STDOUT_FILENO);
        close(in[1]);
        execv(stub_path, (char *const *)argv);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    s.port = read_port(out[0]);
    close(out[0]);
    return s;
}

#define START(...) start((const char *const[]){ __VA_ARGS__, NULL })

/* Wait for the end; the exit code, or minus the signal. */
static int wait_end(struct server *s)
{
    int status = 0;
    waitpid(s->pid, &status, 0);
    close(s->input);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static int stop(struct server *s)
{
    close(s->input);
    s->input = -1;
    return wait_end(s);
}

/* ---- a client ---- */

struct reply {
    CURLcode code;
    long status, retry_after_s;
    struct buf head, body;
};

static size_t add_bytes(char *p, size_t size, size_t n, void *to)
{
    buf_add(to, p, size * n);
    return size * n;
}

/* One request; `body` NULL is a GET, `header` may be NULL. Freed by reply_free. */
static struct reply ask(const struct server *s, const char *path, const char *body,
                        const char *header, long timeout_ms)
{
    struct reply r = { 0 };
    char url[256];
    CURL *easy = curl_easy_init();
    struct curl_slist *list = header ? curl_slist_append(NULL, header) : NULL;
    snprintf(url, sizeof url, "http://127.0.0.1:%u%s", s->port, path);
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, list);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, timeout_ms);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, add_bytes);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, &r.body);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, &r.head);
    if (body)
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body);
    r.code = curl_easy_perform(easy);
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &r.status);
    curl_off_t wait = 0;
    curl_easy_getinfo(easy, CURLINFO_RETRY_AFTER, &wait);
    r.retry_after_s = (long)wait;
    curl_slist_free_all(list);
    curl_easy_cleanup(easy);
    return r;
}

static void reply_free(struct reply *r)
{
    buf_free(&r->head);
    buf_free(&r->body);
}

static char *chat_body(const char *user, bool is_stream)
{
    struct buf b = { 0 };
    buf_add_format(&b,
                   "{\"model\": \"m\", \"stream\": %s, \"messages\": "
                   "[{\"role\": \"user\", \"content\": \"%s\"}]}",
                   is_stream ? "true" : "false", user);
    return buf_give(&b, NULL);
}

static struct reply chat(const struct server *s, const char *user)
{
    char *body = chat_body(user, false);
    struct reply r = ask(s, "/v1/chat/completions", body, NULL, 10000);
    mem_free(body);
    return r;
}

static long status_of(const struct server *s, const char *user)
{
    struct reply r = chat(s, user);
    long status = r.status;
    reply_free(&r);
    return status;
}

static bool has(const struct buf *b, const char *piece)
{
    return strstr(buf_text(b), piece) != NULL;
}

/* The number behind "name" in /stats, -1 when it is not there. */
static long figure(const struct server *s, const char *name)
{
    char key[64];
    long value = -1;
    struct reply r = ask(s, "/stats", NULL, NULL, 10000);
    snprintf(key, sizeof key, "\"%s\": ", name);
    const char *at = strstr(buf_text(&r.body), key);
    if (at)
        value = strtol(at + strlen(key), NULL, 10);
    reply_free(&r);
    return value;
}

/* ---- replies ---- */

static void the_script_answers_and_the_reply_is_a_completion(void)
{
    struct server s = START(ECHO_SCRIPT);
    struct reply r = chat(&s, "good morning");
    CHECK_INT(r.status, 200);
    CHECK(has(&r.head, "Content-Type: application/json"));
    CHECK(has(&r.body, "\"content\": \"good morning\""));
    CHECK(has(&r.body, "\"finish_reason\": \"stop\""));
    CHECK(has(&r.body, "\"prompt_tokens\": 7"));
    CHECK(has(&r.body, "\"model\": \"m\""));
    reply_free(&r);
    CHECK_INT(stop(&s), 0);
}

static void the_same_body_gets_the_same_bytes_and_is_counted_as_repeated(void)
{
    struct server s = START(ECHO_SCRIPT);
    struct reply first = chat(&s, "again"), second = chat(&s, "again");
    CHECK_TEXT(buf_text(&second.body), buf_text(&first.body));
    CHECK_INT(figure(&s, "distinct"), 1);
    CHECK_INT(figure(&s, "repeated"), 1);
    reply_free(&first);
    reply_free(&second);
    stop(&s);
}

static void a_script_sees_attempt_headers_query_and_digest(void)
{
    struct server s = START(ECHO_SCRIPT);
    char *body = chat_body("stub: text = info.attempt .. info.headers['x-a'] .. "
                           "info.query.v .. #info.digest",
                           false);
    struct reply r = { 0 };
    for (int i = 0; i < 2; i++) {
        reply_free(&r);
        r = ask(&s, "/openai/deployments/d/chat/completions?v=7", body, "X-A: yes",
                10000);
    }
    CHECK(has(&r.body, "\"content\": \"2yes764\""));
    mem_free(body);
    reply_free(&r);
    stop(&s);
}

static void other_paths_go_to_the_script(void)
{
    struct server s = START(ECHO_SCRIPT);
    struct reply r = ask(&s, "/v1/models", NULL, NULL, 10000);
    CHECK_TEXT(buf_text(&r.body), "GET /v1/models");
    reply_free(&r);
    stop(&s);
}

static void reasoning_and_tool_calls_have_their_places(void)
{
    struct server s = START(ECHO_SCRIPT);
    struct reply r = chat(&s, "stub: reasoning = 'because', tool_calls = "
                              "{ { name = 'read', arguments = { path = 'a' } } }");
    CHECK(has(&r.body, "\"reasoning_content\": \"because\""));
    CHECK(has(&r.body, "\"name\": \"read\""));
    CHECK(has(&r.body, "\"arguments\": \"{\\\"path\\\": \\\"a\\\"}\""));
    CHECK(has(&r.body, "\"finish_reason\": \"tool_calls\""));
    CHECK(has(&r.body, "\"reasoning_tokens\": 2"));
    reply_free(&r);
    stop(&s);
}

static void usage_and_finish_can_be_left_out(void)
{
    struct server s = START(ECHO_SCRIPT);
    struct reply r = chat(&s, "stub: usage = false, finish = false");
    CHECK(!has(&r.body, "usage\":"));
    CHECK(has(&r.body, "\"finish_reason\": null"));
    reply_free(&r);
    stop(&s);
}

static void a_stream_is_events_that_end_with_done(void)
{
    struct server s = START(ECHO_SCRIPT);
    char *body = chat_body("one two three four", true);
    struct reply r = ask(&s, "/v1/chat/completions", body, NULL, 10000);
    const char *text = buf_text(&r.body);
    CHECK(has(&r.head, "Content-Type: text/event-stream"));
    CHECK(has(&r.head, "Transfer-Encoding: chunked"));
    CHECK(has(&r.body, "\"content\": \"one two thre\""));
    CHECK(has(&r.body, "\"content\": \"e four\""));
    CHECK(!has(&r.body, "\"usage\""));
    CHECK(r.body.len > 14 && strcmp(text + r.body.len - 14, "data: [DONE]\n\n") == 0);
    mem_free(body);
    reply_free(&r);
    stop(&s);
}

static void a_paused_stream_arrives_whole(void)
{
    struct server s = START(ECHO_SCRIPT);
    char *body = chat_body("stub: text = 'slow', pause_ms = 10", true);
    struct reply r = ask(&s, "/v1/chat/completions", body, NULL, 10000);
    CHECK_INT(r.code, CURLE_OK);
    CHECK(has(&r.body, "\"content\": \"slow\"") && has(&r.body, "[DONE]"));
    mem_free(body);
    reply_free(&r);
    stop(&s);
}

static void a_cut_body_ends_the_connection_in_the_middle(void)
{
    struct server s = START(ECHO_SCRIPT);
    struct reply r = chat(&s, "stub: cut = 40");
    CHECK_INT(r.code, CURLE_PARTIAL_FILE);
    CHECK_INT(r.body.len, 40);
    CHECK_INT(figure(&s, "closed_early"), 0);
    reply_free(&r);
    stop(&s);
}

static void a_cut_stream_has_no_last_chunk(void)
{
    struct server s = START(ECHO_SCRIPT);
    struct reply r = chat(&s, "stub: stream = true, cut = 40");
    CHECK_INT(r.code, CURLE_PARTIAL_FILE);
    CHECK_INT(r.body.len, 40);
    reply_free(&r);
    stop(&s);
}

static void a_raw_reply_is_sent_as_it_is(void)
{
    struct server s = START(ECHO_SCRIPT);
    struct reply r = chat(&s, "stub: raw = 'HTTP/1.1 218 odd\\\\r\\\\n\\\\r\\\\nbytes'");
    CHECK_INT(r.status, 218);
    CHECK_TEXT(buf_text(&r.body), "bytes");
    reply_free(&r);
    stop(&s);
}

static void a_body_that_is_not_json_is_a_bad_request(void)
{
    struct server s = START(ECHO_SCRIPT);
    struct reply r = ask(&s, "/v1/chat/completions", "{", NULL, 10000);
    CHECK_INT(r.status, 400);
    CHECK(has(&r.body, "not a JSON object"));
    reply_free(&r);
    stop(&s);
}

static void a_field_that_no_reply_has_is_an_error_of_the_script(void)
{
    struct server s = START(ECHO_SCRIPT);
    struct reply r = chat(&s, "stub: delay = 1");
    CHECK_INT(r.status, 500);
    CHECK(has(&r.body, "a reply has no field \\\"delay\\\""));
    CHECK_INT(figure(&s, "script_errors"), 1);
    reply_free(&r);
    stop(&s);
}

static void a_wrong_key_is_refused_and_the_right_one_is_not(void)
{
    struct server s = START(ECHO_SCRIPT, "--key", "sk-right");
    const char *path = "/v1/chat/completions", *body = "{\"messages\": []}";
    struct reply none = ask(&s, path, body, NULL, 10000);
    struct reply wrong = ask(&s, path, body, "Authorization: Bearer sk-wrong", 10000);
    struct reply right = ask(&s, path, body, "Authorization: Bearer sk-right", 10000);
    struct reply azure = ask(&s, path, body, "api-key: sk-right", 10000);
    CHECK_INT(none.status, 401);
    CHECK_INT(wrong.status, 401);
    CHECK_INT(right.status, 200);
    CHECK_INT(azure.status, 200);
    reply_free(&none);
    reply_free(&wrong);
    reply_free(&right);
    reply_free(&azure);
    stop(&s);
}

/* ---- waiting ---- */

/* Until so many calls wait; a stub that has ended has no figures. */
static void wait_in_flight(const struct server *s, long count)
{
    long now;
    do
        now = figure(s, "in_flight");
    while (now >= 0 && now != count);
}

static void a_client_that_hangs_up_is_seen_at_once(void)
{
    struct server s = START(ECHO_SCRIPT);
    char *body = chat_body("stub: delay_ms = 60000", false);
    struct reply r = ask(&s, "/v1/chat/completions", body, NULL, 100);
    CHECK_INT(r.code, CURLE_OPERATION_TIMEDOUT);
    wait_in_flight(&s, 0);
    CHECK_INT(figure(&s, "closed_early"), 1);
    CHECK_INT(figure(&s, "in_flight"), 0);
    CHECK_INT(figure(&s, "in_flight_max"), 1);
    mem_free(body);
    reply_free(&r);
    CHECK_INT(stop(&s), 0);
}

static int connect_to(const struct server *s, in_addr_t address)
{
    struct sockaddr_in there = { .sin_family = AF_INET,
                                 .sin_port = htons((uint16_t)s->port),
                                 .sin_addr.s_addr = htonl(address) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&there, sizeof there) == 0)
        return fd;
    close(fd);
    return -1;
}

static void only_one_address_of_the_loopback_listens(void)
{
    struct server s = START(ECHO_SCRIPT);
    int here = connect_to(&s, INADDR_LOOPBACK),
        beside = connect_to(&s, INADDR_LOOPBACK + 1);
    CHECK(here >= 0);
    CHECK(beside < 0);
    close(here);
    stop(&s);
}

static bool send_call(int fd, const char *user)
{
    char *body = chat_body(user, false);
    struct buf text = { 0 };
    buf_add_format(&text,
                   "POST /chat/completions HTTP/1.1\r\nHost: x\r\n"
                   "Content-Length: %zu\r\n\r\n%s",
                   strlen(body), body);
    bool ok = send(fd, text.ptr, text.len, MSG_NOSIGNAL) == (ssize_t)text.len;
    buf_free(&text);
    mem_free(body);
    return ok;
}

static int many(void)
{
    const char *form = getenv("SKILLOPT_TEST_FORM");
    return form && strcmp(form, "short") != 0 ? 10000 : 1000;
}

/* Calls are sent, all of them wait at the stub, then every client hangs up. */
static void many_calls_wait_at_once_on_one_thread(void)
{
    struct server s = START(ECHO_SCRIPT, "--max-seconds", "100");
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    int count = many(), sent = 0;
    int *fds = mem_new_array((size_t)count, sizeof *fds);
    for (int i = 0; i < count; i++) {
        fds[i] = connect_to(&s, INADDR_LOOPBACK);
        sent += fds[i] >= 0 && send_call(fds[i], "stub: delay_ms = 60000");
    }
    CHECK_INT(sent, count);
    wait_in_flight(&s, sent);
    CHECK_INT(figure(&s, "in_flight_max"), count);
    CHECK_INT(figure(&s, "closed_early"), 0);
    for (int i = 0; i < count; i++)
        close(fds[i]);
    wait_in_flight(&s, 0);
    CHECK_INT(figure(&s, "closed_early"), count);
    mem_free(fds);
    CHECK_INT(stop(&s), 0);
}

static void a_stub_with_waiting_calls_ends_cleanly(void)
{
    struct server s = START(ECHO_SCRIPT);
    int delayed = connect_to(&s, INADDR_LOOPBACK),
        paused = connect_to(&s, INADDR_LOOPBACK);
    CHECK(send_call(delayed, "stub: delay_ms = 60000"));
    CHECK(send_call(paused, "stub: pause_ms = 60000"));
    wait_in_flight(&s, 2);
    CHECK_INT(stop(&s), 0);
    close(delayed);
    close(paused);
}

/* ---- faults ---- */

struct fault_case {
    const char *kind, *user;
    CURLcode code;
    long status;
    const char *piece; /* in the body */
};

static void check_fault(const struct fault_case *c)
{
    struct server s = START(ECHO_SCRIPT, "--fail-always", "1", "--fault", c->kind,
                            "--retry-after", "7", "--slow-ms", "30");
    struct reply r = chat(&s, c->user);
    CHECK_INT(r.code, c->code);
    CHECK_INT(r.status, c->status);
    CHECK(has(&r.body, c->piece));
    CHECK_INT(figure(&s, c->kind), 1);
    reply_free(&r);
    stop(&s);
}

static void each_kind_of_fault_has_its_shape(void)
{
    static const struct fault_case cases[] = {
        { "rate_limit", "a", CURLE_OK, 429, "rate_limit_exceeded" },
        { "rate_limit_date", "a", CURLE_OK, 429, "rate_limit_exceeded" },
        { "500", "a", CURLE_OK, 500, "server_error" },
        { "503", "a", CURLE_OK, 503, "server_error" },
        { "cut", "a", CURLE_PARTIAL_FILE, 200, "{\"choices\": [" },
        { "slow", "hello", CURLE_OK, 200, "hello" },
        { "invalid_json", "a", CURLE_OK, 200, "{\"choices\": [" },
        { "html", "a", CURLE_OK, 200, "<html>" },
        { "empty_choices", "a", CURLE_OK, 200, "\"choices\":[]" },
        { "chunk", "a", CURLE_RECV_ERROR, 200, "{\"choices" },
        { "error_in_stream", "a", CURLE_OK, 200, "upstream went away" },
        { "error_in_stream", "stub: stream = true", CURLE_OK, 200, "delta" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check_fault(&cases[i]);
}

static void an_invalid_body_is_cut_but_complete_for_http(void)
{
    struct server s = START(ECHO_SCRIPT, "--fail-always", "1", "--fault", "invalid_json");
    struct reply r = chat(&s, "a");
    CHECK_INT(r.code, CURLE_OK);
    CHECK(r.body.len > 20 && buf_text(&r.body)[r.body.len - 1] != '}');
    reply_free(&r);
    stop(&s);
}

static void a_429_says_when_in_seconds_and_as_a_date_of_a_wrong_clock(void)
{
    struct server s = START(ECHO_SCRIPT, "--fail-always", "1", "--fault", "rate_limit",
                            "--retry-after", "7");
    struct reply r = chat(&s, "a");
    CHECK_INT(r.retry_after_s, 7);
    reply_free(&r);
    stop(&s);
    s = START(ECHO_SCRIPT, "--fail-always", "1", "--fault", "rate_limit_date",
              "--retry-after", "7");
    r = chat(&s, "a");
    const char *date = strstr(buf_text(&r.head), "Date: ");
    const char *after = strstr(buf_text(&r.head), "Retry-After: ");
    if (CHECK(date && after))
        CHECK_INT(curl_getdate(after + 13, NULL) - curl_getdate(date + 6, NULL), 7);
    CHECK(r.retry_after_s > 3500); /* who trusts the local clock waits an hour */
    reply_free(&r);
    stop(&s);
}

/* How many of `count` different bodies fail, as a text of 0 and 1. */
static int failing(const struct server *s, int count, char *seen)
{
    int failed = 0;
    for (int i = 0; i < count; i++) {
        char user[16];
        snprintf(user, sizeof user, "%d", i);
        seen[i] = status_of(s, user) == 200 ? '0' : '1';
        failed += seen[i] == '1';
    }
    seen[count] = '\0';
    return failed;
}

static void a_share_of_the_calls_fails_and_the_same_ones_after_a_reset(void)
{
    char first[201], second[201], again[201];
    struct server s = START(ECHO_SCRIPT, "--fail-share", "0.25", "--fault", "500");
    int failed = failing(&s, 200, first);
    CHECK(failed > 25 && failed < 75);
    failing(&s, 200, second);
    CHECK(strcmp(first, second) != 0);
    struct reply r = ask(&s, "/reset", "", NULL, 10000);
    CHECK_INT(r.status, 200);
    reply_free(&r);
    CHECK_INT(figure(&s, "calls"), 0);
    failing(&s, 200, again);
    CHECK_TEXT(again, first);
    CHECK_INT(figure(&s, "500"), failed);
    stop(&s);
}

static void a_body_that_always_fails_fails_at_every_attempt(void)
{
    char first[101], second[101];
    struct server s = START(ECHO_SCRIPT, "--fail-always", "0.2", "--fault", "500,503");
    int failed = failing(&s, 100, first);
    CHECK(failed > 5 && failed < 40);
    failing(&s, 100, second);
    CHECK_TEXT(second, first);
    stop(&s);
}

/* ---- the program ---- */

static void the_port_is_also_written_to_a_file(void)
{
    char path[128], line[32] = "";
    snprintf(path, sizeof path, "%s/port", folder);
    struct server s = START(ECHO_SCRIPT, "--port-file", path);
    FILE *f = fopen(path, "r");
    if (CHECK(f != NULL)) {
        CHECK(fgets(line, sizeof line, f) != NULL);
        CHECK_INT(strtol(line, NULL, 10), s.port);
        fclose(f);
    }
    stop(&s);
    unlink(path);
}

static void the_log_has_a_line_a_request_and_no_key(void)
{
    char path[128], text[2048] = "", hex[DIGEST_HEX + 1];
    struct digest of_key = digest_of("sk-abcdef", 9);
    digest_hex(&of_key, hex);
    snprintf(path, sizeof path, "%s/log.jsonl", folder);
    struct server s = START(ECHO_SCRIPT, "--log", path);
    struct reply r = ask(&s, "/v1/chat/completions", "{\"model\": \"big\"}",
                         "Authorization: Bearer sk-abcdef", 10000);
    reply_free(&r);
    stop(&s);
    FILE *f = fopen(path, "r");
    if (CHECK(f != NULL)) {
        CHECK(fread(text, 1, sizeof text - 1, f) > 0);
        fclose(f);
    }
    CHECK(strstr(text, "\"model\": \"big\"") && strstr(text, "\"status\": 200"));
    CHECK(!strstr(text, "abcdef"));
    CHECK(strstr(text, hex) != NULL);
    CHECK(strchr(text, '\n') == text + strlen(text) - 1);
    unlink(path);
}

static void fast_sends_the_same_reply_and_counts_the_calls(void)
{
    struct server s = START("--fast", "--latency-ms", "20");
    struct reply first = chat(&s, "a"), second = chat(&s, "b");
    CHECK_INT(first.status, 200);
    CHECK(has(&first.body, "<answer>canned</answer>"));
    CHECK_TEXT(buf_text(&second.body), buf_text(&first.body));
    CHECK_INT(figure(&s, "calls"), 2);
    CHECK_INT(figure(&s, "in_flight_max"), 1);
    reply_free(&first);
    reply_free(&second);
    stop(&s);
}

static void it_ends_on_sigterm_and_after_its_time(void)
{
    struct server s = START(ECHO_SCRIPT);
    kill(s.pid, SIGTERM);
    CHECK_INT(wait_end(&s), 0);
    s = START(ECHO_SCRIPT, "--max-seconds", "1");
    CHECK(s.port > 0);
    CHECK_INT(wait_end(&s), 0);
}

static void it_ends_with_its_parent_when_stdin_is_no_pipe(void)
{
    int out[2];
    CHECK(pipe(out) == 0);
    pid_t parent = fork();
    if (parent == 0) {
        dup2(out[1], STDOUT_FILENO);
        execl("/bin/sh", "sh", "-c",
              "\"$0\" --script tests/stub/scripts/echo.lua </dev/null & wait", stub_path,
              (char *)NULL);
        _exit(127);
    }
    close(out[1]);
    CHECK(read_port(out[0]) > 0);
    kill(parent, SIGKILL);
    waitpid(parent, NULL, 0);
    char byte;
    CHECK_INT(read(out[0], &byte, 1), 0); /* returns when no process holds the pipe */
    close(out[0]);
}

static void wrong_options_are_refused(void)
{
    static const char *const wrong[][5] = {
        { NULL },
        { "--fast", ECHO_SCRIPT, NULL },
        { "--script", "tests/stub/none.lua", NULL },
        { "--script", "tests/c/check.h", NULL },
        { ECHO_SCRIPT, "--port", "70000", NULL },
        { ECHO_SCRIPT, "--fail-share", "2", NULL },
        { ECHO_SCRIPT, "--fault", "earthquake", NULL },
        { ECHO_SCRIPT, "--port", NULL },
        { ECHO_SCRIPT, "--speed", "3", NULL },
        { ECHO_SCRIPT, "loud", NULL },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct server s = start(wrong[i]);
        CHECK_INT(s.port, 0);
        CHECK_INT(stop(&s), 2);
    }
}

/* build/MODE/tests/test_stub stands below build/MODE/stub. */
static bool find_stub(void)
{
    ssize_t n = readlink("/proc/self/exe", stub_path, sizeof stub_path - 1);
    if (n <= 0)
        return false;
    stub_path[n] = '\0';
    for (int i = 0; i < 2; i++)
        *strrchr(stub_path, '/') = '\0';
    size_t folder_size = strlen(stub_path);
    snprintf(stub_path + folder_size, sizeof stub_path - folder_size, "/stub");
    return access(stub_path, X_OK) == 0;
}

static const struct {
    const char *name;
    void (*run)(void);
} tests[] = {
    { "the script answers and the reply is a completion",
      the_script_answers_and_the_reply_is_a_completion },
    { "the same body gets the same bytes and is counted as repeated",
      the_same_body_gets_the_same_bytes_and_is_counted_as_repeated },
    { "a script sees attempt headers query and digest",
      a_script_sees_attempt_headers_query_and_digest },
    { "other paths go to the script", other_paths_go_to_the_script },
    { "reasoning and tool calls have their places",
      reasoning_and_tool_calls_have_their_places },
    { "usage and finish can be left out", usage_and_finish_can_be_left_out },
    { "a stream is events that end with done", a_stream_is_events_that_end_with_done },
    { "a paused stream arrives whole", a_paused_stream_arrives_whole },
    { "a cut body ends the connection in the middle",
      a_cut_body_ends_the_connection_in_the_middle },
    { "a cut stream has no last chunk", a_cut_stream_has_no_last_chunk },
    { "a raw reply is sent as it is", a_raw_reply_is_sent_as_it_is },
    { "a body that is not json is a bad request",
      a_body_that_is_not_json_is_a_bad_request },
    { "a field that no reply has is an error of the script",
      a_field_that_no_reply_has_is_an_error_of_the_script },
    { "a wrong key is refused and the right one is not",
      a_wrong_key_is_refused_and_the_right_one_is_not },
    { "a client that hangs up is seen at once", a_client_that_hangs_up_is_seen_at_once },
    { "only one address of the loopback listens",
      only_one_address_of_the_loopback_listens },
    { "many calls wait at once on one thread", many_calls_wait_at_once_on_one_thread },
    { "a stub with waiting calls ends cleanly", a_stub_with_waiting_calls_ends_cleanly },
    { "each kind of fault has its shape", each_kind_of_fault_has_its_shape },
    { "an invalid body is cut but complete for http",
      an_invalid_body_is_cut_but_complete_for_http },
    { "a 429 says when in seconds and as a date of a wrong clock",
      a_429_says_when_in_seconds_and_as_a_date_of_a_wrong_clock },
    { "a share of the calls fails and the same ones after a reset",
      a_share_of_the_calls_fails_and_the_same_ones_after_a_reset },
    { "a body that always fails fails at every attempt",
      a_body_that_always_fails_fails_at_every_attempt },
    { "the port is also written to a file", the_port_is_also_written_to_a_file },
    { "the log has a line a request and no key",
      the_log_has_a_line_a_request_and_no_key },
    { "fast sends the same reply and counts the calls",
      fast_sends_the_same_reply_and_counts_the_calls },
    { "it ends on sigterm and after its time", it_ends_on_sigterm_and_after_its_time },
    { "it ends with its parent when stdin is no pipe",
      it_ends_with_its_parent_when_stdin_is_no_pipe },
    { "wrong options are refused", wrong_options_are_refused },
};

int main(void)
{
    snprintf(folder, sizeof folder, "/tmp/test_stub.%d", (int)getpid());
    if (!find_stub() || mkdir(folder, 0700) != 0) {
        fprintf(stderr, "%s is not built, or %s is in the way\n", stub_path, folder);
        return 1;
    }
    curl_global_init(CURL_GLOBAL_DEFAULT);
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++)
        check_run(tests[i].name, tests[i].run);
    curl_global_cleanup();
    rmdir(folder);
    return check_end();
}
