/* SPDX-License-Identifier: Apache-2.0 */
/* Fills and element types against values computed elsewhere (NumPy, and the generators' published definitions). */
#include "launch/fill.h"
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "arena_fixture.h"

static const char *file_content;
static size_t file_bytes;

static enum status read_fake(void *context, const char *path, size_t limit_bytes, struct arena *into,
                             struct file_contents *out, struct report *to) {
    (void)context;
    if (limit_bytes < file_bytes)
        return report_add(to, STATUS_INVALID, "%s: larger than the limit", path);
    if (strcmp(path, "dir/data") != 0)
        return report_add(to, STATUS_INVALID, "%s: no such file", path);
    *out = (struct file_contents){arena_copy(into, file_content, file_bytes), file_bytes};
    return STATUS_OK;
}

static const struct file_access fake_files = {NULL, read_fake};

static enum status fill(const char *text, enum element element, uint64_t count, void *out) {
    struct yaml yaml;
    struct fill parsed;
    struct fill_cursor cursor = {.fill = &parsed, .element = element, .count = count};
    enum status status = yaml_parse(&arena, "k.yaml", text, strlen(text), &yaml, &report);
    if (!status)
        status = fill_parse(&yaml, yaml.root, element, &arena, &parsed, &report);
    struct fill_source source = {&yaml, "dir", &fake_files, 99, 1 << 30};
    if (!status)
        status = fill_start(&cursor, &source, &arena, &report);
    /* in two steps: a fill must not depend on how it is cut */
    if (!status) {
        fill_next(&cursor, out, count / 2);
        fill_next(&cursor, (char *)out + count / 2 * element_bytes(element), count - count / 2);
    }
    return status;
}

static void good(const char *text, enum element element, uint64_t count, const void *expected) {
    unsigned char out[256];
    if (fill(text, element, count, out))
        fail_msg("%s: %s", text, report_text(&report));
    assert_memory_equal(out, expected, count * element_bytes(element));
}

static void bad(const char *text, enum element element, uint64_t count, const char *words) {
    unsigned char out[256];
    report_free(&report);
    report = (struct report){0};
    assert_int_equal(fill(text, element, count, out), STATUS_INVALID);
    if (!strstr(report_text(&report), words))
        fail_msg("expected '%s' in: %s", words, report_text(&report));
}

static void index_arithmetic(void **state) {
    (void)state;
    good("{index: {}}", ELEMENT_I32, 5, (int32_t[]){0, 1, 2, 3, 4});
    good("{index: }", ELEMENT_U8, 5, (uint8_t[]){0, 1, 2, 3, 4});
    good("{index: {modulo: 3}}", ELEMENT_F32, 5, (float[]){0, 1, 2, 0, 1});
    good("{index: {scale: 5, offset: 2, modulo: 3}}", ELEMENT_U8, 11, (uint8_t[]){2, 1, 0, 2, 1, 0, 2, 1, 0, 2, 1});
    good("{index: {scale: -1, offset: 1, modulo: 4}}", ELEMENT_I16, 6, (int16_t[]){1, 0, 3, 2, 1, 0});
    good("{index: {scale: 2.5, offset: 1}}", ELEMENT_F64, 4, (double[]){1, 3.5, 6, 8.5});
    good("{index: {scale: 0.5, offset: -1, modulo: 2}}", ELEMENT_F64, 6, (double[]){1, 1.5, 0, 0.5, 1, 1.5});
    good("{index: {scale: 100}}", ELEMENT_U8, 4, (uint8_t[]){0, 100, 200, 44});
    good("{index: {scale: 0x4000000000000000}}", ELEMENT_U64, 5,
         (uint64_t[]){0, UINT64_C(1) << 62, UINT64_C(1) << 63, UINT64_C(3) << 62, 0});
    bad("{index: {scale: 0.5}}", ELEMENT_I32, 4, "integers");
    bad("{index: {modulo: 0}}", ELEMENT_I32, 4, "at least 1");
    bad("{index: {step: 1}}", ELEMENT_I32, 4, "no key 'step'");
}

