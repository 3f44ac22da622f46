/* SPDX-License-Identifier: Apache-2.0 */
/* What atomics and fences of sm_75 to sm_90 are in the internal form. */
#include "sass/translate_turing.h"

bool turing_atomic(struct translation *t) {
    (void)t;
    return false;
}
