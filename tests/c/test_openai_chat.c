/* Chat Completions: building, parsing, streams, adapting. */
#include "check.h"
#include "model/image.h"
#include "model/openai_chat.h"
#include "text/json.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static struct value_doc doc;
static struct chat_reply reply;
static struct fault fault;
static struct chat_reading how;

static struct span text(const char *p)
{
    return (struct span){ p, strlen(p) };
}

/* --- building -------------------------------------------------------------------- */

static struct chat_part part;
static struct chat_message message;

static struct chat_request plain_request(void)
{
    struct chat_request r = { .model = SPAN("m"), .schema = CHAT_NONE };
    part =
        (struct chat_part){ .text = SPAN("hi"), .type = CHAT_NONE, .detail = CHAT_NONE };
    message = (struct chat_message){ .role = CHAT_USER, .parts = &part, .part_count = 1 };
    message.call_id = message.name = CHAT_NONE;
    r.messages = &message;
    r.message_count = 1;
    r.params.temperature = r.params.top_p = NAN;
    r.params.reasoning_effort = r.params.tool_choice = CHAT_NONE;
    return r;
}

static void check_body(const struct chat_request *r, const struct openai_quirks *q,
                       const char *want)
{
    struct buf out = { 0 };
    struct err e = { 0 };
    struct value_doc d = { 0 };
    CHECK(openai_chat_build(r, q, &out, &e));
    CHECK_TEXT(buf_text(&out), want);
    CHECK(json_read(&d, buf_text(&out), out.len, NULL, NULL));
    value_doc_free(&d);
    buf_free(&out);
}

#define HI_MESSAGE  "{\"role\": \"user\", \"content\": \"hi\"}"
#define HI          "{\"model\": \"m\", \"messages\": [" HI_MESSAGE "]"
#define QUIRKS(...) (&(struct openai_quirks){ __VA_ARGS__ })

static void test_plain(void)
{
    struct chat_request r = plain_request();
    check_body(&r, QUIRKS(0), HI "}");
    r.params.max_tokens = 100;
    r.params.temperature = 0.5;
    r.params.top_p = 1;
    r.params.has_seed = true;
    r.params.seed = 0;
    r.params.stops = &part.text;
    r.params.stop_count = 1;
    check_body(
        &r, QUIRKS(0),
        HI ", \"max_tokens\": 100, \"temperature\": 0.5, \"top_p\": 1.0, \"seed\": 0, "
           "\"stop\": [\"hi\"]}");
    check_body(&r, QUIRKS(.is_max_completion_tokens = true, .omitted = 0x1e),
               HI ", \"max_completion_tokens\": 100}");
    check_body(&r, QUIRKS(.omitted = 0x1f), HI "}");
}

static void test_messages(void)
{
    struct chat_call call = { SPAN("c1"), SPAN("read"), SPAN("{\"a\": 1}") };
    struct chat_part two[2] = { { .text = SPAN("a") }, { .text = SPAN("b") } };
    struct chat_message list[4] = {
        { .role = CHAT_SYSTEM, .parts = two, .part_count = 1 },
        { .role = CHAT_USER, .parts = two, .part_count = 2, .name = SPAN("ann") },
        { .role = CHAT_ASSISTANT, .calls = &call, .call_count = 1 },
        { .role = CHAT_TOOL, .call_id = SPAN("c1") },
    };
    struct chat_request r = plain_request();
    r.messages = list;
    r.message_count = 4;
    check_body(
        &r, QUIRKS(.is_developer = true),
        "{\"model\": \"m\", \"messages\": [{\"role\": \"developer\", \"content\": "
        "\"a\"}, "
        "{\"role\": \"user\", \"name\": \"ann\", \"content\": [{\"type\": \"text\", "
        "\"text\": "
        "\"a\"}, {\"type\": \"text\", \"text\": \"b\"}]}, {\"role\": \"assistant\", "
        "\"content\": null, \"tool_calls\": [{\"id\": \"c1\", \"type\": \"function\", "
        "\"function\": {\"name\": \"read\", \"arguments\": \"{\\\"a\\\": 1}\"}}]}, "
        "{\"role\": "
        "\"tool\", \"tool_call_id\": \"c1\", \"content\": \"\"}]}");
}

static void test_images(void)
{
    struct chat_request r = plain_request();
    part.is_image = true;
    part.type = SPAN("image/png");
    part.text = SPAN("\x89PNG");
    check_body(
        &r, QUIRKS(0),
        "{\"model\": \"m\", \"messages\": [{\"role\": \"user\", \"content\": [{\"type\": "
        "\"image_url\", \"image_url\": {\"url\": "
        "\"data:image/png;base64,iVBORw==\"}}]}]}");
    part.text = SPAN("https://h/x.png");
    part.detail = SPAN("low");
    check_body(
        &r, QUIRKS(0),
        "{\"model\": \"m\", \"messages\": [{\"role\": \"user\", \"content\": [{\"type\": "
        "\"image_url\", \"image_url\": {\"url\": \"https://h/x.png\", \"detail\": "
        "\"low\"}}]}]}");
}

