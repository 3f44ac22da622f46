/* SPDX-License-Identifier: Apache-2.0 */
/* The large warp microarchitecture: sub-warps are packed out of larger warps; what the mechanism's files share. How it
 * works stands in lwm.c. */
#ifndef HEDDLE_DIVERGENCE_LWM_H
#define HEDDLE_DIVERGENCE_LWM_H

#include "divergence/divergence.h"
#include "simt/threads_warps.h"

#define STACK_ROWS 128
#include "simt/stack.h"
_Static_assert(STACK_ROWS >= WARPS_MAX, "a row for every warp");

enum { REFETCH_FIRST, REFETCH_ALL };
enum { LWM_REGISTERS_COLUMN, LWM_REGISTERS_IDEAL };

struct lwm_params {
    uint32_t size, refetch, registers;
    bool jump, memory_rows, guards, scalar;
};

struct lwm_stats {
    uint64_t instructions, sub_warps, jumps, scalars, scalar_threads, unguarded, depth, in_flight;
};

struct lwm_large {
    struct stack stack;
    unsigned rows;
    uint32_t *busy; /* by row, the interlock: threads in the pipeline, or at a barrier or a warp-level operation */
    unsigned busy_count, in_flight, leader_count;
    uint16_t *leaders; /* lwm.sent: of sub-warps that may come back all at once */
    bool needs_all;    /* of the last instruction: its sub-warps must all complete before the next */
    bool memory;       /* the same because it reads global memory */
    bool completed;    /* one of its sub-warps has */
    uint32_t serial;
    /* the present instruction */
    bool packed, begun, once; /* remaining holds; a sub-warp has been issued; one sub-warp is enough for all */
    bool scalar, holds;       /* for its operands are the same in all; its guard holds, or there is none */
    uint64_t *uniform;        /* registers that hold the same in all threads (isa/uniform.h) */
    uint32_t remaining[STACK_ROWS];
    struct stack_gathered gathered;
    bool by_rows;       /* its sub-warps are whole rows */
    unsigned first_row; /* the first that may have threads that remain */
    uint32_t
        offered; /* the next sub-warp, as long as nobody of those that remain has come back, or been issued; 0: to be found */
    uint16_t threads[LANES_MAX];
    unsigned part_count; /* lwm.register_file column: its rows */
    struct lwm_part {
        uint32_t lanes, row;
    } parts[LANES_MAX];
};

struct lwm {
    struct stack_family family;
    const struct inst *code;
    const struct executor *executor;
    struct lwm_params params;
    unsigned warps_per_block, warp_size, width, rows_max, per_block, count;
    bool apart;             /* threads of one issue come back each in its own time */
    uint32_t uniform_words; /* of a large warp; 0: lwm.scalar is not asked for */
    uint32_t *alive, *busy; /* by warp */
    /* by thread: the first thread of the sub-warp it is in; of such a first thread: how many of the sub-warp are still
     * out, and which instruction it was. `whole`: its lanes, where they come back all at once; the others need not know
     * their leader then. 0: they may not. */
    uint16_t *leader;
    uint32_t *whole;
    uint8_t *out;
    uint32_t *serial;
    /* Where they may come back all at once or not: the threads of such a sub-warp, by its first. When one comes back in parts its others
     * learn their leader. NULL: that is known. */
    uint16_t (*sent)[LANES_MAX];
    struct lwm_large *large;
    struct lwm_stats stats;
};

/* The large warp that a warp of the program is a row of, and which row. */
static inline unsigned lwm_large_of(const struct lwm *lwm, unsigned warp) {
    return warp / lwm->warps_per_block * lwm->per_block + warp % lwm->warps_per_block / lwm->rows_max;
}

static inline unsigned lwm_row_of(const struct lwm *lwm, unsigned warp) {
    return warp % lwm->warps_per_block % lwm->rows_max;
}

/* The warp of the program that is its first row. */
static inline unsigned lwm_first_warp(const struct lwm *lwm, unsigned number) {
    return number / lwm->per_block * lwm->warps_per_block + number % lwm->per_block * lwm->rows_max;
}

static inline bool lwm_is_jump(const struct inst *inst) { return inst->op == OP_BRA && inst->guard < 0; }

/* lwm_pack.c: the next sub-warp of the large warp that has the slot. */
bool lwm_offer(void *self, unsigned slot, struct group *out);

#endif
