/* SPDX-License-Identifier: Apache-2.0 */
/* Launches go through a log as they were, and a log that ends anywhere gives all whole launches. */
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "result/lines.h"
#include "result/session_log.h"
#include "device_fixture.h"

static const char kernel[] =
    ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %rd<3>;\n.reg .b32 %r<3>;\n.reg .pred %q;\n"
    "ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nsetp.lt.u32 %q, %r1, 5;\n@%q bra E;\n"
    "atom.global.add.u32 %r2, [%rd1], 1;\nE: ret;\n}\n";

struct logged {
    struct fixture f;
    char path[64];
    struct session_log log;
    struct session_entry entry;
};

static void open_log(struct logged *l, bool in_time) {
    memset(l, 0, sizeof *l);
    fixture_open(&l->f, "sm.count: 2\n", 16);
    load(&l->f, kernel);
    snprintf(l->path, sizeof l->path, "/tmp/heddle-test-%ld" SESSION_LOG, (long)getpid());
    unlink(l->path);
    l->log = (struct session_log){.path = l->path, .in_time = in_time};
    l->entry = (struct session_entry){.program = l->f.program, .source = "the source"};
}

static void launch_logged(struct logged *l, uint32_t blocks, bool in_time) {
    assert_int_equal(launch(&l->f, blocks, 64, in_time), STATUS_OK);
    const struct launch done = {.program = l->f.program,
                                .kernel = module_find(program_module(l->f.program), "k"),
                                .grid = {blocks, 1, 1},
                                .block = {64, 1, 1},
                                .in_time = in_time};
    session_log_launch(&l->log, &l->entry, &done, &l->f.result, 3);
}

static enum status read_log(struct logged *l, bool in_time, struct session *session) {
    *session = (struct session){.machine = &l->f.machine, .in_time = in_time};
    return session_log_read(l->path, session, l->f.device, &l->f.report);
}

static void close_log(struct logged *l) {
    unlink(l->path);
    finish(&l->f);
}

static void launches_are_read_as_they_were(void **state) {
    (void)state;
    for (int in_time = 0; in_time < 2; in_time++) {
        struct logged l;
        struct session session;
        open_log(&l, in_time);
        launch_logged(&l, 4, in_time);
        const struct run_stats stats = l.f.result.stats;
        const uint64_t cycles = in_time ? l.f.result.timed->cycles : 0;
        launch_logged(&l, 8, in_time);
        session_log_fault(&l.log, "something was wrong\n");
        session_log_remark(&l.log, "something was let pass\n");
        assert_int_equal(read_log(&l, in_time, &session), STATUS_OK);
        assert_int_equal(session.launches.count, 2);
        assert_string_equal(session.faults, "something was wrong\n");
        assert_non_null(session.remarks);
        assert_string_equal(session.remarks, "something was let pass\n");
        assert_int_equal(session.host_threads, 3);
        assert_false(session.is_cut);
        const struct run *run = &session.modules->run;
        assert_null(session.modules->next);
        assert_string_equal(session.modules->source, "the source");
        assert_memory_equal(&run->results[0].stats, &stats, sizeof stats);
        assert_int_equal(run->launches[1].grid[0], 8);
        assert_string_equal(run->results[1].kernel, "k");
        uint64_t issues = 0; /* of both, in the first */
        for (uint32_t pc = 0; pc < run->module->code_count; pc++)
            issues += run->results[0].instructions[pc].issues;
        assert_int_equal(issues, 3 * stats.warp_instructions);
        if (in_time) {
            assert_int_equal(run->results[0].timed->cycles, cycles);
            assert_true(run->results[0].timed->series.count > 0);
        }
        session_close(&session);
        close_log(&l);
    }
}

static void launches_without_time_are_counted(void **state) {
    (void)state;
    struct logged l;
    struct session session;
    open_log(&l, true);
    launch_logged(&l, 4, false);
    launch_logged(&l, 4, true);
    assert_int_equal(read_log(&l, true, &session), STATUS_OK);
    assert_int_equal(session.untimed, 1);
    assert_int_equal(session.launches.count, 1);
    session_close(&session);
    close_log(&l);
}

static void a_log_may_end_anywhere(void **state) {
    (void)state;
    struct logged l;
    struct session session;
    struct arena arena = {0};
    char *data, *more;
    size_t whole, bytes;
    open_log(&l, false);
    launch_logged(&l, 4, false);
    assert_int_equal(file_read(l.path, 1 << 20, &arena, &data, &whole, NULL), STATUS_OK);
    launch_logged(&l, 4, false);
    assert_int_equal(file_read(l.path, 1 << 20, &arena, &more, &bytes, NULL), STATUS_OK);
    for (size_t length = whole; length <= bytes; length++) {
        assert_int_equal(truncate(l.path, 0), 0);
        assert_true(file_append(l.path, more, length));
        assert_int_equal(read_log(&l, false, &session), STATUS_OK);
        assert_int_equal(session.launches.count, length < bytes ? 1 : 2);
        assert_int_equal(session.is_cut, length != whole && length != bytes);
        session_close(&session);
    }
    more[whole] ^= 1; /* the form of the second record */
    assert_int_equal(truncate(l.path, 0), 0);
    assert_true(file_append(l.path, more, bytes));
    assert_int_equal(read_log(&l, false, &session), STATUS_INVALID);
    expect_text(&l.f, "of one build");
    session_close(&session);
    arena_free(&arena);
    close_log(&l);
}

/* Not a byte of the second record is there, and still it is known to be missing. */
static void a_full_disk_is_not_the_end_of_the_launches(void **state) {
    (void)state;
    struct logged l;
    struct session session;
    struct rlimit before;
    struct stat about;
    open_log(&l, false);
    launch_logged(&l, 4, false);
    assert_int_equal(stat(l.path, &about), 0);
    getrlimit(RLIMIT_FSIZE, &before);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){(rlim_t)about.st_size, before.rlim_max});
    launch_logged(&l, 4, false);
    setrlimit(RLIMIT_FSIZE, &before);
    launch_logged(&l, 4, false);
    assert_int_equal(read_log(&l, false, &session), STATUS_OK);
    assert_int_equal(session.launches.count, 1);
    assert_true(session.is_cut);
    session_close(&session);
    close_log(&l);
}

static void programs_of_one_name_are_told_apart_by_their_source(void **state) {
    (void)state;
    struct logged l;
    struct session session = {0};
    static const char *const sources[] = {"one", "two", "one", "three"};
    static const char *const names[] = {"add.cl", "add-2.cl", "add.cl", "add-3.cl"};
    open_log(&l, false);
    session.machine = &l.f.machine;
    for (unsigned i = 0; i < 4; i++) {
        load(&l.f, ".file 1 \"add.cl\"\n.file 2 \"common.h\"\n.entry k() { .loc 1 7 0\n ret; }\n");
        const struct session_module *module = session_add(&session, l.f.device, l.f.program, sources[i]);
        assert_string_equal(module->source_name, names[i]);
        assert_string_equal(lines_file_name(module->run.module, 1), names[i]);
        assert_string_equal(lines_file_name(module->run.module, 2), "common.h");
    }
    session_close(&session);
    close_log(&l);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launches_are_read_as_they_were),
        cmocka_unit_test(launches_without_time_are_counted),
        cmocka_unit_test(a_log_may_end_anywhere),
        cmocka_unit_test(a_full_disk_is_not_the_end_of_the_launches),
        cmocka_unit_test(programs_of_one_name_are_told_apart_by_their_source),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
