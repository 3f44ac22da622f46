/* SPDX-License-Identifier: Apache-2.0 */
/* Clusters of several blocks, without time and in it: their registers, barrier.cluster, the shared memory of other blocks, copies to it; and what is
 * refused. Values are what PTX says of the blocks' places, computed here from the place of each block. */
#include "device_fixture.h"

#include "emulate/emulate.h"
#include "image/tensor_map.h"

enum { WORDS = 16384 };

/* %r0 to %r3: thread, rank, blocks of the cluster, block's linear index; %rd1: the buffer. */
#define BEGIN(header)                                                                                                  \
    ".visible .entry k(.param .u64 p) " header "{\n.reg .b64 %rd<9>;\n.reg .b32 %r<30>;\n.reg .b16 %h<4>;\n"           \
    ".reg .pred %p<4>;\n.shared .align 128 .b8 area[1280];\n.shared .align 8 .b8 bar[16];\n"                           \
    "ld.param.u64 %rd1, [p];\nmov.u32 %r0, %tid.x;\nmov.u32 %r1, %cluster_ctarank;\n"                                  \
    "mov.u32 %r2, %cluster_nctarank;\nmov.u32 %r3, %ctaid.z;\nmov.u32 %r4, %nctaid.y;\nmov.u32 %r5, %ctaid.y;\n"       \
    "mad.lo.u32 %r3, %r3, %r4, %r5;\nmov.u32 %r4, %nctaid.x;\nmov.u32 %r5, %ctaid.x;\nmad.lo.u32 %r3, %r3, %r4, "      \
    "%r5;\n"
#define END "ret;\n}\n"
#define MEET "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"

struct shape {
    uint32_t grid[3], cluster[3];
};

static const struct shape shapes[] = {{{6, 4, 1}, {2, 2, 1}}, {{8, 1, 1}, {8, 1, 1}},   {{3, 2, 4}, {1, 2, 2}},
                                      {{2, 1, 6}, {2, 1, 3}}, {{16, 1, 1}, {16, 1, 1}}, {{3, 1, 1}, {1, 1, 1}}};

static bool in_time;

/* A run of the kernel `k`; order: NULL, as the machine has it, and in time. */
static enum status run(struct fixture *f, const struct shape *shape, uint32_t threads,
                       const struct emulate_order *order) {
    struct launch launch = {.program = f->program,
                            .kernel = module_find(program_module(f->program), "k"),
                            .block = {threads, 1, 1},
                            .params = &f->buffer,
                            .work_dim = 3,
                            .in_time = in_time,
                            .order = in_time ? NULL : order};
    memcpy(launch.grid, shape->grid, sizeof launch.grid);
    memcpy(launch.cluster, shape->cluster, sizeof launch.cluster);
    memset(f->memory, 0, WORDS * sizeof(uint32_t));
    launch_result_free(&f->result);
    return device_launch(f->device, &launch, &f->result, &f->report);
}

static void begin(struct fixture *f, const char *settings, const char *body) {
    fixture_open(f, *settings ? settings : "sm.count: 4", WORDS);
    load(f, body);
}

struct place {
    uint32_t at[3], cluster[3], in_cluster[3], rank, index;
};

static uint32_t count_of(const uint32_t side[3]) { return side[0] * side[1] * side[2]; }

static struct place place_of(const struct shape *s, uint32_t x, uint32_t y, uint32_t z) {
    struct place p = {.at = {x, y, z}, .index = (z * s->grid[1] + y) * s->grid[0] + x};
    for (unsigned i = 0; i < 3; i++)
        p.cluster[i] = p.at[i] / s->cluster[i], p.in_cluster[i] = p.at[i] % s->cluster[i];
    p.rank = (p.in_cluster[2] * s->cluster[1] + p.in_cluster[1]) * s->cluster[0] + p.in_cluster[0];
    return p;
}

