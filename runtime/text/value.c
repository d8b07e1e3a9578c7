/* value.c - see value.h. */
#include "text/value.h"
#include "base/mem.h"
#include <math.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_FIRST = 4096, BLOCK_LARGEST = 1 << 20, STACK_KEPT = 4096, FEW = 16 };

struct value_block {
    struct value_block *next;
    size_t size, used;
    alignas(max_align_t) char bytes[];
};

static bool charge(struct value_doc *d, size_t n)
{
    size_t max = d->max ? d->max : VALUE_DEFAULT_MAX;
    if (n > max || d->used > max - n)
        return false;
    d->used += n;
    return true;
}

static void free_blocks(struct value_doc *d, struct value_block *b)
{
    while (b) {
        struct value_block *next = b->next;
        d->used -= b->size;
        mem_free(b);
        b = next;
    }
}

void value_doc_free(struct value_doc *d)
{
    free_blocks(d, d->block);
    mem_free(d->stack);
    *d = (struct value_doc){ .max = d->max };
}

void value_doc_clear(struct value_doc *d)
{
    struct value_block *b = d->block;
    if (!b || b->size > BLOCK_LARGEST || d->room > STACK_KEPT) {
        value_doc_free(d);
        return;
    }
    free_blocks(d, b->next);
    b->next = NULL;
    b->used = 0;
    d->height = 0;
}

/* The new block is twice the latest, or as large as the request. */
static bool add_block(struct value_doc *d, size_t n)
{
    size_t size = d->block ? d->block->size * 2 : BLOCK_FIRST;
    if (size > BLOCK_LARGEST)
        size = BLOCK_LARGEST;
    if (size < n)
        size = n;
    if (!charge(d, size))
        return false;
    struct value_block *b = mem_grow(NULL, sizeof *b + size);
    *b = (struct value_block){ .next = d->block, .size = size };
    d->block = b;
    return true;
}

static void *take(struct value_doc *d, size_t n, size_t align)
{
    struct value_block *b = d->block;
    size_t at = b ? (b->used + align - 1) & ~(align - 1) : 0;
    if (!b || at > b->size || n > b->size - at) {
        if (!add_block(d, n))
            return NULL;
        b = d->block;
        at = 0;
    }
    b->used = at + n;
    return b->bytes + at;
}

void *value_alloc(struct value_doc *d, size_t n)
{
    return take(d, n, alignof(max_align_t));
}

char *value_copy(struct value_doc *d, const char *p, size_t n)
{
    if (n >= UINT32_MAX)
        return NULL;
    char *copy = take(d, n + 1, 1);
    if (!copy)
        return NULL;
    if (n)
        memcpy(copy, p, n);
    copy[n] = '\0';
    return copy;
}

bool value_push(struct value_doc *d, const struct value_entry *entry)
{
    if (d->height == d->room) {
        size_t room = d->room ? d->room * 2 : 64;
        if (!charge(d, (room - d->room) * sizeof *d->stack))
            return false;
        d->stack = mem_grow(d->stack, room * sizeof *d->stack);
        d->room = room;
    }
    d->stack[d->height++] = *entry;
    return true;
}

bool value_fold_array(struct value_doc *d, size_t mark, struct value *out)
{
    size_t n = d->height - mark;
    struct value *items = value_alloc(d, n * sizeof *items);
    if (!items || n > UINT32_MAX)
        return false;
    for (size_t i = 0; i < n; i++)
        items[i] = d->stack[mark + i].value;
    d->height = mark;
    out->kind = VALUE_ARRAY;
    out->count = (uint32_t)n;
    out->items = items;
    return true;
}

static int compare_keys(const struct value_entry *a, const struct value_entry *b)
{
    uint32_t n = a->key_length < b->key_length ? a->key_length : b->key_length;
    int order = memcmp(a->key, b->key, n);
    return order ? order
                 : (a->key_length > b->key_length) - (a->key_length < b->key_length);
}

/* An entry in sorted order. */
struct slot {
    struct value_entry *entry;
};

static int compare_slots(const void *a, const void *b)
{
    const struct value_entry *x = ((const struct slot *)a)->entry;
    const struct value_entry *y = ((const struct slot *)b)->entry;
    int order = compare_keys(x, y);
    return order ? order : (x > y) - (x < y);
}

static void supersede(struct value_entry *first, struct value_entry *later)
{
    first->value = later->value;
    first->key_line = later->key_line;
    later->key = NULL;
}

static void merge_few(struct value_entry *e, size_t n)
{
    for (size_t i = 1; i < n; i++)
        for (size_t j = 0; j < i; j++)
            if (e[j].key && e[j].key_length == e[i].key_length &&
                memcmp(e[j].key, e[i].key, e[i].key_length) == 0) {
                supersede(&e[j], &e[i]);
                break;
            }
}

