/* SPDX-License-Identifier: Apache-2.0 */
/* base/: param, file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/param.h"

#define EXAMPLE_PARAMS                                                                                                 \
    PARAM(warp_size, "core.warp_size", U32, "32", "1", "32", "lanes", "threads of a warp")                             \
    PARAM(memory_bytes, "memory.bytes", U64, "1 GiB", "4 KiB", "", "bytes", "device memory")                           \
    PARAM(enabled, "core.enabled", BOOL, "true", "", "", "", "whether it is on")                                       \
    PARAM(clock, "core.clock", F64, "1.5", "0.001", "10", "GHz", "clock")                                              \
    PARAM(name, "name", TEXT, "unnamed", "", "", "", "the name")                                                       \
    PARAM(lanes, "host.lanes", CHOICE, "auto", "auto|v1|v3|v4", "", "", "lane level")

#define PARAM PARAM_FIELD
struct example {
    EXAMPLE_PARAMS
};
#undef PARAM
#define PARAM(field, ...) PARAM_ENTRY(struct example, field, __VA_ARGS__)
static const struct param_description table[] = {EXAMPLE_PARAMS PARAM_END};
#undef PARAM

struct fixture {
    struct arena arena;
    struct report report;
    struct example values;
    struct param_set set;
};

static int setup(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    *state = f;
    return param_create(&f->set, table, &f->values, &f->arena, &f->report) == STATUS_OK ? 0 : -1;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    arena_free(&f->arena);
    report_free(&f->report);
    free(f);
    return 0;
}

static enum status assign(struct fixture *f, const char *key, const char *text) {
    return param_assign(&f->set, key, text, "a.yaml: a book", "a.yaml:2:3", &f->report);
}

static void param_defaults_come_from_the_list(void **state) {
    struct fixture *f = *state;
    assert_int_equal(f->values.warp_size, 32);
    assert_int_equal(f->values.memory_bytes, UINT64_C(1) << 30);
    assert_true(f->values.enabled);
    assert_true(f->values.clock == 1.5);
    assert_string_equal(f->values.name, "unnamed");
    assert_int_equal(f->values.lanes, 0);
    for (const struct param_description *param = table; param->key; param++)
        assert_string_equal(param_origin(&f->set, param), "default");
}

static void param_assign_sets_value_and_origin(void **state) {
    struct fixture *f = *state;
    assert_int_equal(assign(f, "core.warp_size", "16"), STATUS_OK);
    assert_int_equal(assign(f, "memory.bytes", "0x2000"), STATUS_OK);
    assert_int_equal(assign(f, "core.enabled", "false"), STATUS_OK);
    assert_int_equal(assign(f, "core.clock", "0.7"), STATUS_OK);
    char name[] = "gtx480";
    assert_int_equal(assign(f, "name", name), STATUS_OK);
    name[0] = 'X';
    assert_int_equal(assign(f, "host.lanes", "v3"), STATUS_OK);
    assert_int_equal(f->values.warp_size, 16);
    assert_int_equal(f->values.memory_bytes, 8192);
    assert_false(f->values.enabled);
    assert_true(f->values.clock == 0.7);
    assert_string_equal(f->values.name, "gtx480");
    assert_int_equal(f->values.lanes, 2);
    for (const struct param_description *param = table; param->key; param++)
        assert_string_equal(param_origin(&f->set, param), "a.yaml: a book");
    assert_string_equal(report_text(&f->report), "");
}

static void param_text_reads_back(void **state) {
    struct fixture *f = *state;
    assert_int_equal(assign(f, "memory.bytes", "48 KiB"), STATUS_OK);
    assert_int_equal(assign(f, "host.lanes", "v4"), STATUS_OK);
    const char *expected[] = {"32", "49152", "true", "1.5", "unnamed", "v4"};
    for (unsigned i = 0; table[i].key; i++) {
        const char *text = param_text(&f->set, &table[i]);
        assert_string_equal(text, expected[i]);
        assert_int_equal(assign(f, table[i].key, text), STATUS_OK);
        assert_string_equal(param_text(&f->set, &table[i]), expected[i]);
    }
}

static void param_refuses_what_is_out_of_range(void **state) {
    struct fixture *f = *state;
    const struct {
        const char *key, *text;
    } bad[] = {
        {"core.warp_size", "0"},   {"core.warp_size", "33"},    {"core.warp_size", "4294967297"},
        {"core.warp_size", "-1"},  {"core.warp_size", "1 KiB"}, {"core.warp_size", ""},
        {"memory.bytes", "4095"},  {"memory.bytes", "KiB"},     {"memory.bytes", "99999999999999 GiB"},
        {"core.enabled", "maybe"}, {"core.clock", "0"},         {"core.clock", "10.5"},
        {"core.clock", "nan"},     {"host.lanes", "v2"},        {"host.lanes", ""},
        {"host.lanes", "auto|v1"}, {"host.lanes", "v"},
    };
    unsigned count = sizeof bad / sizeof bad[0];
    for (unsigned i = 0; i < count; i++)
        assert_int_equal(assign(f, bad[i].key, bad[i].text), STATUS_INVALID);
    assert_int_equal(f->report.messages, count);
    param_defaults_come_from_the_list(state);
}

static void param_messages_say_what_is_accepted(void **state) {
    struct fixture *f = *state;
    assign(f, "core.warp_size", "99");
    assign(f, "host.lanes", "v2");
    assign(f, "memory.bytes", "1");
    assert_string_equal(report_text(&f->report),
                        "a.yaml:2:3: 'core.warp_size' cannot be '99': it takes a whole number from 1 to 32 lanes\n"
                        "a.yaml:2:3: 'host.lanes' cannot be 'v2': it takes auto, v1, v3 or v4\n"
                        "a.yaml:2:3: 'memory.bytes' cannot be '1': it takes a whole number of at least 4 KiB bytes\n");
}

static void param_unknown_key_suggests_the_nearest(void **state) {
    struct fixture *f = *state;
    assert_int_equal(assign(f, "core.warpsize", "16"), STATUS_INVALID);
    assert_int_equal(assign(f, "banana", "16"), STATUS_INVALID);
    assert_string_equal(report_text(&f->report),
                        "a.yaml:2:3: unknown key 'core.warpsize'; did you mean 'core.warp_size'?\n"
                        "a.yaml:2:3: unknown key 'banana'; 'heddle config show' lists the known ones\n");
    assert_null(param_find(&f->set, "core.warp_siz"));
    assert_ptr_equal(param_find(&f->set, "host.lanes"), &table[5]);
}

static void param_create_refuses_a_default_outside_its_range(void **state) {
    struct fixture *f = *state;
    const struct param_description wrong[] = {
        {"a", 0, PARAM_U32, "5", "6", "7", "", ""},
        PARAM_END,
    };
    uint32_t value;
    struct param_set set;
    assert_int_equal(param_create(&set, wrong, &value, &f->arena, &f->report), STATUS_INVALID);
}

static void file_comes_back_as_written(void **state) {
    struct fixture *f = *state;
    char dir[] = "/tmp/heddle-test-XXXXXX";
    assert_non_null(mkdtemp(dir));
    char *path = file_join(&f->arena, dir, "data.bin");
    char *data;
    size_t bytes;
    enum { SIZE = 100000 };
    char *big = arena_alloc(&f->arena, SIZE);
    for (unsigned i = 0; i < SIZE; i++)
        big[i] = (char)(i * 7);
    assert_int_equal(file_write(path, "old", 3, &f->report), STATUS_OK);
    assert_int_equal(chmod(path, 0640), 0);
    assert_int_equal(file_write(path, big, SIZE, &f->report), STATUS_OK);
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 07777, 0640);
    assert_int_equal(file_read(path, SIZE, &f->arena, &data, &bytes, &f->report), STATUS_OK);
    assert_int_equal(bytes, SIZE);
    assert_memory_equal(data, big, SIZE);
    assert_int_equal(data[bytes], 0);
    assert_int_equal(file_read(path, SIZE - 1, &f->arena, &data, &bytes, &f->report), STATUS_INVALID);
    assert_non_null(strstr(report_text(&f->report), "data.bin: 100000 bytes, larger than the limit of 99999"));
    /* no temporary file is left beside it, or the folder could not be removed */
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(dir), 0);
}