/* The block of that rank in the cluster of a block. */
static struct place mate_of(const struct shape *s, const struct place *p, uint32_t rank) {
    const uint32_t x = rank % s->cluster[0], y = rank / s->cluster[0] % s->cluster[1];
    const uint32_t z = rank / s->cluster[0] / s->cluster[1];
    return place_of(s, p->cluster[0] * s->cluster[0] + x, p->cluster[1] * s->cluster[1] + y,
                    p->cluster[2] * s->cluster[2] + z);
}

#define EACH_BLOCK(p, s)                                                                                               \
    for (uint32_t z = 0; z < (s)->grid[2]; z++)                                                                        \
        for (uint32_t y = 0; y < (s)->grid[1]; y++)                                                                    \
            for (uint32_t x = 0, again = 1; x < (s)->grid[0]; x++, again = 1)                                          \
                for (struct place p = place_of(s, x, y, z); again; again = 0)

static void registers_say_where_a_block_is(void **state) {
    (void)state;
    static const char *const names[] = {"%clusterid.x",      "%clusterid.y",      "%clusterid.z",
                                        "%cluster_ctaid.x",  "%cluster_ctaid.y",  "%cluster_ctaid.z",
                                        "%nclusterid.x",     "%nclusterid.y",     "%nclusterid.z",
                                        "%cluster_nctaid.x", "%cluster_nctaid.y", "%cluster_nctaid.z",
                                        "%cluster_ctarank",  "%cluster_nctarank"};
    enum { COUNT = sizeof names / sizeof *names };
    char body[4096] = BEGIN("") "mul.wide.u32 %rd2, %r3, 64;\nadd.u64 %rd2, %rd2, %rd1;\n";
    for (unsigned i = 0; i < COUNT; i++)
        snprintf(body + strlen(body), sizeof body - strlen(body),
                 "mov.u32 %%r6, %s;\nst.global.u32 [%%rd2+%u], %%r6;\n", names[i], 4 * i);
    strcat(body, END);
    struct fixture f;
    begin(&f, "launch.cluster_blocks: 16", body);
    for (unsigned i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const struct shape *s = &shapes[i];
        assert_int_equal(run(&f, s, 32, NULL), STATUS_OK);
        EACH_BLOCK(p, s) {
            const uint32_t *out = f.memory + 16 * p.index;
            for (unsigned k = 0; k < 3; k++) {
                assert_int_equal(out[k], p.cluster[k]);
                assert_int_equal(out[3 + k], p.in_cluster[k]);
                assert_int_equal(out[6 + k], s->grid[k] / s->cluster[k]);
                assert_int_equal(out[9 + k], s->cluster[k]);
            }
            assert_int_equal(out[12], p.rank);
            assert_int_equal(out[13], count_of(s->cluster));
        }
    }
    finish(&f);
}

/* Thread t of each block writes its block's number to word t of the next block, adds to a word of all, and reads what came. Addresses
 * are of shared memory, generic, and handed on through memory; arrival and wait are apart. */
static const char ring[] =
    BEGIN("") "add.u32 %r6, %r1, 1;\nrem.u32 %r6, %r6, %r2;\nmapa.shared::cluster.u32 %r7, area, %r6;\n"
              "mad.lo.u32 %r8, %r0, 4, %r7;\nmad.lo.u32 %r9, %r3, 1000, %r0;\n" MEET
              "st.shared::cluster.u32 [%r8], %r9;\n"
              /* generic: one more for each thread of the cluster at byte 512 of rank 0 */
              "mov.u64 %rd2, area;\ncvta.shared.u64 %rd2, %rd2;\nmapa.u64 %rd3, %rd2, 0;\n"
              "atom.add.u32 %r10, [%rd3+512], 1;\nred.add.u32 [%rd3+516], %r1;\n"
              "barrier.cluster.arrive.release;\n"
              "getctarank.u64 %r11, %rd3;\ngetctarank.shared::cluster.u32 %r12, %r8;\n"
              "getctarank.u64 %r13, %rd2;\nisspacep.shared::cluster %p1, %rd3;\nselp.u32 %r14, 1, 0, %p1;\n"
              "barrier.cluster.wait.acquire;\n"
              "mov.u32 %r15, area;\nmad.lo.u32 %r15, %r0, 4, %r15;\nld.shared.u32 %r16, [%r15];\n"
              "ld.u32 %r17, [%rd3+512];\nld.u32 %r18, [%rd3+516];\n"
              "mad.lo.u32 %r19, %r3, 64, %r0;\nmul.wide.u32 %rd4, %r19, 32;\nadd.u64 %rd4, %rd4, %rd1;\n"
              "st.global.u32 [%rd4], %r16;\nst.global.u32 [%rd4+4], %r17;\nst.global.u32 [%rd4+8], %r18;\n"
              "st.global.u32 [%rd4+12], %r11;\nst.global.u32 [%rd4+16], %r12;\nst.global.u32 [%rd4+20], %r13;\n"
              "st.global.u32 [%rd4+24], %r14;\n" MEET END; /* nobody ends while others read of its memory */

