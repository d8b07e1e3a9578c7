/* Reading ZIP archives from memory. */
#include "base/mem.h"
#include "check.h"
#include "io/archive.h"
#include <string.h>
#include <zip.h>

enum { PACKED = ZIP_CM_DEFLATE, PLAIN = ZIP_CM_STORE };

/* An archive being made: its bytes are in `source` when it is closed. */
struct maker {
    zip_t *zip;
    zip_source_t *source;
};

static struct maker begin(void)
{
    struct maker m = { 0 };
    m.source = zip_source_buffer_create(NULL, 0, 0, NULL);
    m.zip = zip_open_from_source(m.source, ZIP_TRUNCATE, NULL);
    zip_source_keep(m.source);
    return m;
}

static void add(struct maker *m, const char *name, const char *content, int method)
{
    zip_source_t *s = zip_source_buffer(m->zip, content, strlen(content), 0);
    zip_int64_t i = zip_file_add(m->zip, name, s, 0);
    zip_set_file_compression(m->zip, (zip_uint64_t)i, method, 0);
}

static void end(struct maker *m, struct buf *out)
{
    zip_stat_t stat;
    zip_close(m->zip);
    zip_source_open(m->source);
    zip_source_stat(m->source, &stat);
    char *room = buf_room(out, stat.size);
    zip_source_read(m->source, room, stat.size);
    buf_added(out, stat.size);
    zip_source_close(m->source);
    zip_source_free(m->source);
}

static struct buf two_entries(void)
{
    struct buf bytes = { 0 };
    struct maker m = begin();
    add(&m, "games/one.txt", "first first first first", PACKED);
    add(&m, "two.txt", "second", PLAIN);
    zip_dir_add(m.zip, "empty", 0);
    end(&m, &bytes);
    return bytes;
}

static void test_reads(void)
{
    struct err e = { 0 };
    struct buf bytes = two_entries(), out = { 0 };
    struct archive *a = archive_open(bytes.ptr, bytes.len, &e);
    CHECK(a);
    CHECK_INT(archive_count(a), 3);
    CHECK_TEXT(archive_name(a, 0), "games/one.txt");
    CHECK_TEXT(archive_name(a, 2), "empty/");
    CHECK(archive_read(a, 1, &out, &e));
    CHECK(archive_read(a, 0, &out, &e));
    CHECK_TEXT(buf_text(&out), "secondfirst first first first");
    archive_close(a);
    buf_free(&out);
    buf_free(&bytes);
}

static void test_limit(void)
{
    struct err e = { 0 };
    struct buf bytes = two_entries(), exact = { .max = 23 }, small = { .max = 22 };
    struct archive *a = archive_open(bytes.ptr, bytes.len, &e);
    CHECK(archive_read(a, 0, &exact, &e));
    CHECK(!archive_read(a, 0, &small, &e));
    CHECK_INT(e.kind, ERR_LIMIT);
    CHECK_TEXT(e.message, "games/one.txt in the archive: it has more than 22 bytes");
    archive_close(a);
    buf_free(&exact);
    buf_free(&bytes);
}

static void test_damaged(void)
{
    struct err e = { 0 };
    struct buf bytes = two_entries(), out = { 0 };
    char *content = memmem(bytes.ptr, bytes.len, "second", 6);
    CHECK(content);
    *content = 'S';
    struct archive *a = archive_open(bytes.ptr, bytes.len, &e);
    CHECK(a);
    CHECK(!archive_read(a, 1, &out, &e));
    CHECK_INT(e.kind, ERR_DATA);
    CHECK_TEXT(e.message, "two.txt in the archive: CRC error");
    archive_close(a);
    buf_free(&out);
    buf_free(&bytes);
}

static void test_no_archive(void)
{
    struct err e = { 0 };
    CHECK(!archive_open("no archive", 10, &e));
    CHECK_INT(e.kind, ERR_DATA);
    CHECK_TEXT(e.message, "the archive cannot be read: Not a zip archive");
    CHECK(!archive_open("", 0, &e));
    archive_close(NULL);
}

static void test_cut(void)
{
    struct buf bytes = two_entries();
    for (size_t n = 0; n < bytes.len; n++) {
        struct err e = { 0 };
        char *part = mem_copy(bytes.ptr, n);
        struct archive *a = archive_open(part, n, &e);
        CHECK(!a && e.kind == ERR_DATA);
        archive_close(a);
        mem_free(part);
    }
    buf_free(&bytes);
}

int main(void)
{
    check_run("entries are listed and unpacked", test_reads);
    check_run("the ceiling of the buffer is the limit of an entry", test_limit);
    check_run("a changed byte is found by the checksum", test_damaged);
    check_run("other bytes are no archive", test_no_archive);
    check_run("a cut archive is refused whatever is missing", test_cut);
    return check_end();
}
