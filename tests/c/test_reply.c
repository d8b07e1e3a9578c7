/* test_reply.c - JSON objects in model prose. */
#include "check.h"
#include "text/json.h"
#include "text/reply.h"
#include <stdio.h>
#include <string.h>

static struct value_doc doc, vectors;
static struct buf out;
static const char *const wanted[] = { "patch", "edits", NULL };

static const char *written(const struct value *v, enum json_style style)
{
    struct json_writer w;
    buf_clear(&out);
    json_begin(&w, &out, style);
    json_value(&w, v);
    return json_end(&w, NULL) ? buf_text(&out) : "(failed)";
}

/* The object as one line, or "reason: message". */
static const char *extract(const char *text, size_t n, const struct reply_rules *rules)
{
    struct err e = { 0 };
    enum reply_reason reason;
    value_doc_clear(&doc);
    const struct value *v = reply_extract(&doc, text, n, rules, &reason, &e);
    if (v) {
        CHECK_INT(reason, REPLY_FOUND);
        return written(v, JSON_LINE);
    }
    CHECK_INT(e.kind, ERR_PARSE);
    buf_clear(&out);
    buf_add_format(&out, "%s: %s", reply_reason_name(reason), e.message);
    return buf_text(&out);
}

static const char *any(const char *text)
{
    return extract(text, strlen(text), NULL);
}

static const char *edits(const char *text)
{
    struct reply_rules rules = { .want = wanted };
    return extract(text, strlen(text), &rules);
}

static const char *lists(const char *text)
{
    struct reply_rules rules = { .want = wanted, .allow_array = true };
    return extract(text, strlen(text), &rules);
}

static const struct value *read_file(const char *path, struct buf *text)
{
    char piece[4096];
    FILE *f = fopen(path, "rb");
    if (!CHECK(f != NULL))
        return NULL;
    for (size_t n = 1; n > 0;) {
        n = fread(piece, 1, sizeof piece, f);
        buf_add(text, piece, n);
    }
    fclose(f);
    return json_read(&vectors, text->ptr, text->len, NULL, NULL);
}

static const char *edits_of_file(const char *path)
{
    struct buf text = { 0 };
    struct reply_rules rules = { .want = wanted };
    read_file(path, &text);
    const char *got = extract(buf_text(&text), text.len, &rules);
    buf_free(&text);
    return got;
}

