/* SPDX-License-Identifier: Apache-2.0 */
/* Line programs of DWARF 2 to 5, put together by hand from the standard, and what is wrong with others. */
#include "base/dwarf.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/rng.h"

struct builder {
    uint8_t bytes[1024];
    size_t length;
};

static void put(struct builder *b, uint64_t value, unsigned bytes) {
    for (unsigned i = 0; i < bytes; i++)
        b->bytes[b->length++] = (uint8_t)(value >> (8 * i));
}

static void put_text(struct builder *b, const char *text) {
    memcpy(b->bytes + b->length, text, strlen(text) + 1);
    b->length += strlen(text) + 1;
}

static void patch(struct builder *b, size_t at, uint64_t value, unsigned bytes) {
    for (unsigned i = 0; i < bytes; i++)
        b->bytes[at + i] = (uint8_t)(value >> (8 * i));
}

static const char line_strings[] = "/home/me\0folder\0a.cl\0b.h";

static void put_old_files(struct builder *b) {
    put_text(b, "folder");
    put(b, 0, 1);
    put_text(b, "a.cl"), put(b, 0, 1), put(b, 0x8105, 2), put(b, 9, 1); /* a number of two bytes */
    put_text(b, "b.h"), put(b, 1, 1), put(b, 0, 1), put(b, 0, 1);
    put(b, 0, 1);
}

/* Folders and files of version 5; a file has an MD5 too. */
static void put_new_files(struct builder *b, unsigned offset) {
    put(b, 1, 1), put(b, 1, 1), put(b, 0x1f, 1); /* path: line_strp */
    put(b, 2, 1), put(b, 0, offset), put(b, 9, offset);
    put(b, 3, 1), put(b, 1, 1), put(b, 0x1f, 1), put(b, 2, 1), put(b, 0x0b, 1), put(b, 5, 1), put(b, 0x1e, 1);
    put(b, 2, 1);
    put(b, 16, offset), put(b, 0, 1), put(b, 0, 8), put(b, 0, 8);
    put(b, 21, offset), put(b, 1, 1), put(b, 0, 8), put(b, 0, 8);
}

/* Lines 10 to 12 of the first file, 3 of the second, in one sequence from 0x40 on; instructions have 16 bytes. */
static void put_program(struct builder *b, unsigned version) {
    const unsigned first = version < 5 ? 1 : 0;
    put(b, 0, 1), put(b, 9, 1), put(b, 2, 1), put(b, 0x40, 8);      /* the address */
    put(b, 4, 1), put(b, first, 1);                                 /* the file */
    put(b, 3, 1), put(b, 9, 1), put(b, 5, 1), put(b, 7, 1);         /* line 10, column 7 */
    put(b, 1, 1);                                                   /* 0x40 */
    put(b, 13 + (1 + 5) + 14, 1);                                   /* special: a step, one line on: 0x50, line 11 */
    put(b, 0, 1), put(b, 3, 1), put(b, 0x90, 1), put(b, 0x0505, 2); /* somebody's own */
    put(b, 2, 1), put(b, 2, 1), put(b, 3, 1), put(b, 1, 1);         /* two steps, line 12 */
    put(b, 10, 1), put(b, 6, 1), put(b, 1, 1);                      /* prologue, statement; 0x70 */
    put(b, 4, 1), put(b, first + 1, 1), put(b, 3, 1), put(b, 0x77, 1);
    put(b, 8, 1), put(b, 1, 1);               /* 255 as a special one: 17 steps; line 12 - 9 */
    put(b, 9, 1), put(b, 0x20, 2);            /* 0x20 bytes */
    put(b, 0, 1), put(b, 1, 1), put(b, 1, 1); /* the end */
}

static void put_unit(struct builder *b, unsigned version, bool is_long) {
    static const uint8_t lengths[] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};
    const size_t start = b->length;
    const unsigned offset = is_long ? 8 : 4;
    if (is_long)
        put(b, UINT32_MAX, 4);
    put(b, 0, offset);
    const size_t body = b->length;
    put(b, version, 2);
    if (version >= 5)
        put(b, 8, 1), put(b, 0, 1);
    const size_t header = b->length;
    put(b, 0, offset);
    put(b, 16, 1);
    if (version >= 4)
        put(b, 1, 1);
    put(b, 1, 1), put(b, (uint8_t)-5, 1), put(b, 14, 1), put(b, 13, 1);
    memcpy(b->bytes + b->length, lengths, sizeof lengths);
    b->length += sizeof lengths;
    if (version < 5)
        put_old_files(b);
    else
        put_new_files(b, offset);
    patch(b, header, b->length - header - offset, offset);
    put_program(b, version);
    patch(b, start + (is_long ? 4 : 0), b->length - body, offset);
}

