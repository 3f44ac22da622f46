/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel linked for execution: one flat record per instruction, and where registers live.
 *
 * Registers of a warp's 32 threads lie together, register after register, one row of 32 values each: the warp's
 * frame. A predicate's row is one word, that of a pair of registers of 32 bits two rows. Values that no thread changes (immediates, special registers that the launch
 * or the lane decides, kernel parameters) are rows too, in the launch's uniform block. So every operand is a row, and
 * an operation runs over 32 lanes in place. */
#ifndef HEDDLE_EXEC_STEP_H
#define HEDDLE_EXEC_STEP_H

#include "base/bits.h"
#include "isa/intrinsic.h"
#include "isa/module.h"

enum base { BASE_FRAME, BASE_UNIFORM };

struct row {
    uint8_t base;     /* enum base */
    uint8_t bytes;    /* of one value; 0: a predicate word, and absent when `present` is false */
    bool negated : 1; /* predicates */
    bool is_pair : 1; /* of 8 bytes: the lower halves of all lanes, and behind them the upper ones */
    bool present;
    uint32_t offset;
};

struct step;
/* d, a, b, c: rows; only `lanes` of d are written. */
typedef void lane_function(void *d, const void *a, const void *b, const void *c, uint32_t lanes,
                           const struct step *step);

enum kind {
    KIND_LANES,  /* a vector lane function */
    KIND_SCALAR, /* scalar_evaluate, lane by lane */
    KIND_MOVE,   /* mov that packs or unpacks */
    KIND_LOAD,
    KIND_STORE,
    KIND_ATOMIC,  /* and what takes and gives back locks of shared memory */
    KIND_SNOOP,   /* loads and stores of what is near */
    KIND_IMAGE,   /* reads, writes and queries of images */
    KIND_WARP,    /* votes, shuffles, matches */
    KIND_CLOCK,   /* mov from a clock */
    KIND_LOCAL,   /* the address of a local variable: depends on the thread's call depth */
    KIND_ASYNC,   /* asynchronous copies, barriers in memory */
    KIND_CLUSTER, /* mapa, getctarank */
    KIND_NOTHING, /* fences, hints, sleeps */
    KIND_WATCHED, /* `inner`, and the launch's watch is told */
    /* from here on a straight run ends */
    KIND_CONTROL,
    KIND_BRANCH = KIND_CONTROL,
    KIND_BRANCH_UNANIMOUS,
    KIND_POP, /* `inner`, and then a branch */
    KIND_BRANCH_INDEXED,
    KIND_CALL,
    KIND_RETURN,
    KIND_EXIT,
    KIND_BARRIER,
    KIND_WATCHED_BARRIER,
    KIND_WATCHED_BRANCH,
    KIND_WATCHED_EXIT,
    KIND_WATCHED_INDEXED,
    KIND_TRAP,
};

/* How a memory instruction finds its address: (row) + offset, in a space. */
struct address {
    struct row row;  /* absent: the address is the offset alone */
    struct row high; /* present: its upper 32 bits, `row` the lower ones */
    uint64_t offset;
    uint8_t space; /* SPACE_GENERIC, GLOBAL, SHARED, LOCAL; PARAM: the kernel's parameter block */
    bool in_frame; /* LOCAL: relative to the thread's frame */
};

struct step {
    lane_function *run;
    uint8_t kind;
    uint8_t dst_count, src_count;
    uint8_t access_bytes; /* memory: bytes of one element */
    bool guarded;
    bool plain;      /* memory: the fast path of lanes.c may try */
    uint8_t base[4]; /* rows of d, a, b, c */
    uint32_t offset[4];
    uint32_t guard_offset, guard_flip; /* the guard holds in lanes of word ^ flip */
    uint32_t target;                   /* of an asynchronous copy: what is added to its address of shared memory */
    const struct inst *inst;
    const struct row *rows; /* destinations, then sources */
    struct address address;
    struct row carry;                /* predicate row of the carry flag */
    const struct function *function; /* that the instruction belongs to */
    uint8_t intrinsic;               /* enum intrinsic: what the executor does itself */
    uint8_t inner;                   /* KIND_POP, KIND_WATCHED: the kind without it */
};

/* Bytes of a frame that must be zero when threads start: what may be read before it is written. */
struct zero_range {
    uint32_t offset, bytes;
};

struct function_layout {
    bool reachable, is_recursive;
    struct row *registers;
};

/* A value of the kernel's parameter block spread over a row when a launch starts. */
struct param_row {
    uint32_t row_offset, param_offset;
    uint8_t param_bytes, row_bytes;
    bool is_signed, is_pair;
};

struct linked {
    const struct module *module;
    const struct function *kernel;
    const struct lanes *lanes;
    struct step *steps; /* index = PC; steps of unreachable functions have run == NULL */
    struct function_layout *layouts;
    uint32_t frame_bytes;
    struct zero_range *zeros;
    unsigned zero_count;
    uint8_t *uniform; /* template of the uniform block */
    uint32_t uniform_bytes;
    struct row specials[SPECIAL_COUNT]; /* absent: not used by the kernel */
    struct param_row *param_rows;
    unsigned param_row_count;
    uint32_t shared_bytes; /* static */
    uint64_t local_bytes;  /* per thread: the kernel's own frame and, without recursion, all that calls add */
    uint32_t local_align;  /* of every frame in local memory: what the variables of all reachable functions need */
    bool prints, has_calls, has_locks, has_heap, has_images;
    bool is_watched;     /* by exec_watch_link */
    bool asks_accesses;  /* its watch is told of them */
    bool asks_unwritten; /* its watch wants to know what nobody has written */
    bool is_followed;    /* and the kernel may use such (exec/unwritten.h) */
    bool in_order; /* what blocks do depends on blocks before them: atomics, accesses with an order, printf, clocks */
    bool has_recursion;  /* or calls through pointers: depth is not known, the launch's stack_bytes limit it */
    uint32_t call_depth; /* without recursion: the deepest chain of calls */
};

/* Bytes between the start of a function's frame in local memory and that of a function it calls. */
static inline uint32_t linked_frame_size(const struct linked *linked, const struct function *function) {
    return (uint32_t)bits_round_up(function->local_bytes, linked->local_align);
}

#endif
