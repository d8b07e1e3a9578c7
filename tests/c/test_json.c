/* test_json.c - the JSON reader and writer. */
#include "check.h"
#include "text/json.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct value_doc doc;
static struct buf out;

static void read_file(const char *path, struct buf *text)
{
    char piece[4096];
    FILE *f = fopen(path, "rb");
    if (!CHECK(f != NULL))
        return;
    for (size_t n = 1; n > 0;) {
        n = fread(piece, 1, sizeof piece, f);
        buf_add(text, piece, n);
    }
    fclose(f);
}

static const char *written(const struct value *v, enum json_style style)
{
    struct json_writer w;
    struct err e = { 0 };
    buf_clear(&out);
    json_begin(&w, &out, style);
    json_value(&w, v);
    return json_end(&w, &e) ? buf_text(&out) : "(failed)";
}

/* What the text is when read and written again, or the message. */
static const char *again_by(const char *text, const struct json_rules *rules)
{
    static struct err e;
    value_doc_free(&doc);
    const struct value *v = json_read(&doc, text, strlen(text), rules, &e);
    return v ? written(v, JSON_LINE) : e.message;
}

static const char *again(const char *text)
{
    return again_by(text, NULL);
}

static const char *repaired(const char *text, unsigned repairs)
{
    struct json_rules rules = { .repairs = repairs };
    return again_by(text, &rules);
}

/* --- vectors -------------------------------------------------------------------- */

static void check_round(const struct value *in, const struct value *want)
{
    double d = value_number(value_at(in, 0), NAN);
    double got = json_round(d, (int)value_number(value_at(in, 1), -1));
    CHECK(got == value_number(want, NAN));
}

static void check_fixed(const struct value *in, const struct value *want)
{
    char text[64];
    snprintf(text, sizeof text, "%.*f", (int)value_number(value_at(in, 1), 0),
             value_number(value_at(in, 0), 0));
    CHECK_TEXT(text, value_text(want));
}

static void check_case(const struct value *c)
{
    const char *fn = value_text_or(c, "fn", "");
    const struct value *in = value_get(c, "in");
    const struct value *want = value_get(c, "out");
    char number[JSON_NUMBER_MAX];
    if (strcmp(fn, "dump_indent2") == 0) {
        CHECK_TEXT(written(in, JSON_INDENT), value_text(want));
    } else if (strcmp(fn, "dump_line") == 0) {
        CHECK_TEXT(written(in, JSON_LINE), value_text(want));
    } else if (strcmp(fn, "float_repr") == 0) {
        json_format_double(value_number(in, 0), number);
        CHECK_TEXT(number, value_text(want));
    } else if (strcmp(fn, "round") == 0) {
        check_round(in, want);
    } else {
        CHECK_TEXT(fn, "format_fixed");
        check_fixed(in, want);
    }
}

static void artefacts_are_written_as_the_reference_does(void)
{
    struct buf text = { 0 };
    struct err e = { 0 };
    struct value_doc vectors = { 0 };
    read_file("tests/vectors/core_json_dump.json", &text);
    const struct value *root = json_read(&vectors, text.ptr, text.len, NULL, &e);
    const struct value *cases = value_get(root, "cases");
    CHECK_TEXT(e.message, "");
    CHECK_INT(value_count(cases), 350);
    for (size_t i = 0; i < value_count(cases); i++)
        check_case(value_at(cases, i));
    value_doc_free(&vectors);
    buf_free(&text);
}

/* --- reading -------------------------------------------------------------------- */

static void every_kind_is_read(void)
{
    CHECK_TEXT(again(" { \"a\" : [ 1 , -2.5 , 1E5, null,true,false ] , \"b\":\"\" } "),
               "{\"a\": [1, -2.5, 100000.0, null, true, false], \"b\": \"\"}");
    CHECK_TEXT(again("-0"), "0");
    CHECK_TEXT(again("-0.0"), "-0.0");
    CHECK_TEXT(again("9223372036854775807"), "9223372036854775807");
    CHECK_TEXT(again("-9223372036854775808"), "-9223372036854775808");
    CHECK_TEXT(again("9223372036854775808"), "9223372036854775808");
    CHECK_TEXT(again("1e-400"), "0.0");
}

