/* SPDX-License-Identifier: Apache-2.0 */
/* Basic blocks, post-dominators, loops. */
#include "analysis_build.h"

#include <stdio.h>
#include <stdlib.h>

static const uint8_t one_predicate[] = {TYPE_PRED};

static const struct cfg *analysed(struct builder *b) {
    struct report report = {0};
    enum status status = build_analyse(b, &report);
    if (status)
        print_error("%s", report_text(&report));
    assert_int_equal(status, STATUS_OK);
    report_free(&report);
    return b->functions.items[0]->cfg;
}

static void work(struct builder *b) { build_inst(b, OP_NOP, -1); }

static uint32_t reconverge(const struct builder *b, uint32_t pc) { return b->code.items[pc].reconverge; }

static void straight_code_is_one_block(void **state) {
    (void)state;
    struct builder b = {0};
    build_function(&b, "f", 1, one_predicate);
    work(&b), work(&b);
    build_inst(&b, OP_RET, -1);
    const struct cfg *cfg = analysed(&b);
    assert_int_equal(cfg->block_count, 1);
    assert_int_equal(cfg->blocks[0].successor_count, 1);
    assert_int_equal(cfg->blocks[0].successors[0], 1); /* the virtual exit */
    assert_int_equal(cfg->blocks[0].post_dominator, 1);
    build_free(&b);
}

static void a_call_ends_no_block_unless_it_never_returns(void **state) {
    (void)state;
    struct builder b = {0};
    build_function(&b, "f", 1, one_predicate);
    struct function *stays = build_function(&b, "stays", 1, one_predicate);
    stays->is_noreturn = true;
    stays->is_defined = false;
    struct call returning = {.callee = b.functions.items[0]}, ending = {.callee = stays};
    b.functions.count = 1;
    build_inst(&b, OP_CALL, -1)->call = &returning;
    work(&b);
    build_inst(&b, OP_CALL, -1)->call = &ending;
    build_inst(&b, OP_RET, -1);
    b.functions.count = 2;
    const struct cfg *cfg = analysed(&b);
    assert_int_equal(cfg->block_count, 2);
    assert_int_equal(cfg->blocks[0].end_pc, 3);
    assert_int_equal(cfg->blocks[0].successor_count,
                     1); /* its threads end there, as at an exit; nothing leads to the ret */
    assert_int_equal(cfg->blocks[0].successors[0], cfg->block_count);
    assert_false(cfg->blocks[1].reachable);
    build_free(&b);
}

static void if_else_meets_after_both(void **state) {
    (void)state;
    struct builder b = {0};
    build_function(&b, "f", 1, one_predicate);
    build_bra(&b, 0, 3); /* 0 */
    work(&b);            /* 1 else */
    build_bra(&b, -1, 4);
    work(&b);                   /* 3 then */
    build_inst(&b, OP_RET, -1); /* 4 */
    const struct cfg *cfg = analysed(&b);
    assert_int_equal(cfg->block_count, 4);
    assert_int_equal(reconverge(&b, 0), 4);
    assert_int_equal(reconverge(&b, 2), 4);
    assert_int_equal(cfg->loop_count, 0);
    build_free(&b);
}

static void loop_branch_meets_after_the_loop(void **state) {
    (void)state;
    struct builder b = {0};
    build_function(&b, "f", 1, one_predicate);
    work(&b);                   /* 0 B0 */
    work(&b);                   /* 1 B1 head */
    build_bra(&b, 0, 4);        /* 2: continue */
    work(&b);                   /* 3 B2 */
    build_bra(&b, 0, 1);        /* 4 B3 back edge */
    build_inst(&b, OP_RET, -1); /* 5 B4 */
    const struct cfg *cfg = analysed(&b);
    assert_int_equal(reconverge(&b, 2), 4);
    assert_int_equal(reconverge(&b, 4), 5);
    assert_int_equal(cfg->loop_count, 1);
    assert_int_equal(cfg->blocks[1].loop_head, 1);
    assert_int_equal(cfg->blocks[3].loop_head, 1);
    assert_int_equal(cfg->blocks[0].loop_depth, 0);
    assert_int_equal(cfg->blocks[2].loop_depth, 1);
    assert_int_equal(cfg->blocks[4].loop_depth, 0);
    assert_false(cfg->irreducible);
    build_free(&b);
}

