/* edit.c - see edit.h. */
#include "text/edit.h"
#include "base/utf8.h"
#include "text/length.h"
#include "text/near.h"
#include "text/plain.h"
#include "text/skill.h"
#include "text/unicode.h"

static const char *const op_names[] = { "", "append", "insert_after", "replace",
                                        "delete" };

const char *edit_op_name(enum edit_op op)
{
    return op_names[op];
}

enum edit_op edit_op_of(struct span word)
{
    struct buf lower = { 0 };
    enum edit_op op = EDIT_UNKNOWN;
    unicode_lower(&lower, unicode_strip(word));
    for (int i = EDIT_APPEND; i <= EDIT_DELETE; i++)
        if (strcmp(buf_text(&lower), op_names[i]) == 0 &&
            lower.len == strlen(op_names[i]))
            op = (enum edit_op)i;
    buf_free(&lower);
    return op;
}

const char *edit_fate_name(enum edit_fate fate)
{
    static const char *const fate_names[EDIT_FATE_COUNT] = {
#define FATE_NAME(id, name) (name),
        EDIT_FATES(FATE_NAME)
#undef FATE_NAME
    };
    return fate_names[fate];
}

/* The reference's words for what it knows too; new ones say the fate. */
static const char *status_of(enum edit_op op, enum edit_fate fate, bool is_before_region)
{
    static const char *const skipped[EDIT_FATE_COUNT] = {
#define FATE_STATUS(id, name) ("skipped_" name),
        EDIT_FATES(FATE_STATUS)
#undef FATE_STATUS
    };
    static const char *const applied[] = { "", "applied_append", "applied_insert_after",
                                           "applied_replace", "applied_delete" };
    bool is_replace = op == EDIT_REPLACE;
    bool is_known = is_replace || op == EDIT_DELETE;
    switch (fate) {
    case EDIT_APPLIED:
        return is_before_region ? "applied_append_before_protected_region" : applied[op];
    case EDIT_PROTECTED:
        return "skipped_protected_region";
    case EDIT_MALFORMED:
        return "error";
    case EDIT_EMPTY_TARGET:
        return !is_known    ? skipped[fate]
               : is_replace ? "skipped_replace_missing_target"
                            : "skipped_delete_missing_target";
    case EDIT_ANCHOR_MISSING:
        return !is_known    ? skipped[fate]
               : is_replace ? "skipped_replace_target_not_found"
                            : "skipped_delete_target_not_found";
    default:
        return skipped[fate];
    }
}

/* ---- where the target is ---- */

struct place {
    size_t start, end;       /* of the first occurrence in the body */
    size_t count, protected; /* occurrences in the body; touching a region */
};

/* Bytes of a text without the CR of each CR LF. */
static void add_without_cr(struct buf *out, struct span text)
{
    for (size_t i = 0; i < text.len; i++)
        if (!(text.ptr[i] == '\r' && i + 1 < text.len && text.ptr[i + 1] == '\n'))
            buf_add_char(out, text.ptr[i]);
}

/* From an offset in a text without those CR to the offset in the text, going only
 * forward. */
struct way {
    struct span text;
    size_t bare, at;
};

static size_t way_to(struct way *w, size_t bare)
{
    while (w->bare < bare) {
        bool is_crlf = span_starts(span_from(w->text, w->at), SPAN("\r\n"));
        w->at += is_crlf ? 2 : 1;
        w->bare++;
    }
    return w->at;
}

/* The regions of a text, gone through from left to right. */
struct regions {
    struct skill_scan scan;
    struct skill_part region; /* the first that ends behind the last place asked */
    bool is_over;
};

/* Whether a region has bytes in start to end - 1; start never goes back. */
static bool regions_touch(struct regions *r, size_t start, size_t end)
{
    while (!r->is_over && r->region.end <= start)
        r->is_over = !skill_next_region(&r->scan, &r->region);
    return !r->is_over && r->region.start < end;
}

/* The LF of a CR LF is no place for a target to begin. */
static bool splits_break(struct span text, size_t at)
{
    return at > 0 && text.ptr[at] == '\n' && text.ptr[at - 1] == '\r';
}

/* Find `find` in the body of `text`; `bare` is `text`, or what is left of it
 * without CR, in which `find` is looked for. */
