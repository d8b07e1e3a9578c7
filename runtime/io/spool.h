/* spool.h - texts that wait on disk until their turn comes.
 *
 * Each text is added once and read by the place that adding it gave, any number of
 * times. The first bytes stay in memory; what is beyond them goes to a file without a
 * name, so nothing is left behind however the process ends. Not thread safe. */
#pragma once
#include "base/buf.h"
#include "base/err.h"

enum { SPOOL_IN_MEMORY = 1 << 20 };

struct spool;

/* The file is made in `folder` when it is needed. */
struct spool *spool_new(const char *folder);

/* Add a copy; *place says where. ERR_IO when it cannot be written. */
bool spool_add(struct spool *s, const char *p, size_t n, int64_t *place, struct err *e);

/* Replace the content of `out` by the text at a place that spool_add gave. ERR_IO when it
 * cannot be read whole. */
bool spool_read(struct spool *s, int64_t place, struct buf *out, struct err *e);

void spool_free(struct spool *s);
