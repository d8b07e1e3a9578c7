/* openai_stream.c - answers that come as events; see openai_chat.h.
 *
 * The pieces of the reply are collected in bufs. What is wrong is kept as a fault at
 * the event where it was seen; after that nothing is read any more. */
#include "base/mem.h"
#include "model/openai_chat.h"
#include "model/openai_reply.h"
#include "text/json.h"
#include <assert.h>
#include <ctype.h>

enum stream_form { FORM_UNKNOWN, FORM_EVENTS, FORM_WHOLE };

/* Of a body that was read as events and has none: enough for the line with which a server
 * refuses. */
enum { HEAD_MAX = 4096 };

struct stream_call {
    int64_t index;
    struct buf id, name, arguments;
};

struct openai_stream {
    enum stream_form form;
    struct sse sse;
    struct buf whole; /* a body that is no event stream; of one that is, how it begins */
    struct value_doc doc;
    struct buf text, reasoning, refusal, model, id;
    struct stream_call *calls;
    size_t call_count, call_room;
    enum chat_finish finish;
    struct chat_usage usage;
    bool has_event, has_finish, is_done, has_fault;
    struct fault fault;
};

struct openai_stream *openai_stream_new(void)
{
    struct openai_stream *s = mem_new(sizeof *s);
    s->usage = CHAT_USAGE_UNKNOWN;
    return s;
}

void openai_stream_free(struct openai_stream *s)
{
    if (!s)
        return;
    struct buf *bufs[] = { &s->whole,   &s->text,  &s->reasoning,
                           &s->refusal, &s->model, &s->id };
    for (size_t i = 0; i < sizeof bufs / sizeof bufs[0]; i++)
        buf_free(bufs[i]);
    for (size_t i = 0; i < s->call_count; i++) {
        buf_free(&s->calls[i].id);
        buf_free(&s->calls[i].name);
        buf_free(&s->calls[i].arguments);
    }
    mem_free(s->calls);
    sse_fini(&s->sse);
    value_doc_free(&s->doc);
    mem_free(s);
}

static bool fail(struct openai_stream *s, enum err_kind kind, const char *message)
{
    fault_set(&s->fault, kind, message);
    s->has_fault = true;
    return false;
}

/* --- calls ----------------------------------------------------------------------- */

static struct stream_call *call_new(struct openai_stream *s, int64_t index)
{
    if (s->call_count == OPENAI_CALLS_MAX)
        return NULL;
    if (s->call_count == s->call_room) {
        s->call_room = s->call_room ? s->call_room * 2 : 4;
        s->calls = mem_grow(s->calls, s->call_room * sizeof *s->calls);
    }
    struct stream_call *call = &s->calls[s->call_count++];
    *call = (struct stream_call){ .index = index };
    return call;
}

/* A new index opens a call; so does a new id, since some servers number every call 0.
 * Without an index the piece belongs to the latest call. */
static struct stream_call *call_for(struct openai_stream *s, const struct value *piece)
{
    struct stream_call *last = s->call_count ? &s->calls[s->call_count - 1] : NULL;
    int64_t index = value_integer_or(piece, "index", last ? last->index : 0);
    const char *id = value_text_or(piece, "id", "");
    assert(s->calls || s->call_count == 0);
    for (size_t i = s->call_count; i-- > 0;) {
        struct stream_call *call = &s->calls[i];
        if (call->index != index)
            continue;
        if (id[0] && call->id.len && strcmp(id, buf_text(&call->id)) != 0)
            break;
        return call;
    }
    return call_new(s, index);
}

static bool take_call(struct openai_stream *s, const struct value *piece)
{
    const struct value *function = value_get(piece, "function");
    struct stream_call *call = call_for(s, piece);
    if (!call)
        return fail(s, ERR_LIMIT, "the reply has too many tool calls");
    if (call->id.len == 0)
        buf_add_text(&call->id, value_text_or(piece, "id", ""));
    if (call->name.len == 0)
        buf_add_text(&call->name, value_text_or(function, "name", ""));
    openai_add_arguments(function, &call->arguments);
    return true;
}

