/* SPDX-License-Identifier: Apache-2.0 */
#include "base/added.h"

#include <stddef.h>

static const void *added[ADDED_KINDS][ADDED_MAX];

bool added_put(enum added_kind kind, const void *ops) {
    unsigned end = 0;
    while (end < ADDED_MAX && added[kind][end])
        end++;
    return end < ADDED_MAX && (added[kind][end] = ops);
}

const void *added_at(enum added_kind kind, unsigned number) { return number < ADDED_MAX ? added[kind][number] : NULL; }
