/* test_yaml.c - YAML 1.1. */
#include "check.h"
#include "text/json.h"
#include "text/yaml.h"
#include <math.h>
#include <string.h>

static struct value_doc doc;
static struct buf out;

/* The document as a line of JSON, or the message. */
static const char *read_n(const char *text, size_t n)
{
    static struct err e;
    struct json_writer w;
    value_doc_free(&doc);
    const struct value *v = yaml_read(&doc, text, n, &e);
    if (!v)
        return e.message;
    buf_clear(&out);
    json_begin(&w, &out, JSON_LINE);
    json_value(&w, v);
    return json_end(&w, &e) ? buf_text(&out) : e.message;
}

static const char *read(const char *text)
{
    return read_n(text, strlen(text));
}

struct pair {
    const char *yaml, *json;
};

static void check_pairs(const struct pair *pairs, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!CHECK_TEXT(read(pairs[i].yaml), pairs[i].json))
            return;
}

#define CHECK_PAIRS(pairs) check_pairs(pairs, sizeof(pairs) / sizeof *(pairs))

static void integers_have_five_notations(void)
{
    static const struct pair pairs[] = {
        { "0", "0" },
        { "-12", "-12" },
        { "+12", "12" },
        { "042", "34" },
        { "017", "15" },
        { "0x1F", "31" },
        { "0b101", "5" },
        { "1_000", "1000" },
        { "2:1:7", "7267" },
        { "12:30:45", "45045" },
        { "-1:30", "-90" },
        { "0_7", "7" },
        { "0_", "0" },
        { "08", "\"08\"" },
        { "0o17", "\"0o17\"" },
        { "0x", "\"0x\"" },
        { "0x_", "\"0x_\"" },
        { "0b_", "\"0b_\"" },
        { "0:30", "\"0:30\"" },
        { "1:60", "\"1:60\"" },
        { "_1", "\"_1\"" },
        { "1:5_9", "\"1:5_9\"" },
        { "-", "[null]" },
        { "+", "\"+\"" },
        { "9223372036854775807", "9223372036854775807" },
        { "-9223372036854775808", "-9223372036854775808" },
    };
    CHECK_PAIRS(pairs);
}

static void a_float_needs_a_point_and_its_exponent_a_sign(void)
{
    static const struct pair pairs[] = {
        { "1.5", "1.5" },         { "1.", "1.0" },
        { ".5", "0.5" },          { "-.5", "\"-.5\"" },
        { "5e-1", "\"5e-1\"" },   { "1e5", "\"1e5\"" },
        { "1.0e5", "\"1.0e5\"" }, { "1.5e+3", "1500.0" },
        { "1_0.5_0", "10.5" },    { "190:20:30.15", "685230.15" },
        { "08.5", "8.5" },        { "-0.0", "-0.0" },
        { "1.2.3", "\"1.2.3\"" }, { ".", "\".\"" },
        { "._5", "\"._5\"" },
    };
    CHECK_PAIRS(pairs);
    CHECK_TEXT(read("a: .inf"), "a: infinity cannot be written as JSON");
    CHECK_TEXT(read("a: -.Inf"), "a: infinity cannot be written as JSON");
    CHECK_TEXT(read("[.NaN]"), "[1]: NaN cannot be written as JSON");
}

static void words_are_booleans_and_null_unless_quoted(void)
{
    static const struct pair pairs[] = {
        { "[yes, No, ON, off, TRUE, False]", "[true, false, true, false, true, false]" },
        { "[y, n, tRUE, 'yes', \"no\"]", "[\"y\", \"n\", \"tRUE\", \"yes\", \"no\"]" },
        { "[~, null, Null, NULL, ]", "[null, null, null, null]" },
        { "{a: , b: ~}", "{\"a\": null, \"b\": null}" },
        { "", "null" },
        { "# nothing\n", "null" },
        { "2024-01-01", "\"2024-01-01\"" },
        { "a: 2001-12-14t21:59:43.10-05:00",
          "{\"a\": \"2001-12-14t21:59:43.10-05:00\"}" },
    };
    CHECK_PAIRS(pairs);
}

static void numbers_that_do_not_fit_are_errors(void)
{
    CHECK_TEXT(
        read("a: 9223372036854775808"),
        "line 1, column 4: the number is too large (in quotes it keeps its digits)");
    CHECK_TEXT(read("a: '9223372036854775808'"), "{\"a\": \"9223372036854775808\"}");
    CHECK_TEXT(
        read("1.0e+400"),
        "line 1, column 1: the number is too large (in quotes it keeps its digits)");
}