/* --- events ---------------------------------------------------------------------- */

static bool take_delta(struct openai_stream *s, const struct value *choice)
{
    const struct value *delta = value_get(choice, "delta");
    if (!value_is(delta, VALUE_OBJECT))
        delta = value_get(choice, "message");
    const struct value *calls = value_get(delta, "tool_calls");
    openai_add_content(delta, &s->text, &s->reasoning, &s->refusal);
    for (size_t i = 0; i < value_count(calls); i++)
        if (!take_call(s, value_at(calls, i)))
            return false;
    if (s->text.is_full || s->reasoning.is_full || s->refusal.is_full)
        return fail(s, ERR_LIMIT, "the reply is too large");
    return true;
}

static bool take_finish(struct openai_stream *s, const struct value *choice)
{
    const struct value *word = value_get(choice, "finish_reason");
    struct answer none = { .status = 200 };
    if (!value_text(word) || word->count == 0)
        return true;
    s->has_finish = true;
    if (openai_finish((struct span){ word->text, word->count }, &s->finish))
        return true;
    if (!answer_judge_object(&none, choice, &s->fault))
        return fail(s, ERR_SERVER, "the server ended the reply with an error");
    s->has_fault = true;
    return false;
}

static void take_name(struct buf *b, const struct value *chunk, const char *name)
{
    if (b->len == 0)
        buf_add_text(b, value_text_or(chunk, name, ""));
}

static bool take_chunk(struct openai_stream *s, const struct value *chunk)
{
    struct answer none = { .status = 200 };
    const struct value *choice = value_at(value_get(chunk, "choices"), 0);
    if (value_is(value_get(chunk, "error"), VALUE_OBJECT) ||
        value_is(value_get(chunk, "error"), VALUE_TEXT) ||
        value_integer_or(value_get(chunk, "base_resp"), "status_code", 0) != 0) {
        s->has_fault = answer_judge_object(&none, chunk, &s->fault);
        if (s->has_fault)
            return false;
    }
    openai_usage(openai_find_usage(chunk), &s->usage);
    take_name(&s->model, chunk, "model");
    take_name(&s->id, chunk, "id");
    if (value_integer_or(choice, "index", 0) != 0)
        return true;
    return take_delta(s, choice) && take_finish(s, choice);
}

/* Some keep the line open with events that hold nothing, or a comment. */
static bool is_idle(const struct sse_event *event)
{
    const char *p = event->data;
    while (isspace((unsigned char)*p))
        p++;
    return *p == '\0' || *p == ':';
}

static bool fail_event(struct openai_stream *s, const struct value *v)
{
    struct answer none = { .status = 200 };
    if (!answer_judge_object(&none, v, &s->fault))
        fail(s, ERR_SERVER, "the server sent an error event");
    s->has_fault = true;
    return false;
}

static bool on_event(void *arg, const struct sse_event *event)
{
    struct openai_stream *s = arg;
    struct json_rules rules = { .fix_utf8 = true, .allow_nan = true };
    s->has_event = true;
    if (is_idle(event))
        return true;
    if (strncmp(event->data, "[DONE]", 6) == 0) {
        s->is_done = true;
        return false;
    }
    value_doc_clear(&s->doc);
    const struct value *v =
        json_read(&s->doc, event->data, event->data_len, &rules, NULL);
    if (strcmp(event->name, "error") == 0)
        return fail_event(s, v);
    if (!v)
        return fail(s, ERR_PARSE, "an event of the stream is not JSON");
    return take_chunk(s, v);
}

/* --- bytes ----------------------------------------------------------------------- */

/* Blanks and a byte order mark may stand before anything. */
static bool is_before(char c)
{
    return isspace((unsigned char)c) || (c && strchr("\xEF\xBB\xBF", c));
}

