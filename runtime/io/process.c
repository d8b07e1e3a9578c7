/* process.c - see process.h. Four streams lead to the supervisor and its child; when the
 * three that can be read are at their end, the process is over. */
#include "io/process.h"
#include "base/buf.h"
#include "base/fault.h"
#include "base/mem.h"
#include "io/loop.h"
#include "io/supervisor.h"
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

enum stream { INPUT, OUTPUT, ERRORS, CONTROL, STREAMS };
enum stage { WAITING, RUNNING, OVER };
enum { PAUSE_MS = 1 };
#define AGAIN_S 1.0 /* between two words to a supervisor that was to end everything */

struct process {
    struct process *next; /* in the line */
    enum stage stage;
    bool is_abandoned; /* freed by its owner; goes with its last handle */
    bool is_cut;       /* ended by us; `cut` says why */
    enum process_state cut;
    char *program, *folder, *input;
    char **argv, **env;
    size_t input_len, output_max;
    int64_t file_max;
    double timeout_s;
    void (*done)(void *arg);
    void *arg;
    pid_t supervisor;
    uv_pipe_t streams[STREAMS];
    bool is_open[STREAMS];
    int closing; /* handles that libuv has not given back */
    uv_write_t writing;
    struct timer timer;
    struct buf texts[STREAMS]; /* OUTPUT, ERRORS and, as bytes of the report, CONTROL */
    struct err fault;          /* why it was never launched */
};

static struct {
    struct process *first, **end;
    int running;
} line = { .end = &line.first };

/* ---- memory ---- */

static char **copy_list(const char *const *list)
{
    size_t n = 0;
    while (list[n])
        n++;
    char **copy = mem_new_array(n + 1, sizeof *copy);
    for (size_t i = 0; i < n; i++)
        copy[i] = mem_copy(list[i], strlen(list[i]));
    return copy;
}

static void free_list(char **list)
{
    for (size_t i = 0; list[i]; i++)
        mem_free(list[i]);
    mem_free(list);
}

static void destroy(struct process *p)
{
    free_list(p->argv);
    free_list(p->env);
    mem_free(p->program);
    mem_free(p->folder);
    mem_free(p->input);
    for (int i = 0; i < STREAMS; i++)
        buf_free(&p->texts[i]);
    mem_free(p);
}

static void on_closed(uv_handle_t *h)
{
    struct process *p = h->data;
    if (--p->closing == 0 && p->is_abandoned)
        destroy(p);
}

static void close_stream(struct process *p, enum stream s)
{
    if (!p->is_open[s])
        return;
    p->is_open[s] = false;
    uv_close((uv_handle_t *)&p->streams[s], on_closed);
}

/* ---- the end ---- */

static void start_next(void);

/* A child may stop its supervisor, which then hears nothing: it is made to go on. */
static void reap(struct process *p)
{
    for (;;) {
        pid_t gone = waitpid(p->supervisor, NULL, p->is_cut ? WNOHANG : 0);
        if (gone > 0 || (gone < 0 && errno != EINTR))
            return;
        kill(p->supervisor, SIGCONT);
        poll(NULL, 0, PAUSE_MS);
    }
}

/* Streams are closed, the place in the machine is free again. */
static void leave(struct process *p)
{
    timer_stop(&p->timer);
    for (int i = 0; i < STREAMS; i++)
        close_stream(p, i);
    p->stage = OVER;
    line.running--;
}

static void finish(struct process *p)
{
    reap(p);
    leave(p);
    p->done(p->arg);
    start_next();
}

static bool is_at_end(const struct process *p)
{
    return !p->is_open[OUTPUT] && !p->is_open[ERRORS] && !p->is_open[CONTROL];
}

/* Tell the supervisor to end everything. */
static void cut(struct process *p, enum process_state why)
{
    int fd;
    if (p->is_cut || !p->is_open[CONTROL])
        return;
    p->is_cut = true;
    p->cut = why;
    kill(p->supervisor, SIGCONT); /* its child may have stopped it */
    if (uv_fileno((uv_handle_t *)&p->streams[CONTROL], &fd) == 0)
        shutdown(fd, SHUT_WR);
}

/* With the supervisor gone, only somebody outside can hold the output open. A supervisor
 * that is still there is looked at again: it may be stopped once more, or end now. */
static void on_time(struct timer *t)
{
    struct process *p = (struct process *)((char *)t - offsetof(struct process, timer));
    if (!p->is_open[CONTROL]) {
        finish(p);
        return;
    }
    if (p->is_cut)
        kill(p->supervisor, SIGCONT);
    cut(p, PROCESS_TIMEOUT);
    timer_start(t, AGAIN_S, on_time);
}

