/* SPDX-License-Identifier: Apache-2.0 */
/* Checkpoints: a device put where another one was goes on as that one does, cycle for cycle and byte for byte; bytes that nobody
 * wrote are refused, or end in a launch that ends. */
#include "device_fixture.h"

#include <stdlib.h>

#include "base/file.h"
#include "device/kept.h"
#include "gpu/gpu.h"
#include "launch/checkpoint_form.h"
#include "random_bits.h"

#define SMALL                                                                                                          \
    "base: gtx480\nsm.count: 3\nl2.size_bytes: 16 KiB\nlimits.max_cycles: 400000\nmemory.capacity_bytes: 4 MiB\n"
enum { WORDS = 65536 };

/* Strides, scattered loads and stores, atomics, divergence: what caches and rows of DRAM tell apart. */
static const char kernel[] = ".const .b32 c[64] = {1, 2, 3};\n"
                             ".visible .entry k(.param .u64 p) {\n"
                             "  .reg .pred %c; .reg .b32 %t, %b, %n, %i, %v, %w; .reg .b64 %d, %o, %e;\n"
                             "  ld.param.u64 %d, [p]; mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x; mov.u32 %n, %ntid.x;\n"
                             "  mad.lo.u32 %i, %b, %n, %t; and.b32 %w, %t, 3; add.u32 %w, %w, 2;\n"
                             "L: mul.lo.u32 %i, %i, 1664525; add.u32 %i, %i, 1013904223; shr.u32 %v, %i, 16;\n"
                             "  mul.wide.u32 %o, %v, 4; add.u64 %e, %d, %o; ld.global.b32 %v, [%e]; ld.const.b32 %n, "
                             "[c+4]; add.u32 %v, %v, %n;\n"
                             "  st.global.b32 [%e], %v; setp.ne.u32 %c, %w, 0; sub.u32 %w, %w, 1; @%c bra L;\n"
                             "  atom.global.add.u32 %v, [%d], 1; exit;\n}\n";

static const char *const machines[] = {
    SMALL,
    SMALL "l1.flush_at_end: false\nl1.write: back\nl1.write_allocate: fetch\n",
    SMALL "l2.replacement: srrip\nl1.replacement: random\nl1.flush_at_end: false\n",
    SMALL "l2.replacement: random\ndram.scheduler: fifo\n",
    SMALL "dram.model: row-latency\n",
    SMALL "dram.model: flat\ninstruction_cache.flush_at_end: true\n",
    SMALL "divergence.mechanism: dwf\n",
    SMALL "dram.refresh_interval: 700\ndram.refresh_clocks: 40\n",
    "base: qv100\nsm.count: 2\nlimits.max_cycles: 400000\nmemory.capacity_bytes: 4 MiB\n",
    "base: rtx3070\nsm.count: 2\nlimits.max_cycles: 400000\nmemory.capacity_bytes: 4 MiB\n",
};

static void begin(struct fixture *f, const char *settings) {
    fixture_open(f, settings, WORDS);
    load(f, kernel);
}

static void expect_ok(struct fixture *f, enum status status) {
    if (status != STATUS_OK)
        fail_msg("%s", report_text(&f->report));
}

static void write_state(struct fixture *f, struct keep *state) {
    keep_to_write(state);
    expect_ok(f, device_keep(f->device, f->program, false, state, &f->report));
}

static enum status read_state(struct fixture *f, const struct keep *state) {
    struct keep reader;
    keep_to_read(&reader, state->items, state->count);
    return device_keep(f->device, f->program, false, &reader, &f->report);
}

/* Both at this boundary hold the same, bit for bit. */
static void expect_same_state(struct fixture *a, struct fixture *b) {
    struct keep of_a, of_b;
    write_state(a, &of_a), write_state(b, &of_b);
    assert_int_equal(of_a.count, of_b.count);
    assert_memory_equal(of_a.items, of_b.items, of_a.count);
    keep_free(&of_a), keep_free(&of_b);
}

