/* journal_vfs.h - the system's files as SQLite sees them, with fault points in front of
 * each write, sync and truncation. Only in use when a fault is asked for (base/fault). */
#pragma once

/* Name for sqlite3_open_v2: NULL, the system's own, when no fault is asked for. */
const char *journal_vfs(void);
