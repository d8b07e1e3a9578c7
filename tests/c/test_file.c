/* Files and folders: whole reads, whole writes, removal below a root, names. */
#include "base/mem.h"
#include "check.h"
#include "io/file.h"
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[64];

/* "root/NAME"; valid until the fourth call from now. */
static const char *at(const char *name)
{
    static char paths[4][8192];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", root, name);
    return path;
}

static void put(const char *name, const char *text)
{
    struct err e;
    CHECK(file_write_atomic(at(name), text, strlen(text), 0, &e));
}

static bool has(const char *name, const char *text)
{
    struct buf b = { 0 };
    bool ok = file_read(at(name), &b, NULL) && strcmp(buf_text(&b), text) == 0;
    buf_free(&b);
    return ok;
}

static enum file_kind kind(const char *name)
{
    struct file_info info;
    CHECK(file_stat(at(name), &info, NULL));
    return info.kind;
}

static ino_t inode(const char *name)
{
    struct stat s;
    return stat(at(name), &s) == 0 ? s.st_ino : 0;
}

static void written_text_is_read_back(void)
{
    put("a.txt", "one\n");
    CHECK(has("a.txt", "one\n"));
    put("a.txt", "");
    CHECK(has("a.txt", ""));
    CHECK(kind(".a.txt.tmp") == FILE_NONE);
}

static void a_synced_write_is_the_same_file(void)
{
    CHECK(file_write_atomic(at("synced"), "x", 1, FILE_SYNC, NULL));
    CHECK(has("synced", "x"));
}

static void a_large_file_is_read_whole(void)
{
    size_t n = 1000003;
    char *bytes = mem_new(n);
    for (size_t i = 0; i < n; i++)
        bytes[i] = (char)(i * 31);
    struct buf b = { 0 };
    CHECK(file_write_atomic(at("large"), bytes, n, 0, NULL));
    CHECK(file_read(at("large"), &b, NULL));
    CHECK(b.len == n && memcmp(b.ptr, bytes, n) == 0);
    CHECK(file_write_atomic(at("large"), bytes, n, FILE_KEEP_EQUAL, NULL));
    buf_free(&b);
    mem_free(bytes);
}

static void a_file_without_a_size_is_read_whole(void)
{
    struct buf b = { 0 };
    CHECK(file_read("/proc/self/status", &b, NULL));
    CHECK(strstr(buf_text(&b), "Threads:") != NULL);
    buf_free(&b);
}

static void a_file_above_the_limit_is_refused(void)
{
    put("ten", "0123456789");
    struct buf b = { .max = 9 };
    struct err e;
    CHECK(!file_read(at("ten"), &b, &e));
    CHECK_INT(e.kind, ERR_LIMIT);
    CHECK(strstr(e.message, "larger than 9 bytes") != NULL);
    buf_free(&b);
    b = (struct buf){ .max = 10 };
    CHECK(file_read(at("ten"), &b, &e));
    CHECK_TEXT(buf_text(&b), "0123456789");
    buf_free(&b);
}

static void a_missing_file_is_named_with_a_hint(void)
{
    struct buf b = { 0 };
    struct err e;
    CHECK(!file_read("/nowhere/x.yaml", &b, &e));
    CHECK_INT(e.kind, ERR_IO);
    CHECK_TEXT(e.message, "cannot open /nowhere/x.yaml: No such file or directory");
    CHECK(strstr(e.hint, "working directory") != NULL);
}

static void a_folder_is_not_read_or_written_as_a_file(void)
{
    struct buf b = { 0 };
    struct err e;
    CHECK(!file_read(root, &b, &e));
    CHECK(strstr(e.message, "Is a directory") != NULL);
    CHECK(!file_write_atomic(at("x/"), "", 0, 0, &e));
    CHECK_INT(e.kind, ERR_IO);
    CHECK(!file_write_atomic(at(".."), "", 0, 0, &e));
    file_make_folder(at("folder"), NULL);
    CHECK(!file_write_atomic(at("folder"), "", 0, 0, &e));
    CHECK(kind(".folder.tmp") == FILE_NONE);
    buf_free(&b);
}

