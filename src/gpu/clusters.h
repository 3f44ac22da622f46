/* SPDX-License-Identifier: Apache-2.0 */
/* Clusters of several blocks: which SMs they go to, the network between the shared memories of SMs, and barrier.cluster. */
#ifndef HEDDLE_GPU_CLUSTERS_H
#define HEDDLE_GPU_CLUSTERS_H

#include "gpu/net.h"
#include "simt/cluster.h"

struct launch_state;

struct clusters {
    struct net nets[2];           /* requests, replies */
    struct sm_dsm_parts *sms;     /* of each SM: its links */
    uint32_t blocks, group_count; /* blocks: of a cluster */
    uint32_t *room;               /* of each SM, while one is chosen */
    struct cluster_blocks **active, **free;
    uint32_t active_count, free_count;
    uint64_t round_end;
};

/* NULL in state->clusters where the launch has none. Refuses clusters that fit nowhere. */
enum status clusters_create(struct launch_state *state, struct report *report);
/* As dispatch_blocks: all blocks of a cluster at the same time, on SMs of one group, each on the one with the most room. */
enum status clusters_dispatch(struct launch_state *state, uint64_t cycle, struct report *report);
/* Cycles of an epoch, of both networks. */
void clusters_run(struct clusters *clusters, uint64_t from, uint64_t to);
void clusters_exchange(struct clusters *clusters);
bool clusters_are_idle(const struct clusters *clusters);
/* The first cycle at which a network has something to do. */
uint64_t clusters_next(const struct clusters *clusters);
/* A round has ended: what SMs served of each other's accesses is performed, in the order of SMs and of service; barriers at which all
 * have arrived are to open. */
void clusters_end_round(struct launch_state *state);

#endif
