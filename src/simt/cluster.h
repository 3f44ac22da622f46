/* SPDX-License-Identifier: Apache-2.0 */
/* A cluster of several blocks in time: its blocks run at the same time, on SMs of one group. */
#ifndef HEDDLE_SIMT_CLUSTER_H
#define HEDDLE_SIMT_CLUSTER_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/address.h"

struct exec;

/* By rank. What a block says of itself its SM writes within an epoch, and others read between rounds; `sm` never changes. */
struct cluster_blocks {
    uint32_t count;
    uint32_t sm[CLUSTER_BLOCKS_MAX];     /* that has the block */
    struct exec *of[CLUSTER_BLOCKS_MAX]; /* the executor's; NULL: it has not begun */
    bool ended[CLUSTER_BLOCKS_MAX];      /* its shared memory is nobody's any more */
    /* Cycle in which the last of its threads that have not ended arrived at barrier.cluster; in which its last thread ended. NO_CYCLE:
     * has not happened. */
    uint64_t met[CLUSTER_BLOCKS_MAX], gone[CLUSTER_BLOCKS_MAX];
};

#endif