/* Many entries are compared in sorted order, so that the time stays bounded. */
static void merge_many(struct value_entry *e, size_t n)
{
    struct slot *sorted = mem_new_array(n, sizeof *sorted);
    for (size_t i = 0; i < n; i++)
        sorted[i].entry = &e[i];
    qsort(sorted, n, sizeof *sorted, compare_slots);
    struct value_entry *first = sorted[0].entry;
    for (size_t i = 1; i < n; i++)
        if (compare_keys(first, sorted[i].entry) == 0)
            supersede(first, sorted[i].entry);
        else
            first = sorted[i].entry;
    mem_free(sorted);
}

const struct value_entry *value_repeated(const struct value_doc *d, size_t mark,
                                         const struct value_entry **first)
{
    size_t n = d->height - mark;
    const struct value_entry *found = NULL;
    if (n < 2)
        return NULL;
    struct slot *sorted = mem_new_array(n, sizeof *sorted);
    for (size_t i = 0; i < n; i++)
        sorted[i].entry = d->stack + mark + i;
    qsort(sorted, n, sizeof *sorted, compare_slots);
    for (size_t i = 1; i < n; i++) {
        const struct value_entry *before = sorted[i - 1].entry;
        const struct value_entry *later = sorted[i].entry;
        if (compare_keys(before, later) == 0 && (!found || later < found)) {
            found = later;
            *first = before;
        }
    }
    mem_free(sorted);
    return found;
}

bool value_fold_object(struct value_doc *d, size_t mark, struct value *out)
{
    size_t n = d->height - mark;
    struct value_entry *e = n ? d->stack + mark : NULL;
    struct value_entry *entries = value_alloc(d, n * sizeof *entries);
    if (!entries || n > UINT32_MAX)
        return false;
    if (n > FEW)
        merge_many(e, n);
    else
        merge_few(e, n);
    uint32_t count = 0;
    for (size_t i = 0; i < n; i++)
        if (e[i].key)
            entries[count++] = e[i];
    d->height = mark;
    out->kind = VALUE_OBJECT;
    out->count = count;
    out->entries = entries;
    return true;
}

bool value_is(const struct value *v, enum value_kind kind)
{
    return v && v->kind == kind;
}

const char *value_kind_name(enum value_kind kind)
{
    static const char *const names[] = {
        [VALUE_NULL] = "null",      [VALUE_BOOL] = "true or false",
        [VALUE_INTEGER] = "number", [VALUE_DOUBLE] = "number",
        [VALUE_BIG] = "number",     [VALUE_TEXT] = "text",
        [VALUE_ARRAY] = "array",    [VALUE_OBJECT] = "object",
    };
    return names[kind];
}

const struct value *value_get(const struct value *object, const char *key)
{
    if (!value_is(object, VALUE_OBJECT))
        return NULL;
    size_t n = strlen(key);
    for (uint32_t i = 0; i < object->count; i++) {
        const struct value_entry *e = &object->entries[i];
        if (e->key_length == n && memcmp(e->key, key, n) == 0)
            return &e->value;
    }
    return NULL;
}

const struct value *value_at(const struct value *array, size_t index)
{
    return value_is(array, VALUE_ARRAY) && index < array->count ? &array->items[index]
                                                                : NULL;
}

size_t value_count(const struct value *v)
{
    return v && (v->kind == VALUE_ARRAY || v->kind == VALUE_OBJECT) ? v->count : 0;
}

const char *value_text(const struct value *v)
{
    return value_is(v, VALUE_TEXT) ? v->text : NULL;
}

double value_number(const struct value *v, double otherwise)
{
    if (value_is(v, VALUE_INTEGER))
        return (double)v->integer;
    if (value_is(v, VALUE_DOUBLE))
        return v->number;
    if (value_is(v, VALUE_BIG))
        return strtod(v->text, NULL);
    return otherwise;
}

const char *value_text_or(const struct value *object, const char *key,
                          const char *otherwise)
{
    const char *text = value_text(value_get(object, key));
    return text ? text : otherwise;
}

int64_t value_integer_or(const struct value *object, const char *key, int64_t otherwise)
{
    const struct value *v = value_get(object, key);
    if (value_is(v, VALUE_INTEGER))
        return v->integer;
    if (value_is(v, VALUE_DOUBLE) && v->number == floor(v->number) &&
        v->number >= -9223372036854775808.0 && v->number < 9223372036854775808.0)
        return (int64_t)v->number;
    return otherwise;
}

double value_number_or(const struct value *object, const char *key, double otherwise)
{
    return value_number(value_get(object, key), otherwise);
}

bool value_bool_or(const struct value *object, const char *key, bool otherwise)
{
    const struct value *v = value_get(object, key);
    return value_is(v, VALUE_BOOL) ? v->boolean : otherwise;
}