static void errors_name_line_and_column_in_characters(void)
{
    CHECK_TEXT(again("{\"\303\251\": 1,\n \"\303\251\": \303\251}"),
               "line 2, column 7: expected a value");
    CHECK_TEXT(again("{\"a\":1,}"), "line 1, column 8: expected a name in double quotes");
    CHECK_TEXT(again("[1 2]"), "line 1, column 4: expected ',' or ']'");
    CHECK_TEXT(again("{\"a\" 1}"), "line 1, column 6: expected ':' after a name");
    CHECK_TEXT(again("[1] 2"), "line 1, column 5: unexpected text after the value");
    CHECK_TEXT(again(""), "line 1, column 1: the text ends where a value is expected");
    CHECK_TEXT(again("[1,"), "line 1, column 4: the text ends where a value is expected");
    CHECK_TEXT(again("{\"a\":tru"), "line 1, column 6: the text ends inside a value");
    CHECK_TEXT(again("\"a\nb\""),
               "line 1, column 3: control characters in a string must be escaped");
}

static const char *const not_json[] = {
    "01",
    "1.",
    ".5",
    "+1",
    "0x1F",
    "1e",
    "-",
    "--1",
    "NaN",
    "Infinity",
    "'a'",
    "True",
    "None",
    "[1,]",
    "[,]",
    "{,}",
    "{a:1}",
    "// x\n1",
    "\"\\x41\"",
    "\"\\u12\"",
    "\"\\u12g4\"",
    "\"\t\"",
    "]",
    "{\"a\"}",
    "{\"a\":}",
    "[}",
    "{]",
    "1 2",
    "nulll",
    "\"",
    "\"\\",
    "-Infinity",
    "{\"a\":1 \"b\":2}",
    "\"a\\\n\"",
    "\xEF\xBB\xBF[1]",
    "\302\2401",
};

static void what_is_not_json_is_refused(void)
{
    struct err e;
    for (size_t i = 0; i < sizeof not_json / sizeof *not_json; i++)
        if (!CHECK(!json_read(&doc, not_json[i], strlen(not_json[i]), NULL, &e)))
            CHECK_TEXT(not_json[i], "refused");
    value_doc_free(&doc);
}

static void lone_surrogates_become_replacement_characters(void)
{
    CHECK_TEXT(again("\"\\ud83e\\udded\""), "\"\360\237\247\255\"");
    CHECK_TEXT(again("\"\\ud83e\""), "\"\357\277\275\"");
    CHECK_TEXT(again("\"\\udded\\ud83e\""), "\"\357\277\275\357\277\275\"");
    CHECK_TEXT(again("\"\\ud83ex\""), "\"\357\277\275x\"");
    CHECK_TEXT(again("\"\\ud83e\\u0041\""), "\"\357\277\275A\"");
}

static void strings_may_hold_zero_bytes(void)
{
    struct err e;
    const struct value *v = json_read(&doc, "\"a\\u0000b\"", 10, NULL, &e);
    CHECK_INT(v->count, 3);
    CHECK_INT(memcmp(v->text, "a\0b", 4), 0);
    CHECK_TEXT(written(v, JSON_LINE), "\"a\\u0000b\"");
    value_doc_free(&doc);
}

static void invalid_utf8_is_an_error_or_replaced(void)
{
    struct json_rules fix = { .fix_utf8 = true };
    CHECK_TEXT(again("\"ab\xFF\""), "line 1, column 4: invalid UTF-8");
    CHECK_TEXT(again_by("\"ab\xFF\"", &fix), "\"ab\357\277\275\"");
    CHECK_TEXT(again("\"\355\240\200\""), "line 1, column 2: invalid UTF-8");
}