static void xorshift32_stream(void **state) {
    (void)state;
    good("{xorshift32: {state: 12345}}", ELEMENT_U32, 4,
         (uint32_t[]){3336926330u, 1697253807u, 2816511904u, 1955480042u});
    good("{xorshift32: {state: 12345, skip: 2, modulo: 8}}", ELEMENT_F32, 4,
         (float[]){2816511904u % 8, 1955480042u % 8, 718842323u % 8, 3283620450u % 8});
    /* its period is 2^32 - 1, and all of it is left out at once */
    good("{xorshift32: {state: 12345, skip: 4294967296}}", ELEMENT_U32, 3,
         (uint32_t[]){1697253807u, 2816511904u, 1955480042u});
    bad("{xorshift32: {state: 0}}", ELEMENT_U32, 4, "must not be 0");
}

static void random_values(void **state) {
    (void)state;
    good("{random: {seed: 7, min: -3, max: 6}}", ELEMENT_I32, 4, (int32_t[]){1, 1, 5, 1});
    good("{random: {seed: 7, min: -2, max: 6}}", ELEMENT_F64, 4,
         (double[]){3.6046118574375168, 0.23000983579027423, 4.717019695011358, 5.848781800119481});
    uint64_t from_default[2], from_seed[2];
    assert_int_equal(fill("{random: {max: 0xffffffffffffffff}}", ELEMENT_U64, 2, from_default), STATUS_OK);
    assert_int_equal(fill("{random: {seed: 99, max: 0xffffffffffffffff}}", ELEMENT_U64, 2, from_seed), STATUS_OK);
    assert_memory_equal(from_default, from_seed, sizeof from_seed);
    bad("{random: {min: 2, max: 1}}", ELEMENT_I32, 2, "at most max");
    bad("{random: {max: 256}}", ELEMENT_U8, 2, "does not fit");
    bad("{random: {max: inf}}", ELEMENT_F32, 2, "finite");
}

static void values_and_value(void **state) {
    (void)state;
    good("{values: [-1, 0x7f, 3]}", ELEMENT_I8, 3, (int8_t[]){-1, 127, 3});
    good("{value: 3.0}", ELEMENT_I32, 2, (int32_t[]){3, 3});
    bad("{values: [1, 2]}", ELEMENT_I8, 3, "2 values are given, but 3");
    bad("{values: 5}", ELEMENT_I8, 1, "list of numbers");
}

static void halves_round_to_nearest_even(void **state) {
    (void)state;
    good("{values: [0.1, 65504, 65520, 65519.99, 6e-8, 2.98e-8, 1e-10, inf, -2.5, 1.0009765625, 1.00048828125]}",
         ELEMENT_F16, 11, (uint16_t[]){0x2e66, 0x7bff, 0x7c00, 0x7bff, 1, 0, 0, 0x7c00, 0xc100, 0x3c01, 0x3c00});
    good("{values: [0.1, 1.00390625, 1.01171875, 3.3895313892515355e38, 3.4e38, -2.5]}", ELEMENT_BF16, 6,
         (uint16_t[]){0x3dcd, 0x3f80, 0x3f82, 0x7f7f, 0x7f80, 0xc020});
    for (uint32_t bits = 0; bits < 0x10000; bits++) {
        uint16_t half = (uint16_t)bits, back;
        struct number number = element_load(ELEMENT_F16, &half);
        if (number.real != number.real)
            continue;
        element_store(ELEMENT_F16, &number, &back);
        assert_int_equal(half, back);
        number = element_load(ELEMENT_BF16, &half);
        if (number.real != number.real)
            continue;
        element_store(ELEMENT_BF16, &number, &back);
        assert_int_equal(half, back);
    }
}

/* 1 + 2^-24 + 2^-60 is above the midpoint of two floats, but not after it has been rounded to a double. */
static void floats_round_once(void **state) {
    (void)state;
    good("{value: 1.0000000596046447754}", ELEMENT_F32, 1, (float[]){0x1.000002p0F});
}

