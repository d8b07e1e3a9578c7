/* test_value.c - documents as trees. */
#include "check.h"
#include "text/json.h"
#include <string.h>

static struct value_doc doc;

static const struct value *read(const char *text)
{
    struct err e = { 0 };
    const struct value *v = json_read(&doc, text, strlen(text), NULL, &e);
    CHECK_TEXT(e.message, "");
    return v;
}

static void a_field_is_found_by_its_whole_name(void)
{
    const struct value *v = read("{\"ab\": 1, \"a\": 2, \"\": 3}");
    CHECK_INT(value_integer_or(v, "a", 0), 2);
    CHECK_INT(value_integer_or(v, "", 0), 3);
    CHECK(!value_get(v, "abc"));
    value_doc_free(&doc);
}

static void missing_things_and_other_kinds_give_the_fallback(void)
{
    const struct value *v = read("{\"t\": \"x\", \"n\": null, \"f\": 1.5}");
    CHECK_TEXT(value_text_or(v, "n", "none"), "none");
    CHECK_TEXT(value_text_or(v, "t", "none"), "x");
    CHECK_INT(value_integer_or(v, "t", 7), 7);
    CHECK_INT(value_integer_or(v, "f", 7), 7);
    CHECK(value_bool_or(v, "t", true));
    CHECK(value_number_or(v, "gone", 2.5) == 2.5);
    CHECK(!value_get(value_get(v, "t"), "x"));
    CHECK(!value_get(NULL, "x"));
    CHECK(!value_at(v, 0));
    CHECK_INT(value_count(NULL), 0);
    CHECK(!value_text(value_get(v, "f")));
    value_doc_free(&doc);
}

static void whole_doubles_count_as_integers_and_all_numbers_as_doubles(void)
{
    const struct value *v =
        read("[{\"a\": 3.0, \"b\": 1e300}, 100000000000000000000, true]");
    CHECK_INT(value_integer_or(value_at(v, 0), "a", 0), 3);
    CHECK_INT(value_integer_or(value_at(v, 0), "b", 5), 5);
    CHECK(value_is(value_at(v, 1), VALUE_BIG));
    CHECK(value_number(value_at(v, 1), 0) == 1e20);
    CHECK(value_number(value_at(v, 2), -1) == -1);
    CHECK_INT(value_count(v), 3);
    CHECK(!value_at(v, 3));
    value_doc_free(&doc);
}

static void of_equal_names_the_last_value_stands_in_the_first_place(void)
{
    const struct value *v = read("{\"a\": 1, \"b\": 2, \"a\": 3, \"c\": 4, \"a\": 5}");
    CHECK_INT(v->count, 3);
    CHECK_TEXT(v->entries[0].key, "a");
    CHECK_INT(v->entries[0].value.integer, 5);
    CHECK_TEXT(v->entries[2].key, "c");
    value_doc_free(&doc);
}

static void the_same_holds_for_objects_of_many_names(void)
{
    struct buf text = { 0 };
    buf_add_char(&text, '{');
    for (int i = 0; i < 3000; i++)
        buf_add_format(&text, "%s\"k%d\": %d", i ? ", " : "", i % 1000, i);
    buf_add_char(&text, '}');
    const struct value *v = read(buf_text(&text));
    CHECK_INT(v->count, 1000);
    CHECK_TEXT(v->entries[0].key, "k0");
    CHECK_TEXT(v->entries[999].key, "k999");
    CHECK_INT(value_integer_or(v, "k7", 0), 2007);
    buf_free(&text);
    value_doc_free(&doc);
}

static void a_document_stops_at_its_ceiling(void)
{
    struct value_doc small = { .max = 20000 };
    struct buf text = { 0 };
    struct err e = { 0 };
    buf_add_char(&text, '[');
    for (int i = 0; i < 5000; i++)
        buf_add_text(&text, "[],");
    buf_add_text(&text, "0]");
    CHECK(!json_read(&small, text.ptr, text.len, NULL, &e));
    CHECK_INT(e.kind, ERR_LIMIT);
    value_doc_free(&small);
    CHECK_INT(small.used, 0);
    CHECK(json_read(&small, "[1]", 3, NULL, &e));
    value_doc_free(&small);
    buf_free(&text);
}

static void a_cleared_document_is_used_again(void)
{
    struct value_doc d = { 0 };
    for (int i = 0; i < 100; i++) {
        const struct value *v = json_read(&d, "{\"a\": [1, \"x\"]}", 15, NULL, NULL);
        CHECK_TEXT(value_text(value_at(value_get(v, "a"), 1)), "x");
        value_doc_clear(&d);
    }
    CHECK(d.used < 10000);
    value_doc_free(&d);
}

int main(void)
{
    check_run("a field is found by its whole name", a_field_is_found_by_its_whole_name);
    check_run("missing things and other kinds give the fallback",
              missing_things_and_other_kinds_give_the_fallback);
    check_run("whole doubles count as integers and all numbers as doubles",
              whole_doubles_count_as_integers_and_all_numbers_as_doubles);
    check_run("of equal names the last value stands in the first place",
              of_equal_names_the_last_value_stands_in_the_first_place);
    check_run("the same holds for objects of many names",
              the_same_holds_for_objects_of_many_names);
    check_run("a document stops at its ceiling", a_document_stops_at_its_ceiling);
    check_run("a cleared document is used again", a_cleared_document_is_used_again);
    return check_end();
}
