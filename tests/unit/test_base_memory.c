/* SPDX-License-Identifier: Apache-2.0 */
/* base/: status, arena, memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/memory.h"
#include "base/status.h"

static void report_keeps_messages_in_order_and_returns_the_code(void **state) {
    (void)state;
    struct report report = {0};
    assert_string_equal(report_text(&report), "");
    assert_int_equal(report_add(&report, STATUS_INVALID, "a.ptx:%d:%d: bad", 3, 4), STATUS_INVALID);
    assert_int_equal(report_add(&report, STATUS_STOPPED, "second\n"), STATUS_STOPPED);
    assert_string_equal(report_text(&report), "a.ptx:3:4: bad\nsecond\n");
    assert_int_equal(report.messages, 2);
    report_free(&report);
    assert_string_equal(report_text(&report), "");
}

static void report_null_drops_messages(void **state) {
    (void)state;
    assert_int_equal(report_add(NULL, STATUS_SYSTEM, "unheard"), STATUS_SYSTEM);
}

static void report_of_endless_messages_is_cut_and_says_so(void **state) {
    (void)state;
    struct report report = {0};
    for (int i = 0; i < 100000; i++)
        report_add(&report, STATUS_INVALID, "message %d", i);
    assert_true(report.truncated);
    assert_true(report.length < 1 << 20);
    assert_non_null(strstr(report.text, "message 0\n"));
    assert_string_equal(report.text + report.length - 26, "further messages left out\n");
    report_free(&report);
}

static void report_of_one_giant_message_is_bounded(void **state) {
    (void)state;
    struct report report = {0};
    report_add(&report, STATUS_INVALID, "%*s", 3 << 20, "x");
    assert_true(report.truncated);
    assert_true(report.length < 100);
    report_free(&report);
}

static void arena_memory_is_zero_and_aligned(void **state) {
    (void)state;
    struct arena arena = {0};
    size_t total = 0;
    for (size_t size = 0; size < 3000; size += 7) {
        for (size_t alignment = 1; alignment <= 4096; alignment *= 8) {
            unsigned char *data = arena_alloc_aligned(&arena, size, alignment);
            assert_int_equal((uintptr_t)data % alignment, 0);
            assert_int_equal((uintptr_t)data % 16, 0);
            for (size_t i = 0; i < size; i++)
                assert_int_equal(data[i], 0);
            memset(data, 0xff, size);
            total += size;
        }
    }
    assert_int_equal(arena.used_bytes, total);
    arena_free(&arena);
    assert_null(arena.blocks);
    assert_int_equal(arena.used_bytes, 0);
}

static void arena_objects_do_not_overlap(void **state) {
    (void)state;
    struct arena arena = {0};
    enum { COUNT = 2000 };
    unsigned char *objects[COUNT];
    for (unsigned i = 0; i < COUNT; i++) {
        /* every 50th is too big to share a block */
        size_t size = i % 50 == 0 ? 100000 : 1 + i % 90;
        objects[i] = arena_alloc(&arena, size);
        memset(objects[i], (int)(i & 0xff), size);
    }
    for (unsigned i = 0; i < COUNT; i++) {
        size_t size = i % 50 == 0 ? 100000 : 1 + i % 90;
        for (size_t k = 0; k < size; k++)
            assert_int_equal(objects[i][k], i & 0xff);
    }
    arena_free(&arena);
}

/* What was written in one lifetime is not seen in the next, and memory is used again. */
static void arena_reset_gives_zeroed_memory_again(void **state) {
    (void)state;
    struct arena arena = {0};
    enum { OBJECTS = 200, BYTES = 3000 };
    for (int lifetime = 0; lifetime < 5; lifetime++) {
        memset(arena_alloc_unset(&arena, BYTES), 0xff, BYTES);
        for (int i = 0; i < (lifetime % 2 ? 3 : OBJECTS); i++) { /* what one leaves alone the next finds as it was */
            unsigned char *data = arena_alloc(&arena, BYTES + (size_t)lifetime * 100);
            for (size_t k = 0; k < BYTES; k++)
                assert_int_equal(data[k], 0);
            memset(data, 0xff, BYTES + (size_t)lifetime * 100);
        }
        memset(arena_alloc(&arena, 4 << 20), 1, 4 << 20); /* too big to be kept */
        arena_reset(&arena);
        assert_null(arena.blocks);
        assert_int_equal(arena.used_bytes, 0);
    }
    arena_free(&arena);
    assert_null(arena.spare);
}

