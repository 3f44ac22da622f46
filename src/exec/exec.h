/* SPDX-License-Identifier: Apache-2.0 */
/* The functional machine: executes groups of threads, knows no cycle and no mechanism. */
#ifndef HEDDLE_EXEC_EXEC_H
#define HEDDLE_EXEC_EXEC_H

#include <stdalign.h>

#include "base/status.h"
#include "exec/memory.h"
#include "simt/executor.h"
#include "isa/module.h"

struct linked; /* exec/step.h */
struct lanes;  /* the lane code of one instruction-set level */
struct exec;
struct exec_watch; /* exec/watch.h */

/* Lane code: "v1", "v3", "v4" or "auto" (the best this CPU runs). NULL: unknown name, or the CPU lacks it. */
const struct lanes *lanes_find(const char *name);
const char *lanes_name(const struct lanes *lanes);

/* STATUS_INVALID with everything in the module that the executor cannot do: it is refused when it is loaded. */
enum status exec_check(const struct module *module, struct report *report);
/* Lays out registers and turns the instructions of a checked module into steps. Variables of the module's image start
 * at image_address. */
struct linked *exec_link(struct arena *arena, const struct module *module, const struct function *kernel,
                         const struct lanes *lanes, uint64_t image_address);

/* What the launch, not the thread, decides. */
struct exec_launch {
    uint32_t grid[3], block[3];
    uint32_t cluster[3]; /* blocks; 0 as 1: exec_cluster_side */
    uint32_t dynamic_shared_bytes;
    const void *params;
    uint32_t envreg[32];
    uint32_t sm_count, warps_per_sm, warp_size;
    uint64_t launch_index;
    uint8_t tensor_sum; /* enum tensor_sum, exec/tensor.h */
    /* in time: of bulk copies */
    uint32_t bulk_latency, bulk_interval, bulk_bytes;
    uint32_t far_cycles;            /* in time: of bulk copies to another block of the cluster, beyond bulk_latency */
    uint32_t stack_bytes;           /* local memory for recursion, per thread */
    uint64_t print_bytes;           /* of the buffer of printf */
    const struct exec_watch *watch; /* functionally; NULL: nobody watches */
};

/* Blocks of a cluster, side by side in the grid, which is a multiple of it in every dimension. */
static inline uint32_t exec_cluster_side(const struct exec_launch *launch, unsigned dimension) {
    return launch->cluster[dimension] ? launch->cluster[dimension] : 1;
}
static inline uint32_t exec_cluster_blocks(const struct exec_launch *launch) {
    return exec_cluster_side(launch, 0) * exec_cluster_side(launch, 1) * exec_cluster_side(launch, 2);
}
/* The rank of the block at that place of the grid. */
uint32_t exec_cluster_rank(const struct exec_launch *launch, const uint32_t place[3]);
/* Linear index of the block of that rank in a cluster of that linear index. */
uint64_t exec_cluster_block(const struct exec_launch *launch, uint64_t cluster, uint32_t rank);

/* STATUS_INVALID where threads would need more local memory than they, or a device of that capacity, can have. */
enum status exec_check_local(const struct linked *linked, const struct exec_launch *launch, uint64_t capacity_bytes,
                             struct report *report);

/* Accesses of one instruction that led nowhere, and of them the one of the lowest block, thread and address: so that it does
 * not matter in which order they came. */
struct outside {
    uint64_t count, block, address, limit;
    uint32_t thread;
    uint8_t space, bytes; /* SPACE_SHARED, LOCAL, PARAM: of `limit` bytes; else GLOBAL */
};

/* Counted while running; issues and lanes are kept as differences along the code. On a host line of its own: host threads count
 * apart. */
struct exec_counts {
    alignas(64) int64_t *issues, *lanes; /* code_count + 1 each: entry k is added at PC k and all that follow */
    uint64_t *threads;                   /* of guarded instructions; of others those without a lane (group.also) */
    uint64_t progress;                   /* global stores and atomics issued, threads ended */
    struct outside *outside;             /* of each instruction; NULL: such an access stops the launch */
};

