/* SPDX-License-Identifier: Apache-2.0 */
#include "sass/cubin.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/elf.h"

/* Three words of parameters, as in public files, whose records are known; and all else that a program can have. */
static const char three_params[] = "code for sm_20\nFunction : scan\n.params 12\n.param 0 4\n.param 4 4\n.param 8 4\n"
                                   "MOV R1, c [0x1] [0x100];\nS2R R0, SR_Tid_X;\nBAR.RED.POPC RZ, RZ;\nEXIT;\n";
static const char rich[] =
    "code for sm_21\n"
    ".variable 20 table\n.init 0x1 0x2 0x3\n.variable 16 pointers\n.init 0x0 0x0 0x7\n.pointer 0x0 8 table 4\n"
    ".variable 100000 zeros\n"
    "Function : first\n.params 24\n.param 0 8\n.param 8 16\n.shared 100\n.local 48\n.maxntid 256 1 1\n.reqntid 8 4 2\n"
    ".targets 0x20 0x28\n.targets 0x20 0x30\n.constant 0x2 0x0 0x3f800000 0x5\n.constant 0xe 0x0 0x0 0x0 0x0 0x0\n"
    ".constant 0x10 0x0 0x9\n.address 0xe 0x0 8 table 0\n.address 0xe 0x8 8 zeros -4\n"
    "/*0000*/ MOV R2, c [0xe] [0x0];\n/*0008*/ MOV R3, c [0xe] [0x4];\n/*0010*/ LD.E R0, [R2+0x8];\n"
    "/*0018*/ FADD R0, R0, c [0x2] [0x0];\n/*0020*/ BRX R0 0x0;\n/*0028*/ BAR.RED.POPC RZ, RZ;\n/*0050*/ EXIT;\n"
    "Function : second\n.constant 0x2 0x0 0x3f800000 0x5\nMOV R60, c [0x2] [0x4];\nEXIT;\n";

/* Tesla: instructions of 4 and 8 bytes, a gap, banks 0 and 1, which are the program's own, and variables. */
static const char tesla[] =
    "code for sm_13\n.variable 20 table\n.init 0x1 0x2 0x3\n.variable 64 zeros\n"
    "Function : first\n.params 12\n.param 0 4\n.param 4 8\n.shared 72\n.local 16\n.reqntid 64 1 1\n"
    ".constant 0x0 0x0 0x7\n.constant 0x1 0x0 0x3ff 0x3f800000\n.constant 0xe 0x0 0x0\n.address 0xe 0x0 4 table 8\n"
    "/*0000*/ IADD32 R3, g [0x4], R5;\n/*0004*/ IADD32 R0, R5, R2;\n/*0008*/ LOP.AND R2, R0, c [0x1] [0x0];\n"
    "/*0010*/ MVC R3, c [0xe] [0x0];\n/*0018*/ MVC R4, c [0xf] [0x3];\n/*0020*/ R2A A1, R1, 0x2;\n"
    "/*0028*/ LST.U32 local [A1+0x8], R2;\n/*0030*/ BAR.ARV.WAIT b1, 0xfff;\n/*0040*/ GST.U32 global14 [R3], R2;\n"
    "/*0048*/ MOV32 R5, R3;\n/*0050*/ EXIT;\n"
    "Function : second\n.constant 0x0 0x0 0x7\n.constant 0x1 0x0 0x3ff 0x3f800000\nMVC R6, c [0x0] [0x0];\nEXIT;\n";

/* Addresses in instructions, and a branch through a table, which ends where a word leads to no instruction. */
static const char places[] =
    "code for sm_20\n.variable 20 table\n.init 0x1\nFunction : k\n.constant 0x10 0x0 0x7 0x0 0x8 0x0 0x3\n"
    ".address code 0x0 4 table 8\n.address low 0x8 4 table -4\n.address high 0x10 4 table -4\n"
    "/*0000*/ MOV32I R0, 0x0;\n/*0008*/ MOV32I R2, 0x0;\n/*0010*/ IADD32I R3, R4, 0x0;\n/*0018*/ LD.E R4, [R2];\n"
    "/*0020*/ BRX c [0x10] [R4+0x4];\n/*0028*/ EXIT;\n/*0030*/ EXIT;\n";

