/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of mechanisms that form groups against counts kept here: of what threads stood together before and after each
 * call, not of what the mechanism noted. */
#include "regroup_fixture.h"

#include "base/rng.h"

static uint64_t counter(const struct fixture *f, const char *name) {
    return own_counter(&f->ops->own, f->ops->own.statistics(f->self), name);
}

static void expect_counter(const struct fixture *f, const char *name, uint64_t expected) {
    if (counter(f, name) != expected)
        fail_msg("%s of %s is %llu, but %llu were counted", name, f->ops->name, (unsigned long long)counter(f, name),
                 (unsigned long long)expected);
}

/* ---- dwf ---- */

enum { WARPS = 12, LANES = 4, PCS = 5 };

struct dwf_counts {
    uint64_t arrivals, merges, lane_conflicts, register_turns, pool_largest, lut_largest;
    uint64_t youngest[PCS]; /* threads of the group that the next arrival at a PC may join; 0: none */
};

/* The threads of every group that waits, by slot, as bits. */
static unsigned groups_of(struct fixture *f, uint64_t groups[ISSUE_SLOTS_MAX]) {
    unsigned count = 0;
    for (unsigned slot = 0; slot < ISSUE_SLOTS_MAX; slot++) {
        struct group group;
        groups[slot] = 0;
        if (!f->ops->offer(f->self, slot, &group))
            continue;
        count++;
        for (BITS_EACH(lane, group.lanes))
            groups[slot] |= UINT64_C(1) << group.threads[lane];
    }
    return count;
}

/* Threads come back with one PC: who stands with others now has joined them. */
static void count_arrival(struct fixture *f, struct dwf_counts *counts, uint32_t pc, const uint16_t *threads,
                          uint32_t lanes) {
    uint64_t groups[ISSUE_SLOTS_MAX], arrived = 0, joined = 0, last = 0;
    for (BITS_EACH(lane, lanes))
        arrived |= UINT64_C(1) << threads[lane];
    look(f, f->ops->forming->returned(f->self, threads, lanes));
    const unsigned count = groups_of(f, groups);
    for (unsigned slot = 0; slot < ISSUE_SLOTS_MAX; slot++) {
        if (groups[slot] & ~arrived)
            joined |= groups[slot] & arrived;
        else if (groups[slot] & arrived)
            last = groups[slot];
    }
    counts->arrivals++;
    counts->merges += joined != 0;
    counts->lane_conflicts += counts->youngest[pc] ? bits_count64(arrived & ~joined) : 0;
    counts->youngest[pc] = last ? last : counts->youngest[pc] | joined;
    unsigned open = 0;
    for (unsigned i = 0; i < PCS; i++)
        open += counts->youngest[i] != 0;
    counts->pool_largest = count > counts->pool_largest ? count : counts->pool_largest;
    counts->lut_largest = open > counts->lut_largest ? open : counts->lut_largest;
}

static void issue_counted(struct fixture *f, struct dwf_counts *counts, struct rng *rng, bool ends) {
    struct group group;
    const unsigned slot = f->ops->forming->pick(f->self, f->slots);
    assert_true(f->ops->offer(f->self, slot, &group));
    struct executed executed = {.flow = ends ? FLOW_EXIT : FLOW_MULTI, .pc = group.pc, .issues = 1};
    uint16_t threads[LANES_MAX] = {0};
    uint64_t all = 0;
    unsigned of_lane[LANES] = {0}, most = 1;
    executed.lanes = group.lanes;
    executed.taken = ends ? group.lanes : 0;
    for (BITS_EACH(lane, group.lanes)) {
        threads[lane] = group.threads[lane];
        all |= UINT64_C(1) << threads[lane];
        executed.next[lane] = (uint32_t)rng_below(rng, PCS);
        const unsigned same = ++of_lane[threads[lane] % LANES];
        most = same > most ? same : most;
    }
    counts->register_turns += most - 1;
    if (counts->youngest[group.pc] == all)
        counts->youngest[group.pc] = 0;
    const struct group issued = group;
    look(f, f->ops->issued(f->self, slot, &issued, &executed));
    for (uint32_t pc = 0; pc < PCS && !ends; pc++) {
        uint32_t here = 0;
        for (BITS_EACH(lane, executed.lanes))
            here |= (uint32_t)(executed.next[lane] == pc) << lane;
        if (here)
            count_arrival(f, counts, pc, threads, here);
    }
}

static void run_dwf(const char *const *settings, bool lane_aware) {
    for (unsigned seed = 1; seed <= 20; seed++) {
        struct fixture f;
        struct dwf_counts counts = {0};
        struct rng rng;
        rng_seed(&rng, seed);
        setup_with(&f, "dwf", WARPS, LANES, WARPS, settings);
        for (unsigned i = 0; i < PCS; i++)
            f.code[i] = (struct inst){.op = OP_BRX, .guard = -1, .reconverge = NO_PC};
        for (unsigned warp = 0; warp < WARPS; warp++) {
            look(&f, f.ops->start(f.self, warp, 0, 0xf)); /* full warps: none can join another */
            counts.arrivals++;
            counts.lane_conflicts += warp ? LANES : 0;
            counts.youngest[0] = UINT64_C(0xf) << warp * LANES;
        }
        counts.pool_largest = WARPS, counts.lut_largest = 1;
        for (unsigned i = 0; i < 300; i++)
            issue_counted(&f, &counts, &rng, false);
        expect_counter(&f, "arrivals", counts.arrivals);
        expect_counter(&f, "merges", counts.merges);
        expect_counter(&f, "lane_conflicts", lane_aware ? counts.lane_conflicts : 0);
        expect_counter(&f, "register_turns", lane_aware ? 0 : counts.register_turns);
        expect_counter(&f, "pool_largest", counts.pool_largest);
        expect_counter(&f, "lut_largest", counts.lut_largest);
        expect_counter(&f, "evictions", 0);
        expect_counter(&f, "stalled_write_backs", 0);
        expect_counter(&f, "stalled_cycles", 0);
        assert_true(counts.merges && counts.merges < counts.arrivals);
        assert_true(lane_aware ? counts.lane_conflicts : counts.register_turns);
        while (f.slots)
            issue_counted(&f, &counts, &rng, true);
        arena_free(&f.arena);
    }
}