static void nan_infinity_and_a_bom_need_a_rule(void)
{
    struct json_rules nan_rules = { .allow_nan = true };
    struct json_rules bom = { .allow_bom = true };
    struct err e;
    const char *text = "[NaN, Infinity, -Infinity, 1e400]";
    const struct value *v = json_read(&doc, text, strlen(text), &nan_rules, &e);
    CHECK(isnan(value_number(value_at(v, 0), 0)));
    CHECK(value_number(value_at(v, 1), 0) == INFINITY);
    CHECK(value_number(value_at(v, 2), 0) == -INFINITY);
    CHECK(value_number(value_at(v, 3), 0) == INFINITY);
    CHECK_TEXT(again("1e400"), "line 1, column 1: the number is too large");
    CHECK_TEXT(again_by("\xEF\xBB\xBF[1]", &bom), "[1]");
    value_doc_free(&doc);
}

static void big_integers_follow_their_rule(void)
{
    struct json_rules exact = { .big = JSON_BIG_EXACT };
    struct json_rules near = { .big = JSON_BIG_DOUBLE };
    CHECK_TEXT(again("123456789012345678901"), "123456789012345678901");
    CHECK_TEXT(again_by("[9223372036854775808]", &exact), "[9.223372036854776e+18]");
    CHECK_TEXT(again_by("[1,9223372036854775809]", &exact),
               "line 1, column 4: the number is too large");
    CHECK_TEXT(again_by("9223372036854775809", &near), "9.223372036854776e+18");
}

static void nesting_has_a_limit(void)
{
    char text[2 * JSON_MAX_DEPTH + 3];
    struct err e;
    memset(text, '[', JSON_MAX_DEPTH + 1);
    memset(text + JSON_MAX_DEPTH + 1, ']', JSON_MAX_DEPTH + 1);
    CHECK(json_read(&doc, text + 1, 2 * JSON_MAX_DEPTH, NULL, &e));
    CHECK(!json_read(&doc, text, 2 * JSON_MAX_DEPTH + 2, NULL, &e));
    CHECK_INT(e.kind, ERR_PARSE);
    CHECK_TEXT(e.message, "line 1, column 201: nesting too deep");
    struct json_rules shallow = { .depth = 2 };
    CHECK_TEXT(again_by("[[]]", &shallow), "[[]]");
    CHECK_TEXT(again_by("[[[]]]", &shallow), "line 1, column 3: nesting too deep");
    value_doc_free(&doc);
}

static void the_nesting_bomb_is_refused(void)
{
    struct buf text = { 0 };
    struct err e = { 0 };
    read_file("tests/cases/a11_deep_nesting.json", &text);
    CHECK(!json_read(&doc, text.ptr, text.len, NULL, &e));
    CHECK(strstr(e.message, "nesting too deep") != NULL);
    value_doc_free(&doc);
    buf_free(&text);
}

static void a_text_has_a_longest_size(void)
{
    struct json_rules rules = { .size = 5 };
    struct err e;
    CHECK(json_read(&doc, "[1,2]", 5, &rules, &e));
    CHECK(!json_read(&doc, "[1,23]", 6, &rules, &e));
    CHECK_INT(e.kind, ERR_LIMIT);
    value_doc_free(&doc);
}

static void duplicate_names_last_wins(void)
{
    struct buf text = { 0 };
    struct err e;
    read_file("tests/cases/a10_duplicate_keys.json", &text);
    const struct value *v = json_read(&doc, text.ptr, text.len, NULL, &e);
    const struct value *edit = value_at(value_get(v, "edits"), 0);
    CHECK_TEXT(value_text_or(edit, "op", ""), "delete");
    CHECK_TEXT(edit->entries[0].key, "op");
    value_doc_free(&doc);
    buf_free(&text);
}

static void scores_that_are_no_numbers_do_not_pass(void)
{
    struct buf text = { 0 };
    struct err e;
    read_file("tests/cases/a14_nan_scores.json", &text);
    CHECK(!json_read(&doc, text.ptr, text.len, NULL, &e));
    CHECK_TEXT(e.message, "line 1, column 31: NaN and Infinity are not JSON");
    value_doc_free(&doc);
    buf_free(&text);
}

