/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of buffers: what passes, what does not, and what is said of it. */
#include "launch/check.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct check_result checked(const char *type, const char *check, const void *data, uint64_t count,
                                   enum status wanted) {
    struct arena arena = {0};
    struct report report = {0};
    struct launch_file file;
    struct check_result result = {0};
    const char *text = arena_printf(&arena,
                                    "module: k.ptx\nbuffers: {a: {type: %s, count: 1}}\n"
                                    "launches: [{kernel: k, grid: 1, block: 1}]\ncheck: [{buffer: a, %s}]\n",
                                    type, check);
    if (launch_file_parse(&arena, "k.yaml", text, strlen(text), &file, &report))
        fail_msg("%s", report_text(&report));
    struct fill_source source = {&file.yaml, "", NULL, 1, 1 << 30};
    const struct check_contents contents = {&file.buffers[0], data, count};
    assert_int_equal(check_buffer(&file.checks[0], &contents, &source, &result, &report), wanted);
    arena_free(&arena);
    report_free(&report);
    return result;
}

static void equal_buffers_pass(void **state) {
    (void)state;
    struct check_result result = checked("i32", "equals: {values: [1, 2, 3]}", (int32_t[]){1, 2, 3}, 3, STATUS_OK);
    assert_true(result.passed);
    assert_int_equal(result.compared, 3);
    assert_true(
        checked("f32", "equals: {value: 1}, tolerance: 1e-3", (float[]){1.0005F, 0.9995F}, 2, STATUS_OK).passed);
    assert_true(checked("i32", "equals: {values: [2]}, first: 1, count: 1", (int32_t[]){1, 2, 3}, 3, STATUS_OK).passed);
}

static void mismatches_are_counted_and_shown(void **state) {
    (void)state;
    static float data[10000];
    for (unsigned i = 0; i < 10000; i++)
        data[i] = (float)(i == 5000 || i >= 9000 ? 0 : i);
    struct check_result result = checked("f32", "equals: {index: {}}", data, 10000, STATUS_OK);
    assert_false(result.passed);
    assert_int_equal(result.mismatches, 1001);
    assert_int_equal(result.shown, CHECK_MISMATCHES_SHOWN);
    assert_int_equal(result.first[0].index, 5000);
    assert_string_equal(result.first[0].got, "0");
    assert_string_equal(result.first[0].expected, "5000");
    assert_int_equal(result.first[1].index, 9000);
    result = checked("f32", "equals: {value: 1}, first: 9999", data, 10000, STATUS_OK);
    assert_int_equal(result.first[0].index, 9999);
}

/* XXH64 of "abc" with seed 0, as the xxHash project publishes it. */
static void hash_is_xxhash64_of_the_bytes(void **state) {
    (void)state;
    assert_true(checked("u8", "hash: \"44bc2cf5ad770999\"", "abc", 3, STATUS_OK).passed);
    struct check_result result = checked("u8", "hash: \"44bc2cf5ad770998\"", "abc", 3, STATUS_OK);
    assert_false(result.passed);
    assert_string_equal(result.first[0].got, "44bc2cf5ad770999");
}

static void sums_are_exact_for_integers(void **state) {
    (void)state;
    uint64_t data[] = {UINT64_MAX, UINT64_MAX, 3};
    assert_false(checked("u64", "sum: 1", data, 3, STATUS_OK).passed); /* what wrapping would give */
    assert_true(checked("i64", "sum: 1", data, 3, STATUS_OK).passed);
    assert_true(checked("f64", "sum: 0.6", (double[]){0.5, 0.25, -0.15}, 3, STATUS_OK).passed);
    assert_false(checked("f64", "sum: 0.7", (double[]){0.5, 0.25, -0.15}, 3, STATUS_OK).passed);
    assert_true(checked("f64", "sum: 0.7, tolerance: 0.11", (double[]){0.5, 0.25, -0.15}, 3, STATUS_OK).passed);
}

static void ranges_beyond_the_buffer_are_refused(void **state) {
    (void)state;
    checked("i32", "equals: {value: 1}, first: 3", (int32_t[]){1, 2, 3}, 3, STATUS_INVALID);
    checked("i32", "equals: {value: 1}, first: 1, count: 3", (int32_t[]){1, 2, 3}, 3, STATUS_INVALID);
    checked("i32", "equals: {values: [1]}", (int32_t[]){1, 2, 3}, 3, STATUS_INVALID);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_buffers_pass),
        cmocka_unit_test(mismatches_are_counted_and_shown),
        cmocka_unit_test(hash_is_xxhash64_of_the_bytes),
        cmocka_unit_test(sums_are_exact_for_integers),
        cmocka_unit_test(ranges_beyond_the_buffer_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
