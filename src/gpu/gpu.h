/* The machine in time: SMs, two crossbars, memory partitions, joined by links and advanced in epochs of the links'
 * latency. Within an epoch every part runs on its own; at its end links are exchanged, stores become visible and blocks
 * are handed out, in a fixed order. */
#ifndef HEDDLE_GPU_GPU_H
#define HEDDLE_GPU_GPU_H

#include "mem/crossbar.h"
#include "mem/dram.h"
#include "sm/sm.h"

struct gpu_params {
#define PARAM PARAM_FIELD
#include "gpu/gpu_params.def"
#undef PARAM
};

struct gpu_config {
    uint32_t sm_count;
    const struct sm_params *sm;
    const struct cache_params *l1, *instruction, *l2;
    const struct crossbar_params *crossbar;
    const struct dram_params *dram;
    const struct gpu_params *gpu;
};

struct gpu_launch {
    const struct module *module;
    uint32_t first_pc;
    uint64_t blocks;
    unsigned places, warps_per_place; /* of an SM, by occupancy */
    const struct executor *executors; /* one per SM */
    const struct divergence_ops *mechanism;
};

struct gpu_stats {
    uint64_t cycles;
    struct sm_stats sm;       /* summed over SMs */
    struct cache_stats l1, l2;
    struct dram_stats dram;
    struct crossbar_stats request_crossbar, reply_crossbar;
    uint64_t dram_cycles, threads, divergent_branches;
    struct sm_inst_stats *instructions; /* per PC, summed */
    uint64_t *divergent;
};

struct gpu; /* what outlives a launch: L2 and DRAM */
struct gpu *gpu_create(struct arena *arena, const struct gpu_config *config, struct report *report);
/* Everything of the launch itself lives in `arena`. STATUS_STOPPED with a report: fault_sm and fault_warp say who, or
 * nobody made progress. */
struct gpu_fault {
    bool found;
    unsigned sm, warp;
};
enum status gpu_run(struct gpu *gpu, struct arena *arena, const struct gpu_launch *launch, struct gpu_stats *stats,
                    struct gpu_fault *fault, struct report *report);
/* The host copied data to this range. */
void gpu_host_copied(struct gpu *gpu, uint64_t address, uint64_t bytes);

#endif
