/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of an executor, shared by the files of exec/. */
#ifndef HEDDLE_EXEC_STATE_H
#define HEDDLE_EXEC_STATE_H

#include "exec/exec.h"
#include "exec/step.h"
#include "exec/watch.h"

/* The allocation a static memory instruction used last: checked before all others. */
struct site {
    uint64_t low, high;
};

enum { LOCKED_BYTES = 4 }; /* of shared memory that have a lock of their own */

/* A bulk copy whose barrier in memory has not heard of it. */
struct bulk_pending {
    uint64_t cycle;
    uint32_t barrier, bytes;
};

/* One call that has not returned, of one thread. */
struct activation {
    uint32_t call_pc, frame_pointer, saved_bytes;
};

struct exec {
    const struct linked *linked;
    const struct exec_launch *launch;
    struct memory *memory;
    struct exec_counts *counts;
    struct exec_output *output;
    uint8_t *uniform;
    uint8_t *frames;         /* warp w: frames + w * linked->frame_bytes */
    unsigned warps, threads; /* of a block */
    uint8_t *shared;
    uint32_t shared_bytes;
    uint32_t start_bytes; /* of shared memory and of its locks, which lie behind it: zero when a block starts */
    uint8_t *local;       /* thread t: local + t * local_bytes */
    uint32_t local_bytes, local_touched; /* touched: bytes of each thread's that a block may have written */
    uint32_t *frame_pointers;            /* of each thread; NULL: nothing is called, and all are 0 */
    struct activation *activations;      /* thread t: activations + t * depth_limit */
    uint32_t *depths;
    uint32_t depth_limit;
    uint8_t *saves; /* registers of suspended recursive calls; thread t: saves + t * save_limit */
    uint32_t *save_used, save_limit;
    uint32_t *print_counts; /* records written, of each thread; NULL: nobody prints */
    struct site *sites;
    uint64_t block;              /* linear index */
    struct exec *const *cluster; /* by rank; NULL: the block is alone */
    uint32_t rank, cluster_count;
    struct cluster_blocks *gang; /* in time: the same cluster; NULL: the block is alone */
    bool ended;
    uint64_t clock; /* instructions issued */
    struct exec_fault fault;
    uint8_t nowhere[64]; /* stands in for memory that is not there; 0 */
    struct core *core;   /* in time: of the SM; NULL: a functional run */
    unsigned place;      /* in time: which of the SM's blocks */
    struct {
        struct bulk_pending *items;
        unsigned count, capacity;
    } bulk;                      /* in time */
    uint64_t refused_at;         /* address of the last access outside that the watch was told of */
    void *watched;               /* the watch's own, of the block under way */
    struct unwritten *unwritten; /* NULL: nobody asks what was not written (exec/unwritten.h) */
};

/* As exec_create, with what is given in `like` and executors of one SM share: the arguments of exec_create, uniform rows and
 * the allocations that instructions used last. */
struct exec *exec_create_like(struct arena *arena, const struct exec *like);

/* A generic address of shared memory as mapa makes it. */
static inline bool exec_is_of_cluster(uint64_t address) {
    return address - CLUSTER_WINDOW < CLUSTER_BLOCKS_MAX * CLUSTER_BLOCK_BYTES;
}

static inline uint8_t *exec_frame(const struct exec *exec, unsigned warp) {
    return exec->frames + (size_t)warp * exec->linked->frame_bytes;
}
static inline uint8_t *exec_row(const struct exec *exec, unsigned warp, const struct row *row) {
    return (row->base == BASE_FRAME ? exec_frame(exec, warp) : exec->uniform) + row->offset;
}

/* Where the present function's locals begin in those of the thread. */
static inline uint32_t exec_frame_pointer(const struct exec *exec, unsigned thread) {
    return exec->frame_pointers ? exec->frame_pointers[thread] : 0;
}

/* A value of the access's type as the register holds it. */
static inline uint64_t exec_extend_loaded(const struct step *step, uint64_t value) {
    if (!type_is_signed(step->inst->type) || step->access_bytes == 8)
        return value;
    const uint64_t sign = UINT64_C(1) << (8 * step->access_bytes - 1);
    return (value ^ sign) - sign;
}

