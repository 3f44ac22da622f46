/* SPDX-License-Identifier: Apache-2.0 */
/* Small programs and machines that the laws of runs in time are held over. */
#ifndef HEDDLE_TESTS_TIMED_PROGRAMS_H
#define HEDDLE_TESTS_TIMED_PROGRAMS_H

#include "device_fixture.h"

#include <stdlib.h>

enum { WORDS = 16384 };

static inline void open_machine(struct fixture *f, const char *settings) {
    fixture_open(f, settings, WORDS);
    for (uint32_t i = 0; i < WORDS; i++)
        f->memory[i] = i % 1021;
}

/* %rd1: the buffer, %r1: thread, %r2: block, %r3: thread of the grid, %rd3: its word of the buffer. */
#define KERNEL(declarations, code)                                                                                     \
    ".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<8>;\n.reg .b32 %r<16>;\n.reg .b64 %rd<16>;\n.reg .f32 "        \
    "%f<8>;\n" declarations "ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\n"                  \
    "mov.u32 %r15, %ntid.x;\nmad.lo.u32 %r3, %r2, %r15, %r1;\nmul.wide.u32 %rd2, %r3, 4;\nadd.s64 %rd3, %rd1, "        \
    "%rd2;\n" code "\n}\n"

struct program_text {
    const char *name, *text;
    uint32_t blocks, threads;
};

