/* SPDX-License-Identifier: Apache-2.0 */
/* malloc and free of kernels: the heap against a list that is searched, faults, and the same under every mechanism and any number of
 * host threads. */
#include "device_fixture.h"

#include "base/rng.h"
#include "divergence/divergence.h"
#include "exec/kernel_heap.h"

enum { HEAP_BYTES = 1 << 16, HELD = 512 };

struct held {
    uint64_t start, end;
};

static struct memory make_memory(struct arena *arena, struct report *report) {
    struct memory memory;
    assert_int_equal(memory_create(&memory, arena, 1 << 20, 256, report), STATUS_OK);
    assert_int_equal(kernel_heap_create(&memory, HEAP_BYTES, report), STATUS_OK);
    return memory;
}

/* Every byte that is held is found in its block, and none beside it. */
static void check_all(const struct kernel_heap *heap, const struct held *held, unsigned count) {
    uint64_t start, end;
    for (unsigned i = 0; i < count; i++) {
        assert_true(kernel_heap_find(heap, held[i].start, &start, &end) && start == held[i].start &&
                    end == held[i].end);
        assert_true(kernel_heap_find(heap, held[i].end - 1, &start, &end) && start == held[i].start);
        assert_false(kernel_heap_find(heap, held[i].start - 1, &start, &end));
        assert_false(kernel_heap_find(heap, held[i].end, &start, &end));
        for (unsigned k = 0; k < i; k++)
            assert_true(held[k].end <= held[i].start || held[i].end <= held[k].start);
    }
}

static void blocks_are_apart_and_come_back(void **state) {
    (void)state;
    unsigned full = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct arena arena = {0};
        struct report report = {0};
        struct memory memory = make_memory(&arena, &report);
        struct kernel_heap *heap = memory.heap;
        const uint64_t base = kernel_heap_address(heap);
        struct held held[HELD];
        unsigned count = 0;
        struct rng rng;
        rng_seed(&rng, seed);
        const uint64_t most = seed % 3 ? 400 : 4000;
        for (unsigned n = 0; n < 2000; n++) {
            if (count < HELD && rng_below(&rng, 5) < 3) {
                const uint64_t bytes = 1 + rng_below(&rng, most);
                const uint64_t alignment = UINT64_C(1) << rng_below(&rng, 10);
                const uint64_t at = kernel_heap_allocate(heap, bytes, alignment);
                full += !at;
                if (!at)
                    continue;
                assert_int_equal(at % 16 | at % alignment, 0);
                assert_true(at >= base + 16 && at + bytes <= base + HEAP_BYTES);
                held[count++] = (struct held){at, at + bytes};
            } else if (count) {
                const unsigned i = (unsigned)rng_below(&rng, count);
                if (held[i].end - held[i].start > 64)
                    assert_false(kernel_heap_free(heap, held[i].start + 16 * (1 + rng_below(&rng, 4))));
                assert_true(kernel_heap_free(heap, held[i].start));
                assert_false(kernel_heap_free(heap, held[i].start));
                held[i] = held[--count];
            }
            if (n % 50 == 0)
                check_all(heap, held, count);
        }
        while (count)
            assert_true(kernel_heap_free(heap, held[--count].start));
        assert_int_equal(kernel_heap_allocate(heap, HEAP_BYTES - 16, 1), base + 16); /* all is one again */
        kernel_heap_destroy(&memory);
        memory_destroy(&memory);
        arena_free(&arena);
        report_free(&report);
    }
    assert_true(full > 50);
}

