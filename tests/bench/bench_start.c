/* bench_start.c - how long a command takes to its first line.
 *
 *   bench_start PROGRAM [EXPERIMENT]
 *
 * Starts `PROGRAM --version` and, given an experiment, `PROGRAM run EXPERIMENT` with a
 * fresh folder, reads until the first byte of output, kills it. Bare is the same with
 * this program, which prints a line. Prints medians:
 *
 *   figure start.version.ms N ms      bare start.version.ms N ms
 *   figure start.version.cpu_ms N ms  bare start.version.cpu_ms N ms
 *   figure start.run.ms N ms          figure start.run.cpu_ms N ms
 */
#include "io/file.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TIMES = 15 };

struct cost {
    double wall_ms, cpu_ms;
};

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static double ms_of(struct timeval t)
{
    return (double)t.tv_sec * 1e3 + (double)t.tv_usec / 1e3;
}

static bool start_once(const char *const argv[], struct cost *cost)
{
    int ends[2], status;
    char byte;
    struct rusage used;
    if (pipe(ends) != 0)
        return false;
    double start = now_ms();
    pid_t pid = fork();
    if (pid == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        execv(argv[0], (char *const *)argv);
        _exit(127);
    }
    close(ends[1]);
    bool ok = pid > 0 && read(ends[0], &byte, 1) == 1;
    cost->wall_ms = now_ms() - start;
    kill(pid, SIGKILL);
    close(ends[0]);
    ok = wait4(pid, &status, 0, &used) == pid && ok;
    cost->cpu_ms = ms_of(used.ru_utime) + ms_of(used.ru_stime);
    return ok;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_median(const char *kind, const char *name, const char *unit,
                         double values[TIMES])
{
    qsort(values, TIMES, sizeof *values, compare);
    printf("%s %s.%s %.1f ms\n", kind, name, unit, values[TIMES / 2]);
}

static bool measure(const char *kind, const char *name, const char *const argv[],
                    const char *folder)
{
    double wall[TIMES], cpu[TIMES];
    for (int i = 0; i < TIMES; i++) {
        struct cost cost;
        if (!start_once(argv, &cost)) {
            fprintf(stderr, "bench_start: %s said nothing\n", argv[0]);
            return false;
        }
        wall[i] = cost.wall_ms;
        cpu[i] = cost.cpu_ms;
        file_remove_tree(folder, "out", NULL);
    }
    print_median(kind, name, "ms", wall);
    print_median(kind, name, "cpu_ms", cpu);
    return true;
}

int main(int argc, char **argv)
{
    const char *root = getenv("TMPDIR");
    char folder[4096], out[4200];
    if (argc == 2 && strcmp(argv[1], "--version") == 0)
        return puts("bare") < 0;
    snprintf(folder, sizeof folder, "%s/bench_start.XXXXXX", root ? root : "/tmp");
    if (argc < 2 || argc > 3 || !mkdtemp(folder)) {
        fprintf(stderr, "usage: bench_start PROGRAM [EXPERIMENT]\n");
        return 2;
    }
    snprintf(out, sizeof out, "env.out_root=%s/out", folder);
    const char *version[] = { argv[1], "--version", NULL };
    const char *bare[] = { argv[0], "--version", NULL };
    const char *run[] = { argv[1], "run", argv[2], out, NULL };
    bool ok = measure("bare", "start.version", bare, folder) &&
              measure("figure", "start.version", version, folder) &&
              (argc < 3 || measure("figure", "start.run", run, folder));
    rmdir(folder);
    return ok ? 0 : 1;
}
