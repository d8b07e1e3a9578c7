/* template.h - prompt files: Markdown with inputs.
 *
 *     ---
 *     inputs:
 *       skill: the document as it is
 *       notes: remarks of earlier steps, or nothing
 *     ---
 *     You improve a document.
 *     === user ===
 *     {{skill}}
 *     {{#notes}}
 *     Remarks: {{notes}}
 *     {{/notes}}
 *
 * What stands above the line `=== user ===` is the system message, the rest the
 * user's; without such a line all is the user's. Lines between {{#name}} and {{/name}}
 * (each alone on its line) go when the input is empty. Values are inserted byte for
 * byte and never looked at. Blank lines around a message are not part of it. Every
 * `{{` must be one of these forms and every name an input, or the file is refused. */
#pragma once
#include "base/buf.h"
#include "base/err.h"

enum {
    TEMPLATE_MAX_SIZE = 1 << 20,
    TEMPLATE_MAX_INPUTS = 64,
    TEMPLATE_MAX_SECTIONS = 8 /* one inside the other */
};

struct template;

/* Parse a file (UTF-8, with or without BOM, any line ends). NULL with kind config and
 * "line 7: ..." when it is faulty. The caller frees it. */
struct template *template_parse(const char *text, size_t n, struct err *e);
void template_free(struct template *t); /* NULL is fine */

/* The inputs in the order of the file; the texts live as long as the template. */
size_t template_input_count(const struct template *t);
const char *template_input_name(const struct template *t, size_t index);
const char *template_input_doc(const struct template *t, size_t index);

struct template_text {
    const char *ptr;
    size_t len;
};

/* Append the two messages; values[i] is the text of input number i. False with kind
 * limit when a message would pass its buf's ceiling. */
bool template_render(const struct template *t, const struct template_text values[],
                     struct buf *system, struct buf *user, struct err *e);