static void check_base64(const char *bytes, size_t n, const char *want)
{
    struct buf out = { 0 };
    CHECK(image_add_base64(&out, (struct span){ bytes, n }));
    CHECK_TEXT(buf_text(&out), want);
    buf_free(&out);
}

static void test_base64(void)
{
    check_base64("\xFF", 1, "/w==");
    check_base64("\xFF\x00", 2, "/wA=");
    check_base64("\xFF\x00\x01", 3, "/wAB");
    check_base64("\xFF\x00\x01\x02", 4, "/wABAg==");
    check_base64("iVBORw==", 8, "iVBORw==");
    check_base64("GIF89", 5, "R0lGODk=");
    check_base64("", 0, "");
    struct buf full = { .max = 3 };
    CHECK(!image_add_base64(&full, SPAN("\xFF\xFE")));
    buf_free(&full);
}

static void test_thinking(void)
{
    struct chat_request r = plain_request();
    check_body(&r, QUIRKS(.thinking = OPENAI_THINKING_TEMPLATE), HI "}");
    r.params.thinking = CHAT_THINKING_OFF;
    check_body(&r, QUIRKS(0), HI "}");
    check_body(&r, QUIRKS(.thinking = OPENAI_THINKING_TEMPLATE),
               HI ", \"chat_template_kwargs\": {\"enable_thinking\": false}}");
    check_body(&r, QUIRKS(.thinking = OPENAI_THINKING_FLAG),
               HI ", \"enable_thinking\": false}");
    check_body(&r, QUIRKS(.thinking = OPENAI_THINKING_ADAPTIVE),
               HI ", \"thinking\": {\"type\": \"disabled\"}}");
    check_body(&r, QUIRKS(.thinking = OPENAI_THINKING_EFFORT),
               HI ", \"reasoning_effort\": \"none\"}");
    r.params.thinking = CHAT_THINKING_ON;
    r.params.reasoning_effort = SPAN("high");
    check_body(&r, QUIRKS(.thinking = OPENAI_THINKING_EFFORT),
               HI ", \"reasoning_effort\": \"high\"}");
    check_body(
        &r, QUIRKS(.thinking = OPENAI_THINKING_ADAPTIVE),
        HI ", \"reasoning_effort\": \"high\", \"thinking\": {\"type\": \"adaptive\"}}");
    check_body(&r,
               QUIRKS(.thinking = OPENAI_THINKING_ENABLED,
                      .omitted = 1u << OPENAI_REASONING_EFFORT),
               HI ", \"thinking\": {\"type\": \"enabled\"}}");
}

static void test_formats(void)
{
    struct chat_request r = plain_request();
    r.format = CHAT_FORMAT_JSON;
    check_body(&r, QUIRKS(0), HI ", \"response_format\": {\"type\": \"json_object\"}}");
    r.format = CHAT_FORMAT_SCHEMA;
    r.schema = SPAN("{\"type\": \"object\"}");
    check_body(&r, QUIRKS(.is_strict = true),
               HI ", \"response_format\": {\"type\": \"json_schema\", \"json_schema\": "
                  "{\"name\": \"reply\", \"schema\": {\"type\": \"object\"}, \"strict\": "
                  "true}}}");
    check_body(&r, QUIRKS(.is_schema_unknown = true),
               HI ", \"response_format\": {\"type\": \"json_object\"}}");
    check_body(&r, QUIRKS(.omitted = 1u << OPENAI_RESPONSE_FORMAT), HI "}");
}

static void test_tools(void)
{
    struct chat_tool tool = { SPAN("read"), SPAN("d"), SPAN("{}") };
    struct chat_request r = plain_request();
    r.tools = &tool;
    r.tool_count = 1;
    r.params.reasoning_effort = SPAN("low");
    r.params.tool_choice = SPAN("required");
    check_body(
        &r, QUIRKS(.is_effort_without_tools = true),
        HI ", \"tools\": [{\"type\": \"function\", \"function\": {\"name\": \"read\", "
           "\"description\": \"d\", \"parameters\": {}}}], \"tool_choice\": "
           "\"required\"}");
    r.params.tool_choice = SPAN("read");
    check_body(
        &r, QUIRKS(0),
        HI ", \"reasoning_effort\": \"low\", \"tools\": [{\"type\": \"function\", "
           "\"function\": {\"name\": \"read\", \"description\": \"d\", \"parameters\": "
           "{}}}], \"tool_choice\": {\"type\": \"function\", \"function\": {\"name\": "
           "\"read\"}}}");
}

static void test_stream_fields(void)
{
    struct chat_request r = plain_request();
    r.is_stream = true;
    check_body(&r, QUIRKS(0),
               HI ", \"stream\": true, \"stream_options\": {\"include_usage\": true}}");
    check_body(&r, QUIRKS(.omitted = 1u << OPENAI_STREAM_OPTIONS),
               HI ", \"stream\": true}");
}

