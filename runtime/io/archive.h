/* archive.h - reading a ZIP archive that is in memory.
 *
 * libzip reads the list of entries when the archive is opened; an entry is unpacked
 * when it is asked for, its checksum proved. The archive looks into the caller's bytes,
 * which must stay until it is closed. Not thread safe. */
#pragma once
#include "base/buf.h"
#include "base/err.h"

struct archive;

/* Entries an archive may have. */
enum { ARCHIVE_ENTRIES_MAX = 1000000 };

/* Open an archive of n bytes. NULL on error: kind data, or limit for too many entries.
 * Close it in any case. */
struct archive *archive_open(const char *bytes, size_t n, struct err *e);
void archive_close(struct archive *a);

size_t archive_count(const struct archive *a);

/* Name of an entry as the archive has it: any bytes, "/" between folders and at the end
 * of a folder's own entry; "" when it has none. Lives as long as the archive. */
const char *archive_name(const struct archive *a, size_t index);

/* Append the content of an entry; the ceiling of `out` is the limit. False with kind
 * data when it is damaged or packed in a way that cannot be undone, limit when it is
 * too large; `out` then holds a part of it. */
bool archive_read(struct archive *a, size_t index, struct buf *out, struct err *e);
