/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of an SM's executor, for exec/timed.c and the fast paths of lanes.c. */
#ifndef HEDDLE_EXEC_CORE_H
#define HEDDLE_EXEC_CORE_H

#include <string.h>

#include "exec/print.h"
#include "exec/timed.h"

enum { FILTER_WORDS = 64, TAPS_MORE = 15 };

/* A store of this epoch, seen by this SM alone: one element of a lane, or what a warp wrote side by side. */
struct logged {
    uint64_t address;
    uint64_t value; /* of more than 8 bytes: the number of its log_row */
    uint32_t bytes;
    uint8_t atom, type; /* of a reduction of one element: enum atom, enum type */
};
struct log_row {
    uint8_t bytes[8 * LANES_MAX];
};

/* An atomic on its way: operands bound at issue, old values bound in memory. */
struct ticket {
    uint32_t next; /* of the free ones */
    const struct step *step;
    uint32_t lanes;
    uint16_t thread[LANES_MAX]; /* slot of the SM */
    uint64_t address[LANES_MAX], b[LANES_MAX], c[LANES_MAX], old[LANES_MAX];
    /* Of an access to other blocks of the cluster, whose addresses are rank * CLUSTER_BLOCK_BYTES and what lies behind: each lane's
     * elements, as they were at issue or as they were found. */
    bool is_far;
    struct far_values *far; /* kept by the ticket from the first such access on */
};
enum { FAR_ELEMENTS = 8 };
struct far_values {
    uint64_t of[FAR_ELEMENTS][LANES_MAX];
};

/* Bytes on their way to another block's shared memory by a copy of its own (bulk copies, st.async), or, of no bytes, what its barrier
 * there hears in that cycle. */
struct far_piece {
    struct cluster_blocks *cluster;
    const struct step *step;
    uint64_t block; /* whose thread sent it */
    uint32_t thread, rank, at, bytes;
    bool is_barrier;
    uint8_t atom, type; /* of a reduction: enum atom, enum type */
    uint64_t cycle;
    uint8_t value[16];
};

/* An access to a block that had ended, or to no mbarrier of it: found when it came there. */
struct far_fault {
    bool found;
    uint64_t block;
    uint32_t thread, pc, rank;
    const char *what; /* is wrong with the block of that rank */
};

/* Which block's executor a warp of the SM belongs to, and its number there. */
struct core_warp {
    struct exec *exec;
    uint8_t *frame;
    unsigned number;
};

struct core {
    struct exec **places; /* NULL: no block has been there yet */
    struct core_warp *warps;
    unsigned place_count, warps_per_place, number;
    struct memory *memory;
    struct {
        struct logged *items;
        unsigned count, capacity;
        struct log_row *rows;
        unsigned row_count, row_capacity;
        bool reduces;              /* some entry is a reduction */
    } log;                         /* grows to what an epoch holds */
    uint64_t filter[FILTER_WORDS]; /* sectors that the log may hold */
    struct {
        struct ticket *items;
        unsigned count, capacity;
    } tickets;
    uint32_t free_ticket, ticket_limit;
    struct {
        struct far_piece *items;
        unsigned count, capacity;
    } pieces; /* of this round */
    struct far_fault far_fault;
    uint64_t bulk_free;    /* cycle in which the next bulk copy may start */
    struct access *access; /* of the step under way */
    const void *near;      /* struct executor, look */
    bool (*holds)(const void *near, uint64_t address);
    struct arena *arena;
    /* for executors to come */
    const struct linked *linked;
    const struct exec_launch *launch;
    uint8_t *uniform;
    struct site *sites;
    struct exec_output output;
    struct exec_counts *counts;          /* of the host thread that runs the SM */
    struct exec_counts *threads;         /* of each */
    uint64_t taps[TAPS_MORE][LANES_MAX]; /* addresses of texels behind the first of a sample */
};

