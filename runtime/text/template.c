/* template.c - see template.h. */
#include "text/template.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "text/value.h"
#include "text/yaml.h"
#include <string.h>

enum piece_kind {
    PIECE_TEXT,
    PIECE_INPUT,
    PIECE_OPEN /* go on at piece number `next` when the input is empty */
};

#define DIVIDER "=== user ==="

struct piece {
    enum piece_kind kind;
    size_t input;
    size_t next;
    const char *text; /* in the template's source */
    size_t length;
};

struct template
{
    struct buf source;
    struct value_doc doc;
    const struct value *inputs; /* object name -> doc, or NULL */
    struct piece *pieces;
    size_t count, room;
    size_t user; /* first piece of the user's message */
};

struct parser {
    struct template *t;
    const char *p, *end; /* the line being read ... the end of the source */
    size_t line;
    size_t open[TEMPLATE_MAX_SECTIONS]; /* pieces of the open sections */
    size_t open_count;
    struct err *e;
};

/* A piece of source text. */
struct span {
    const char *p, *end;
};

static size_t length(struct span s)
{
    return (size_t)(s.end - s.p);
}

static bool is_text(struct span s, const char *text)
{
    return length(s) == strlen(text) && memcmp(s.p, text, length(s)) == 0;
}

static struct span trim(struct span s)
{
    while (s.p < s.end && (*s.p == ' ' || *s.p == '\t'))
        s.p++;
    while (s.p < s.end && (s.end[-1] == ' ' || s.end[-1] == '\t'))
        s.end--;
    return s;
}

/* --- source and front matter ---------------------------------------------------- */

static bool fault(struct parser *parser, const char *what, struct span where)
{
    size_t n = length(where) < 60 ? length(where) : 60;
    return err_set(parser->e, ERR_CONFIG, "line %zu: %s%s%.*s%s", parser->line, what,
                   n ? " '" : "", (int)n, n ? where.p : "", n ? "'" : "");
}

/* Keep a copy with one kind of line end and without BOM. */
static bool copy_source(struct buf *source, const char *text, size_t n, struct err *e)
{
    source->max = TEMPLATE_MAX_SIZE;
    if (n >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) {
        text += 3;
        n -= 3;
    }
    for (const char *end = text + n; text < end;) {
        const char *cr = memchr(text, '\r', (size_t)(end - text));
        buf_add(source, text, (size_t)((cr ? cr : end) - text));
        text = cr ? cr + 1 : end;
        if (cr && text < end && *text != '\n')
            buf_add_char(source, '\r');
    }
    if (source->is_full)
        return err_set(e, ERR_CONFIG, "the prompt is longer than %d bytes",
                       TEMPLATE_MAX_SIZE);
    if (!utf8_is_valid(buf_text(source), source->len))
        return err_set(e, ERR_CONFIG, "the prompt is not valid UTF-8");
    return true;
}

/* The line at p without its end; moves p behind it. */
static struct span next_line(struct parser *parser)
{
    size_t left = (size_t)(parser->end - parser->p);
    const char *newline = left ? memchr(parser->p, '\n', left) : NULL;
    struct span line = { parser->p, newline ? newline : parser->end };
    parser->p = newline ? newline + 1 : parser->end;
    parser->line++;
    return line;
}

static bool is_name(struct span s)
{
    for (const char *p = s.p; p < s.end; p++)
        if (!(*p == '_' || (*p >= 'a' && *p <= 'z') ||
              (p > s.p && *p >= '0' && *p <= '9')))
            return false;
    return s.p < s.end;
}

static bool check_inputs(struct parser *parser, const struct value *inputs)
{
    parser->line = inputs->line;
    if (inputs->kind != VALUE_OBJECT)
        return fault(parser, "'inputs' must map names to a line about each",
                     (struct span){ 0 });
    if (inputs->count > TEMPLATE_MAX_INPUTS)
        return fault(parser, "too many inputs", (struct span){ 0 });
    for (uint32_t i = 0; i < inputs->count; i++) {
        const struct value_entry *input = &inputs->entries[i];
        struct span name = { input->key, input->key + input->key_length };
        parser->line = input->key_line;
        if (!is_name(name))
            return fault(parser, "a name is made of a-z, 0-9 and _, not", name);
        if (input->value.kind != VALUE_TEXT)
            return fault(parser, "a line of text must say what is in", name);
    }
    return true;
}