static const uint8_t *write_text(struct arena *arena, const char *listing, size_t *length, const char **print) {
    struct native_program program;
    struct report report = {0};
    uint8_t *bytes = NULL;
    if (native_parse("k.sass", listing, &program, &report) != STATUS_OK)
        fail_msg("%s", report_text(&report));
    if (cubin_write(&program, arena, &bytes, length, &report) != STATUS_OK)
        fail_msg("%s", report_text(&report));
    *print = native_print(&program, true, arena);
    native_free(&program);
    report_free(&report);
    return bytes;
}

static void what_is_written_is_read_back(void **state) {
    (void)state;
    static const char odd[] =
        "code for sm_20\nFunction : k\n.params 9\n.param 0 8\n.param 8 1\nMOV R1, c [0x0] [0x20];\nEXIT;\n";
    static const char *const listings[] = {three_params, rich, odd, tesla, places};
    static const uint32_t registers[] = {2, 4, 2, 6, 5};
    for (unsigned i = 0; i < 5; i++) {
        struct arena arena = {0};
        struct report report = {0};
        struct native_program program = {0};
        size_t length;
        const char *print;
        const uint8_t *bytes = write_text(&arena, listings[i], &length, &print);
        if (cubin_read("k.cubin", bytes, length, &program, &report) != STATUS_OK)
            fail_msg("%s", report_text(&report));
        assert_string_equal(native_print(&program, true, &arena), print);
        assert_int_equal(program.kernels[0].register_count, registers[i]);
        native_free(&program);
        report_free(&report);
        arena_free(&arena);
    }
}

static const struct elf_section *find(const struct elf_file *file, const char *name) {
    for (unsigned i = 0; i < file->section_count; i++)
        if (strcmp(file->sections[i].name, name) == 0)
            return &file->sections[i];
    fail_msg("no %s", name);
    return NULL;
}

/* What public files for sm_20 have (docs/native.md): flags, registers and barriers of a kernel, records of parameters. */
static void files_are_laid_out_as_public_ones_are(void **state) {
    (void)state;
    static const uint8_t info[] = {
        0x04, 0x0c, 0x0c, 0x00, 0x00, 0x00, 0x00, 0x00, 0x04, 0x00, 0x00, 0x00, 0x08, 0x00, 0x00, 0x00, /* offsets */
        0x04, 0x0a, 0x08, 0x00, 0x02, 0x00, 0x00, 0x00, 0x20, 0x00, 0x0c, 0x00,                         /* bank 0 */
        0x03, 0x19, 0x0c, 0x00,                                                                         /* bytes */
        0x04, 0x17, 0x0c, 0x00, 0xff, 0xff, 0xff, 0xff, 0x02, 0x00, 0x08, 0x00, 0x00, 0xf0, 0x11, 0x00, /* each */
        0x04, 0x17, 0x0c, 0x00, 0xff, 0xff, 0xff, 0xff, 0x01, 0x00, 0x04, 0x00, 0x00, 0xf0, 0x11, 0x00,
        0x04, 0x17, 0x0c, 0x00, 0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00, 0x00, 0xf0, 0x11, 0x00};
    static const uint8_t stacks[] = {0x04, 0x12, 0x08, 0x00, 0x03, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
                                     0x04, 0x11, 0x08, 0x00, 0x03, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00};
    struct arena arena = {0};
    struct report report = {0};
    struct elf_file file;
    size_t length;
    const char *print;
    const uint8_t *bytes = write_text(&arena, three_params, &length, &print);
    assert_int_equal(elf_read("k", bytes, length, &arena, &file, &report), STATUS_OK);
    assert_int_equal(file.flags, 0x140114);
    assert_int_equal(file.os_abi, 0x33);
    assert_int_equal(find(&file, ".text.scan")->flags, 0x100006);
    assert_int_equal(find(&file, ".text.scan")->info >> 24, 2);
    assert_int_equal(file.symbols[find(&file, ".text.scan")->info & 0xffffff].section, ELF_FIRST_SECTION);
    assert_int_equal(find(&file, ".nv.constant0.scan")->byte_count, 0x2c);
    assert_int_equal(find(&file, ".nv.info.scan")->byte_count, sizeof info);
    assert_memory_equal(find(&file, ".nv.info.scan")->bytes, info, sizeof info);
    assert_memory_equal(find(&file, ".nv.info")->bytes, stacks, sizeof stacks);
    bytes = write_text(&arena, rich, &length, &print);
    assert_int_equal(elf_read("k", bytes, length, &arena, &file, &report), STATUS_OK);
    assert_int_equal(file.flags, 0x150515);
    assert_true(file.wide);
    const struct elf_section *relocations = find(&file, ".rel.nv.constant14.first");
    assert_int_equal(relocations->relocation_count, 2);
    assert_int_equal(relocations->relocations[0].type, CUBIN_R_64);
    assert_string_equal(file.symbols[relocations->relocations[0].symbol].name, "table");
    assert_int_equal(find(&file, ".nv.constant2")->byte_count, 8); /* both kernels have it alike */
    assert_int_equal(find(&file, ".nv.constant16.first")->byte_count, 4);
    assert_int_equal(find(&file, ".nv.shared.first")->byte_count, 100);
    arena_free(&arena);
    report_free(&report);
}

