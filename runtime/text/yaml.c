/* yaml.c - libyaml's events as a tree, see yaml.h. */
#include "text/yaml.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "text/json.h"
#include <assert.h>
#include <string.h>
#include <yaml.h>

struct anchor {
    const char *name; /* belongs to the doc */
    struct value value;
    size_t nodes;    /* values in it, aliases followed */
    unsigned height; /* levels of nesting in it */
    bool is_open;    /* still being read */
};

struct reader {
    yaml_parser_t parser;
    const char *text;
    struct value_doc *doc;
    struct err *e;
    struct anchor *anchors;
    size_t anchor_count, nodes;
    unsigned depth;
};

static bool fail_at(struct reader *r, enum err_kind kind, const yaml_mark_t *at,
                    const char *why)
{
    return err_set(r->e, kind, "line %zu, column %zu: %s", at->line + 1, at->column + 1,
                   why);
}

static bool fail(struct reader *r, const yaml_event_t *event, const char *why)
{
    return fail_at(r, ERR_PARSE, &event->start_mark, why);
}

static bool fail_limit(struct reader *r, const yaml_event_t *event)
{
    return fail_at(r, ERR_LIMIT, &event->start_mark, "the document is too large");
}

/* The next event, to be deleted by the caller. */
static bool next_event(struct reader *r, yaml_event_t *event)
{
    if (yaml_parser_parse(&r->parser, event))
        return true;
    const char *why = r->parser.problem ? r->parser.problem : "the text is no YAML";
    if (r->parser.error == YAML_READER_ERROR) { /* the marks are not set */
        size_t line, column;
        json_place(r->text, r->parser.problem_offset, &line, &column);
        return err_set(r->e, ERR_PARSE, "line %zu, column %zu: %s", line, column, why);
    }
    return fail_at(r, ERR_PARSE, &r->parser.problem_mark, why);
}

/* --- scalars -------------------------------------------------------------------- */

static bool is_tag(const yaml_char_t *tag, const char *want)
{
    static const char prefix[] = "tag:yaml.org,2002:";
    return tag && strncmp((const char *)tag, prefix, sizeof prefix - 1) == 0 &&
           strcmp((const char *)tag + sizeof prefix - 1, want) == 0;
}

/* What an explicit tag asks for must be what the text is. */
static bool apply_tag(struct reader *r, const yaml_event_t *event, struct value *out)
{
    const yaml_char_t *tag = event->data.scalar.tag;
    if (is_tag(tag, "float") && out->kind == VALUE_INTEGER) {
        out->kind = VALUE_DOUBLE;
        out->number = (double)out->integer;
    }
    bool fits = is_tag(tag, "int")     ? out->kind == VALUE_INTEGER
                : is_tag(tag, "float") ? out->kind == VALUE_DOUBLE
                : is_tag(tag, "bool")  ? out->kind == VALUE_BOOL
                : is_tag(tag, "null")  ? out->kind == VALUE_NULL
                                       : false;
    return fits || fail(r, event, "a tag that is unknown or does not fit the value");
}

static bool is_plain(const yaml_event_t *event)
{
    return event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
}

static bool read_scalar(struct reader *r, const yaml_event_t *event, struct value *out)
{
    const yaml_char_t *tag = event->data.scalar.tag;
    const char *bytes = (const char *)event->data.scalar.value;
    size_t n = event->data.scalar.length;
    const char *text = value_copy(r->doc, bytes, n);
    if (!text)
        return fail_limit(r, event);
    bool is_text = tag ? is_tag(tag, "str") || strcmp((const char *)tag, "!") == 0
                       : !is_plain(event);
    if (is_text) {
        out->kind = VALUE_TEXT;
        out->count = (uint32_t)n;
        out->text = text;
        return true;
    }
    if (!yaml_resolve(text, n, out))
        return fail(r, event, "the number is too large (in quotes it keeps its digits)");
    return !tag || apply_tag(r, event, out);
}

/* --- anchors -------------------------------------------------------------------- */

static struct anchor *find_anchor(struct reader *r, const yaml_char_t *name)
{
    for (size_t i = r->anchor_count; i > 0; i--)
        if (strcmp(r->anchors[i - 1].name, (const char *)name) == 0)
            return &r->anchors[i - 1];
    return NULL;
}

