/* SPDX-License-Identifier: Apache-2.0 */
/* Keys are of what decides a result and of nothing else; what is kept stays as it is. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/folder.h"
#include "machine/model.h"
#include "store/point.h"
#include "unit/arena_fixture.h"

/* ---- keys ---- */

static struct point_file saxpy_files[] = {{"launch file", "0123"}, {"saxpy.cl", "4567"}};
static struct point_program saxpy = {
    .label = "saxpy.yaml", .is_launch = true, .loaded = true, .files = {saxpy_files, 2, 2}};
static struct point_program bfs = {
    .label = "bfs", .compiler = "clang 19", .loaded = true, .files = {saxpy_files, 1, 1}};

/* The key of a point with these settings, "key=value" separated by blanks. */
static const char *key_of(struct point point, const char *settings) {
    const char *keys[8], *values[8];
    char *copy = arena_strdup(&arena, settings), *rest = NULL;
    for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        char *equals = strchr(word, '=');
        *equals = 0;
        keys[point.setting_count] = word;
        values[point.setting_count++] = equals + 1;
    }
    point.keys = keys;
    point.values = values;
    struct machine machine = {0};
    if (point_machine(&point, &machine, &report))
        fail_msg("refused: %s", report_text(&report));
    point_set_key(&point, point_machine_text(&machine, &arena), &arena);
    machine_close(&machine);
    return arena_strdup(&arena, point.key);
}

static struct point of_saxpy(void) {
    return (struct point){.program = &saxpy, .size = "test", .seed = 1, .gpu = "gtx480"};
}
static struct point of_bfs(void) { return (struct point){.program = &bfs, .size = "test", .seed = 1, .gpu = "gtx480"}; }

static void the_same_run_has_the_same_key(void **state) {
    (void)state;
    const char *key = key_of(of_saxpy(), "l1.size_bytes=32KiB sm.scheduler=rr");
    assert_int_equal(strlen(key), 32);
    assert_string_equal(key, key_of(of_saxpy(), "sm.scheduler=rr l1.size_bytes=32768"));
    assert_string_equal(key, key_of(of_saxpy(), "sm.scheduler=rr l1.size_bytes=32768 host.threads=2"));
    /* keys of a mechanism that is not chosen */
    assert_string_equal(key, key_of(of_saxpy(), "sm.scheduler=rr l1.size_bytes=32768 dwf.policy=pc"));
    struct point other = of_saxpy();
    other.size = "paper"; /* launch files have none */
    assert_string_equal(key, key_of(other, "l1.size_bytes=32KiB sm.scheduler=rr"));
}

static void another_run_has_another_key(void **state) {
    (void)state;
    const char *keys[16];
    unsigned count = 0;
    struct point point = of_saxpy();
    keys[count++] = key_of(point, "");
    keys[count++] = key_of(point, "l1.size_bytes=32KiB");
    keys[count++] = key_of(point, "sm.scheduler=rr");
    keys[count++] = key_of(point, "divergence.mechanism=dwf");
    keys[count++] = key_of(point, "divergence.mechanism=dwf dwf.policy=pc");
    point.seed = 2;
    keys[count++] = key_of(point, "");
    point.gpu = "qv100";
    keys[count++] = key_of(point, "");
    point.functional = true;
    keys[count++] = key_of(point, "");
    point = of_bfs();
    keys[count++] = key_of(point, "");
    point.seed = 2;
    keys[count++] = key_of(point, "");
    point.size = "medium";
    keys[count++] = key_of(point, "");
    struct point_file changed[] = {{"launch file", "0123"}, {"saxpy.cl", "4568"}};
    struct point_program edited = saxpy;
    edited.files.items = changed;
    point = of_saxpy();
    point.program = &edited;
    keys[count++] = key_of(point, "");
    for (unsigned i = 0; i < count; i++)
        for (unsigned k = 0; k < i; k++)
            assert_string_not_equal(keys[i], keys[k]);
}

static void the_key_is_the_hash_of_a_text_that_says_it_all(void **state) {
    (void)state;
    struct point point = of_saxpy();
    struct machine machine = {0};
    assert_int_equal(point_machine(&point, &machine, &report), STATUS_OK);
    const char *text = point_text(&point, point_machine_text(&machine, &arena), &arena);
    const char *begin = arena_printf(&arena,
                                     "heddle-point-1\nmodel %s\nmode timed\nlaunch\nseed 1\nfile launch file 0123\n"
                                     "file saxpy.cl 4567\n",
                                     model_hash());
    assert_int_equal(strncmp(text, begin, strlen(begin)), 0);
    assert_non_null(strstr(text, "\nl1.size_bytes="));
    assert_null(strstr(text, "\nhost."));
    const XXH128_hash_t hash = XXH3_128bits(text, strlen(text));
    assert_string_equal(key_of(point, ""), arena_printf(&arena, "%016llx%016llx", (unsigned long long)hash.high64,
                                                        (unsigned long long)hash.low64));
    machine_close(&machine);
}

/* ---- the store ---- */

static const char key[] = "0123456789abcdef0123456789abcdef";

static const char *read_back(const char *path) {
    char *text = NULL;
    size_t length;
    assert_int_equal(file_read(path, 1 << 20, &arena, &text, &length, &report), STATUS_OK);
    return text;
}

static enum status keep_as(const struct store *store, const char *scratch, const char *point, enum store_state kind,
                           const char *what) {
    json_t *document = json_pack("{s:s}", "what", what);
    const enum status status = store_keep(store, scratch, point, kind, document, &report);
    json_decref(document);
    return status;
}

