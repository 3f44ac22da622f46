/* SPDX-License-Identifier: Apache-2.0 */
/* check/holdings.h against an array with a byte for each byte: what is allocated, written, copied and freed at random. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "check/holdings.h"

enum { BYTES = 6 * HOLDINGS_PAGE, STEPS = 4000 };

/* Random, and often at the edge of a page. */
static uint64_t place(struct rng *rng) {
    const uint64_t at = rng_below(rng, BYTES);
    return rng_below(rng, 3) ? at : at / HOLDINGS_PAGE * HOLDINGS_PAGE;
}

static uint64_t length(struct rng *rng, uint64_t at) {
    const uint64_t bytes = rng_below(rng, 3) ? rng_below(rng, 64) : rng_below(rng, 3 * HOLDINGS_PAGE);
    return bytes < BYTES - at ? bytes : BYTES - at;
}

static void knows_what_nobody_wrote(void **state) {
    (void)state;
    static bool unwritten[BYTES];
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct rng rng;
        struct holdings holdings = {0};
        memset(unwritten, 0, sizeof unwritten);
        rng_seed(&rng, seed);
        for (unsigned step = 0; step < STEPS; step++) {
            const uint64_t at = place(&rng), bytes = length(&rng, at);
            const struct holding one = {.start = GLOBAL_BASE + at, .bytes = bytes, .name = "a"};
            uint64_t from;
            switch (rng_below(&rng, 4)) {
            case 0:
                holdings_add(&holdings, &one, step % 7 == 0);
                memset(unwritten + at, step % 7 != 0, bytes);
                break;
            case 1:
                holdings_write(&holdings, one.start, bytes);
                memset(unwritten + at, 0, bytes);
                break;
            case 2:
                from = rng_below(&rng, BYTES - bytes);
                if (from + bytes > at && at + bytes > from)
                    break; /* copies within the device do not overlap */
                holdings_copy(&holdings, one.start, GLOBAL_BASE + from, bytes);
                memcpy(unwritten + at, unwritten + from, bytes);
                break;
            default:
                for (unsigned i = 0; i < 50; i++) {
                    const unsigned size = 1u << rng_below(&rng, 5);
                    const uint64_t word = rng_below(&rng, BYTES / size) * size;
                    assert_int_equal(holdings_lack(&holdings, GLOBAL_BASE + word, size),
                                     memchr(unwritten + word, 1, size) != NULL);
                }
            }
        }
        holdings_close(&holdings);
    }
}

static void what_is_freed_is_remembered(void **state) {
    (void)state;
    struct holdings holdings = {0};
    const struct holding one = {.start = GLOBAL_BASE, .bytes = 100, .name = "a", .made = 2};
    holdings_add(&holdings, &one, false);
    assert_true(holdings_lack(&holdings, GLOBAL_BASE + 99, 1));
    assert_false(holdings_lack(&holdings, GLOBAL_BASE + 100, 1));
    holdings_free(&holdings, GLOBAL_BASE, 5);
    assert_false(holdings_lack(&holdings, GLOBAL_BASE + 99, 1));
    const struct holding *found = holdings_find(&holdings, GLOBAL_BASE + 50);
    assert_true(found && found->is_freed && found->made == 2 && found->freed == 5);
    for (unsigned i = 0; i < 5000; i++) { /* not for ever */
        holdings_add(&holdings, &(struct holding){.start = GLOBAL_BASE + 4096, .bytes = 8, .name = "b"}, true);
        holdings_free(&holdings, GLOBAL_BASE + 4096, 6);
    }
    assert_true(holdings.list.count < 2000);
    assert_null(holdings_find(&holdings, GLOBAL_BASE + 50));
    holdings_close(&holdings);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(knows_what_nobody_wrote),
                                       cmocka_unit_test(what_is_freed_is_remembered)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