static void nested_loops_have_depth_two(void **state) {
    (void)state;
    struct builder b = {0};
    build_function(&b, "f", 1, one_predicate);
    work(&b);                    /* 0 B0 outer head */
    work(&b);                    /* 1 B1 inner head and latch */
    build_bra(&b, 0, 1);         /* 2 */
    build_bra(&b, 0, 0);         /* 3 B2 outer latch */
    build_inst(&b, OP_EXIT, -1); /* 4 B3 */
    /* The entry is the outer head only when a branch goes to PC 0. */
    const struct cfg *cfg = analysed(&b);
    assert_int_equal(cfg->loop_count, 2);
    assert_int_equal(cfg->blocks[0].loop_depth, 1);
    assert_int_equal(cfg->blocks[1].loop_depth, 2);
    assert_int_equal(cfg->blocks[1].loop_head, 1);
    assert_int_equal(cfg->blocks[2].loop_depth, 1);
    assert_int_equal(cfg->blocks[2].loop_head, 0);
    assert_int_equal(cfg->blocks[3].loop_depth, 0);
    build_free(&b);
}

static void early_return_moves_the_meeting_point_to_the_exit(void **state) {
    (void)state;
    struct builder b = {0};
    build_function(&b, "f", 1, one_predicate);
    build_bra(&b, 0, 3);        /* 0 */
    work(&b);                   /* 1 */
    build_inst(&b, OP_RET, -1); /* 2: early */
    work(&b);                   /* 3 */
    build_inst(&b, OP_RET, -1); /* 4 */
    analysed(&b);
    assert_int_equal(reconverge(&b, 0), NO_PC);
    build_free(&b);
}

static void guarded_return_goes_on_and_reaches_the_exit(void **state) {
    (void)state;
    struct builder b = {0};
    build_function(&b, "f", 1, one_predicate);
    build_bra(&b, 0, 3);        /* 0 */
    build_inst(&b, OP_RET, 0);  /* 1 */
    work(&b);                   /* 2 */
    build_inst(&b, OP_RET, -1); /* 3 */
    const struct cfg *cfg = analysed(&b);
    assert_int_equal(cfg->blocks[1].successor_count, 2);
    assert_int_equal(cfg->blocks[1].successors[0], 2);
    assert_int_equal(cfg->blocks[1].successors[1], cfg->block_count);
    assert_int_equal(reconverge(&b, 0), NO_PC);
    build_free(&b);
}

/* Threads that end meet nobody, so they do not keep the others from meeting: an exit that compilers put where nothing
 * arrives (the default of a complete switch) changes no reconvergence point. */
static void exit_and_trap_do_not_move_the_meeting_point(void **state) {
    (void)state;
    static const enum op ends[] = {OP_EXIT, OP_TRAP};
    for (int guarded = 0; guarded < 2; guarded++)
        for (int i = 0; i < 2; i++) {
            struct builder b = {0};
            build_function(&b, "f", 1, one_predicate);
            build_bra(&b, 0, 3);                       /* 0 */
            build_inst(&b, ends[i], guarded ? 0 : -1); /* 1 */
            work(&b);                                  /* 2 */
            work(&b);                                  /* 3 */
            build_inst(&b, OP_RET, -1);                /* 4 */
            analysed(&b);
            assert_int_equal(reconverge(&b, 0), 3);
            build_free(&b);
        }
}

