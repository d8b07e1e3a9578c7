/* answer_words.c - see answer_words.h. */
#include "model/answer_words.h"
#include <ctype.h>
#include <stddef.h>

static const char *const TOO_LONG[] = {
    "context_length_exceeded",
    "exceed_context_size",
    "string_above_max_length",
    "max_prompt_tokens_exceeded",
    "maximum context",
    "context length",
    "context window",
    "context size",
    "context limit",
    "context the overflows",
    "maximum prompt length",
    "maximum model length",
    "prompt is too long",
    "prompt too long",
    "prompt exceeds max length",
    "prompt token count",
    "input is too long",
    "input too long",
    "input length exceeds",
    "input token count",
    "input tokens exceed",
    "too many tokens",
    "exceeds the maximum number of tokens",
    "exceeded model token limit",
    "range of input length",
    "reduce the length of the messages",
    "too large for model",
    "`inputs` tokens",
    "tokens to keep from the initial prompt",
    NULL,
};

static const char *const FILTERED[] = {
    "content_filter",
    "content filter",
    "content_policy",
    "content policy",
    "content management policy",
    "responsibleaipolicyviolation",
    "data_inspection_failed",
    "datainspectionfailed",
    "content exists risk",
    "prohibited_content",
    "sensitive content",
    "input_sensitive",
    "moderation",
    "was flagged",
    "safety system",
    NULL,
};

static const char *const NO_CREDIT[] = {
    "insufficient_quota",  "insufficient_balance", "insufficient balance",
    "insufficient credit", "insufficient_credit",  "billing_hard_limit",
    "billing_not_active",  "credit balance",       "out of credits",
    "payment required",    "payment_required",     NULL,
};

static bool contains(struct span text, const char *word)
{
    return memmem(text.ptr, text.len, word, strlen(word)) != NULL;
}

static bool contains_any(struct span text, const char *const words[])
{
    for (size_t i = 0; words[i]; i++)
        if (contains(text, words[i]))
            return true;
    return false;
}

bool words_are_about(enum words_topic topic, struct span text)
{
    static const char *const *const lists[] = {
        [WORDS_TOO_LONG] = TOO_LONG,
        [WORDS_FILTERED] = FILTERED,
        [WORDS_NO_CREDIT] = NO_CREDIT,
    };
    return contains_any(text, lists[topic]);
}

int words_status(struct span text)
{
    static const struct {
        const char *word;
        int status;
    } list[] = {
        { "invalid_api_key", 401 },   { "authentication", 401 },
        { "unauthorized", 401 },      { "unauthenticated", 401 },
        { "permission", 403 },        { "rate_limit", 429 },
        { "rate limit", 429 },        { "too_many_requests", 429 },
        { "too many requests", 429 }, { "resource_exhausted", 429 },
        { "overloaded", 529 },        { "model_not_found", 404 },
        { "not_found", 404 },         { "timeout", 504 },
        { "timed out", 504 },         { "server_error", 500 },
        { "internal", 500 },          { "unavailable", 503 },
        { "invalid_request", 400 },   { "bad_request", 400 },
        { "badrequest", 400 },        { "invalid_argument", 400 },
    };
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        if (contains(text, list[i].word))
            return list[i].status;
    return 0;
}

static bool is_word_byte(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Byte of the first `word` that is not part of a longer one, or text.len. */
static size_t find_word(struct span text, const char *word)
{
    size_t n = strlen(word);
    for (size_t from = 0; from + n <= text.len;) {
        const char *at = memmem(text.ptr + from, text.len - from, word, n);
        if (!at)
            break;
        size_t i = (size_t)(at - text.ptr);
        if ((i == 0 || !is_word_byte(at[-1])) &&
            (i + n == text.len || !is_word_byte(at[n])))
            return i;
        from = i + n;
    }
    return text.len;
}

const char *words_parameter(struct span text)
{
    static const char *const complaints[] = {
        "unsupported",   "not support",      "unrecognized", "unknown", "unexpected",
        "not permitted", "not allowed",      "extra",        "invalid", "must not",
        "cannot be",     "only the default", NULL,
    };
    static const char *const names[] = {
        "max_tokens",
        "max_completion_tokens",
        "temperature",
        "top_p",
        "seed",
        "stop",
        "reasoning_effort",
        "chat_template_kwargs",
        "enable_thinking",
        "thinking",
        "response_format",
        "tool_choice",
        "stream_options",
        "tools",
    };
    const char *first = NULL;
    size_t best = text.len;
    if (!contains_any(text, complaints))
        return NULL;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t at = find_word(text, names[i]);
        if (at < best) {
            best = at;
            first = names[i];
        }
    }
    return first;
}