static void a_plain_scalar_can_be_asked_alone(void)
{
    struct value v = { 0 };
    CHECK(yaml_resolve("on", 2, &v));
    CHECK(v.kind == VALUE_BOOL && v.boolean);
    CHECK(yaml_resolve("abc", 3, &v));
    CHECK_INT(v.kind, VALUE_TEXT);
    CHECK(!yaml_resolve("99999999999999999999", 20, &v));
    CHECK(yaml_resolve(".nan", 4, &v));
    CHECK(v.kind == VALUE_DOUBLE && isnan(v.number));
}

static void styles_and_containers_are_read(void)
{
    static const struct pair pairs[] = {
        { "a:\n  - b\n  - c: {d: [1, 2]}\n",
          "{\"a\": [\"b\", {\"c\": {\"d\": [1, 2]}}]}" },
        { "a: |\n  x\n  y\nb: >-\n  x\n  y\n", "{\"a\": \"x\\ny\\n\", \"b\": \"x y\"}" },
        { "a: 'it''s'\nb: \"\\u00e9\\x41\\n\"",
          "{\"a\": \"it's\", \"b\": \"\303\251A\\n\"}" },
        { "--- 1\n...\n", "1" },
        { "%YAML 1.1\n---\na: 1", "{\"a\": 1}" },
        { "\xEF\xBB\xBF"
          "a: 1\r\nb: [x,\r\n y]\r\n",
          "{\"a\": 1, \"b\": [\"x\", \"y\"]}" },
    };
    CHECK_PAIRS(pairs);
    CHECK_TEXT(read_n("\"a\\0b\"", 6), "\"a\\u0000b\"");
}

static void keys_are_text_as_written_and_stand_once(void)
{
    static const struct pair pairs[] = {
        { "1: a\non: b\n017: c\n~: d\n",
          "{\"1\": \"a\", \"on\": \"b\", \"017\": \"c\", \"~\": \"d\"}" },
        { "a: 1\nb: 2\na: 3\n", "line 3: the key 'a' stands in line 1 already" },
        { "x:\n  - {b: 1, c: 2, b: 3}\n",
          "line 2: the key 'b' stands in line 2 already" },
        { "b: 1\nb: 1\na: 1\na: 1\n", "line 2: the key 'b' stands in line 1 already" },
        { "1: a\n\"1\": b\n", "line 2: the key '1' stands in line 1 already" },
        { "a: {k: 1}\nb: {k: 1}\n", "{\"a\": {\"k\": 1}, \"b\": {\"k\": 1}}" },
        { "123456789-123456789-123456789-123456789-123456789-123456789-1: 1\n"
          "123456789-123456789-123456789-123456789-123456789-123456789-1: 1\n",
          "line 2: the key stands in line 1 already" },
        { "[a]: 1", "line 1, column 1: a key must be text" },
        { "? {a: 1}\n: 2", "line 1, column 3: a key must be text" },
        { "- &k x\n- *k : 2", "[\"x\", {\"x\": 2}]" },
        { "&k x: 1\n*k : 2", "line 2: the key 'x' stands in line 1 already" },
    };
    CHECK_PAIRS(pairs);
}

static void anchors_and_merges_work(void)
{
    static const struct pair pairs[] = {
        { "- &a {x: 1}\n- *a", "[{\"x\": 1}, {\"x\": 1}]" },
        { "b: &b {x: 1, y: 2}\nd:\n  y: 3\n  <<: *b\n",
          "{\"b\": {\"x\": 1, \"y\": 2}, \"d\": {\"x\": 1, \"y\": 3}}" },
        { "a: &a {x: 1}\nb: &b {x: 2, z: 1}\nc: {<<: [*a, *b], q: 1}",
          "{\"a\": {\"x\": 1}, \"b\": {\"x\": 2, \"z\": 1}, \"c\": {\"x\": 1, \"z\": 1, "
          "\"q\": 1}}" },
        { "{<<: [{a: 1}, {a: 2}]}", "{\"a\": 1}" },
        { "{<<: {a: 1}, <<: {a: 2}}", "line 1: the key '<<' stands in line 1 already" },
        { "'<<': 1", "{\"<<\": 1}" },
        { "<<: 1", "line 1, column 5: only mappings can be merged" },
        { "<<: [{a: 1}, 2]", "line 1, column 5: only mappings can be merged" },
        { "&a [1, *a]", "line 1, column 8: a value that contains itself" },
        { "*x", "line 1, column 1: an alias without its anchor" },
        { "[&a 1, &a 2, *a]", "[1, 2, 2]" },
    };
    CHECK_PAIRS(pairs);
}