static void switch_meets_after_all_cases(void **state) {
    (void)state;
    struct builder b = {0};
    build_function(&b, "f", 1, one_predicate);
    build_brx(&b, -1, 5, (uint32_t[]){1, 3, 5, 1, 3}); /* 0; repeated targets are one edge */
    work(&b);                                          /* 1 */
    build_bra(&b, -1, 6);                              /* 2 */
    work(&b);                                          /* 3 falls into the next case */
    work(&b);                                          /* 4 */
    work(&b);                                          /* 5 */
    build_inst(&b, OP_RET, -1);                        /* 6 */
    const struct cfg *cfg = analysed(&b);
    assert_int_equal(cfg->blocks[0].successor_count, 3);
    assert_int_equal(reconverge(&b, 0), 6);
    build_free(&b);
}

static void endless_loop_meets_nowhere(void **state) {
    (void)state;
    struct builder b = {0};
    build_function(&b, "f", 1, one_predicate);
    build_bra(&b, 0, 5);        /* 0: to the ordinary end */
    build_bra(&b, 0, 3);        /* 1: in the endless loop */
    work(&b);                   /* 2 */
    work(&b);                   /* 3 */
    build_bra(&b, -1, 1);       /* 4 */
    build_inst(&b, OP_RET, -1); /* 5 */
    const struct cfg *cfg = analysed(&b);
    assert_int_equal(reconverge(&b, 0), 5); /* every path that ends goes through it */
    assert_int_equal(reconverge(&b, 1), NO_PC);
    assert_int_equal(reconverge(&b, 4), NO_PC);
    assert_int_equal(cfg->blocks[cfg_block_at(cfg, 1)].post_dominator, NO_PC);
    assert_int_equal(cfg->loop_count, 1);
    build_free(&b);
}

static void two_entries_make_a_loop_irreducible(void **state) {
    (void)state;
    struct builder b = {0};
    build_function(&b, "f", 1, one_predicate);
    build_bra(&b, 0, 2); /* 0: into the middle */
    work(&b);            /* 1 */
    work(&b);            /* 2 */
    build_bra(&b, 0, 1); /* 3 */
    build_inst(&b, OP_RET, -1);
    const struct cfg *cfg = analysed(&b);
    assert_true(cfg->irreducible);
    assert_int_equal(cfg->loop_count, 1);
    assert_int_equal(reconverge(&b, 0), 2);
    assert_int_equal(reconverge(&b, 3), 4);
    build_free(&b);
}

static void unreachable_code_is_tolerated(void **state) {
    (void)state;
    struct builder b = {0};
    build_function(&b, "f", 1, one_predicate);
    build_bra(&b, -1, 3); /* 0 */
    build_bra(&b, 0, 3);  /* 1: never reached */
    work(&b);             /* 2 */
    build_inst(&b, OP_RET, -1);
    const struct cfg *cfg = analysed(&b);
    assert_true(cfg->blocks[0].reachable);
    assert_false(cfg->blocks[1].reachable);
    assert_false(cfg->blocks[2].reachable);
    assert_true(cfg->blocks[3].reachable);
    assert_int_equal(reconverge(&b, 1), 3);
    build_free(&b);
}

static void branch_out_of_the_function_is_refused(void **state) {
    (void)state;
    struct builder b = {0};
    build_function(&b, "first", 1, one_predicate);
    build_bra(&b, -1, 2);
    build_function(&b, "second", 1, one_predicate);
    build_inst(&b, OP_RET, -1);
    build_inst(&b, OP_RET, -1);
    struct report report = {0};
    assert_int_equal(build_analyse(&b, &report), STATUS_INVALID);
    assert_non_null(strstr(report_text(&report), "'first'"));
    report_free(&report);
    build_free(&b);
}

static void every_pc_is_found_in_its_block(void **state) {
    (void)state;
    struct rng rng;
    rng_seed(&rng, 7);
    for (int round = 0; round < 200; round++) {
        struct builder b = {0};
        build_random(&b, &rng, 60, 1, one_predicate, 1);
        const struct cfg *cfg = analysed(&b);
        for (uint32_t pc = 0; pc < b.code.count; pc++) {
            const struct block *block = &cfg->blocks[cfg_block_at(cfg, pc)];
            assert_true(block->first_pc <= pc && pc < block->end_pc);
        }
        build_free(&b);
    }
}

