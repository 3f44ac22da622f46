/* SPDX-License-Identifier: Apache-2.0 */
/* What the hardware of mechanisms holds: bits by the fields that were published, areas by a fit that nothing beats. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "own_keys.h"

#include "cost/cost.h"
#include "divergence/divergence.h"

static const struct cost_shape fung = {.warps = 24, .warp_size = 32, .threads = 768, .lanes = 8, .registers = 8192};

static const struct cost_structure *named(const struct cost *cost, const char *name) {
    for (unsigned i = 0; i < cost->count; i++)
        if (strcmp(cost->items[i].name, name) == 0)
            return &cost->items[i];
    fail_msg("no structure '%s'", name);
    return NULL;
}

static uint64_t all_bits(const struct cost *cost) {
    uint64_t bits = 0;
    for (unsigned i = 0; i < cost->count; i++)
        bits += cost_bits(&cost->items[i]);
    return bits;
}

static void numbers_take_their_bits(void **state) {
    (void)state;
    static const unsigned cases[][3] = {{1, 1, 1}, {2, 1, 2}, {64, 6, 7}, {128, 7, 8}, {768, 10, 10}, {1024, 10, 11}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(cost_index_bits(cases[i][0]), cases[i][1]);
        assert_int_equal(cost_count_bits(cases[i][0]), cases[i][2]);
    }
}

/* [000 table 7.1]; the fields of the pool and of the MHeap LUT do not give what the table prints. */
static void table_7_1_comes_out_of_its_fields(void **state) {
    (void)state;
    static const struct {
        const char *name;
        unsigned entries, entry_bits, bits, printed;
    } table[] = {{"warp-update registers", 2, 376, 752, 752}, {"PC-warp LUT", 64, 63, 4032, 4032},
                 {"warp pool", 128, 354, 45312, 44928},       {"warp allocator", 128, 7, 896, 896},
                 {"MHeap LUT", 128, 31, 3968, 4992},          {"max-heap", 64, 58, 3712, 3712}};
    struct arena arena = {0};
    struct cost cost = {.arena = &arena};
    uint64_t printed = 0;
    cost_formation(&fung, &(struct cost_formation){.sorts = true}, &cost);
    for (unsigned i = 0; i < sizeof table / sizeof *table; i++) {
        const struct cost_structure *structure = named(&cost, table[i].name);
        assert_int_equal(structure->entries, table[i].entries);
        assert_int_equal(cost_entry_bits(structure), table[i].entry_bits);
        assert_int_equal(cost_bits(structure), table[i].bits);
        assert_int_equal(cost_find_published(structure)->printed_bits, table[i].printed);
        printed += table[i].printed;
    }
    assert_int_equal(all_bits(&cost), 58672);
    assert_int_equal(printed, 59312);
    const struct cost_structure *pool = named(&cost, "warp pool");
    assert_int_equal(pool->arrays[0].banks + pool->arrays[1].banks, 33);
    arena_free(&arena);
}

static void sizes_given_are_those_counted(void **state) {
    (void)state;
    struct arena arena = {0};
    struct cost cost = {.arena = &arena}, plain = {.arena = &arena};
    cost_formation(&fung, &(struct cost_formation){32, 64, 16, 32, true}, &cost);
    assert_int_equal(cost_bits(named(&cost, "PC-warp LUT")), 32 * (24 + 32 + 6));
    assert_int_equal(cost_bits(named(&cost, "warp pool")), 64 * (320 + 24 + 10));
    assert_int_equal(cost_bits(named(&cost, "MHeap LUT")), 32 * (24 + 5));
    assert_int_equal(cost_bits(named(&cost, "max-heap")), 16 * (24 + 10 + 7 + 7 + 6));
    assert_null(cost_find_published(named(&cost, "warp pool")));
    cost_formation(&fung, &(struct cost_formation){.sorts = false}, &plain);
    assert_int_equal(plain.count, cost.count - 2);
    cost.count = 0;
    cost_stacks(&fung, &cost);
    assert_int_equal(all_bits(&cost), 24 * 64 * (24 + 24 + 32));
    arena_free(&arena);
}