static void test_extra(void)
{
    struct value_doc d = { 0 };
    struct chat_request r = plain_request();
    r.params.max_tokens = 7;
    const char *extra = "{\"model\": \"other\", \"top_k\": 20, \"max_tokens\": null}";
    struct openai_quirks q = { .extra = json_read(&d, extra, strlen(extra), NULL, NULL) };
    check_body(&r, &q,
               "{\"messages\": [{\"role\": \"user\", \"content\": \"hi\"}], \"model\": "
               "\"other\", \"top_k\": 20, \"max_tokens\": null}");
    value_doc_free(&d);
}

static void test_bad_text(void)
{
    struct buf out = { 0 };
    struct err e = { 0 };
    struct chat_request r = plain_request();
    part.text = SPAN("\xFF");
    CHECK(!openai_chat_build(&r, QUIRKS(0), &out, &e));
    CHECK_TEXT(err_kind_name(e.kind), "data");
    CHECK(strstr(e.message, "messages[1].content"));
    buf_free(&out);
}

static void test_tokens(void)
{
    CHECK_INT(chat_text_tokens(SPAN("")), 0);
    CHECK_INT(chat_text_tokens(SPAN("abcde")), 2);
    CHECK_INT(chat_text_tokens(SPAN("\xE4\xBD\xA0\xE5\xA5\xBD")), 2);
    struct chat_request r = plain_request();
    CHECK_INT(chat_request_tokens(&r), 5);
    part.is_image = true;
    CHECK(chat_request_tokens(&r) > 500);
}

/* --- parsing --------------------------------------------------------------------- */

static bool parse_status(int status, const char *body)
{
    struct answer a = { .status = status, .body = text(body) };
    value_doc_free(&doc);
    return openai_chat_parse(&a, &how, &doc, &reply, &fault);
}

static bool parse(const char *body)
{
    return parse_status(200, body);
}

static void check_span(struct span s, const char *want)
{
    char copy[512];
    snprintf(copy, sizeof copy, "%.*s", (int)s.len, s.ptr);
    CHECK_TEXT(copy, want);
}

static void check_outcome(const char *outcome, const char *finish)
{
    CHECK_TEXT(chat_outcome_name(reply.outcome), outcome);
    CHECK_TEXT(chat_finish_name(reply.finish), finish);
}

static void check_usage(int prompt, int completion, int reasoning, int cached,
                        bool is_estimated)
{
    CHECK_INT(reply.usage.prompt, prompt);
    CHECK_INT(reply.usage.completion, completion);
    CHECK_INT(reply.usage.reasoning, reasoning);
    CHECK_INT(reply.usage.cached, cached);
    CHECK_INT(reply.usage.is_estimated, is_estimated);
}

static void check_fault(const char *kind, const char *words)
{
    CHECK_TEXT(err_kind_name(fault.err.kind), kind);
    if (!CHECK(strstr(fault.err.message, words)))
        CHECK_TEXT(fault.err.message, words);
}

/* A file of tests/cases, read into `d`. */
static const struct value *read_case(struct value_doc *d, const char *name)
{
    char path[128], bytes[8192];
    snprintf(path, sizeof path, "tests/cases/%s", name);
    FILE *f = fopen(path, "rb");
    if (!CHECK(f))
        return NULL;
    size_t n = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    return json_read(d, bytes, n, NULL, NULL);
}

static bool parse_value(const struct value *v)
{
    struct json_writer w;
    struct buf body = { 0 };
    json_begin(&w, &body, JSON_LINE);
    json_value(&w, v);
    json_end(&w, NULL);
    struct answer a = { .status = 200, .body = span_of(&body) };
    value_doc_free(&doc);
    bool ok = openai_chat_parse(&a, &how, &doc, &reply, &fault);
    buf_free(&body);
    return ok;
}

/* {"choices": [{"message": M, "finish_reason": F}]} around parts of a case. */
static bool parse_message(const struct value *m, const char *finish)
{
    struct value text_value = { .kind = VALUE_TEXT,
                                .count = (uint32_t)strlen(finish),
                                .text = finish };
    struct value_entry fields[2] = { { "message", 7, 0, *m },
                                     { "finish_reason", 13, 0, text_value } };
    struct value choice = { .kind = VALUE_OBJECT, .count = 2, .entries = fields };
    struct value choices = { .kind = VALUE_ARRAY, .count = 1, .items = &choice };
    struct value_entry field = { "choices", 7, 0, choices };
    struct value body = { .kind = VALUE_OBJECT, .count = 1, .entries = &field };
    return parse_value(&body);
}

static void test_usage_case(void)
{
    static const struct {
        int prompt, completion, reasoning, cached;
        bool is_estimated;
    } want[] = { { 40, 1, -1, -1, true },
                 { 40, 1, -1, -1, true },
                 { 40, 3, -1, -1, true },
                 { 5, 2, -1, -1, false },
                 { 9, 4, 3, 8, false } };
    struct value_doc d = { 0 };
    const struct value *replies =
        value_get(read_case(&d, "e05_usage_missing.json"), "replies");
    how.prompt_tokens = 40;
    CHECK_INT(value_count(replies), 5);
    for (size_t i = 0; i < value_count(replies); i++) {
        CHECK(parse_value(value_at(replies, i)));
        check_outcome("ok", "stop");
        check_usage(want[i].prompt, want[i].completion, want[i].reasoning, want[i].cached,
                    want[i].is_estimated);
    }
    value_doc_free(&d);
    how.prompt_tokens = 0;
    CHECK(parse("{\"choices\":[{\"message\":{\"content\":\"ok\"}}]}"));
    check_usage(-1, 1, -1, -1, true);
}

