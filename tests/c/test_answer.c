/* Faults: kinds, waits, limits, words of many servers. */
#include "check.h"
#include "model/answer.h"
#include "model/answer_time.h"
#include "model/answer_words.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Headers as "name\0value\0...\0" pairs, ended by an empty name. */
static const char *pair_header(void *arg, const char *name)
{
    for (const char *p = arg; p && *p; p += strlen(p) + 1) {
        const char *value = p + strlen(p) + 1;
        if (strcmp(p, name) == 0)
            return value;
        p = value;
    }
    return NULL;
}

static struct answer answer_of(int status, const char *headers, const char *body)
{
    return (struct answer){
        status, pair_header, (void *)headers, { body, strlen(body) }, 1.7e9
    };
}

static struct fault fault;

static void judge(int status, const char *headers, const char *body)
{
    struct value_doc d = { 0 };
    struct answer a = answer_of(status, headers, body);
    answer_judge(&a, &d, &fault);
    value_doc_free(&d);
}

static void check_kind(int status, const char *body, const char *kind)
{
    judge(status, NULL, body);
    if (!CHECK_TEXT(err_kind_name(fault.err.kind), kind))
        CHECK_TEXT(body, "a body of that kind");
}

static void check_near(double got, double want)
{
    if (!CHECK(fabs(got - want) < 1e-9))
        printf("  got %.17g, wanted %.17g\n", got, want);
}

static void test_statuses(void)
{
    static const struct {
        int status;
        const char *kind;
    } list[] = { { 400, "bad_request" }, { 404, "bad_request" }, { 405, "bad_request" },
                 { 413, "bad_request" }, { 422, "bad_request" }, { 418, "bad_request" },
                 { 302, "bad_request" }, { 401, "auth" },        { 402, "auth" },
                 { 403, "auth" },        { 407, "auth" },        { 408, "timeout" },
                 { 504, "timeout" },     { 409, "server" },      { 425, "server" },
                 { 429, "rate_limit" },  { 500, "server" },      { 503, "server" },
                 { 529, "server" },      { 101, "server" } };
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        judge(list[i].status, NULL, "{\"error\":{\"message\":\"no\"}}");
        CHECK_TEXT(err_kind_name(fault.err.kind), list[i].kind);
        CHECK_INT(fault.err.retry, err_is_weather(fault.err.kind));
        CHECK_INT(fault.status, list[i].status);
        CHECK(strstr(fault.err.message, ": no"));
    }
}

static void test_shapes(void)
{
    static const char *const bodies[] = {
        "{\"error\":{\"message\":\"words\",\"type\":\"t\",\"code\":\"c\"}}",
        "{\"error\":\"words\"}",
        "{\"message\":\"words\",\"object\":\"error\"}",
        "{\"detail\":\"words\"}",
        "{\"detail\":[{\"loc\":[\"body\",\"x\"],\"msg\":\"words\"}]}",
        "{\"errors\":[{\"message\":\"words\"}]}",
        "[{\"error\":{\"code\":400,\"message\":\"words\"}}]",
        "{\"error\":{\"error\":\"words\"}}",
        "words",
        "\xEF\xBB\xBF{\"error\":{\"message\":\"words\"}}",
    };
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        judge(400, NULL, bodies[i]);
        if (!CHECK_TEXT(fault.err.message, "the server answered 400: words"))
            break;
    }
    judge(503, NULL, "");
    CHECK_TEXT(fault.err.message, "the server answered 503: an error without words");
    judge(400, NULL,
          "{\"error\":{\"message\":\"Provider returned error\","
          "\"metadata\":{\"raw\":\"seed is unknown\"}}}");
    CHECK_TEXT(fault.err.message,
               "the server answered 400: Provider returned error: seed is unknown");
    CHECK_TEXT(fault.param, "seed");
}