/* [001 table 1]: bytes for 1 to 16 warps; the masks of 16 warps take 64, where the table prints 16. */
static void diverge_on_miss_takes_the_bytes_of_its_table(void **state) {
    (void)state;
    struct arena arena = {0};
    for (unsigned warps = 1; warps <= 16; warps++) {
        const struct cost_shape shape = {.warps = warps, .warp_size = 32, .threads = 32 * warps};
        struct cost cost = {.arena = &arena};
        cost_slip(&shape, 2, &cost);
        assert_int_equal(cost_bits(named(&cost, "memory divergence table")), 8 * 16 * warps);
        assert_int_equal(cost_bits(named(&cost, "slip counters")), 8 * 32 * warps);
        assert_int_equal(cost_bits(named(&cost, "slip-limit masks")), 8 * 4 * warps);
        assert_int_equal(cost_bits(named(&cost, "maximum slip")), 8);
        if (warps == 16)
            assert_int_equal(cost_find_published(named(&cost, "slip-limit masks"))->printed_bits, 8 * 16);
    }
    arena_free(&arena);
}

/* [002 §4.5] */
static void large_warps_take_224_bytes(void **state) {
    (void)state;
    struct arena arena = {0};
    struct cost cost = {.arena = &arena};
    const struct cost_shape shape = {.warps = 32, .warp_size = 32, .threads = 1024};
    cost_large_warps(&shape, 256, &cost);
    assert_int_equal(all_bits(&cost), 224 * 8);
    assert_int_equal(named(&cost, "register file decoders")->kind, COST_SPLIT);
    arena_free(&arena);
}

/* By hand, from what the mechanisms are defined to hold. */
static void mechanisms_without_publication_take_what_they_hold(void **state) {
    (void)state;
    struct arena arena = {0};
    struct cost mimd = {.arena = &arena}, nrec = {.arena = &arena}, barriers = {.arena = &arena};
    struct cost tokens = {.arena = &arena};
    divergence_find("mimd")->own.cost(NULL, &fung, &mimd);
    assert_int_equal(all_bits(&mimd), 19200); /* 768 threads: PC 24, ready 1 */
    divergence_find("nrec")->own.cost(NULL, &fung, &nrec);
    assert_int_equal(all_bits(&nrec), 46848); /* 768 groups: PC 24, mask 32, one of 24 warps 5 */
    divergence_find("barriers")->own.cost(NULL, &fung, &barriers);
    assert_int_equal(cost_bits(named(&barriers, "thread PCs")), 19968);           /* 768 threads: PC 24, state 2 */
    assert_int_equal(cost_bits(named(&barriers, "convergence barriers")), 21504); /* 24 warps, 16 of mask 32, PC 24 */
    assert_int_equal(all_bits(&barriers), 19968 + 21504);
    divergence_find("tokens")->own.cost(NULL, &fung, &tokens);
    assert_int_equal(cost_bits(named(&tokens, "token stacks")), 90624); /* 24 warps, 64 of type 3, mask 32, PC 24 */
    assert_int_equal(cost_bits(named(&tokens, "while masks")), 41664);  /* 24 warps, 31 of mask 32, PC 24 */
    assert_int_equal(cost_bits(named(&tokens, "warps")), 2112);         /* 24 of two masks and a PC */
    const char *const published[] = {"hanoi.registers=8", "hanoi.pc_bits=32", NULL};
    const struct divergence_ops *turing = divergence_find("hanoi");
    struct cost hanoi = {.arena = &arena}, wide = {.arena = &arena};
    turing->own.cost(own_values(&turing->own, &arena, NULL), &fung, &hanoi);
    assert_int_equal(all_bits(&hanoi), 24 * 3252);
    turing->own.cost(own_values(&turing->own, &arena, published), &fung,
                     &wide); /* 432 bytes a warp, says arXiv 2407.02944 */
    assert_int_equal(all_bits(&wide), 24 * 3461);
    for (unsigned i = 0; i < barriers.count; i++)
        assert_null(cost_find_published(&barriers.items[i]));
    assert_null(cost_find_published(&mimd.items[0]));
    assert_null(cost_find_published(&nrec.items[0]));
    arena_free(&arena);
}