static void what_is_not_there_is_refused(void **state) {
    (void)state;
    struct arena arena = {0};
    struct report report = {0};
    struct memory memory = make_memory(&arena, &report);
    struct kernel_heap *heap = memory.heap;
    const uint64_t base = kernel_heap_address(heap), at = kernel_heap_allocate(heap, 100, 1);
    uint64_t start, end;
    assert_int_equal(at, base + 16);
    assert_int_equal(kernel_heap_allocate(heap, UINT64_MAX, 1), 0);
    assert_int_equal(kernel_heap_allocate(heap, HEAP_BYTES, 1), 0);
    assert_int_equal(kernel_heap_allocate(heap, 1, 3), 0);
    assert_int_equal(kernel_heap_allocate(heap, 1, UINT64_C(1) << 63), 0);
    const uint64_t wrong[] = {0, 1, base, base - 16, at + 1, at + 16, at + 112, base + HEAP_BYTES, UINT64_MAX - 15};
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_false(kernel_heap_free(heap, wrong[i]));
        assert_true(wrong[i] == at + 1 || wrong[i] == at + 16 || !kernel_heap_find(heap, wrong[i], &start, &end));
    }
    assert_true(kernel_heap_allocate(heap, 0, 1));
    kernel_heap_destroy(&memory);
    memory_destroy(&memory);
    arena_free(&arena);
    report_free(&report);
}

/* ---- kernels ---- */

#define MALLOC(bytes, to)                                                                                              \
    "{\n.param .b64 a;\n.param .b64 r;\nst.param.b64 [a], " bytes ";\ncall.uni (r), malloc, (a);\nld.param.b64 " to    \
    ", [r];\n}\n"
#define FREE(address) "{\n.param .b64 a;\nst.param.b64 [a], " address ";\ncall.uni free, (a);\n}\n"
#define KERNEL(code)                                                                                                   \
    ".extern .func (.param .b64 r) malloc (.param .b64 a);\n.extern .func free (.param .b64 a);\n"                     \
    ".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<8>;\n.reg .b32 %r<16>;\n.reg .b64 %rd<16>;\n"                  \
    "ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\n"                   \
    "mad.lo.u32 %r4, %r2, %r3, %r1;\nmul.wide.u32 %rd2, %r4, 4;\nadd.s64 %rd3, %rd1, %rd2;\n" code "\nret;\n}\n"

/* Threads with odd numbers hold two blocks at a time, the others one; each passes its number through them. */
static const char *const through = KERNEL("mov.u64 %rd4, 40;\n" MALLOC(
    "%rd4",
    "%rd5") "st.u32 [%rd5+36], %r4;\nand.b32 %r5, %r1, 1;\n"
            "setp.eq.u32 %p1, %r5, 0;\n@%p1 bra L;\n" MALLOC(
                "%rd4",
                "%rd6") "ld.u32 %r6, [%rd5+36];\n"
                        "add.u32 %r6, %r6, 1000;\nst.u32 [%rd6], %r6;\n" FREE(
                            "%rd5") "mov.u64 %rd5, %rd6;\n"
                                    "add.s64 %rd5, %rd5, -36;\nL:\nld.u32 %r7, [%rd5+36];\nst.global.u32 [%rd3], %r7;\n"
                                    "@%p1 bra E;\nadd.s64 %rd5, %rd5, 36;\nE:\n" FREE("%rd5"));

enum { BLOCKS = 8, THREADS = 96 };

static void run_through(const char *settings, bool in_time) {
    struct fixture f;
    fixture_open(&f, settings, BLOCKS * THREADS);
    load(&f, through);
    for (unsigned times = 0; times < 2; times++)
        if (launch(&f, BLOCKS, THREADS, in_time) != STATUS_OK)
            fail_msg("%s%s", settings, report_text(&f.report));
    for (uint32_t i = 0; i < BLOCKS * THREADS; i++)
        assert_int_equal(f.memory[i], i % THREADS % 2 ? i + 1000 : i);
    finish(&f);
}

static void every_mechanism_gives_each_thread_its_own(void **state) {
    (void)state;
    char settings[256];
    for (unsigned i = 0; divergence_at(i); i++)
        for (unsigned threads = 1; threads <= 3; threads += 2) {
            snprintf(settings, sizeof settings,
                     "divergence.mechanism: %s\nhost.threads: %u\nhost.alone_ns: 0\nheap.bytes: 128 KiB\n",
                     divergence_at(i)->name, threads);
            run_through(settings, true);
            if (!divergence_at(i)->forming && !divergence_at(i)->slipping)
                run_through(settings, false);
        }
}