static void test_too_long(void)
{
    static const char *const bodies[] = {
        "{\"error\":{\"code\":\"context_length_exceeded\",\"message\":\"x\"}}",
        "{\"error\":{\"message\":\"This model's maximum context length is 8192 "
        "tokens.\"}}",
        "{\"error\":{\"type\":\"exceed_context_size_error\",\"message\":\"the request "
        "exceeds the available context size\"}}",
        "{\"object\":\"error\",\"message\":\"The input (5000 tokens) is longer than the "
        "model's context length (4096 tokens).\"}",
        "{\"message\":\"The decoder prompt (length 9) is longer than the maximum model "
        "length of 8\"}",
        "{\"error\":{\"message\":\"prompt is too long: 210000 tokens > 200000 "
        "maximum\"}}",
        "[{\"error\":{\"code\":400,\"status\":\"INVALID_ARGUMENT\",\"message\":\"The "
        "input "
        "token count (9) exceeds the maximum number of tokens allowed (8)\"}}]",
        "{\"message\":\"Prompt contains 9 tokens, too large for model with 8 maximum "
        "context length\"}",
        "{\"error\":{\"message\":\"Please reduce the length of the messages or "
        "completion.\"}}",
        "{\"error\":\"Input validation error: `inputs` tokens + `max_new_tokens` must be "
        "<= 4097\"}",
        "{\"error\":{\"message\":\"This model's maximum prompt length is 8\"}}",
        "{\"error\":{\"message\":\"Range of input length should be [1, 30720]\"}}",
        "{\"error\":{\"message\":\"Your request exceeded model token limit: 8192\"}}",
        "{\"error\":{\"code\":\"model_max_prompt_tokens_exceeded\",\"message\":\"prompt "
        "token count of 130000 exceeds the limit of 128000\"}}",
        "{\"error\":\"The number of tokens to keep from the initial prompt is greater "
        "than "
        "the context length\"}",
        "{\"base_resp\":{\"status_code\":2013,\"status_msg\":\"invalid params, context "
        "window exceeds limit\"}}",
    };
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++)
        check_kind(400, bodies[i], "too_long");
    CHECK(!fault.err.retry);
    check_kind(500, bodies[2], "too_long");
    check_kind(413, bodies[0], "too_long");
    check_kind(429, bodies[8], "rate_limit");
    check_kind(400, "{\"error\":{\"message\":\"messages must not be empty\"}}",
               "bad_request");
}

static void test_filtered(void)
{
    check_kind(400,
               "{\"error\":{\"code\":\"content_filter\",\"message\":\"The response was "
               "filtered\",\"innererror\":{\"code\":\"ResponsibleAIPolicyViolation\"}}}",
               "filtered");
    check_kind(400, "{\"error\":{\"code\":\"data_inspection_failed\"}}", "filtered");
    check_kind(400, "{\"error\":{\"message\":\"Content Exists Risk\"}}", "filtered");
    check_kind(403, "{\"error\":{\"code\":403,\"message\":\"Your input was flagged\"}}",
               "filtered");
    check_kind(401, "{\"error\":{\"message\":\"moderation\"}}", "auth");
    check_kind(403, "{\"error\":{\"message\":\"no access\"}}", "auth");
}

static void test_credit(void)
{
    check_kind(429, "{\"error\":{\"code\":\"insufficient_quota\",\"message\":\"x\"}}",
               "auth");
    CHECK(!fault.err.retry);
    CHECK_TEXT(fault.err.hint, "the account of this key has no credit left");
    check_kind(400, "{\"error\":{\"message\":\"Your credit balance is too low\"}}",
               "auth");
    check_kind(402, "{\"error\":{\"message\":\"x\"}}", "auth");
    check_kind(429,
               "[{\"error\":{\"code\":429,\"status\":\"RESOURCE_EXHAUSTED\",\"message\":"
               "\"You exceeded your current quota\"}}]",
               "rate_limit");
}

static void test_parameters(void)
{
    judge(400, NULL,
          "{\"error\":{\"param\":\"max_tokens\",\"code\":\"unsupported_parameter\","
          "\"message\":\"This model needs max_completion_tokens.\"}}");
    CHECK_TEXT(fault.param, "max_tokens");
    CHECK_TEXT(fault.code, "unsupported_parameter");
    judge(
        400, NULL,
        "{\"error\":{\"param\":null,\"message\":\"Unsupported parameter: 'max_tokens' is "
        "not supported with this model. Use 'max_completion_tokens' instead.\"}}");
    CHECK_TEXT(fault.param, "max_tokens");
    judge(400, NULL,
          "{\"error\":{\"message\":\"Unrecognized request argument supplied: "
          "reasoning_effort\"}}");
    CHECK_TEXT(fault.param, "reasoning_effort");
    judge(422, NULL,
          "{\"detail\":[{\"loc\":[\"body\",\"seed\"],\"msg\":\"Extra inputs are not "
          "permitted\"}]}");
    CHECK_TEXT(fault.param, "seed");
    judge(400, NULL, "{\"error\":{\"message\":\"unsupported image: stopwatch.gif\"}}");
    CHECK_TEXT(fault.param, "");
    judge(401, NULL, "{\"error\":{\"param\":\"seed\",\"message\":\"no\"}}");
    CHECK_TEXT(fault.param, "");
}