static const struct program_text programs[] = {
    {"saxpy",
     KERNEL("", "ld.global.u32 %r4, [%rd3];\ncvt.rn.f32.u32 %f1, %r4;\nfma.rn.f32 %f2, %f1, 0f40200000, 0f3F800000;\n"
                "st.global.f32 [%rd3], %f2;\nret;"),
     40, 256},
    {"histogram by atomics",
     KERNEL("",
            "ld.global.u32 %r4, [%rd3+16384];\nand.b32 %r5, %r4, 63;\nmul.wide.u32 %rd4, %r5, 4;\nadd.s64 %rd5, %rd1, "
            "%rd4;\nred.global.add.u32 [%rd5], 1;\natom.global.max.u32 %r6, [%rd5+1024], %r3;\nret;"),
     30, 256},
    {"sum in shared memory with barriers",
     KERNEL(
         ".shared .align 4 .b8 s[1024];\n",
         "ld.global.u32 %r4, [%rd3];\nmov.u32 %r5, s;\nshl.b32 %r6, %r1, 2;\nadd.u32 %r6, %r5, %r6;\nst.shared.u32 "
         "[%r6], %r4;\nmov.u32 %r7, 128;\nL: bar.sync 0;\nsetp.ge.u32 %p1, %r1, %r7;\n@%p1 bra S;\nshl.b32 %r8, %r7, "
         "2;\nadd.u32 %r8, %r6, %r8;\nld.shared.u32 %r9, [%r8];\nld.shared.u32 %r10, [%r6];\nadd.u32 %r10, %r10, "
         "%r9;\nst.shared.u32 [%r6], %r10;\nS: shr.u32 %r7, %r7, 1;\nsetp.ne.u32 %p2, %r7, 0;\n@%p2 bra "
         "L;\nsetp.ne.u32 "
         "%p3, %r1, 0;\n@%p3 bra E;\nld.shared.u32 %r11, [%r5];\nst.global.u32 [%rd3], %r11;\nE: ret;"),
     33, 256},
    {"recursion",
     ".visible .func (.param .b32 ret) sum(.param .b32 n)\n{\n.reg .pred %q;\n.reg .b32 %s<6>;\n"
     "ld.param.u32 %s1, [n];\nsetp.eq.u32 %q, %s1, 0;\nmov.u32 %s4, 0;\n@%q bra E;\nsub.u32 %s2, %s1, 1;\n"
     "{\n.param .b32 a;\nst.param.b32 [a], %s2;\n.param .b32 r;\ncall.uni (r), sum, (a);\nld.param.b32 %s3, [r];\n}\n"
     "add.u32 %s4, %s3, %s1;\nE: st.param.b32 [ret], %s4;\nret;\n}\n" KERNEL(
         "", "{\n.param .b32 a;\nst.param.b32 [a], %r1;\n.param .b32 r;\ncall.uni (r), sum, (a);\nld.param.b32 %r4, "
             "[r];\n}\nst.global.u32 [%rd3], %r4;\nret;"),
     5, 64},
    {"lanes that diverge",
     KERNEL("",
            "ld.global.u32 %r4, [%rd3];\nmov.u32 %r5, 0;\nL: setp.le.u32 %p1, %r4, 1;\n@%p1 bra E;\nand.b32 %r6, %r4, "
            "1;\nsetp.eq.u32 %p2, %r6, 0;\nadd.u32 %r5, %r5, 1;\n@%p2 bra H;\nmad.lo.u32 %r4, %r4, 3, 1;\nbra L;\nH: "
            "shr.u32 %r4, %r4, 1;\nbra L;\nE: st.global.u32 [%rd3], %r5;\nret;"),
     12, 192},
    {"local memory and half a warp",
     KERNEL(".local .align 4 .b8 l[64];\n",
            "and.b32 %r4, %r1, 15;\nshl.b32 %r4, %r4, 2;\nmov.u32 %r5, l;\nadd.u32 %r5, %r5, %r4;\nst.local.u32 [%r5], "
            "%r3;\nld.local.u32 %r6, [%r5];\nld.global.u32 %r7, [%rd3];\nadd.u32 %r6, %r6, %r7;\nst.global.u32 [%rd3], "
            "%r6;\nret;"),
     50, 80},
    {"strided writes",
     KERNEL("", "mul.lo.u32 %r4, %r3, 37;\nand.b32 %r4, %r4, 16383;\nmul.wide.u32 %rd4, %r4, 4;\nadd.s64 %rd5, %rd1, "
                "%rd4;\nst.global.u32 [%rd5], %r3;\nret;"),
     64, 256},
    {"stores read back",
     KERNEL("",
            "mul.wide.u32 %rd4, %r3, 8;\nadd.s64 %rd4, %rd1, %rd4;\nst.global.u64 [%rd4+32768], %rd2;\nst.global.u32 "
            "[%rd3], %r3;\nst.global.u8 [%rd3+1], %r1;\nld.global.u32 %r4, [%rd3];\nld.global.u16 %r5, "
            "[%rd4+32770];\nld.global.u64 %rd5, [%rd4+32768];\nst.global.u16 [%rd4+32772], %r4;\nst.global.u32 "
            "[%rd3], %r4;\nld.global.u8 %r6, [%rd3+1];\nld.global.v2.u32 {%r7, %r8}, [%rd4+32768];\nadd.u32 %r4, "
            "%r4, %r5;\nmad.lo.u32 %r6, %r6, 7, %r8;\ncvt.u32.u64 %r9, %rd5;\nadd.u32 %r4, %r4, %r9;\nadd.u32 "
            "%r4, %r4, %r6;\nadd.u32 %r4, %r4, %r7;\nst.global.u32 [%rd3], %r4;\nret;"),
     12, 256},
    {"printf",
     ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
     ".global .align 1 .b8 fmt[8] = {116, 37, 117, 10, 0};\n" KERNEL(
         ".local .align 8 .b8 args[8];\n",
         "setp.gt.u32 %p1, %r1, 3;\n@%p1 bra E;\nmov.u64 %rd4, args;\nst.local.u32 [%rd4], %r3;\ncvta.local.u64 %rd5, "
         "%rd4;\nmov.u64 %rd6, fmt;\ncvta.global.u64 %rd7, %rd6;\n{\n.param .b64 a;\nst.param.b64 [a], %rd7;\n.param "
         ".b64 "
         "b;\nst.param.b64 [b], %rd5;\n.param .b32 r;\ncall.uni (r), vprintf, (a, b);\nld.param.b32 %r9, [r];\n}\nE: "
         "ret;"),
     9, 64},
};
enum { PROGRAMS = sizeof programs / sizeof programs[0] };

/* Whether a case of a law is left out: HEDDLE_SHARE=N, as under sanitizers, runs one of N, other ones for each HEDDLE_SEED. */
static inline bool left_out(void) {
    static uint64_t number;
    const char *share = getenv("HEDDLE_SHARE"), *seed = getenv("HEDDLE_SEED");
    const uint64_t one_of = share ? strtoull(share, NULL, 10) : 0;
    const uint64_t draw = (number++ + (seed ? strtoull(seed, NULL, 10) : 0)) * UINT64_C(0x9e3779b97f4a7c15);
    return one_of > 1 && (draw >> 33) % one_of != 0;
}

