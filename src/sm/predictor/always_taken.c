/* SPDX-License-Identifier: Apache-2.0 */
/* Every branch is taken (strategy 1 of J. E. Smith 1981), as loops are that close with a branch. */
#include "sm/predictor/predictor.h"

static bool always_taken_predict(const void *self, uint32_t pc) {
    (void)self, (void)pc;
    return true;
}

static uint32_t always_taken_learn(void *self, uint32_t pc, uint32_t lanes, uint32_t taken) {
    (void)self, (void)pc;
    return lanes & ~taken;
}

const struct predictor_ops predictor_always_taken = {.name = "always-taken",
                                                     .help = "every branch is taken; holds nothing",
                                                     .predict = always_taken_predict,
                                                     .learn = always_taken_learn};
