/* SPDX-License-Identifier: Apache-2.0 */
/* Caches and links of the smallest and oddest shapes: a machine that is not refused runs every kernel to its end. */
#include "random_bits.h"
#include "timed_programs.h"

#define FEW_SMS "base: gtx480\nsm.count: 2\n"
/* far more than any of the programs takes with one miss at a time */
#define LONG_LIMIT "limits.max_cycles: 30000000\n"

static uint32_t choose(uint32_t count) { return (uint32_t)(random_bits() % count); }
#define CHOOSE(...) ((const char *const[]){__VA_ARGS__}[choose(sizeof(const char *[]){__VA_ARGS__} / sizeof(char *))])

struct text {
    char words[4096];
    int length;
};

static void add(struct text *text, const char *key, const char *what, const char *value) {
    text->length +=
        snprintf(text->words + text->length, sizeof text->words - (size_t)text->length, "%s%s: %s\n", key, what, value);
    assert_true(text->length < (int)sizeof text->words);
}

static void add_number(struct text *text, const char *key, const char *what, uint32_t value) {
    char digits[16];
    snprintf(digits, sizeof digits, "%u", (unsigned)value);
    add(text, key, what, digits);
}

static void add_cache(struct text *text, const char *key) {
    const uint32_t line = 32u << choose(4), ways = 1 + choose(4) / 3;
    const bool sectors = line > 32 && choose(2), small = line == 32 || sectors;
    const char *const write = CHOOSE("back", "through", "evict", "local-back");
    add_number(text, key, ".size_bytes", line * ways << choose(2));
    add_number(text, key, ".ways", ways);
    add_number(text, key, ".line_bytes", line);
    add(text, key, ".sector_bytes", sectors ? "32" : "0");
    add(text, key, ".set_index", "linear");
    add(text, key, ".replacement", CHOOSE("lru", "fifo", "random"));
    add(text, key, ".allocate", CHOOSE("miss", "fill"));
    add(text, key, ".mshr_entries", CHOOSE("1", "2", "64"));
    add(text, key, ".mshr_merges", CHOOSE("1", "2", "8"));
    add(text, key, ".write", write);
    add(text, key, ".write_allocate",
        strcmp(write, "evict") == 0 ? "none"
        : small                     ? CHOOSE("none", "fetch", "lazy")
                                    : CHOOSE("none", "fetch"));
}

static bool is_refused(const char *settings) {
    struct machine machine;
    struct report report = {0};
    assert_int_equal(machine_open_text(&machine, "test.yaml", settings, strlen(settings), &report), STATUS_OK);
    const bool refused = machine_check_timed(&machine, &report) != STATUS_OK;
    report_free(&report);
    machine_close(&machine);
    return refused;
}

static void what_is_not_refused_makes_progress(void **state) {
    (void)state;
    enum { MACHINES_TRIED = 400 };
    unsigned ran = 0;
    for (unsigned m = 0; m < MACHINES_TRIED; m++) {
        struct text text = {.length = 0};
        static const char *const caches[] = {"l1", "l2", "instruction_cache", "constant_cache"};
        for (unsigned i = 0; i < 4; i++)
            if (choose(2))
                add_cache(&text, caches[i]);
        add(&text, "link.capacity", "", CHOOSE("1", "1", "2", "3", "32"));
        add(&text, "sm.memory_queue", "", CHOOSE("1", "8"));
        add(&text, "dram.queue_limit", "", CHOOSE("0", "1"));
        char settings[sizeof text.words + 128];
        snprintf(settings, sizeof settings, FEW_SMS LONG_LIMIT "%s", text.words);
        if (is_refused(settings))
            continue;
        const struct program_text *program = &programs[m % PROGRAMS];
        struct fixture f;
        open_machine(&f, settings);
        load(&f, program->text);
        if (launch(&f, program->blocks < 8 ? program->blocks : 8, program->threads, true) != STATUS_OK)
            fail_msg("%s: %s\n%s", program->name, report_text(&f.report), settings);
        check_books(&f, program->name);
        finish(&f);
        ran++;
    }
    assert_in_range(ran, MACHINES_TRIED / 4, MACHINES_TRIED);
}