static void expect_ring(const struct fixture *f, const struct shape *s, uint32_t threads) {
    const uint32_t count = count_of(s->cluster);
    EACH_BLOCK(p, s) {
        const struct place from = mate_of(s, &p, (p.rank + count - 1) % count);
        for (uint32_t t = 0; t < threads; t++) {
            const uint32_t *out = f->memory + 8 * (64 * p.index + t);
            assert_int_equal(out[0], 1000 * from.index + t);
            assert_int_equal(out[1], count * threads);
            assert_int_equal(out[2], threads * count * (count - 1) / 2);
            assert_int_equal(out[3], 0);
            assert_int_equal(out[4], (p.rank + 1) % count);
            assert_int_equal(out[5], p.rank);
            assert_int_equal(out[6], 1);
        }
    }
}

static void blocks_reach_the_memory_of_each_other(void **state) {
    (void)state;
    static const char *const mechanisms[] = {"pdom", "nrec", "tbc", "barriers", "hanoi", "dual-path", "multi-path"};
    for (unsigned m = 0; m < sizeof mechanisms / sizeof *mechanisms; m++) {
        char settings[128];
        struct fixture f;
        snprintf(settings, sizeof settings, "launch.cluster_blocks: 16\ndivergence.mechanism: %s", mechanisms[m]);
        begin(&f, settings, ring);
        for (unsigned i = 0; i < sizeof shapes / sizeof *shapes; i++) {
            if (run(&f, &shapes[i], 40, NULL) != STATUS_OK)
                fail_msg("%s: %s", mechanisms[m], report_text(&f.report));
            expect_ring(&f, &shapes[i], 40);
        }
        finish(&f);
    }
}

/* Lanes, warps and blocks go on by chance. */
static void any_order_of_threads_gives_the_same(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, "launch.cluster_blocks: 16", ring);
    for (unsigned seed = 0; seed < 60; seed++) {
        const struct shape *s = &shapes[seed % (sizeof shapes / sizeof *shapes)];
        const struct emulate_order order = {.seed = seed,
                                            .scatters = true,
                                            .burst = 1 + seed % 3,
                                            .part = 128,
                                            .pick = seed % PICKS,
                                            .turn_issues = 1 + seed % 7,
                                            .block_step = 1 + 2 * (seed % 2),
                                            .block_first = seed % 5};
        struct emulate_order own = order;
        own.block_step = 1; /* a step without a factor of the number of clusters */
        assert_int_equal(run(&f, s, 40, &own), STATUS_OK);
        expect_ring(&f, s, 40);
    }
    finish(&f);
}

/* Rank 0 arrives and goes on; it waits for a word that another block writes only when its own wait is over. */
static void who_has_arrived_holds_nobody_up(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, "",
          BEGIN("") "mapa.shared::cluster.u32 %r6, area, 0;\nsetp.eq.u32 %p0, %r1, 0;\nbarrier.cluster.arrive;\n"
                    "@%p0 bra FIRST;\nbarrier.cluster.wait;\nst.shared::cluster.u32 [%r6], 7;\nbra BOTH;\n"
                    "FIRST:\nld.volatile.shared.u32 %r7, [area];\nsetp.ne.u32 %p1, %r7, 7;\n@%p1 bra FIRST;\n"
                    "barrier.cluster.wait;\nst.global.u32 [%rd1], %r7;\nBOTH:\n" MEET END);
    assert_int_equal(run(&f, &(struct shape){{2, 1, 1}, {2, 1, 1}}, 32, NULL), STATUS_OK);
    assert_int_equal(f.memory[0], 7);
    finish(&f);
}

