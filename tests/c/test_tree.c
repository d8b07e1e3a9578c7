/* Trees of files and the scratch folder. */
#include "base/buf.h"
#include "base/mem.h"
#include "check.h"
#include "io/file.h"
#include "io/scratch.h"
#include "io/tree.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static char base[] = "/tmp/skillopt-test-tree-XXXXXX";
static char root[64];
static const struct tree_limits ROOMY = { .entries = 1000, .bytes = 1 << 20 };

/* An empty folder for each test. */
static void fresh(void)
{
    struct err e;
    file_remove_tree(base, "root", &e);
    snprintf(root, sizeof root, "%s/root", base);
    mkdir(root, 0755);
}

static char *at(const char *name)
{
    static char paths[4][2048];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", root, name);
    return path;
}

static void write_file(const char *name, const char *text)
{
    struct err e;
    CHECK(file_write_atomic(at(name), text, strlen(text), 0, &e));
}

/* "file a 644 5, folder b 755, link c -> a": what a scan finds. */
static void describe(const struct tree *t, struct buf *out)
{
    for (size_t i = 0; i < t->n; i++) {
        const struct tree_entry *x = &t->entries[i];
        buf_add_text(out, i ? ", " : "");
        if (x->kind == TREE_LINK)
            buf_add_format(out, "link %s -> %s", x->path, x->target);
        else if (x->kind == TREE_FOLDER)
            buf_add_format(out, "folder %s %o", x->path, x->mode);
        else
            buf_add_format(out, "file %s %o %d", x->path, x->mode, (int)x->size);
    }
    for (size_t i = 0; i < t->note_count; i++)
        buf_add_format(out, "; %s: %s", t->notes[i].path, t->notes[i].why);
}

static void check_scan(const char *want)
{
    struct tree t;
    struct err e = { 0 };
    struct buf text = { 0 };
    CHECK(tree_scan(root, &ROOMY, &t, &e));
    describe(&t, &text);
    CHECK_TEXT(buf_text(&text), want);
    buf_free(&text);
    tree_free(&t);
}

static void check_limit(const struct tree_limits *limits, const char *words)
{
    struct tree t;
    struct err e = { 0 };
    CHECK(!tree_scan(root, limits, &t, &e));
    CHECK_INT(e.kind, ERR_LIMIT);
    CHECK(strstr(e.message, words) != NULL);
    tree_free(&t);
}

/* ---- looking */

static void test_plain(void)
{
    fresh();
    mkdir(at("b"), 0755);
    write_file("b/z", "zz");
    write_file("b-", "");
    write_file("a", "hello");
    chmod(at("a"), 0640);
    chmod(at("b/z"), 0755);
    chmod(at("b-"), 0644);
    check_scan("file a 640 5, folder b 755, file b- 644 0, file b/z 755 2");
}

static void test_digest(void)
{
    struct tree t;
    struct err e = { 0 };
    fresh();
    write_file("a", "hello");
    CHECK(tree_scan(root, &ROOMY, &t, &e));
    struct digest want = digest_of("hello", 5);
    CHECK(memcmp(&t.entries[0].digest, &want, sizeof want) == 0);
    CHECK_INT(t.bytes, 5);
    tree_free(&t);
}

static void test_times(void)
{
    static const char *const names[] = { "d", "d/f", "d/l", "" };
    fresh();
    mkdir(at("d"), 0755);
    write_file("d/f", "x");
    CHECK(symlink("f", at("d/l")) == 0);
    check_scan("folder d 755, file d/f 644 1, link d/l -> f");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct stat s;
        CHECK(lstat(at(names[i]), &s) == 0);
        CHECK_INT(s.st_mtime, TREE_TIME);
        CHECK_INT(s.st_mtim.tv_nsec, 0);
    }
}

static void test_modes(void)
{
    fresh();
    mkdir(at("d"), 0755);
    write_file("d/f", "x");
    write_file("s", "x");
    chmod(at("d/f"), 0);
    chmod(at("s"), 06711);
    chmod(at("d"), 01000);
    check_scan("folder d 700, file d/f 600 1, file s 711 1");
}

static void test_links(void)
{
    fresh();
    mkdir(at("d"), 0755);
    CHECK(symlink("/etc/passwd", at("absolute")) == 0);
    CHECK(symlink("..", at("above")) == 0);
    CHECK(symlink("d", at("d/../below")) == 0);
    CHECK(symlink("nowhere", at("dangling")) == 0);
    CHECK(symlink("../below/x", at("d/side")) == 0);
    CHECK(symlink("below/../../x", at("through")) == 0);
    CHECK(symlink("../..", at("d/up")) == 0);
    check_scan("link below -> d, folder d 755, link d/side -> ../below/x, "
               "link dangling -> nowhere"
               "; above: a link that leads outside; absolute: a link that leads outside"
               "; d/up: a link that leads outside; through: a link that leads outside");
}