static void an_equal_file_is_left_alone_only_on_request(void)
{
    put("same", "abc");
    ino_t before = inode("same");
    CHECK(file_write_atomic(at("same"), "abc", 3, FILE_KEEP_EQUAL, NULL));
    CHECK(inode("same") == before);
    CHECK(file_write_atomic(at("same"), "abd", 3, FILE_KEEP_EQUAL, NULL));
    CHECK(has("same", "abd"));
    before = inode("same");
    CHECK(file_write_atomic(at("same"), "abd", 3, 0, NULL));
    CHECK(inode("same") != before);
}

static void a_replaced_file_keeps_its_permissions(void)
{
    struct file_info info;
    put("private", "1");
    CHECK(chmod(at("private"), 0600) == 0);
    put("private", "2");
    CHECK(file_stat(at("private"), &info, NULL));
    CHECK_INT(info.mode, 0600);
    CHECK_INT(info.size, 1);
}

static void a_left_over_temporary_file_is_taken_over(void)
{
    put(".kept.tmp", "torn and longer");
    put("kept", "new");
    CHECK(has("kept", "new"));
    CHECK(kind(".kept.tmp") == FILE_NONE);
}

static void a_temporary_name_that_is_a_link_is_not_followed(void)
{
    put("victim", "whole");
    CHECK(symlink(at("victim"), at(".lure.tmp")) == 0);
    struct err e;
    CHECK(!file_write_atomic(at("lure"), "x", 1, 0, &e));
    CHECK(has("victim", "whole"));
}

static void the_longest_name_can_be_written(void)
{
    char name[256];
    memset(name, 'n', 255);
    name[255] = '\0';
    put(name, "long");
    CHECK(has(name, "long"));
    struct err e;
    char longer[257];
    memset(longer, 'n', 256);
    longer[256] = '\0';
    CHECK(!file_write_atomic(at(longer), "", 0, 0, &e));
    CHECK(strstr(e.message, "File name too long") != NULL);
}

struct often {
    const char *path;
    char letter;
};

static void *write_often(void *arg)
{
    const struct often *o = arg;
    char text[4096];
    memset(text, o->letter, sizeof text);
    for (int i = 0; i < 200; i++)
        CHECK(file_write_atomic(o->path, text, sizeof text, 0, NULL));
    return NULL;
}

static void two_writers_of_one_name_leave_whole_files(void)
{
    pthread_t thread;
    const char *path = at("shared"); /* static memory, of this thread */
    struct often a = { path, 'a' }, b = { path, 'b' };
    pthread_create(&thread, NULL, write_often, &a);
    write_often(&b);
    pthread_join(thread, NULL);
    struct buf text = { 0 };
    CHECK(file_read(at("shared"), &text, NULL));
    CHECK_INT(text.len, 4096);
    CHECK(text.ptr[0] == text.ptr[4095]);
    CHECK(kind(".shared.tmp") == FILE_NONE);
    buf_free(&text);
}

static void a_link_is_redirected_in_one_step(void)
{
    char target[64] = "";
    CHECK(file_write_link(at("latest"), "0001", NULL));
    CHECK(file_write_link(at("latest"), "0002", NULL));
    CHECK(file_write_link(at("latest"), "0002", NULL));
    CHECK(readlink(at("latest"), target, sizeof target - 1) == 4);
    CHECK_TEXT(target, "0002");
    CHECK(kind("latest") == FILE_LINK);
}

static void folders_are_made_on_the_way(void)
{
    struct err e;
    CHECK(file_make_folder(at("p/q//r/"), NULL));
    CHECK(file_make_folder(at("p/q/r"), NULL));
    CHECK(kind("p/q/r") == FILE_FOLDER);
    put("p/file", "");
    CHECK(!file_make_folder(at("p/file/below"), &e));
    CHECK(strstr(e.message, "make the folder") != NULL);
    CHECK(!file_make_folder("", &e));
}