/* Odd warps end; the others meet three times without them. */
static void threads_that_ended_are_not_waited_for(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, "",
          BEGIN("") "shr.u32 %r6, %r0, 5;\nand.b32 %r6, %r6, 1;\nadd.u32 %r6, %r6, %r1;\nsetp.eq.u32 %p0, %r6, 1;\n"
                    "@%p0 ret;\n" MEET MEET MEET "red.global.add.u32 [%rd1], 1;\n" END);
    assert_int_equal(run(&f, &(struct shape){{4, 1, 1}, {2, 1, 1}}, 64, NULL), STATUS_OK);
    assert_int_equal(f.memory[0], 4 * 32);
    finish(&f);
}

/* Each block waits at a barrier in its memory for an arrival of every block and for the bytes of one copy, which rank 1 makes to the blocks of
 * a mask; then for those of a copy from the block before it. */
static void barriers_and_copies_reach_all_blocks(void **state) {
    (void)state;
    static const char body[] =
        BEGIN("") "setp.ne.u32 %p0, %r0, 0;\n@%p0 bra MADE;\nmbarrier.init.shared::cta.b64 [bar], %r2;\n"
                  "MADE:\n" MEET "@%p0 bra WAIT;\n"
                  /* one block of four brings to ranks 0, 1, 3; rank 2 expects nothing */
                  "mov.u32 %r6, 256;\nsetp.eq.u32 %p1, %r1, 2;\n@%p1 mov.u32 %r6, 0;\n"
                  "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], %r6;\n"
                  "setp.ne.u32 %p1, %r1, 1;\n@%p1 bra ARRIVE;\nmov.b16 %h0, 11;\n"
                  "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
                  "[area+16], [%rd1+16384], 256, [bar], %h0;\n"
                  "ARRIVE:\nmov.u32 %r7, 0;\nNEXT:\nmapa.shared::cluster.u32 %r8, bar, %r7;\n"
                  "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r8];\n"
                  "add.u32 %r7, %r7, 1;\nsetp.lt.u32 %p1, %r7, %r2;\n@%p1 bra NEXT;\n"
                  "WAIT:\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [bar], 0;\n@!%p1 bra WAIT;\n"
                  "mov.u32 %r9, area;\nmad.lo.u32 %r9, %r0, 4, %r9;\nld.shared.u32 %r10, [%r9+16];\n"
                  "mad.lo.u32 %r11, %r3, 64, %r0;\nmul.wide.u32 %rd2, %r11, 4;\nadd.u64 %rd2, %rd2, %rd1;\n"
                  "st.global.u32 [%rd2], %r10;\n"
        /* then each block copies its part to the next, whose barrier hears of it */
        MEET "@%p0 bra LAST;\nmbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 128;\n"
                  "add.u32 %r12, %r1, 1;\nrem.u32 %r12, %r12, %r2;\nmapa.shared::cluster.u32 %r13, area, %r12;\n"
                  "mapa.shared::cluster.u32 %r14, bar, %r12;\nst.shared.u32 [area+16], %r3;\n"
                  "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r13+512], [area+16], 128, "
                  "[%r14];\n"
                  "mov.u32 %r7, 1;\nMORE:\nmbarrier.arrive.shared::cta.b64 %rd5, [bar];\nadd.u32 %r7, %r7, 1;\n"
                  "setp.lt.u32 %p1, %r7, %r2;\n@%p1 bra MORE;\n"
                  "LAST:\nmbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 1;\n@!%p1 bra LAST;\n"
                  "@%p0 bra DONE;\nld.shared.u32 %r15, [area+512];\nld.shared.u32 %r16, [area+516];\n"
                  "mul.wide.u32 %rd2, %r3, 8;\nadd.u64 %rd2, %rd2, %rd1;\nst.global.v2.u32 [%rd2+8192], {%r15, %r16};\n"
                  "DONE:\n" MEET END;
    struct fixture f;
    begin(&f, "", body);
    for (unsigned seed = 0; seed < 20; seed++) {
        const struct emulate_order order = {.seed = seed,
                                            .scatters = true,
                                            .burst = 2,
                                            .part = 100,
                                            .pick = seed % PICKS,
                                            .turn_issues = 3,
                                            .block_step = 1};
        memset(f.memory, 0, WORDS * sizeof(uint32_t));
        struct launch launch = {.program = f.program,
                                .kernel = module_find(program_module(f.program), "k"),
                                .grid = {8, 1, 1},
                                .cluster = {4, 1, 1},
                                .block = {64, 1, 1},
                                .params = &f.buffer,
                                .work_dim = 1,
                                .in_time = in_time,
                                .order = seed && !in_time ? &order : NULL};
        for (uint32_t i = 0; i < 64; i++)
            f.memory[4096 + i] = 5000 + i;
        launch_result_free(&f.result);
        if (device_launch(f.device, &launch, &f.result, &f.report) != STATUS_OK)
            fail_msg("%s", report_text(&f.report));
        for (uint32_t b = 0; b < 8; b++) {
            const uint32_t rank = b % 4, before = b / 4 * 4 + (rank + 3) % 4;
            for (uint32_t t = 0; t < 64; t++)
                assert_int_equal(f.memory[64 * b + t], rank == 2 ? 0 : 5000 + t);
            assert_int_equal(f.memory[2048 + 2 * b], before);
            assert_int_equal(f.memory[2048 + 2 * b + 1], before % 4 == 2 ? 0 : 5001);
        }
    }
    finish(&f);
}