static bool starts(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* --- vectors -------------------------------------------------------------------- */

static const struct value *listed(const struct value *differs, const struct value *c)
{
    for (size_t i = 0; i < value_count(differs); i++) {
        const struct value *d = value_at(differs, i);
        if (strcmp(value_text_or(d, "fn", ""), value_text_or(c, "fn", "-")) == 0 &&
            value_get(d, "in")->count == value_get(c, "in")->count &&
            strcmp(value_text_or(d, "in", ""), value_text_or(c, "in", "-")) == 0)
            return d;
    }
    return NULL;
}

static void check_vector(const struct value *c, const struct value *differs, size_t *used)
{
    struct buf want = { 0 };
    const struct value *in = value_get(c, "in");
    const struct value *d = listed(differs, c);
    const struct value *v = value_get(d ? d : value_get(c, "out"), "value");
    struct reply_rules rules = { .allow_array = strcmp(value_text_or(c, "fn", ""),
                                                       "extract_json") != 0 };
    const char *reason = d ? value_text_or(d, "reason", "") : "";
    *used += d != NULL;
    if (d)
        CHECK(value_text_or(d, "why", "")[0] != '\0');
    buf_add_text(&want, v && v->kind != VALUE_NULL ? written(v, JSON_LINE) : reason);
    const char *got = extract(in->text, in->count, &rules);
    if (v && v->kind != VALUE_NULL)
        CHECK_TEXT(got, buf_text(&want));
    else if (d)
        CHECK(starts(got, buf_text(&want)));
    else if (!CHECK(starts(got, "none: ") || starts(got, "ambiguous: ") ||
                    starts(got, "malformed: ") || starts(got, "truncated: ")))
        CHECK_TEXT(got, in->text);
    buf_free(&want);
}

static void replies_give_what_the_reference_gives_or_a_listed_difference(void)
{
    struct buf texts[2] = { { 0 }, { 0 } };
    size_t used = 0;
    size_t seen = 0;
    const struct value *cases =
        value_get(read_file("tests/vectors/core_extract_json.json", &texts[0]), "cases");
    const struct value *differs = value_get(
        read_file("tests/vectors/core_extract_json_differs.json", &texts[1]), "cases");
    CHECK(value_count(differs) > 0);
    for (size_t i = 0; i < value_count(cases); i++) {
        const struct value *c = value_at(cases, i);
        if (!starts(value_text_or(c, "fn", ""), "extract_json"))
            continue; /* the reference's scanners have no counterpart: we read instead */
        check_vector(c, differs, &used);
        seen++;
    }
    CHECK_INT(seen, 340);
    CHECK_INT(used, value_count(differs));
    buf_free(&texts[0]);
    buf_free(&texts[1]);
    value_doc_free(&vectors);
}

/* --- cases ---------------------------------------------------------------------- */

static void a_fence_inside_a_string_ends_nothing(void)
{
    CHECK_TEXT(
        edits_of_file("tests/cases/a01_inner_fence.txt"),
        "{\"reasoning\": \"units\", \"edits\": [{\"op\": \"append\", \"content\": "
        "\"Check the unit first:\\n```sh\\nunits --list\\n```\\nthen answer.\"}]}");
}

static void a_draft_in_a_think_block_is_no_candidate(void)
{
    CHECK_TEXT(edits_of_file("tests/cases/a02_think_then_json.txt"),
               "{\"reasoning\": \"narrow\", \"edits\": [{\"op\": \"insert_after\", "
               "\"target\": \"## Steps\", \"content\": "
               "\"- Read the table header before any cell.\"}]}");
}

static void two_objects_with_wanted_keys_are_ambiguous(void)
{
    static const char want[] = "ambiguous: ambiguous optimizer reply";
    CHECK_TEXT(edits_of_file("tests/cases/a03_two_objects.txt"), want);
    CHECK_TEXT(edits("```json\n{\"edits\":[1]}\n```\n```json\n{\"edits\":[2]}\n```"),
               want);
    CHECK_TEXT(edits("{\"edits\":[1]} {\"patch\":{}}"), want);
    CHECK_TEXT(edits("{\"edits\":[1,]} {\"edits\":[2,]}"), want);
}

static void pseudo_json_in_prose_is_no_object(void)
{
    CHECK_TEXT(edits_of_file("tests/cases/a05_prose_pseudo_json.txt"),
               "none: no JSON object found");
    CHECK_TEXT(any(""), "none: no JSON object found");
}

static void bare_quotes_and_a_trailing_comma_are_repaired(void)
{
    CHECK_TEXT(edits_of_file("tests/cases/a06_trailing_comma_cjk.txt"),
               "{\"edits\": [{\"op\": \"append\", \"content\": "
               "\"\351\201\207\345\210\260\\\"\345\220\214\345\220\215\\\""
               "\346\235\241\347\233\256\346\227\266\357\274\214\345\205\210"
               "\346\240\270\345\257\271\345\271\264\344\273\275\343\200\202\"}]}");
}

static void nothing_is_taken_from_a_cut_reply(void)
{
    static const char cut[] = "truncated: the reply ends inside its JSON object";
    struct buf text = { 0 };
    const struct value *file = read_file("tests/cases/a08_truncated_length.json", &text);
    const struct value *choice = value_at(value_get(file, "choices"), 0);
    CHECK_TEXT(edits(value_text_or(value_get(choice, "message"), "content", "")), cut);
    CHECK_TEXT(edits("{\"edits\":[1]} {\"edits\":[2"), cut);
    CHECK_TEXT(edits("{\"edits\":[{\"op\":\"append\",\"content\":\"a \"b\" c\"},{\"op"),
               cut);
    CHECK_TEXT(edits("```json\n{\"edits\":[{\"op\":\"append\""), cut);
    CHECK_TEXT(lists("[{\"op\":\"append\"}, {\"op"), cut);
    buf_free(&text);
    value_doc_free(&vectors);
}

static void a_bare_array_is_a_result_only_where_allowed(void)
{
    static const char array[] = "[{\"op\":\"append\",\"content\":\"bare array\"},"
                                "{\"op\":\"delete\",\"target\":\"x\"}]";
    CHECK(starts(lists(array), "[{\"op\": \"append\""));
    CHECK(starts(edits(array), "ambiguous: "));
    CHECK_TEXT(lists("As in [1] and [2]: [{\"op\":\"append\"}]"),
               "[{\"op\": \"append\"}]");
    CHECK_TEXT(lists("[{\"a\":1}] {\"edits\":[]}"), "{\"edits\": []}");
    CHECK_TEXT(lists("[{\"op\":\"append\",},]"), "[{\"op\": \"append\"}]");
    CHECK_TEXT(lists("See [1], [not json"), "[1]");
    CHECK_TEXT(edits("[{\"edits\":[]}]"), "{\"edits\": []}");
}

static void of_duplicate_keys_the_last_wins(void)
{
    CHECK_TEXT(edits_of_file("tests/cases/a10_duplicate_keys.json"),
               "{\"edits\": [{\"op\": \"delete\", \"target\": "
               "\"- Always answer in the unit asked.\", \"content\": \"x\"}]}");
}

static void a_nesting_bomb_is_too_deep(void)
{
    CHECK_TEXT(edits_of_file("tests/cases/a11_deep_nesting.json"),
               "too_deep: nesting too deep");
}

static void scores_that_are_no_numbers_are_malformed(void)
{
    CHECK_TEXT(edits_of_file("tests/cases/a14_nan_scores.json"),
               "malformed: malformed JSON at line 1, column 31: "
               "NaN and Infinity are not JSON");
}

/* --- rules ---------------------------------------------------------------------- */

static void the_object_with_a_wanted_key_is_preferred(void)
{
    CHECK_TEXT(edits("Format {\"a\":1}. Mine: {\"edits\":[]} Not {\"b\":2}."),
               "{\"edits\": []}");
    CHECK_TEXT(edits("{\"other\":1}"), "{\"other\": 1}");
    CHECK(starts(edits("{\"a\":1} {\"b\":2}"), "ambiguous: "));
    CHECK_TEXT(edits("Use {} for nothing. {\"a\":1}"), "{\"a\": 1}");
}

static void the_same_object_twice_is_one(void)
{
    CHECK_TEXT(edits("{\"edits\":[1],\"r\":2}\nFinal:\n```json\n{ \"r\":2.0, "
                     "\"edits\":[1] }\n```"),
               "{\"edits\": [1], \"r\": 2}");
}

static void think_blocks_may_be_open_at_either_end(void)
{
    CHECK_TEXT(edits("so {\"edits\":[1]} and {\"x </think>{\"edits\":[2]}"),
               "{\"edits\": [2]}");
    CHECK_TEXT(edits("{\"edits\": [\"a</think>b\"]}"), "{\"edits\": [\"a</think>b\"]}");
    CHECK(starts(edits("<think>{\"edits\":[1]} on and on"), "truncated: "));
    CHECK_TEXT(edits("<THINKING>{\"edits\":[1]}</thinking> {\"edits\":[2]}"),
               "{\"edits\": [2]}");
    CHECK_TEXT(edits("<thin>{\"edits\":[1]}</thin>"), "{\"edits\": [1]}");
    CHECK_TEXT(edits("<think>a</think><think>{\"edits\":[1]}</think>{\"edits\":[3]}"),
               "{\"edits\": [3]}");
}

static void a_malformed_object_is_no_missing_object(void)
{
    CHECK_TEXT(edits("{\"edits\":[1] \"x\":2}"),
               "malformed: malformed JSON at line 1, column 14: expected ',' or '}'");
    CHECK(starts(edits("{\"a\":1} {\"edits\":[1] \"x\":2}"), "malformed: "));
    CHECK_TEXT(edits("{\"edits\":[2]} as in {\"op\" append}"), "{\"edits\": [2]}");
    CHECK(starts(edits("{\"edits\":[2]} not {\"edits\" 3}"), "malformed: "));
}

static void what_lies_inside_a_malformed_object_is_not_taken(void)
{
    CHECK(
        starts(edits("{\"reasoning\" \"x\", \"patch\":{\"edits\":[1]}}"), "malformed: "));
}

static void a_repair_needs_a_single_candidate(void)
{
    CHECK_TEXT(edits("ok: {\"edits\":[1,]}"), "{\"edits\": [1]}");
    CHECK_TEXT(edits("{\"a\":1} and {\"edits\":[1,]}"),
               "malformed: malformed JSON beside other JSON");
    CHECK_TEXT(edits("{'edits': [{'op': 'append', 'content': 'it\\'s', 'x': None}]}"),
               "{\"edits\": [{\"op\": \"append\", \"content\": \"it's\", \"x\": null}]}");
    CHECK(starts(edits("{\"edits\":[{\"op\":\"append,\"content\":\"x\"}]}"),
                 "malformed: "));
}

static void a_closed_fence_shows_that_the_model_had_ended(void)
{
    CHECK_TEXT(edits("```json\n{\"edits\":[{\"op\":\"append\"}]\n```\nDone."),
               "{\"edits\": [{\"op\": \"append\"}]}");
    CHECK(starts(edits("{\"edits\":[{\"op\":\"append\"}]\n```\nDone."), "malformed: "));
}

static void prose_before_the_object_hides_nothing(void)
{
    CHECK_TEXT(edits("Start with `{\"patch\":` as told, it\"s {so}: {\"edits\":[]}"),
               "malformed: malformed JSON at line 1, column 22: expected a value");
    CHECK_TEXT(edits("Say \"{name}\" or {{x}}, 5\" long: {\"edits\":[]}"),
               "{\"edits\": []}");
}

static void invalid_bytes_become_replacement_characters(void)
{
    CHECK_TEXT(edits("\xFF{\"edits\":[\"\xC3\"]}"), "{\"edits\": [\"\357\277\275\"]}");
}

static void repeat(struct buf *text, const char *piece, int times)
{
    buf_clear(text);
    for (int i = 0; i < times; i++)
        buf_add_text(text, piece);
}

static void hostile_texts_take_bounded_work(void)
{
    static const char *const pieces[] = {
        "{\"",     "{\"a\":[\"b\", ", "{\"a\" {", "[{\"a\":1,", "{'",
        "<think>", "</think>",        "{\"a\":{", "\"{\"}",     "{\"a\":\"x \"y\" z\", "
    };
    struct buf text = { 0 };
    struct reply_rules rules = { .want = wanted, .allow_array = true };
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        repeat(&text, pieces[i], 100000);
        CHECK(strstr(extract(text.ptr, text.len, &rules), ": ") != NULL);
    }
    buf_free(&text);
}

