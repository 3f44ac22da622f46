/* SPDX-License-Identifier: Apache-2.0 */
/* Least recently used: the order of the set is that of use. */
#include "mem/replacement/replacement.h"

const struct replacement_ops replacement_lru = {.name = "lru",
                                                .help = "the line whose last access is the longest ago",
                                                .by_use = true};
