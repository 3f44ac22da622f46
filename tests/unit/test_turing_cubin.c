/* SPDX-License-Identifier: Apache-2.0 */
/* Cubins of sm_75 to sm_90 that ptxas made of our kernels: what is read from them, and files that are cut or changed. */
#include "sass/cubin.h"
#include "translate/load.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/elf.h"
#include "base/file.h"
#include "base/rng.h"
#include "sass/turing.h"

#define FOLDER HEDDLE_SOURCE_DIR "/tests/native/turing/"

/* What `ptxas -v` says of each, and parameters as the PTX has them. */
static const struct {
    const char *name;
    unsigned sm, registers, barriers, shared, stack, params;
} files[] = {
    {"memory", 75, 14, 1, 1024, 0, 25}, {"memory", 80, 16, 1, 1024, 0, 25},  {"memory", 86, 16, 1, 1024, 0, 25},
    {"memory", 89, 16, 1, 1024, 0, 25}, {"memory", 90, 18, 1, 1024, 0, 25},  {"calls", 75, 24, 0, 0, 8, 12},
    {"calls", 80, 24, 0, 0, 8, 12},     {"calls", 86, 24, 0, 0, 8, 12},      {"calls", 89, 24, 0, 0, 8, 12},
    {"calls", 90, 24, 0, 0, 8, 12},     {"forms", 75, 61, 1, 0, 0, 16},      {"forms", 80, 58, 1, 0, 0, 16},
    {"forms", 86, 56, 1, 0, 0, 16},     {"forms", 89, 56, 1, 0, 0, 16},      {"forms", 90, 56, 1, 0, 0, 16},
    {"copies", 80, 22, 1, 2048, 0, 8},  {"copies", 86, 26, 1, 2048, 0, 8},   {"copies", 89, 26, 1, 2048, 0, 8},
    {"copies", 90, 20, 1, 2048, 0, 8},  {"clusters", 90, 8, 1, 1024, 0, 12},
};
enum { FILES = sizeof files / sizeof *files };

static uint8_t *load(struct arena *arena, const char *name, unsigned sm, size_t *length) {
    struct report report = {0};
    char *bytes;
    if (file_read(arena_printf(arena, FOLDER "%s_%u.cubin", name, sm), 1 << 20, arena, &bytes, length, &report) !=
        STATUS_OK)
        fail_msg("%s", report_text(&report));
    return (uint8_t *)bytes;
}

static void read_file(struct arena *arena, const char *name, unsigned sm, struct native_program *program) {
    struct report report = {0};
    size_t length;
    const uint8_t *bytes = load(arena, name, sm, &length);
    assert_int_equal(cubin_sm(bytes, length), sm);
    if (cubin_read(name, bytes, length, program, &report) != STATUS_OK)
        fail_msg("%s", report_text(&report));
    report_free(&report);
}

static void kernels_are_as_the_compiler_says(void **state) {
    (void)state;
    for (unsigned i = 0; i < FILES; i++) {
        struct arena arena = {0};
        struct native_program program = {0};
        read_file(&arena, files[i].name, files[i].sm, &program);
        const struct native_kernel *kernel = &program.kernels[0];
        assert_int_equal(program.isa, NATIVE_TURING);
        assert_int_equal(program.sm, files[i].sm);
        assert_int_equal(program.kernel_count, 1);
        assert_false(kernel->is_function);
        assert_int_equal(kernel->register_count, files[i].registers);
        assert_int_equal(kernel->barrier_count, files[i].barriers);
        assert_int_equal(kernel->shared_bytes, files[i].shared);
        assert_int_equal(kernel->local_bytes, files[i].stack);
        assert_int_equal(kernel->param_bytes, files[i].params);
        native_free(&program);
        arena_free(&arena);
    }
}

static void every_word_is_encoded_as_it_was(void **state) {
    (void)state;
    for (unsigned i = 0; i < FILES; i++) {
        struct arena arena = {0};
        struct native_program program = {0};
        read_file(&arena, files[i].name, files[i].sm, &program);
        for (uint32_t k = 0; k < program.kernels[0].code_count; k++) {
            const struct turing_word word = program.kernels[0].words[k];
            struct turing_word again = {0, 0};
            struct turing_inst inst;
            assert_true(turing_decode(word, files[i].sm, k * TURING_INST_BYTES, &inst, NULL));
            assert_true(turing_encode(&inst, files[i].sm, &again, NULL));
            assert_true(word.low == again.low && word.high == again.high);
        }
        native_free(&program);
        arena_free(&arena);
    }
}