static void expect_same_launch(struct fixture *a, struct fixture *b) {
    const struct gpu_stats *x = a->result.timed, *y = b->result.timed;
    assert_true(x->cycles == y->cycles);
    assert_memory_equal(&x->sm, &y->sm, sizeof x->sm);
    assert_memory_equal(&x->l1, &y->l1, sizeof x->l1);
    assert_memory_equal(&x->l2, &y->l2, sizeof x->l2);
    assert_memory_equal(&x->constant, &y->constant, sizeof x->constant);
    assert_memory_equal(&x->dram, &y->dram, sizeof x->dram);
    assert_memory_equal(&x->dram_histograms, &y->dram_histograms, sizeof x->dram_histograms);
    assert_memory_equal(a->memory, b->memory, WORDS * sizeof(uint32_t));
}

static void test_whoever_goes_on_does_the_same(void **state) {
    (void)state;
    for (unsigned i = 0; i < sizeof machines / sizeof machines[0]; i++) {
        struct fixture whole;
        begin(&whole, machines[i]);
        for (unsigned launches = 0; launches < 4; launches++) {
            struct fixture part;
            struct keep kept;
            const uint32_t blocks = 1 + (uint32_t)random_bits() % 12, threads = 32 + (uint32_t)random_bits() % 200;
            begin(&part, machines[i]);
            write_state(&whole, &kept);
            memcpy(part.memory, whole.memory, WORDS * sizeof(uint32_t));
            expect_ok(&part, read_state(&part, &kept));
            keep_free(&kept);
            expect_same_state(&whole, &part);
            expect_ok(&whole, launch(&whole, blocks, threads, true));
            expect_ok(&part, launch(&part, blocks, threads, true));
            expect_same_launch(&whole, &part);
            expect_same_state(&whole, &part);
            finish(&part);
        }
        finish(&whole);
    }
}

static void test_empty_caches_take_other_cycles(void **state) {
    (void)state;
    struct fixture whole, cold;
    begin(&whole, SMALL), begin(&cold, SMALL);
    expect_ok(&whole, launch(&whole, 4, 128, true));
    memcpy(cold.memory, whole.memory, WORDS * sizeof(uint32_t));
    expect_ok(&whole, launch(&whole, 4, 128, true));
    expect_ok(&cold, launch(&cold, 4, 128, true));
    assert_true(whole.result.timed->cycles != cold.result.timed->cycles);
    finish(&whole), finish(&cold);
}

static void test_state_that_nobody_wrote_is_refused_or_ends(void **state) {
    (void)state;
    enum { TURNS = 60 };
    unsigned refused = 0;
    for (unsigned i = 0; i < 6; i++) {
        struct fixture whole;
        struct keep kept;
        begin(&whole, machines[i]);
        expect_ok(&whole, launch(&whole, 6, 96, true));
        write_state(&whole, &kept);
        for (unsigned turn = 0; turn < TURNS; turn++) {
            struct fixture part;
            struct keep changed = kept;
            begin(&part, machines[i]);
            changed.items = malloc(kept.count);
            memcpy(changed.items, kept.items, kept.count);
            const unsigned changes = 1 + (unsigned)random_bits() % 3;
            /* the head of the state is short: half of the changes are there */
            const size_t range = random_bits() & 1 ? kept.count : 600;
            for (unsigned c = 0; c < changes; c++)
                changed.items[random_bits() % (range < kept.count ? range : kept.count)] = (uint8_t)random_bits();
            if (turn % 6 == 0)
                changed.count = random_bits() % kept.count;
            if (read_state(&part, &changed) == STATUS_OK)
                (void)launch(&part, 6, 96, true);
            else
                refused++;
            free(changed.items);
            finish(&part);
        }
        keep_free(&kept);
        finish(&whole);
    }
    assert_true(refused >= 6 * TURNS / 6); /* those that were cut, at least */
}

/* ---- files ---- */

enum { OTHER_BYTES = 6 * CHECKPOINT_PAGE_BYTES + 100 };

/* A folder of files in memory. */
struct files {
    struct {
        const char *name;
        char *data;
        size_t bytes;
    } items[8];
    unsigned count;
};