/* Rank 1 brings a box of a tensor, by a map in global memory, to ranks 0, 1 and 3, whose barriers hear of its bytes; the first row of the box is
 * above the tensor and its last two columns are beside it. */
static void boxes_of_tensors_reach_all_blocks(void **state) {
    (void)state;
    enum { MAP = 8192, TENSOR = 9216, WIDE = 16, HIGH = 4, COLUMNS = 20, ROWS = 7 }; /* words */
    static const char body[] =
        BEGIN("") "setp.ne.u32 %p0, %r0, 0;\n@%p0 bra MADE;\nmbarrier.init.shared::cta.b64 [bar], 1;\n"
                  "MADE:\n" MEET "@%p0 bra WAIT;\nmov.u32 %r6, 256;\nsetp.eq.u32 %p1, %r1, 2;\n"
                  "@%p1 mov.u32 %r6, 0;\nmbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], %r6;\n"
                  "setp.ne.u32 %p1, %r1, 1;\n@%p1 bra WAIT;\nmov.b16 %h0, 11;\nadd.u64 %rd3, %rd1, 32768;\n"
                  "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
                  "[area+128], [%rd3, {6, -1}], [bar], %h0;\n"
                  "WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;\n@!%p1 bra WAIT;\n"
                  "mov.u32 %r9, area;\nmad.lo.u32 %r9, %r0, 4, %r9;\nld.shared.u32 %r10, [%r9+128];\n"
                  "mad.lo.u32 %r11, %r3, 64, %r0;\nmul.wide.u32 %rd2, %r11, 4;\nadd.u64 %rd2, %rd2, %rd1;\n"
                  "st.global.u32 [%rd2], %r10;\n" MEET END;
    struct fixture f;
    begin(&f, "", body);
    const struct tensor_map map = {.address = f.buffer + 4 * TENSOR,
                                   .mark = TENSOR_MAP_MARK,
                                   .element = TENSOR_U32,
                                   .rank = 2,
                                   .box = {WIDE, HIGH},
                                   .step = {1, 1},
                                   .last = {COLUMNS - 1, ROWS - 1},
                                   .stride = {4 * COLUMNS}};
    memset(f.memory, 0, WORDS * sizeof(uint32_t));
    memcpy(f.memory + MAP, &map, sizeof map);
    for (uint32_t i = 0; i < COLUMNS * ROWS; i++)
        f.memory[TENSOR + i] = 700 + i;
    struct launch launch = {.program = f.program,
                            .kernel = module_find(program_module(f.program), "k"),
                            .grid = {8, 1, 1},
                            .cluster = {4, 1, 1},
                            .block = {WIDE * HIGH, 1, 1},
                            .params = &f.buffer,
                            .work_dim = 1,
                            .in_time = in_time};
    if (device_launch(f.device, &launch, &f.result, &f.report) != STATUS_OK)
        fail_msg("%s", report_text(&f.report));
    for (uint32_t b = 0; b < 8; b++)
        for (uint32_t t = 0; t < WIDE * HIGH; t++) {
            const uint32_t column = 6 + t % WIDE, row = t / WIDE - 1;
            const bool is_in = b % 4 != 2 && t >= WIDE && column < COLUMNS;
            assert_int_equal(f.memory[64 * b + t], is_in ? 700 + row * COLUMNS + column : 0);
        }
    finish(&f);
}

