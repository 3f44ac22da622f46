/* SPDX-License-Identifier: Apache-2.0 */
/* NumPy files: what numpy.save writes is read, what is written numpy.load reads, anything else is refused. */
#include "launch/npy.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static size_t make(char *out, unsigned version, const char *header, size_t data) {
    size_t length = strlen(header), start = version == 1 ? 10 : 12;
    memcpy(out, "\x93NUMPY", 6);
    out[6] = (char)version;
    out[7] = 0;
    memset(out + 8, 0, 4);
    out[8] = (char)length;
    memcpy(out + start, header, length);
    memset(out + start + length, 7, data);
    return start + length + data;
}

static void reads_what_numpy_writes(void **state) {
    (void)state;
    char bytes[256];
    struct npy npy;
    size_t length = make(bytes, 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", 24);
    assert_int_equal(npy_parse("a.npy", bytes, length, &npy, NULL), STATUS_OK);
    assert_int_equal(npy.count, 6);
    assert_int_equal(npy.dimensions, 2);
    assert_int_equal(npy.shape[1], 3);
    assert_int_equal(npy.data_bytes, 24);
    assert_true(npy_matches(&npy, ELEMENT_F32));
    assert_false(npy_matches(&npy, ELEMENT_I32));
    length = make(bytes, 3, "{'shape': (5,), 'descr': '|V2', 'fortran_order': True}", 10);
    assert_int_equal(npy_parse("a.npy", bytes, length, &npy, NULL), STATUS_OK);
    assert_int_equal(npy.count, 5);
    assert_true(npy_matches(&npy, ELEMENT_BF16));
    length = make(bytes, 2, "{'shape': (), 'descr': '<f8', 'fortran_order': False}", 8);
    assert_int_equal(npy_parse("a.npy", bytes, length, &npy, NULL), STATUS_OK);
    assert_int_equal(npy.count, 1);
}

static void refuses_the_rest(void **state) {
    (void)state;
    static const char *const headers[] = {
        "",
        "{",
        "{}",
        "{'descr': '<f4'}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)",
        "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1)}",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3)}",
    };
    char bytes[256];
    struct npy npy;
    for (unsigned i = 0; i < sizeof headers / sizeof headers[0]; i++) {
        size_t length = make(bytes, 1, headers[i], 24);
        assert_int_equal(npy_parse("a.npy", bytes, length, &npy, NULL), STATUS_INVALID);
    }
    size_t length = make(bytes, 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", 0);
    for (size_t cut = 0; cut < length; cut++)
        assert_int_equal(npy_parse("a.npy", bytes, cut, &npy, NULL), STATUS_INVALID);
    make(bytes, 4, "", 0);
    assert_int_equal(npy_parse("a.npy", bytes, 12, &npy, NULL), STATUS_INVALID);
}

static void writes_what_it_reads(void **state) {
    (void)state;
    for (unsigned i = 0; i < ELEMENT_COUNT; i++) {
        char header[NPY_HEADER_BYTES];
        struct npy npy;
        npy_header((enum element)i, UINT64_C(1) << 40, header);
        assert_int_equal(npy_parse("a.npy", header, sizeof header, &npy, NULL), STATUS_OK);
        assert_true(npy.count == UINT64_C(1) << 40);
        assert_true(npy_matches(&npy, (enum element)i));
        assert_int_equal(npy.data_bytes, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_numpy_writes),
        cmocka_unit_test(refuses_the_rest),
        cmocka_unit_test(writes_what_it_reads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