/* Table 2 of variable warp sizing, typed in again: sizes of its machine, and areas at 40 nm by the area of cells. The gang table's does not come out. */
static void slices_take_what_is_in_print(void **state) {
    (void)state;
    static const struct {
        const char *name;
        uint64_t bits[2];
        double mm2[2];
    } parts[] = {{"instruction buffers", {8 * 4096, 4 * 4096}, {0.103, 0.052}},
                 {"L0 instruction caches", {8 * 256 * 8, 4 * 256 * 8}, {0.052, 0.026}},
                 {"scoreboards", {8 * 1800, 4 * 1800}, {0.154, 0.077}}};
    static const char *const four[] = {"vws.pc_bits=32", NULL}, *const eight[] = {"vws.base=8", NULL};
    const struct cost_shape shape = {.warps = 32, .warp_size = 32, .threads = 1024, .lanes = 32};
    const struct divergence_ops *vws = divergence_find("vws");
    struct arena arena = {0};
    for (unsigned base = 0; base < 2; base++) {
        struct cost cost = {.arena = &arena};
        vws->own.cost(own_values(&vws->own, &arena, base ? eight : four), &shape, &cost);
        for (unsigned i = 0; i < sizeof parts / sizeof parts[0]; i++) {
            const struct cost_structure *part = named(&cost, parts[i].name);
            assert_int_equal(cost_bits(part), parts[i].bits[base]);
            assert_true(fabs(cost_cells_mm2(part) / parts[i].mm2[base] - 1) < 0.015);
            assert_true(fabs(cost_find_published(part)->cells_mm2 - parts[i].mm2[base]) < 1e-9);
        }
        if (base)
            continue;
        const struct cost_structure *table = named(&cost, "gang table");
        assert_int_equal(table->entries, 128);
        assert_int_equal(cost_entry_bits(table), 56);
        const double entry = cost_find_published(table)->cells_mm2 / cost_cells_mm2(table) * 56;
        assert_true(entry > 64.4 && entry < 64.6);
    }
    arena_free(&arena);
}

/* By hand, for the blocks of 256 threads that [002 §5.2.1] has it with. */
static void compaction_takes_what_it_holds(void **state) {
    (void)state;
    struct arena arena = {0};
    struct cost every = {.arena = &arena}, divergent = {.arena = &arena}, whole = {.arena = &arena};
    struct cost capri = {.arena = &arena};
    struct cost_shape shape = {.warps = 32, .warp_size = 32, .threads = 1024, .block_warps = 8, .lanes = 32};
    const struct divergence_ops *tbc = divergence_find("tbc");
    /* tbc.sync, tbc.predictor, tbc.predictor_entries, tbc.lanes */
    const uint32_t sync_every[] = {0, 0, 32, 0}, sync_divergent[] = {1, 0, 32, 0}, sync_capri[] = {2, 0, 32, 1};
    assert_int_equal(tbc->own.params_bytes, sizeof sync_every);
    tbc->own.cost(&sync_every, &shape, &every);
    assert_int_equal(cost_bits(named(&every, "block stacks")), 622592);  /* 2,048 of 24 + 24 + 256 */
    assert_int_equal(cost_bits(named(&every, "compacted warps")), 4896); /* 32 of 32 lanes of 3 + 1, 24, 1 */
    assert_int_equal(cost_bits(named(&every, "threads to compact")), 256);
    assert_int_equal(cost_bits(named(&every, "branch outcomes")), 1024);
    assert_int_equal(cost_bits(named(&every, "threads in flight")), 1024);
    assert_int_equal(all_bits(&every), 629792);
    tbc->own.cost(&sync_divergent, &shape, &divergent);
    assert_int_equal(all_bits(&divergent), 629792 - 4896 + 156672); /* a warp for each thread */
    tbc->own.cost(&sync_capri, &shape, &capri);
    assert_int_equal(cost_bits(named(&capri, "adequacy table")), 32 * 26);
    /* 4 blocks: threads of 32 lanes on each side and warps of both sides up to 16, and which of 8 have passed */
    assert_int_equal(cost_bits(named(&capri, "warps that passed")), 32 * 4 * (2 * 32 * 4 + 5 + 8));
    assert_int_equal(cost_bits(named(&capri, "stacks")), 32 * 64 * 80);
    shape.block_warps = 32;
    tbc->own.cost(&sync_every, &shape, &whole);
    assert_int_equal(all_bits(&whole), 2048 * (48 + 1024) + 32 * (32 * 6 + 25) + 3 * 1024);
    for (unsigned i = 0; i < every.count; i++)
        assert_null(cost_find_published(&every.items[i]));
    arena_free(&arena);
}

