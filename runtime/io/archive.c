/* archive.c - see archive.h. */
#include "io/archive.h"
#include "base/mem.h"
#include "io/zip_late.h"

struct archive {
    zip_t *handle;
    size_t count;
};

enum { PIECE = 16384 };

static bool fault(zip_error_t *cause, struct err *e)
{
    err_set(e, ERR_DATA, "the archive cannot be read: %s", zip.error_strerror(cause));
    zip.error_fini(cause);
    return false;
}

static zip_t *open_zip(const char *bytes, size_t n, struct err *e)
{
    if (n == 0) { /* which libzip takes for an archive without entries */
        err_set(e, ERR_DATA, "the archive cannot be read: it has no bytes");
        return NULL;
    }
    zip_error_t cause;
    zip.error_init(&cause);
    zip_source_t *source = zip.source_buffer_create(bytes, n, 0, &cause);
    zip_t *opened = source ? zip.open_from_source(source, ZIP_RDONLY, &cause) : NULL;
    if (!opened) {
        zip.source_free(source);
        fault(&cause, e);
        return NULL;
    }
    zip.error_fini(&cause);
    return opened;
}

struct archive *archive_open(const char *bytes, size_t n, struct err *e)
{
    zip_t *opened = zip_load(e) ? open_zip(bytes, n, e) : NULL;
    if (!opened)
        return NULL;
    zip_int64_t count = zip.get_num_entries(opened, 0);
    if (count < 0 || count > ARCHIVE_ENTRIES_MAX) {
        zip.discard(opened);
        err_set(e, ERR_LIMIT, "the archive has more than %d entries",
                ARCHIVE_ENTRIES_MAX);
        return NULL;
    }
    struct archive *a = mem_new(sizeof *a);
    *a = (struct archive){ .handle = opened, .count = (size_t)count };
    return a;
}

void archive_close(struct archive *a)
{
    if (!a)
        return;
    zip.discard(a->handle);
    mem_free(a);
}

size_t archive_count(const struct archive *a)
{
    return a->count;
}

const char *archive_name(const struct archive *a, size_t index)
{
    const char *name = zip.get_name(a->handle, index, ZIP_FL_ENC_RAW);
    return name ? name : "";
}

static bool read_all(zip_file_t *file, struct buf *out, struct err *e)
{
    char piece[PIECE];
    for (;;) {
        zip_int64_t n = zip.fread(file, piece, sizeof piece);
        if (n < 0)
            return err_set(e, ERR_DATA, "%s",
                           zip.error_strerror(zip.file_get_error(file)));
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
    zip_file_t *file = zip.fopen_index(a->handle, index, 0);
    if (!file)
        return err_set(e, ERR_DATA, "%s in the archive: %s", name,
                       zip.strerror(a->handle));
    bool ok = read_all(file, out, &why);
    zip.fclose(file);
    return ok || err_set(e, why.kind, "%s in the archive: %s", name, why.message);
}