int main(void)
{
    check_run("replies give what the reference gives, or a listed difference",
              replies_give_what_the_reference_gives_or_a_listed_difference);
    check_run("a fence inside a string ends nothing",
              a_fence_inside_a_string_ends_nothing);
    check_run("a draft in a think block is no candidate",
              a_draft_in_a_think_block_is_no_candidate);
    check_run("two objects with wanted keys are ambiguous",
              two_objects_with_wanted_keys_are_ambiguous);
    check_run("pseudo-JSON in prose is no object", pseudo_json_in_prose_is_no_object);
    check_run("bare quotes and a trailing comma are repaired",
              bare_quotes_and_a_trailing_comma_are_repaired);
    check_run("nothing is taken from a cut reply", nothing_is_taken_from_a_cut_reply);
    check_run("a bare array is a result only where allowed",
              a_bare_array_is_a_result_only_where_allowed);
    check_run("of duplicate keys the last wins", of_duplicate_keys_the_last_wins);
    check_run("a nesting bomb is too deep", a_nesting_bomb_is_too_deep);
    check_run("scores that are no numbers are malformed",
              scores_that_are_no_numbers_are_malformed);
    check_run("the object with a wanted key is preferred",
              the_object_with_a_wanted_key_is_preferred);
    check_run("the same object twice is one", the_same_object_twice_is_one);
    check_run("think blocks may be open at either end",
              think_blocks_may_be_open_at_either_end);
    check_run("a malformed object is no missing object",
              a_malformed_object_is_no_missing_object);
    check_run("what lies inside a malformed object is not taken",
              what_lies_inside_a_malformed_object_is_not_taken);
    check_run("a repair needs a single candidate", a_repair_needs_a_single_candidate);
    check_run("a closed fence shows that the model had ended",
              a_closed_fence_shows_that_the_model_had_ended);
    check_run("prose before the object hides nothing",
              prose_before_the_object_hides_nothing);
    check_run("invalid bytes become replacement characters",
              invalid_bytes_become_replacement_characters);
    check_run("hostile texts take bounded work", hostile_texts_take_bounded_work);
    value_doc_free(&doc);
    buf_free(&out);
    return check_end();
}