/* Tesla: no flags but the GPU, parameters in shared memory, banks 0 and 1 as any other. */
static void tesla_has_parameters_in_shared_memory(void **state) {
    (void)state;
    static const uint8_t info[] = {0x04, 0x0b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x04, 0x00, 0x00, 0x00, /* offsets */
                                   0x03, 0x18, 0x0c, 0x00,                                                 /* bytes */
                                   0x04, 0x17, 0x0c, 0x00, 0xff, 0xff, 0xff, 0xff, 0x01, 0x00, 0x04, 0x00,
                                   0x00, 0xf0, 0x21, 0x00, /* each */
                                   0x04, 0x17, 0x0c, 0x00, 0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00,
                                   0x00, 0xf0, 0x11, 0x00, 0x04, 0x10, 0x0c, 0x00, 0x40, 0x00, 0x00, 0x00,
                                   0x01, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00}; /* threads */
    struct arena arena = {0};
    struct report report = {0};
    struct elf_file file;
    size_t length;
    const char *print;
    const uint8_t *bytes = write_text(&arena, tesla, &length, &print);
    assert_int_equal(elf_read("k", bytes, length, &arena, &file, &report), STATUS_OK);
    assert_int_equal(file.flags, 0xd000d);
    assert_false(file.wide);
    const struct elf_section *text = find(&file, ".text.first");
    assert_int_equal(text->byte_count, 0x58);
    assert_int_equal(text->flags, 0x200006);                                 /* barriers up to b1 */
    assert_memory_equal(text->bytes, "\x0c\xe8\x05\x21\x00\x8a\x02\x20", 8); /* as in public listings */
    assert_memory_equal(text->bytes + 0x38, "\0\0\0\0\0\0\0\0", 8);
    assert_int_equal(find(&file, ".nv.info.first")->byte_count, sizeof info);
    assert_memory_equal(find(&file, ".nv.info.first")->bytes, info, sizeof info);
    assert_int_equal(find(&file, ".nv.constant0")->byte_count, 4);
    assert_int_equal(find(&file, ".nv.constant1.first")->byte_count, 8); /* literals are a kernel's own */
    assert_int_equal(find(&file, ".nv.constant1.second")->byte_count, 8);
    assert_int_equal(find(&file, ".rel.nv.constant14.first")->relocations[0].type, CUBIN_R_32);
    assert_int_equal(find(&file, ".nv.shared.first")->byte_count, 72);
    arena_free(&arena);
    report_free(&report);
}

static void relocations_of_code_are_of_the_types_of_its_fields(void **state) {
    (void)state;
    static const struct elf_relocation expected[] = {{0x00, 4, 5, 8}, {0x08, 4, 10, -4}, {0x10, 4, 11, -4}};
    struct arena arena = {0};
    struct report report = {0};
    struct elf_file file;
    size_t length;
    const char *print;
    const uint8_t *bytes = write_text(&arena, places, &length, &print);
    assert_int_equal(elf_read("k", bytes, length, &arena, &file, &report), STATUS_OK);
    const struct elf_section *section = find(&file, ".rela.text.k");
    assert_int_equal(section->relocation_count, 3);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(section->relocations[i].offset, expected[i].offset);
        assert_int_equal(section->relocations[i].type, expected[i].type);
        assert_int_equal(section->relocations[i].addend, expected[i].addend);
        assert_string_equal(file.symbols[section->relocations[i].symbol].name, "table");
    }
    /* as in the public listing of a binary search: BRX c [0x10] [R4+0x0] is 0x4800400000405de7 */
    assert_memory_equal(find(&file, ".text.k")->bytes + 0x20, "\xe7\x5d\x40\x10\x00\x40\x00\x48", 8);
    assert_non_null(strstr(print, "\t.targets 0x20 0x28\n\t.targets 0x20 0x30\n\t.constant"));
    arena_free(&arena);
    report_free(&report);
}