static void a_list_is_sorted_by_byte(void)
{
    struct file_list list;
    file_make_folder(at("list"), NULL);
    put("list/b", "");
    put("list/a", "");
    put("list/B", "");
    put("list/\xc3\xa9", "");
    put("list/.hidden", "");
    CHECK(file_list(at("list"), &list, NULL));
    CHECK_INT(list.n, 5);
    CHECK_TEXT(list.names[0], ".hidden");
    CHECK_TEXT(list.names[1], "B");
    CHECK_TEXT(list.names[2], "a");
    CHECK_TEXT(list.names[3], "b");
    CHECK_TEXT(list.names[4], "\xc3\xa9");
    file_list_free(&list);
    struct err e;
    CHECK(!file_list(at("list/a"), &list, &e));
    CHECK_INT(list.n, 0);
}

static void a_tree_is_removed_with_its_locked_folders(void)
{
    file_make_folder(at("tree/x/y/z"), NULL);
    file_make_folder(at("tree/1/2"), NULL);
    put("tree/x/f", "");
    put("tree/x/y/f", "");
    put("tree/x/y/z/f", "");
    CHECK(chmod(at("tree/x/y"), 0) == 0);
    CHECK(chmod(at("tree/1"), 0500) == 0);
    CHECK(file_remove_tree(root, "tree", NULL));
    CHECK(kind("tree") == FILE_NONE);
    CHECK(file_remove_tree(root, "tree", NULL));
    CHECK(file_remove_tree(at("no-root"), "x", NULL));
}

/* Deeper than any path the system takes in one call. */
static void a_tree_of_any_depth_is_removed(void)
{
    int dir = open(root, O_RDONLY | O_DIRECTORY);
    for (int i = 0; i < 6000; i++) {
        CHECK(mkdirat(dir, "d", 0700) == 0);
        int next = openat(dir, "d", O_RDONLY | O_DIRECTORY);
        close(dir);
        dir = next;
    }
    close(dir);
    CHECK(file_remove_tree(root, "d", NULL));
    CHECK(kind("d") == FILE_NONE);
}

static void removal_does_not_follow_links(void)
{
    struct err e;
    file_make_folder(at("outside"), NULL);
    put("outside/precious", "1");
    file_make_folder(at("inside"), NULL);
    CHECK(symlink(at("outside"), at("inside/link")) == 0);
    CHECK(!file_remove_tree(root, "inside/link/precious", &e));
    CHECK(has("outside/precious", "1"));
    CHECK(file_remove_tree(root, "inside", NULL));
    CHECK(has("outside/precious", "1"));
    CHECK(symlink("outside", at("alias")) == 0);
    CHECK(file_remove_tree(root, "alias", NULL));
    CHECK(has("outside/precious", "1"));
}

static void removal_stays_below_its_root(void)
{
    static const char *const paths[] = { "",    ".",    "..",     "/tmp", "x/..",
                                         "../", "./..", "x/../y", "/",    "//" };
    file_make_folder(at("x"), NULL);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct err e = { 0 };
        CHECK(!file_remove_tree(root, paths[i], &e));
        CHECK_INT(e.kind, ERR_USAGE);
    }
    CHECK(kind("x") == FILE_FOLDER);
}

static void one_thing_is_removed_or_was_never_there(void)
{
    struct err e;
    put("gone", "");
    CHECK(file_remove(at("gone"), NULL));
    CHECK(file_remove(at("gone"), NULL));
    file_make_folder(at("full"), NULL);
    put("full/f", "");
    CHECK(!file_remove(at("full"), &e));
    CHECK(strstr(e.message, "not empty") != NULL);
    CHECK(file_remove(at("full/f"), NULL));
    CHECK(file_remove(at("full"), NULL));
}

static void kinds_are_told_apart(void)
{
    put("regular", "12345");
    CHECK(kind("regular") == FILE_REGULAR);
    CHECK(kind(".") == FILE_FOLDER);
    CHECK(kind("regular/below") == FILE_NONE);
    CHECK(symlink("nowhere", at("dangling")) == 0);
    CHECK(kind("dangling") == FILE_LINK);
    CHECK(symlink("round", at("round")) == 0);
    CHECK(kind("round") == FILE_LINK);
    CHECK(mkfifo(at("pipe"), 0600) == 0);
    CHECK(kind("pipe") == FILE_OTHER);
}