static enum status read_one(void *context, const char *path, size_t limit, struct arena *arena,
                            struct file_contents *out, struct report *report) {
    const struct files *files = context;
    (void)limit;
    for (unsigned i = 0; i < files->count; i++)
        if (strcmp(file_name(path), files->items[i].name) == 0) {
            *out = (struct file_contents){arena_copy(arena, files->items[i].data, files->items[i].bytes),
                                          files->items[i].bytes};
            return STATUS_OK;
        }
    return report_add(report, STATUS_INVALID, "%s is not there", path);
}

static void keep_file(struct files *files, const char *folder, const char *name) {
    struct arena arena = {0};
    struct report report = {0};
    char *data = NULL;
    size_t bytes = 0;
    assert_int_equal(file_read(file_join(&arena, folder, name), 1 << 26, &arena, &data, &bytes, &report), STATUS_OK);
    files->items[files->count].name = name;
    files->items[files->count].data = malloc(bytes);
    memcpy(files->items[files->count].data, data, bytes);
    files->items[files->count++].bytes = bytes;
    arena_free(&arena);
}

static enum status restore(struct fixture *f, const struct files *files, const char *name) {
    struct arena arena = {0};
    const struct file_access access = {(void *)(uintptr_t)files, read_one};
    struct checkpoint checkpoint;
    const struct checkpoint_target target = {
        .device = f->device, .machine = &f->machine, .next = f->program, .in_time = true};
    enum status status = checkpoint_open(&checkpoint, name, &access, &arena, &f->report);
    if (status == STATUS_OK)
        status = checkpoint_restore(&checkpoint, &target, &f->report);
    arena_free(&arena);
    return status;
}

/* Three checkpoints of one run, a launch between each. */
static void make_files(struct fixture *whole, struct files *files) {
    static const char *const names[] = {"a.checkpoint", "b.checkpoint", "c.checkpoint"};
    char folder[] = "/tmp/heddle-checkpoint-XXXXXX";
    assert_non_null(mkdtemp(folder));
    struct checkpoint_writer writer = {.folder = folder};
    for (unsigned i = 0; i < 3; i++) {
        const struct checkpoint_order order = {.device = whole->device,
                                               .machine = &whole->machine,
                                               .next = whole->program,
                                               .in_time = true,
                                               .launches = i + 1};
        expect_ok(whole, launch(whole, 4, 64, true));
        expect_ok(whole, checkpoint_write(&writer, &order, names[i], &whole->report));
        keep_file(files, folder, names[i]);
        char path[64];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        remove(path);
    }
    remove(folder);
    assert_true(writer.new_pages < writer.pages);
    checkpoint_writer_free(&writer);
}

static void free_files(struct files *files) {
    for (unsigned i = 0; i < files->count; i++)
        free(files->items[i].data);
}

/* Pages that no kernel touches: zeros, some that are alike, and a piece of one. */
static uint8_t *add_pages(struct fixture *f) {
    uint64_t address;
    expect_ok(f, device_alloc(f->device, "other", OTHER_BYTES, &address, &f->report));
    uint8_t *pages = device_memory(f->device, address, OTHER_BYTES);
    memset(pages, 0x55, OTHER_BYTES);
    return pages;
}

static void test_a_file_takes_pages_from_those_before_it(void **state) {
    (void)state;
    struct fixture whole, part;
    struct files files = {0};
    begin(&whole, SMALL), begin(&part, SMALL);
    uint8_t *pages = add_pages(&whole), *of_part = add_pages(&part);
    memset(of_part, 0x33, OTHER_BYTES);
    memset(pages, 0, 2 * CHECKPOINT_PAGE_BYTES);
    for (uint32_t i = 0; i < WORDS; i++)
        whole.memory[i] = i < WORDS / 2 ? (uint32_t)random_bits() : 0;
    make_files(&whole, &files);
    memset(part.memory, 0x55, WORDS * sizeof(uint32_t)); /* zeros are put there too */
    expect_ok(&part, restore(&part, &files, "c.checkpoint"));
    assert_memory_equal(part.memory, whole.memory, WORDS * sizeof(uint32_t));
    assert_memory_equal(of_part, pages, OTHER_BYTES);
    expect_same_state(&whole, &part);
    finish(&part);
    begin(&part, SMALL), add_pages(&part);
    files.items[0].name = "gone";
    assert_int_not_equal(restore(&part, &files, "c.checkpoint"), STATUS_OK);
    expect_text(&part, "a.checkpoint is not there");
    finish(&part), finish(&whole);
    free_files(&files);
}

