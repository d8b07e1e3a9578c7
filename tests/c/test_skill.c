/* test_skill.c - regions and edits on bytes of any kind. */
#include "base/err.h"
#include "check.h"
#include "text/edit.h"
#include "text/skill.h"

#define START "<!-- SLOW_UPDATE_START -->"
#define END   "<!-- SLOW_UPDATE_END -->"

static void parts(void)
{
    struct skill_scan scan = { .text = SPAN(END "a" START "b" START END
                                                "<!-- APPENDIX_START -->") };
    struct skill_part part;
    CHECK(skill_scan_next(&scan, &part) && part.type == SKILL_LONE_END &&
          part.start == 0);
    CHECK(skill_scan_next(&scan, &part) && part.type == SKILL_REGION);
    CHECK_INT(part.content.len, 1 + strlen(START));
    CHECK(skill_scan_next(&scan, &part) && part.type == SKILL_LONE_START);
    CHECK_INT(part.kind, SKILL_APPENDIX);
    CHECK(!skill_scan_next(&scan, &part));
}

/* Every private-use character that could stand for a region is in the text. */
static void no_character_left(void)
{
    struct buf text = { 0 };
    struct buf body = { 0 };
    struct err e;
    for (uint32_t code = 0x100000; code <= 0x10FFFD; code++)
        buf_add_code(&text, code);
    CHECK(skill_body(&body, span_of(&text), &e));
    buf_add_text(&text, START END);
    buf_clear(&body);
    CHECK(!skill_body(&body, span_of(&text), &e));
    CHECK_INT(e.kind, ERR_LIMIT);
    CHECK(!skill_set_body(&body, span_of(&text), SPAN("x"), &e));
    buf_free(&text);
    buf_free(&body);
}

static void edit_invalid_bytes(void)
{
    struct buf text = { 0 };
    struct edit_row row = { 0 };
    struct edit edit = { SPAN("replace"), SPAN("\xFF"), SPAN("\xC3"), false };
    buf_add_text(&text, "a\xFF" START "\xFF" END);
    edit_apply(&text, &edit, SKILL_MAX, &row);
    CHECK_INT(row.fate, EDIT_APPLIED);
    CHECK_TEXT(buf_text(&text), "a\xC3" START "\xFF" END);
    edit_apply(&text, &edit, SKILL_MAX, &row);
    CHECK_INT(row.fate, EDIT_PROTECTED);
    edit_row_free(&row);
    buf_free(&text);
}

static void size_limit(void)
{
    struct buf text = { 0 };
    struct buf content = { 0 };
    struct edit_row row = { 0 };
    char *room = buf_room(&content, SKILL_MAX);
    memset(room, 'x', SKILL_MAX);
    buf_added(&content, SKILL_MAX);
    struct edit edit = { SPAN("append"), SPAN(""), span_of(&content), false };
    edit_apply(&text, &edit, SIZE_MAX, &row);
    CHECK_INT(row.fate, EDIT_OVER_SIZE);
    CHECK_INT(text.len, 0);
    edit_row_free(&row);
    buf_free(&content);
    buf_free(&text);
}

int main(void)
{
    check_run("a document is read as regions and lone markers", parts);
    check_run("a text with every private-use character is refused, not damaged",
              no_character_left);
    check_run("edits work on bytes that are no text", edit_invalid_bytes);
    check_run("a document does not grow beyond its limit", size_limit);
    return check_end();
}
