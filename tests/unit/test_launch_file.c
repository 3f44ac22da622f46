/* SPDX-License-Identifier: Apache-2.0 */
/* Launch files: what is accepted, and that what is not is refused at its place with a way out. */
#include "launch/launch_file.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "arena_fixture.h"

static struct launch_file accepted(const char *text) {
    struct launch_file file;
    enum status status = launch_file_parse(&arena, "dir/k.yaml", text, strlen(text), &file, &report);
    if (status)
        fail_msg("refused: %s", report_text(&report));
    return file;
}

static void refused(const char *text, const char *place, const char *words) {
    struct launch_file file;
    report_free(&report);
    report = (struct report){0};
    assert_int_equal(launch_file_parse(&arena, "k.yaml", text, strlen(text), &file, &report), STATUS_INVALID);
    const char *said = report_text(&report);
    if (!strstr(said, place) || !strstr(said, words))
        fail_msg("expected '%s' and '%s' in:\n%s", place, words, said);
}

static const char whole[] =
    "module: saxpy.cl\n"
    "build: {defines: [N=16, FAST], includes: [inc], standard: CL2.0, options: [-cl-fast-relaxed-math]}\n"
    "buffers:\n"
    "  x: {type: f32, count: 65536, fill: {random: {seed: 1, min: 0, max: 97}}}\n"
    "  y: {type: f32, count: 0x10000, fill: {value: 1.0}}\n"
    "  z: {type: i64, fill: {values: [1, -2, 3]}}\n"
    "launches:\n"
    "  - {kernel: saxpy, grid: [256], block: [256], args: [y, x, {f32: 2.5}, {i32: 65536}]}\n"
    "  - kernel: other\n"
    "    grid: [4, 5, 6]\n"
    "    block: 7\n"
    "    dynamic_shared: 128\n"
    "    global_offset: [1, 2]\n"
    "    args: [{buffer: z, offset: 1}, {local: 64}, {bytes: \"00ff 3C\"}, {f32: [1, 2, 3, 4]}]\n"
    "check:\n"
    "  - {buffer: y, equals: {index: {scale: 2.5, offset: 1}}, tolerance: 1e-6}\n"
    "  - {buffer: x, hash: \"0123456789abcDEF\"}\n"
    "  - {buffer: z, sum: 2, first: 1, count: 2}\n";

static void everything_is_read(void **state) {
    (void)state;
    struct launch_file file = accepted(whole);
    assert_string_equal(file.module, "saxpy.cl");
    assert_string_equal(file.folder, "dir");
    assert_int_equal(file.build.define_count, 2);
    assert_string_equal(file.build.defines[0], "N=16");
    assert_string_equal(file.build.standard, "CL2.0");
    assert_int_equal(file.buffer_count, 3);
    assert_int_equal(file.buffers[0].element, ELEMENT_F32);
    assert_int_equal(file.buffers[0].fill.kind, FILL_RANDOM);
    assert_true(file.buffers[0].fill.has_seed);
    assert_int_equal(file.buffers[1].count, 65536);
    assert_int_equal(file.buffers[2].count, FILL_COUNT_UNKNOWN);
    assert_int_equal(file.buffers[2].fill.value_count, 3);
    assert_int_equal(file.launch_count, 2);
    const struct launch_step *first = &file.launches[0], *second = &file.launches[1];
    assert_int_equal(first->grid[0], 256);
    assert_int_equal(first->grid[1], 1);
    assert_int_equal(first->dimensions, 1);
    assert_int_equal(first->arg_count, 4);
    assert_int_equal(first->args[0].buffer, 1);
    assert_int_equal(first->args[2].kind, LAUNCH_ARG_VALUES);
    float a = 2.5F;
    assert_memory_equal(first->args[2].bytes, &a, 4);
    assert_int_equal(second->dimensions, 3);
    assert_int_equal(second->grid[2], 6);
    assert_int_equal(second->block[0], 7);
    assert_int_equal(second->global_offset[1], 2);
    assert_int_equal(second->dynamic_shared_bytes, 128);
    assert_int_equal(second->args[0].offset, 1);
    assert_int_equal(second->args[1].byte_count, 64);
    assert_int_equal(second->args[2].byte_count, 3);
    assert_memory_equal(second->args[2].bytes, "\x00\xff\x3c", 3);
    assert_int_equal(second->args[3].byte_count, 16);
    assert_int_equal(file.check_count, 3);
    assert_true(file.checks[0].tolerance == 1e-6);
    assert_true(file.checks[1].hash == UINT64_C(0x0123456789abcdef));
    assert_int_equal(file.checks[2].first, 1);
}