/* Every prefix, and every byte changed in three ways: read, and then the same again when written and read, or refused in
 * words that name the file. */
static void harm(const char *listing) {
    static const uint8_t changes[] = {0x01, 0x80, 0xff};
    struct arena arena = {0};
    size_t length, read = 0, refused = 0;
    const char *print;
    const uint8_t *bytes = write_text(&arena, listing, &length, &print);
    for (size_t at = 0; at < 4 * length; at++) {
        struct arena scratch = {0};
        struct report report = {0};
        struct native_program program = {0}, again = {0};
        const size_t end = at < length ? at : length;
        uint8_t *copy = arena_copy(&scratch, bytes, end), *rewritten;
        if (at >= length)
            copy[at % length] ^= changes[at / length - 1];
        if (cubin_read("k.cubin", copy, end, &program, &report) != STATUS_OK) {
            refused++;
            assert_true(report.messages > 0);
            assert_non_null(strstr(report_text(&report), "k.cubin: error: "));
        } else {
            read++;
            const char *first = native_print(&program, true, &scratch);
            size_t bytes_again;
            if (cubin_write(&program, &scratch, &rewritten, &bytes_again, &report) == STATUS_OK) {
                assert_int_equal(cubin_read("k.cubin", rewritten, bytes_again, &again, &report), STATUS_OK);
                assert_string_equal(native_print(&again, true, &scratch), first);
                native_free(&again);
            }
            native_free(&program);
        }
        report_free(&report);
        arena_free(&scratch);
    }
    assert_true(read > 100);
    assert_true(refused > length);
    arena_free(&arena);
}

static void harmed_files_are_read_or_refused(void **state) {
    (void)state;
    harm(rich);
    harm(tesla);
    harm(places);
}

/* One place of the file changed. */
static void expect_refusal(const char *listing, const char *section, size_t at, uint8_t value, const char *message) {
    struct arena arena = {0};
    struct report report = {0};
    struct native_program program = {0};
    struct elf_file file;
    size_t length;
    const char *print;
    uint8_t *bytes = (uint8_t *)(uintptr_t)write_text(&arena, listing, &length, &print);
    assert_int_equal(elf_read("k", bytes, length, &arena, &file, &report), STATUS_OK);
    bytes[(section ? find(&file, section)->offset : 0) + at] = value;
    assert_int_equal(cubin_read("k.cubin", bytes, length, &program, &report), STATUS_INVALID);
    if (!strstr(report_text(&report), message))
        fail_msg("'%s' is not in: %s", message, report_text(&report));
    arena_free(&arena);
    report_free(&report);
}

static void what_is_not_known_is_refused_by_section_and_byte(void **state) {
    (void)state;
    expect_refusal(three_params, NULL, 0, 0, "k.cubin: error: byte 0x0: not an ELF file");
    expect_refusal(three_params, NULL, 18, 62, "an ELF file for machine 62, not for CUDA (190)");
    expect_refusal(three_params, NULL, 36, 30, "unsupported: a cubin for sm_30");
    expect_refusal(three_params, NULL, 16, 1, "unsupported: a cubin that is still to be linked");
    expect_refusal(three_params, ".text.scan", 8 + 7, 0xf9,
                   "section '.text.scan', byte 0x8: unsupported: no instruction is known for 0x84001c04f9000000");
    expect_refusal(three_params, ".nv.info.scan", 2, 0xff,
                   "section '.nv.info.scan', byte 0x0: a record that does not end");
    expect_refusal(three_params, ".nv.info.scan", 24, 0x40, "unsupported: parameters at c[0x0][0x40]");
    expect_refusal(rich, ".rel.nv.constant14.first", 8, 6,
                   "section '.nv.constant14.first', byte 0x0: unsupported: a relocation of type 6 by symbol 'table'");
    expect_refusal(rich, ".rel.nv.constant14.first", 0, 4, "unsupported: a relocation of type 2 by symbol 'zeros'");
    expect_refusal(places, ".rela.text.k", 8, 15,
                   "section '.text.k', byte 0x0: unsupported: a relocation of type 15 by symbol 'table' here");
    expect_refusal(places, ".rela.text.k", 12, 3, "unsupported: a relocation of type 5 by function 'k' here");
    expect_refusal(places, ".rela.text.k", 0, 0x18, "byte 0x18: unsupported: a relocation of type 5 by symbol 'table'");
    expect_refusal(places, ".rela.text.k", 0, 0x08, "byte 0x8: unsupported: a relocation of type 10 by symbol 'table'");
    expect_refusal(places, ".text.k", 3, 0x04, "byte 0x0: unsupported: a relocation of type 5 by symbol 'table'");
    expect_refusal(tesla, NULL, 36, 14, "unsupported: a cubin for sm_14");
    expect_refusal(tesla, ".text.first", 4, 0x06,
                   "section '.text.first', byte 0x4: unsupported: no instruction is known");
    expect_refusal(tesla, ".text.first", 4, 0x85,
                   "section '.text.first', byte 0x4: unsupported: no instruction is known");
    expect_refusal(tesla, ".nv.info.first", 13, 0x19, "unsupported: parameters in a constant bank of Tesla");
    expect_refusal(three_params, ".nv.info.scan", 29, 0x18, "unsupported: parameters in shared memory of Fermi");
}