static const char *read_lines(const struct builder *b, struct arena *arena, struct dwarf_lines *out) {
    const struct dwarf_input input = {
        .lines = {b->bytes, b->length},
        .line_strings = {(const uint8_t *)line_strings, sizeof line_strings},
    };
    size_t at;
    return dwarf_read_lines(&input, arena, out, &at);
}

static void expect_rows(const struct dwarf_lines *lines, unsigned from, uint32_t file, size_t origin) {
    const struct {
        uint64_t address;
        uint32_t file, line;
        bool ends;
    } rows[] = {{0x40, file, 10, false},
                {0x50, file, 11, false},
                {0x70, file, 12, false},
                {0x180, file + 1, 3, false},
                {0x1a0, file + 1, 3, true}};
    for (unsigned i = 0; i < 5; i++) {
        const struct dwarf_row *row = &lines->rows[from + i];
        assert_int_equal(row->address, rows[i].address);
        assert_int_equal(row->file, rows[i].file);
        assert_int_equal(row->line, rows[i].line);
        assert_int_equal(row->column, 7);
        assert_int_equal(row->ends, rows[i].ends);
        assert_int_equal(row->origin, origin);
    }
}

static void all_versions_and_both_forms_are_read(void **state) {
    (void)state;
    for (unsigned version = 2; version <= 5; version++)
        for (unsigned is_long = 0; is_long < 2; is_long++) {
            struct builder b = {.length = 0};
            struct arena arena = {0};
            struct dwarf_lines lines;
            put_unit(&b, version, is_long);
            const char *wrong = read_lines(&b, &arena, &lines);
            if (wrong)
                fail_msg("version %u: %s", version, wrong);
            assert_int_equal(lines.file_count, 3);
            assert_string_equal(lines.files[1], "a.cl");
            assert_string_equal(lines.files[2], "folder/b.h");
            assert_int_equal(lines.row_count, 5);
            const uint8_t address[] = {2, 0x40, 0, 0};
            size_t origin = 0;
            while (memcmp(b.bytes + origin, address, sizeof address) != 0)
                origin++;
            expect_rows(&lines, 0, 1, origin + 1);
            arena_free(&arena);
        }
}

static void units_follow_each_other(void **state) {
    (void)state;
    struct builder b = {.length = 0};
    struct arena arena = {0};
    struct dwarf_lines lines;
    put_unit(&b, 2, false);
    put_unit(&b, 5, false);
    assert_null(read_lines(&b, &arena, &lines));
    assert_int_equal(lines.row_count, 10);
    assert_int_equal(lines.file_count, 5);
    expect_rows(&lines, 5, 3, lines.rows[5].origin);
    assert_true(lines.rows[5].origin > lines.rows[0].origin);
    arena_free(&arena);
}

static void what_is_wrong_is_said(void **state) {
    (void)state;
    struct builder whole = {.length = 0};
    put_unit(&whole, 4, false);
    for (size_t length = 1; length < whole.length; length++) { /* cut anywhere */
        struct builder b = whole;
        struct arena arena = {0};
        struct dwarf_lines lines;
        b.length = length;
        assert_non_null(read_lines(&b, &arena, &lines));
        arena_free(&arena);
    }
    static const struct {
        size_t at;
        uint8_t value;
        const char *says;
    } changes[] = {{4, 6, "version"},
                   {4, 1, "version"},
                   {14, 0, "a range of 0 lines"},
                   {15, 0, "a range of 0 lines"},
                   {6, 255, "header"}};
    for (unsigned i = 0; i < sizeof changes / sizeof *changes; i++) {
        struct builder b = whole;
        struct arena arena = {0};
        struct dwarf_lines lines;
        b.bytes[changes[i].at] = changes[i].value;
        const char *wrong = read_lines(&b, &arena, &lines);
        if (!wrong || !strstr(wrong, changes[i].says))
            fail_msg("byte %zu: %s, not %s", changes[i].at, wrong ? wrong : "nothing", changes[i].says);
        arena_free(&arena);
    }
}

/* Any bytes are read or refused, and files and strings lie where they are said to. */
static void changed_bytes_do_no_harm(void **state) {
    (void)state;
    struct rng rng;
    rng_seed(&rng, 5);
    for (unsigned i = 0; i < 20000; i++) {
        struct builder b = {.length = 0};
        struct arena arena = {0};
        struct dwarf_lines lines;
        put_unit(&b, 2 + i % 4, i / 4 % 2);
        for (unsigned k = 0; k < 3; k++)
            b.bytes[rng_below(&rng, b.length)] = (uint8_t)rng_below(&rng, 256);
        if (!read_lines(&b, &arena, &lines))
            for (unsigned k = 0; k < lines.row_count; k++)
                assert_true(lines.rows[k].file < lines.file_count);
        arena_free(&arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_versions_and_both_forms_are_read),
        cmocka_unit_test(units_follow_each_other),
        cmocka_unit_test(what_is_wrong_is_said),
        cmocka_unit_test(changed_bytes_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