static const yaml_char_t *anchor_name(const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        return event->data.scalar.anchor;
    case YAML_SEQUENCE_START_EVENT:
        return event->data.sequence_start.anchor;
    case YAML_MAPPING_START_EVENT:
        return event->data.mapping_start.anchor;
    default:
        return NULL;
    }
}

/* Note the anchor of a node that is about to be read; *index is where, or none. */
static bool open_anchor(struct reader *r, const yaml_event_t *event, size_t *index)
{
    const yaml_char_t *name = anchor_name(event);
    *index = SIZE_MAX;
    if (!name)
        return true;
    if (r->anchor_count == YAML_MAX_ANCHORS)
        return fail(r, event, "too many anchors");
    if (!r->anchors)
        r->anchors = mem_new_array(YAML_MAX_ANCHORS, sizeof *r->anchors);
    const char *copy = value_copy(r->doc, (const char *)name, strlen((const char *)name));
    if (!copy)
        return fail_limit(r, event);
    *index = r->anchor_count++;
    r->anchors[*index] = (struct anchor){ .name = copy, .is_open = true };
    return true;
}

static bool follow_alias(struct reader *r, const yaml_event_t *event, struct value *out,
                         unsigned *height)
{
    const struct anchor *a = find_anchor(r, event->data.alias.anchor);
    if (!a)
        return fail(r, event, "an alias without its anchor");
    if (a->is_open)
        return fail(r, event, "a value that contains itself");
    if (r->depth + a->height > YAML_MAX_DEPTH)
        return fail(r, event, "nesting too deep");
    r->nodes += a->nodes;
    if (r->nodes > YAML_MAX_NODES)
        return fail(r, event, "the aliases stand for too many values");
    *out = a->value;
    *height = a->height;
    return true;
}

/* --- containers ----------------------------------------------------------------- */

static bool read_node(struct reader *r, const yaml_event_t *event, struct value *out,
                      unsigned *height);

/* The longest key that a message shows. */
enum { KEY_SHOWN = 60 };

/* Objects to merge into a mapping, in the order in which they are to be pushed. */
struct merges {
    struct value *objects;
    size_t count, room;
    uint32_t line; /* of the key `<<`, 0 for none */
};

static bool is_merge(const yaml_event_t *key)
{
    return key->type == YAML_SCALAR_EVENT && is_plain(key) && !key->data.scalar.tag &&
           strcmp((const char *)key->data.scalar.value, "<<") == 0;
}

/* A key that stands twice would lose one of its values without a word. */
static bool fail_twice(struct reader *r, const char *key, uint32_t line, uint32_t first)
{
    bool is_short = strlen(key) <= KEY_SHOWN;
    return err_set(r->e, ERR_PARSE, "line %u: the key%s%s%s stands in line %u already",
                   line, is_short ? " '" : "", is_short ? key : "", is_short ? "'" : "",
                   first);
}

/* Several mappings are merged as a list under one key. */
static bool start_merge(struct reader *r, const yaml_event_t *key, struct merges *m)
{
    uint32_t line = (uint32_t)key->start_mark.line + 1;
    if (m->line)
        return fail_twice(r, "<<", line, m->line);
    m->line = line;
    return true;
}

static bool add_merge(struct merges *m, const struct value *object)
{
    if (object->kind != VALUE_OBJECT)
        return false;
    if (m->count == m->room) {
        m->room = m->room ? m->room * 2 : 4;
        m->objects = mem_grow(m->objects, m->room * sizeof *m->objects);
    }
    m->objects[m->count++] = *object;
    return true;
}

/* Of a list of objects the first one wins, so it is pushed last. */
static bool add_merges(struct reader *r, const yaml_event_t *event, const struct value *v,
                       struct merges *m)
{
    bool ok = v->kind == VALUE_ARRAY || add_merge(m, v);
    for (size_t i = value_count(v); ok && v->kind == VALUE_ARRAY && i > 0; i--)
        ok = add_merge(m, &v->items[i - 1]);
    return ok || fail(r, event, "only mappings can be merged");
}