static void dwf_counts_what_stood_together(void **state) {
    (void)state;
    run_dwf(NULL, true);
    run_dwf(SETTINGS("dwf.register_file=crossbar"), false);
}

/* ---- tbc ---- */

/* Warps of the program that have threads in the groups on offer, and how many groups there are. */
static void observe(struct fixture *f, unsigned warps, unsigned *groups, unsigned *before) {
    uint64_t homes = 0;
    *groups = *before = 0;
    for (unsigned slot = 0; slot < warps; slot++) {
        struct group group;
        if (!f->ops->offer(f->self, slot, &group))
            continue;
        ++*groups;
        for (BITS_EACH(lane, group.lanes))
            homes |= UINT64_C(1) << group.threads[lane] / LANES;
    }
    *before = bits_count64(homes);
}

/* The program of [000 fig. 4.1]: a branch, one within its first side, and where all meet. */
enum { A, B, C, D, E, F, G };

/* The group of a slot executes its instruction; taken[pc]: of each thread, whether it takes the branch there. */
static void tbc_issue(struct fixture *f, unsigned slot, const uint64_t taken[G + 1]) {
    struct group group;
    uint16_t threads[LANES_MAX];
    assert_true(f->ops->offer(f->self, slot, &group));
    const struct inst *inst = &f->code[group.pc];
    struct executed executed = {.flow = FLOW_NEXT, .pc = group.pc, .issues = 1, .lanes = group.lanes};
    memcpy(threads, group.threads, sizeof threads);
    if (inst->op == OP_BRA)
        executed.flow = FLOW_BRANCH, executed.target = inst->target;
    if (inst->op == OP_EXIT)
        executed.flow = FLOW_EXIT;
    for (BITS_EACH(lane, group.lanes))
        executed.taken |= (uint32_t)(inst->guard < 0 || taken[group.pc] >> threads[lane] & 1) << lane;
    const uint32_t back = executed.flow == FLOW_EXIT ? 0 : group.lanes;
    const struct group issued = group;
    f->ops->issued(f->self, slot, &issued, &executed);
    if (back)
        f->ops->forming->returned(f->self, threads, back);
}

static bool has_both(uint64_t some, uint64_t taken) { return (some & taken) && (some & ~taken); }

static void tbc_counts_warps_before_and_after(void **state) {
    (void)state;
    enum { ROWS = 6 };
    const uint64_t all = (UINT64_C(1) << ROWS * LANES) - 1;
    for (unsigned seed = 1; seed <= 40; seed++) {
        struct fixture f;
        struct rng rng;
        uint64_t taken[G + 1] = {0}, formed = 0, before = 0, meetings = 0;
        rng_seed(&rng, seed);
        setup(&f, "tbc", ROWS, LANES, ROWS);
        f.code[A] = (struct inst){.op = OP_BRA, .guard = 0, .target = F, .reconverge = G};
        f.code[B] = (struct inst){.op = OP_BRA, .guard = 0, .target = D, .reconverge = E};
        f.code[C] = (struct inst){.op = OP_BRA, .guard = -1, .target = E};
        f.code[D] = f.code[F] = (struct inst){.op = OP_ADD, .guard = -1};
        f.code[E] = (struct inst){.op = OP_BRA, .guard = -1, .target = G};
        f.code[G] = (struct inst){.op = OP_EXIT, .guard = -1};
        /* few on one side, so that some warps have no thread there */
        taken[A] = rng_u64(&rng) & rng_u64(&rng) & rng_u64(&rng) & all;
        taken[B] = rng_u64(&rng) & rng_u64(&rng) & rng_u64(&rng) & all;
        for (unsigned warp = 0; warp < ROWS; warp++)
            f.ops->start(f.self, warp, A, 0xf);
        for (unsigned steps = 0; steps < 200; steps++) {
            unsigned slot = 0, groups, homes;
            struct group group;
            while (slot < ROWS && !f.ops->offer(f.self, slot, &group))
                slot++;
            if (slot == ROWS)
                break;
            tbc_issue(&f, slot, taken);
            const uint64_t met = counter(&f, "meetings") - meetings;
            assert_true(met <= 1);
            meetings += met;
            observe(&f, ROWS, &groups, &homes);
            formed += met ? groups : 0, before += met ? homes : 0;
        }
        expect_counter(&f, "formed", formed);
        expect_counter(&f, "before", before);
        expect_counter(&f, "divergences", (unsigned)has_both(all, taken[A]) + has_both(all & ~taken[A], taken[B]));
        expect_counter(&f, "alone", 0);
        for (unsigned warp = 0; warp < ROWS; warp++)
            assert_int_equal(f.ops->alive(f.self, warp), 0);
        arena_free(&f.arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dwf_counts_what_stood_together),
        cmocka_unit_test(tbc_counts_warps_before_and_after),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
