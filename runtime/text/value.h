/* value.h - a document as a tree: what JSON and YAML readers give back.
 *
 * A value_doc owns every byte of its trees and frees them at once. Readers build
 * from the leaves: they push entries on the doc's stack and fold the topmost ones
 * into an array or an object, so that items and entries lie side by side. A zeroed
 * doc is valid and empty; values are read-only for everybody but the reader. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum value_kind {
    VALUE_NULL,
    VALUE_BOOL,
    VALUE_INTEGER, /* fits in an int64 */
    VALUE_DOUBLE,  /* had a fraction or an exponent */
    VALUE_BIG,     /* an integer outside int64, as decimal text */
    VALUE_TEXT,
    VALUE_ARRAY,
    VALUE_OBJECT
};

struct value {
    enum value_kind kind;
    uint32_t line, column; /* from 1, where the value starts; 0 from JSON */
    uint32_t count;        /* bytes of text or digits, items, entries */
    union {
        bool boolean;
        int64_t integer;
        double number;
        const char *text;          /* TEXT, BIG: a zero byte behind it; TEXT is valid
                                    * UTF-8 and may contain zero bytes */
        const struct value *items; /* ARRAY */
        const struct value_entry *entries; /* OBJECT: each key once, in document order */
    };
};

struct value_entry {
    const char *key; /* valid UTF-8, a zero byte behind it */
    uint32_t key_length;
    uint32_t key_line; /* from 1; 0 from JSON */
    struct value value;
};

/* Fields are private but for `max`. */
struct value_doc {
    size_t max;  /* ceiling in bytes, 0 = VALUE_DEFAULT_MAX */
    size_t used; /* bytes of all blocks and of the stack */
    struct value_block *block;
    struct value_entry *stack;
    size_t height, room;
};

#define VALUE_DEFAULT_MAX ((size_t)1 << 30)

/* Free all trees; the doc is empty and usable again. */
void value_doc_free(struct value_doc *d);

/* Forget all trees, keep some memory for the next: for callers that read often. */
void value_doc_clear(struct value_doc *d);

/* --- reading; every function takes NULL and values of any kind ------------------ */

/* The value under `key`, or NULL when absent or `object` is none. Linear. */
const struct value *value_get(const struct value *object, const char *key);

/* Item number `index` from 0, or NULL. */
const struct value *value_at(const struct value *array, size_t index);

/* How many items or entries; 0 for other kinds. */
size_t value_count(const struct value *v);

/* The text, or NULL when v is not a text. */
const char *value_text(const struct value *v);

/* A number as a double (integers and big integers rounded), or `otherwise`. */
double value_number(const struct value *v, double otherwise);

/* The field of an object, or `otherwise` when absent or of another kind. A double
 * that is whole and exact counts as an integer. */
const char *value_text_or(const struct value *object, const char *key,
                          const char *otherwise);
int64_t value_integer_or(const struct value *object, const char *key, int64_t otherwise);
double value_number_or(const struct value *object, const char *key, double otherwise);
bool value_bool_or(const struct value *object, const char *key, bool otherwise);

bool value_is(const struct value *v, enum value_kind kind);

/* "null", "true or false", "number", "text", "array", "object": for messages. */
const char *value_kind_name(enum value_kind kind);

/* --- building, for readers; NULL or false when the ceiling is reached ----------- */

/* n bytes that live as long as the doc, aligned for any value. */
void *value_alloc(struct value_doc *d, size_t n);

/* A copy of n bytes with a zero byte behind them. */
char *value_copy(struct value_doc *d, const char *p, size_t n);

/* One more entry on the stack; `key` is ignored when it is folded into an array. */
bool value_push(struct value_doc *d, const struct value_entry *entry);

/* The earliest entry above `mark` whose key stands there before already, at *first; NULL
 * when all keys differ. */
const struct value_entry *value_repeated(const struct value_doc *d, size_t mark,
                                         const struct value_entry **first);

/* Fold all entries above `mark` (a height seen before) into *out, which keeps its
 * line and column. Of equal keys the last value stands in the place of the first. */
bool value_fold_array(struct value_doc *d, size_t mark, struct value *out);
bool value_fold_object(struct value_doc *d, size_t mark, struct value *out);