static void test_other_kinds(void)
{
    fresh();
    CHECK(mkfifo(at("pipe"), 0644) == 0);
    check_scan("; pipe: neither a file nor a folder nor a link");
    CHECK(access(at("pipe"), F_OK) != 0);
}

static void test_names_of_one_file(void)
{
    struct stat a, b, outside;
    char path[128];
    struct err e;
    fresh();
    snprintf(path, sizeof path, "%s/outside", base);
    CHECK(file_write_atomic(path, "mine", 4, 0, &e));
    chmod(path, 0444);
    CHECK(link(path, at("theirs")) == 0);
    write_file("one", "same");
    CHECK(link(at("one"), at("two")) == 0);
    check_scan("file one 644 4, file theirs 644 4, file two 644 4");
    CHECK(stat(at("one"), &a) == 0 && stat(at("two"), &b) == 0);
    CHECK(a.st_ino != b.st_ino);
    CHECK(stat(path, &outside) == 0);
    CHECK_INT(outside.st_mode & 0777, 0444);
    CHECK_INT(outside.st_nlink, 1);
    unlink(path);
}

static void test_names_no_text(void)
{
    fresh();
    write_file("\xff", "x");
    mkdir(at("d\xc3"), 0755);
    write_file("d\xc3/f", "x");
    write_file("\xc3\xa9", "x");
    struct tree t;
    struct err e = { 0 };
    CHECK(tree_scan(root, &ROOMY, &t, &e));
    CHECK_INT(t.n, 1);
    CHECK_INT(t.note_count, 2);
    CHECK_TEXT(t.entries[0].path, "\xc3\xa9");
    CHECK_TEXT(t.notes[0].why, "a name that is no UTF-8");
    tree_free(&t);
}

/* ---- limits */

static void test_too_many(void)
{
    struct tree_limits two = { .entries = 2, .bytes = 100 };
    fresh();
    write_file("a", "");
    write_file("b", "");
    check_scan("file a 644 0, file b 644 0");
    write_file("c", "");
    check_limit(&two, "more than 2 files");
}

static void test_too_large(void)
{
    struct tree_limits small = { .entries = 10, .bytes = 8 };
    struct tree t;
    struct err e = { 0 };
    fresh();
    write_file("a", "1234");
    write_file("b", "5678");
    CHECK(tree_scan(root, &small, &t, &e));
    tree_free(&t);
    write_file("c", "9");
    check_limit(&small, "more than 8 bytes");
}

/* Its size is known before it is read. */
static void test_sparse(void)
{
    fresh();
    write_file("a", "");
    CHECK(truncate(at("a"), (off_t)1 << 40) == 0);
    check_limit(&ROOMY, "more than 1048576 bytes");
}

static void test_too_deep(void)
{
    struct buf path = { 0 };
    fresh();
    buf_add_text(&path, root);
    for (int i = 0; i <= TREE_DEPTH_MAX; i++) {
        buf_add_text(&path, "/d");
        CHECK(mkdir(buf_text(&path), 0755) == 0);
    }
    buf_free(&path);
    check_limit(&ROOMY, "folders in each other");
}

/* ---- making */

static bool put(enum tree_kind kind, const char *path, unsigned mode, const char *text)
{
    struct tree_entry x = { .kind = kind, .mode = mode, .path = (char *)path };
    struct err e = { 0 };
    if (kind == TREE_LINK)
        x.target = (char *)text;
    return tree_put(root, &x, text, text ? strlen(text) : 0, &e);
}

static void test_put(void)
{
    fresh();
    CHECK(put(TREE_FOLDER, "d", 0711, NULL));
    CHECK(put(TREE_FOLDER, "d", 0755, NULL));
    CHECK(put(TREE_FILE, "d/f", 0755, "text"));
    CHECK(put(TREE_FILE, "d/f", 0644, "other text"));
    CHECK(put(TREE_LINK, "l", 0, "d/f"));
    CHECK(put(TREE_LINK, "d/f2", 0, "f"));
    CHECK(put(TREE_FILE, "d/f2", 0600, "a file now"));
    check_scan("folder d 755, file d/f 644 10, file d/f2 600 10, link l -> d/f");
}