#define OK_WITH                                                                          \
    "{\"choices\":[{\"message\":{\"content\":\"four words, no more\"},"                  \
    "\"finish_reason\":\"stop\"}],\"usage\":"

static void test_usage_shapes(void)
{
    CHECK(parse(OK_WITH "{\"prompt_tokens\":0,\"completion_tokens\":0}}"));
    check_usage(-1, 5, -1, -1, true);
    CHECK(parse(OK_WITH
                "{\"prompt_tokens\":10,\"completion_tokens\":4,\"total_tokens\":34}}"));
    check_usage(10, 24, 20, -1, false);
    CHECK(parse(OK_WITH "{\"prompt_tokens\":10,\"total_tokens\":34}}"));
    check_usage(10, 24, -1, -1, false);
    CHECK(parse(OK_WITH
                "{\"prompt_tokens\":10,\"completion_tokens\":4,\"total_tokens\":34,"
                "\"completion_tokens_details\":{\"reasoning_tokens\":20}}}"));
    check_usage(10, 24, 20, -1, false);
    CHECK(parse(OK_WITH "{\"prompt_tokens\":10,\"completion_tokens\":4,"
                        "\"prompt_cache_hit_tokens\":6}}"));
    check_usage(10, 4, -1, 6, false);
    CHECK(parse(OK_WITH "{\"prompt_tokens\":-5,\"completion_tokens\":2.5}}"));
    check_usage(-1, 5, -1, -1, true);
    CHECK(parse(OK_WITH
                "{\"input_tokens\":8,\"output_tokens\":2,\"input_tokens_details\":"
                "{\"cached_tokens\":0}}}"));
    check_usage(8, 2, -1, 0, false);
}

static void test_reasoning_case(void)
{
    struct value_doc d = { 0 };
    const struct value *body = read_case(&d, "e07_reasoning_only.json");
    CHECK(parse_value(body));
    check_outcome("reasoning_only", "length");
    check_span(reply.text, "");
    CHECK(reply.reasoning.len > 10);
    check_usage(5, 4096, -1, -1, false);
    const struct value *m = value_get(value_at(value_get(body, "choices"), 0), "message");
    CHECK(parse_message(m, "stop"));
    check_outcome("reasoning_only", "stop");
    value_doc_free(&d);
}

static void test_think_case(void)
{
    struct value_doc d = { 0 };
    const struct value *choices =
        value_get(read_case(&d, "e08_think_in_content.json"), "choices");
    CHECK_INT(value_count(choices), 2);
    CHECK(parse_message(value_get(value_at(choices, 0), "message"), "stop"));
    check_outcome("ok", "stop");
    check_span(reply.text, "<answer>1921</answer>");
    CHECK(memmem(reply.reasoning.ptr, reply.reasoning.len, "1920", 4));
    how.keep_think = true;
    CHECK(parse_message(value_get(value_at(choices, 0), "message"), "stop"));
    CHECK(span_starts(reply.text, SPAN("<think>")));
    CHECK_INT(reply.reasoning.len, 0);
    how.keep_think = false;
    CHECK(parse_message(value_get(value_at(choices, 1), "message"), "length"));
    check_outcome("reasoning_only", "length");
    check_span(reply.text, "");
    value_doc_free(&d);
}

static void check_think(const char *content, const char *answer, const char *think)
{
    struct span t = text(content), inside = CHAT_NONE;
    CHECK_INT(chat_split_think(&t, &inside), think != NULL);
    check_span(t, answer);
    check_span(inside, think ? think : "");
}

static void test_think(void)
{
    check_think("plain", "plain", NULL);
    check_think("<think>a</think>b", "b", "a");
    check_think(" \n<think>\na\n</think>\n\n b ", "b ", "a");
    check_think("<think></think>b", "b", "");
    check_think("<think>a", "", "a");
    check_think("a</think>b", "b", "a");
    check_think("<think>a</think><think>b</think>c", "c", "a</think><think>b");
    check_think("b <think>a</think>", "b <think>a</think>", NULL);
    check_think("", "", NULL);
    check_think("<think>", "", "");
    CHECK(parse("{\"choices\":[{\"message\":{\"content\":\"the tag </think> ends it\","
                "\"reasoning\":\"r\"}}]}"));
    check_span(reply.text, "the tag </think> ends it");
    CHECK(parse("{\"choices\":[{\"message\":{\"content\":\"<think>b</think>c\","
                "\"reasoning_content\":\"a\"}}]}"));
    check_span(reply.text, "c");
    check_span(reply.reasoning, "a\n\nb");
}