/* Put the merged entries in front of those above `mark`. */
static bool push_merged(struct reader *r, const yaml_event_t *event, size_t mark,
                        const struct merges *m)
{
    size_t n = r->doc->height - mark;
    struct value_entry *own = mem_new_array(n, sizeof *own);
    if (n)
        memcpy(own, r->doc->stack + mark, n * sizeof *own);
    r->doc->height = mark;
    bool ok = true;
    for (size_t i = 0; i < m->count; i++)
        for (uint32_t j = 0; ok && j < m->objects[i].count; j++)
            ok = value_push(r->doc, &m->objects[i].entries[j]);
    for (size_t i = 0; ok && i < n; i++)
        ok = value_push(r->doc, &own[i]);
    mem_free(own);
    return ok || fail_limit(r, event);
}

static bool read_key(struct reader *r, const yaml_event_t *event,
                     struct value_entry *entry)
{
    struct value key = { 0 };
    unsigned height;
    if (event->type == YAML_SCALAR_EVENT && !event->data.scalar.anchor) {
        key.kind = VALUE_TEXT;
        key.count = (uint32_t)event->data.scalar.length;
        key.text = value_copy(r->doc, (const char *)event->data.scalar.value, key.count);
        if (!key.text)
            return fail_limit(r, event);
    } else if (!read_node(r, event, &key, &height)) {
        return false;
    }
    if (key.kind != VALUE_TEXT)
        return fail(r, event, "a key must be text");
    entry->key = key.text;
    entry->key_length = key.count;
    entry->key_line = (uint32_t)event->start_mark.line + 1;
    return true;
}

static bool read_item(struct reader *r, const yaml_event_t *event,
                      struct value_entry *entry, unsigned *height)
{
    unsigned inner = 0;
    if (!read_node(r, event, &entry->value, &inner))
        return false;
    *height = inner > *height ? inner : *height;
    return true;
}

static bool read_member(struct reader *r, const yaml_event_t *key, struct merges *m,
                        unsigned *height)
{
    yaml_event_t event;
    struct value_entry entry = { 0 };
    bool merges = is_merge(key);
    if (merges ? !start_merge(r, key, m) : !read_key(r, key, &entry))
        return false;
    if (!next_event(r, &event))
        return false;
    bool ok = read_item(r, &event, &entry, height);
    if (ok && merges)
        ok = add_merges(r, &event, &entry.value, m);
    else if (ok)
        ok = value_push(r->doc, &entry) || fail_limit(r, &event);
    yaml_event_delete(&event);
    return ok;
}

static bool read_children(struct reader *r, bool is_object, struct merges *m,
                          unsigned *height)
{
    yaml_event_t event;
    for (bool is_end = false; !is_end;) {
        struct value_entry entry = { 0 };
        if (!next_event(r, &event))
            return false;
        is_end =
            event.type == YAML_SEQUENCE_END_EVENT || event.type == YAML_MAPPING_END_EVENT;
        bool ok = true;
        if (!is_end && is_object)
            ok = read_member(r, &event, m, height);
        else if (!is_end)
            ok = read_item(r, &event, &entry, height) &&
                 (value_push(r->doc, &entry) || fail_limit(r, &event));
        yaml_event_delete(&event);
        if (!ok)
            return false;
    }
    return true;
}

static bool check_keys(struct reader *r, size_t mark)
{
    const struct value_entry *first;
    const struct value_entry *again = value_repeated(r->doc, mark, &first);
    if (!again)
        return true;
    return fail_twice(r, again->key, again->key_line, first->key_line);
}

static bool read_container(struct reader *r, const yaml_event_t *event, struct value *out,
                           unsigned *height)
{
    bool is_object = event->type == YAML_MAPPING_START_EVENT;
    const yaml_char_t *tag =
        is_object ? event->data.mapping_start.tag : event->data.sequence_start.tag;
    size_t mark = r->doc->height;
    struct merges m = { 0 };
    if (tag && !is_tag(tag, is_object ? "map" : "seq"))
        return fail(r, event, "a tag that is unknown or does not fit the value");
    if (r->depth == YAML_MAX_DEPTH)
        return fail(r, event, "nesting too deep");
    r->depth++;
    bool ok = read_children(r, is_object, &m, height);
    if (ok && is_object)
        ok = check_keys(r, mark);
    if (ok && m.count)
        ok = push_merged(r, event, mark, &m);
    mem_free(m.objects);
    r->depth--;
    ++*height;
    return ok && ((is_object ? value_fold_object(r->doc, mark, out)
                             : value_fold_array(r->doc, mark, out)) ||
                  fail_limit(r, event));
}