static void test_waits(void)
{
    const char *body = "{\"error\":{\"message\":\"slow down\"}}";
    judge(429, "retry-after\0007\0", body);
    check_near(fault.retry_after_s, 7);
    judge(429, "retry-after\0000.5\0", body);
    check_near(fault.retry_after_s, 0.5);
    judge(429, "retry-after\0007\0retry-after-ms\0001500\0", body);
    check_near(fault.retry_after_s, 1.5);
    judge(429,
          "date\0Tue, 03 Mar 2026 10:00:00 GMT\0"
          "retry-after\0Tue, 03 Mar 2026 10:00:07 GMT\0",
          body);
    check_near(fault.retry_after_s, 7);
    judge(429, "retry-after\0Tue, 14 Nov 2023 22:13:30 GMT\0", body);
    check_near(fault.retry_after_s, 10);
    judge(429, "retry-after\0Tue, 14 Nov 2000 22:13:30 GMT\0", body);
    check_near(fault.retry_after_s, 0);
    judge(429, "retry-after\0soon\0", body);
    check_near(fault.retry_after_s, -1);
    judge(429, NULL, "{\"error\":{\"message\":\"Please try again in 1m7.5s.\"}}");
    check_near(fault.retry_after_s, 67.5);
    judge(429, NULL,
          "[{\"error\":{\"code\":429,\"message\":\"x\",\"details\":[{\"a\":1},"
          "{\"retryDelay\":\"34s\"}]}}]");
    check_near(fault.retry_after_s, 34);
    judge(503, NULL, body);
    check_near(fault.retry_after_s, -1);
}

static void test_should_retry(void)
{
    judge(500, "x-should-retry\0false\0", "x");
    CHECK(!fault.err.retry);
    judge(400, "x-should-retry\0true\0", "x");
    CHECK(fault.err.retry);
}

static void test_limits(void)
{
    struct answer a = answer_of(200,
                                "x-ratelimit-limit-requests\000500\0"
                                "x-ratelimit-remaining-requests\000499\0"
                                "x-ratelimit-reset-requests\000120ms\0"
                                "x-ratelimit-remaining-tokens\000-1\0"
                                "x-ratelimit-reset-tokens\0006m0s\0",
                                "");
    struct answer_limits l = answer_limits(&a);
    CHECK(l.is_given);
    check_near(l.requests.limit, 500);
    check_near(l.requests.remaining, 499);
    check_near(l.requests.reset_s, 0.12);
    check_near(l.tokens.limit, -1);
    check_near(l.tokens.remaining, -1);
    check_near(l.tokens.reset_s, 360);
    a.arg = NULL;
    CHECK(!answer_limits(&a).is_given);
}

/* 1709209845 is Thu, 29 Feb 2024 12:30:45 GMT. */
static void test_absolute_resets(void)
{
    struct answer a = answer_of(200,
                                "date\0Thu, 29 Feb 2024 12:30:45 GMT\0"
                                "x-ratelimit-remaining-requests\0000\0"
                                "x-ratelimit-reset-requests\0001709209875\0"
                                "x-ratelimit-remaining-tokens\0000\0"
                                "x-ratelimit-reset-tokens\0001709209847500\0",
                                "");
    struct answer_limits l = answer_limits(&a);
    check_near(l.requests.reset_s, 30);
    check_near(l.tokens.reset_s, 2.5);
    a = answer_of(200,
                  "x-ratelimit-remaining-requests\0000\0"
                  "x-ratelimit-reset-requests\0002024-02-29T12:30:45Z\0",
                  "");
    check_near(answer_limits(&a).requests.reset_s, -1);
}

static void test_times(void)
{
    check_near(time_duration("1s"), 1);
    check_near(time_duration("6m0s"), 360);
    check_near(time_duration("1h2m3.5s"), 3723.5);
    check_near(time_duration("2d"), 172800);
    check_near(time_duration("12"), 12);
    check_near(time_duration("-1s"), -1);
    check_near(time_duration("nan"), -1);
    check_near(time_duration(""), -1);
    check_near(time_number(" 7 "), 7);
    check_near(time_number("7s"), -1);
    check_near(time_number("0x10"), -1);
    check_near(time_number("1e3"), -1);
    check_near(time_number("99999999999999999999"), -1);
    check_near(time_http_date("Thu, 01 Jan 1970 00:00:00 GMT"), 0);
    check_near(time_http_date("Thu, 29 Feb 2024 12:30:45 GMT"), 1709209845);
    check_near(time_http_date("Fri, 31 Dec 1999 23:59:59 GMT"), 946684799);
    check_near(time_http_date("Tue, 03 Mar 2026 10:00:07"), -1);
    check_near(time_http_date("Tue, 03 Foo 2026 10:00:07 GMT"), -1);
    check_near(time_http_date("Tue, 03 anF 2026 10:00:07 GMT"), -1);
    check_near(time_http_date("Tue, 03 Mar 2026 25:00:07 GMT"), -1);
}

