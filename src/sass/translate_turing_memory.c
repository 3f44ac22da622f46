/* SPDX-License-Identifier: Apache-2.0 */
/* What loads, stores and atomics of sm_75 to sm_90 are in the internal form. */
#include "sass/translate_turing.h"

bool turing_memory(struct translation *t) {
    (void)t;
    return false;
}
