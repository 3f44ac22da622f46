/* SPDX-License-Identifier: Apache-2.0 */
#include "base/elf.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

static const uint8_t text[24] = {1, 2, 3, 4, 5, 6, 7, 8, 9};

static struct elf_file example(struct arena *arena, bool wide) {
    struct elf_relocation *relocations = ARENA_ARRAY(arena, struct elf_relocation, 2);
    relocations[0] = (struct elf_relocation){.offset = 8, .symbol = 2, .type = 7, .addend = -5};
    relocations[1] = (struct elf_relocation){.offset = 0, .symbol = 1, .type = 2, .addend = 0x1234};
    struct elf_section *sections = ARENA_ARRAY(arena, struct elf_section, 3);
    sections[0] = (struct elf_section){.name = ".text.k",
                                       .type = ELF_PROGBITS,
                                       .flags = ELF_ALLOC | ELF_EXECUTE | 0x300000,
                                       .link = ELF_SYMTAB_SECTION,
                                       .info = 0x0a000001,
                                       .align = 16,
                                       .bytes = text,
                                       .byte_count = sizeof text};
    sections[1] = (struct elf_section){.name = ".bss", .type = ELF_NOBITS, .flags = ELF_WRITE, .byte_count = 4096};
    sections[2] = (struct elf_section){.name = ".rela.text.k",
                                       .type = ELF_RELA,
                                       .link = ELF_SYMTAB_SECTION,
                                       .info = ELF_FIRST_SECTION,
                                       .align = 8,
                                       .relocations = relocations,
                                       .relocation_count = 2};
    struct elf_symbol *symbols = ARENA_ARRAY(arena, struct elf_symbol, 3);
    symbols[1] = (struct elf_symbol){.type = ELF_SYMBOL_SECTION, .section = ELF_FIRST_SECTION};
    symbols[2] = (struct elf_symbol){.name = "k",
                                     .value = 4,
                                     .byte_count = 20,
                                     .binding = ELF_GLOBAL,
                                     .type = ELF_SYMBOL_FUNCTION,
                                     .other = 0x10,
                                     .section = ELF_FIRST_SECTION};
    return (struct elf_file){.wide = wide,
                             .os_abi = 0x33,
                             .abi_version = 4,
                             .type = ELF_EXECUTABLE,
                             .machine = 190,
                             .flags = 0x140114,
                             .sections = sections,
                             .section_count = 3,
                             .symbols = symbols,
                             .symbol_count = 3};
}

static void what_is_written_is_read_back(void **state) {
    (void)state;
    for (unsigned wide = 0; wide < 2; wide++) {
        struct arena arena = {0};
        struct report report = {0};
        struct elf_file file, made = example(&arena, wide);
        size_t length;
        const uint8_t *bytes = elf_write(&made, &arena, &length);
        assert_int_equal(elf_read("x", bytes, length, &arena, &file, &report), STATUS_OK);
        assert_int_equal(file.wide, wide);
        assert_int_equal(file.machine, 190);
        assert_int_equal(file.flags, 0x140114);
        assert_int_equal(file.os_abi, 0x33);
        assert_int_equal(file.abi_version, 4);
        assert_int_equal(file.section_count, 7);
        const struct elf_section *section = &file.sections[ELF_FIRST_SECTION];
        assert_string_equal(section->name, ".text.k");
        assert_int_equal(section->flags, ELF_ALLOC | ELF_EXECUTE | 0x300000);
        assert_int_equal(section->info, 0x0a000001);
        assert_int_equal(section->offset % 16, 0);
        assert_memory_equal(section->bytes, text, sizeof text);
        assert_int_equal(section[1].byte_count, 4096);
        assert_null(section[1].bytes);
        assert_int_equal(section[2].relocation_count, 2);
        assert_int_equal(section[2].relocations[0].addend, -5);
        assert_int_equal(section[2].relocations[0].symbol, 2);
        assert_int_equal(section[2].relocations[1].addend, 0x1234);
        assert_int_equal(file.symbol_count, 3);
        assert_string_equal(file.symbols[2].name, "k");
        assert_int_equal(file.symbols[2].value, 4);
        assert_int_equal(file.symbols[2].byte_count, 20);
        assert_int_equal(file.symbols[2].other, 0x10);
        arena_free(&arena);
        report_free(&report);
    }
}

/* A part of a file, and a file with any byte changed, is read or refused in words; what is read lies in the file. */
static void harmed_files_are_read_within_their_bounds_or_refused(void **state) {
    (void)state;
    for (unsigned wide = 0; wide < 2; wide++) {
        struct arena arena = {0};
        struct elf_file made = example(&arena, wide);
        size_t length, refused = 0;
        uint8_t *bytes = elf_write(&made, &arena, &length);
        for (size_t at = 0; at < 2 * length; at++) {
            struct arena scratch = {0};
            struct report report = {0};
            struct elf_file file;
            const size_t end = at < length ? at : length;
            uint8_t *copy = arena_copy(&scratch, bytes, end);
            if (at >= length)
                copy[at - length] ^= 0xff;
            if (elf_read("x", copy, end, &scratch, &file, &report) == STATUS_OK) {
                for (unsigned i = 0; i < file.section_count; i++)
                    if (file.sections[i].bytes)
                        assert_true(file.sections[i].bytes + file.sections[i].byte_count <= copy + end);
            } else {
                assert_int_equal(report.messages, 1);
                refused++;
            }
            report_free(&report);
            arena_free(&scratch);
        }
        assert_true(refused > length / 2); /* of parts all that lack a section */
        arena_free(&arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read_back),
        cmocka_unit_test(harmed_files_are_read_within_their_bounds_or_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
