/* Reading grammars: recorded cases and refusals. */
#include "base/buf.h"
#include "check.h"
#include "game/grammar.h"
#include "game/world.h"
#include "text/json.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct place place = { .file = "room.json", .part = "grammar" };

static struct grammar *empty_grammar(void)
{
    return grammar_read("", 0, NULL, "room.json", NULL, NULL);
}

/* --- vectors
 * ----------------------------------------------------------------------------- */

struct vectors {
    struct value_doc doc;
    const struct value *cases;
};

static void open_vectors(struct vectors *v, const char *path)
{
    FILE *f = fopen(path, "rb");
    struct buf text = { 0 };
    char block[65536];
    for (size_t n = f ? fread(block, 1, sizeof block, f) : 0; n;
         n = fread(block, 1, sizeof block, f))
        buf_add(&text, block, n);
    if (f)
        fclose(f);
    *v = (struct vectors){ 0 };
    v->cases =
        value_get(json_read(&v->doc, buf_text(&text), text.len, NULL, NULL), "cases");
    CHECK(value_count(v->cases) > 0);
    buf_free(&text);
}

static void write_json(struct buf *out, const struct value *v)
{
    struct json_writer w;
    json_begin(&w, out, JSON_LINE);
    json_value(&w, v);
    CHECK(json_end(&w, NULL));
}

static void write_pair(struct buf *out, const char *kind, const char *text)
{
    buf_add_format(out, "[\"%s\", ", kind);
    json_quote(out, text, strlen(text));
    buf_add_text(out, "]");
}

static void write_symbol(struct buf *out, const struct symbol *s)
{
    static const char *const kinds[] = {
        [SYMBOL_TEXT] = "text", [SYMBOL_RULE] = "rule", [SYMBOL_VALUE] = "eval"
    };
    if (s->kind == SYMBOL_LIST) {
        buf_add_text(out, "[\"list\", ");
        write_symbol(out, s->inner);
        buf_add_text(out, "]");
    } else if (s->kind == SYMBOL_EACH) {
        buf_add_text(out, "[\"cond\", ");
        write_symbol(out, s->inner);
        buf_add_text(out, ", ");
        if (s->query_text)
            json_quote(out, s->query_text, strlen(s->query_text));
        else
            buf_add_text(out, "null");
        buf_add_text(out, "]");
    } else {
        write_pair(out, kinds[s->kind], s->text);
    }
}

static void write_phrase(struct buf *out, const struct phrase *p)
{
    buf_add_text(out, "[");
    for (const struct symbol *s = p->first; s; s = s->next) {
        write_symbol(out, s);
        buf_add_text(out, s->next ? ", " : "");
    }
    buf_add_text(out, "]");
}

static void phrases(void)
{
    struct vectors v;
    open_vectors(&v, "tests/vectors/envs_alfworld_csg_parse.json");
    for (size_t i = 0; i < value_count(v.cases); i++) {
        const struct value *in = value_get(value_at(v.cases, i), "in");
        struct buf got = { 0 }, want = { 0 };
        struct grammar *g = empty_grammar();
        struct err e = { 0 };
        struct origin o = { .at = &place, .e = &e };
        struct phrase p = { 0 };
        CHECK(phrase_read(g, value_text(in), in->count, &o, &p));
        write_phrase(&got, &p);
        write_json(&want, value_get(value_get(value_at(v.cases, i), "out"), "symbols"));
        CHECK_TEXT(buf_text(&got), buf_text(&want));
        share_drop(&g->share);
        buf_free(&got);
        buf_free(&want);
    }
    CHECK_INT(value_count(v.cases), 75);
    value_doc_free(&v.doc);
}

static void write_query(struct buf *out, const struct grammar *g, const struct query *q)
{
    buf_add_text(out, "[");
    for (uint32_t i = 0; i < q->count; i++) {
        const struct query_atom *a = &q->atoms[i];
        buf_add_format(out, "%s[\"%s\", [", i ? ", " : "", a->predicate);
        for (unsigned j = 0; j < a->count; j++) {
            const char *both = names_text(&g->placeholders, a->placeholders[j], NULL);
            buf_add_format(out, "%s[\"%.*s\", \"%s\"]", j ? ", " : "",
                           (int)strcspn(both, ":"), both, strchr(both, ':') + 1);
        }
        buf_add_text(out, "]]");
    }
    buf_add_text(out, "]");
}

