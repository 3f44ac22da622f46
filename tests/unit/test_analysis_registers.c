/* SPDX-License-Identifier: Apache-2.0 */
/* Liveness, colouring, the sum over calls. */
#include "analysis_build.h"

static struct function *analysed(struct builder *b) {
    struct report report = {0};
    enum status status = build_analyse(b, &report);
    if (status)
        print_error("%s", report_text(&report));
    assert_int_equal(status, STATUS_OK);
    report_free(&report);
    return b->functions.items[0];
}

/* ---- the naive search: points 2i before and 2i + 1 after instruction i ---- */

static bool reads(const struct inst *inst, uint32_t reg) {
    if (inst->guard == (int32_t)reg)
        return true;
    for (unsigned i = 0; i < inst->src_count; i++)
        if (inst->src[i].reg == reg)
            return true;
    return false;
}
static bool writes(const struct inst *inst, uint32_t reg) { return inst->dst_count == 1 && inst->dst[0].reg == reg; }

struct search {
    uint32_t stack[128], depth;
    bool seen[128];
};
static void visit(struct search *search, uint32_t point) {
    if (!search->seen[point]) {
        search->seen[point] = true;
        search->stack[search->depth++] = point;
    }
}
static void visit_next(const struct builder *b, struct search *search, uint32_t pc) {
    uint32_t next[8];
    unsigned n = next_pcs(b, b->functions.items[0], pc, b->code.count, next);
    for (unsigned i = 0; i < n; i++)
        if (next[i] < b->code.count)
            visit(search, 2 * next[i]);
}

static bool needed(const struct builder *b, uint32_t point, uint32_t reg) {
    struct search search = {.depth = 0};
    visit(&search, point);
    while (search.depth) {
        uint32_t at = search.stack[--search.depth], pc = at / 2;
        const struct inst *inst = &b->code.items[pc];
        if (at % 2) {
            visit_next(b, &search, pc);
            continue;
        }
        if (reads(inst, reg))
            return true;
        if (!writes(inst, reg) || inst->guard >= 0)
            visit(&search, at + 1);
    }
    return false;
}

/* All points on some path from `from` (a point), itself included. */
static struct search onward(const struct builder *b, uint32_t from) {
    struct search search = {.depth = 0};
    visit(&search, from);
    while (search.depth) {
        uint32_t at = search.stack[--search.depth];
        if (at % 2)
            visit_next(b, &search, at / 2);
        else
            visit(&search, at + 1);
    }
    return search;
}

enum { REGS = 6 };

static void check_against_paths(const struct builder *b, const struct function *function, unsigned *checked) {
    static const uint32_t units_of[REGS] = {0, 0, 1, 1, 2, 4};
    struct arena scratch = {0};
    struct liveness liveness = liveness_compute(&b->module, function, function->cfg, &scratch);
    struct search alive = onward(b, 0);
    bool live[REGS][128] = {{false}}, covered[REGS][128] = {{false}};
    for (uint32_t reg = 0; reg < REGS; reg++)
        for (uint32_t pc = 0; pc < b->code.count; pc++) {
            if (!alive.seen[2 * pc] || !writes(&b->code.items[pc], reg))
                continue;
            struct search search = onward(b, 2 * pc + 1);
            live[reg][2 * pc + 1] = true;
            for (uint32_t point = 0; point < 2 * b->code.count; point++)
                live[reg][point] |= search.seen[point] && needed(b, point, reg);
        }
    for (unsigned i = 0; i < liveness.count; i++)
        for (uint32_t point = liveness.items[i].first; point <= liveness.items[i].last; point++) {
            assert_false(covered[liveness.items[i].reg][point]);
            covered[liveness.items[i].reg][point] = true;
        }
    for (uint32_t point = 0; point < 2 * b->code.count; point++) {
        uint32_t units = 0, predicates = 0;
        for (uint32_t reg = 0; reg < REGS; reg++) {
            assert_int_equal(covered[reg][point], live[reg][point]);
            units += live[reg][point] ? units_of[reg] : 0;
            predicates += live[reg][point] && reg < 2;
            *checked += live[reg][point];
        }
        assert_int_equal(liveness.units[point], units);
        assert_int_equal(liveness.predicates[point], predicates);
    }
    for (uint32_t reg = 0; reg < REGS; reg++)
        assert_int_equal(function->cfg->unwritten[0] >> reg & 1, needed(b, 0, reg));
    arena_free(&scratch);
}

