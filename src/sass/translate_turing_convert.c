/* SPDX-License-Identifier: Apache-2.0 */
/* What conversions and counts of bits of sm_75 to sm_90 are in the internal form. */
#include "sass/translate_turing.h"

bool turing_convert(struct translation *t) {
    (void)t;
    return false;
}