/* Always false, so that a failing step can return it. */
bool exec_fail(struct exec *exec, unsigned warp, unsigned lane, const struct step *step, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Host memory behind `bytes` at an address of that space for one thread, or NULL after exec_fail. exec->nowhere: there is
 * none, and the launch goes on; what is written there is gone with the next such access. */
uint8_t *exec_translate(struct exec *exec, unsigned warp, unsigned lane, const struct step *step, uint64_t address,
                        uint32_t bytes);
/* The same of global memory, whatever the instruction's address is of, and aligned or not. */
uint8_t *exec_translate_global(struct exec *exec, unsigned warp, unsigned lane, const struct step *step,
                               uint64_t address, uint32_t bytes);
void exec_outside_add(struct outside *into, const struct outside *from);
/* Address of the instruction for one lane. */
uint64_t exec_address(const struct exec *exec, unsigned warp, unsigned lane, const struct step *step);
/* One value of a row, zero-extended; predicates as 0 or 1 after negation. */
uint64_t exec_read(const struct exec *exec, unsigned warp, const struct row *row, unsigned lane);
void exec_write(struct exec *exec, unsigned warp, const struct row *row, unsigned lane, uint64_t value);

/* Everything but vector lanes; false: a fault. `lanes` are those whose guard holds, never 0. */
bool exec_scalar_step(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes);
/* psetp with one destination, as a lane function: predicates of a warp are words. */
lane_function exec_combine_words;
lane_function exec_logic_words; /* lop3 of predicates */
/* What a KIND_POP does before it branches. */
bool exec_inner_step(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes, uint32_t active,
                     uint32_t alive);
bool exec_move_step(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes);
bool exec_load_step(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes);
bool exec_store_step(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes);
/* cond_acc: what lanes store, at these addresses. */
bool exec_accumulate_step(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes,
                          const uint64_t *address);
/* Also loads and stores of KIND_ATOMIC: those of locks. */
bool exec_atomic_step(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes);
/* active: lanes of the group; alive: lanes of the warp that have not ended. */
bool exec_warp_step(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes, uint32_t active,
                    uint32_t alive);
/* Operations on matrices that a warp holds: exec/matrix.c. */
bool exec_matrix_step(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes);
/* Products of warpgroups: exec/wgmma.c. */
bool exec_wgmma_step(struct exec *exec, unsigned warp, const struct step *step);
/* Asynchronous copies and barriers in memory: exec/async.c. */
bool exec_async_step(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes);
/* Bulk copies: exec/bulk.c. */
bool exec_bulk_step(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes);
/* Those by tensor maps, and changes of such maps: exec/tensor_copy.c. */
bool exec_tensor_copy_step(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes);
bool exec_tensor_map_step(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes);
/* Barriers in memory hear of copies that are done by now. */
void exec_bulk_settle(struct exec *exec);
/* What is wrong with so many bytes for the barrier there; NULL: nothing, and it has heard of them. */
const char *exec_complete_bytes(struct exec *exec, uint32_t address, uint32_t bytes);
/* In time: exec/far.c. Of the access that was noted, lanes whose address leads to the memory of another block of the cluster. */
uint32_t exec_far_lanes(const struct exec *exec, const struct step *step, uint32_t lanes);
/* Those lanes access it, whose addresses were noted; `kind`: a load, store or atomic of so many bytes of each lane. False: a fault. */
bool exec_far_access(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes, enum access_kind kind,
                     uint32_t bytes);
/* Does a place in shared memory lie in another block? */
bool exec_is_far(const struct exec *exec, uint32_t address);
/* What goes to such a place when the round ends, at most 16 bytes; of a barrier there: how many bytes it hears of, and in which cycle. */
struct far_bytes {
    uint32_t address, bytes;
    const void *value;
    uint64_t cycle;
};
/* False: a fault. */
bool exec_far_put(struct exec *exec, unsigned warp, unsigned lane, const struct step *step,
                  const struct far_bytes *bytes);
bool exec_far_complete(struct exec *exec, unsigned warp, unsigned lane, const struct step *step,
                       const struct far_bytes *bytes);
/* The barrier in memory changes as the instruction has it; a text: why not. */
const char *exec_barrier_change(const struct step *step, uint8_t *memory, uint64_t b, uint64_t *progress);
/* mapa and getctarank: exec/cluster.c. */
bool exec_cluster_step(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes);
/* The executor whose shared memory holds `bytes` at an address of shared memory, and the byte there; NULL: none does. */
struct exec *exec_shared_owner(struct exec *exec, uint64_t address, uint32_t bytes, uint32_t *at);
/* The same place in the shared memory of the block of that rank; false: the cluster has none. */
bool exec_shared_name(const struct exec *exec, uint32_t rank, uint32_t *address);
/* The address of shared memory that a copy goes to. */
uint64_t exec_copy_target(const struct exec *exec, unsigned warp, unsigned lane, const struct step *step);
/* Arrival at a block barrier: fills what `out` says of it; false: a fault. */
bool exec_barrier_step(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes, struct executed *out);
/* The same of a watched launch: exec/watched.c. */
bool exec_watched_step(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes, uint32_t active,
                       uint32_t alive);
bool exec_watched_barrier(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes, uint32_t alive,
                          struct executed *out);
/* Tells the watch of what a lane cannot do. */
void exec_refuse(struct exec *exec, unsigned warp, unsigned lane, const struct step *step, enum watch_refusal why,
                 const char *message);
/* Tells the watch where a value that nobody has written is used. */
void exec_tell_unwritten(struct exec *exec, unsigned warp, const struct step *step, unsigned lane, enum watch_use use);
bool exec_clock_step(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes, uint64_t clock);
bool exec_local_step(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes);

/* The same in time (exec/timed.c): the access is noted, stores are logged, atomics bound for later. */
bool exec_timed_load(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes);
bool exec_timed_store(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes);
bool exec_timed_accumulate(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes,
                           const uint64_t *address);
/* Notes a copy's loads of global memory, `bytes` each; what they bring is read by exec_timed_bytes. */
void exec_timed_copy(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes, uint32_t bytes);
/* Bytes of global memory as the SM sees them. */
void exec_timed_bytes(const struct exec *exec, uint64_t address, uint32_t bytes, uint8_t *value);
/* Notes an access of the lanes to shared memory, `bytes` each, which is done. */
void exec_timed_shared(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes, enum access_kind kind,
                       uint32_t bytes);
/* Notes an access of all lanes to matrices in memory, at these addresses. */
void exec_timed_pieces(struct exec *exec, unsigned warp, const struct step *step, const uint64_t *address,
                       uint32_t bytes);
/* ld_snoop and st_snoop; without time all data are near. */
bool exec_snoop_step(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes);
/* Reads, writes and queries of images: exec/image.c. */
bool exec_image_step(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes);
bool exec_timed_atomic(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes);

/* Calls and returns fill out->next for the lanes; false: a fault. */
bool exec_call_step(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes, struct executed *out);
bool exec_return_step(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes, struct executed *out);
bool exec_intrinsic_step(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes);
/* printf and assert. */
bool exec_print_step(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes);
/* What a thread hands over in its call. */
uint64_t exec_argument(const struct exec *exec, unsigned thread, const struct call *call, unsigned index);

#endif