static void raw_and_numpy_files(void **state) {
    (void)state;
    static const char npy[] = "\x93NUMPY\x01\x00v\x00{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }"
                              "                                                          \n"
                              "\x00\x00\x01\x00\x02\x00\x03\x00\x04\x00\x05\x00";
    file_content = npy;
    file_bytes = sizeof npy - 1;
    good("{file: data}", ELEMENT_I16, 6, (int16_t[]){0, 1, 2, 3, 4, 5});
    bad("{file: data}", ELEMENT_U16, 6, "NumPy type '<i2'");
    bad("{file: data}", ELEMENT_I16, 5, "holds 6 elements, but 5");
    file_bytes -= 2;
    bad("{file: data}", ELEMENT_I16, 6, "cut off: 5 of its 6");
    file_bytes = sizeof npy; /* with the NUL behind it */
    bad("{file: data}", ELEMENT_I16, 6, "1 bytes more than the shape");
    file_content = "\x01\x02\x03\x04";
    file_bytes = 4;
    good("{file: data}", ELEMENT_U16, 2, (uint16_t[]){0x201, 0x403});
    bad("{file: data}", ELEMENT_F64, 1, "no whole number of f64");
    bad("{file: other}", ELEMENT_U8, 1, "no such file");
}

static void numbers_do_not_depend_on_the_locale(void **state) {
    (void)state;
    if (!setlocale(LC_ALL, "de_DE.UTF-8"))
        skip();
    good("{values: [2.5, 1e-3]}", ELEMENT_F64, 2, (double[]){2.5, 1e-3});
    setlocale(LC_ALL, "C");
}

static void tolerance_is_relative_above_one(void **state) {
    (void)state;
    assert_true(element_close(ELEMENT_F32, &(float){1000.5F}, &(float){1000}, 1e-3));
    assert_false(element_close(ELEMENT_F32, &(float){1002}, &(float){1000}, 1e-3));
    assert_true(element_close(ELEMENT_F64, &(double){0.0005}, &(double){0}, 1e-3));
    assert_false(element_close(ELEMENT_F64, &(double){__builtin_inf()}, &(double){0}, 1e3));
    assert_false(element_close(ELEMENT_F64, &(double){0}, &(double){__builtin_inf()}, 1e3));
    assert_true(element_close(ELEMENT_F64, &(double){__builtin_inf()}, &(double){__builtin_inf()}, 0));
    assert_true(element_close(ELEMENT_F64, &(double){__builtin_nan("")}, &(double){__builtin_nan("")}, 0));
    assert_false(element_close(ELEMENT_F64, &(double){__builtin_nan("")}, &(double){1}, 1e9));
    assert_true(element_close(ELEMENT_F64, &(double){-0.0}, &(double){0.0}, 0));
    assert_true(element_close(ELEMENT_I32, &(int32_t){-5}, &(int32_t){-4}, 0.25));
    assert_false(element_close(ELEMENT_I32, &(int32_t){-5}, &(int32_t){-4}, 0.2));
    /* equal as doubles, different as integers */
    assert_false(element_close(ELEMENT_U64, &(uint64_t){UINT64_MAX}, &(uint64_t){UINT64_MAX - 1}, 0));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(index_arithmetic, start, stop),
        cmocka_unit_test_setup_teardown(xorshift32_stream, start, stop),
        cmocka_unit_test_setup_teardown(random_values, start, stop),
        cmocka_unit_test_setup_teardown(values_and_value, start, stop),
        cmocka_unit_test_setup_teardown(halves_round_to_nearest_even, start, stop),
        cmocka_unit_test_setup_teardown(floats_round_once, start, stop),
        cmocka_unit_test_setup_teardown(raw_and_numpy_files, start, stop),
        cmocka_unit_test_setup_teardown(numbers_do_not_depend_on_the_locale, start, stop),
        cmocka_unit_test_setup_teardown(tolerance_is_relative_above_one, start, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
