/* SPDX-License-Identifier: Apache-2.0 */
/* Cache-conscious scheduling: who may load, against a model that keeps every score cycle by cycle; its laws in time. */
#include "timed_programs.h"

#include "random_bits.h"
#include "scheduler_fixture.h"

#include "gpu/gpu.h"

/* ---- the rules, as plainly as they can be kept ---- */

enum { ENTRIES = 4, WAYS = 2, BASE = 20, K = 8 };
struct plain {
    bool alive[SCHEDULED], with;
    uint64_t score[SCHEDULED], hits[SCHEDULED], issued[SCHEDULED], most;
    uint64_t tags[SCHEDULED][ENTRIES / WAYS][WAYS]; /* the newest first; 0: none */
};

static void plain_evicted(struct plain *p, unsigned w, uint64_t line) {
    uint64_t *set = p->tags[w][line / 128 % (ENTRIES / WAYS)];
    if (set[0] != line && set[1] != line)
        set[1] = set[0], set[0] = line;
}

static void plain_stored(struct plain *p, uint64_t line) {
    for (unsigned w = 0; w < SCHEDULED; w++)
        for (unsigned i = 0; i < WAYS; i++)
            if (p->tags[w][line / 128 % (ENTRIES / WAYS)][i] == line)
                p->tags[w][line / 128 % (ENTRIES / WAYS)][i] = 0;
}

static void plain_missed(struct plain *p, unsigned w, uint64_t line) {
    const uint64_t *set = p->tags[w][line / 128 % (ENTRIES / WAYS)];
    if (set[0] != line && set[1] != line)
        return;
    uint64_t hits = 0, issued = 0, cutoff = 0;
    p->hits[w]++;
    for (unsigned i = 0; i < SCHEDULED; i++)
        hits += p->hits[i], issued += p->issued[i], cutoff += p->alive[i] ? BASE : 0;
    const uint64_t score = issued ? hits * K * cutoff / issued : 0;
    p->score[w] = score > p->most ? p->most : score;
    if (p->score[w] < BASE)
        p->score[w] = BASE;
}

static slot_set plain_may_load(const struct plain *p) {
    slot_set may = 0;
    uint64_t sum = 0, cutoff = 0;
    for (unsigned i = 0; i < SCHEDULED; i++)
        cutoff += p->alive[i] ? BASE : 0;
    for (;;) {
        unsigned best = SCHEDULED;
        for (unsigned w = SCHEDULED; w-- > 0;)
            if (p->alive[w] && !set_has(may, w) && (best == SCHEDULED || p->score[w] >= p->score[best]))
                best = w;
        if (best == SCHEDULED || (p->with ? may && sum + p->score[best] > cutoff : sum >= cutoff))
            return may;
        may |= set_of(best), sum += p->score[best];
    }
}

/* In `before`, the scores of those who may load, without the last of them, are less than the cutoff. */
static void check_sums(const struct plain *p, slot_set may) {
    uint64_t sum = 0, cutoff = 0, least = UINT64_MAX;
    for (unsigned w = 0; w < SCHEDULED; w++) {
        cutoff += p->alive[w] ? BASE : 0;
        if (!set_has(may, w))
            continue;
        sum += p->score[w];
        least = p->score[w] < least ? p->score[w] : least;
    }
    assert_true(p->with || !may || sum - least < cutoff);
}

static uint64_t shrink(uint64_t line) { return (line + 1) * 128; }

/* One event, or none, of a warp, told to both. */
static void one_event(struct scheduled *s, struct plain *p, uint64_t random) {
    const unsigned w = random % SCHEDULED;
    const uint64_t line = shrink(random >> 8 & 7);
    struct scheduler_event event = {.warp = w, .line = line, .inst = &load_inst, .count = 1};
    switch (random >> 16 & 15) {
    case 0:
        event.kind = p->alive[w] ? SCHEDULER_ENDED : SCHEDULER_STARTED;
        p->score[w] = p->alive[w] ? 0 : BASE, p->hits[w] = p->issued[w] = 0;
        p->alive[w] = !p->alive[w];
        break;
    case 1:
        event.kind = random >> 30 & 1 ? SCHEDULER_HIT : SCHEDULER_MISSED, event.inst = &store_inst;
        plain_stored(p, line);
        break;
    case 2: event.kind = SCHEDULER_HIT; break;
    case 3: event.kind = SCHEDULER_MISSED, event.count = 0; break; /* waits for a fetch under way */
    case 4:
    case 5:
    case 6: event.kind = SCHEDULER_EVICTED, plain_evicted(p, w, line); break;
    case 7:
    case 8:
        if (!p->alive[w])
            return;
        event.kind = SCHEDULER_MISSED, plain_missed(p, w, line);
        break;
    default:
        if (!p->alive[w])
            return;
        event.kind = SCHEDULER_ISSUED, p->issued[w]++;
        break;
    }
    scheduled_tell(s, event);
}

