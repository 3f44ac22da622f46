/* SPDX-License-Identifier: Apache-2.0 */
/* What a mechanism's hardware holds: structures with their entries, bits and ports, and the silicon they take. All of one
 * SM. A mechanism's `cost` in its operations adds its structures; docs/cost.md says how areas come about. */
#ifndef HEDDLE_COST_COST_H
#define HEDDLE_COST_COST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

/* The SM that the hardware is for. */
struct cost_shape {
    unsigned warps, warp_size, threads;
    unsigned block_warps; /* of the largest block */
    unsigned lanes;       /* of the pipeline: a warp issues over several cycles where it is wider */
    uint64_t registers;   /* 32-bit */
    uint64_t cache_lines; /* of a replacement policy's cache, for a scheduler of the L1, and its ways; else 0 */
    unsigned cache_ways;
};

enum cost_kind {
    COST_MEMORY,    /* read and written by index */
    COST_CACHE,     /* found by a tag, which is part of the entry */
    COST_REGISTERS, /* flip-flops without a decoder */
    COST_SPLIT,     /* memory that is there anyway, cut into banks with a decoder each: area, no bits */
};

/* Banks alike, each with so many bits of every entry. */
struct cost_array {
    unsigned banks, bits, reads, writes; /* reads, writes: ports */
};

struct cost_structure {
    const char *name, *fields; /* fields: "PC 24, OCC 32, IDX 7" */
    enum cost_kind kind;
    uint64_t entries;
    unsigned tag_bits;           /* COST_CACHE */
    struct cost_array arrays[2]; /* the second: banks 0 where there is none */
};

struct cost {
    struct arena *arena; /* for the fields' text */
    struct cost_structure *items;
    unsigned count, capacity;
};

/* Adds a structure of one array. */
void cost_add(struct cost *cost, enum cost_kind kind, const char *name, const char *fields, uint64_t entries,
              struct cost_array array);
/* Bits of one entry over all its banks, and of the structure. */
unsigned cost_entry_bits(const struct cost_structure *structure);
uint64_t cost_bits(const struct cost_structure *structure);
/* "2R 1W", "32 x 1R 2W, 1 x 1R 1W", "registers". */
const char *cost_ports(const struct cost_structure *structure, struct arena *arena);
/* Bits that number `count` things, and that hold a count of up to `count` things. */
unsigned cost_index_bits(uint64_t count);
unsigned cost_count_bits(uint64_t count);

/* ---- the structures of mechanisms whose cost was published ---- */

/* A stack for each warp [000 §3.2]. */
void cost_stacks(const struct cost_shape *shape, struct cost *out);
/* Dynamic warp formation [000 ch. 7]; a size of 0 is that of table 7.1. */
struct cost_formation {
    uint64_t lut_entries, pool_entries, heap_entries, mheap_lut_entries;
    bool sorts; /* by how many threads stand at a PC: a heap and a table that leads to it */
};
void cost_formation(const struct cost_shape *shape, const struct cost_formation *sizes, struct cost *out);
/* Large warps of so many threads [002 §4.5]. */
void cost_large_warps(const struct cost_shape *shape, unsigned large_warp_threads, struct cost *out);
/* For each of them a file of registers that hold one value for all its threads, as many as a thread has, and a bit of each
 * that says so [002 §9.2.1]; sizes and ports ours. */
void cost_scalar_registers(const struct cost_shape *shape, unsigned large_warp_threads, struct cost *out);
/* Diverge on miss with so many table entries a warp [001 table 1]. */
void cost_slip(const struct cost_shape *shape, unsigned entries_per_warp, struct cost *out);

/* ---- of mechanisms that are defined by what they do: what that takes at least, sizes and ports ours ---- */

/* A PC for each thread, read lane by lane, with so many bits of state. */
void cost_thread_pcs(const struct cost_shape *shape, unsigned state_bits, struct cost *out);
/* So many registers a warp: who will meet, and where. */
void cost_convergence_barriers(const struct cost_shape *shape, unsigned registers_per_warp, struct cost *out);
/* Hanoi's stacks and registers, with PCs of so many bits. */
void cost_split_stacks(const struct cost_shape *shape, unsigned registers, unsigned pc_bits, struct cost *out);
/* A stack for each warp whose entries hold both sides of a branch, and for each side a scoreboard: of every register of the warp whether
 * it waits for a write, and whether it did when the sides diverged */