static void queries(void)
{
    struct vectors v;
    open_vectors(&v, "tests/vectors/envs_alfworld_parse_conjunctive_query.json");
    for (size_t i = 0; i < value_count(v.cases); i++) {
        const struct value *in = value_get(value_at(v.cases, i), "in");
        const struct value *want = value_get(value_at(v.cases, i), "out");
        struct buf got = { 0 }, text = { 0 };
        struct grammar *g = empty_grammar();
        struct err e = { 0 };
        struct origin o = { .at = &place, .e = &e };
        const struct query *q = query_read(g, value_text(in), in->count, &o);
        CHECK_INT(q == NULL, value_get(want, "error") != NULL);
        if (q)
            write_query(&got, g, q);
        if (q)
            write_json(&text, value_get(want, "ok"));
        CHECK_TEXT(buf_text(&got), buf_text(&text));
        CHECK_INT(e.kind, q ? ERR_NONE : ERR_DATA);
        share_drop(&g->share);
        buf_free(&got);
        buf_free(&text);
    }
    CHECK_INT(value_count(v.cases), 23);
    value_doc_free(&v.doc);
}

static void check_actions(const struct grammar *g, const struct value *actions)
{
    CHECK_INT(g->action_names.count, value_count(actions));
    for (size_t i = 0; i < value_count(actions); i++) {
        const struct value_entry *entry = &actions->entries[i];
        uint32_t number = names_find(&g->action_names, entry->key, entry->key_length);
        if (!CHECK(number != NAMES_NONE))
            return;
        const struct grammar_action *a = g->actions[number];
        CHECK_TEXT(a->name, value_text_or(&entry->value, "name", NULL));
        CHECK_TEXT(a->template_text, value_text_or(&entry->value, "template", NULL));
        CHECK_TEXT(a->feedback_text, value_text_or(&entry->value, "feedback", NULL));
    }
}

static void write_rule(struct buf *out, const struct rule *r)
{
    buf_add_text(out, "[");
    for (uint32_t i = 0; i < r->count; i++) {
        buf_add_format(out, "%s{\"rhs\": ", i ? ", " : "");
        write_phrase(out, &r->productions[i].body);
        buf_add_text(out, ", \"condition\": ");
        json_quote(out, r->productions[i].condition_text,
                   strlen(r->productions[i].condition_text));
        buf_add_text(out, "}");
    }
    buf_add_text(out, "]");
}

static void check_rules(const struct grammar *g, const struct value *rules)
{
    uint32_t defined = 0;
    for (uint32_t i = 0; i < g->rule_names.count; i++)
        defined += g->rules[i].count > 0;
    CHECK_INT(defined, value_count(rules));
    for (size_t i = 0; i < value_count(rules); i++) {
        const struct value_entry *entry = &rules->entries[i];
        struct buf got = { 0 }, want = { 0 };
        uint32_t number = names_find(&g->rule_names, entry->key, entry->key_length);
        if (!CHECK(number != NAMES_NONE))
            return;
        write_rule(&got, &g->rules[number]);
        write_json(&want, &entry->value);
        CHECK_TEXT(buf_text(&got), buf_text(&want));
        buf_free(&got);
        buf_free(&want);
    }
}

static void files(void)
{
    struct vectors v;
    open_vectors(&v, "tests/vectors/envs_alfworld_twl2_parse.json");
    for (size_t i = 0; i < value_count(v.cases); i++) {
        const struct value *in = value_get(value_at(v.cases, i), "in");
        const struct value *out = value_get(value_at(v.cases, i), "out");
        struct err e = { 0 };
        struct grammar *g =
            grammar_read(value_text(in), in->count, NULL, "room.json", NULL, &e);
        CHECK_INT(g == NULL, value_get(out, "error") != NULL);
        if (!g)
            continue;
        check_actions(g, value_get(out, "actions"));
        check_rules(g, value_get(out, "rules"));
        share_drop(&g->share);
    }
    CHECK_INT(value_count(v.cases), 12);
    value_doc_free(&v.doc);
}

