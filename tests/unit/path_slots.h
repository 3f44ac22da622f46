/* SPDX-License-Identifier: Apache-2.0 */
/* Mechanisms with several paths of a warp in flight: one warp driven by scripted outcomes, and what issues in time. */
#ifndef HEDDLE_TESTS_PATH_SLOTS_H
#define HEDDLE_TESTS_PATH_SLOTS_H

#include "scripted_warp.h"

#include "timed_programs.h"

#include "sm/sm.h"

/* ---- one warp, slot k of which is its path k ---- */

static inline void begin(struct scripted *s, const char *mechanism, const char *const *settings, uint32_t lanes,
                         unsigned paths) {
    memset(s, 0, sizeof *s);
    choose(s, mechanism, settings);
    for (unsigned pc = 0; pc < CODE; pc++)
        s->code[pc] = (struct inst){.op = OP_NOP, .guard = -1, .reconverge = NO_PC};
    s->code[2].reconverge = 20, s->code[10].reconverge = 14, s->code[5].reconverge = 20;
    const struct divergence_shape shape = {.code = s->code,
                                           .code_count = CODE,
                                           .warps = 1,
                                           .paths = paths,
                                           .warp_size = 32,
                                           .width = 32,
                                           .warps_per_block = 1,
                                           .schedulers = 1,
                                           .params = s->params};
    s->self = s->ops->create(&s->arena, &shape);
    assert_int_equal(s->ops->start(s->self, 0, 0, lanes), 1);
}

static inline void expect_path(struct scripted *s, unsigned slot, uint32_t pc, uint32_t lanes) {
    struct group group;
    assert_true(s->ops->offer(s->self, slot, &group));
    assert_int_equal(group.pc, pc);
    assert_int_equal(group.lanes, lanes);
    assert_null(group.threads);
}

static inline void expect_no_path(struct scripted *s, unsigned slot) {
    struct group group;
    assert_false(s->ops->offer(s->self, slot, &group));
}

/* The slot issues up to the instruction at pc, whose outcome this is. */
static inline uint64_t issue_at(struct scripted *s, unsigned slot, uint32_t pc, enum flow flow, uint32_t taken,
                                uint32_t target) {
    struct group group;
    assert_true(s->ops->offer(s->self, slot, &group));
    struct executed executed = {
        .flow = flow, .pc = pc, .issues = 1, .lanes = group.lanes, .taken = taken, .target = target};
    return s->ops->issued(s->self, slot, &group, &executed);
}

/* ---- in time ---- */

#define SCOREBOARD "base: fung-8800\nsm.max_blocks: 3\nsm.pipeline: scoreboard\n" LIMIT
static const char *const scoreboards[] = {"base: gtx480\n" LIMIT, "base: gtx480\nsm.scheduler: rr\n" LIMIT,
                                          "base: qv100\nsm.count: 5\nsm.scheduler: two-level\n" LIMIT, SCOREBOARD};

/* Which lanes of which warps have issued what is the stack's; lanes of the paths of a warp are disjoint. */
struct groups {
    uint64_t sum, issues, beside;
    bool overlap;
};

static inline void hear(void *self, const struct sm *sm, const struct sm_issue *issue) {
    struct groups *groups = self;
    const unsigned warp = sm_warp_of(sm, issue->slot), warps = sm_shape_of(sm)->warps_per_place;
    uint64_t word = sm_block_of(sm, warp) * warps + warp % warps;
    word = (word * 65536 + issue->group.pc) * UINT64_C(0x9e3779b97f4a7c15) ^ issue->group.lanes;
    word *= UINT64_C(0xff51afd7ed558ccd);
    groups->sum += word ^ word >> 29; /* of a multiset: any order */
    groups->issues++;
    uint32_t lanes = 0;
    for (unsigned slot = 0; slot < sm_slot_count(sm); slot++) {
        const struct sm_slot_view view = sm_view_slot(sm, slot);
        if (slot == issue->slot || !view.used || sm_warp_of(sm, slot) != warp)
            continue;
        groups->overlap |= (lanes & view.lanes) != 0;
        groups->beside += view.lanes != 0;
        lanes |= view.lanes;
    }
}