/* A pipe that nobody writes to, and a device without end: neither is waited for. */
static void only_ordinary_files_are_read(void **state) {
    struct fixture *f = *state;
    char *data, folder[] = "/tmp/heddle-test-XXXXXX";
    size_t bytes;
    assert_non_null(mkdtemp(folder));
    const char *pipe = arena_printf(&f->arena, "%s/pipe", folder), *empty = arena_printf(&f->arena, "%s/empty", folder);
    assert_int_equal(mkfifo(pipe, 0666), 0);
    assert_int_equal(file_write(empty, "", 0, &f->report), STATUS_OK);
    assert_int_equal(file_read(empty, 0, &f->arena, &data, &bytes, &f->report), STATUS_OK);
    assert_int_equal(bytes, 0);
    assert_string_equal(data, "");
    const char *const refused[] = {pipe, folder, "/dev/null", "/dev/zero", "/dev/urandom", "/dev/tty"};
    for (unsigned i = 0; i < sizeof refused / sizeof *refused; i++)
        assert_int_equal(file_read(refused[i], SIZE_MAX / 4, &f->arena, &data, &bytes, &f->report), STATUS_INVALID);
    assert_non_null(strstr(report_text(&f->report), "only ordinary files are read, and this is a pipe"));
    unlink(pipe);
    unlink(empty);
    rmdir(folder);
}