/* ---- streams ---- */

static enum stream stream_of(const struct process *p, const void *handle)
{
    return (enum stream)((const uv_pipe_t *)handle - p->streams);
}

static void on_room(uv_handle_t *h, size_t wanted, uv_buf_t *room)
{
    static char shared[1 << 16]; /* libuv fills it and calls on_read at once */
    *room = uv_buf_init(shared, sizeof shared);
}

static void take(struct process *p, enum stream s, const char *bytes, size_t n)
{
    size_t left = sizeof(struct supervisor_report) - p->texts[CONTROL].len;
    if (s != CONTROL)
        left = p->output_max - p->texts[OUTPUT].len - p->texts[ERRORS].len;
    buf_add(&p->texts[s], bytes, n < left ? n : left);
    if (n > left)
        cut(p, PROCESS_OUTPUT);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *room)
{
    struct process *p = stream->data;
    enum stream s = stream_of(p, stream);
    if (n > 0)
        take(p, s, room->base, (size_t)n);
    if (n >= 0)
        return;
    close_stream(p, s);
    if (is_at_end(p))
        finish(p);
}

/* A child that does not read its input is no fault. */
static void on_written(uv_write_t *w, int status)
{
    close_stream(w->data, INPUT);
}

static void write_input(struct process *p)
{
    uv_buf_t bytes = uv_buf_init(p->input, (unsigned)p->input_len);
    p->writing.data = p;
    int rc = p->input_len ? uv_write(&p->writing, (uv_stream_t *)&p->streams[INPUT],
                                     &bytes, 1, on_written)
                          : -1;
    if (rc < 0)
        close_stream(p, INPUT);
}

static void open_streams(struct process *p, const int ours[STREAMS])
{
    for (int i = 0; i < STREAMS; i++) {
        int rc = uv_pipe_init(loop_uv(), &p->streams[i], 0);
        assert(rc == 0);
        p->streams[i].data = p;
        p->is_open[i] = true;
        p->closing++;
        rc = uv_pipe_open(&p->streams[i], ours[i]);
        assert(rc == 0); /* a fresh pipe */
        if (i != INPUT)
            uv_read_start((uv_stream_t *)&p->streams[i], on_room, on_read);
    }
    write_input(p);
}

/* ---- the start ---- */

static void close_all(int ends[STREAMS])
{
    for (int i = 0; i < STREAMS; i++)
        if (ends[i] >= 0)
            close(ends[i]);
}

/* Both ends of the four streams, all closed on exec. */
static bool make_ends(int ours[STREAMS], int theirs[STREAMS])
{
    for (int i = 0; i < STREAMS; i++)
        ours[i] = theirs[i] = -1;
    for (int i = 0; i < STREAMS; i++) {
        int ends[2]; /* to read from, to write to */
        int rc = i == CONTROL ? socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)
                              : pipe2(ends, O_CLOEXEC);
        if (rc != 0)
            return false;
        ours[i] = ends[i == INPUT];
        theirs[i] = ends[i != INPUT];
    }
    return true;
}

/* Signals are held back, so that no handler of this program runs in the fork. */
static pid_t fork_supervisor(const struct process *p, const int theirs[STREAMS])
{
    const struct supervisor_order order = {
        .program = p->program,
        .argv = p->argv,
        .env = p->env,
        .folder = p->folder,
        .file_max = p->file_max,
        .input = theirs[INPUT],
        .output = theirs[OUTPUT],
        .errors = theirs[ERRORS],
        .control = theirs[CONTROL],
    };
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t id = fault_pass(FAULT_SPAWN) ? fork() : -1;
    if (id == 0)
        supervisor_run(&order);
    int code = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = code;
    return id;
}

static bool not_started(const struct process *p, int code, struct err *e)
{
    char words[128];
    err_set(e, ERR_PROCESS, "cannot start %s: %s", p->program,
            strerror_r(code, words, sizeof words));
    e->retry = code == EAGAIN || code == ENOMEM || code == EMFILE || code == ENFILE ||
               code == ETXTBSY;
    return false;
}

static bool launch(struct process *p, struct err *e)
{
    int ours[STREAMS], theirs[STREAMS];
    bool ok = make_ends(ours, theirs);
    p->supervisor = ok ? fork_supervisor(p, theirs) : -1;
    int code = errno;
    close_all(theirs);
    if (p->supervisor < 0) {
        close_all(ours);
        return not_started(p, code, e);
    }
    open_streams(p, ours);
    p->stage = RUNNING;
    line.running++;
    timer_start(&p->timer, p->timeout_s, on_time);
    return true;
}