/* Sides of a branch that wait for memory each: `%r4` has a word of another place for every thread. */
static const struct program_text sides = {
    "sides with loads",
    KERNEL("", "and.b32 %r4, %r1, 1;\nsetp.eq.u32 %p1, %r4, 0;\nmul.lo.u32 %r5, %r3, 37;\nand.b32 %r5, %r5, "
               "8191;\nmul.wide.u32 %rd4, %r5, 4;\nadd.s64 %rd4, %rd4, %rd1;\n@%p1 bra A;\nadd.u32 %r7, %r4, "
               "1;\nld.global.u32 %r6, [%rd4+32768];\nadd.u32 %r6, %r6, %r7;\nbra J;\nA: ld.global.u32 %r6, "
               "[%rd4+16384];\nmul.lo.u32 %r6, %r6, 5;\nJ: st.global.u32 [%rd3], %r6;\nret;"),
    1, 32};

/* A side that diverges again while the other is in the middle of a straight run. */
static const struct program_text nested = {
    "sides that diverge again",
    KERNEL("",
           "and.b32 %r4, %r1, 1;\nsetp.eq.u32 %p1, %r4, 0;\nand.b32 %r4, %r1, 2;\nsetp.eq.u32 %p2, %r4, 0;\n@%p1 bra "
           "A;\nadd.u32 %r6, %r1, 3;\nld.global.u32 %r7, [%rd3+16384];\nadd.u32 %r6, %r6, %r7;\nld.global.u32 %r7, "
           "[%rd3+32768];\nadd.u32 %r6, %r6, %r7;\nbra J;\nA: ld.global.u32 %r6, [%rd3+8192];\nadd.u32 %r6, %r6, "
           "1;\n@%p2 bra B;\nld.global.u32 %r7, [%rd3+24576];\nadd.u32 %r6, %r6, %r7;\nbra K;\nB: mul.lo.u32 %r6, %r6, "
           "5;\nK: add.u32 %r6, %r6, 9;\nJ: st.global.u32 [%rd3], %r6;\nret;"),
    8, 64};

/* Who hears of every issue changes nothing: without, straight runs are told at their end. */
static inline struct groups groups_of(const struct program_text *program, const char *settings, uint64_t *cycles) {
    struct groups groups = {0};
    const struct sm_observer observer = {.self = &groups, .issued = hear};
    for (unsigned heard = 0; heard < 2; heard++) {
        struct fixture f;
        open_machine(&f, settings);
        load(&f, program->text);
        f.issues = heard ? &observer : NULL;
        expect_ok(&f, program, true);
        if (heard && (*cycles != f.result.timed->cycles || f.result.stats.warp_instructions != groups.issues))
            fail_msg("%s: %llu cycles, and %llu when every issue is heard of", program->name,
                     (unsigned long long)*cycles, (unsigned long long)f.result.timed->cycles);
        *cycles = f.result.timed->cycles;
        finish(&f);
    }
    return groups;
}

/* With these settings the same groups issue as with pdom, in any order. `beside`: paths of a warp stand side by side at times. */
static inline void expect_groups_of_pdom(const char *settings, bool beside) {
    uint64_t count = 0, cycles;
    char all[512];
    snprintf(all, sizeof all, "base: gtx480\nsm.count: 4\n%s" LIMIT, settings);
    for (unsigned i = 0; i < PROGRAMS + 2; i++) {
        const struct program_text *program = i < PROGRAMS ? &programs[i] : i == PROGRAMS ? &sides : &nested;
        const struct groups one = groups_of(program, "base: gtx480\nsm.count: 4\n" LIMIT, &cycles);
        const struct groups two = groups_of(program, all, &cycles);
        if (one.issues != two.issues || one.sum != two.sum || two.overlap)
            fail_msg("%s: %llu groups and %llu of pdom, or others%s", program->name, (unsigned long long)two.issues,
                     (unsigned long long)one.issues, two.overlap ? "; paths of a warp share lanes" : "");
        count += two.beside;
    }
    assert_int_equal(count > 0, beside);
}

#endif
