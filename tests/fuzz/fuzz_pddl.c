/* A domain, a line `---` and a problem: read, and when they make sense, played, measured
 * and solved with a grammar that gives each action its name and parameters as command. */
#include "base/buf.h"
#include "base/mem.h"
#include "game/game.h"
#include "game/pddl.h"
#include "text/json.h"
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void write_grammar(struct buf *out, const struct domain *d)
{
    buf_add_text(out, "grammar :: \"\"\"{\"intro\": [{\"rhs\": \"go\"}]}\"\"\";\n");
    for (uint32_t i = 0; i < d->action_count; i++) {
        const struct action *a = &d->actions[i];
        buf_add_format(out, "action %s { feedback :: \"done\"; template :: \"%s", a->name,
                       a->name);
        for (uint32_t j = 0; j < a->parameter_count; j++)
            buf_add_format(out, " {%s.id}", a->parameters[j].name);
        buf_add_text(out, "\"; }\n");
    }
}

static void write_part(struct json_writer *w, const char *key, const char *text, size_t n)
{
    json_key(w, key);
    json_text_n(w, text, n);
}

static void play(struct game *g)
{
    struct game_plan plan = { 0 };
    struct game_progress p;
    for (size_t i = 0; i < 8 && game_command_count(g); i++) {
        size_t length = 0;
        const char *command = game_command(g, i * 7 % game_command_count(g), &length);
        char *copy = mem_copy(command, length);
        if (!game_step(g, copy, length, NULL))
            i = 8;
        mem_free(copy);
    }
    game_progress(g, &p, NULL);
    if (game_reset(g, NULL))
        game_solve(g, 100, NULL, &plan, NULL);
    game_plan_free(&plan);
}

static void open_and_play(const struct domain *d, const char *text, size_t n,
                          const char *problem, size_t problem_n)
{
    struct buf grammar = { 0 }, file = { 0 };
    struct json_writer w;
    write_grammar(&grammar, d);
    json_begin(&w, &file, JSON_LINE);
    json_object(&w);
    write_part(&w, "pddl_domain", text, n);
    write_part(&w, "grammar", buf_text(&grammar), grammar.len);
    write_part(&w, "pddl_problem", problem, problem_n);
    json_object_end(&w);
    struct game *g = json_end(&w, NULL)
                         ? game_open(buf_text(&file), file.len, "fuzz", NULL, NULL)
                         : NULL;
    if (g)
        play(g);
    game_close(g);
    buf_free(&grammar);
    buf_free(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const char border[] = "\n---\n";
    const char *text = (const char *)data;
    const char *stop = n ? memmem(text, n, border, strlen(border)) : NULL;
    size_t domain_n = stop ? (size_t)(stop - text) : n;
    struct domain *d = domain_read(text, domain_n, "fuzz", NULL, NULL);
    if (d && stop) {
        const char *problem = stop + strlen(border);
        struct problem p = { 0 };
        size_t problem_n = n - domain_n - strlen(border);
        if (problem_read(&p, d, problem, problem_n, "fuzz", NULL))
            open_and_play(d, text, domain_n, problem, problem_n);
        problem_free(&p);
    }
    if (d)
        share_drop(&d->share);
    return 0;
}