enum { PUTTERS = 64 };

/* What is in the memory of block b when `before` has put into it what the kernel below puts. */
static void expect_put(const struct fixture *f, uint32_t b, uint32_t before) {
    const uint32_t *out = f->memory + 512 * b;
    int32_t least = 0;
    for (int32_t t = 0; t < PUTTERS; t++)
        least = 10 - (t ^ 21) < least ? 10 - (t ^ 21) : least;
    for (uint32_t t = 0; t < PUTTERS; t++) {
        assert_int_equal(out[2 * t], before);
        assert_int_equal(out[2 * t + 1], t + 7);
        const uint32_t there = t + 100, other = 3 * t + before;
        assert_int_equal(out[128 + t], t < 8 && other > there ? other : there);
    }
    assert_int_equal(out[256], PUTTERS * (PUTTERS - 1) / 2);
    assert_int_equal(out[258], 0);
    assert_int_equal(out[259], PUTTERS * (PUTTERS - 1) / 2);
    assert_int_equal((int32_t)out[260], least);
}

/* Every thread stores two words into the next block and adds to three of the block behind that; thread 0 reduces eight words of the next block.
 * Each block waits for all bytes that others send it. */
static void asynchronous_stores_and_reductions_complete_barriers(void **state) {
    (void)state;
    enum { BYTES = PUTTERS * (8 + 4 + 8 + 4) + 32 };
    static const char body[] = BEGIN(
        "") "mov.u32 %r20, area;\nmad.lo.u32 %r6, %r0, 4, %r20;\nadd.u32 %r7, %r0, 100;\n"
            "st.shared.u32 [%r6+512], %r7;\nmad.lo.u32 %r7, %r0, 3, %r3;\nst.shared.u32 [%r6+768], %r7;\n"
            "setp.ne.u32 %p0, %r0, 0;\n@%p0 bra MADE;\nmbarrier.init.shared::cta.b64 [bar], 1;\n"
            "mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 1568;\nMADE:\n" MEET
            "add.u32 %r8, %r1, 1;\nrem.u32 %r8, %r8, %r2;\nadd.u32 %r9, %r1, 2;\nrem.u32 %r9, %r9, %r2;\n"
            "mapa.shared::cluster.u32 %r10, area, %r8;\nmapa.shared::cluster.u32 %r11, bar, %r8;\n"
            "mapa.shared::cluster.u32 %r12, area, %r9;\nmapa.shared::cluster.u32 %r13, bar, %r9;\n"
            "mad.lo.u32 %r14, %r0, 8, %r10;\nadd.u32 %r15, %r0, 7;\n"
            "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.u32 [%r14], {%r3, %r15}, [%r11];\n"
            "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r12+1024], %r0, [%r13];\n"
            "cvt.u64.u32 %rd3, %r0;\nshl.b64 %rd3, %rd3, 32;\n"
            "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u64 [%r12+1032], %rd3, "
            "[%r13];\n"
            "xor.b32 %r16, %r0, 21;\nsub.u32 %r16, 10, %r16;\n"
            "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.min.s32 [%r12+1040], %r16, "
            "[%r13];\n"
            "@%p0 bra WAIT;\n"
            "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.max.u32 "
            "[%r10+512], [area+768], 32, [%r11];\n"
            "WAIT:\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [bar], 0;\n@!%p1 bra WAIT;\n"
            "mad.lo.u32 %r17, %r3, 512, %r0;\nmul.wide.u32 %rd2, %r17, 4;\nadd.u64 %rd2, %rd2, %rd1;\n"
            "ld.shared.u32 %r18, [%r6];\nst.global.u32 [%rd2], %r18;\nld.shared.u32 %r18, [%r6+256];\n"
            "st.global.u32 [%rd2+256], %r18;\nld.shared.u32 %r18, [%r6+512];\nst.global.u32 [%rd2+512], %r18;\n"
            "ld.shared.u32 %r18, [%r6+1024];\nst.global.u32 [%rd2+1024], %r18;\n" MEET END;
    _Static_assert(BYTES == 1568, "what the kernel expects");
    struct fixture f;
    begin(&f, "", body);
    for (unsigned seed = 0; seed < 20; seed++) {
        const struct shape s = {{6, 1, 1}, {3, 1, 1}};
        const struct emulate_order order = {.seed = seed,
                                            .scatters = true,
                                            .burst = 2,
                                            .part = 100,
                                            .pick = seed % PICKS,
                                            .turn_issues = 5,
                                            .block_step = 1};
        if (run(&f, &s, PUTTERS, seed ? &order : NULL) != STATUS_OK)
            fail_msg("%s", report_text(&f.report));
        for (uint32_t b = 0; b < 6; b++)
            expect_put(&f, b, b / 3 * 3 + (b + 2) % 3);
    }
    for (unsigned timed = 0; timed < 2; timed++) { /* a cluster of one block: to itself */
        memset(f.memory, 0, WORDS * sizeof(uint32_t));
        if (launch(&f, 5, PUTTERS, timed) != STATUS_OK)
            fail_msg("%s", report_text(&f.report));
        for (uint32_t b = 0; b < 5; b++)
            expect_put(&f, b, b);
    }
    finish(&f);
}