/* ---- area ---- */

/* [000 ch. 7], typed in again: banks, bits of a bank as CACTI holds them, ports; the pool has two kinds of banks. */
static const struct {
    double area, banks[2], bits[2], ports[2];
} cacti[COST_POINTS] = {
    {0.2633, {1, 0}, {64 * 88, 0}, {4, 0}}, {0.6194, {32, 1}, {1280, 4352}, {2, 3}},
    {0.0342, {1, 0}, {896, 0}, {2, 0}},     {0.4945, {1, 0}, {128 * 88, 0}, {4, 0}},
    {0.2159, {1, 0}, {3712, 0}, {4, 0}},    {3.863, {1, 0}, {262144, 0}, {3, 0}},
    {4.585, {8, 0}, {32768, 0}, {3, 0}},
};

static double area_of(unsigned point, double cell, double edge) {
    double sum = 0;
    for (unsigned i = 0; i < 2; i++)
        sum += cacti[point].banks[i] * cacti[point].ports[i] * cacti[point].ports[i] *
               (cell * cacti[point].bits[i] + edge * sqrt(cacti[point].bits[i])) * 1e-6;
    return sum;
}

static double misfit(double cell, double edge, unsigned left_out) {
    double sum = 0;
    for (unsigned i = 0; i < COST_POINTS; i++)
        if (i != left_out)
            sum += pow(area_of(i, cell, edge) / cacti[i].area - 1, 2);
    return sum;
}

/* By walking downhill with ever smaller steps: no algebra shared with the fit. */
static void walk(double *cell, double *edge, unsigned left_out) {
    *cell = 1, *edge = 100;
    for (double step = 0.5; step > 1e-9; step /= 2)
        for (bool better = true; better;) {
            better = false;
            for (int i = 0; i < 8; i++) {
                static const int x[] = {1, -1, 0, 0, 1, 1, -1, -1}, y[] = {0, 0, 1, -1, 1, -1, 1, -1};
                const double a = *cell * (1 + step * x[i]), b = *edge * (1 + step * y[i]);
                if (misfit(a, b, left_out) < misfit(*cell, *edge, left_out))
                    *cell = a, *edge = b, better = true;
            }
        }
}

static void constants_are_those_that_fit_best(void **state) {
    (void)state;
    struct cost_model model;
    struct cost_point points[COST_POINTS];
    double cell, edge;
    cost_fit(&model, points);
    walk(&cell, &edge, COST_POINTS);
    assert_true(fabs(cell / model.cell - 1) < 1e-4 && fabs(edge / model.edge - 1) < 1e-4);
    for (unsigned i = 0; i < COST_POINTS; i++) {
        assert_true(fabs(points[i].published_mm2 - cacti[i].area) < 1e-9);
        assert_true(fabs(points[i].fitted_mm2 / area_of(i, cell, edge) - 1) < 1e-4);
        double without_cell, without_edge;
        walk(&without_cell, &without_edge, i);
        assert_true(fabs(points[i].left_out_mm2 / area_of(i, without_cell, without_edge) - 1) < 1e-4);
    }
    assert_true(fabs(model.flipflop * 752 - 8000) < 1e-6);
}

/* Published: 1.6353 mm² of structures and 0.722 of decoders; ours within 15 %. */
static void area_of_table_7_1_is_within_its_tolerance(void **state) {
    (void)state;
    struct arena arena = {0};
    struct cost cost = {.arena = &arena};
    struct cost_model model;
    struct cost_point points[COST_POINTS];
    double sum = 0, decoders = 0;
    cost_fit(&model, points);
    cost_formation(&fung, &(struct cost_formation){.sorts = true}, &cost);
    for (unsigned i = 0; i < cost.count; i++)
        *(cost.items[i].kind == COST_SPLIT ? &decoders : &sum) += cost_area_mm2(&model, &cost.items[i]);
    assert_true(fabs(sum / 1.6353 - 1) < 0.15);
    assert_true(fabs((sum + decoders) / 2.357 - 1) < 0.15);
    arena_free(&arena);
}

