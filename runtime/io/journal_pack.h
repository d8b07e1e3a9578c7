/* journal_pack.h - how the data of a row is stored: one byte, 0 or 1, then the bytes
 * as they are or as one zstd frame. Small data and data that does not shrink stay as
 * they are. A packer keeps the memory zstd works in; one thread at a time. */
#pragma once
#include "base/buf.h"
#include "base/err.h"

enum { PACK_THRESHOLD = 256, PACK_LEVEL = 1 };

struct packer;
struct packer *packer_new(void);
void packer_free(struct packer *p);

/* Append the stored form of n bytes to `out`. */
bool packer_pack(struct packer *p, struct buf *out, const void *data, size_t n);

/* Append the bytes again. ERR_IO when they are damaged, ERR_LIMIT when they would not
 * fit below out->max; `out` is then as before. */
bool packer_unpack(struct packer *p, struct buf *out, const void *stored, size_t n,
                   struct err *e);