/* An event stream begins with a field, a comment or a line break; JSON and web pages
 * with something else. */
static enum stream_form form_of(const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!is_before(p[i]))
            return p[i] && strchr("{[<\"", p[i]) ? FORM_WHOLE : FORM_EVENTS;
    return FORM_UNKNOWN;
}

static enum openai_progress progress(const struct openai_stream *s)
{
    return s->has_fault ? OPENAI_ENOUGH : s->is_done ? OPENAI_LAST : OPENAI_MORE;
}

static void feed_events(struct openai_stream *s, const char *p, size_t n)
{
    struct err e;
    if (!sse_feed(&s->sse, p, n, on_event, s, &e))
        fail(s, e.kind, e.message);
}

static void keep_head(struct openai_stream *s, const char *p, size_t n)
{
    size_t left = s->whole.len < HEAD_MAX ? HEAD_MAX - s->whole.len : 0;
    buf_add(&s->whole, p, n < left ? n : left);
}

/* What came before the form was known is read again: it must not matter in which pieces
 * bytes come. */
enum openai_progress openai_stream_feed(struct openai_stream *s, const char *p, size_t n)
{
    bool is_first = s->form == FORM_UNKNOWN;
    if (s->has_fault || s->is_done)
        return progress(s);
    if (is_first)
        s->form = form_of(p, n);
    if (s->form != FORM_EVENTS) {
        buf_add(&s->whole, p, n);
        return progress(s);
    }
    if (is_first)
        feed_events(s, s->whole.ptr, s->whole.len);
    if (!s->has_event)
        keep_head(s, p, n);
    feed_events(s, p, n);
    return progress(s);
}

/* --- the end --------------------------------------------------------------------- */

static bool give_calls(struct openai_stream *s, struct value_doc *d, struct chat_reply *r)
{
    if (s->call_count == 0)
        return true;
    struct chat_call *calls = value_alloc(d, s->call_count * sizeof *calls);
    if (!calls)
        return fail(s, ERR_LIMIT, "the reply is too large");
    for (size_t i = 0; i < s->call_count; i++)
        calls[i] =
            (struct chat_call){ span_of(&s->calls[i].id), span_of(&s->calls[i].name),
                                span_of(&s->calls[i].arguments) };
    r->calls = calls;
    r->call_count = s->call_count;
    return true;
}

static bool check_end(struct openai_stream *s)
{
    struct err e;
    if (!s->has_fault && !s->is_done && !sse_end(&s->sse, on_event, s, &e))
        fail(s, e.kind, e.message);
    if (!s->has_fault && !s->is_done && !s->has_finish)
        fail(s, ERR_NETWORK, "the stream ended before the reply was complete");
    return !s->has_fault;
}

static void give_texts(const struct openai_stream *s, struct chat_reply *r)
{
    *r = (struct chat_reply){ .text = span_of(&s->text) };
    r->reasoning = span_of(&s->reasoning);
    r->refusal = span_of(&s->refusal);
    r->finish = s->finish;
    r->usage = s->usage;
    r->model = span_of(&s->model);
    r->id = span_of(&s->id);
}

bool openai_stream_end(struct openai_stream *s, const struct answer *a,
                       const struct chat_reading *how, struct value_doc *d,
                       struct chat_reply *r, struct fault *f)
{
    bool is_error = a->status < 200 || a->status >= 300;
    if (s->form == FORM_WHOLE || (is_error && !s->has_fault)) {
        struct answer whole = *a;
        whole.body = s->has_event ? CHAT_NONE : span_of(&s->whole);
        return openai_chat_parse(&whole, how, d, r, f);
    }
    bool ok = check_end(s);
    give_texts(s, r);
    if (ok && give_calls(s, d, r) && chat_reply_finish(d, r, how, &s->fault.err))
        return true;
    *f = s->fault;
    f->status = a->status;
    return false;
}