static void expect_line(const char *text, const char *line) {
    if (!strstr(text, line))
        fail_msg("no %s in\n%s", line, text);
}

static void variables_and_pointers_are_read(void **state) {
    (void)state;
    for (unsigned i = 0; i < 5; i++) {
        struct arena arena = {0};
        struct native_program program = {0};
        read_file(&arena, "memory", files[i].sm, &program);
        const char *text = native_print(&program, false, &arena);
        expect_line(text, "\t.variable 4 counter\n");
        expect_line(text, "\t.variable 16 table\n\t.init 0x1 0x2 0x3 0x4\n");
        expect_line(text, "\t.pointer 0x0 8 table 0\n\t.pointer 0x8 8 counter 0\n");
        expect_line(text, "\t.param 0 8\n\t.param 8 8\n\t.param 16 4\n\t.param 20 4\n\t.param 24 1\n");
        expect_line(text, "\t.constant 0x3 0x0 0x3f800000 0x40000000 0x40400000 0x40800000\n");
        expect_line(text, " 8 counter 0\n");
        expect_line(text, "\t.maxntid 256 1 1\n");
        native_free(&program);
        arena_free(&arena);
    }
}

static void functions_and_targets_are_read(void **state) {
    (void)state;
    for (unsigned i = 5; i < 10; i++) {
        struct arena arena = {0};
        struct native_program program = {0};
        read_file(&arena, "calls", files[i].sm, &program);
        const struct native_kernel *kernel = &program.kernels[0];
        assert_int_equal(kernel->label_count, 1);
        assert_string_equal(kernel->labels[0].name, "$calls$twice");
        assert_int_equal(kernel->way_count, 4);
        const char *text = native_print(&program, false, &arena);
        expect_line(text, "\n    $calls$twice:\n");
        expect_line(text, "\t.reqntid 64 1 1\n");
        expect_line(text, " 8 vprintf 0\n");
        expect_line(text, " 8 format 0\n");
        expect_line(text, "  BRX");
        native_free(&program);
        arena_free(&arena);
    }
}

/* What a linker leaves: a function of its own, addresses in instructions. */
static void relocations_in_code_are_read(void **state) {
    (void)state;
    for (unsigned sm = 75; sm <= 90; sm += 15) {
        struct arena arena = {0};
        struct native_program program = {0};
        read_file(&arena, "linked", sm, &program);
        assert_int_equal(program.kernel_count, 2);
        const unsigned callee = strcmp(program.kernels[0].name, "twice") == 0 ? 0 : 1;
        assert_true(program.kernels[callee].is_function);
        assert_false(program.kernels[!callee].is_function);
        const struct native_kernel *kernel = &program.kernels[!callee];
        unsigned found = 0;
        for (unsigned i = 0; i < kernel->link_count; i++) {
            const struct native_link *link = &kernel->links[i];
            struct turing_inst inst;
            assert_true(turing_decode(kernel->words[link->offset / 16], sm, link->offset, &inst, NULL));
            if (link->bank == NATIVE_CODE) {
                assert_int_equal(turing_row(inst.row)->meaning, TURING_MEANS_CALL);
                assert_string_equal(link->symbol, "twice");
            } else if (link->variable != NATIVE_NO_VARIABLE) {
                assert_string_equal(program.variables[link->variable].name, "other");
            } else { /* where the call comes back: behind it */
                assert_string_equal(link->symbol, "caller");
                assert_true(link->addend > 0 && link->addend % 16 == 0);
            }
            found |= 1u << (link->bank - NATIVE_CODE);
        }
        assert_int_equal(found, 7);
        native_free(&program);
        arena_free(&arena);
    }
}

/* Where the code of a file's kernel begins. */
static uint8_t *code_of(struct arena *arena, uint8_t *bytes, size_t length) {
    struct report report = {0};
    struct elf_file file;
    assert_int_equal(elf_read("k", bytes, length, arena, &file, &report), STATUS_OK);
    for (unsigned i = 1; i < file.section_count; i++)
        if (strncmp(file.sections[i].name, ".text.", 6) == 0)
            return bytes + file.sections[i].offset;
    fail_msg("no code");
    return NULL;
}

