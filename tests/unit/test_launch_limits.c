/* SPDX-License-Identifier: Apache-2.0 */
/* What a launch may ask of a machine: the last that fits is run, one more is refused and leaves the device as it was. */
#include "device_fixture.h"

#include "result/result.h"
#include "result/timed.h"

static enum status ask(struct fixture *f, bool in_time, uint32_t threads, uint32_t dynamic_shared_bytes) {
    const struct launch launch = {.program = f->program,
                                  .kernel = module_find(program_module(f->program), "k"),
                                  .grid = {1, 1, 1},
                                  .block = {threads, 1, 1},
                                  .dynamic_shared_bytes = dynamic_shared_bytes,
                                  .params = &f->buffer,
                                  .work_dim = 1,
                                  .in_time = in_time};
    launch_result_free(&f->result);
    report_free(&f->report);
    f->report = (struct report){0};
    return device_launch(f->device, &launch, &f->result, &f->report);
}

/* The kernel's own shared memory, up to 16 bytes, and what the launch adds. */
static void shared_memory_ends_where_the_machine_says(void **state) {
    (void)state;
    for (unsigned in_time = 0; in_time < 2; in_time++) {
        struct fixture f;
        fixture_open(&f, "sm.count: 1\nsm.shared_bytes: 16384\n", 64);
        load(&f,
             ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<2>;\n.shared .align 4 .b8 s[1001];\nmov.u32 %r1, s;\n"
             "st.shared.u32 [%r1], 5;\nret;\n}\n");
        assert_int_equal(ask(&f, in_time, 32, 16384 - 1008), STATUS_OK);
        assert_int_equal(ask(&f, in_time, 32, 16384 - 1008 + 1), STATUS_INVALID);
        expect_text(&f, "kernel 'k' needs 16385 bytes of shared memory; an SM has 16384");
        assert_int_equal(ask(&f, in_time, 32, 0), STATUS_OK);
        finish(&f);
    }
}

static void blocks_have_the_threads_that_the_machine_allows(void **state) {
    (void)state;
    for (unsigned in_time = 0; in_time < 2; in_time++) {
        struct fixture f;
        fixture_open(&f, "sm.count: 1\nsm.max_block_threads: 256\n", 64);
        load(&f, ".visible .entry k(.param .u64 p)\n{\nret;\n}\n");
        assert_int_equal(ask(&f, in_time, 256, 0), STATUS_OK);
        assert_int_equal(ask(&f, in_time, 257, 0), STATUS_INVALID);
        expect_text(&f, "a block of 257 threads is more than sm.max_block_threads = 256");
        assert_int_equal(ask(&f, in_time, 0, 0), STATUS_INVALID);
        finish(&f);
    }
}

/* Every table of counters of two launches is in their total. */
static void a_total_has_every_table(void **state) {
    (void)state;
    struct gpu_stats one = {0}, total = {0};
    const struct {
        void *of_one, *of_total;
        const struct stat_description *table;
    } tables[] = {{&one.sm, &total.sm, sm_stats_table},
                  {&one.l1, &total.l1, cache_stat_table},
                  {&one.constant, &total.constant, cache_stat_table},
                  {&one.l2, &total.l2, cache_stat_table},
                  {&one.dram, &total.dram, dram_stat_table},
                  {&one.request_crossbar, &total.request_crossbar, crossbar_stat_table},
                  {&one.reply_crossbar, &total.reply_crossbar, crossbar_stat_table},
                  {&one.predictor, &total.predictor, predictor_stats_table}};
    for (unsigned i = 0; i < sizeof tables / sizeof tables[0]; i++)
        for (const struct stat_description *stat = tables[i].table; stat->name; stat++)
            if (!stat->is_ratio)
                *(uint64_t *)(void *)((char *)tables[i].of_one + stat->offset) = 3;
    result_merge_timed(&total, &one, NULL);
    result_merge_timed(&total, &one, NULL);
    for (unsigned i = 0; i < sizeof tables / sizeof tables[0]; i++)
        for (const struct stat_description *stat = tables[i].table; stat->name; stat++)
            if (!stat->is_ratio && stat_counter(tables[i].of_total, stat) != (stat->is_largest ? 3 : 6))
                fail_msg("table %u: %s is %llu", i, stat->name,
                         (unsigned long long)stat_counter(tables[i].of_total, stat));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_total_has_every_table),
        cmocka_unit_test(shared_memory_ends_where_the_machine_says),
        cmocka_unit_test(blocks_have_the_threads_that_the_machine_allows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