static void liveness_is_what_paths_say(void **state) {
    (void)state;
    static const uint8_t types[REGS] = {TYPE_PRED, TYPE_PRED, TYPE_B16, TYPE_F32, TYPE_U64, TYPE_B128};
    struct rng rng;
    rng_seed(&rng, 31);
    unsigned checked = 0;
    for (int round = 0; round < 3000; round++) {
        struct builder b = {0};
        build_random(&b, &rng, 24, REGS, types, 2);
        check_against_paths(&b, analysed(&b), &checked);
        build_free(&b);
    }
    assert_true(checked > 50000); /* live points seen */
}

static uint8_t words[64]; /* all TYPE_B32, see main */

static void registers_used_by_addresses_and_guards_are_read(void **state) {
    (void)state;
    static const uint8_t types[] = {TYPE_PRED, TYPE_B64};
    struct builder b = {0};
    build_function(&b, "f", 2, types);
    build_op(&b, -1, 0, 0, NULL);
    build_op(&b, -1, 1, 0, NULL);
    struct operand address = {.kind = OPERAND_ADDRESS, .has_reg = true, .reg = 1};
    struct inst *store = build_inst(&b, OP_ST, 0);
    store->src = arena_copy(&b.module.arena, &address, sizeof address);
    store->src_count = 1;
    build_inst(&b, OP_RET, -1);
    const struct register_need *need = &analysed(&b)->cfg->registers;
    assert_int_equal(need->live_units, 2);
    assert_int_equal(need->predicates, 1);
    assert_int_equal(need->live[TYPE_B64], 1);
    assert_int_equal(need->peak_pc, 1);
    build_free(&b);
}

/* Straight code that writes each register once: an interval graph, for which greedy colouring is optimal. */
static void straight_code_takes_its_peak_and_the_stack_pointer(void **state) {
    (void)state;
    struct rng rng;
    rng_seed(&rng, 5);
    for (int round = 0; round < 500; round++) {
        struct builder b = {0};
        build_function(&b, "f", 64, words);
        for (uint32_t d = 0; d < 64; d++) {
            uint32_t sources[2] = {0, 0};
            for (int s = 0; s < 2 && d; s++)
                sources[s] = (uint32_t)rng_below(&rng, d);
            build_op(&b, -1, d, d ? 2 : 0, sources);
        }
        build_inst(&b, OP_RET, -1);
        const struct function *function = analysed(&b);
        const struct register_need *need = &function->cfg->registers;
        assert_false(need->spills);
        assert_int_equal(need->coloured, need->live_units + 1);
        assert_int_equal(function->live_registers, need->coloured);
        build_free(&b);
    }
}

static void pairs_are_aligned(void **state) {
    (void)state;
    static const uint8_t types[] = {TYPE_B32, TYPE_B64};
    struct builder b = {0};
    build_function(&b, "f", 2, types);
    build_op(&b, -1, 0, 0, NULL);            /* R0 */
    build_op(&b, -1, 1, 1, (uint32_t[]){0}); /* R2:R3, since R1 is the stack pointer */
    build_op(&b, -1, 0, 2, (uint32_t[]){0, 1});
    build_inst(&b, OP_RET, -1);
    const struct register_need *need = &analysed(&b)->cfg->registers;
    assert_int_equal(need->live_units, 3);
    assert_int_equal(need->coloured, 4);
    build_free(&b);
}