static const char *absolute(const char *path)
{
    static struct buf b;
    struct err e;
    buf_free(&b);
    return file_absolute(path, &b, &e) ? buf_text(&b) : "";
}

static void absolute_paths_resolve_links_and_keep_what_is_not_there(void)
{
    struct err e;
    struct buf b = { 0 };
    file_make_folder(at("real"), NULL);
    CHECK(symlink("real", at("name")) == 0);
    CHECK_TEXT(absolute(at("name")), at("real"));
    CHECK_TEXT(absolute(at("name/new//./x/")), at("real/new/x"));
    CHECK_TEXT(absolute("/"), "/");
    CHECK_TEXT(absolute("/no-such-folder"), "/no-such-folder");
    int before = open(".", O_RDONLY | O_DIRECTORY);
    CHECK(chdir(root) == 0);
    CHECK_TEXT(absolute("new"), at("new"));
    CHECK_TEXT(absolute("."), root);
    CHECK(fchdir(before) == 0);
    close(before);
    CHECK(!file_absolute(at("new/../y"), &b, &e));
    CHECK(!file_absolute("", &b, &e));
    buf_free(&b);
}

static void file_systems_are_asked_where_the_path_begins(void)
{
    CHECK(!file_is_on_network("/proc"));
    CHECK(file_is_on_network(at("not/there")) == file_is_on_network(root));
    CHECK(file_free_bytes(at("not/there")) > 0);
}

static const char *label(const char *text, size_t n, bool is_distinct)
{
    static struct buf b;
    buf_free(&b);
    (is_distinct ? file_label_distinct : file_label)(&b, text, n);
    return buf_text(&b);
}

#define LABEL(text) label((text), sizeof(text) - 1, false)

static void labels_escape_what_a_path_could_misread(void)
{
    CHECK_TEXT(LABEL("q17"), "q17");
    CHECK_TEXT(LABEL("docs/q1"), "docs%2Fq1");
    CHECK_TEXT(LABEL("../../escape"), "%2E.%2F..%2Fescape");
    CHECK_TEXT(LABEL("/abs"), "%2Fabs");
    CHECK_TEXT(LABEL("2025-12:046"), "2025-12%3A046");
    CHECK_TEXT(LABEL("."), "%2E");
    CHECK_TEXT(LABEL("a.b"), "a.b");
    CHECK_TEXT(LABEL("nul\0x"), "nul%00x");
    CHECK_TEXT(LABEL(""), "%");
    CHECK_TEXT(LABEL("%"), "%25");
    CHECK_TEXT(LABEL("a~2"), "a%7E2");
    CHECK_TEXT(LABEL("\xe6\xa8\x99"), "%E6%A8%99");
}

static void long_labels_end_in_digits_of_the_whole(void)
{
    char text[256];
    memset(text, 'a', sizeof text);
    CHECK_INT(strlen(label(text, 100, false)), 100);
    CHECK_INT(strlen(label(text, 101, false)), 116);
    char first[FILE_LABEL_MAX + 1];
    snprintf(first, sizeof first, "%s", label(text, 200, false));
    CHECK_INT(strspn(first, "a") >= 100, 1);
    text[199] = 'b';
    CHECK(strcmp(first, label(text, 200, false)) != 0);
    memset(text, '/', sizeof text);
    CHECK_INT(strlen(label(text, 33, false)), 99);
    CHECK_INT(strlen(label(text, 34, false)), 99 + 16);
}

static void labels_that_differ_by_case_get_digits(void)
{
    char first[FILE_LABEL_MAX + 16];
    snprintf(first, sizeof first, "%s", label("Q1", 2, true));
    CHECK(strncmp(first, "Q1~", 3) == 0);
    CHECK_INT(strlen(first), 2 + 1 + 8);
    CHECK(strcmp(first + 3, label("q1", 2, true) + 3) != 0);
}

