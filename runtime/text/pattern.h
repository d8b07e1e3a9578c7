/* pattern.h - Lua 5.4's patterns over bytes, with an end to every search.
 *
 * A pattern is what section 6.4.1 of Lua's manual says: classes, sets, `* + - ?`,
 * `%b`, `%f`, captures, back references, anchors. It is read while it is matched, so a
 * fault in it shows only when the matcher gets there, as in Lua. Instead of calling
 * itself the matcher keeps what it may have to take back (a repetition that could give
 * up a byte, a capture that was opened) as a list of choices on its own stack.
 *
 * Letters, digits and the other classes are those of ASCII, whatever the locale is.
 * The subject and the pattern belong to the caller and outlive the struct. */
#pragma once
#include "text/span.h"
#include <signal.h>
#include <stdint.h>

enum {
    PATTERN_CAPTURES_MAX = 32,
    PATTERN_CHOICES_MAX = 199, /* open at one time; one more is "too complex" */
    PATTERN_SLICE = 4096       /* steps from one look at `stop` to the next */
};

/* Steps that find, match, one step of gmatch or a whole gsub may take: some seconds. A
 * step looks at one byte of the subject. */
#define PATTERN_STEPS_MAX ((uint64_t)1 << 30)

enum pattern_outcome {
    PATTERN_FOUND,
    PATTERN_ABSENT,
    PATTERN_FAULTY,  /* the pattern is wrong */
    PATTERN_COMPLEX, /* more choices than PATTERN_CHOICES_MAX are open */
    PATTERN_ENDLESS, /* steps_left are used up */
    PATTERN_STOPPED  /* *stop is no longer 0 */
};

struct pattern_capture {
    const char *at;
    ptrdiff_t size;                      /* bytes, or one of the two: */
#define PATTERN_OPEN     ((ptrdiff_t)-1) /* not closed */
#define PATTERN_POSITION ((ptrdiff_t)-2) /* `()`: the place alone */
};

struct pattern {
    const char *subject, *subject_end;
    const char *begin, *end; /* of the pattern, behind its anchor */
    bool is_anchored;
    int first_byte; /* of every match; -1: not known */
    uint64_t steps_left;
    const volatile sig_atomic_t *stop; /* may be NULL */

    const char *first, *last; /* what was found: from first up to last */
    int count;                /* captures */
    struct pattern_capture captures[PATTERN_CAPTURES_MAX];
    const char *fault; /* what is wrong, for people; set with PATTERN_FAULTY */
};

/* No search yet; `has_anchor`: a `^` in front binds the match to where the search
 * begins (in gmatch it does not). */
void pattern_init(struct pattern *m, struct span subject, struct span pattern,
                  bool has_anchor);

/* Find the first match that begins at `from` (in the subject or its end) or behind it
 * and does not end at `not_end` (may be NULL). */
enum pattern_outcome pattern_search(struct pattern *m, const char *from,
                                    const char *not_end);

/* Does the pattern mean itself, byte for byte? Lua says so of one with a lone `)` too. */
bool pattern_is_plain(struct span pattern);