static void test_damaged_files_are_refused(void **state) {
    (void)state;
    enum { TURNS = 150 };
    struct fixture whole;
    struct files files = {0};
    unsigned refused = 0;
    begin(&whole, SMALL);
    make_files(&whole, &files);
    for (unsigned turn = 0; turn < TURNS; turn++) {
        struct fixture part;
        struct files bad = files;
        const unsigned which = (unsigned)random_bits() % 3;
        begin(&part, SMALL);
        bad.items[which].data = malloc(files.items[which].bytes);
        memcpy(bad.items[which].data, files.items[which].data, files.items[which].bytes);
        bad.items[which].data[random_bits() % files.items[which].bytes] ^= (char)(1 << random_bits() % 8);
        if (turn % 5 == 0)
            bad.items[which].bytes = random_bits() % files.items[which].bytes;
        const bool good = restore(&part, &bad, "c.checkpoint") == STATUS_OK;
        assert_true(good || part.report.messages);
        refused += !good;
        if (good && (which == 2 || memcmp(part.memory, whole.memory, WORDS * sizeof(uint32_t)) != 0))
            fail_msg("damage in %s was believed", bad.items[which].name);
        free(bad.items[which].data);
        finish(&part);
    }
    assert_true(refused > TURNS / 2);
    finish(&whole);
    free_files(&files);
}

static void test_numbers_have_their_bounds(void **state) {
    (void)state;
    for (uint64_t value = 0; value < 300; value++) {
        struct keep writer, reader;
        uint64_t written = value, read = 7;
        uint32_t word = 7;
        keep_to_write(&writer);
        keep_u64(&writer, &written, UINT64_MAX), keep_u64(&writer, &written, UINT64_MAX);
        keep_to_read(&reader, writer.items, writer.count);
        keep_u64(&reader, &read, value);
        assert_true(reader.good && read == value);
        keep_u32(&reader, &word, value ? (uint32_t)value - 1 : 0);
        assert_true(value ? !reader.good && word == 0 : reader.good);
        keep_free(&writer);
    }
}

static void test_heads_of_any_bytes_are_read_within_them(void **state) {
    (void)state;
    for (unsigned turn = 0; turn < 2000; turn++) {
        struct arena arena = {0};
        struct checkpoint head = {0};
        struct keep keep;
        uint8_t bytes[64];
        for (unsigned i = 0; i < sizeof bytes; i++)
            bytes[i] = random_bits() & 1 ? (uint8_t)(random_bits() & 3) : (uint8_t)random_bits();
        keep_to_read(&keep, bytes, random_bits() % (sizeof bytes + 1));
        checkpoint_keep_head(&head, &keep, &arena);
        assert_true(keep.at <= keep.end && (!keep.good || head.state_bytes <= sizeof bytes));
        arena_free(&arena);
    }
}

int main(void) {
    const char *seed = getenv("HEDDLE_SEED");
    random_state = seed ? strtoull(seed, NULL, 10) : 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whoever_goes_on_does_the_same),
        cmocka_unit_test(test_empty_caches_take_other_cycles),
        cmocka_unit_test(test_state_that_nobody_wrote_is_refused_or_ends),
        cmocka_unit_test(test_a_file_takes_pages_from_those_before_it),
        cmocka_unit_test(test_damaged_files_are_refused),
        cmocka_unit_test(test_numbers_have_their_bounds),
        cmocka_unit_test(test_heads_of_any_bytes_are_read_within_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
