/* test_template.c - prompt files. */
#include "check.h"
#include "text/template.h"
#include <stdio.h>
#include <string.h>

#define HEAD "---\ninputs:\n  a: the first\n  b_2: the second\n---\n"

static struct buf both;

/* "system|user", or the message. */
static const char *filled(const char *text, const char *a, const char *b)
{
    static struct err e;
    struct template_text values[2] = { { a, strlen(a) }, { b, strlen(b) } };
    struct buf user = { 0 };
    struct template *t = template_parse(text, strlen(text), &e);
    buf_clear(&both);
    if (!t) {
        CHECK_INT(e.kind, ERR_CONFIG);
        return e.message;
    }
    CHECK(template_render(t, values, &both, &user, &e));
    buf_add_char(&both, '|');
    buf_add(&both, buf_text(&user), user.len);
    buf_free(&user);
    template_free(t);
    return buf_text(&both);
}

static const char *plain(const char *text)
{
    return filled(text, "", "");
}

static void a_line_divides_system_from_user(void)
{
    CHECK_TEXT(filled(HEAD "S {{a}}.\n\n=== user ===\n\nU {{b_2}}{{a}}\n", "1", "2"),
               "S 1.|U 21");
    CHECK_TEXT(plain("only the user"), "|only the user");
    CHECK_TEXT(plain("only the system\n=== user ===\n"), "only the system|");
    CHECK_TEXT(plain(""), "|");
}

static void a_section_goes_when_its_input_is_empty(void)
{
    static const char text[] =
        HEAD "x\n{{#a}}\nA={{a}}\n  {{#b_2}} \nB\n{{/b_2}}\n{{/a}}\ny\n";
    CHECK_TEXT(filled(text, "1", "2"), "|x\nA=1\nB\ny");
    CHECK_TEXT(filled(text, "1", ""), "|x\nA=1\ny");
    CHECK_TEXT(filled(text, "", "2"), "|x\ny");
    CHECK_TEXT(filled(text, " ", ""), "|x\nA= \ny");
}

static void inserted_text_is_never_looked_at(void)
{
    CHECK_TEXT(filled(HEAD "{{a}}", "{{b_2}} {{#a}}\n=== user ===\n%s\n", "no"),
               "|{{b_2}} {{#a}}\n=== user ===\n%s\n");
}

static void a_skill_arrives_byte_for_byte(void)
{
    char skill[4096];
    FILE *f = fopen("tests/cases/b11_template_tokens_skill.md", "rb");
    if (!CHECK(f != NULL))
        return;
    size_t n = fread(skill, 1, sizeof skill - 1, f);
    fclose(f);
    skill[n] = '\0';
    filled(HEAD "<{{a}}>", skill, "");
    CHECK_INT(both.len, n + 3);
    CHECK_INT(memcmp(both.ptr + 2, skill, n), 0);
}

static void line_ends_and_a_bom_make_no_difference(void)
{
    CHECK_TEXT(
        filled("\xEF\xBB\xBF---\r\ninputs:\r\n  a: d\r\n---\r\ns\r\n=== user ===\r\n"
               "u {{a}}\r\nv\r\n",
               "x\r\n", ""),
        "s|u x\r\n\nv");
}

static void inputs_keep_their_order_and_their_words(void)
{
    struct template *t = template_parse(HEAD, strlen(HEAD), NULL);
    CHECK_INT(template_input_count(t), 2);
    CHECK_TEXT(template_input_name(t, 1), "b_2");
    CHECK_TEXT(template_input_doc(t, 0), "the first");
    template_free(t);
    template_free(NULL);
}

static void faults_are_named_with_their_line(void)
{
    CHECK_TEXT(plain("a\n{{x}}"), "line 2: the front matter has no input 'x'");
    CHECK_TEXT(plain(HEAD "\n\n{{ a }}"),
               "line 8: an input is written {{name}}, not ' a '");
    CHECK_TEXT(plain(HEAD "{{a}"), "line 6: '{{' without '}}'");
    CHECK_TEXT(plain(HEAD "s\n=== user ===\n\n{{c}}"),
               "line 9: the front matter has no input 'c'");
    CHECK_TEXT(plain(HEAD "{{#a}}\nx"),
               "line 7: the message ends inside the section 'a'");
    CHECK_TEXT(plain(HEAD "{{#a}}\n=== user ===\n{{/a}}"),
               "line 6: the message ends inside the section 'a'");
    CHECK_TEXT(plain(HEAD "{{#a}}\n{{#a}}\n{{/a}}\n{{/a}}"),
               "line 7: a section inside itself: 'a'");
    CHECK_TEXT(plain(HEAD "{{#a}}\n{{/b_2}}"),
               "line 7: this section is not the one that is open: 'b_2'");
    CHECK_TEXT(plain(HEAD "x {{#a}} y"),
               "line 6: a section mark stands alone on its line: '#a'");
    CHECK_TEXT(plain("=== user ===\nx\n=== user ==="),
               "line 3: a second line '=== user ==='");
}

