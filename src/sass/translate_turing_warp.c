/* SPDX-License-Identifier: Apache-2.0 */
/* What shuffles, votes, matches, reductions, special registers and barriers of sm_75 to sm_90 are in the internal form. */
#include "sass/translate_turing.h"

bool turing_warp(struct translation *t) {
    (void)t;
    return false;
}