static struct place look(struct span text, struct span bare, struct span find)
{
    struct place place = { 0 };
    struct regions regions = { .scan.text = text };
    struct plain_walk walk;
    struct way start = { .text = text };
    struct way end = { .text = text };
    bool is_same = bare.ptr == text.ptr;
    size_t at;
    plain_walk_start(&walk, bare, find);
    while (plain_walk_next(&walk, &at)) {
        size_t first = is_same ? at : way_to(&start, at);
        size_t last = is_same ? at + find.len : way_to(&end, at + find.len);
        if (splits_break(text, first))
            continue;
        if (regions_touch(&regions, first, last))
            place.protected ++;
        else if (place.count++ == 0)
            place = (struct place){ first, last, 1, place.protected };
    }
    plain_walk_end(&walk);
    return place;
}

/* As it is, then without regard to how lines end. */
static struct place find_place(struct span text, struct span target)
{
    struct place place = { 0 };
    struct buf bare = { 0 };
    struct buf bare_target = { 0 };
    if (target.len > 0)
        place = look(text, text, target);
    if (target.len > 0 && place.count + place.protected == 0) {
        add_without_cr(&bare, text);
        add_without_cr(&bare_target, target);
        place = look(text, span_of(&bare), span_of(&bare_target));
    }
    buf_free(&bare);
    buf_free(&bare_target);
    return place;
}

/* ---- the new text ---- */

struct job {
    struct span text;   /* the document without its byte order mark */
    struct span target; /* without one, too */
    const struct edit *edit;
    struct place place;
    const char *line_end;
    size_t max_tokens;
    bool is_before_region;
};

static void add_paragraph(struct buf *out, const struct job *job, struct span content)
{
    buf_add_text(out, job->line_end);
    skill_add_lines(out, content, job->text);
    buf_add_text(out, job->line_end);
}

/* Where the first region, or a start marker without an end, is. */
static size_t first_region(struct span text)
{
    struct skill_scan scan = { .text = text };
    struct skill_part part;
    while (skill_scan_next(&scan, &part))
        if (part.type != SKILL_LONE_END)
            return part.start;
    return PLAIN_NONE;
}

static void append(struct buf *out, struct job *job, struct span content)
{
    size_t at = first_region(job->text);
    job->is_before_region = at != PLAIN_NONE;
    struct span before =
        job->is_before_region ? span_between(job->text, 0, at) : job->text;
    span_add(out, unicode_rstrip(before));
    buf_add_text(out, job->line_end);
    add_paragraph(out, job, content);
    if (job->is_before_region) {
        buf_add_text(out, job->line_end);
        span_add(out, span_from(job->text, at));
    }
}

/* Behind the line in which the target ends; line breaks inside regions do not end
 * a line of the body. */
static size_t line_behind(const struct job *job)
{
    struct regions regions = { .scan.text = job->text };
    size_t at = job->place.end;
    if (job->text.ptr[at - 1] == '\n')
        return at;
    for (;;) {
        at = plain_find(job->text, SPAN("\n"), at);
        if (at == PLAIN_NONE)
            return job->text.len;
        if (!regions_touch(&regions, at, at + 1))
            return at + 1;
        at = regions.region.end;
    }
}

static void insert(struct buf *out, const struct job *job, struct span content)
{
    size_t at = line_behind(job);
    span_add(out, span_between(job->text, 0, at));
    add_paragraph(out, job, content);
    span_add(out, span_from(job->text, at));
}

static void replace(struct buf *out, const struct job *job, struct span content)
{
    span_add(out, span_between(job->text, 0, job->place.start));
    skill_add_lines(out, content, job->text);
    span_add(out, span_from(job->text, job->place.end));
}

static void build(struct buf *out, struct job *job, enum edit_op op, struct span content)
{
    if (op == EDIT_APPEND)
        append(out, job, content);
    else if (op == EDIT_INSERT_AFTER)
        insert(out, job, content);
    else
        replace(out, job, op == EDIT_REPLACE ? content : SPAN(""));
}

/* ---- judging ---- */

/* What stands against an edit before anything is built. */
static enum edit_fate obstacle(const struct job *job, const struct edit_row *row)
{
    enum edit_op op = row->op;
    bool is_blank = unicode_strip(span_of(&row->content)).len == 0;
    bool was_blank = unicode_strip(job->edit->content).len == 0;
    if (op == EDIT_UNKNOWN)
        return EDIT_UNKNOWN_OP;
    if (job->place.count == 0 && job->place.protected > 0)
        return EDIT_PROTECTED;
    if (op != EDIT_APPEND && job->target.len == 0)
        return EDIT_EMPTY_TARGET;
    if (op != EDIT_APPEND && job->place.count == 0)
        return EDIT_ANCHOR_MISSING;
    if (op != EDIT_APPEND && job->place.count > 1)
        return EDIT_ANCHOR_AMBIGUOUS;
    /* Nothing for a target is a deletion; nothing but markers is a mistake. */
    if (is_blank && op != EDIT_DELETE && !(op == EDIT_REPLACE && was_blank))
        return EDIT_EMPTY_CONTENT;
    return EDIT_APPLIED;
}