static void tags_of_json_types_are_known(void)
{
    static const struct pair pairs[] = {
        { "[!!str 1, !!int '3', !!float 1, !!bool yes, !!null '', ! 5]",
          "[\"1\", 3, 1.0, true, null, \"5\"]" },
        { "!!map {a: !!seq [1]}", "{\"a\": [1]}" },
        { "!!int x",
          "line 1, column 1: a tag that is unknown or does not fit the value" },
        { "a: !foo 1",
          "line 1, column 4: a tag that is unknown or does not fit the value" },
        { "!!set {a, b}",
          "line 1, column 1: a tag that is unknown or does not fit the value" },
        { "!!python/none ~",
          "line 1, column 1: a tag that is unknown or does not fit the value" },
    };
    CHECK_PAIRS(pairs);
}

static void errors_name_line_and_column(void)
{
    CHECK_TEXT(read("a: 1\nb: [1 }"),
               "line 2, column 7: did not find expected ',' or ']'");
    CHECK_TEXT(read("a: b: c"),
               "line 1, column 5: mapping values are not allowed in this context");
    CHECK_TEXT(read("a: 1\n\xC3\xA9: \x07"),
               "line 2, column 4: control characters are not allowed");
    CHECK_TEXT(read("a: 1\nb: \xFF"), "line 2, column 4: invalid UTF-8");
    CHECK_TEXT(read("--- 1\n--- 2"), "line 2, column 1: more than one document");
    CHECK_TEXT(read("---\n---\n"), "line 2, column 1: more than one document");
}

static void values_know_where_they_stand(void)
{
    static const char text[] = "a: 1\nb:\n  c: [x,\n    {d: 2}]\n";
    const struct value *v = yaml_read(&doc, text, strlen(text), NULL);
    const struct value *c = value_get(value_get(v, "b"), "c");
    CHECK_INT(v->entries[1].key_line, 2);
    CHECK_INT(c->line, 3);
    CHECK_INT(c->column, 6);
    CHECK_INT(value_at(c, 1)->line, 4);
    CHECK_INT(value_get(value_at(c, 1), "d")->column, 9);
    value_doc_free(&doc);
}

static void repeat(struct buf *text, const char *piece, int times)
{
    for (int i = 0; i < times; i++)
        buf_add_text(text, piece);
}

static void nesting_has_a_limit_also_through_aliases(void)
{
    struct buf text = { 0 };
    repeat(&text, "[", YAML_MAX_DEPTH);
    repeat(&text, "]", YAML_MAX_DEPTH);
    CHECK_INT(read(text.ptr)[0], '[');
    buf_clear(&text);
    repeat(&text, "[", YAML_MAX_DEPTH + 1);
    CHECK_TEXT(read(text.ptr), "line 1, column 201: nesting too deep");
    buf_clear(&text);
    buf_add_text(&text, "- &a ");
    repeat(&text, "[", 150);
    repeat(&text, "]", 150);
    buf_add_text(&text, "\n- ");
    repeat(&text, "[", 60);
    buf_add_text(&text, "*a");
    repeat(&text, "]", 60);
    CHECK_TEXT(read(text.ptr), "line 2, column 63: nesting too deep");
    buf_free(&text);
}

static void an_alias_bomb_is_refused(void)
{
    struct buf text = { 0 };
    buf_add_text(&text, "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for (int i = 1; i < 9; i++) {
        buf_add_format(&text, "a%d: &a%d [", i, i);
        for (int j = 0; j < 10; j++)
            buf_add_format(&text, "%s*a%d", j ? ", " : "", i - 1);
        buf_add_text(&text, "]\n");
    }
    CHECK(strstr(read(text.ptr), "the aliases stand for too many values") != NULL);
    buf_clear(&text);
    repeat(&text, "- &a x\n", YAML_MAX_ANCHORS + 1);
    CHECK_TEXT(read(text.ptr), "line 257, column 3: too many anchors");
    buf_free(&text);
}

int main(void)
{
    check_run("integers have five notations", integers_have_five_notations);
    check_run("a float needs a point, and its exponent a sign",
              a_float_needs_a_point_and_its_exponent_a_sign);
    check_run("words are booleans and null unless quoted",
              words_are_booleans_and_null_unless_quoted);
    check_run("numbers that do not fit are errors", numbers_that_do_not_fit_are_errors);
    check_run("a plain scalar can be asked alone", a_plain_scalar_can_be_asked_alone);
    check_run("styles and containers are read", styles_and_containers_are_read);
    check_run("keys are text as written, and stand once",
              keys_are_text_as_written_and_stand_once);
    check_run("anchors and merges work", anchors_and_merges_work);
    check_run("tags of JSON types are known", tags_of_json_types_are_known);
    check_run("errors name line and column", errors_name_line_and_column);
    check_run("values know where they stand", values_know_where_they_stand);
    check_run("nesting has a limit, also through aliases",
              nesting_has_a_limit_also_through_aliases);
    check_run("an alias bomb is refused", an_alias_bomb_is_refused);
    value_doc_free(&doc);
    buf_free(&out);
    return check_end();
}
