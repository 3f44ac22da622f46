/* SPDX-License-Identifier: Apache-2.0 */
/* Criticality-aware scheduling: who goes on, against a model that sums up what happened to each warp; its law in time. */
#include "timed_programs.h"

#include "random_bits.h"
#include "scheduler_fixture.h"

/* What happened to a warp since it started, event by event. */
struct history {
    uint64_t started, issues[4096], count; /* cycles of its issues */
    uint64_t lag;
};

static uint64_t criticality(const struct history *h) {
    uint64_t waited = 0;
    if (!h->count)
        return 0;
    waited = h->issues[0] - h->started;
    for (uint64_t i = 1; i < h->count; i++)
        waited += h->issues[i] - h->issues[i - 1] - 1;
    return waited + h->lag * (h->issues[h->count - 1] - h->started + 1) / h->count;
}

static unsigned expected(const struct history *histories, slot_set ready, unsigned last) {
    unsigned most = SCHEDULED;
    if (set_has(ready, last))
        return last;
    for (unsigned w = 0; w < SCHEDULED; w++) /* the lower the older */
        if (set_has(ready, w) && (most == SCHEDULED || criticality(&histories[w]) > criticality(&histories[most])))
            most = w;
    return most;
}

/* A branch of the warp that just issued: some lanes take it, forwards or back. */
static void branch(struct scheduled *s, struct history *h, unsigned w, uint64_t random) {
    const struct scheduler_event event = {.kind = SCHEDULER_BRANCHED,
                                          .warp = w,
                                          .pc = 50,
                                          .target = (uint32_t)(random % 100),
                                          .lanes = 0xff,
                                          .taken = random & 1024   ? 0xff
                                                   : random & 2048 ? 0
                                                                   : 0x0f};
    if (event.target <= 50)
        h->lag += event.taken ? 51 - event.target : 0;
    else
        h->lag += event.taken != 0xff ? event.target - 51 : 0;
    scheduled_tell(s, event);
}

static void the_most_critical_goes_on(void **state) {
    (void)state;
    struct scheduled s;
    static struct history histories[SCHEDULED];
    uint64_t lagged = 0, largest = 0;
    unsigned last = 0;
    random_state = 7;
    scheduled_open(&s, "cawa", NULL, 0, NULL);
    scheduled_start(&s, 0, SCHEDULED - 1);
    for (unsigned step = 0; step < 20000; step++) {
        s.now += 1 + random_bits() % 4;
        const uint64_t random = random_bits();
        const slot_set ready = (random & 0xff) ? random & 0xff : 1;
        last = expected(histories, ready, last);
        assert_int_equal(scheduled_pick(&s, ready, 0, 0), last);
        struct history *h = &histories[last];
        if (h->count == 4096 || (random >> 40) % 300 == 0) { /* another warp takes the slot */
            *h = (struct history){.started = s.now};
            scheduled_start(&s, last, last);
            continue;
        }
        scheduled_tell(&s, (struct scheduler_event){.kind = SCHEDULER_ISSUED, .warp = last, .lanes = 0xff});
        h->issues[h->count++] = s.now, h->lag -= h->lag != 0;
        largest = criticality(h) > largest ? criticality(h) : largest;
        const uint64_t before = h->lag;
        if (random >> 20 & 1)
            branch(&s, h, last, random >> 22);
        lagged += h->lag - before;
        largest = criticality(h) > largest ? criticality(h) : largest;
    }
    assert_int_equal(scheduled_counter(&s, "lagged"), lagged);
    assert_int_equal(scheduled_counter(&s, "criticality_largest"), largest);
    assert_true(scheduled_counter(&s, "overtakes") > 1000);
    scheduled_close(&s);
}

#define MACHINE "base: gtx480\nsm.count: 4\n" LIMIT

static void without_criticality_it_is_greedy_then_oldest(void **state) {
    (void)state;
    expect_same(MACHINE "sm.scheduler: gto\n", MACHINE "sm.scheduler: cawa\ncawa.paths: false\ncawa.stalls: false\n",
                "gto and cawa without its terms");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_most_critical_goes_on),
        cmocka_unit_test(without_criticality_it_is_greedy_then_oldest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