static inline uint32_t core_filter_bit(uint64_t address) {
    return (uint32_t)(address >> SECTOR_SHIFT) % (64 * FILTER_WORDS);
}

/* May the log hold bytes of the sector at this address? */
static inline bool core_may_be_logged(const struct core *core, uint64_t address) {
    const uint32_t bit = core_filter_bit(address);
    return (core->filter[bit / 64] >> bit % 64 & 1) != 0;
}

/* Sectors that `bytes` from an address on touch. */
static inline uint64_t core_sectors(uint64_t address, uint32_t bytes) {
    return ((address + bytes - 1) >> SECTOR_SHIFT) - (address >> SECTOR_SHIFT) + 1;
}

/* Bytes of memory as the SM sees them: with its own stores of this epoch. */
void core_overlay(const struct core *core, uint64_t address, uint32_t bytes, uint8_t *value);
/* The log goes to memory, in its order; of struct core *. */
void core_publish(void *self);
/* A ticket to fill in, NO_TICKET: the limit is reached. */
uint32_t core_take_ticket(struct core *core);
void core_free_ticket(struct core *core, uint32_t ticket);

/* Accesses to other blocks of a cluster: exec/far.c. */
void core_join(void *self, unsigned place, struct cluster_blocks *cluster);
void core_perform_far(struct core *core, struct ticket *ticket, uint32_t lanes);
void core_finish_far(struct core *core, const struct ticket *ticket);
void core_publish_far(struct core *core);
void core_move_far(struct ticket *to, unsigned at, const struct ticket *from, unsigned lane, struct core *core);

/* Atomics that are calls of the heap: exec/intrinsic.c. */
void core_perform_heap(struct core *core, struct ticket *ticket, uint32_t lanes);
void core_finish_heap(struct core *core, const struct ticket *ticket);

/* One issue of a group of threads of several warps: exec/mixed.c. */
void core_mixed_step(struct core *core, const struct group *group, uint64_t cycle, struct executed *out,
                     struct access *access);

static inline void core_note_sector(struct core *core, uint64_t address) {
    const uint32_t bit = core_filter_bit(address);
    core->filter[bit / 64] |= UINT64_C(1) << bit % 64;
}

/* Adds one element of a lane. */
static inline void core_log(struct core *core, uint64_t address, uint64_t value, uint32_t bytes) {
    if (core->log.count == core->log.capacity)
        core->log.items =
            arena_grow(core->arena, core->log.items, core->log.count, &core->log.capacity, sizeof *core->log.items);
    core->log.items[core->log.count++] = (struct logged){.address = address, .value = value, .bytes = bytes};
    core_note_sector(core, address);
}

/* Adds a reduction of one element, which memory performs when the log is brought there: as an atomic, whose result nobody asks for. */
static inline void core_log_reduction(struct core *core, uint64_t address, uint64_t value, enum atom atom,
                                      enum type type) {
    core_log(core, address, value, type_bytes(type));
    core->log.items[core->log.count - 1].atom = (uint8_t)atom;
    core->log.items[core->log.count - 1].type = (uint8_t)type;
    core->log.reduces = true;
}

/* Adds an element of each lane of a warp, which lie side by side in memory as they do in the row. */
static inline void core_log_row(struct core *core, uint64_t address, const uint8_t *row, uint32_t element_bytes) {
    const uint32_t bytes = LANES_MAX * element_bytes;
    if (core->log.row_count == core->log.row_capacity)
        core->log.rows = arena_grow(core->arena, core->log.rows, core->log.row_count, &core->log.row_capacity,
                                    sizeof *core->log.rows);
    memcpy(core->log.rows[core->log.row_count].bytes, row, bytes);
    core_log(core, address, core->log.row_count++, bytes);
    for (uint64_t k = 1; k < core_sectors(address, bytes); k++)
        core_note_sector(core, address + (k << SECTOR_SHIFT));
}

#endif