/* The recorded answer, read as an HTTP client would. */
static void test_case(void)
{
    char text[2048], headers[2048] = "";
    FILE *f = fopen("tests/cases/e01_429_http_date.http", "rb");
    if (!CHECK(f))
        return;
    size_t n = fread(text, 1, sizeof text - 1, f), used = 0;
    text[n] = '\0';
    fclose(f);
    char *body = strstr(text, "\n\n");
    body = body ? body + 2 : strstr(text, "\r\n\r\n") + 4;
    for (char *line = strchr(text, '\n') + 1; line < body;
         line = strchr(line, '\n') + 1) {
        char name[64], value[128];
        if (sscanf(line, "%63[^:]: %127[^\r\n]", name, value) != 2)
            break;
        for (char *p = name; *p; p++)
            *p = (char)(*p | 0x20);
        used += (size_t)snprintf(headers + used, sizeof headers - used, "%s", name) + 1;
        used += (size_t)snprintf(headers + used, sizeof headers - used, "%s", value) + 1;
    }
    judge(429, headers, body);
    CHECK_TEXT(err_kind_name(fault.err.kind), "rate_limit");
    check_near(fault.retry_after_s, 7);
    CHECK_TEXT(fault.err.message, "the server answered 429: slow down please ok");
}

static void check_clean(const char *text, const char *want)
{
    char out[64];
    answer_clean((struct span){ text, strlen(text) }, out, sizeof out);
    CHECK_TEXT(out, want);
}

static void test_clean(void)
{
    check_clean("  a\r\n\tb  \x01 ", "a b");
    check_clean("bad key sk-abcDEF123456 given", "bad key *** given");
    check_clean("Authorization: Bearer abc.def-123", "Authorization: ***");
    check_clean("a task-abcdefghijk", "a task-abcdefghijk");
    check_clean("sk-", "sk-");
    check_clean("\xFF\xC3\xA9", "\xEF\xBF\xBD\xC3\xA9");
    check_clean(
        "0123456789012345678901234567890123456789012345678901234567890\xC3\xA9xyz",
        "0123456789012345678901234567890123456789012345678901234567890\xC3\xA9");
    check_clean(
        "01234567890123456789012345678901234567890123456789012345678901\xC3\xA9xyz",
        "01234567890123456789012345678901234567890123456789012345678901");
}

static void test_pages(void)
{
    const char *page =
        "\n<!DOCTYPE html><html><head><title>Sign in</title></head></html>";
    struct answer a = answer_of(200, NULL, page);
    struct err parse = { 0 };
    answer_judge_foreign(&a, &parse, &fault);
    CHECK_TEXT(err_kind_name(fault.err.kind), "server");
    CHECK_TEXT(fault.err.message, "the server answered 200: a web page \"Sign in\"");
    CHECK(strstr(fault.err.hint, "/v1"));
    judge(404, "content-type\0text/html; charset=utf-8\0", "no page");
    CHECK_TEXT(err_kind_name(fault.err.kind), "bad_request");
    CHECK_TEXT(fault.err.message, "the server answered 404: a web page");
    judge(502, NULL, page);
    CHECK_TEXT(err_kind_name(fault.err.kind), "server");
}

static void test_hints(void)
{
    judge(401, NULL, "x");
    CHECK(strstr(fault.err.hint, "API key"));
    judge(404, NULL, "x");
    CHECK(strstr(fault.err.hint, "base URL"));
    judge(301, "location\0https://new.example/v1\0", "");
    CHECK(strstr(fault.err.hint, "https://new.example/v1"));
    CHECK_TEXT(fault.err.message, "the server answered 301: an error without words");
}

int main(void)
{
    check_run("each status has its kind", test_statuses);
    check_run("the words are found in every shape of error body", test_shapes);
    check_run("an over-long prompt is known in every server's words", test_too_long);
    check_run("a content filter is known in several servers' words", test_filtered);
    check_run("an empty account is no rate limit", test_credit);
    check_run("the parameter a 400 names is found", test_parameters);
    check_run("the wait is read from headers, dates and words", test_waits);
    check_run("the server's word on retrying is obeyed", test_should_retry);
    check_run("limits are read from headers", test_limits);
    check_run("a reset given as a time of day is no duration", test_absolute_resets);
    check_run("durations, numbers and dates are read or refused", test_times);
    check_run("a 429 with a date waits seven seconds by the server's clock", test_case);
    check_run("words are made fit for people and keys masked", test_clean);
    check_run("a web page is a server error with a hint", test_pages);
    check_run("hints say what to do", test_hints);
    return check_end();
}
