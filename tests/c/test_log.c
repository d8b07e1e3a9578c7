/* Messages and secrets. */
#include "base/log.h"
#include "check.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char last[256];
static size_t last_n;
static int count;

static void sink(void *data, enum log_level level, const char *message, size_t n)
{
    snprintf(last, sizeof last, "%s%s: %.*s", (const char *)data, log_level_name(level),
             n < 200 ? (int)n : 200, message);
    last_n = n;
    count++;
}

static void without_a_sink_a_message_goes_nowhere(void)
{
    count = 0;
    log_set_sink(LOG_DEBUG, NULL, NULL);
    CHECK(!log_wants(LOG_ERROR));
    log_write(LOG_ERROR, "nobody hears %d", 1);
    CHECK_INT(count, 0);
}

static void messages_below_the_level_are_dropped(void)
{
    char data[] = ">";
    count = 0;
    log_set_sink(LOG_WARNING, sink, data);
    CHECK(log_wants(LOG_ERROR) && log_wants(LOG_WARNING) && !log_wants(LOG_INFO));
    log_write(LOG_INFO, "quiet");
    CHECK_INT(count, 0);
    log_write(LOG_WARNING, "slow reply: %d s", 7);
    CHECK_TEXT(last, ">warning: slow reply: 7 s");
    log_write(LOG_ERROR, "%s", "lost");
    CHECK_TEXT(last, ">error: lost");
    CHECK_INT(count, 2);
}

static const char *masked(const char *text)
{
    static struct buf b;
    buf_free(&b);
    CHECK(log_mask(&b, text, strlen(text)));
    return buf_text(&b);
}

static void secrets_are_masked_wherever_they_stand(void)
{
    log_secrets_clear();
    CHECK(log_secret_add("sk-abcdefghijklmnop"));
    CHECK_TEXT(masked("key sk-abcdefghijklmnop!"), "key ***!");
    CHECK_TEXT(masked("sk-abcdefghijklmnopsk-abcdefghijklmnop"), "******");
    CHECK_TEXT(masked("sk-abcdefghijklmno"), "sk-abcdefghijklmno");
    CHECK_TEXT(masked(""), "");
    char data[] = "";
    log_set_sink(LOG_INFO, sink, data);
    log_write(LOG_INFO, "sent %s", "sk-abcdefghijklmnop");
    CHECK_TEXT(last, "info: sent ***");
    log_secrets_clear();
    CHECK_TEXT(masked("sk-abcdefghijklmnop"), "sk-abcdefghijklmnop");
}

static void secrets_inside_secrets_leave_no_end(void)
{
    log_secrets_clear();
    log_secret_add("0123456789abcdef");
    log_secret_add("0123456789abcdefgh");
    log_secret_add("89abcdefghijklmnop");
    CHECK_TEXT(masked("<0123456789abcdefgh>"), "<***>");
    CHECK_TEXT(masked("<0123456789abcdef>"), "<***>");
    CHECK_TEXT(masked("<0123456789abcdefghijklmnop>"), "<***>");
    log_secrets_clear();
    log_secret_add("aaaaaaaaaaaaaaaa");
    CHECK_TEXT(masked("<aaaaaaaaaaaaaaaaaaa>"), "<***>");
    log_secrets_clear();
}

static void short_texts_are_no_secrets(void)
{
    log_secrets_clear();
    CHECK(log_secret_add("EMPTY"));
    CHECK(log_secret_add(""));
    CHECK(log_secret_add(NULL));
    CHECK(log_secret_add("123456789012345"));
    CHECK_TEXT(masked("EMPTY 123456789012345"), "EMPTY 123456789012345");
    CHECK(log_secret_add("1234567890123456"));
    CHECK_TEXT(masked("1234567890123456"), "***");
    log_secrets_clear();
}

static void there_is_room_for_many_secrets_and_an_end(void)
{
    char secret[32];
    log_secrets_clear();
    for (int i = 0; i < SECRETS_MAX; i++) {
        snprintf(secret, sizeof secret, "secret-number-%04d", i);
        CHECK(log_secret_add(secret));
        CHECK(log_secret_add(secret));
    }
    CHECK_TEXT(masked("secret-number-0000 secret-number-0063"), "*** ***");
    CHECK(!log_secret_add("secret-number-9999"));
    log_secrets_clear();
}

/* A million bytes with matches of all secrets would take minutes in square time. */
static void masking_takes_time_in_proportion_to_the_text(void)
{
    struct buf text = { 0 }, out = { 0 };
    char secret[40];
    log_secrets_clear();
    for (int i = 0; i < SECRETS_MAX; i++) {
        snprintf(secret, sizeof secret, "aaaaaaaaaaaaaaaaaaaaaaaa%d", i);
        log_secret_add(secret);
    }
    while (text.len < 300000)
        buf_add_text(&text, "aaaaaaaaaaaaaaaaaaaaaaaa7 ");
    CHECK(log_mask(&out, text.ptr, text.len));
    CHECK(strncmp(out.ptr, "*** *** ", 8) == 0 && !strchr(out.ptr, 'a'));
    log_secrets_clear();
    buf_free(&text);
    buf_free(&out);
}

static void a_long_message_is_cut_between_characters(void)
{
    struct buf text = { 0 };
    char data[] = "";
    log_set_sink(LOG_INFO, sink, data);
    while (text.len < 70000)
        buf_add_text(&text, "\xe6\xa8\x99");
    log_write(LOG_INFO, "%s", buf_text(&text));
    CHECK_INT(last_n, 65535);
    buf_free(&text);
    log_set_sink(LOG_INFO, NULL, NULL);
}

int main(void)
{
    check_run("without a sink a message goes nowhere",
              without_a_sink_a_message_goes_nowhere);
    check_run("messages below the level are dropped",
              messages_below_the_level_are_dropped);
    check_run("secrets are masked wherever they stand",
              secrets_are_masked_wherever_they_stand);
    check_run("secrets inside secrets leave no end", secrets_inside_secrets_leave_no_end);
    check_run("short texts are no secrets", short_texts_are_no_secrets);
    check_run("there is room for many secrets and an end",
              there_is_room_for_many_secrets_and_an_end);
    check_run("masking takes time in proportion to the text",
              masking_takes_time_in_proportion_to_the_text);
    check_run("a long message is cut between characters",
              a_long_message_is_cut_between_characters);
    return check_end();
}