/* Reaches the exit from `from` without stepping on `without`; both may be any node. */
static bool reaches_exit(const struct builder *b, uint32_t from, uint32_t without) {
    uint32_t count = b->code.count, stack[256], depth = 0, next[8];
    bool seen[256] = {false};
    if (from == without)
        return false;
    stack[depth++] = from;
    seen[from] = true;
    while (depth) {
        uint32_t pc = stack[--depth];
        if (pc == count)
            return true;
        unsigned n = next_pcs(b, b->functions.items[0], pc, count, next);
        for (unsigned i = 0; i < n; i++)
            if (next[i] != without && !seen[next[i]]) {
                seen[next[i]] = true;
                stack[depth++] = next[i];
            }
    }
    return false;
}

/* By the definition: instructions without which the exit cannot be reached, and of those the nearest, which all
 * others post-dominate too. */
static uint32_t naive_post_dominator(const struct builder *b, uint32_t pc) {
    uint32_t exit = b->code.count, nearest = NO_PC;
    if (!reaches_exit(b, pc, NO_PC))
        return NO_PC;
    for (uint32_t d = 0; d <= exit; d++) {
        if (d == pc || reaches_exit(b, pc, d))
            continue;
        bool is_nearest = true;
        for (uint32_t other = 0; other <= exit && is_nearest; other++)
            if (other != pc && other != d && !reaches_exit(b, pc, other) && reaches_exit(b, d, other))
                is_nearest = false;
        if (is_nearest) {
            assert_int_equal(nearest, NO_PC);
            nearest = d;
        }
    }
    assert_int_not_equal(nearest, NO_PC);
    return nearest == exit ? NO_PC : nearest;
}

static void reconvergence_is_the_nearest_unavoidable_instruction(void **state) {
    (void)state;
    struct rng rng;
    rng_seed(&rng, 2026);
    unsigned branches = 0, at_exit = 0;
    for (int round = 0; round < 3000; round++) {
        struct builder b = {0};
        build_random(&b, &rng, 24, 1, one_predicate, 1);
        analysed(&b);
        for (uint32_t pc = 0; pc < b.code.count; pc++) {
            uint16_t op = b.code.items[pc].op;
            if (op != OP_BRA && op != OP_BRX)
                continue;
            uint32_t expected = naive_post_dominator(&b, pc);
            assert_int_equal(reconverge(&b, pc), expected);
            branches++;
            at_exit += expected == NO_PC;
        }
        build_free(&b);
    }
    /* The random graphs have both kinds in quantity. */
    assert_true(branches > 10000 && at_exit > 1000 && branches - at_exit > 1000);
}

static bool naive_dominates(const struct builder *b, uint32_t head, uint32_t pc) {
    uint32_t stack[256], depth = 0, next[8];
    bool seen[256] = {false};
    if (head == 0 || head == pc)
        return true;
    stack[depth++] = 0;
    seen[0] = true;
    while (depth) {
        uint32_t at = stack[--depth];
        if (at == pc)
            return false;
        unsigned n = next_pcs(b, b->functions.items[0], at, b->code.count, next);
        for (unsigned i = 0; i < n; i++)
            if (next[i] != head && next[i] < b->code.count && !seen[next[i]]) {
                seen[next[i]] = true;
                stack[depth++] = next[i];
            }
    }
    return true;
}

