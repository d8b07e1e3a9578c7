/* grammar.h - the texts of a game: commands, observations and how they are put together.
 *
 * A grammar is a set of rules and, for each action, a template (the command) and a
 * feedback (the observation). Their texts are phrases: symbols that tell.h turns into
 * text by asking the facts. A grammar is read for one domain and immutable; it owns
 * everything it points to. */
#pragma once
#include "game/pddl.h"

enum {
    QUERY_MAX_ATOMS = 16,
    QUERY_MAX_ARGS = 8,
    QUERY_MAX_SIGNATURES = 1024,   /* type combinations below one declared one */
    GRAMMAR_MAX_SIGNATURES = 65536 /* ... of all queries together */
};

#define GRAMMAR_NONE 0xffffu

struct query_atom {
    const char *predicate; /* as written, `!p` as `not_p` */
    uint16_t placeholders[QUERY_MAX_ARGS];
    uint8_t count;
    /* What the domain makes of it: */
    bool is_known;   /* there can be such facts */
    bool is_not;     /* facts that the predicate was made false */
    uint16_t number; /* of the predicate in the domain */
    uint32_t signature_count;
    uint16_t *signatures; /* types of the arguments, in the order of answers */
};

struct query {
    struct query_atom *atoms;
    uint32_t count;
    struct query *next; /* all queries of a grammar form a list */
};

enum operand_kind {
    OPERAND_TEXT,
    OPERAND_NAME,
    OPERAND_ID,
    OPERAND_TYPE,
    OPERAND_INDEFINITE,
    OPERAND_DEFINITE
};

/* `a + b or c` is a list of operands; the one behind an `or` starts an alternative. */
struct operand {
    enum operand_kind kind;
    bool is_alternative;
    uint16_t variable;
    uint32_t length;
    const char *text; /* OPERAND_TEXT */
    struct operand *next;
};

enum symbol_kind { SYMBOL_TEXT, SYMBOL_RULE, SYMBOL_VALUE, SYMBOL_EACH, SYMBOL_LIST };

struct symbol {
    enum symbol_kind kind;
    uint32_t length;
    const char *text; /* TEXT: itself; RULE: its name; VALUE: the expression */
    uint32_t rule;
    const struct operand *value; /* VALUE */
    struct symbol *inner;        /* EACH: a RULE or a VALUE; LIST: an EACH */
    const char *query_text;      /* EACH: NULL without a query */
    const struct query *query;
    struct symbol *next; /* in the phrase */
};

struct phrase {
    struct symbol *first; /* never NULL once read */
};

struct production {
    const char *condition_text; /* "" without a condition */
    const struct query *condition;
    struct phrase body;
};

struct rule {
    struct production *productions;
    uint32_t count;
};

struct grammar_action {
    const char *name; /* as written */
    const char *template_text, *feedback_text;
    struct phrase template, feedback;
};

/* An action of the domain as the grammar sees it. */
struct spoken_action {
    const struct grammar_action *action;
    uint16_t *placeholders; /* of each parameter, or GRAMMAR_NONE */
    uint16_t *variables;
};

struct grammar {
    struct share share;
    struct arena arena;
    struct names rule_names;
    struct rule *rules; /* by number; without productions when only referred to */
    uint32_t rule_room;
    struct names action_names; /* lower case */
    struct grammar_action **actions;
    uint32_t action_room;
    struct names variables;    /* names of placeholders and in expressions */
    struct names placeholders; /* "name:type" */
    uint16_t *placeholder_variables;
    uint32_t placeholder_room;
    struct query *queries;
    uint32_t signature_count;     /* of all queries */
    struct domain *domain;        /* in use; NULL when read without one */
    struct spoken_action *spoken; /* for each action of the domain */
    uint32_t intro;               /* numbers of the rules that are used by name */
    uint32_t list_empty, list_separator, list_last_separator;
};

/* Read a grammar for the domain, which stays in use as long as the grammar; NULL on
 * error. Shared through `s` (may be NULL). To be given back with share_drop(&g->share).
 * Without a domain (NULL) the texts are read, but can tell nothing. */
struct grammar *grammar_read(const char *text, size_t n, struct domain *d,
                             const char *file, struct game_shared *s, struct err *e);

/* Bytes of memory held, without the domain. */
size_t grammar_size(const struct grammar *g);

/* Where a piece of a grammar stands, for messages. */
struct origin {
    const struct place *at;
    size_t line;
    const char *owner; /* of the rule or action; NULL for none */
    struct err *e;
};

bool origin_refuse(const struct origin *o, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The pieces; each adds to the grammar and returns false or NULL with a message.
 * Texts are valid UTF-8. */
bool phrase_read(struct grammar *g, const char *text, size_t n, const struct origin *o,
                 struct phrase *phrase);
const struct query *query_read(struct grammar *g, const char *text, size_t n,
                               const struct origin *o);
const struct operand *expression_read(struct grammar *g, const char *text, size_t n,
                                      const struct origin *o);

/* The number of a rule, new or old; NAMES_NONE with a message when there are too
 * many. */
uint32_t grammar_rule(struct grammar *g, const char *name, size_t n,
                      const struct origin *o);