static void test_content_shapes(void)
{
    CHECK(parse(
        "{\"model\":\"m1\",\"id\":\"i1\",\"choices\":[{\"message\":{\"content\":"
        "[{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"output_text\",\"text\":\"b\"},"
        "\"c\",{\"type\":\"thinking\",\"thinking\":[{\"type\":\"text\",\"text\":"
        "\"t\"}]}]},\"finish_reason\":\"stop\"}]}"));
    check_span(reply.text, "abc");
    check_span(reply.reasoning, "t");
    check_span(reply.model, "m1");
    check_span(reply.id, "i1");
    CHECK(parse("{\"choices\":[{\"message\":{\"content\":{\"a\":[1,\"b\"]}}}]}"));
    check_span(reply.text, "{\"a\": [1, \"b\"]}");
    CHECK(parse("{\"choices\":[{\"message\":{\"content\":null}}]}"));
    check_outcome("empty", "other");
    CHECK(parse("{\"choices\":[{\"message\":{}}]}"));
    check_outcome("empty", "other");
    CHECK(parse("{\"choices\":[{\"message\":{\"content\":\"a\xFF\"}}]}"));
    check_span(reply.text, "a\xEF\xBF\xBD");
    CHECK(parse("{\"choices\":[{\"message\":{\"content\":\"\","
                "\"reasoning_details\":[{\"text\":\"x\"},{\"summary\":\"y\"}]}}]}"));
    check_span(reply.reasoning, "xy");
}

static void check_finish(const char *word, const char *outcome, const char *finish)
{
    char body[256];
    snprintf(body, sizeof body,
             "{\"choices\":[{\"message\":{\"content\":\"x\"},\"finish_reason\":\"%s\"}]}",
             word);
    CHECK(parse(body));
    check_outcome(outcome, finish);
}

static void test_outcomes(void)
{
    check_finish("stop", "ok", "stop");
    check_finish("STOP", "ok", "stop");
    check_finish("length", "truncated", "length");
    check_finish("MAX_TOKENS", "truncated", "length");
    check_finish("content_filter", "filtered", "content_filter");
    check_finish("content_filter: HATE", "filtered", "content_filter");
    check_finish("something", "ok", "other");
    CHECK(parse("{\"choices\":[{\"message\":{\"content\":null,\"refusal\":\"I cannot\"},"
                "\"finish_reason\":\"stop\"}]}"));
    check_outcome("refused", "stop");
    check_span(reply.refusal, "I cannot");
    CHECK(parse("{\"choices\":[{\"message\":{\"content\":\" \\n\"},"
                "\"finish_reason\":\"stop\"}]}"));
    check_outcome("empty", "stop");
    CHECK(parse("{\"choices\":[{\"message\":{\"content\":\"\"},\"finish_reason\":"
                "\"length\"}]}"));
    check_outcome("truncated", "length");
    CHECK(parse("{\"choices\":[{\"message\":{\"content\":\"\"},\"finish_reason\":"
                "\"length\"}],\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":9,"
                "\"completion_tokens_details\":{\"reasoning_tokens\":9}}}"));
    check_outcome("reasoning_only", "length");
}

static void test_call_case(void)
{
    struct value_doc d = { 0 };
    const struct value *messages =
        value_get(read_case(&d, "e11_tool_calls.json"), "messages");
    CHECK_INT(value_count(messages), 3);
    CHECK(parse_message(value_at(messages, 0), "stop"));
    CHECK_INT(reply.call_count, 0);
    CHECK(reply.has_call_markup);
    check_outcome("ok", "stop");
    CHECK(parse_message(value_at(messages, 1), "tool_calls"));
    CHECK_INT(reply.call_count, 1);
    check_span(reply.calls[0].id, "call_1");
    check_span(reply.calls[0].arguments, "{\"path\": \"a.txt\"");
    CHECK(!reply.has_call_markup);
    CHECK(parse_message(value_at(messages, 2), "stop"));
    CHECK_INT(reply.call_count, 2);
    check_span(reply.calls[0].id, "c1");
    check_span(reply.calls[0].arguments, "{\"path\": \"a.txt\"}");
    check_span(reply.calls[1].id, "c1");
    check_span(reply.calls[1].name, "nope");
    check_span(reply.calls[1].arguments, "{}");
    check_outcome("ok", "stop");
    value_doc_free(&d);
}

static void test_calls(void)
{
    CHECK(
        parse("{\"choices\":[{\"message\":{\"content\":null,\"tool_calls\":[{\"id\":"
              "\"call_2\",\"function\":{\"name\":\"a\"}},{\"function\":{\"name\":\"b\"}},"
              "{\"name\":\"c\",\"arguments\":{}}]}}]}"));
    check_outcome("ok", "tool_calls");
    CHECK_INT(reply.call_count, 3);
    check_span(reply.calls[0].id, "call_2");
    check_span(reply.calls[1].id, "call_5");
    check_span(reply.calls[2].id, "call_3");
    check_span(reply.calls[2].name, "c");
    CHECK(parse("{\"choices\":[{\"message\":{\"function_call\":{\"name\":\"f\","
                "\"arguments\":\"{}\"}},\"finish_reason\":\"function_call\"}]}"));
    check_outcome("ok", "tool_calls");
    check_span(reply.calls[0].name, "f");
    CHECK(
        parse("{\"choices\":[{\"message\":{\"tool_calls\":[{\"function\":{\"name\":\"f\","
              "\"arguments\":\"{\\\"a\"}}]},\"finish_reason\":\"length\"}]}"));
    check_outcome("truncated", "length");
}