static void test_put_follows_no_link(void)
{
    char outside[64];
    fresh();
    snprintf(outside, sizeof outside, "%s/out", base);
    mkdir(outside, 0755);
    CHECK(symlink("../out", at("l")) == 0);
    CHECK(!put(TREE_FILE, "l/f", 0644, "x"));
    CHECK(!put(TREE_FOLDER, "l", 0755, NULL));
    CHECK(put(TREE_FILE, "l", 0644, "x"));
    CHECK(rmdir(outside) == 0);
}

static void test_put_without_folder(void)
{
    struct tree_entry x = { .kind = TREE_FILE, .mode = 0644, .path = (char *)"none/f" };
    struct err e = { 0 };
    fresh();
    CHECK(!tree_put(root, &x, "x", 1, &e));
    CHECK_INT(e.kind, ERR_IO);
}

static void test_paths(void)
{
    static const char *const good[] = {
        "a", "a/b", ".a", "..a", "a..", "\xc3\xa9", "a b"
    };
    static const char *const bad[] = { "",     "/a",   "a/",    "a//b", ".",
                                       "..",   "a/..", "../a",  "./a",  "a/./b",
                                       "\xff", "/",    "a/../b" };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        CHECK(tree_is_path(good[i], strlen(good[i])));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(!tree_is_path(bad[i], strlen(bad[i])));
    CHECK(!tree_is_path("a\0b", 3));
    char longer[TREE_PATH_MAX + 2];
    memset(longer, 'a', sizeof longer);
    for (size_t i = 100; i < sizeof longer; i += 100)
        longer[i] = '/';
    CHECK(tree_is_path(longer, TREE_PATH_MAX));
    CHECK(!tree_is_path(longer, TREE_PATH_MAX + 1));
}

static void test_targets(void)
{
    CHECK(tree_is_inside("a/b/l", "../../c"));
    CHECK(tree_is_inside("a/l", ".."));
    CHECK(tree_is_inside("l", "..a/b.."));
    CHECK(!tree_is_inside("l", ".."));
    CHECK(!tree_is_inside("a/l", "../.."));
    CHECK(!tree_is_inside("a/l", "b/.."));
    CHECK(!tree_is_inside("a/l", "b/../c"));
    CHECK(!tree_is_inside("l", "/a"));
    CHECK(!tree_is_inside("l", ""));
}

/* ---- the scratch folder */

static void test_scratch(void)
{
    struct err e = { 0 };
    struct stat s;
    char left[128], held[128];
    setenv("TMPDIR", base, 1);
    snprintf(left, sizeof left, "%s/skillopt-work-aaaaaa", base);
    snprintf(held, sizeof held, "%s/skillopt-work-bbbbbb", base);
    mkdir(left, 0700);
    mkdir(held, 0700);
    int fd = open(held, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK(flock(fd, LOCK_EX) == 0);
    struct scratch *one = scratch_open(&e);
    struct scratch *two = scratch_open(&e);
    if (CHECK(one && two)) {
        CHECK(strcmp(scratch_path(one), scratch_path(two)) != 0);
        CHECK(stat(scratch_path(one), &s) == 0 && (s.st_mode & 0777) == 0700);
    }
    CHECK(access(left, F_OK) != 0);
    CHECK(access(held, F_OK) == 0);
    char *path = mem_copy(scratch_path(one), strlen(scratch_path(one)));
    scratch_close(one);
    CHECK(access(path, F_OK) != 0);
    mem_free(path);
    scratch_close(two);
    scratch_close(NULL);
    close(fd);
}

int main(void)
{
    struct err e;
    umask(022);
    if (!mkdtemp(base))
        return 1;
    check_run("a scan finds files and folders, sorted by byte", test_plain);
    check_run("a file is known by its digest", test_digest);
    check_run("all times are one time", test_times);
    check_run("owners may read and write, special bits go", test_modes);
    check_run("links that lead outside are removed and noted", test_links);
    check_run("what is no file, folder or link is removed", test_other_kinds);
    check_run("two names of one file become two files", test_names_of_one_file);
    check_run("names that are no text are removed with what they hold",
              test_names_no_text);
    check_run("too many files are refused", test_too_many);
    check_run("too many bytes are refused", test_too_large);
    check_run("a large file is refused without reading it", test_sparse);
    check_run("folders too deep are refused", test_too_deep);
    check_run("what is put is found", test_put);
    check_run("putting follows no link", test_put_follows_no_link);
    check_run("a file needs its folder", test_put_without_folder);
    check_run("paths lead nowhere but down", test_paths);
    check_run("targets of links stay inside", test_targets);
    check_run("the scratch folder is private and goes away", test_scratch);
    file_remove_tree("/tmp", base + strlen("/tmp/"), &e);
    return check_end();
}