/* One line, of which a warp's load touches many: each is fetched when the one before has come, and once. */
static void one_line_is_enough(void **state) {
    (void)state;
    static const struct program_text scattered = {
        "scattered",
        KERNEL("", "mul.wide.u32 %rd4, %r3, 128;\nadd.s64 %rd5, %rd1, %rd4;\nld.global.u32 %r4, [%rd5];\n"
                   "st.global.u32 [%rd5+4], %r4;\nret;"),
        1, 128};
    static const char *const caches[] = {"through\nl1.allocate: miss", "through\nl1.allocate: fill",
                                         "back\nl1.write_allocate: fetch\nl1.allocate: fill"};
    uint64_t cycles[3];
    for (unsigned i = 0; i < 3; i++) {
        char settings[512];
        snprintf(settings, sizeof settings,
                 FEW_SMS LONG_LIMIT "l1.size_bytes: 128\nl1.ways: 1\nl1.set_index: linear\nl1.write: %s\n", caches[i]);
        struct fixture f;
        open_machine(&f, settings);
        load(&f, scattered.text);
        expect_ok(&f, &scattered, true);
        if (i < 2)
            assert_int_equal(f.result.timed->l1.fetches, 128);
        else /* every line that was written makes room for the next, and the last leaves when the launch ends */
            assert_int_equal(f.result.timed->l1.write_backs, 128);
        cycles[i] = f.result.timed->cycles;
        finish(&f);
    }
    assert_true(cycles[0] > 128 * 100);
    assert_true(cycles[1] < cycles[0] / 10);
    assert_true(cycles[2] < cycles[0] / 5);
}

/* Four blocks read one line, the next four another: the L1 of each SM needs only one where it has a part of the grid. */
static void parts_of_the_grid(void **state) {
    (void)state;
    static const struct program_text fours = {
        "fours",
        KERNEL("", "shr.u32 %r4, %r2, 2;\nmul.wide.u32 %rd4, %r4, 128;\nadd.s64 %rd5, %rd1, %rd4;\nld.global.u32 %r5, "
                   "[%rd5+4096];\nst.global.u32 [%rd3], %r5;\nret;"),
        8, 1};
    for (unsigned parts = 0; parts < 2; parts++) {
        struct fixture f;
        open_machine(&f, parts ? FEW_SMS "sm.max_blocks: 1\nlaunch.parts: true\n" : FEW_SMS "sm.max_blocks: 1\n");
        load(&f, fours.text);
        expect_ok(&f, &fours, true);
        assert_int_equal(f.result.timed->l1.fetches, parts ? 2 : 4);
        finish(&f);
    }
}

/* Lanes that all hit one bank go one after another, unless the cache has no banks to wait for. */
static void banks_of_the_data_cache(void **state) {
    (void)state;
    static const struct program_text rows = {
        "rows",
        KERNEL("", "mul.wide.u32 %rd4, %r3, 1024;\nadd.s64 %rd5, %rd1, %rd4;\nld.global.u32 %r4, "
                   "[%rd5];\nL: ld.global.u32 %r5, [%rd5];\nadd.u32 %r4, %r4, %r5;\nadd.u32 %r6, %r6, 1;\nsetp.lt.u32 "
                   "%p1, %r6, "
                   "100;\n@%p1 bra L;\nst.global.u32 [%rd3], %r4;\nret;"),
        1, 32};
    static const char *const banks[] = {"0", "32"};
    uint64_t cycles[2];
    for (unsigned i = 0; i < 2; i++) {
        char settings[256];
        struct fixture f;
        snprintf(settings, sizeof settings, "base: tarjan-manycore\nsm.count: 1\nl1.ways: 1024\nsm.l1_banks: %s\n",
                 banks[i]);
        open_machine(&f, settings);
        load(&f, rows.text);
        expect_ok(&f, &rows, true);
        cycles[i] = f.result.timed->cycles;
        finish(&f);
    }
    assert_true(cycles[1] - cycles[0] > 100 * 30 && cycles[1] - cycles[0] < 103 * 32);
}

static void what_does_not_fit_the_way_down_is_refused(void **state) {
    (void)state;
    static const char *const wrong[][2] = {
        {"l1.line_bytes: 256\nl1.write: evict\n", "would fetch 256 bytes"},
        {"l1.line_bytes: 256\nl1.sector_bytes: 32\nl1.write: back\n", "would write back 256 bytes"},
        {"instruction_cache.line_bytes: 256\n", "instruction_cache.line_bytes is 256"},
        {"constant_cache.line_bytes: 256\n", "constant_cache.line_bytes is 256"},
        {"link.capacity: 1\n", "the line that makes room"},
        {"link.capacity: 1\nl1.write: through\nl1.write_allocate: fetch\n", "the store that it is for"},
    };
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char settings[256];
        struct machine machine;
        struct report report = {0};
        snprintf(settings, sizeof settings, FEW_SMS "%s", wrong[i][0]);
        assert_int_equal(machine_open_text(&machine, "test.yaml", settings, strlen(settings), &report), STATUS_OK);
        assert_int_equal(machine_check_timed(&machine, &report), STATUS_INVALID);
        if (!strstr(report_text(&report), wrong[i][1]))
            fail_msg("'%s' is not in: %s", wrong[i][1], report_text(&report));
        report_free(&report);
        machine_close(&machine);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_refused_makes_progress),
        cmocka_unit_test(one_line_is_enough),
        cmocka_unit_test(parts_of_the_grid),
        cmocka_unit_test(banks_of_the_data_cache),
        cmocka_unit_test(what_does_not_fit_the_way_down_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