/* In graphs without irreducible loops the heads are exactly the targets of edges from what they dominate. */
static void loop_heads_are_targets_of_back_edges(void **state) {
    (void)state;
    struct rng rng;
    rng_seed(&rng, 99);
    unsigned loops = 0;
    for (int round = 0; round < 3000; round++) {
        struct builder b = {0};
        build_random(&b, &rng, 20, 1, one_predicate, 1);
        const struct cfg *cfg = analysed(&b);
        bool head[256] = {false};
        for (uint32_t pc = 0; pc < b.code.count && !cfg->irreducible; pc++) {
            uint32_t next[8];
            if (!cfg->blocks[cfg_block_at(cfg, pc)].reachable)
                continue;
            unsigned n = next_pcs(&b, b.functions.items[0], pc, b.code.count, next);
            for (unsigned i = 0; i < n; i++)
                if (next[i] < b.code.count && naive_dominates(&b, next[i], pc))
                    head[next[i]] = true;
        }
        for (uint32_t n = 0; n < cfg->block_count && !cfg->irreducible; n++) {
            assert_int_equal(cfg->blocks[n].loop_head == n, head[cfg->blocks[n].first_pc]);
            loops += cfg->blocks[n].loop_head == n;
        }
        build_free(&b);
    }
    assert_true(loops > 500);
}

/* Blocks in the order of their places, as first PCs. */
static void expect_places(struct builder *b, unsigned count, const uint32_t *first_pcs) {
    const struct cfg *cfg = analysed(b);
    assert_int_equal(cfg->block_count, count);
    for (unsigned i = 0; i < count; i++) {
        const struct block *block = &cfg->blocks[cfg_block_at(cfg, first_pcs[i])];
        assert_int_equal(block->first_pc, first_pcs[i]);
        assert_int_equal(block->place, i);
        assert_int_equal(b->code.items[block->end_pc - 1].place, i);
    }
    build_free(b);
}

static void what_stands_at_the_end_comes_before_what_it_leads_to(void **state) {
    (void)state;
    struct builder b = {0};
    build_function(&b, "f", 1, one_predicate);
    build_bra(&b, 0, 3);        /* 0 */
    work(&b);                   /* 1 */
    build_inst(&b, OP_RET, -1); /* 2: where 1 and 3 meet */
    work(&b);                   /* 3 */
    build_bra(&b, -1, 2);       /* 4 */
    build_bra(&b, -1, 2);       /* 5: nothing leads here */
    b.code.items[1] = (struct inst){.op = OP_BRA, .guard = -1, .target = 2};
    expect_places(&b, 5, (const uint32_t[]){0, 3, 1, 2, 5});
}

/* Whatever way out of a loop: its blocks first. 1 is left for 5 or, by a block of its own, for 6. */
static void a_loop_comes_before_what_follows_it(void **state) {
    (void)state;
    struct builder b = {0};
    build_function(&b, "f", 1, one_predicate);
    work(&b);                   /* 0 */
    build_bra(&b, 0, 5);        /* 1: leaves */
    build_bra(&b, 0, 7);        /* 2: leaves for 7 */
    build_bra(&b, 0, 3);        /* 3: a loop in the loop */
    build_bra(&b, -1, 1);       /* 4 */
    work(&b);                   /* 5 */
    build_inst(&b, OP_RET, -1); /* 6 */
    work(&b);                   /* 7 */
    build_bra(&b, -1, 6);       /* 8 */
    expect_places(&b, 8, (const uint32_t[]){0, 1, 2, 3, 4, 7, 5, 6});
}

/* Of random graphs: every edge that does not go back to a block that leads here leads to a later place. */
static void places_are_topological_but_for_loops(void **state) {
    (void)state;
    struct rng rng;
    unsigned forward = 0;
    rng_seed(&rng, 4);
    for (unsigned n = 0; n < 300; n++) {
        struct builder b = {0};
        build_random(&b, &rng, 60, 1, one_predicate, 1);
        const struct cfg *cfg = analysed(&b);
        bool taken[64] = {false};
        for (uint32_t i = 0; i < cfg->block_count; i++) {
            const struct block *block = &cfg->blocks[i];
            assert_true(block->place < cfg->block_count && !taken[block->place]);
            taken[block->place] = true;
            for (uint32_t k = 0; k < block->successor_count && block->reachable && !cfg->irreducible; k++) {
                if (block->successors[k] == cfg->block_count)
                    continue;
                const struct block *to = &cfg->blocks[block->successors[k]];
                if (to->loop_head != block->successors[k]) /* only heads are gone back to */
                    assert_true(to->place > block->place);
                forward += to->place > block->place;
            }
        }
        build_free(&b);
    }
    assert_true(forward > 500);
}