/* A limit turns a hang into a failure. */
#define LIMIT "limits.max_cycles: 2000000\n"
static const char *const machines[] = {
    "base: gtx480\n" LIMIT,
    "base: fung-8800\nsm.max_blocks: 3\n" LIMIT,
    "base: qv100\nsm.count: 5\nsm.scheduler: two-level\nlaunch.cycles: 1000\n" LIMIT,
};
enum { MACHINES = sizeof machines / sizeof machines[0] };

static inline uint64_t class_sum(const struct sm_stats *sm) {
    return sm->issued_1 + sm->issued_2 + sm->issued_3 + sm->issued_4 + sm->issued_5 + sm->issued_6 + sm->issued_7 +
           sm->issued_8 + sm->memory + sm->idle + sm->stall;
}

static inline void expect_ok(struct fixture *f, const struct program_text *program, bool in_time) {
    if (launch(f, program->blocks, program->threads, in_time) != STATUS_OK)
        fail_msg("%s on %s: %s", program->name, f->machine.name, report_text(&f->report));
}

/* Every slot is in one class; what went out came back; the counts of instructions are those of the functional run. */
static inline void check_books(const struct fixture *f, const char *name) {
    const struct gpu_stats *timed = f->result.timed;
    const struct sm_stats *sm = &timed->sm;
    assert_non_null(timed);
    if (class_sum(sm) != sm->slots || sm->slots != timed->cycles * f->machine.sm_count * f->machine.sm.schedulers)
        fail_msg("%s: classes %llu, slots %llu, cycles %llu", name, (unsigned long long)class_sum(sm),
                 (unsigned long long)sm->slots, (unsigned long long)timed->cycles);
    if (sm->requests_sent != sm->replies_received)
        fail_msg("%s: %llu requests, %llu replies", name, (unsigned long long)sm->requests_sent,
                 (unsigned long long)sm->replies_received);
    assert_int_equal(sm->issues, f->result.stats.warp_instructions);
    const struct crossbar_stats *crossbars[] = {&timed->request_crossbar, &timed->reply_crossbar};
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(crossbars[i]->messages_in, crossbars[i]->messages_out);
        assert_int_equal(crossbars[i]->bytes_in, crossbars[i]->bytes_out);
        assert_int_equal(crossbars[i]->flits_in, crossbars[i]->flits_out);
    }
    assert_int_equal(timed->request_crossbar.messages_in, timed->reply_crossbar.messages_in);
}

static inline bool same_stats(const struct gpu_stats *a, const struct gpu_stats *b, uint32_t code_count) {
    return a->cycles == b->cycles && memcmp(&a->sm, &b->sm, sizeof a->sm) == 0 &&
           memcmp(&a->l1, &b->l1, sizeof a->l1) == 0 && memcmp(&a->l2, &b->l2, sizeof a->l2) == 0 &&
           memcmp(&a->dram, &b->dram, sizeof a->dram) == 0 &&
           memcmp(a->instructions, b->instructions, code_count * sizeof *a->instructions) == 0;
}

/* Both launches of a pair run one after another, so that what a launch leaves behind is compared as well. */
static inline void expect_same(const char *one, const char *other, const char *what) {
    for (unsigned i = 0; i < PROGRAMS; i++) {
        struct fixture a, b;
        open_machine(&a, one);
        open_machine(&b, other);
        load(&a, programs[i].text);
        load(&b, programs[i].text);
        for (unsigned n = 0; n < 2; n++) {
            expect_ok(&a, &programs[i], true);
            expect_ok(&b, &programs[i], true);
            if (!same_stats(a.result.timed, b.result.timed, program_module(a.program)->code_count))
                fail_msg("%s, launch %u: %s differ: %llu and %llu cycles", programs[i].name, n, what,
                         (unsigned long long)a.result.timed->cycles, (unsigned long long)b.result.timed->cycles);
        }
        finish(&a);
        finish(&b);
    }
}

#endif
