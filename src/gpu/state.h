/* SPDX-License-Identifier: Apache-2.0 */
/* The machine and its launch under way, for the files of this room. */
#ifndef HEDDLE_GPU_STATE_H
#define HEDDLE_GPU_STATE_H

#include "gpu/caches.h"
#include "gpu/clusters.h"
#include "gpu/crew.h"
#include "gpu/gpu.h"

struct gpu {
    struct gpu_config config;
    struct address_map map;
    struct clock_ratio interconnect, l2, dram; /* told by the SMs' */
    uint32_t partition_count, slice_total;
    struct partition **partitions;
    struct link **sm_out, **sm_in, **slice_in, **slice_out; /* used anew by every launch */
    struct series_recorder series;                          /* the same */
    struct gpu_caches caches;
    uint32_t first_sm; /* of the next launch */
    struct arena *arena;
    struct team *team; /* made for the first epoch that is shared */
};

/* A block on its way to an SM. */
struct coming_block {
    uint64_t start, block;          /* start: the SM has it from this cycle on */
    struct cluster_blocks *cluster; /* NULL: none of several blocks */
    uint32_t turn, rank;            /* turn: of launch_state.sms */
};

/* Blocks take time: those handed out and not there yet, in the order in which they arrive. */
struct coming_blocks {
    struct coming_block *blocks; /* a ring; NULL: blocks take no time */
    uint32_t *to;                /* [turn]: how many are on their way to it */
    uint32_t size, head, count;
    uint64_t handed; /* so many have been handed out; launch_state.next_block have arrived */
    uint64_t delay;  /* of every block of the launch */
    double free;     /* the first cycle in which one may be handed out */
};

struct launch_state {
    struct gpu *gpu;
    const struct gpu_launch *launch;
    struct arena *arena;
    const struct sm_code *code;
    struct sm *
        *sms; /* in the order they get blocks: the first made_count; the others are made with their first block */
    uint32_t made_count, first_sm;
    bool faulted;                    /* one of them has */
    alignas(64) struct net requests; /* each written by its host thread */
    alignas(64) struct net replies;
    alignas(64) uint64_t next_block; /* so many have been given */
    struct coming_blocks coming;
    uint64_t *given;                        /* launch.parts: to each of sms; else NULL, and blocks go in their order */
    uint64_t progress_published;            /* the executors' progress at the last round's end */
    uint64_t progress_seen, progress_cycle; /* the same when last looked at, and when it last moved */
    unsigned next_sm;
    struct clusters *clusters; /* of several blocks; NULL: there are none */
    struct crew crew;
};

/* Which of the machine's SMs the i-th of the launch is. */
static inline uint32_t launch_state_sm(const struct launch_state *state, uint32_t i) {
    return (state->first_sm + i) % state->gpu->config.sm_count;
}

/* What threads have done that others can see: moves with every store. */
static inline uint64_t launch_state_progress(const struct launch_state *state) {
    uint64_t sum = *state->launch->progress[0];
    for (unsigned i = 1; i < state->crew.size; i++)
        sum += *state->launch->progress[i];
    return sum;
}

#endif