/* Of the areas in print; 32 scalar cores are their fourth. */
static void cores_have_the_areas_of_table_2(void **state) {
    const struct cost_shape scalar = {.lanes = 1, .threads = 1}, two = {.lanes = 32, .threads = 64},
                            sixteen = {.lanes = 32, .threads = 512}, four = {.lanes = 32, .threads = 128};
    struct cost_core core;
    (void)state;
    cost_core_fit(&core);
    assert_true(fabs(cost_core_mm2(&core, &scalar) - 1.05) < 1e-9);
    assert_true(fabs(32 * cost_core_mm2(&core, &scalar) - 33.60) < 1e-9);
    assert_true(fabs(cost_core_mm2(&core, &two) - 7.3) < 1e-9);
    assert_true(fabs(cost_core_mm2(&core, &sixteen) - 11.5) < 1e-9);
    /* every part is there, and a core in between lies in between: 14 warps are 4.2 mm² */
    assert_true(core.front_end > 0 && core.lane > 0 && core.thread > 0);
    assert_true(fabs(cost_core_mm2(&core, &four) - (7.3 + 2 * 4.2 / 14)) < 1e-9);
    assert_true(cost_core_find_published(&two)->area_mm2 > 7.29 && !cost_core_find_published(&four));
    assert_true(fabs(cost_scaled_mm2(4, 90, 45) - 1) < 1e-12);
}

/* A thread's share is what registers for it take, by a model fitted to another study's areas: between 16 and 128 of 32 bits. */
static void a_thread_takes_the_area_of_its_registers(void **state) {
    struct arena arena = {0};
    struct cost cost = {.arena = &arena};
    struct cost_model model;
    struct cost_point points[COST_POINTS];
    struct cost_core core;
    (void)state;
    cost_fit(&model, points);
    cost_core_fit(&core);
    for (unsigned i = 0; i < 2; i++)
        cost_add(&cost, COST_MEMORY, "registers", "", (uint64_t)512 * (i ? 128 : 16), (struct cost_array){1, 32, 2, 1});
    const double least = cost_scaled_mm2(cost_area_mm2(&model, &cost.items[0]), COST_NM, COST_CORE_NM) / 512;
    const double most = cost_scaled_mm2(cost_area_mm2(&model, &cost.items[1]), COST_NM, COST_CORE_NM) / 512;
    assert_true(least < core.thread && core.thread < most);
    arena_free(&arena);
}

/* [001 §8.3] Two warps with diverge on miss in place of sixteen without: 35 % less; what it adds is little. */
static void two_warps_that_slip_take_a_third_less_than_sixteen(void **state) {
    const struct cost_shape two = {.warps = 2, .warp_size = 32, .threads = 64, .lanes = 32},
                            sixteen = {.warps = 16, .warp_size = 32, .threads = 512, .lanes = 32};
    struct arena arena = {0};
    struct cost cost = {.arena = &arena};
    struct cost_model model;
    struct cost_point points[COST_POINTS];
    struct cost_core core;
    double added = 0;
    (void)state;
    cost_fit(&model, points);
    cost_core_fit(&core);
    cost_slip(&two, 2, &cost);
    for (unsigned i = 0; i < cost.count; i++)
        added += cost_scaled_mm2(cost_area_mm2(&model, &cost.items[i]), COST_NM, COST_CORE_NM);
    assert_true(added > 0 && added < 0.01 * cost_core_mm2(&core, &two));
    const double less = 1 - (cost_core_mm2(&core, &two) + added) / cost_core_mm2(&core, &sixteen);
    assert_true(less > 0.33 && less < 0.37);
    arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_take_their_bits),
        cmocka_unit_test(table_7_1_comes_out_of_its_fields),
        cmocka_unit_test(sizes_given_are_those_counted),
        cmocka_unit_test(diverge_on_miss_takes_the_bytes_of_its_table),
        cmocka_unit_test(large_warps_take_224_bytes),
        cmocka_unit_test(mechanisms_without_publication_take_what_they_hold),
        cmocka_unit_test(slices_take_what_is_in_print),
        cmocka_unit_test(compaction_takes_what_it_holds),
        cmocka_unit_test(constants_are_those_that_fit_best),
        cmocka_unit_test(area_of_table_7_1_is_within_its_tolerance),
        cmocka_unit_test(cores_have_the_areas_of_table_2),
        cmocka_unit_test(a_thread_takes_the_area_of_its_registers),
        cmocka_unit_test(two_warps_that_slip_take_a_third_less_than_sixteen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