/* A file that may not grow: the write fails, and the signal does not reach the process. */
static void a_file_size_limit_is_an_error(void **state) {
    struct fixture *f = *state;
    struct rlimit before;
    char path[] = "/tmp/heddle-test-XXXXXX", data[4096] = {1}, *back;
    size_t bytes;
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(file_write(path, "old", 3, &f->report), STATUS_OK);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){1024, before.rlim_max});
    const enum status status = file_write(path, data, sizeof data, &f->report);
    const bool appended = file_append(path, data, sizeof data);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(status, STATUS_SYSTEM);
    assert_false(appended);
    assert_non_null(strstr(report_text(&f->report), "File too large"));
    assert_int_equal(file_read(path, 4096, &f->arena, &back, &bytes, &f->report), STATUS_OK);
    assert_memory_equal(back, "old", 3); /* the old file is there, whole */
    unlink(path);
}

static void files_without_a_size(void **state) {
    struct fixture *f = *state;
    char *data;
    size_t bytes;
    /* /proc tells size 0 */
    assert_int_equal(file_read("/proc/self/status", 1 << 20, &f->arena, &data, &bytes, &f->report), STATUS_OK);
    assert_true(bytes > 100 && strlen(data) == bytes);
    assert_int_equal(file_write("/dev/null", "x", 1, &f->report), STATUS_OK);
}

static void file_errors_name_the_path(void **state) {
    struct fixture *f = *state;
    char *data;
    size_t bytes;
    assert_int_equal(file_read("/nonexistent/a", 10, &f->arena, &data, &bytes, &f->report), STATUS_INVALID);
    assert_int_equal(file_write("/nonexistent/b", "", 0, &f->report), STATUS_SYSTEM);
    assert_int_equal(file_read("/", 10, &f->arena, &data, &bytes, &f->report), STATUS_INVALID);
    assert_string_equal(report_text(&f->report), "/nonexistent/a: cannot open: No such file or directory\n"
                                                 "/nonexistent/b: cannot create: No such file or directory\n"
                                                 "/: only ordinary files are read, and this is a folder\n");
}

static void file_paths_join_and_split(void **state) {
    struct fixture *f = *state;
    assert_string_equal(file_join(&f->arena, "a/b", "c"), "a/b/c");
    assert_string_equal(file_join(&f->arena, "a/", "c"), "a/c");
    assert_string_equal(file_join(&f->arena, "", "c"), "c");
    assert_string_equal(file_name("a/b.yaml"), "b.yaml");
    assert_string_equal(file_name("b.yaml"), "b.yaml");
    assert_true(file_ends_in("b.yaml", ".yaml"));
    assert_false(file_ends_in(".yaml", ".yaml"));
    assert_false(file_ends_in("b.yaml.bak", ".yaml"));
    assert_string_equal(file_join(&f->arena, "a", "/c"), "/c");
    assert_string_equal(file_dir(&f->arena, "a/b/c"), "a/b");
    assert_string_equal(file_dir(&f->arena, "c"), "");
    assert_string_equal(file_dir(&f->arena, "/c"), "/");
}

#define WITH_FIXTURE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_FIXTURE(param_defaults_come_from_the_list),
        WITH_FIXTURE(param_assign_sets_value_and_origin),
        WITH_FIXTURE(param_text_reads_back),
        WITH_FIXTURE(param_refuses_what_is_out_of_range),
        WITH_FIXTURE(param_messages_say_what_is_accepted),
        WITH_FIXTURE(param_unknown_key_suggests_the_nearest),
        WITH_FIXTURE(param_create_refuses_a_default_outside_its_range),
        WITH_FIXTURE(file_comes_back_as_written),
        WITH_FIXTURE(only_ordinary_files_are_read),
        WITH_FIXTURE(a_file_size_limit_is_an_error),
        WITH_FIXTURE(files_without_a_size),
        WITH_FIXTURE(file_errors_name_the_path),
        WITH_FIXTURE(file_paths_join_and_split),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