static void places_are_read(void **state) {
    (void)state;
    struct launch_file file =
        accepted("module: k.ptx\nvariables_at: 0x10000000\nvariables: {v: {type: u16, fill: {values: [1, 2]}}}\n"
                 "buffers: {a: {type: u8, count: 4, address: 0x10000403}, w: {type: u8, count: 256}}\n"
                 "launches: [{kernel: k, grid: 1, block: 1, workspace: w}, {kernel: k, grid: 1, block: 1}]\n");
    assert_int_equal(file.variables_at, 0x10000000);
    assert_int_equal(file.variable_count, 1);
    assert_string_equal(file.variables[0].name, "v");
    assert_int_equal(file.variables[0].element, ELEMENT_U16);
    assert_int_equal(file.variables[0].fill.value_count, 2);
    assert_int_equal(file.buffers[0].address, 0x10000403);
    assert_int_equal(file.buffers[1].address, 0);
    assert_true(file.launches[0].has_workspace);
    assert_int_equal(file.launches[0].workspace, 1);
    assert_false(file.launches[1].has_workspace);
}

static void anchors_repeat_what_was_written(void **state) {
    (void)state;
    struct launch_file file = accepted("module: k.ptx\nbuffers: {a: &b {type: u8, count: 4}, c: *b}\n"
                                       "launches: [&l {kernel: k, grid: 1, block: 1, args: [a, c]}, *l]\n");
    assert_int_equal(file.launch_count, 2);
    assert_int_equal(file.buffers[1].count, 4);
}

#define HEAD "module: k.cl\nbuffers: {a: {type: f32, count: 4}}\n"
#define LAUNCH "launches: [{kernel: k, grid: 1, block: 1, args: [a]}]\n"