static bool read_node(struct reader *r, const yaml_event_t *event, struct value *out,
                      unsigned *height)
{
    size_t index;
    size_t before = r->nodes;
    *height = 0;
    if (event->type == YAML_ALIAS_EVENT) {
        if (!follow_alias(r, event, out, height))
            return false;
    } else {
        if (++r->nodes > YAML_MAX_NODES)
            return fail_limit(r, event);
        if (!open_anchor(r, event, &index))
            return false;
        bool ok = event->type == YAML_SCALAR_EVENT
                      ? read_scalar(r, event, out)
                      : read_container(r, event, out, height);
        if (!ok)
            return false;
        if (index != SIZE_MAX)
            r->anchors[index] = (struct anchor){ .name = r->anchors[index].name,
                                                 .value = *out,
                                                 .nodes = r->nodes - before,
                                                 .height = *height };
    }
    out->line = (uint32_t)event->start_mark.line + 1;
    out->column = (uint32_t)event->start_mark.column + 1;
    return true;
}

/* --- documents ------------------------------------------------------------------ */

static bool read_event(struct reader *r, struct value *root, yaml_event_type_t *type)
{
    yaml_event_t event;
    unsigned height;
    bool ok = true;
    if (!next_event(r, &event))
        return false;
    *type = event.type;
    if (event.type == YAML_DOCUMENT_START_EVENT && root->line)
        ok = fail(r, &event, "more than one document");
    else if (event.type == YAML_SCALAR_EVENT || event.type == YAML_SEQUENCE_START_EVENT ||
             event.type == YAML_MAPPING_START_EVENT || event.type == YAML_ALIAS_EVENT)
        ok = read_node(r, &event, root, &height);
    yaml_event_delete(&event);
    return ok;
}

static bool read_stream(struct reader *r, struct value *root)
{
    yaml_event_type_t type = YAML_NO_EVENT;
    while (type != YAML_STREAM_END_EVENT)
        if (!read_event(r, root, &type))
            return false;
    return true;
}

static bool check_text(const char *text, size_t n, struct err *e)
{
    size_t line = 1;
    size_t column = 1;
    if (n > YAML_MAX_SIZE)
        return err_set(e, ERR_LIMIT, "the text is longer than %d bytes", YAML_MAX_SIZE);
    for (size_t i = 0; i < n; column++) {
        uint32_t code;
        i += utf8_decode(text + i, n - i, &code);
        if (code == UTF8_INVALID)
            return err_set(e, ERR_PARSE, "line %zu, column %zu: invalid UTF-8", line,
                           column);
        if (code == '\n') {
            line++;
            column = 0;
        }
    }
    return true;
}

const struct value *yaml_read(struct value_doc *d, const char *text, size_t n,
                              struct err *e)
{
    struct reader r = { .doc = d, .e = e };
    size_t height = d->height;
    if (!check_text(text, n, e))
        return NULL;
    bool has_bom = n >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0;
    n -= has_bom ? 3 : 0;
    r.text = n == 0 ? "" : has_bom ? text + 3 : text;
    struct value *root = value_alloc(d, sizeof *root);
    if (!root) {
        err_set(e, ERR_LIMIT, "the document is too large");
        return NULL;
    }
    *root = (struct value){ 0 };
    int is_ready = yaml_parser_initialize(&r.parser);
    assert(is_ready); /* it fails only when memory is out */
    (void)is_ready;
    yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)r.text, n);
    bool ok = read_stream(&r, root);
    yaml_parser_delete(&r.parser);
    mem_free(r.anchors);
    d->height = height;
    return ok ? root : NULL;
}