/* Tesla fetches 8 bytes: a long instruction behind a short one, in the same 8, is none. */
static void long_instructions_begin_at_multiples_of_eight(void **state) {
    (void)state;
    struct arena arena = {0};
    struct report report = {0};
    struct native_program program = {0};
    struct elf_file file;
    size_t length;
    const char *print;
    uint8_t *bytes = (uint8_t *)(uintptr_t)write_text(&arena, tesla, &length, &print);
    assert_int_equal(elf_read("k", bytes, length, &arena, &file, &report), STATUS_OK);
    uint8_t *code = bytes + find(&file, ".text.first")->offset;
    memmove(code + 4, code + 0x10, 8); /* MVC */
    memset(code + 12, 0, 4);
    assert_int_equal(cubin_read("k.cubin", bytes, length, &program, &report), STATUS_INVALID);
    assert_non_null(
        strstr(report_text(&report), "section '.text.first', byte 0x4: unsupported: no instruction is known"));
    arena_free(&arena);
    report_free(&report);
}

static void what_a_file_cannot_hold_is_refused(void **state) {
    (void)state;
    struct arena arena = {0};
    struct report report = {0};
    struct native_program program;
    uint8_t *bytes;
    size_t length;
    static const char text[] = "code for sm_20\nFunction : k\n.constant 0x1 0x0 0x4\nEXIT;\n";
    assert_int_equal(native_parse("k.sass", text, &program, &report), STATUS_OK);
    assert_int_equal(cubin_write(&program, &arena, &bytes, &length, &report), STATUS_INVALID);
    assert_non_null(strstr(report_text(&report), "'k': constants in bank 0 or 1"));
    native_free(&program);
    static const char *const refused[][2] = {
        {"S2R R1, SR_LaneId;\nEXIT;\n", "no encoding is known for\n  /*0000*/ S2R R1, SR_LaneId;"},
        {"MOV32 R1, R2;\nMVI R3, 0x7;\nEXIT;\n", "at an address that its bytes do not divide"}};
    for (unsigned i = 0; i < 2; i++) {
        const char *listing = arena_printf(&arena, "code for sm_13\nFunction : k\n%s", refused[i][0]);
        assert_int_equal(native_parse("k.sass", listing, &program, &report), STATUS_OK);
        assert_int_equal(cubin_write(&program, &arena, &bytes, &length, &report), STATUS_INVALID);
        assert_non_null(strstr(report_text(&report), refused[i][1]));
        native_free(&program);
    }
    arena_free(&arena);
    report_free(&report);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read_back),
        cmocka_unit_test(files_are_laid_out_as_public_ones_are),
        cmocka_unit_test(tesla_has_parameters_in_shared_memory),
        cmocka_unit_test(relocations_of_code_are_of_the_types_of_its_fields),
        cmocka_unit_test(harmed_files_are_read_or_refused),
        cmocka_unit_test(what_is_not_known_is_refused_by_section_and_byte),
        cmocka_unit_test(long_instructions_begin_at_multiples_of_eight),
        cmocka_unit_test(what_a_file_cannot_hold_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