static void arena_copies_text(void **state) {
    (void)state;
    struct arena arena = {0};
    assert_string_equal(arena_strdup(&arena, "warp"), "warp");
    assert_string_equal(arena_strndup(&arena, "warp", 2), "wa");
    assert_string_equal(arena_strndup(&arena, "wa", 10), "wa");
    assert_string_equal(arena_printf(&arena, "%s-%05d", "x", 42), "x-00042");
    assert_memory_equal(arena_copy(&arena, "a\0b", 3), "a\0b", 3);
    assert_non_null(arena_copy(&arena, NULL, 0));
    arena_free(&arena);
}

/* Short texts are formatted in the function's own room, others in the arena: no length may be cut or gain a byte. */
static void arena_printf_gives_texts_of_every_length(void **state) {
    (void)state;
    struct arena arena = {0};
    char expected[601];
    for (size_t length = 0; length <= 600; length++) {
        for (size_t i = 0; i < length; i++)
            expected[i] = (char)('a' + (i * 7 + length) % 26);
        expected[length] = '\0';
        const size_t half = length / 2;
        assert_string_equal(arena_printf(&arena, "%.*s%s", (int)half, expected, expected + half), expected);
    }
    arena_free(&arena);
}

static void arena_push_grows_and_keeps_items(void **state) {
    (void)state;
    struct arena arena = {0};
    struct {
        unsigned *items;
        unsigned count, capacity;
    } list = {0};
    for (unsigned i = 0; i < 1000; i++) {
        unsigned *item = ARENA_PUSH(&arena, &list);
        assert_int_equal(*item, 0);
        *item = i * i;
    }
    assert_int_equal(list.count, 1000);
    for (unsigned i = 0; i < 1000; i++)
        assert_int_equal(list.items[i], i * i);
    arena_free(&arena);
}

static void arena_escapes_when_sizes_overflow(void **state) {
    (void)state;
    struct arena arena = {0};
    jmp_buf escape;
    arena.escape = &escape;
    volatile unsigned escapes = 0;
    if (setjmp(escape) == 0)
        arena_calloc(&arena, SIZE_MAX / 2, 3);
    else
        escapes++;
    if (setjmp(escape) == 0)
        arena_alloc(&arena, SIZE_MAX - 4);
    else
        escapes++;
    assert_int_equal(escapes, 2);
    assert_non_null(arena_alloc(&arena, 10));
    arena_free(&arena);
}

static void memory_is_usable_where_committed_and_zero(void **state) {
    (void)state;
    size_t page = memory_page_bytes(), bytes = (size_t)1 << 36;
    unsigned char *start = memory_reserve(bytes);
    if (!start) {
        print_message("the host refuses to reserve 64 GiB of addresses\n");
        skip();
    }
    unsigned char *part = start + 10 * page + 100;
    assert_true(memory_commit(part, 3 * page));
    for (size_t i = 0; i < 3 * page; i++)
        assert_int_equal(part[i], 0);
    part[0] = 7;
    part[3 * page - 1] = 8;
    /* committing again, and beside it, keeps what is there */
    assert_true(memory_commit(part, page));
    assert_true(memory_commit(part + 3 * page, 1));
    assert_int_equal(part[0], 7);
    assert_int_equal(part[3 * page - 1], 8);
    assert_true(memory_commit(part, 0));
    memory_release(start, bytes);
    memory_release(NULL, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(report_keeps_messages_in_order_and_returns_the_code),
        cmocka_unit_test(report_null_drops_messages),
        cmocka_unit_test(report_of_endless_messages_is_cut_and_says_so),
        cmocka_unit_test(report_of_one_giant_message_is_bounded),
        cmocka_unit_test(arena_memory_is_zero_and_aligned),
        cmocka_unit_test(arena_objects_do_not_overlap),
        cmocka_unit_test(arena_reset_gives_zeroed_memory_again),
        cmocka_unit_test(arena_copies_text),
        cmocka_unit_test(arena_printf_gives_texts_of_every_length),
        cmocka_unit_test(arena_push_grows_and_keeps_items),
        cmocka_unit_test(arena_escapes_when_sizes_overflow),
        cmocka_unit_test(memory_is_usable_where_committed_and_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
