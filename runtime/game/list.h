/* list.h - PDDL text as nested lists of words.
 *
 * Words are lower-cased; `;` starts a comment; a blank is understood round every
 * bracket and before every `?`. Nodes point to each other by number: 0 is none,
 * 1 the outermost list. The tree owns its words; nothing else is kept. */
#pragma once
#include "game/place.h"
#include <stdint.h>

enum { LIST_MAX_DEPTH = 64, LIST_MAX_NODES = 100000, LIST_ROOT = 1 };

struct list_node {
    const char *word; /* zero-terminated; NULL for a list */
    uint32_t first;   /* of a list: its first item, or 0 */
    uint32_t next;    /* the item behind this one, or 0 */
    uint32_t count;   /* of a list: its items; of a word: its bytes */
    uint32_t line;    /* from 1 */
};

/* A zeroed tree is valid and empty. */
struct list_tree {
    struct list_node *nodes;
    uint32_t count, room;
    char *words;
    size_t used;
};

/* Read the one list that is the whole text. False with kind data when brackets do
 * not match, a character is not ASCII or a ceiling is passed. The tree must be
 * empty; it is to be freed in any case. */
bool list_read(struct list_tree *t, const char *text, size_t n, const struct place *at,
               struct err *e);

void list_free(struct list_tree *t);

/* Whether the node is this word. Node 0 is none. */
bool list_is(const struct list_tree *t, uint32_t node, const char *word);

/* The word that a list starts with, or "" when there is none. */
const char *list_head(const struct list_tree *t, uint32_t node);

/* A word of the node to show in a message: the word, "()" or "(head ...)" 's head. */
const char *list_show(const struct list_tree *t, uint32_t node);