static void who_may_load_is_what_the_rules_say(void **state) {
    (void)state;
    uint64_t held = 0;
    for (unsigned round = 0; round < 40; round++) {
        struct scheduled s, other;
        struct plain p = {.with = round & 1, .most = round & 2 ? 63 : UINT64_MAX};
        const char *const bits = round & 2 ? "ccws.score_bits=6" : "ccws.score_bits=0";
        scheduled_open(&s, "ccws", NULL, 0,
                       SETTINGS("ccws.base=20", "ccws.vta_entries=4", "ccws.vta_ways=2", bits,
                                p.with ? "ccws.edge=with" : "ccws.edge=before"));
        scheduled_open(&other, "ccws", NULL, 0,
                       SETTINGS("ccws.base=20", "ccws.vta_entries=4", "ccws.vta_ways=2", bits,
                                p.with ? "ccws.edge=before" : "ccws.edge=with"));
        random_state = round + 1;
        for (unsigned step = 0; step < 3000; step++) {
            const uint64_t random = random_bits();
            struct plain same = p;
            one_event(&s, &p, random);
            one_event(&other, &same, random);
            s.now++, other.now++;
            for (unsigned w = 0; w < SCHEDULED; w++)
                p.score[w] -= p.score[w] > BASE;
            slot_set alive = 0;
            for (unsigned w = 0; w < SCHEDULED; w++)
                alive |= p.alive[w] ? set_of(w) : 0;
            const slot_set may = scheduled_may_load(&s) & alive, others = scheduled_may_load(&other) & alive;
            assert_int_equal(may, plain_may_load(&p));
            assert_true(!alive || may);
            assert_int_equal(p.with ? may & ~others : others & ~may, 0);
            check_sums(&p, may);
            held += may != alive;
        }
        assert_true(scheduled_counter(&s, "vta_hits") <= scheduled_counter(&s, "vta_probes"));
        assert_true(scheduled_counter(&s, "raised") <= scheduled_counter(&s, "vta_hits"));
        assert_true(scheduled_counter(&s, "score_largest") <= p.most);
        scheduled_close(&s);
        scheduled_close(&other);
    }
    assert_true(held > 1000); /* of 120000 */
}

/* Four warps, cutoff 400, K 8: 5 hits of 100 issues are a score of 160, of 80 issues 200. It falls by 1 a cycle. */
static void the_example_of_four_warps(void **state) {
    (void)state;
    static const char *const edges[] = {"ccws.edge=before", "ccws.edge=with"};
    for (unsigned with = 0; with < 2; with++)
        for (unsigned issues = 80; issues <= 100; issues += 20) {
            struct scheduled s;
            scheduled_open(&s, "ccws", NULL, 0, SETTINGS(edges[with]));
            scheduled_start(&s, 0, 3);
            for (unsigned i = 0; i < issues; i++)
                scheduled_tell(&s, (struct scheduler_event){.kind = SCHEDULER_ISSUED, .warp = i % 4});
            scheduled_tell(&s, (struct scheduler_event){.kind = SCHEDULER_EVICTED, .warp = 2, .line = 4096});
            for (unsigned i = 0; i < 5; i++)
                scheduled_tell(&s,
                               (struct scheduler_event){
                                   .kind = SCHEDULER_MISSED, .warp = 2, .line = 4096, .count = 1, .inst = &load_inst});
            const uint64_t score = 5u * 8 * 400 / issues;
            assert_int_equal(scheduled_counter(&s, "score_largest"), score);
            assert_int_equal(scheduled_may_load(&s), with || issues == 80 ? 0x7 : 0xf);
            s.now = score - 101;
            assert_int_equal(scheduled_may_load(&s), with ? 0x7 : 0xf); /* 101 of 400 are left too much */
            s.now++;
            assert_int_equal(scheduled_may_load(&s), 0xf);
            scheduled_close(&s);
        }
}

/* All of block 0 but warp 3 wait at a barrier, and 3 is held back: it loads. So it is not while 2 could go on by itself. */
static void a_barrier_is_opened(void **state) {
    (void)state;
    struct scheduled s;
    scheduled_open(&s, "ccws", NULL, 0, SETTINGS("ccws.edge=with"));
    scheduled_start(&s, 0, 3);
    scheduled_tell(&s, (struct scheduler_event){.kind = SCHEDULER_ISSUED, .warp = 0});
    scheduled_tell(&s, (struct scheduler_event){.kind = SCHEDULER_EVICTED, .warp = 0, .line = 4096});
    scheduled_tell(&s, (struct scheduler_event){
                           .kind = SCHEDULER_MISSED, .warp = 0, .line = 4096, .count = 1, .inst = &load_inst});
    assert_int_equal(scheduled_may_load(&s), 0x1);
    for (unsigned w = 0; w < 2; w++)
        scheduled_tell(&s, (struct scheduler_event){.kind = SCHEDULER_WAITS, .warp = w, .lanes = UINT32_MAX});
    assert_int_equal(scheduled_pick(&s, 0x8, 0x8, 0), SCHEDULER_NONE);
    assert_int_equal(scheduled_pick(&s, 0xc, 0x8, 0), 2); /* no load */
    assert_int_equal(scheduled_pick(&s, 0xc, 0xc, 0), 2); /* both are held back */
    scheduled_tell(&s, (struct scheduler_event){.kind = SCHEDULER_WAITS, .warp = 2, .lanes = UINT32_MAX});
    assert_int_equal(scheduled_pick(&s, 0x8, 0x8, 0), 3);
    assert_int_equal(scheduled_counter(&s, "released"), 2);
    scheduled_tell(&s, (struct scheduler_event){.kind = SCHEDULER_GOES_ON, .warp = 2, .lanes = UINT32_MAX});
    assert_int_equal(scheduled_pick(&s, 0x8, 0x8, 0), SCHEDULER_NONE);
    assert_int_equal(scheduled_pick(&s, 0x8, 0x8, 0x8), 3); /* an atomic is held by nobody */
    scheduled_close(&s);
}