static void expect_refused(const char *settings, const char *body, struct launch launch, const char *why) {
    struct fixture f;
    begin(&f, settings, body);
    launch.program = f.program, launch.kernel = module_find(program_module(f.program), "k");
    launch.params = &f.buffer, launch.work_dim = 1;
    assert_int_equal(device_launch(f.device, &launch, &f.result, &f.report), STATUS_INVALID);
    expect_text(&f, why);
    finish(&f);
}

static void what_does_not_fit_is_refused(void **state) {
    (void)state;
    static const char plain[] = BEGIN("") END, shaped[] = BEGIN(".reqnctapercluster 2, 1, 1 ") END;
    static const char explicit[] = BEGIN(".explicitcluster ") END, small[] = BEGIN(".maxclusterrank 2 ") END;
    const struct launch two = {.grid = {4, 1, 1}, .block = {32, 1, 1}, .cluster = {2, 1, 1}};
    struct launch other = two;
    other.in_time = true;
    expect_refused("sm.count: 1\nsm.max_blocks: 1", plain, other, "a cluster of 2 blocks fits on no group of SMs");
    other = two, other.cluster[0] = 3;
    expect_refused("", plain, other, "the grid's 4 blocks are not a multiple of the cluster's 3");
    other = two, other.cluster[0] = 4;
    expect_refused("launch.cluster_blocks: 2", plain, other, "4 blocks is more than launch.cluster_blocks = 2");
    expect_refused("", small, other, "4 blocks is more than the kernel's .maxclusterrank = 2");
    expect_refused("", shaped, other, "requires clusters of 2 x 1 x 1 blocks");
    other = two, other.cluster[0] = 0;
    expect_refused("", explicit, other, ".explicitcluster");
    other.in_time = true; /* the kernel's own clusters too */
    expect_refused("sm.count: 4\nsm.max_blocks: 1\nlaunch.cluster_sms: 1", shaped, other, "fits on no group of SMs");
}

