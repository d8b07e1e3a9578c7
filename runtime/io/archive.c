/* archive.c - see archive.h. */
#include "io/archive.h"
#include "base/mem.h"
#include <zip.h>

struct archive {
    zip_t *zip;
    size_t count;
};

enum { PIECE = 16384 };

static bool fault(zip_error_t *cause, struct err *e)
{
    err_set(e, ERR_DATA, "the archive cannot be read: %s", zip_error_strerror(cause));
    zip_error_fini(cause);
    return false;
}

static zip_t *open_zip(const char *bytes, size_t n, struct err *e)
{
    if (n == 0) { /* which libzip takes for an archive without entries */
        err_set(e, ERR_DATA, "the archive cannot be read: it has no bytes");
        return NULL;
    }
    zip_error_t cause;
    zip_error_init(&cause);
    zip_source_t *source = zip_source_buffer_create(bytes, n, 0, &cause);
    zip_t *zip = source ? zip_open_from_source(source, ZIP_RDONLY, &cause) : NULL;
    if (!zip) {
        zip_source_free(source);
        fault(&cause, e);
        return NULL;
    }
    zip_error_fini(&cause);
    return zip;
}

struct archive *archive_open(const char *bytes, size_t n, struct err *e)
{
    zip_t *zip = open_zip(bytes, n, e);
    if (!zip)
        return NULL;
    zip_int64_t count = zip_get_num_entries(zip, 0);
    if (count < 0 || count > ARCHIVE_ENTRIES_MAX) {
        zip_discard(zip);
        err_set(e, ERR_LIMIT, "the archive has more than %d entries",
                ARCHIVE_ENTRIES_MAX);
        return NULL;
    }
    struct archive *a = mem_new(sizeof *a);
    *a = (struct archive){ .zip = zip, .count = (size_t)count };
    return a;
}

void archive_close(struct archive *a)
{
    if (!a)
        return;
    zip_discard(a->zip);
    mem_free(a);
}

size_t archive_count(const struct archive *a)
{
    return a->count;
}

const char *archive_name(const struct archive *a, size_t index)
{
    const char *name = zip_get_name(a->zip, index, ZIP_FL_ENC_RAW);
    return name ? name : "";
}

static bool read_all(zip_file_t *file, struct buf *out, struct err *e)
{
    char piece[PIECE];
    for (;;) {
        zip_int64_t n = zip_fread(file, piece, sizeof piece);
        if (n < 0)
            return err_set(e, ERR_DATA, "%s",
                           zip_error_strerror(zip_file_get_error(file)));
        if (n == 0)
            return true;
        if (!buf_add(out, piece, (size_t)n))
            return err_set(e, ERR_LIMIT, "it has more than %zu bytes", out->max);
    }
}

bool archive_read(struct archive *a, size_t index, struct buf *out, struct err *e)
{
    struct err why = { 0 };
    const char *name = archive_name(a, index);
    zip_file_t *file = zip_fopen_index(a->zip, index, 0);
    if (!file)
        return err_set(e, ERR_DATA, "%s in the archive: %s", name, zip_strerror(a->zip));
    bool ok = read_all(file, out, &why);
    zip_fclose(file);
    return ok || err_set(e, why.kind, "%s in the archive: %s", name, why.message);
}