static bool same_regions(struct span a, struct span b)
{
    struct skill_scan scan_a = { .text = a };
    struct skill_scan scan_b = { .text = b };
    struct skill_part x;
    struct skill_part y;
    for (;;) {
        bool has_x = skill_next_region(&scan_a, &x);
        bool has_y = skill_next_region(&scan_b, &y);
        if (!has_x || !has_y)
            return has_x == has_y;
        if (!span_equals(span_between(a, x.start, x.end),
                         span_between(b, y.start, y.end)))
            return false;
    }
}

/* A text that is too long may become shorter, even when it stays too long. */
static bool is_over_size(const struct job *job, struct span before, struct span after)
{
    size_t tokens = length_tokens(after);
    return tokens > job->max_tokens && tokens > length_tokens(before);
}

/* What stands against the text that was built. */
static enum edit_fate verdict(const struct job *job, struct span before,
                              struct span after, bool is_full)
{
    if (span_equals(before, after) && !is_full)
        return EDIT_NO_CHANGE;
    if (is_full || is_over_size(job, before, after))
        return EDIT_OVER_SIZE;
    /* Pieces of a marker, brought together, would make or end a region. */
    if (!same_regions(before, after))
        return EDIT_PROTECTED;
    return EDIT_APPLIED;
}

/* Look for the missing target in the body alone: a byte that no text has stands
 * for each region. */
static void say_near(struct buf *near, const struct job *job)
{
    struct skill_scan scan = { .text = job->text };
    struct skill_part part;
    struct buf body = { 0 };
    size_t done = 0;
    while (skill_next_region(&scan, &part)) {
        span_add(&body, span_between(job->text, done, part.start));
        buf_add_char(&body, '\xFF');
        done = part.end;
    }
    span_add(&body, span_from(job->text, done));
    buf_add_text(near, "a near match differs only in ");
    if (!near_words(near, span_of(&body), job->target))
        buf_clear(near);
    buf_free(&body);
}

static struct span without_bom(struct span text)
{
    return span_from(text, skill_bom(text));
}

static void row_start(struct edit_row *row, const struct edit *edit)
{
    buf_clear(&row->content);
    buf_clear(&row->near);
    row->matches = 0;
    row->op = edit_op_of(edit->op);
    skill_clean(&row->content, unicode_strip(edit->content));
}

/* Build the new text and take it, unless something stands against it. */
static enum edit_fate attempt(struct buf *text, struct job *job,
                              const struct edit_row *row)
{
    struct buf after = { .max = SKILL_MAX };
    span_add(&after, span_between(span_of(text), 0, skill_bom(span_of(text))));
    build(&after, job, row->op, span_of(&row->content));
    enum edit_fate fate = verdict(job, span_of(text), span_of(&after), after.is_full);
    if (fate == EDIT_APPLIED) {
        struct buf before = *text;
        *text = after;
        after = before;
    }
    buf_free(&after);
    return fate;
}

void edit_apply(struct buf *text, const struct edit *edit, size_t max_tokens,
                struct edit_row *row)
{
    struct job job = {
        .text = without_bom(span_of(text)),
        .target = without_bom(edit->target),
        .edit = edit,
        .line_end = skill_line_end(span_of(text)),
        .max_tokens = max_tokens,
    };
    row_start(row, edit);
    if (edit->is_malformed) {
        row->fate = EDIT_MALFORMED;
    } else {
        job.place = find_place(job.text, job.target);
        row->matches = job.place.count;
        row->fate = obstacle(&job, row);
    }
    if (row->fate == EDIT_ANCHOR_MISSING)
        say_near(&row->near, &job);
    if (row->fate == EDIT_APPLIED)
        row->fate = attempt(text, &job, row);
    row->status = status_of(row->op, row->fate, job.is_before_region);
}

void edit_row_free(struct edit_row *row)
{
    buf_free(&row->content);
    buf_free(&row->near);
}