/* Told in the next turn, so that nobody hears of it before process_start returns. */
static void on_fault(struct timer *t)
{
    struct process *p = (struct process *)((char *)t - offsetof(struct process, timer));
    p->done(p->arg);
}

static int processors(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 1 ? (int)n : 1;
}

static void start_next(void)
{
    while (line.first && line.running < processors()) {
        struct process *p = line.first;
        line.first = p->next;
        if (!line.first)
            line.end = &line.first;
        if (launch(p, &p->fault))
            continue;
        p->stage = OVER;
        timer_start(&p->timer, 0, on_fault);
    }
}

static void leave_line(struct process *p)
{
    struct process **at = &line.first;
    while (*at != p)
        at = &(*at)->next;
    *at = p->next;
    if (line.end == &p->next)
        line.end = at;
}

/* ---- finding the program ---- */

static bool is_program(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISREG(s.st_mode) && access(path, X_OK) == 0;
}

static const char *path_of(const char *const *env)
{
    for (; *env; env++)
        if (strncmp(*env, "PATH=", 5) == 0)
            return *env + 5;
    return "";
}

static char *find_program(const char *name, const char *const *env, struct err *e)
{
    if (strchr(name, '/'))
        return mem_copy(name, strlen(name));
    for (const char *p = path_of(env); *p;) {
        size_t n = strcspn(p, ":");
        struct buf path = { 0 };
        buf_add(&path, p, n);
        buf_add_char(&path, '/');
        buf_add_text(&path, name);
        if (n && *p == '/' && is_program(buf_text(&path)))
            return buf_give(&path, NULL);
        buf_free(&path);
        p += n + (p[n] == ':');
    }
    err_set(e, ERR_PROCESS, "there is no program '%s' in %s", name, path_of(env));
    err_hint(e, "install it on this machine, or name it with its path");
    if (e)
        e->retry = false;
    return NULL;
}

/* ---- the functions of the header ---- */

struct process *process_start(const struct process_request *r, struct err *e)
{
    assert(r->argv[0] && r->timeout_s > 0);
    char *program = find_program(r->argv[0], r->env, e);
    if (!program)
        return NULL;
    struct process *p = mem_new(sizeof *p);
    p->program = program;
    p->argv = copy_list(r->argv);
    p->env = copy_list(r->env);
    p->folder = mem_copy(r->folder, strlen(r->folder));
    p->input = mem_copy(r->input_len ? r->input : "", r->input_len);
    p->input_len = r->input_len;
    p->timeout_s = r->timeout_s;
    p->output_max = r->output_max;
    p->file_max = r->file_max;
    p->done = r->done;
    p->arg = r->arg;
    *line.end = p;
    line.end = &p->next;
    start_next();
    return p;
}

bool process_result(const struct process *p, struct process_result *r, struct err *e)
{
    struct supervisor_report report;
    assert(p->stage == OVER);
    if (p->fault.kind) {
        *e = p->fault;
        return false;
    }
    if (p->texts[CONTROL].len != sizeof report)
        return err_set(e, ERR_PROCESS, "the supervisor of %s was killed", p->program);
    memcpy(&report, p->texts[CONTROL].ptr, sizeof report);
    if (report.word != SUPERVISOR_STATUS)
        return not_started(p, report.value, e);
    bool has_exited = WIFEXITED(report.value);
    *r = (struct process_result){ .state = has_exited ? PROCESS_EXIT : PROCESS_SIGNAL,
                                  .out = buf_text(&p->texts[OUTPUT]),
                                  .out_len = p->texts[OUTPUT].len,
                                  .errors = buf_text(&p->texts[ERRORS]),
                                  .errors_len = p->texts[ERRORS].len };
    r->code = has_exited ? WEXITSTATUS(report.value) : WTERMSIG(report.value);
    if (p->is_cut) {
        r->state = p->cut;
        r->code = 0;
    }
    return true;
}

void process_free(struct process *p)
{
    if (!p)
        return;
    bool was_running = p->stage == RUNNING;
    if (p->stage == WAITING)
        leave_line(p);
    timer_stop(&p->timer);
    if (was_running) {
        cut(p, PROCESS_TIMEOUT);
        reap(p);
        leave(p);
    }
    p->is_abandoned = true;
    if (p->closing == 0)
        destroy(p);
    if (was_running)
        start_next();
}
