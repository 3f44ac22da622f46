/* SPDX-License-Identifier: Apache-2.0 */
/* result/layout: lists of plain values on one line, everything else indented, the document unchanged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "result/layout.h"

static void expect(const char *document, const char *text) {
    struct arena arena = {0};
    size_t length = 0;
    json_t *root = json_loads(document, 0, NULL);
    assert_non_null(root);
    const char *out = result_layout(root, &arena, &length);
    assert_string_equal(out, text);
    assert_int_equal(length, strlen(text));
    json_t *again = json_loads(out, 0, NULL);
    assert_true(json_equal(root, again));
    json_decref(root);
    json_decref(again);
    arena_free(&arena);
}

static void lists_of_values_stay_on_a_line(void **state) {
    (void)state;
    expect("{\"a\": [1, 2.5, null, \"x\"], \"b\": [], \"c\": {}}",
           "{\n \"a\": [1, 2.5, null, \"x\"],\n \"b\": [],\n \"c\": {}\n}\n");
    expect("{\"a\": [[0, 0, 5], [1, null, 7]]}", "{\n \"a\": [[0, 0, 5], [1, null, 7]]\n}\n");
}

static void lists_of_objects_do_not(void **state) {
    (void)state;
    expect("{\"a\": [{\"b\": [1, 2]}, {\"c\": 3}]}",
           "{\n \"a\": [\n  {\n   \"b\": [1, 2]\n  },\n  {\n   \"c\": 3\n  }\n ]\n}\n");
}

static void brackets_in_text_mean_nothing(void **state) {
    (void)state;
    expect("{\"a\": [\"}\", \"[\\\"{\", \"\\\\\", \"x\\n  y\"], \"]\": 1}",
           "{\n \"a\": [\"}\", \"[\\\"{\", \"\\\\\", \"x\\n  y\"],\n \"]\": 1\n}\n");
}

/* Every bit, and every length: none passes for the text that was sealed. */
static void a_sealed_text_shows_every_change(void **state) {
    (void)state;
    static const char *const documents[] = {"{}", "{\"a\": 1, \"host\": {\"checksum\": \"old\", \"b\": 2}}"};
    for (unsigned k = 0; k < 2; k++) {
        struct arena arena = {0};
        size_t length = 0;
        json_t *root = json_loads(documents[k], 0, NULL);
        char *text = result_seal(root, &arena, &length);
        assert_int_equal(result_check_seal(text, length), RESULT_SEALED);
        for (size_t bit = 0; bit < length * 8; bit++) {
            text[bit / 8] = (char)(text[bit / 8] ^ 1 << bit % 8);
            assert_int_not_equal(result_check_seal(text, length), RESULT_SEALED);
            text[bit / 8] = (char)(text[bit / 8] ^ 1 << bit % 8);
        }
        for (size_t shorter = 0; shorter < length; shorter++)
            assert_int_equal(result_check_seal(text, shorter), RESULT_UNSEALED);
        char again[512];
        memcpy(again, text, length);
        size_t same = 0; /* sealing what is sealed changes nothing */
        assert_memory_equal(result_seal(root, &arena, &same), again, length);
        assert_int_equal(same, length);
        json_decref(root);
        arena_free(&arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_of_values_stay_on_a_line),
        cmocka_unit_test(lists_of_objects_do_not),
        cmocka_unit_test(brackets_in_text_mean_nothing),
        cmocka_unit_test(a_sealed_text_shows_every_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
