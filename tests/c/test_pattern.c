/* test_pattern.c - Lua's patterns: the same answers as Lua's own, and an end. */
#include "check.h"
#include "pattern_twins.h"
#include <stdlib.h>

static struct twins twins;
static uint64_t state = 20240611;

static unsigned draw(unsigned below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % below;
}

/* ------------------------------------------------------------- random patterns */

static const char *const pieces[] = {
    "a",  "b",    "c",    ".",    "%a",   "%d",    "%s",     "%S",   "%w",    "%p",
    "%x", "%u",   "%l",   "%c",   "%g",   "%z",    "[ab]",   "[^a]", "[a-c]", "[%a_]",
    "(",  ")",    "()",   "(.-)", "%1",   "%2",    "%b()",   "%bab", "%f[a]", "%f[%w]",
    "^",  "$",    "[]a]", "[^]]", "[a-]", "[%]]",  "[a-%%]", "%%",   "%.",    "[",
    "%",  "%f",   "%b",   "%b(",  "]",    "[^",    "-",      "*",    "%0",    "(a*)",
    "x",  "[%-]", "%f[^", "[-a]", "%A",   "[^%d]", "%W",     "%-",
};

static const char *const repeats[] = { "*", "+", "-", "?", "", "", "", "" };

static struct span random_pattern(struct buf *b)
{
    buf_clear(b);
    if (draw(8) == 0)
        buf_add_char(b, '^');
    for (unsigned i = draw(7) + 1; i > 0; i--) {
        if (draw(30) == 0)
            buf_add_char(b, (char)draw(256));
        else
            buf_add_text(b, pieces[draw(sizeof pieces / sizeof *pieces)]);
        buf_add_text(b, repeats[draw(8)]);
    }
    if (draw(8) == 0)
        buf_add_char(b, '$');
    return span_of(b);
}

static struct span random_subject(struct buf *b)
{
    static const char letters[] = "aaabbbcc  ()x1_-]%.A\n";
    buf_clear(b);
    for (unsigned i = draw(20); i > 0; i--)
        buf_add_char(b, draw(20) == 0 ? (char)draw(256) : letters[draw(sizeof letters)]);
    return span_of(b);
}

static void random_patterns_do_what_they_do_in_lua(void)
{
    const char *form = getenv("SKILLOPT_TEST_FORM");
    int rounds = form && strcmp(form, "short") != 0 ? 400000 : 15000;
    struct buf pattern = { 0 };
    struct buf subject = { 0 };
    int differ = 0;
    for (int i = 0; i < rounds && differ < 3; i++) {
        struct span s = random_subject(&subject);
        struct span p = random_pattern(&pattern);
        differ += !twins_agree(&twins, s, p, (int)draw(30) - 8);
    }
    CHECK_INT(differ, 0);
    buf_free(&pattern);
    buf_free(&subject);
}

static void every_byte_is_of_lua_s_classes(void)
{
    char all[256];
    for (int i = 0; i < 256; i++)
        all[i] = (char)i;
    for (int i = 0; i < 256; i++) {
        char class[] = { '%', (char)i, '+' };
        char set[] = { '[', '^', '%', (char)i, ']', '-' };
        if (i == 'b' || i == 'f' || (i >= '0' && i <= '9'))
            continue;
        CHECK(
            twins_agree(&twins, (struct span){ all, 256 }, (struct span){ class, 3 }, 1));
        CHECK(twins_agree(&twins, (struct span){ all, 256 }, (struct span){ set, 6 }, 1));
    }
}

/* ---------------------------------------------------------------------- limits */

static const char *repeated(struct buf *b, const char *piece, int n)
{
    buf_clear(b);
    while (n-- > 0)
        buf_add_text(b, piece);
    return buf_text(b);
}

static void captures_and_choices_end_where_lua_s_do(void)
{
    static const char *const nested[] = { "a?", "a-b?", "()", "(a)", "[ab]*a?", "b?a?" };
    struct buf p = { 0 };
    struct buf s = { 0 };
    repeated(&s, "ab", 300);
    for (size_t i = 0; i < sizeof nested / sizeof *nested; i++) {
        for (int n = 30; n <= 34; n++) {
            repeated(&p, nested[i], n);
            CHECK(twins_agree(&twins, (struct span){ s.ptr, 40 }, span_of(&p), 1));
        }
    }
    for (int n = 196; n <= 203; n++) {
        repeated(&p, ".?", n);
        CHECK(twins_agree(&twins, span_of(&s), span_of(&p), 1));
        repeated(&p, "[ab]+", n);
        CHECK(twins_agree(&twins, span_of(&s), span_of(&p), 1));
        repeated(&p, ".-", n);
        CHECK(twins_agree(&twins, (struct span){ s.ptr, 3 }, span_of(&p), 1));
    }
    buf_free(&p);
    buf_free(&s);
}