static void a_piece_ends_behind_its_value(void)
{
    struct json_piece piece;
    struct err e;
    CHECK(json_read_piece(&doc, "{\"a\":1}, rest", 13, NULL, &piece, &e));
    CHECK_INT(piece.used, 7);
    CHECK_INT(piece.fault, JSON_FAULT_NONE);
    CHECK(!json_read_piece(&doc, "{\"a\":[1", 7, NULL, &piece, &e));
    CHECK_INT(piece.fault, JSON_FAULT_END);
    CHECK(!json_read_piece(&doc, "{\"a\":x", 6, NULL, &piece, &e));
    CHECK_INT(piece.fault, JSON_FAULT_SYNTAX);
    CHECK_INT(piece.used, 5);
    value_doc_free(&doc);
}

/* --- repairs -------------------------------------------------------------------- */

static void each_repair_needs_its_rule(void)
{
    CHECK_TEXT(repaired("[\"a\nb\tc\"]", JSON_FIX_CONTROL), "[\"a\\nb\\tc\"]");
    CHECK_TEXT(repaired("{\"a\":[1,2,],}", JSON_FIX_COMMA), "{\"a\": [1, 2]}");
    CHECK_TEXT(repaired("{\"a\":\"she said \"hi\" loudly\"}", JSON_FIX_QUOTE),
               "{\"a\": \"she said \\\"hi\\\" loudly\"}");
    CHECK_TEXT(repaired("{\"a\":[[1,2}", JSON_FIX_BRACKET), "{\"a\": [[1, 2]]}");
    CHECK_TEXT(repaired("[{\"a\":1]", JSON_FIX_BRACKET), "[{\"a\": 1}]");
    CHECK_TEXT(repaired("{\"a\":[1,{\"b\":2", JSON_FIX_END), "{\"a\": [1, {\"b\": 2}]}");
    CHECK_TEXT(repaired("{'a':'it\\'s \"x\"'}", JSON_FIX_SINGLE),
               "{\"a\": \"it's \\\"x\\\"\"}");
    CHECK_TEXT(repaired("[True,False,None]", JSON_FIX_LITERAL), "[true, false, null]");
    CHECK_TEXT(repaired("[\"\\d+\\n- x\"]", JSON_FIX_ESCAPE), "[\"\\\\d+\\n- x\"]");
    CHECK_TEXT(repaired("[\"C:\\path\\new\"]", JSON_FIX_ESCAPE),
               "line 1, column 15: a backslash that may be meant literally");
}