void cost_dual_paths(const struct cost_shape *shape, struct cost *out);
/* For each warp a table of splits and one of reconvergence entries, of the sizes that were shipped, and a scoreboard of a lane mask for every
 * register of it. */
void cost_multi_paths(const struct cost_shape *shape, struct cost *out);
/* A table of the SM's splits beyond the first of each warp; `by_lane`: which of its lanes wait for data. A scoreboard of a lane mask for every
 * register of a warp. */
void cost_warp_splits(const struct cost_shape *shape, uint64_t entries, bool by_lane, struct cost *out);
/* A table of each thread's PC and state, registers of convergence barriers, and for each of so many subwarps of a warp what it waits for and a
 * bit for every register of the warp. */
void cost_subwarps(const struct cost_shape *shape, unsigned subwarps, struct cost *out);
/* For each warp a table of the one path or the two that may issue, and one of all others that its lanes can be; where two may, a scoreboard of a lane
 * mask for every register of it. */
void cost_hot_and_cold(const struct cost_shape *shape, unsigned hot, struct cost *out);
/* Slices of so many lanes: a stack for each of their warps and the front end of each slice, and a table of gangs [ISCA 2015, variable warp sizing, table 2]. */
struct cost_slicing {
    unsigned base, l0_bytes, pc_bits;
};
void cost_slices(const struct cost_shape *shape, const struct cost_slicing *slicing, struct cost *out);
/* A stack of tokens of so many types for each warp, its masks, and where lanes wait that failed a loop's test. */
void cost_token_stacks(const struct cost_shape *shape, unsigned types, struct cost *out);
/* Groups of lanes of one warp, as many as there are threads. */
void cost_split_warps(const struct cost_shape *shape, struct cost *out);
/* A stack for each block, and room for so many warps that are made of its threads lane by lane. */
void cost_block_compaction(const struct cost_shape *shape, uint64_t warps, struct cost *out);
/* Whether compaction pays, foretold for so many branches (0: 64), counters of who passes them, a stack for each warp. */
void cost_adequacy(const struct cost_shape *shape, uint64_t branches, struct cost *out);

/* ---- area: area.c ---- */

/* Constants in square micrometres at 90 nm, fitted to what was published. */
struct cost_model {
    double cell;     /* a bit with one port */
    double edge;     /* what surrounds an array, by the square root of its bits */
    double flipflop; /* a bit of registers */
};

/* What was published for a structure of exactly these bits; 0: not given. */
struct cost_published {
    const char *source, *name;
    uint64_t bits;         /* by the fields listed */
    uint64_t printed_bits; /* by the table */
    double area_mm2;
    double cells_mm2; /* at COST_CELLS_NM, by the area of its cells; 0: not given */
};

const struct cost_published *cost_find_published(const struct cost_structure *structure);

/* One of the areas that cell and edge are fitted to, as all of them and as the others give it. */
struct cost_point {
    const char *name;
    double published_mm2, fitted_mm2, left_out_mm2;
};
enum { COST_POINTS = 7 };

/* Another way, at COST_CELLS_NM: so much for each bit, whatever surrounds it. */
enum { COST_CELLS_NM = 40 };
double cost_cells_mm2(const struct cost_structure *structure);

void cost_fit(struct cost_model *model, struct cost_point points[COST_POINTS]);
double cost_area_mm2(const struct cost_model *model, const struct cost_structure *structure);

/* ---- the area of a whole core: core.c ---- */

enum { COST_NM = 90, COST_CORE_NM = 45, COST_CORES = 3 };

/* What its parts take, in square millimetres at 45 nm. */
struct cost_core {
    double front_end, lane, thread;
};

struct cost_core_published {
    const char *source, *name;
    unsigned lanes, threads;
    double area_mm2;
};

void cost_core_fit(struct cost_core *core);
/* Without what a mechanism adds. */
double cost_core_mm2(const struct cost_core *core, const struct cost_shape *shape);
/* The area in print of a core of so many lanes and threads; NULL: there is none. */
const struct cost_core_published *cost_core_find_published(const struct cost_shape *shape);
/* From one technology to another: areas go with the square of their lengths. */
double cost_scaled_mm2(double mm2, double from_nm, double to_nm);

#endif
