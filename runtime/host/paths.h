/* paths.h - where the program's own files are.
 *
 * The tree (lua/, configs/, data/, ckpt/) is the first of: $SKILLOPT_HOME, the
 * source tree the binary was built in (build/<mode>/skillopt), ../share/skillopt
 * beside the binary's folder. No path is fixed when the program is built, so an
 * installed prefix can be moved. */
#pragma once
#include "base/err.h"

/* Absolute path without a trailing slash; the caller frees it (mem_free). NULL and
 * an err of kind `io` that lists the places looked at. */
char *paths_home(struct err *e);