static void test_faults(void)
{
    CHECK(!parse("{\"choices\":[]}"));
    check_fault("server", "no choices");
    CHECK(!parse("{\"id\":\"x\",\"object\":\"chat.completion\"}"));
    check_fault("server", "no choices");
    CHECK(!parse("{\"error\":{\"code\":502,\"message\":\"upstream\"},\"choices\":null}"));
    check_fault("server", "upstream");
    CHECK(!parse("{\"error\":{\"type\":\"rate_limit_error\",\"message\":\"slow\"}}"));
    check_fault("rate_limit", "slow");
    CHECK(!parse("{\"base_resp\":{\"status_code\":1004,\"status_msg\":\"login fail\"},"
                 "\"choices\":null}"));
    check_fault("auth", "login fail");
    CHECK(parse("{\"base_resp\":{\"status_code\":0},\"choices\":[{\"message\":"
                "{\"content\":\"x\"}}]}"));
    CHECK(!parse("{\"choices\":[{\"message\":{\"content\":\"x\"},\"finish_reason\":"
                 "\"error\"}]}"));
    check_fault("server", "ended the reply with an error");
    CHECK(!parse("{\"choices\":[{\"message\":{\"content\":\"x\"},\"finish_reason\":"
                 "\"error\",\"error\":{\"code\":429,\"message\":\"later\"}}]}"));
    check_fault("rate_limit", "later");
    CHECK(!parse("{\"choices\":[{\"text\":\"x\"}]}"));
    check_fault("server", "no message");
}

static void test_foreign(void)
{
    CHECK(!parse("{\"choices\":[{\"mess"));
    check_fault("parse", "not the JSON it should be");
    CHECK(!parse("[1]"));
    check_fault("parse", "no object but array");
    CHECK(!parse(""));
    check_fault("parse", "empty body");
    CHECK(!parse("<html><title>Login</title>"));
    check_fault("server", "web page \"Login\"");
    CHECK(!parse_status(400, "{\"error\":{\"code\":\"context_length_exceeded\"}}"));
    check_fault("too_long", "400");
    CHECK(!parse_status(301, ""));
    check_fault("bad_request", "301");
}

static void test_unmeasured_usage_of_faults(void)
{
    CHECK(!parse("{\"error\":{\"message\":\"x\"},\"usage\":{\"prompt_tokens\":7,"
                 "\"completion_tokens\":2}}"));
    check_usage(7, 2, -1, -1, false);
}

static void test_adapt_case(void)
{
    struct value_doc d = { 0 };
    const struct value *exchange =
        value_get(read_case(&d, "e10_400_unsupported_params.json"), "exchange");
    struct openai_quirks q = { 0 };
    struct chat_request r = plain_request();
    r.params.max_tokens = 9;
    r.params.temperature = 0.7;
    CHECK_INT(value_count(exchange), 3);
    for (size_t i = 0; i < value_count(exchange); i++) {
        struct buf body = { 0 };
        const struct value *step = value_at(exchange, i);
        const struct value *has = value_get(step, "request_has");
        const struct value *want = value_get(step, "reply");
        CHECK(openai_chat_build(&r, &q, &body, NULL));
        const struct value *sent = json_read(&d, body.ptr, body.len, NULL, NULL);
        CHECK_INT(value_count(sent), 2 + value_count(has));
        for (size_t k = 0; k < value_count(has); k++)
            CHECK(value_get(sent, value_text(value_at(has, k))));
        struct json_writer w;
        buf_clear(&body);
        json_begin(&w, &body, JSON_LINE);
        json_value(&w, value_get(want, "body"));
        json_end(&w, NULL);
        bool ok = parse_status((int)value_integer_or(want, "status", 0), buf_text(&body));
        CHECK_INT(ok, i == 2);
        if (!ok)
            CHECK(openai_chat_adapt(&q, fault.param, fault.err.message));
        buf_free(&body);
    }
    check_span(reply.text, "ok");
    value_doc_free(&d);
}

static void test_adapt(void)
{
    struct openai_quirks q = { 0 };
    CHECK(!openai_chat_adapt(&q, "", "x"));
    CHECK(!openai_chat_adapt(&q, "logit_bias", "x"));
    CHECK(!openai_chat_adapt(&q, "max_completion_tokens", "x"));
    CHECK(!openai_chat_adapt(&q, "max_tokens", "max_tokens is too large: 9"));
    CHECK(!openai_chat_adapt(&q, "temperature", "must be between 0 and 2"));
    CHECK(openai_chat_adapt(&q, "max_tokens", "x"));
    CHECK(!openai_chat_adapt(&q, "max_tokens", "x"));
    CHECK(openai_chat_adapt(&q, "messages[0].role", "does not support 'system'"));
    CHECK(q.is_developer);
    CHECK(openai_chat_adapt(&q, "response_format.type", "use json_object"));
    CHECK(q.is_schema_unknown);
    CHECK(openai_chat_adapt(&q, "chat_template_kwargs", "x"));
    CHECK(openai_chat_adapt(&q, "stop", "x"));
    CHECK(!openai_chat_adapt(&q, "stop", "x"));
    CHECK_INT(q.omitted, 1u << OPENAI_THINKING | 1u << OPENAI_STOP);
    CHECK_TEXT(openai_param_name(OPENAI_STREAM_OPTIONS), "stream_options");
    CHECK_TEXT(openai_thinking_name(OPENAI_THINKING_TEMPLATE), "chat_template_kwargs");
}