/* What a launch takes in time does not depend on host threads. */
static void host_threads_do_not_matter(void **state) {
    (void)state;
    struct run_stats stats[2];
    for (unsigned i = 0; i < 2; i++) {
        struct fixture f;
        fixture_open(&f, i ? "host.threads: 3\nhost.alone_ns: 0\n" : "host.threads: 1\n", 2 * BLOCKS * THREADS);
        load(&f, KERNEL("mov.u64 %rd4, 8;\n" MALLOC("%rd4", "%rd5") "add.s64 %rd3, %rd3, %rd2;\n"
                                                                    "st.global.u64 [%rd3], %rd5;"));
        assert_int_equal(launch(&f, BLOCKS, THREADS, true), STATUS_OK);
        static uint32_t first[2 * BLOCKS * THREADS]; /* the addresses */
        if (i)
            assert_memory_equal(first, f.memory, sizeof first);
        else
            memcpy(first, f.memory, sizeof first);
        stats[i] = f.result.stats;
        finish(&f);
    }
    assert_memory_equal(&stats[0], &stats[1], sizeof stats[0]);
}

static void expect_fault(const char *kernel, uint32_t blocks, const char *words) {
    for (unsigned in_time = 0; in_time < 2; in_time++) {
        struct fixture f;
        fixture_open(&f, "heap.bytes: 64 KiB\n", 1024);
        load(&f, kernel);
        assert_int_equal(launch(&f, blocks, 1, in_time), STATUS_STOPPED);
        expect_text(&f, words);
        finish(&f);
    }
}

static void faults_are_reported(void **state) {
    (void)state;
    expect_fault(KERNEL(FREE("%rd1")), 1, "which malloc did not give out or was freed before\n  in block (0, 0, 0)");
    expect_fault(KERNEL(MALLOC("8", "%rd5") FREE("%rd5") FREE("%rd5")), 1, "freed before");
    expect_fault(KERNEL(MALLOC("8", "%rd5") "add.s64 %rd5, %rd5, 4;\n" FREE("%rd5")), 1, "free of 0x");
    expect_fault(KERNEL(MALLOC("8", "%rd5") FREE("%rd5") "ld.u32 %r5, [%rd5];"), 1,
                 "of the heap, outside every block that malloc gave out");
    expect_fault(KERNEL(MALLOC("8", "%rd5") "st.u32 [%rd5+8], %r1;"), 1, "st of 4 bytes at address 0x");
    expect_fault(KERNEL(MALLOC("8", "%rd5") "st.u32 [%rd5+-4], %r1;"), 1, "outside every block");
    expect_fault(KERNEL("mov.u64 %rd4, 1000000000;\n" MALLOC("%rd4", "%rd5") "st.u32 [%rd5], %r1;"), 1,
                 "st of 4 bytes at address 0x0");
}

/* Blocks of one thread each free the same block at the same time: in time memory finds out when it performs the second. */
static void two_who_free_at_the_same_time_are_found(void **state) {
    (void)state;
    for (unsigned in_time = 0; in_time < 2; in_time++) {
        struct fixture f;
        fixture_open(&f, "heap.bytes: 64 KiB\n", 1024);
        load(&f, KERNEL(MALLOC("8", "%rd5") "st.global.u64 [%rd1], %rd5;"));
        assert_int_equal(launch(&f, 1, 1, in_time), STATUS_OK);
        load(&f, KERNEL("ld.global.u64 %rd5, [%rd1];\n" FREE("%rd5")));
        assert_int_equal(launch(&f, 4, 1, in_time), STATUS_STOPPED);
        expect_text(&f, in_time ? "which another thread freed at the same time" : "or was freed before");
        expect_text(&f, "kernel 'k' stopped: free of 0x");
        finish(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_apart_and_come_back),
        cmocka_unit_test(what_is_not_there_is_refused),
        cmocka_unit_test(every_mechanism_gives_each_thread_its_own),
        cmocka_unit_test(host_threads_do_not_matter),
        cmocka_unit_test(faults_are_reported),
        cmocka_unit_test(two_who_free_at_the_same_time_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