static void running_it_is_refused_by_name(void **state) {
    (void)state;
    struct arena arena = {0};
    struct report report = {0};
    struct module *module = NULL;
    size_t length;
    uint8_t *bytes = load(&arena, "copies", 86, &length);
    struct turing_text text = {.text = "FSWZADD R16, R9, R9, PPPPPPPP", .sm = 86};
    struct turing_inst inst;
    assert_true(turing_parse(&text, &inst));
    memcpy(code_of(&arena, bytes, length) + 0xd0, &text.word, sizeof text.word);
    assert_int_equal(cubin_load("copies.cubin", (const char *)bytes, length, &module, &report), STATUS_OK);
    const struct function *kernel = module_find(module, "copies");
    assert_non_null(kernel);
    assert_non_null(kernel->refused);
    assert_non_null(strstr(kernel->refused,
                           "copies.cubin:21: error: unsupported: which lanes its signs belong to is not known\n"
                           "  /*00d0*/ FSWZADD R16, R9, R9, PPPPPPPP\n"));
    module_free(module);
    report_free(&report);
    arena_free(&arena);
}

static void unknown_words_are_refused_by_place(void **state) {
    (void)state;
    struct arena arena = {0};
    struct report report = {0};
    struct native_program program = {0};
    size_t length;
    uint8_t *bytes = load(&arena, "forms", 80, &length), *code = code_of(&arena, bytes, length);
    code[0x20] = 0xff;  /* opcode 0x1ff or 0x0ff */
    code[0x3c] ^= 0x10; /* bit 100 of the next word */
    assert_int_equal(cubin_read("k.cubin", bytes, length, &program, &report), STATUS_INVALID);
    expect_line(report_text(&report), "k.cubin: error: section '.text.forms', byte 0x20: unsupported: 0x");
    expect_line(report_text(&report), "k.cubin: error: section '.text.forms', byte 0x30: unsupported: 0x");
    expect_line(report_text(&report), ": nothing is known of bit 100\n");
    report_free(&report);
    arena_free(&arena);
}

/* Any bytes are a program or a report. */
static void try_bytes(const uint8_t *bytes, size_t length) {
    struct arena arena = {0};
    struct report report = {0};
    struct native_program program = {0};
    if (cubin_read("k.cubin", bytes, length, &program, &report) == STATUS_OK) {
        assert_true(strlen(native_print(&program, true, &arena)) > 0);
        native_free(&program);
    } else {
        assert_true(report.messages > 0);
    }
    report_free(&report);
    arena_free(&arena);
}

static void files_that_are_cut_or_changed_do_no_harm(void **state) {
    (void)state;
    static const char *const names[] = {"memory", "calls", "linked"};
    struct rng rng;
    rng_seed(&rng, 26);
    for (unsigned n = 0; n < 3; n++) {
        struct arena arena = {0};
        size_t length;
        const uint8_t *whole = load(&arena, names[n], 75, &length);
        for (size_t cut = 0; cut < length; cut += 61) {
            uint8_t *part = malloc(cut + 1); /* so that a tool sees what lies behind it */
            assert_non_null(part);
            memcpy(part, whole, cut);
            try_bytes(part, cut);
            free(part);
        }
        uint8_t *changed = malloc(length);
        assert_non_null(changed);
        for (unsigned i = 0; i < 400; i++) {
            memcpy(changed, whole, length);
            for (unsigned k = 0; k <= i % 4; k++)
                changed[rng_below(&rng, length)] = (uint8_t)rng_u32(&rng);
            try_bytes(changed, length);
        }
        free(changed);
        arena_free(&arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_are_as_the_compiler_says),
        cmocka_unit_test(every_word_is_encoded_as_it_was),
        cmocka_unit_test(variables_and_pointers_are_read),
        cmocka_unit_test(functions_and_targets_are_read),
        cmocka_unit_test(relocations_in_code_are_read),
        cmocka_unit_test(running_it_is_refused_by_name),
        cmocka_unit_test(unknown_words_are_refused_by_place),
        cmocka_unit_test(files_that_are_cut_or_changed_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