static int compare_objects(const void *a, const void *b)
{
    return strcmp(((const struct object *)a)->name, ((const struct object *)b)->name);
}

static void check_names(const struct value *in, const struct value *out)
{
    struct object objects[32];
    bool is_named[32];
    struct arena a = { 0 };
    uint32_t count = (uint32_t)value_count(in);
    for (uint32_t i = 0; i < count; i++) {
        objects[i] = (struct object){ .name = value_text(value_at(in, i)) };
        is_named[i] = true;
    }
    qsort(objects, count, sizeof *objects, compare_objects);
    const char **names = world_names(&a, objects, count, is_named);
    for (uint32_t i = 0; i < count; i++)
        CHECK_TEXT(names[i], value_text_or(out, objects[i].name, NULL));
    arena_free(&a);
}

static void names(void)
{
    struct vectors v;
    open_vectors(&v, "tests/vectors/envs_alfworld_demangle.json");
    for (size_t i = 0; i < value_count(v.cases); i++)
        check_names(value_get(value_at(v.cases, i), "in"),
                    value_get(value_at(v.cases, i), "out"));
    CHECK_INT(value_count(v.cases), 3);
    value_doc_free(&v.doc);
}

/* --- refusals
 * ----------------------------------------------------------------------------- */

static struct err fault;

static const char *refusal(const char *text)
{
    fault = (struct err){ 0 };
    struct grammar *g = grammar_read(text, strlen(text), NULL, "room.json", NULL, &fault);
    if (!g)
        return fault.message;
    share_drop(&g->share);
    return "it was read";
}

#define AT(line, what) "room.json, grammar, line " #line ": " what
#define BLOCK(json)    "grammar :: \"\"\"" json "\"\"\";"
#define RULE(rhs)      BLOCK("{\"x\": [{\"rhs\": \"" rhs "\"}]}")

static void bad_files(void)
{
    CHECK_TEXT(refusal("\n\nrule"), AT(3, "grammar or action is expected"));
    CHECK_TEXT(refusal("grammar : x"), AT(1, ":: is expected"));
    CHECK_TEXT(refusal("grammar :: \"{}\""), AT(1, "\"\"\" is expected"));
    CHECK_TEXT(refusal("grammar :: \"\"\"{}\"\""),
               AT(1, "the closing \"\"\" is missing"));
    CHECK_TEXT(refusal("grammar :: \"\"\"{}\"\"\""), AT(1, "; is expected"));
    CHECK_TEXT(refusal("action { }"), AT(1, "a name is expected"));
    CHECK_TEXT(refusal("action A\n{ colour :: \"x\"; }"),
               AT(2, "A: template, feedback, grammar, pddl or } is expected"));
    CHECK_TEXT(refusal("action A { template :: \"a\"; template :: \"b\"; }"),
               AT(1, "A: template or feedback stands twice"));
    CHECK_TEXT(refusal("action A { template :: \"a\nb\";\n }"),
               AT(3, "A: the action has no template or no feedback"));
    CHECK_TEXT(refusal("action A { template :: \"a\"; feedback :: \"b\"; }\n"
                       "action a { template :: \"a\"; feedback :: \"b\"; }"),
               AT(2, "a: the action is declared twice"));
}

static void bad_blocks(void)
{
    CHECK_TEXT(refusal(BLOCK("[]")), AT(1, "the block is not a JSON object"));
    CHECK(
        strstr(refusal("\n" BLOCK("{\"a\" 1}")), AT(2, "the block is not JSON: line 1")));
    CHECK_TEXT(refusal(BLOCK("{\"x\": 1}")),
               AT(1, "x: a rule is a list of alternatives"));
    CHECK_TEXT(refusal(BLOCK("{\"x\": [1]}")),
               AT(1, "x: an alternative is not an object"));
    CHECK_TEXT(refusal(BLOCK("{\"x\": [{}]}")),
               AT(1, "x: an alternative has no text \"rhs\""));
    CHECK_TEXT(refusal(BLOCK("{\"x\": [{\"rhs\": \"a\", \"if\": \"b\"}]}")),
               AT(1, "x: \"if\" is not supported"));
    CHECK_TEXT(refusal(BLOCK("{\"x\": [{\"rhs\": \"a\", \"condition\": 3}]}")),
               AT(1, "x: condition is not a text"));
    CHECK_TEXT(refusal(BLOCK("{\"x\": [{\"rhs\": \"a\", \"condition\": \"p(\"}]}")),
               AT(1, "x: a name is expected at character 3 of p("));
}