static void alignment_costs_registers(void **state) {
    (void)state;
    static const uint8_t types[] = {TYPE_B64, TYPE_B64};
    struct builder b = {0};
    build_function(&b, "f", 2, types);
    build_op(&b, -1, 0, 0, NULL); /* R2:R3 */
    build_op(&b, -1, 1, 0, NULL); /* R4:R5; nothing can use R0 */
    build_op(&b, -1, 0, 2, (uint32_t[]){0, 1});
    build_inst(&b, OP_RET, -1);
    const struct register_need *need = &analysed(&b)->cfg->registers;
    assert_int_equal(need->live_units, 4);
    assert_int_equal(need->coloured, 6);
    build_free(&b);
}

/* In the order of first points two words take R2 and R3 and the pair has to go to R4:R5. */
static void wide_ones_first_where_that_is_better(void **state) {
    (void)state;
    static const uint8_t types[] = {TYPE_B32, TYPE_B32, TYPE_B32, TYPE_B64, TYPE_B32, TYPE_B32};
    struct builder b = {0};
    build_function(&b, "f", 6, types);
    build_op(&b, -1, 0, 0, NULL);
    build_op(&b, -1, 1, 0, NULL);
    build_op(&b, -1, 2, 0, NULL);
    build_op(&b, -1, 4, 1, (uint32_t[]){1});
    build_op(&b, -1, 5, 2, (uint32_t[]){0, 4});
    build_op(&b, -1, 3, 0, NULL);
    build_op(&b, -1, 0, 3, (uint32_t[]){5, 2, 3});
    build_inst(&b, OP_RET, -1);
    const struct register_need *need = &analysed(&b)->cfg->registers;
    assert_int_equal(need->live_units, 4);
    assert_int_equal(need->coloured, 5);
    build_free(&b);
}

static void complementary_guards_do_not_reach_back_to_the_entry(void **state) {
    (void)state;
    static const uint8_t types[] = {TYPE_PRED, TYPE_B32, TYPE_B32, TYPE_B32};
    struct builder b = {0};
    build_function(&b, "f", 4, types);
    build_op(&b, -1, 0, 0, NULL);
    build_op(&b, -1, 2, 0, NULL);
    build_op(&b, -1, 3, 1, (uint32_t[]){2}); /* one word live around here */
    build_op(&b, 0, 1, 1, (uint32_t[]){3});
    build_op(&b, 0, 1, 1, (uint32_t[]){3});
    build_op(&b, -1, 2, 1, (uint32_t[]){1});
    build_inst(&b, OP_RET, -1);
    assert_int_equal(analysed(&b)->cfg->registers.live_units, 2);
    build_free(&b);
}

static void empty_kernel_takes_two(void **state) {
    (void)state;
    struct builder b = {0};
    build_function(&b, "f", 1, words);
    build_inst(&b, OP_RET, -1);
    assert_int_equal(analysed(&b)->live_registers, 2);
    build_free(&b);
}

static void beyond_what_can_be_coloured_the_peak_is_reported(void **state) {
    (void)state;
    enum { COUNT = 2000 };
    static uint8_t types[COUNT];
    memset(types, TYPE_B64, sizeof types);
    struct builder b = {0};
    build_function(&b, "f", COUNT, types);
    for (uint32_t i = 0; i < COUNT; i++)
        build_op(&b, -1, i, 0, NULL);
    for (uint32_t i = 0; i < COUNT; i++)
        build_op(&b, -1, 0, 1, &i);
    build_inst(&b, OP_RET, -1);
    const struct register_need *need = &analysed(&b)->cfg->registers;
    assert_true(need->spills);
    assert_int_equal(need->live_units, 2 * COUNT);
    assert_int_equal(need->coloured, 2 * COUNT);
    build_free(&b);
}

/* A function that holds `width` words at once, calls `callee` at that point if given, and returns. */
static struct function *holds(struct builder *b, const char *name, uint32_t width, const struct call *call) {
    struct function *function = build_function(b, name, 64, words);
    for (uint32_t i = 0; i < width; i++)
        build_op(b, -1, i, 0, NULL);
    if (call)
        build_inst(b, OP_CALL, -1)->call = call;
    for (uint32_t i = 0; i < width; i++)
        build_op(b, -1, 0, 1, &i);
    build_inst(b, OP_RET, -1);
    return function;
}

