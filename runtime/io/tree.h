/* tree.h - the files of a folder as a value.
 *
 * A tree is files (path, permissions, digest), folders and symbolic links that stay
 * inside. Looking at a folder also brings it into the form that can be made again from
 * its tree: what is no file, folder or such a link is removed and noted, names of one
 * file become files of their own, owners may always read and write, and every time stamp
 * is TREE_TIME. Whoever calls sees to it that nobody else works in the folder. */
#pragma once
#include "base/digest.h"
#include "base/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tree_kind { TREE_FILE, TREE_FOLDER, TREE_LINK };

struct tree_entry {
    enum tree_kind kind;
    unsigned mode; /* permission bits; 0 for links */
    char *path;    /* relative; steps between "/", none of them "." or ".." */
    int64_t size;  /* of a file */
    struct digest digest;
    char *target; /* of a link, else NULL */
};

/* Something that was removed; `why` is a constant. */
struct tree_note {
    char *path; /* valid UTF-8 */
    const char *why;
};

/* Zeroed is empty. */
struct tree {
    struct tree_entry *entries; /* sorted by path, by byte */
    size_t n, cap;
    int64_t bytes;           /* of all files */
    struct tree_note *notes; /* sorted as well */
    size_t note_count;
};

struct tree_limits {
    size_t entries; /* files, folders and links */
    int64_t bytes;  /* of all files */
};

enum {
    TREE_DEPTH_MAX = 64, /* folders in folders */
    TREE_PATH_MAX = 1024,
    TREE_NOTES_MAX = 100, /* what is removed beyond is not noted */
    TREE_TIME = 315532800 /* 1980-01-01 */
};

/* Look at the folder `root`. False with ERR_LIMIT when a limit is passed, the folder
 * being as it is then; ERR_IO otherwise. Free the tree in any case. */
bool tree_scan(const char *root, const struct tree_limits *limits, struct tree *t,
               struct err *e);
void tree_free(struct tree *t);

/* May a file have this path? Relative, valid UTF-8 without zero bytes, no empty step, no
 * "." or "..", within the limits of length and depth. */
bool tree_is_path(const char *path, size_t n);

/* Does a link at `path` with this target stay inside? Its ".." come first and lead no
 * higher than the tree; what follows are steps downwards. */
bool tree_is_inside(const char *path, const char *target);

/* Make an entry below `root`: a file with n bytes, a folder (fine when it is there), a
 * link. A file or link in its place is replaced; the folder it lies in must be there. No
 * link is followed. Digest and size are not looked at. */
bool tree_put(const char *root, const struct tree_entry *entry, const void *p, size_t n,
              struct err *e);