static void errors_have_a_place_and_a_way_out(void **state) {
    (void)state;
    refused("", "k.yaml:1:1", "empty");
    refused("module: [\n", "k.yaml:2:1", "not valid YAML");
    refused("- 1\n", "k.yaml:1:1", "its keys are module");
    refused(LAUNCH, "k.yaml:1:1", "needs the key 'module'");
    refused(HEAD, "k.yaml:1:1", "needs the key 'launches'");
    refused(HEAD LAUNCH "chekc: []\n", "k.yaml:4:1", "did you mean 'check'?");
    refused("module: k.cl\nbuffers: {a: {typ: f32, count: 4}}\n" LAUNCH, "k.yaml:2:15", "did you mean 'type'?");
    refused("module: k.cl\nbuffers: {a: {type: f33, count: 4}}\n" LAUNCH, "k.yaml:2:21", "there is no type 'f33'");
    refused("module: k.cl\nbuffers: {a: {type: f32}}\n" LAUNCH, "k.yaml:2:14", "needs the key 'count'");
    refused("module: k.cl\nbuffers: {a: {type: f32, count: 0}}\n" LAUNCH, "k.yaml:2:33", "at least 1");
    refused("module: k.cl\nbuffers: {a: {type: u8, count: 1, fill: {value: 300}}}\n" LAUNCH, "k.yaml:2:49",
            "does not fit");
    refused("module: k.cl\nbuffers: {a: {type: u8, count: 1, fill: {value: 1.5}}}\n" LAUNCH, "k.yaml:2:49",
            "does not fit");
    refused("module: k.cl\nbuffers: {a: {type: u8, count: 1, fill: 3}}\n" LAUNCH, "k.yaml:2:41", "{value: 3}");
    refused("module: k.cl\nbuffers: {a: {type: u8, count: 1, fill: {value: 1, index: {}}}}\n" LAUNCH, "k.yaml:2:41",
            "exactly one");
    refused("module: k.cl\nbuffers: {a: {type: u8, count: 1}, a: {type: u8, count: 1}}\n" LAUNCH, "k.yaml:2:36",
            "given twice");
    refused(HEAD "launches: []\n", "k.yaml:3:11", "launches is a list");
    refused("module: k.cl\nbuffers: {a: {type: u8, count: 1, address: 0}}\n" LAUNCH, "k.yaml:2:44", "must not be 0");
    refused("module: k.cl\nbuffers: {a: {type: u8, count: 1, address: -4}}\n" LAUNCH, "k.yaml:2:44", "an address");
    refused("module: k.cl\nvariables_at: x\nbuffers: {a: {type: u8, count: 1}}\n" LAUNCH, "k.yaml:2:15", "an address");
    refused("module: k.cl\nvariables: [x]\nbuffers: {a: {type: u8, count: 1}}\n" LAUNCH, "k.yaml:2:12",
            "variables are written as");
    refused("module: k.cl\nvariables: {v: {type: u8}}\nbuffers: {a: {type: u8, count: 1}}\n" LAUNCH, "k.yaml:2:16",
            "needs the key 'fill'");
    refused(HEAD "launches: [{kernel: k, grid: 1, block: 1, workspace: b}]\n", "k.yaml:3:54", "there is no buffer 'b'");
    refused("module: k.cl\nbuild: {defines: [N=1, \"@evil.rsp\"]}\n" LAUNCH, "k.yaml:2:24", "begins with a name");
    refused("module: k.cl\nbuild: {defines: [\"N=1\\n#include\"]}\n" LAUNCH, "k.yaml:2:19", "one line");
    refused("module: k.cl\nbuild: {includes: [\"a\\nb\"]}\n" LAUNCH, "k.yaml:2:20", "control characters");
    refused("module: k.cl\nbuild: {options: [-cl-mad-enable, -fplugin=x]}\n" LAUNCH, "k.yaml:2:35", "-cl-");
    refused("module: k.cl\nbuild: {options: [-cl-ext=x]}\n" LAUNCH, "k.yaml:2:19", "options of OpenCL");
    refused(HEAD "launches: [{kernel: k, grid: 0, block: 1}]\n", "k.yaml:3:30", "at least 1");
    refused(HEAD "launches: [{kernel: k, grid: [1, 2, 3, 4], block: 1}]\n", "k.yaml:3:30", "one to three");
    refused(HEAD "launches: [{kernel: k, block: 1}]\n", "k.yaml:3:12", "needs the key 'grid'");
    refused(HEAD "launches: [{kernel: k, grid: -1, block: 1}]\n", "k.yaml:3:30", "integer");
    refused(HEAD "launches: [{kernel: k, grid: 1, block: 1, args: [b]}]\n", "k.yaml:3:50", "there is no buffer 'b'");
    refused(HEAD "launches: [{kernel: k, grid: 1, block: 1, args: [5]}]\n", "k.yaml:3:50", "{i32: 5}");
    refused(HEAD "launches: [{kernel: k, grid: 1, block: 1, args: [{i8: 128}]}]\n", "k.yaml:3:55", "does not fit");
    refused(HEAD "launches: [{kernel: k, grid: 1, block: 1, args: [{bytes: 0f3}]}]\n", "k.yaml:3:58", "pairs");
    refused(HEAD LAUNCH "check: [{buffer: a}]\n", "k.yaml:4:9", "exactly one of the keys equals");
    refused(HEAD LAUNCH "check: [{buffer: a, hash: 12}]\n", "k.yaml:4:27", "16 hexadecimal digits");
    refused(HEAD LAUNCH "check: [{buffer: a, sum: 1, tolerance: -1}]\n", "k.yaml:4:40", "at least 0");
    refused(HEAD LAUNCH "build: {options: [-fplugin=evil.so]}\n", "k.yaml:4:19", "begin with -cl-");
    refused(HEAD LAUNCH "---\nmodule: x\n", "k.yaml:4:1", "second document");
    refused("module: *nothing\n", "k.yaml:1:9", "anchor");
    refused("module: \xff\xfe\n", "k.yaml:1:9", "not valid YAML");
}

static void the_line_and_a_caret_are_shown(void **state) {
    (void)state;
    refused(HEAD "launches: [{kernel: k, grid: 0, block: 1}]\n", "  launches: [{kernel: k, grid: 0, block: 1}]\n",
            "\n                               ^\n");
}

static void all_errors_are_reported(void **state) {
    (void)state;
    refused("module: k.cl\nbuffers: {a: {type: f33, count: 4}}\nlaunches: [{kernel: k, grid: 0, block: x}]\n",
            "k.yaml:2:21", "k.yaml:3:40");
}

static void deep_nesting_is_refused(void **state) {
    (void)state;
    char text[2000] = "module: ";
    memset(text + 8, '[', 1000);
    refused(text, "k.yaml:1:", "nested deeper");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(everything_is_read, start, stop),
        cmocka_unit_test_setup_teardown(places_are_read, start, stop),
        cmocka_unit_test_setup_teardown(anchors_repeat_what_was_written, start, stop),
        cmocka_unit_test_setup_teardown(errors_have_a_place_and_a_way_out, start, stop),
        cmocka_unit_test_setup_teardown(the_line_and_a_caret_are_shown, start, stop),
        cmocka_unit_test_setup_teardown(all_errors_are_reported, start, stop),
        cmocka_unit_test_setup_teardown(deep_nesting_is_refused, start, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