/* Rank 0 ends at once; rank 1 goes to its memory when it surely has. */
static void memory_of_a_block_that_ended_is_a_fault(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, "functional.warp_issues: 1\nfunctional.turn_issues: 1",
          BEGIN("") "mapa.shared::cluster.u32 %r6, area, 0;\nsetp.eq.u32 %p0, %r1, 0;\n@%p0 ret;\nmov.u32 %r7, 0;\n"
                    "MORE:\nadd.u32 %r7, %r7, 1;\nsetp.lt.u32 %p1, %r7, 100;\n@%p1 bra MORE;\n"
                    "st.shared::cluster.u32 [%r6], 7;\n" END);
    assert_int_equal(run(&f, &(struct shape){{2, 1, 1}, {2, 1, 1}}, 32, NULL), STATUS_STOPPED);
    expect_text(&f, "block 0 of the cluster has ended");
    finish(&f);
    begin(&f, "", BEGIN("") "mapa.shared::cluster.u32 %r6, area, 2;\nst.shared::cluster.u32 [%r6], 7;\n" MEET END);
    assert_int_equal(run(&f, &(struct shape){{2, 1, 1}, {2, 1, 1}}, 32, NULL), STATUS_STOPPED);
    expect_text(&f, "st of 4 bytes at shared address");
    finish(&f);
}

/* One block waits at the cluster's barrier and the other at its own. */
static void a_deadlock_is_told(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, "", BEGIN("") "setp.eq.u32 %p0, %r1, 0;\n@%p0 bra WAIT;\nbar.sync 1, 64;\nWAIT:\n" MEET END);
    assert_int_equal(run(&f, &(struct shape){{2, 1, 1}, {2, 1, 1}}, 32, NULL), STATUS_STOPPED);
    finish(&f);
    begin(&f, "", BEGIN("") "setp.lt.u32 %p0, %r0, 32;\n@%p0 bra SKIP;\nbar.sync 1;\nSKIP:\n" MEET END);
    assert_int_equal(run(&f, &(struct shape){{2, 1, 1}, {2, 1, 1}}, 64, NULL), STATUS_STOPPED);
    expect_text(&f, "every warp of block");
    finish(&f);
}

static int change_mode(void **state) {
    (void)state;
    in_time = !in_time;
    return 0;
}
#define IN_TIME(test) cmocka_unit_test_setup_teardown(test, change_mode, change_mode)
int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registers_say_where_a_block_is),
        cmocka_unit_test(blocks_reach_the_memory_of_each_other),
        cmocka_unit_test(any_order_of_threads_gives_the_same),
        cmocka_unit_test(who_has_arrived_holds_nobody_up),
        cmocka_unit_test(threads_that_ended_are_not_waited_for),
        cmocka_unit_test(barriers_and_copies_reach_all_blocks),
        cmocka_unit_test(boxes_of_tensors_reach_all_blocks),
        cmocka_unit_test(asynchronous_stores_and_reductions_complete_barriers),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(memory_of_a_block_that_ended_is_a_fault),
        cmocka_unit_test(a_deadlock_is_told),
        IN_TIME(registers_say_where_a_block_is),
        IN_TIME(blocks_reach_the_memory_of_each_other),
        IN_TIME(who_has_arrived_holds_nobody_up),
        IN_TIME(threads_that_ended_are_not_waited_for),
        IN_TIME(barriers_and_copies_reach_all_blocks),
        IN_TIME(boxes_of_tensors_reach_all_blocks),
        IN_TIME(asynchronous_stores_and_reductions_complete_barriers),
        IN_TIME(memory_of_a_block_that_ended_is_a_fault),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