static enum status keep(const struct store *store, const char *scratch, enum store_state kind, const char *what) {
    return keep_as(store, scratch, key, kind, what);
}

static void what_is_kept_is_never_written_again(void **state) {
    (void)state;
    char *folder = folder_make_temporary(&arena), *scratch = NULL;
    struct store store;
    struct stat before, after;
    assert_int_equal(store_open(&store, arena_printf(&arena, "%s/deep/store", folder), &arena, &report), STATUS_OK);
    assert_int_equal(store_find(&store, key), STORE_MISSING);
    assert_int_equal(store_scratch(&store, key, &scratch, &report), STATUS_OK);
    assert_true(store_is_running(&store, key));
    assert_int_equal(keep(&store, scratch, STORE_FAILED, "no"), STATUS_OK);
    assert_int_equal(store_find(&store, key), STORE_FAILED);
    store_forget_failure(&store, key);
    assert_int_equal(store_find(&store, key), STORE_MISSING);
    assert_int_equal(keep(&store, scratch, STORE_DONE, "first"), STATUS_OK);
    assert_int_equal(store_find(&store, key), STORE_DONE);
    const char *path = store_path(&store, &arena, key, STORE_DONE);
    assert_int_equal(stat(path, &before), 0);
    /* somebody else, who has run the same */
    assert_int_equal(keep(&store, scratch, STORE_DONE, "second"), STATUS_OK);
    assert_int_equal(stat(path, &after), 0);
    assert_non_null(strstr(read_back(path), "first"));
    assert_int_equal(before.st_ino, after.st_ino);
    assert_false(store_is_damaged(&store, key));
    /* what is damaged is as if it were not there, and gives way */
    assert_int_equal(truncate(path, after.st_size / 2), 0);
    assert_int_equal(store_find(&store, key), STORE_MISSING);
    assert_true(store_is_damaged(&store, key));
    assert_int_equal(keep(&store, scratch, STORE_DONE, "third"), STATUS_OK);
    assert_int_equal(store_find(&store, key), STORE_DONE);
    assert_non_null(strstr(read_back(path), "third"));
    store_scratch_remove(&store, scratch);
    assert_false(store_is_running(&store, key));
    folder_remove(&arena, folder);
}

/* Of a point that failed before it was done the result counts; all that the store has, read at once, names the points
 * that it has something of. */
static void a_result_goes_before_a_failure(void **state) {
    (void)state;
    static const char *const keys[] = {"00aa456789abcdef0123456789abcdef", "00ab456789abcdef0123456789abcdef",
                                       "7f23456789abcdef0123456789abcdef", "ffffffffffffffffffffffffffffffff"};
    char *folder = folder_make_temporary(&arena), *scratch = NULL;
    struct store store;
    assert_int_equal(store_open(&store, arena_printf(&arena, "%s/store", folder), &arena, &report), STATUS_OK);
    for (unsigned i = 0; i < 4; i++) { /* nothing, a result, a failure, both */
        assert_int_equal(store_scratch(&store, keys[i], &scratch, &report), STATUS_OK);
        if (i & 2)
            assert_int_equal(keep_as(&store, scratch, keys[i], STORE_FAILED, "no"), STATUS_OK);
        if (i & 1)
            assert_int_equal(keep_as(&store, scratch, keys[i], STORE_DONE, "yes"), STATUS_OK);
        store_scratch_remove(&store, scratch);
    }
    const struct store_index index = store_index(&store, &arena);
    static const enum store_state expected[] = {STORE_MISSING, STORE_DONE, STORE_FAILED, STORE_DONE};
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(store_find(&store, keys[i]), expected[i]);
        assert_int_equal(store_index_has(&index, keys[i]), expected[i] != STORE_MISSING);
    }
    folder_remove(&arena, folder);
}

static void what_the_dead_left_is_removed(void **state) {
    (void)state;
    char *folder = folder_make_temporary(&arena), *mine = NULL;
    struct store store;
    assert_int_equal(store_open(&store, folder, &arena, &report), STATUS_OK);
    assert_int_equal(store_scratch(&store, key, &mine, &report), STATUS_OK);
    const char *dead = arena_printf(&arena, "%s/tmp/f%c/f%s.%s.2147483646", folder, key[1], key + 1, store.host);
    const char *elsewhere = arena_printf(&arena, "%s/tmp/e%c/e%s.other.host.17", folder, key[1], key + 1);
    const char *old = arena_printf(&arena, "%s/tmp/d%c/d%s.other.host.18", folder, key[1], key + 1);
    const char *foreign = arena_printf(&arena, "%s/tmp/notes", folder);
    const char *all[] = {dead, elsewhere, old, foreign};
    for (unsigned i = 0; i < 4; i++)
        assert_true(folder_make(&arena, all[i]));
    const struct timespec long_ago[2] = {{1000, 0}, {1000, 0}};
    assert_int_equal(utimensat(AT_FDCWD, old, long_ago, 0), 0);
    assert_int_equal(store_clean(&store), 2);
    const bool left[] = {false, true, false, true};
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(file_exists(all[i]), left[i]);
    assert_true(file_exists(mine));
    folder_remove(&arena, folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_same_run_has_the_same_key, start, stop),
        cmocka_unit_test_setup_teardown(another_run_has_another_key, start, stop),
        cmocka_unit_test_setup_teardown(the_key_is_the_hash_of_a_text_that_says_it_all, start, stop),
        cmocka_unit_test_setup_teardown(what_is_kept_is_never_written_again, start, stop),
        cmocka_unit_test_setup_teardown(a_result_goes_before_a_failure, start, stop),
        cmocka_unit_test_setup_teardown(what_the_dead_left_is_removed, start, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