static void bad_expressions(void)
{
    CHECK_TEXT(refusal(RULE("{f(x)}")),
               AT(1, "x: only + and or are supported at character 2 of f(x)"));
    CHECK_TEXT(refusal(RULE("{o.colour}")),
               AT(1, "x: one of name, id, type, indefinite and definite is expected at "
                     "character 3 of o.colour"));
    CHECK_TEXT(refusal(RULE("{o.name.upper()}")),
               AT(1, "x: only + and or are supported at character 7 of o.name.upper()"));
    CHECK_TEXT(refusal(RULE("{'a}")),
               AT(1, "x: the text has no end at character 3 of 'a"));
    CHECK_TEXT(refusal(RULE("{'\\\\n'}")),
               AT(1, "x: escapes and line breaks in a text are not supported at "
                     "character 2 of '\\n'"));
    CHECK_TEXT(refusal(RULE("{o.name +}")),
               AT(1, "x: a variable or a quoted text is expected at character 9 of "
                     "o.name +"));
    CHECK_TEXT(refusal(RULE("{o and r}")),
               AT(1, "x: only + and or are supported at character 3 of o and r"));
    CHECK_TEXT(refusal(RULE("{__import__('os')}")),
               AT(1, "x: only + and or are supported at character 11 of "
                     "__import__('os')"));
    CHECK_TEXT(refusal(RULE("#caf\xc3\xa9#")),
               AT(1, "x: the name of a rule must be ASCII"));
}

static void comments(void)
{
    CHECK_TEXT(refusal("# a comment\naction A { # more\n template :: \"# none\"; # x\n"
                       "feedback :: \"f\"; } # end"),
               "it was read");
    CHECK_TEXT(refusal(BLOCK("{\n  # a \" comment\n\"x\": [{\"rhs\": \"\"}]}")),
               "it was read");
}

static void later_rules(void)
{
    static const char text[] = BLOCK("{\"x\": [{\"rhs\": \"1\"}, {\"rhs\": \"2\"}]}")
        BLOCK("{\"x\": [{\"rhs\": \"3\", \"weight\": 2}]}");
    struct grammar *g = grammar_read(text, strlen(text), NULL, "room.json", NULL, NULL);
    uint32_t x = names_find(&g->rule_names, "x", 1);
    CHECK_INT(g->rules[x].count, 1);
    CHECK_TEXT(g->rules[x].productions[0].body.first->text, "3");
    share_drop(&g->share);
}

static void no_template(void)
{
    static const char text[] = "(define (domain d) (:predicates (r)) "
                               "(:action Wave :effect (r)))";
    struct domain *d = domain_read(text, strlen(text), "x", NULL, NULL);
    struct err e = { 0 };
    CHECK(!grammar_read("", 0, d, "room.json", NULL, &e));
    CHECK_TEXT(e.message, "room.json, grammar: the action wave of the domain has no "
                          "template");
    share_drop(&d->share);
}

int main(void)
{
    check_run("phrases are read as recorded", phrases);
    check_run("queries are read as recorded", queries);
    check_run("grammar files are read as recorded", files);
    check_run("names for people are made as recorded", names);
    check_run("a grammar file that is not one is refused with its line", bad_files);
    check_run("blocks and rules of a wrong shape are refused", bad_blocks);
    check_run("expressions beyond fields, texts, + and or are refused", bad_expressions);
    check_run("comments stand between tokens and on lines of their own", comments);
    check_run("a later rule replaces an earlier one whole", later_rules);
    check_run("an action of the domain needs a template", no_template);
    return check_end();
}