static struct pattern searched;

static enum pattern_outcome search(const char *subject, const char *pattern,
                                   uint64_t steps)
{
    struct span s = { subject, strlen(subject) };
    struct span p = { pattern, strlen(pattern) };
    pattern_init(&searched, s, p, true);
    searched.steps_left = steps;
    return pattern_search(&searched, subject, NULL);
}

static void a_search_ends_when_its_steps_are_used_up(void)
{
    static const char subject[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    CHECK_INT(search(subject, "a-a-a-a-a-a-a-a-a-a-a-a-b", 1000000), PATTERN_ENDLESS);
    CHECK_INT(searched.steps_left, 0);
    CHECK_INT(search(subject, "a-a-a-a-a-a-a-a-a-a-a-a-$", 1000000), PATTERN_FOUND);
    CHECK(searched.steps_left > 0);
    CHECK_INT(search(subject, "^a*$", 0), PATTERN_ENDLESS);
    CHECK_INT(search(subject, "^a*$", 60), PATTERN_FOUND);
}

static void long_sets_and_texts_cost_steps(void)
{
    struct buf set = { 0 };
    struct buf text = { 0 };
    buf_add_char(&set, '[');
    for (int i = 0; i < 10000; i++)
        buf_add_char(&set, 'x');
    buf_add_text(&set, "a]*b");
    for (int i = 0; i < 10000; i++)
        buf_add_char(&text, 'a');
    CHECK_INT(search(buf_text(&text), buf_text(&set), 10000000), PATTERN_ENDLESS);
    CHECK_INT(search(buf_text(&text), "(a*)%1%1%1%1b", 10000000), PATTERN_ENDLESS);
    CHECK_INT(search(buf_text(&text), "^(a*)%1", 20600), PATTERN_FOUND);
    CHECK_INT(search(buf_text(&text), "^(a*)%1", 20200), PATTERN_ENDLESS);
    CHECK_INT(search(buf_text(&text), "%bab", 10000000), PATTERN_ENDLESS);
    buf_free(&set);
    buf_free(&text);
}

static void a_search_ends_when_it_is_stopped(void)
{
    volatile sig_atomic_t stop = 1;
    struct span s = SPAN("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
    pattern_init(&searched, s, SPAN("a-a-a-a-a-a-a-a-a-a-a-a-b"), true);
    searched.stop = &stop;
    CHECK_INT(pattern_search(&searched, s.ptr, NULL), PATTERN_STOPPED);
    CHECK(searched.steps_left >= PATTERN_STEPS_MAX - 2 * PATTERN_SLICE);
    stop = 0;
    CHECK_INT(search("aab", "a-a-b", 100), PATTERN_FOUND);
}

static void what_was_found_is_named(void)
{
    CHECK_INT(search("key = value", "(%w+)%s*=()%s*(%w+)", 1000), PATTERN_FOUND);
    CHECK_INT(searched.first - searched.subject, 0);
    CHECK_INT(searched.last - searched.subject, 11);
    CHECK_INT(searched.count, 3);
    CHECK_INT(searched.captures[0].size, 3);
    CHECK_INT(searched.captures[1].size, PATTERN_POSITION);
    CHECK_TEXT(searched.captures[2].at, "value");
    CHECK_INT(search("key", "(k", 1000), PATTERN_FOUND);
    CHECK_INT(searched.captures[0].size, PATTERN_OPEN);
    CHECK_INT(search("key", "k[", 1000), PATTERN_FAULTY);
    CHECK_TEXT(searched.fault, "a set has no closing ']'");
    CHECK_INT(search("key", "x[", 1000), PATTERN_ABSENT);
}

int main(void)
{
    twins = twins_new();
    check_run("random patterns do what they do in Lua",
              random_patterns_do_what_they_do_in_lua);
    check_run("every byte is of Lua's classes", every_byte_is_of_lua_s_classes);
    check_run("captures and choices end where Lua's do",
              captures_and_choices_end_where_lua_s_do);
    check_run("a search ends when its steps are used up",
              a_search_ends_when_its_steps_are_used_up);
    check_run("long sets and texts cost steps", long_sets_and_texts_cost_steps);
    check_run("a search ends when it is stopped", a_search_ends_when_it_is_stopped);
    check_run("what was found is named", what_was_found_is_named);
    lua_close(twins.ours);
    lua_close(twins.theirs);
    return check_end();
}