/* --- streams --------------------------------------------------------------------- */

static struct openai_stream *stream;

static enum openai_progress feed(const char *bytes, size_t n, size_t piece)
{
    enum openai_progress p = OPENAI_MORE;
    for (size_t i = 0; i < n; i += piece)
        p = openai_stream_feed(stream, bytes + i, n - i < piece ? n - i : piece);
    return p;
}

/* The stream stays until the next one: the reply points into it. */
static bool stream_status(int status, const char *bytes, size_t piece)
{
    struct answer a = { .status = status };
    openai_stream_free(stream);
    stream = openai_stream_new();
    value_doc_free(&doc);
    feed(bytes, strlen(bytes), piece);
    return openai_stream_end(stream, &a, &how, &doc, &reply, &fault);
}

static bool stream_of(const char *bytes)
{
    bool whole = stream_status(200, bytes, strlen(bytes) + 1);
    struct chat_outcome_pair {
        int outcome, kind;
    } before = { reply.outcome, fault.err.kind };
    bool cut = stream_status(200, bytes, 1);
    CHECK_INT(cut, whole);
    CHECK_INT(cut ? (int)reply.outcome : (int)fault.err.kind,
              whole ? before.outcome : before.kind);
    return cut;
}

static void test_stream_case(void)
{
    char bytes[4096];
    FILE *f = fopen("tests/cases/e03_sse_keepalive.sse", "rb");
    if (!CHECK(f))
        return;
    bytes[fread(bytes, 1, sizeof bytes - 1, f)] = '\0';
    fclose(f);
    for (size_t piece = 1; piece < 40; piece++) {
        CHECK(stream_status(200, bytes, piece));
        check_span(reply.text, "caf\xC3\xA9 <answer>Ada</answer>");
        check_outcome("ok", "stop");
        check_usage(11, 6, -1, -1, false);
    }
}

static void test_stream_error_case(void)
{
    char bytes[1024];
    FILE *f = fopen("tests/cases/e04_sse_error_midstream.sse", "rb");
    if (!CHECK(f))
        return;
    size_t n = fread(bytes, 1, sizeof bytes - 1, f);
    bytes[n] = '\0';
    fclose(f);
    CHECK(!stream_of(bytes));
    check_fault("server", "upstream went away");
    CHECK(fault.err.retry);
    openai_stream_free(stream);
    stream = openai_stream_new();
    CHECK_INT(feed(bytes, n, n), OPENAI_ENOUGH);
    CHECK(!stream_of(
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"partial\"}}]}"
        "\n\n"));
    check_fault("network", "ended before the reply was complete");
    CHECK(fault.err.retry);
}

static void test_stream_ends(void)
{
    CHECK(
        stream_of("data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":"
                  "\"length\"}]}"));
    check_outcome("truncated", "length");
    CHECK(stream_of(
        "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: [DONE]"));
    check_outcome("ok", "other");
    CHECK(!stream_of(""));
    check_fault("network", "ended before");
    CHECK(
        !stream_of("data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":"
                   "\"error\"}]}\n\n"));
    check_fault("server", "ended the reply with an error");
    CHECK(!stream_of("data: {broken\n\n"));
    check_fault("parse", "not JSON");
    CHECK(!stream_of("event: error\ndata: {\"message\":\"overloaded\"}\n\n"));
    check_fault("server", "overloaded");
    openai_stream_free(stream);
    stream = openai_stream_new();
    CHECK_INT(feed("data: [DONE]\n\n", 14, 14), OPENAI_LAST);
    CHECK_INT(feed("data: {broken\n\n", 15, 15), OPENAI_LAST);
}

static void test_stream_calls(void)
{
    CHECK(stream_of(
        "data: "
        "{\"choices\":[{\"delta\":{\"reasoning\":\"r1\",\"tool_calls\":[{\"index\":0,"
        "\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"\"}}]}}]}\n\n"
        "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":"
        "{\"arguments\":\"{\\\"x\\\":\"}}]}}]}\n\n"
        "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":1,\"id\":\"b\","
        "\"function\":{\"name\":\"g\",\"arguments\":{\"y\":2}}}]}}]}\n\n"
        "data: {\"choices\":[{\"delta\":{\"reasoning_content\":\" r2\",\"tool_calls\":"
        "[{\"index\":0,\"function\":{\"arguments\":\"1}\"}}]}}]}\n\n"
        "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c\","
        "\"function\":{\"name\":\"h\"}}]}}]}\n\n"
        "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"function\":{\"arguments\":"
        "\"{}\"}}]},\"finish_reason\":\"tool_calls\"}],\"usage\":null}\n\n"));
    check_outcome("ok", "tool_calls");
    check_span(reply.reasoning, "r1 r2");
    CHECK_INT(reply.call_count, 3);
    check_span(reply.calls[0].id, "a");
    check_span(reply.calls[0].arguments, "{\"x\":1}");
    check_span(reply.calls[1].name, "g");
    check_span(reply.calls[1].arguments, "{\"y\": 2}");
    check_span(reply.calls[2].id, "c");
    check_span(reply.calls[2].arguments, "{}");
}

