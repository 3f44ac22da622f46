/* SPDX-License-Identifier: Apache-2.0 */
/* First in, first out: the order of the set is that of fills. */
#include "mem/replacement/replacement.h"

const struct replacement_ops replacement_fifo = {.name = "fifo", .help = "the line that was filled first"};
