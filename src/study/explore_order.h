/* SPDX-License-Identifier: Apache-2.0 */
/* What a run of --explore does, by its number: study/explore.c. */
#ifndef HEDDLE_STUDY_EXPLORE_ORDER_H
#define HEDDLE_STUDY_EXPLORE_ORDER_H

#include "emulate/emulate.h"
#include "exec/delayed.h"

struct explore_order {
    const char *mechanism;      /* NULL: the machine's own, or by chance */
    struct emulate_order order; /* of a launch of any number of blocks; order.turn_issues 0: none */
    unsigned delay_chance;      /* 0: stores reach memory at once */
    const char *text;           /* in words */
};
/* own: the machine's mechanism. */
struct explore_order explore_order_of(uint64_t number, const char *own, struct arena *arena);
/* For a launch of so many blocks. */
struct emulate_order explore_blocks(const struct explore_order *order, uint64_t blocks);

#endif
