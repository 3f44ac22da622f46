/* SPDX-License-Identifier: Apache-2.0 */
/* Seven kernels as clang emits them: where each branch reconverges, read off the PTX text by hand; loops; peaks of
 * live registers counted by hand for the two short ones. */
#include "analysis_build.h"

#include <stdio.h>

#include "base/file.h"
#include "ptx/ptx.h"

struct meeting {
    const char *kernel;
    uint32_t branch_line,
        reconverge_line; /* in kernels.ptx: of the branch, of the first instruction where lanes meet */
};
static const struct meeting meetings[] = {
    {"saxpy", 34, 47},    {"collatz", 70, 93},  {"collatz", 76, 88},   {"collatz", 86, 88},   {"mandel", 122, 166},
    {"mandel", 123, 125}, {"mandel", 140, 146}, {"mandel", 143, 161},  {"mandel", 144, 161},  {"mandel", 147, 161},
    {"mandel", 152, 142}, {"mandel", 159, 142}, {"matmul", 198, 280},  {"matmul", 278, 280},  {"chase", 308, 364},
    {"chase", 312, 359},  {"chase", 316, 348},  {"chase", 345, 348},   {"chase", 346, 319},   {"chase", 349, 359},
    {"chase", 357, 359},  {"spmv", 390, 454},   {"spmv", 399, 451},    {"spmv", 411, 424},    {"spmv", 425, 451},
    {"spmv", 448, 451},   {"spmv", 449, 432},   {"bitonic", 478, 497}, {"bitonic", 493, 497},
};
enum { MEETINGS = sizeof meetings / sizeof *meetings };

static const struct {
    const char *kernel;
    uint32_t loops;
} loops[] = {{"saxpy", 0}, {"collatz", 1}, {"mandel", 1}, {"matmul", 1}, {"chase", 2}, {"spmv", 1}, {"bitonic", 0}};

static struct module *module;

static int load(void **state) {
    (void)state;
    struct arena arena = {0};
    struct report report = {0};
    char *text = NULL;
    size_t length = 0;
    enum status status =
        file_read(HEDDLE_SOURCE_DIR "/tests/validation/gpgpusim/kernels.ptx", 1 << 20, &arena, &text, &length, &report);
    if (!status)
        status = ptx_load("kernels.ptx", text, length, &module, &report);
    if (!status)
        status = analyse(module, &report);
    if (status)
        print_error("%s", report_text(&report));
    report_free(&report);
    arena_free(&arena);
    return status ? -1 : 0;
}

static int unload(void **state) {
    (void)state;
    if (module)
        module_free(module);
    return 0;
}

static void branches_reconverge_where_the_text_says(void **state) {
    (void)state;
    unsigned seen = 0;
    for (uint32_t pc = 0; pc < module->code_count; pc++) {
        const struct inst *inst = &module->code[pc];
        if (inst->op != OP_BRA && inst->op != OP_BRX)
            continue;
        assert_true(seen < MEETINGS);
        const struct meeting *expected = &meetings[seen++];
        assert_string_equal(module_function_at(module, pc)->name, expected->kernel);
        assert_int_equal(inst->text_line, expected->branch_line);
        assert_int_not_equal(inst->reconverge, NO_PC);
        assert_int_equal(module->code[inst->reconverge].text_line, expected->reconverge_line);
    }
    assert_int_equal(seen, MEETINGS);
}

static void loops_are_counted(void **state) {
    (void)state;
    for (unsigned i = 0; i < sizeof loops / sizeof *loops; i++) {
        const struct function *function = module_find(module, loops[i].kernel);
        assert_non_null(function);
        assert_int_equal(function->cfg->loop_count, loops[i].loops);
        assert_false(function->cfg->irreducible);
        for (uint32_t b = 0; b < function->cfg->block_count; b++)
            assert_true(function->cfg->blocks[b].reachable);
    }
}

static void register_peaks_are_those_counted_by_hand(void **state) {
    (void)state;
    /* saxpy: %f1, %rd3, %rd4, %rd7 after line 37; collatz: %r16, %r17, %r20, %rd1, %rd2 in the loop */
    assert_int_equal(module_find(module, "saxpy")->cfg->registers.live_units, 7);
    assert_int_equal(module_find(module, "collatz")->cfg->registers.live_units, 7);
    for (unsigned i = 0; i < sizeof loops / sizeof *loops; i++) {
        const struct function *function = module_find(module, loops[i].kernel);
        const struct register_need *need = &function->cfg->registers;
        assert_false(need->spills);
        assert_in_range(function->live_registers, need->live_units + 1, 2 * need->live_units);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(branches_reconverge_where_the_text_says),
        cmocka_unit_test(loops_are_counted),
        cmocka_unit_test(register_peaks_are_those_counted_by_hand),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