static void a_repair_does_no_other_repairs_work(void)
{
    static const char *const bad[] = { "[\"a\nb\"]", "[1,]",  "[\"a\"b\"]", "{\"a\":[1}",
                                       "[1",         "['a']", "[True]",     "[\"\\d\"]" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        for (size_t j = 0; j < sizeof bad / sizeof *bad; j++) {
            const char *got = repaired(bad[i], 1U << j);
            CHECK((strncmp(got, "line ", 5) != 0) == (i == j));
        }
}

static void an_inner_quote_is_one_that_cannot_end_the_string(void)
{
    unsigned fix = JSON_FIX_QUOTE;
    CHECK_TEXT(repaired("{\"a\":\"x \"hi\", y\",\"b\":1}", fix),
               "{\"a\": \"x \\\"hi\\\", y\", \"b\": 1}");
    CHECK_TEXT(repaired("[\"a \"b\", c\", \"d\"]", fix), "[\"a \\\"b\\\", c\", \"d\"]");
    CHECK_TEXT(repaired("{\"k\"ey\": 1}", fix),
               "line 1, column 5: expected ':' after a name");
    CHECK_TEXT(repaired("{\"a\":\"x,\"b\":\"y\"}", fix),
               "line 1, column 11: a string that does not end before a ':'");
    CHECK_TEXT(repaired("\"plain\"", fix), "\"plain\"");
}

static void repairs_that_were_needed_are_told(void)
{
    struct json_rules all = { .repairs = 255 };
    struct json_piece piece;
    CHECK(json_read_piece(&doc, "{\"a\":[1,2]}", 11, &all, &piece, NULL));
    CHECK_INT(piece.repaired, 0);
    CHECK(json_read_piece(&doc, "{\"a\":[1,2,]}", 12, &all, &piece, NULL));
    CHECK_INT(piece.repaired, JSON_FIX_COMMA);
    CHECK(json_read_piece(&doc, "{'a':True}", 10, &all, &piece, NULL));
    CHECK_INT(piece.repaired, JSON_FIX_SINGLE | JSON_FIX_LITERAL);
    value_doc_free(&doc);
}

/* --- writing -------------------------------------------------------------------- */

static const char *failure(struct json_writer *w)
{
    static struct err e;
    CHECK(!json_end(w, &e));
    CHECK_INT(e.kind, ERR_DATA);
    return e.message;
}

static void canonical_text_is_sorted_and_bare(void)
{
    struct json_writer w;
    buf_clear(&out);
    json_begin(&w, &out, JSON_CANONICAL);
    json_object(&w);
    json_key(&w, "b");
    json_array(&w);
    json_double(&w, 1.0);
    json_double(&w, -0.0);
    json_double(&w, 0.5);
    json_double(&w, 1e300);
    json_array_end(&w);
    json_key(&w, "a");
    json_object(&w);
    json_key(&w, "z\n");
    json_text(&w, "\303\251/");
    json_key(&w, "z");
    json_null(&w);
    json_object_end(&w);
    json_key(&w, "");
    json_bool(&w, true);
    json_object_end(&w);
    CHECK(json_end(&w, NULL));
    CHECK_TEXT(buf_text(&out), "{\"\":true,\"a\":{\"z\":null,\"z\\n\":\"\303\251/\"},"
                               "\"b\":[1,0,0.5,1e+300]}");
}

static void canonical_names_are_compared_as_bytes_not_as_escapes(void)
{
    /* A quote sorts before letters although its escape starts with a backslash. */
    const char *text = "{\"a\":1,\"\\\"\":2,\"\\u0001\":3,\"Z\":4}";
    const struct value *v = json_read(&doc, text, strlen(text), NULL, NULL);
    CHECK_TEXT(written(v, JSON_CANONICAL), "{\"\\u0001\":3,\"\\\"\":2,\"Z\":4,\"a\":1}");
    value_doc_free(&doc);
}

static void of_equal_canonical_names_the_last_counts(void)
{
    struct json_writer w;
    buf_clear(&out);
    json_begin(&w, &out, JSON_CANONICAL);
    json_object(&w);
    for (int i = 0; i < 3; i++) {
        json_key(&w, "a");
        json_integer(&w, i);
    }
    json_key(&w, "A");
    json_integer(&w, 9);
    json_object_end(&w);
    CHECK(json_end(&w, NULL));
    CHECK_TEXT(buf_text(&out), "{\"A\":9,\"a\":2}");
}

static void a_value_that_is_no_json_is_named_by_its_place(void)
{
    struct json_writer w;
    buf_clear(&out);
    json_begin(&w, &out, JSON_LINE);
    json_object(&w);
    json_key(&w, "results");
    json_array(&w);
    json_null(&w);
    json_object(&w);
    json_key(&w, "id");
    json_integer(&w, 1);
    json_key(&w, "hard");
    json_double(&w, NAN);
    json_key(&w, "more"); /* nothing counts after the first fault */
    json_double(&w, INFINITY);
    CHECK_TEXT(failure(&w), "results[2].hard: NaN cannot be written as JSON");
}

static void the_root_and_odd_names_have_places_too(void)
{
    struct json_writer w;
    buf_clear(&out);
    json_begin(&w, &out, JSON_LINE);
    json_text_n(&w, "\xFF", 1);
    CHECK_TEXT(failure(&w), "the value: the text is not valid UTF-8");
    json_begin(&w, &out, JSON_CANONICAL);
    json_object(&w);
    json_key(&w, "x");
    json_null(&w);
    json_key(&w, "a b");
    json_object(&w);
    json_key(&w, "y");
    json_double(&w, -INFINITY);
    CHECK_TEXT(failure(&w), "[\"a b\"].y: infinity cannot be written as JSON");
    json_begin(&w, &out, JSON_LINE);
    json_object(&w);
    json_key(&w, "a\xFF");
    CHECK_TEXT(failure(&w), "the value: a name is not valid UTF-8");
}

static void a_caller_can_refuse_the_next_value(void)
{
    struct json_writer w;
    buf_clear(&out);
    json_begin(&w, &out, JSON_LINE);
    json_array(&w);
    json_null(&w);
    json_refuse(&w, "a thread");
    CHECK(json_failed(&w));
    CHECK_TEXT(failure(&w), "[2]: a thread");
}

static void writing_too_deep_or_too_much_fails(void)
{
    struct json_writer w;
    struct err e;
    buf_clear(&out);
    json_begin(&w, &out, JSON_LINE);
    for (int i = 0; i <= JSON_MAX_DEPTH; i++)
        json_array(&w);
    CHECK(strstr(failure(&w), "nesting too deep") != NULL);
    struct buf small = { .max = 10 };
    json_begin(&w, &small, JSON_CANONICAL);
    json_object(&w);
    json_key(&w, "abc");
    json_text(&w, "a long text");
    json_key(&w, "abb");
    json_null(&w);
    json_object_end(&w);
    CHECK(!json_end(&w, &e));
    CHECK_INT(e.kind, ERR_LIMIT);
    buf_free(&small);
}

static void raw_pieces_and_strings_can_be_added(void)
{
    struct json_writer w;
    buf_clear(&out);
    json_begin(&w, &out, JSON_LINE);
    json_array(&w);
    json_raw(&w, "{\"a\": 1}", 8);
    json_text(&w, "\"\\\x7F/\b");
    json_array_end(&w);
    CHECK(json_end(&w, NULL));
    CHECK_TEXT(buf_text(&out), "[{\"a\": 1}, \"\\\"\\\\\x7F/\\b\"]");
    buf_clear(&out);
    json_quote(&out, "a\nb", 3);
    CHECK_TEXT(buf_text(&out), "\"a\\nb\"");
}

/* --- numbers -------------------------------------------------------------------- */

static const char *formatted(double d)
{
    static char text[JSON_NUMBER_MAX];
    size_t n = json_format_double(d, text);
    CHECK_INT(n, strlen(text));
    return text;
}

static void doubles_have_their_shortest_name(void)
{
    CHECK_TEXT(formatted(NAN), "nan");
    CHECK_TEXT(formatted(-INFINITY), "-inf");
    CHECK_TEXT(formatted(5e-324), "5e-324");
    CHECK_TEXT(formatted(-1e-05), "-1e-05");
    CHECK_TEXT(formatted(123456789012345680.0), "1.2345678901234568e+17");
    CHECK_TEXT(formatted(0x1p-1007), "7.291122019556398e-304"); /* a power of two */
    CHECK_TEXT(formatted(9007199254740993.0), "9007199254740992.0");
}

static void every_double_reads_back(void)
{
    uint64_t x = 88172645463325252u;
    for (int i = 0; i < 20000; i++) {
        double d;
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        memcpy(&d, &x, sizeof d);
        if (isfinite(d))
            CHECK(strtod(formatted(d), NULL) == d);
    }
}

static void rounding_is_exact(void)
{
    CHECK(json_round(2.675, 2) == 2.67); /* the double lies below */
    CHECK(json_round(0.125, 2) == 0.12);
    CHECK(json_round(0.375, 2) == 0.38);
    CHECK(json_round(-2.5, 0) == -2);
    CHECK(json_round(1e300, 3) == 1e300);
    CHECK(isnan(json_round(NAN, 1)));
}

/* A text of n bytes whose byte `at` is c; it reads back as it is, or is refused. */
static bool reads_back(size_t n, size_t at, char c)
{
    char text[32];
    struct err e = { 0 };
    memset(text, 'a', n);
    text[at] = c;
    struct value v = { .kind = VALUE_TEXT, .count = (uint32_t)n, .text = text };
    const char *json = written(&v, JSON_LINE);
    if ((unsigned char)c >= 0x80)
        return strcmp(json, "(failed)") == 0;
    value_doc_free(&doc);
    const struct value *back = json_read(&doc, json, strlen(json), NULL, &e);
    return back && back->count == n && memcmp(back->text, text, n) == 0;
}

static void every_byte_reads_back_at_every_place(void)
{
    for (size_t n = 1; n <= 26; n += 5)
        for (size_t at = 0; at < n; at++)
            for (int c = 0; c < 256; c++)
                CHECK(reads_back(n, at, (char)c));
}

static void test_reading(void)
{
    check_run("artefacts are written as the reference does",
              artefacts_are_written_as_the_reference_does);
    check_run("every kind is read", every_kind_is_read);
    check_run("errors name line and column in characters",
              errors_name_line_and_column_in_characters);
    check_run("what is not JSON is refused", what_is_not_json_is_refused);
    check_run("lone surrogates become replacement characters",
              lone_surrogates_become_replacement_characters);
    check_run("strings may hold zero bytes", strings_may_hold_zero_bytes);
    check_run("invalid UTF-8 is an error or replaced",
              invalid_utf8_is_an_error_or_replaced);
    check_run("NaN, infinity and a BOM need a rule", nan_infinity_and_a_bom_need_a_rule);
    check_run("big integers follow their rule", big_integers_follow_their_rule);
    check_run("nesting has a limit", nesting_has_a_limit);
    check_run("the nesting bomb is refused", the_nesting_bomb_is_refused);
    check_run("a text has a longest size", a_text_has_a_longest_size);
    check_run("of duplicate names the last wins", duplicate_names_last_wins);
    check_run("scores that are no numbers do not pass",
              scores_that_are_no_numbers_do_not_pass);
    check_run("a piece ends behind its value", a_piece_ends_behind_its_value);
    check_run("each repair needs its rule", each_repair_needs_its_rule);
    check_run("a repair does no other repair's work",
              a_repair_does_no_other_repairs_work);
    check_run("an inner quote is one that cannot end the string",
              an_inner_quote_is_one_that_cannot_end_the_string);
    check_run("repairs that were needed are told", repairs_that_were_needed_are_told);
}

static void test_writing(void)
{
    check_run("canonical text is sorted and bare", canonical_text_is_sorted_and_bare);
    check_run("canonical names are compared as bytes, not as escapes",
              canonical_names_are_compared_as_bytes_not_as_escapes);
    check_run("of equal canonical names the last counts",
              of_equal_canonical_names_the_last_counts);
    check_run("a value that is no JSON is named by its place",
              a_value_that_is_no_json_is_named_by_its_place);
    check_run("the root and odd names have places too",
              the_root_and_odd_names_have_places_too);
    check_run("a caller can refuse the next value", a_caller_can_refuse_the_next_value);
    check_run("writing too deep or too much fails", writing_too_deep_or_too_much_fails);
    check_run("raw pieces and strings can be added", raw_pieces_and_strings_can_be_added);
    check_run("doubles have their shortest name", doubles_have_their_shortest_name);
    check_run("every double reads back", every_double_reads_back);
    check_run("rounding is exact", rounding_is_exact);
    check_run("every byte reads back at every place",
              every_byte_reads_back_at_every_place);
}

int main(void)
{
    test_reading();
    test_writing();
    value_doc_free(&doc);
    buf_free(&out);
    return check_end();
}