static void test_stream_odd(void)
{
    CHECK(stream_of(
        "data: {\"choices\":[{\"index\":1,\"delta\":{\"content\":\"other\"}}]}\n\n"
        "data: {\"type\":\"ping\"}\n\n"
        "data: 12\n\n"
        "data: {\"model\":\"m1\",\"choices\":[{\"delta\":{\"content\":"
        "\"<think>t</think>\"}}]}\n\n"
        "data: {\"choices\":[{\"message\":{\"content\":\"a\"},\"finish_reason\":"
        "\"stop\"}],\"x_groq\":{\"usage\":{\"prompt_tokens\":3,"
        "\"completion_tokens\":4}}}\n\n"));
    check_span(reply.text, "a");
    check_span(reply.reasoning, "t");
    check_span(reply.model, "m1");
    check_usage(3, 4, -1, -1, false);
}

static void test_stream_whole(void)
{
    const char *body =
        " {\"choices\":[{\"message\":{\"content\":\"hi\"},\"finish_reason\":"
        "\"stop\"}]}";
    CHECK(stream_of(body));
    check_span(reply.text, "hi");
    CHECK(!stream_status(429, "{\"error\":{\"message\":\"slow\"}}", 1));
    check_fault("rate_limit", "slow");
    CHECK_INT(fault.status, 429);
    CHECK(!stream_status(500, "", 1));
    check_fault("server", "500");
    CHECK(!stream_status(200, "<html>", 1));
    check_fault("server", "web page");
    for (size_t piece = 1; piece < 60; piece += 58) {
        CHECK(!stream_status(500, "\n no room for the model here\n", piece));
        check_fault("server", "no room for the model here");
        CHECK(!stream_status(200, "\f{\"choices\":[]}", piece));
        check_fault("parse", "not the JSON it should be");
        CHECK(!stream_status(200, "\xEF\xBB\xBF{\"choices\":[]}", piece));
        check_fault("server", "no choices");
        CHECK(!stream_status(200, " \n ", piece));
        check_fault("network", "ended before the reply was complete");
    }
    CHECK(!stream_status(429, "data: {\"error\":{\"code\":429,\"message\":\"slow\"}}\n\n",
                         1));
    check_fault("rate_limit", "slow");
}

static void run_building(void)
{
    check_run("parameters are sent as given and under the server's name", test_plain);
    check_run("messages of all roles are written", test_messages);
    check_run("images go as addresses or as base64", test_images);
    check_run("base64 is made of bytes and left alone when it is there", test_base64);
    check_run("thinking is switched in each server's way", test_thinking);
    check_run("formats are asked for as far as the server knows them", test_formats);
    check_run("tools and their choice are written", test_tools);
    check_run("a stream asks for usage", test_stream_fields);
    check_run("extra fields add and replace", test_extra);
    check_run("text that is not UTF-8 is refused with its place", test_bad_text);
    check_run("estimates lean high", test_tokens);
}

static void run_parsing(void)
{
    check_run("missing usage is estimated and marked", test_usage_case);
    check_run("usage is read in every shape, zero is not believed", test_usage_shapes);
    check_run("reasoning without an answer is a class of its own", test_reasoning_case);
    check_run("think text in the content is kept apart", test_think_case);
    check_run("think blocks are split wherever a template left them", test_think);
    check_run("content may be text, parts, null or an object", test_content_shapes);
    check_run("each finish word gives its outcome", test_outcomes);
    check_run("tool calls of all forms are read", test_call_case);
    check_run("calls without an id get one that is free", test_calls);
    check_run("an error object inside a 200 is an error", test_faults);
    check_run("a body that is no reply is weather", test_foreign);
    check_run("a fault keeps the usage that came with it",
              test_unmeasured_usage_of_faults);
    check_run("a refused parameter is changed once", test_adapt_case);
    check_run("what cannot help is not changed", test_adapt);
}

static void run_streams(void)
{
    check_run("a stream with keep-alives is read in any pieces", test_stream_case);
    check_run("an error or a cut in mid-stream is no answer", test_stream_error_case);
    check_run("a stream is complete with its finish or its end mark", test_stream_ends);
    check_run("pieces of tool calls are put together", test_stream_calls);
    check_run("odd events do not disturb", test_stream_odd);
    check_run("a server that does not stream is read as a whole", test_stream_whole);
}

int main(void)
{
    run_building();
    run_parsing();
    run_streams();
    openai_stream_free(stream);
    value_doc_free(&doc);
    return check_end();
}
