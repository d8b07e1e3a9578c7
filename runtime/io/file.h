/* file.h - files and folders, read whole and written whole.
 *
 * A file is replaced by writing `.NAME.tmp` beside it and renaming that, so a
 * reader sees the old bytes or the new ones and a killed process leaves at most
 * one temporary file, which the next write of the same name takes over. What is
 * removed is found below a root, step by step, without following links. Errors
 * are ERR_IO with the path, the system's words and a hint; ERR_LIMIT when
 * something is larger than allowed. Safe from any thread. */
#pragma once
#include "base/buf.h"
#include "base/err.h"
#include <stdint.h>

enum file_kind { FILE_NONE, FILE_REGULAR, FILE_FOLDER, FILE_LINK, FILE_OTHER };

struct file_info {
    enum file_kind kind; /* FILE_NONE: nothing there */
    int64_t size;        /* bytes, 0 unless regular */
    unsigned mode;       /* permission bits */
};

/* What is at `path`; links are followed, a dangling one is FILE_LINK. Nothing there
 * is an answer, not an error. */
bool file_stat(const char *path, struct file_info *info, struct err *e);

/* Append the whole content to `out`; its ceiling is the limit. */
bool file_read(const char *path, struct buf *out, struct err *e);

/* Replace the file in one step; permissions of the old one stay.
 * FILE_SYNC: on disk, name included, before it returns.
 * FILE_KEEP_EQUAL: a file that has these bytes already is left alone. */
enum { FILE_SYNC = 1, FILE_KEEP_EQUAL = 2 };
bool file_write_atomic(const char *path, const void *p, size_t n, unsigned flags,
                       struct err *e);

/* The same for a text that comes in pieces. A draft that is dropped leaves the file as
 * it was. draft_end frees the draft whatever comes of it. */
struct draft;
struct draft *draft_open(const char *path, unsigned flags, struct err *e);
bool draft_add(struct draft *d, const void *p, size_t n, struct err *e);
bool draft_end(struct draft *d, struct err *e);
void draft_drop(struct draft *d);

/* Append up to n bytes from offset `at`, fewer at the end of the file. */
bool file_read_part(const char *path, int64_t at, size_t n, struct buf *out,
                    struct err *e);

/* Make or redirect a symbolic link in one step. */
bool file_write_link(const char *path, const char *target, struct err *e);

/* Make the folder and the ones above it; fine when it is there. */
bool file_make_folder(const char *path, struct err *e);

/* Names in a folder, sorted by byte, without "." and "..". */
struct file_list {
    char **names;
    size_t n;
};
enum { FILE_LIST_MAX = 10000000 };
bool file_list(const char *path, struct file_list *list, struct err *e);
void file_list_free(struct file_list *list);

/* Remove `inside` (relative to the folder `root`) and all below it; fine when it is
 * not there. No step of `inside` may be "..", nor a link; a link at its end is
 * removed, not followed. Other file systems mounted below are not entered. */
bool file_remove_tree(const char *root, const char *inside, struct err *e);

/* Remove one file, link or empty folder; fine when it is not there. */
bool file_remove(const char *path, struct err *e);

/* Append the absolute path, links resolved; the end of it need not exist. */
bool file_absolute(const char *path, struct buf *out, struct err *e);

/* File systems without dependable locks and shared memory (network, FUSE), asked of
 * the nearest part of the path that exists. False when it cannot be told. */
bool file_is_on_network(const char *path);

/* Bytes a user may still write there; -1 when it cannot be told. */
int64_t file_free_bytes(const char *path);

/* Append a name made of bytes that came from data: bytes outside A-Za-z0-9._- and a
 * leading dot become %XX; of an escaped name beyond 100 bytes the first 100 stay
 * (fewer rather than half a %XX) and 16 digits of the whole's SHA-256 follow. Empty
 * text is "%". Different texts give different names. */
enum { FILE_LABEL_KEPT = 100, FILE_LABEL_MAX = FILE_LABEL_KEPT + 16 };
void file_label(struct buf *out, const char *p, size_t n);

/* The same with `~` and 8 digits behind it, for a text that differs from an earlier
 * one by case only. */
void file_label_distinct(struct buf *out, const char *p, size_t n);

/* Fill e for a failed system call on a path: "cannot VERB PATH: words of errno" and
 * a hint where there is one to give. Always false. */
bool file_err(struct err *e, const char *verb, const char *path, int code);
