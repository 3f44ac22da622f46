/* SPDX-License-Identifier: Apache-2.0 */
/* The machine in time: SMs, two crossbars, memory partitions, joined by links and advanced in epochs. Within an epoch
 * every part runs on its own; at its end links are exchanged. At the end of a round, of the links' latency, atomics and
 * stores reach memory and blocks are handed out, in a fixed order: an epoch divides a round and changes no result. */
#ifndef HEDDLE_GPU_GPU_H
#define HEDDLE_GPU_GPU_H

#include "gpu/series.h"
#include "mem/clock.h"
#include "mem/crossbar.h"
#include "mem/dram.h"
#include "sm/sm.h"

struct gpu_params {
#define PARAM PARAM_FIELD
#include "gpu/gpu_params.def"
#undef PARAM
};

/* Of a key that leaves a clock to that of the SMs with 0. */
static inline uint64_t gpu_khz(const struct gpu_params *params, uint64_t khz) { return khz ? khz : params->sm_khz; }
/* Of the same, told by the SMs' clock. */
static inline struct clock_ratio gpu_clock(const struct gpu_params *params, uint64_t khz) {
    return clock_ratio(gpu_khz(params, khz), params->sm_khz);
}

struct gpu_config {
    uint32_t sm_count;
    const struct sm_params *sm;
    struct cache_params instruction, constant, l2; /* the L1 is the launch's: shared memory leaves it its size */
    const struct crossbar_params *crossbar;
    const struct dram_params *dram;
    const struct gpu_params *gpu;
};

/* How far a launch has come. */
struct launch_progress {
    uint64_t cycles, blocks_done, blocks, warp_instructions;
};

struct gpu_launch {
    const struct module *module;
    uint32_t first_pc;
    uint64_t blocks, block_threads;
    unsigned places, warps_per_place; /* of an SM, by occupancy */
    unsigned warp_size;
    /* Blocks of a cluster; the block of that rank in a cluster, of `cluster_of`. */
    uint32_t cluster_blocks;
    uint64_t (*cluster_block)(const void *cluster_of, uint64_t cluster, uint32_t rank);
    const void *cluster_of;
    const struct cache_params *l1;    /* as much as shared memory leaves */
    const struct executor *executors; /* one per SM */
    struct arena *arena, *kept;       /* of all of the launch itself; of what its statistics point to */
    struct arena *arenas;             /* of each SM and its executor; NULL: the launch's */
    /* One per host thread: grows with every global store, atomic that changed memory and thread that ended. */
    const uint64_t **progress;
    bool alone; /* on one host thread: the executors meet */
    const struct divergence_ops *mechanism;
    const struct own *own[OWN_PARTS]; /* NULL: nothing of the kind */
    const void *own_params[OWN_PARTS];
    /* Called now and then between rounds; false: stop here. NULL: nobody looks. */
    bool (*watch)(void *watcher, const struct launch_progress *progress);
    void *watcher;
    const struct sm_observer *issues; /* of all SMs; NULL: nobody looks */
    struct meter *meter;              /* base/meter.h: on one host thread, what parts take; NULL: nobody asks */
};

struct gpu_stats {
    uint64_t cycles;
    struct sm_stats sm; /* summed over SMs */
    bool predicts;      /* branches are predicted, or waited for */
    struct predictor_stats predictor;
    bool has_clusters; /* of several blocks */
    struct dsm_stats dsm;
    struct cache_stats l1, constant, texture, l2; /* texture: of caches of texture units */
    uint64_t l1_bytes;                            /* size of an SM's data cache */
    struct dram_stats dram;
    struct dram_histograms dram_histograms;
    struct crossbar_stats request_crossbar, reply_crossbar;
    uint64_t dram_cycles, threads, divergent_branches;
    struct sm_inst_stats *instructions; /* per PC */
    struct sm_inst_stats nobody;        /* slots of schedulers without a warp */
    uint64_t waits[WAIT_COUNT];         /* over all instructions */
    struct sm_histograms histograms;
    uint64_t *divergent;
    const struct own *own[OWN_PARTS]; /* as of the launch */
    void *own_stats[OWN_PARTS];       /* as own->stats describes; NULL: it counts nothing of its own */
    struct series series, sms;        /* over the cycles; by SM */
};

struct gpu; /* what outlives a launch: L2, DRAM, instruction and constant caches */
struct gpu *gpu_create(struct arena *arena, const struct gpu_config *config, struct report *report);
/* What a launch with such L1s would be refused for, as far as caches are concerned. */
enum status gpu_check(struct gpu *gpu, const struct cache_params *l1, struct report *report);
/* Ends its host threads; the memory stays the arena's. NULL is allowed. */
void gpu_destroy(struct gpu *gpu);
/* Host threads that launches may be spread over. More than one: executors have counters for each, and SMs their own
 * arenas. */
unsigned gpu_host_threads(const struct gpu *gpu);
struct gpu_fault {
    bool found;
    unsigned sm, warp;
    uint32_t pcs[LANES_MAX]; /* where its lanes stand */
};
/* STATUS_STOPPED with a report: the fault says who, or nobody made progress. */
enum status gpu_run(struct gpu *gpu, const struct gpu_launch *launch, struct gpu_stats *stats, struct gpu_fault *fault,
                    struct report *report);
/* What outlives a launch, all of it, between launches: `next` is the module of the launch that comes, `l1` as of any launch. Read
 * into one that was just made of the same machine. STATUS_OK with keep->good false: it cannot be kept, or is damaged. */
enum status gpu_keep(struct gpu *gpu, const struct module *next, const struct cache_params *l1, struct keep *keep,
                     struct report *report);
/* The host copied data to this range. */
void gpu_host_copied(struct gpu *gpu, uint64_t address, uint64_t bytes);

#endif