enum { MANY = 100000 };

/* Shapes that make quadratic algorithms show: they take seconds to hours where these take milliseconds. */
static void many_blocks_take_little_time(void **state) {
    (void)state;
    struct builder b = {0};
    build_function(&b, "ladder", 1, one_predicate); /* every rung may skip to the end */
    for (uint32_t i = 0; i < MANY; i++)
        build_bra(&b, 0, MANY);
    build_inst(&b, OP_RET, -1);
    const struct cfg *cfg = analysed(&b);
    assert_int_equal(cfg->block_count, MANY + 1);
    assert_int_equal(reconverge(&b, 0), MANY);
    build_free(&b);

    build_function(&b, "nest", 1, one_predicate); /* loops in loops */
    for (uint32_t i = 0; i < MANY / 2; i++)
        work(&b);
    for (uint32_t i = 0; i < MANY / 2; i++)
        build_bra(&b, 0, MANY / 2 - 1 - i);
    build_inst(&b, OP_RET, -1);
    cfg = analysed(&b);
    assert_int_equal(cfg->loop_count, MANY / 2);
    assert_int_equal(cfg->blocks[MANY / 2 - 1].loop_depth, MANY / 2);
    assert_int_equal(reconverge(&b, MANY / 2), MANY / 2 + 1);
    build_free(&b);

    build_function(&b, "chords", 1, one_predicate); /* forward chords to the end, back chords to the start */
    for (uint32_t i = 0; i < MANY; i++)
        build_bra(&b, 0, i % 2 ? i / 2 : MANY - i / 2);
    build_inst(&b, OP_RET, -1);
    analysed(&b);
    build_free(&b);
}

static void too_many_edges_are_refused(void **state) {
    (void)state;
    struct builder b = {0};
    build_function(&b, "dense", 1, one_predicate);
    static uint32_t targets[8192];
    for (uint32_t i = 0; i < 8192; i++)
        targets[i] = i;
    for (uint32_t i = 0; i < 8192; i++) {
        struct inst *inst = build_inst(&b, OP_BRX, -1);
        inst->targets = targets;
        inst->target_count = 8192;
    }
    struct report report = {0};
    assert_int_equal(build_analyse(&b, &report), STATUS_INVALID);
    assert_non_null(strstr(report_text(&report), "'dense'"));
    report_free(&report);
    build_free(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(straight_code_is_one_block),
        cmocka_unit_test(a_call_ends_no_block_unless_it_never_returns),
        cmocka_unit_test(if_else_meets_after_both),
        cmocka_unit_test(loop_branch_meets_after_the_loop),
        cmocka_unit_test(nested_loops_have_depth_two),
        cmocka_unit_test(early_return_moves_the_meeting_point_to_the_exit),
        cmocka_unit_test(guarded_return_goes_on_and_reaches_the_exit),
        cmocka_unit_test(exit_and_trap_do_not_move_the_meeting_point),
        cmocka_unit_test(switch_meets_after_all_cases),
        cmocka_unit_test(endless_loop_meets_nowhere),
        cmocka_unit_test(two_entries_make_a_loop_irreducible),
        cmocka_unit_test(unreachable_code_is_tolerated),
        cmocka_unit_test(branch_out_of_the_function_is_refused),
        cmocka_unit_test(every_pc_is_found_in_its_block),
        cmocka_unit_test(reconvergence_is_the_nearest_unavoidable_instruction),
        cmocka_unit_test(loop_heads_are_targets_of_back_edges),
        cmocka_unit_test(what_stands_at_the_end_comes_before_what_it_leads_to),
        cmocka_unit_test(a_loop_comes_before_what_follows_it),
        cmocka_unit_test(places_are_topological_but_for_loops),
        cmocka_unit_test(many_blocks_take_little_time),
        cmocka_unit_test(too_many_edges_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
