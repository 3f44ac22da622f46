/* SPDX-License-Identifier: Apache-2.0 */
/* An oracle, to measure the others by: what prediction could gain at most. */
#include "sm/predictor/predictor.h"

const struct predictor_ops predictor_perfect = {
    .name = "perfect", .help = "an oracle that is never wrong: the most that prediction could gain", .knows = true};