/* Each "id" string of the case file, its escapes undone as far as it uses them. */
static size_t next_id(const char **p, char *id)
{
    const char *start = strstr(*p, "\"id\": \"");
    if (!start)
        return SIZE_MAX;
    size_t n = 0;
    for (start += 7; *start != '"'; start++) {
        bool is_nul = strncmp(start, "\\u0000", 6) == 0;
        id[n++] = is_nul ? '\0' : *start;
        start += is_nul ? 5 : 0;
    }
    *p = start;
    return n;
}

static void hostile_ids_become_folders_of_their_own(void)
{
    struct buf text = { 0 };
    char id[1024], seen[16][FILE_LABEL_MAX + 1];
    size_t count = 0;
    if (!CHECK(file_read("tests/cases/d02_hostile_ids.json", &text, NULL)))
        return;
    const char *p = buf_text(&text);
    for (size_t n = next_id(&p, id); n != SIZE_MAX; n = next_id(&p, id)) {
        const char *name = label(id, n, false);
        CHECK(strlen(name) <= FILE_LABEL_MAX && name[0] != '.' && !strchr(name, '/'));
        for (size_t i = 0; i < count; i++)
            CHECK(strcmp(seen[i], name) != 0);
        snprintf(seen[count++], sizeof seen[0], "%s", name);
    }
    CHECK_INT(count, 11);
    buf_free(&text);
}

static const struct {
    const char *name;
    void (*run)(void);
} tests[] = {
    { "written text is read back", written_text_is_read_back },
    { "a synced write is the same file", a_synced_write_is_the_same_file },
    { "a large file is read whole", a_large_file_is_read_whole },
    { "a file without a size is read whole", a_file_without_a_size_is_read_whole },
    { "a file above the limit is refused", a_file_above_the_limit_is_refused },
    { "a missing file is named with a hint", a_missing_file_is_named_with_a_hint },
    { "a folder is not read or written as a file",
      a_folder_is_not_read_or_written_as_a_file },
    { "an equal file is left alone only on request",
      an_equal_file_is_left_alone_only_on_request },
    { "a replaced file keeps its permissions", a_replaced_file_keeps_its_permissions },
    { "a left-over temporary file is taken over",
      a_left_over_temporary_file_is_taken_over },
    { "a temporary name that is a link is not followed",
      a_temporary_name_that_is_a_link_is_not_followed },
    { "the longest name can be written", the_longest_name_can_be_written },
    { "two writers of one name leave whole files",
      two_writers_of_one_name_leave_whole_files },
    { "a link is redirected in one step", a_link_is_redirected_in_one_step },
    { "folders are made on the way", folders_are_made_on_the_way },
    { "a list is sorted by byte", a_list_is_sorted_by_byte },
    { "a tree is removed with its locked folders",
      a_tree_is_removed_with_its_locked_folders },
    { "a tree of any depth is removed", a_tree_of_any_depth_is_removed },
    { "removal does not follow links", removal_does_not_follow_links },
    { "removal stays below its root", removal_stays_below_its_root },
    { "one thing is removed or was never there",
      one_thing_is_removed_or_was_never_there },
    { "kinds are told apart", kinds_are_told_apart },
    { "absolute paths resolve links and keep what is not there",
      absolute_paths_resolve_links_and_keep_what_is_not_there },
    { "file systems are asked where the path begins",
      file_systems_are_asked_where_the_path_begins },
    { "labels escape what a path could misread",
      labels_escape_what_a_path_could_misread },
    { "long labels end in digits of the whole", long_labels_end_in_digits_of_the_whole },
    { "labels that differ by case get digits", labels_that_differ_by_case_get_digits },
    { "hostile ids become folders of their own",
      hostile_ids_become_folders_of_their_own },
};

int main(void)
{
    snprintf(root, sizeof root, "/tmp/skillopt-file-XXXXXX");
    if (!mkdtemp(root))
        return 1;
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        check_run(tests[i].name, tests[i].run);
    file_remove_tree("/tmp", root + 5, NULL);
    return check_end();
}