/* ---- in time ---- */

#define MACHINE "base: gtx480\nsm.count: 4\n" LIMIT

static void off_is_greedy_then_oldest(void **state) {
    (void)state;
    expect_same(MACHINE "sm.scheduler: gto\n", MACHINE "sm.scheduler: ccws\nccws.k: 0\n", "gto and ccws without K");
    expect_same(MACHINE "sm.scheduler: gto\n", MACHINE "sm.scheduler: ccws\nccws.vta_entries: 0\n",
                "gto and ccws without victims");
    expect_same(MACHINE "sm.scheduler: gto\nl1.perfect: true\n", MACHINE "sm.scheduler: ccws\nl1.perfect: true\n",
                "gto and ccws with a perfect L1");
}

/* Every warp reads 8 lines of its own eight times: those of 16 warps do not fit an L1 of 32 lines. */
static const char thrash[] = KERNEL(
    "", "mov.u32 %r4, 0;\nmov.u32 %r5, 0;\nL: and.b32 %r6, %r4, 7;\nmad.lo.u32 %r7, %r6, 512, %r3;\n"
        "and.b32 %r7, %r7, 16383;\nmul.wide.u32 %rd4, %r7, 4;\nadd.s64 %rd5, %rd1, %rd4;\nld.global.u32 %r8, [%rd5];\n"
        "add.u32 %r5, %r5, %r8;\nadd.u32 %r4, %r4, 1;\nsetp.lt.u32 %p1, %r4, 64;\n@%p1 bra L;\nbar.sync 0;\n"
        "st.global.u32 [%rd3], %r5;\nret;");

static void counters_are_what_the_cache_counts(void **state) {
    (void)state;
    struct fixture timed, plain;
    const struct program_text program = {"thrash", thrash, 1, 512};
    static const char settings[] = "base: gtx480\nsm.count: 1\nsm.schedulers: 1\nsm.scheduler: ccws\nl1.size_bytes: "
                                   "4096\nl1.set_index: linear\n" LIMIT;
    open_machine(&timed, settings);
    open_machine(&plain, settings);
    load(&timed, thrash);
    load(&plain, thrash);
    expect_ok(&timed, &program, true);
    expect_ok(&plain, &program, false);
    assert_memory_equal(timed.memory, plain.memory, WORDS * sizeof(uint32_t));
    const struct gpu_stats *stats = timed.result.timed;
    const struct own *own = stats->own[OWN_SCHEDULER];
    const void *counted = stats->own_stats[OWN_SCHEDULER];
    const uint64_t hits = own_counter(own, counted, "vta_hits"), probes = own_counter(own, counted, "vta_probes");
    assert_true(hits > 0 && hits <= probes && probes <= stats->l1.misses);
    assert_true(own_counter(own, counted, "held") > 0);
    assert_int_equal(own_counter(own, counted, "held"), stats->sm.stall_scheduler);
    check_books(&timed, "thrash");
    finish(&timed);
    finish(&plain);
}

static void published_bits_are_met(void **state) {
    (void)state;
    struct arena arena = {0};
    struct report report = {0};
    const struct own *own = &scheduler_find("ccws", &report)->own;
    const struct cost_shape shape = {.warps = 32, .warp_size = 32, .threads = 1024, .cache_lines = 256};
    struct cost cost = {.arena = &arena};
    own->cost(own_values(own, &arena, NULL), &shape, &cost);
    assert_int_equal(cost_bits(&cost.items[0]), 20480);
    assert_int_equal(cost_bits(&cost.items[1]), 160 * 8);
    assert_int_equal(cost_bits(&cost.items[2]), 32 * 10);
    assert_int_equal(own->check(own_values(own, &arena, SETTINGS("ccws.vta_ways=5")), &report), STATUS_INVALID);
    report_free(&report);
    arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_may_load_is_what_the_rules_say),
        cmocka_unit_test(the_example_of_four_warps),
        cmocka_unit_test(a_barrier_is_opened),
        cmocka_unit_test(off_is_greedy_then_oldest),
        cmocka_unit_test(counters_are_what_the_cache_counts),
        cmocka_unit_test(published_bits_are_met),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
