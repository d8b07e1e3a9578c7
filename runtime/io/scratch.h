/* scratch.h - a private folder for files that end with the program.
 *
 * It lies in $TMPDIR (/tmp), its name has always the same length, nobody else may look
 * into it. While the program lives it holds a lock on it; what a killed program left
 * behind is recognised by the missing lock, and removed by the next one. The lock does
 * not outlive the program: no child gets its descriptor. */
#pragma once
#include "base/err.h"

struct scratch;

/* Make the folder, remove those that were left behind. NULL on error. */
struct scratch *scratch_open(struct err *e);

/* Its absolute path, links resolved. */
const char *scratch_path(const struct scratch *s);

/* Remove it with all that is in it; NULL is fine. */
void scratch_close(struct scratch *s);