static void the_front_matter_holds_inputs_only(void)
{
    CHECK_TEXT(plain("---\nfoo: 1\n---\n"),
               "line 2: the front matter can only hold 'inputs', not 'foo'");
    CHECK_TEXT(plain("---\n\ninputs: [a]\n---\n"),
               "line 3: 'inputs' must map names to a line about each");
    CHECK_TEXT(plain("---\ninputs:\n  a: d\n  B: d\n---\n"),
               "line 4: a name is made of a-z, 0-9 and _, not 'B'");
    CHECK_TEXT(plain("---\ninputs:\n  a:\n---\n"),
               "line 3: a line of text must say what is in 'a'");
    CHECK_TEXT(plain("---\ninputs: [\n---\n"),
               "line 3, column 1: did not find expected node content");
    CHECK_TEXT(plain("---\ninputs:\n"),
               "line 1: the front matter has no closing line '---'");
    CHECK_TEXT(plain("---\n---\nx"), "|x");
    CHECK_TEXT(plain("---\n{}\n---\nx"), "|x");
    CHECK_TEXT(plain("---\ninputs:\n---\nx"), "|x");
}

static void a_file_has_limits(void)
{
    struct buf text = { 0 };
    buf_add_text(&text, "---\ninputs:\n");
    for (int i = 0; i <= TEMPLATE_MAX_INPUTS; i++)
        buf_add_format(&text, "  a%d: d\n", i);
    buf_add_text(&text, "---\n");
    CHECK_TEXT(plain(buf_text(&text)), "line 3: too many inputs");
    buf_clear(&text);
    while (text.len <= TEMPLATE_MAX_SIZE)
        buf_add_text(&text, "0123456789\n");
    CHECK_TEXT(plain(buf_text(&text)), "the prompt is longer than 1048576 bytes");
    CHECK_TEXT(plain("\xFF"), "the prompt is not valid UTF-8");
    buf_free(&text);
}

static void sections_nest_only_so_deep(void)
{
    struct buf text = { 0 };
    buf_add_text(&text, "---\ninputs:\n");
    for (int i = 0; i <= TEMPLATE_MAX_SECTIONS; i++)
        buf_add_format(&text, "  a%d: d\n", i);
    buf_add_text(&text, "---\n");
    for (int i = 0; i <= TEMPLATE_MAX_SECTIONS; i++)
        buf_add_format(&text, "{{#a%d}}\n", i);
    CHECK_TEXT(plain(buf_text(&text)), "line 21: too many sections one inside the other");
    buf_free(&text);
}

static void a_message_that_is_too_long_is_an_error(void)
{
    struct err e;
    struct buf system = { .max = 10 };
    struct buf user = { 0 };
    struct template_text value = { "0123456789", 10 };
    static const char text[] = "---\ninputs:\n  a: d\n---\n{{a}}{{a}}\n=== user ===\n";
    struct template *t = template_parse(text, strlen(text), &e);
    CHECK(!template_render(t, &value, &system, &user, &e));
    CHECK_INT(e.kind, ERR_LIMIT);
    template_free(t);
    buf_free(&system);
    buf_free(&user);
}

int main(void)
{
    check_run("a line divides system from user", a_line_divides_system_from_user);
    check_run("a section goes when its input is empty",
              a_section_goes_when_its_input_is_empty);
    check_run("inserted text is never looked at", inserted_text_is_never_looked_at);
    check_run("a skill arrives byte for byte", a_skill_arrives_byte_for_byte);
    check_run("line ends and a BOM make no difference",
              line_ends_and_a_bom_make_no_difference);
    check_run("inputs keep their order and their words",
              inputs_keep_their_order_and_their_words);
    check_run("faults are named with their line", faults_are_named_with_their_line);
    check_run("the front matter holds inputs only", the_front_matter_holds_inputs_only);
    check_run("a file has limits", a_file_has_limits);
    check_run("sections nest only so deep", sections_nest_only_so_deep);
    check_run("a message that is too long is an error",
              a_message_that_is_too_long_is_an_error);
    buf_free(&both);
    return check_end();
}