static void a_call_adds_what_the_callee_needs(void **state) {
    (void)state;
    struct builder b = {0};
    struct call inner = {0}, outer = {0};
    struct function *kernel = holds(&b, "kernel", 10, &outer);
    struct function *middle = holds(&b, "middle", 5, &inner);
    struct function *leaf = holds(&b, "leaf", 20, NULL);
    outer.callee = middle;
    inner.callee = leaf;
    analysed(&b);
    assert_int_equal(leaf->live_registers, 21);
    assert_int_equal(middle->live_registers, 5 + 21);
    assert_int_equal(kernel->live_registers, 10 + 5 + 21);
    build_free(&b);
}

static void recursion_counts_once(void **state) {
    (void)state;
    struct builder b = {0};
    struct call again = {0}, outer = {0};
    struct function *kernel = holds(&b, "kernel", 4, &outer);
    struct function *recursive = holds(&b, "recursive", 6, &again);
    outer.callee = again.callee = recursive;
    analysed(&b);
    assert_int_equal(recursive->live_registers, 6 + 7);
    assert_int_equal(kernel->live_registers, 4 + 6 + 7);
    build_free(&b);
}

static void a_call_through_a_pointer_counts_the_neediest(void **state) {
    (void)state;
    struct builder b = {0};
    struct call pointer = {.callee = NULL};
    struct function *kernel = holds(&b, "kernel", 4, &pointer);
    kernel->is_entry = true;
    holds(&b, "small", 2, NULL);
    holds(&b, "large", 30, NULL);
    analysed(&b);
    assert_int_equal(kernel->live_registers, 4 + 31);
    build_free(&b);
}

/* Many registers live through many blocks: the matrices would take a gigabyte if not cut into strips. */
static void many_registers_through_many_blocks(void **state) {
    (void)state;
    enum { REGISTERS = 20000, BLOCKS = 20000 };
    static uint8_t types[REGISTERS];
    memset(types, TYPE_B32, sizeof types);
    types[0] = TYPE_PRED;
    struct builder b = {0};
    build_function(&b, "f", REGISTERS, types);
    for (uint32_t i = 0; i < REGISTERS; i++)
        build_op(&b, -1, i, 0, NULL);
    for (uint32_t i = 0; i < BLOCKS; i++)
        build_bra(&b, 0, REGISTERS + BLOCKS);
    for (uint32_t i = 0; i < REGISTERS; i++)
        build_op(&b, -1, i, 1, &i);
    build_inst(&b, OP_RET, -1);
    const struct cfg *cfg = analysed(&b)->cfg;
    assert_int_equal(cfg->registers.live_units, REGISTERS - 1);
    assert_int_equal(cfg->blocks[BLOCKS / 2].live_peak, REGISTERS - 1);
    build_free(&b);
}

int main(void) {
    memset(words, TYPE_B32, sizeof words);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(liveness_is_what_paths_say),
        cmocka_unit_test(registers_used_by_addresses_and_guards_are_read),
        cmocka_unit_test(straight_code_takes_its_peak_and_the_stack_pointer),
        cmocka_unit_test(pairs_are_aligned),
        cmocka_unit_test(alignment_costs_registers),
        cmocka_unit_test(wide_ones_first_where_that_is_better),
        cmocka_unit_test(complementary_guards_do_not_reach_back_to_the_entry),
        cmocka_unit_test(empty_kernel_takes_two),
        cmocka_unit_test(beyond_what_can_be_coloured_the_peak_is_reported),
        cmocka_unit_test(a_call_adds_what_the_callee_needs),
        cmocka_unit_test(recursion_counts_once),
        cmocka_unit_test(a_call_through_a_pointer_counts_the_neediest),
        cmocka_unit_test(many_registers_through_many_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
