/* SPDX-License-Identifier: Apache-2.0 */
/* What floats, doubles and pairs of halves of sm_75 to sm_90 are in the internal form. */
#include "sass/translate_turing.h"

bool turing_float(struct translation *t) {
    (void)t;
    return false;
}