static bool check_front_matter(struct parser *parser, const struct value *root)
{
    if (root->kind == VALUE_NULL)
        return true;
    if (root->kind != VALUE_OBJECT)
        return fault(parser, "the front matter must be 'inputs: ...'",
                     (struct span){ 0 });
    for (uint32_t i = 0; i < root->count; i++) {
        const struct value_entry *entry = &root->entries[i];
        struct span key = { entry->key, entry->key + entry->key_length };
        parser->line = entry->key_line;
        if (!is_text(key, "inputs"))
            return fault(parser, "the front matter can only hold 'inputs', not", key);
    }
    const struct value *inputs = value_get(root, "inputs");
    if (!inputs || inputs->kind == VALUE_NULL)
        return true;
    parser->t->inputs = inputs;
    return check_inputs(parser, inputs);
}

/* Front matter is what lies between two lines `---` at the start. The first one is
 * left to the YAML reader, so that its line numbers are ours. */
static bool read_front_matter(struct parser *parser)
{
    const char *start = parser->p;
    if (!is_text(trim(next_line(parser)), "---")) {
        parser->p = start;
        parser->line = 0;
        return true;
    }
    struct span line = { 0 };
    while (parser->p < parser->end && !is_text(line, "---"))
        line = trim(next_line(parser));
    if (!is_text(line, "---")) {
        parser->line = 1;
        return fault(parser, "the front matter has no closing line '---'",
                     (struct span){ 0 });
    }
    size_t last = parser->line;
    const struct value *root =
        yaml_read(&parser->t->doc, start, (size_t)(line.p - start), parser->e);
    if (!root) {
        parser->e->kind = ERR_CONFIG;
        parser->e->retry = false;
        return false;
    }
    bool ok = check_front_matter(parser, root);
    parser->line = last;
    return ok;
}

/* --- pieces --------------------------------------------------------------------- */

static struct piece *add_piece(struct template *t, enum piece_kind kind)
{
    if (t->count == t->room) {
        t->room = t->room ? t->room * 2 : 32;
        t->pieces = mem_grow(t->pieces, t->room * sizeof *t->pieces);
    }
    t->pieces[t->count] = (struct piece){ .kind = kind };
    return &t->pieces[t->count++];
}

static void add_text(struct template *t, const char *p, const char *end)
{
    if (p == end)
        return;
    struct piece *piece = add_piece(t, PIECE_TEXT);
    piece->text = p;
    piece->length = (size_t)(end - p);
}

static bool find_input(struct parser *parser, struct span name, size_t *index)
{
    const struct value *inputs = parser->t->inputs;
    for (uint32_t i = 0; inputs && i < inputs->count; i++)
        if (is_text(name, inputs->entries[i].key)) {
            *index = i;
            return true;
        }
    if (!is_name(name))
        return fault(parser, "an input is written {{name}}, not", name);
    return fault(parser, "the front matter has no input", name);
}

static bool open_section(struct parser *parser, struct span name)
{
    struct template *t = parser->t;
    size_t input;
    if (!find_input(parser, name, &input))
        return false;
    for (size_t i = 0; i < parser->open_count; i++)
        if (t->pieces[parser->open[i]].input == input)
            return fault(parser, "a section inside itself:", name);
    if (parser->open_count == TEMPLATE_MAX_SECTIONS)
        return fault(parser, "too many sections one inside the other",
                     (struct span){ 0 });
    parser->open[parser->open_count++] = t->count;
    add_piece(t, PIECE_OPEN)->input = input;
    return true;
}

static bool close_section(struct parser *parser, struct span name)
{
    struct template *t = parser->t;
    size_t input;
    if (!find_input(parser, name, &input))
        return false;
    size_t open = parser->open_count ? parser->open[parser->open_count - 1] : SIZE_MAX;
    if (open == SIZE_MAX || t->pieces[open].input != input)
        return fault(parser, "this section is not the one that is open:", name);
    parser->open_count--;
    t->pieces[open].next = t->count;
    return true;
}

/* "{{#name}}" or "{{/name}}" as a whole line. */
static bool is_section(struct span line)
{
    return length(line) > 5 && memcmp(line.p, "{{", 2) == 0 &&
           (line.p[2] == '#' || line.p[2] == '/') && memcmp(line.end - 2, "}}", 2) == 0;
}