struct exec_counts exec_counts_create(struct arena *arena, uint32_t code_count, bool with_outside);
void exec_counts_add(struct exec_counts *into, const struct exec_counts *from, uint32_t code_count);

/* Names the instructions that accessed what is outside; returns how many accesses. */
uint64_t exec_report_outside(const struct linked *linked, const struct exec_launch *launch, const struct memory *memory,
                             const struct exec_counts *counts, struct report *report);

struct exec_output; /* printf records of a launch, exec/print.h */

/* Runs the warps of one block at a time. `counts` and `output` are shared by all executors of a launch. */
struct exec *exec_create(struct arena *arena, const struct linked *linked, const struct exec_launch *launch,
                         struct memory *memory, struct exec_counts *counts, struct exec_output *output);
/* Rows that no thread of the launch changes: constants, parameters, what the launch decides. */
uint8_t *exec_uniform(struct arena *arena, const struct linked *linked, const struct exec_launch *launch);
/* The block of that linear index begins: registers, shared and local memory are zero. */
void exec_start(struct exec *exec, uint64_t block);
/* Warps of every block. */
static inline unsigned exec_warps_of(const struct exec_launch *launch) {
    return (launch->block[0] * launch->block[1] * launch->block[2] + launch->warp_size - 1) / launch->warp_size;
}
/* Executors whose blocks are a cluster, by rank; the array is kept. */
void exec_join_cluster(struct exec *const *blocks, uint32_t count);
/* The block has ended: its shared memory is nobody's any more. */
void exec_end_block(struct exec *exec);
/* Lanes of that warp that hold threads. */
uint32_t exec_warp_lanes(const struct exec *exec, unsigned warp);

/* Issues from group->pc on: stops after control flow, before group->stop_pc, or after `limit` instructions.
 * `alive`: lanes of the warp that have not ended. */
void exec_run(struct exec *exec, unsigned warp, const struct group *group, uint32_t alive, uint32_t limit,
              struct executed *out);
/* One issue of a group that names its threads, which are of any warps of the block. */
void exec_run_mixed(struct exec *exec, const struct group *group, struct executed *out);
/* Lanes of the warp for which the guard of the instruction at pc holds; all where it has none. */
uint32_t exec_guard(const struct exec *exec, unsigned warp, uint32_t pc);
/* The result of a finished bar.red at pc goes to the lanes that waited. */
void exec_barrier_result(struct exec *exec, unsigned warp, uint32_t pc, uint32_t lanes,
                         const struct barrier_result *result);

/* The destination of the instruction at pc in these lanes. */
void exec_give(struct exec *exec, unsigned warp, uint32_t pc, uint32_t lanes, uint32_t value);
/* The member mask of the .sync form at pc, as that lane names it; 0: it has none. */
uint32_t exec_members(const struct exec *exec, unsigned warp, uint32_t pc, unsigned lane);

/* After FLOW_FAULT. */
struct exec_fault {
    char message[256];
    uint32_t pc;
    unsigned warp, lane;
    uint32_t absent; /* a deadlock: lanes of the warp that are waited for; 0: none are */
};
/* A free that was found to be wrong after its thread had gone on, in time; STATUS_OK: there was none. */
enum status exec_report_late_free(const struct linked *linked, const struct exec_launch *launch,
                                  const struct memory *memory, struct report *report);
struct core;
/* The same of an access to another block of a cluster. */
enum status exec_report_late_far(const struct core *core, struct report *report);
/* STATUS_STOPPED, with kernel, source line, block, thread and what happened in the report; `pcs`: where the lanes of the
 * warp stand. */
enum status exec_report_fault(const struct exec *exec, const uint32_t pcs[LANES_MAX], struct report *report);

#endif