/* The text of a line, its end included, with its inputs. */
static bool add_line(struct parser *parser, const char *p, const char *end)
{
    while (p < end) {
        size_t left = (size_t)(end - p);
        const char *open = memmem(p, left, "{{", 2);
        if (!open)
            break;
        const char *close = memmem(open, (size_t)(end - open), "}}", 2);
        if (!close)
            return fault(parser, "'{{' without '}}'", (struct span){ 0 });
        struct span name = { open + 2, close };
        size_t input;
        if (name.p < close && (*name.p == '#' || *name.p == '/'))
            return fault(parser, "a section mark stands alone on its line:", name);
        if (!find_input(parser, name, &input))
            return false;
        add_text(parser->t, p, open);
        add_piece(parser->t, PIECE_INPUT)->input = input;
        p = close + 2;
    }
    add_text(parser->t, p, end);
    return true;
}

static bool read_line(struct parser *parser)
{
    const char *start = parser->p;
    struct span line = trim(next_line(parser));
    struct span name = { line.p + 3, line.end - 2 };
    if (is_section(line))
        return line.p[2] == '#' ? open_section(parser, name)
                                : close_section(parser, name);
    if (is_text(line, DIVIDER))
        return fault(parser, "a second line", line);
    return add_line(parser, start, parser->p);
}

/* --- messages ------------------------------------------------------------------- */

/* The lines p..end of one message; line ends around it are layout. */
static bool read_message(struct parser *parser, const char *end)
{
    while (parser->p < end && *parser->p == '\n')
        next_line(parser);
    while (end > parser->p && end[-1] == '\n')
        end--;
    parser->end = end;
    bool ok = true;
    while (ok && parser->p < end)
        ok = read_line(parser);
    if (!ok || parser->open_count == 0)
        return ok;
    size_t input = parser->t->pieces[parser->open[parser->open_count - 1]].input;
    const struct value_entry *entry = &parser->t->inputs->entries[input];
    return fault(parser, "the message ends inside the section",
                 (struct span){ entry->key, entry->key + entry->key_length });
}

/* Move p behind the dividing line; its start, or NULL when there is none. */
static const char *pass_divider(struct parser *parser)
{
    while (parser->p < parser->end) {
        const char *start = parser->p;
        if (is_text(trim(next_line(parser)), DIVIDER))
            return start;
    }
    return NULL;
}

static bool read_body(struct parser *parser)
{
    struct parser ahead = *parser;
    const char *end = parser->end;
    const char *divider = pass_divider(&ahead);
    if (divider && !read_message(parser, divider))
        return false;
    if (divider) {
        parser->p = ahead.p;
        parser->line = ahead.line;
    }
    parser->t->user = parser->t->count;
    return read_message(parser, end);
}

struct template *template_parse(const char *text, size_t n, struct err *e)
{
    struct template *t = mem_new(sizeof *t);
    struct parser parser = { .t = t, .e = e };
    bool ok = copy_source(&t->source, n ? text : "", n, e);
    parser.p = buf_text(&t->source);
    parser.end = parser.p + t->source.len;
    if (ok && read_front_matter(&parser) && read_body(&parser))
        return t;
    template_free(t);
    return NULL;
}

void template_free(struct template *t)
{
    if (!t)
        return;
    buf_free(&t->source);
    value_doc_free(&t->doc);
    mem_free(t->pieces);
    mem_free(t);
}

size_t template_input_count(const struct template *t)
{
    return value_count(t->inputs);
}

const char *template_input_name(const struct template *t, size_t index)
{
    return t->inputs->entries[index].key;
}

const char *template_input_doc(const struct template *t, size_t index)
{
    return t->inputs->entries[index].value.text;
}

bool template_render(const struct template *t, const struct template_text values[],
                     struct buf *system, struct buf *user, struct err *e)
{
    for (size_t i = 0; i < t->count;) {
        const struct piece *piece = &t->pieces[i];
        struct buf *out = i < t->user ? system : user;
        i++;
        if (piece->kind == PIECE_TEXT)
            buf_add(out, piece->text, piece->length);
        else if (piece->kind == PIECE_INPUT)
            buf_add(out, values[piece->input].ptr, values[piece->input].len);
        else if (piece->kind == PIECE_OPEN && values[piece->input].len == 0)
            i = piece->next;
    }
    if (system->is_full || user->is_full)
        return err_set(e, ERR_LIMIT, "the prompt is too long when filled in");
    return true;
}
