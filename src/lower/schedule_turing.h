/* SPDX-License-Identifier: Apache-2.0 */
/* Scheduling for sm_75 on: what depends on what in a block, and the order in which it is issued. */
#ifndef HEDDLE_LOWER_SCHEDULE_TURING_H
#define HEDDLE_LOWER_SCHEDULE_TURING_H

#include "lower/allocate.h"

#define NO_NODE UINT32_MAX

enum { SCHEDULE_WORDS, SCHEDULE_PREDICATES, SCHEDULE_CLASSES };
enum { SCHEDULE_TOUCHED_MAX = 24 };

/* An instruction issues `cycles` or more behind another. */
struct schedule_edge {
    uint32_t to, cycles;
    uint32_t next; /* of the same producer, NO_NODE: the last */
};

/* What a unit holds from one write to the next. */
struct schedule_value {
    uint32_t reads; /* instructions that are still to read it */
    bool is_live_out;
    bool is_predicate;
};

/* An instruction of the block. */
struct schedule_node {
    uint32_t edges;    /* to those that wait for it */
    uint32_t waits;    /* edges to it from those that are not issued */
    uint32_t height;   /* cycles from its issue to the end of the block on the longest way */
    uint32_t earliest; /* cycle at which what it reads is there */
    uint32_t reads[SCHEDULE_TOUCHED_MAX], writes[SCHEDULE_TOUCHED_MAX]; /* values, each once */
    uint8_t read_count, write_count;
};

struct schedule {
    struct arena *arena; /* of one block */
    const struct machine_kernel *machine;
    const struct machine_block *block;
    const uint64_t *live_in, *live_out; /* units */
    uint32_t unit_count;
    struct schedule_node *nodes; /* one for each instruction */
    struct {
        struct schedule_edge *items;
        unsigned count, capacity;
    } edges;
    struct {
        struct schedule_value *items;
        unsigned count, capacity;
    } values;
    int32_t live[SCHEDULE_CLASSES];  /* values that are live where the block begins */
    int32_t limit[SCHEDULE_CLASSES]; /* that are to be live at once */
};

/* Nodes, edges, values and heights. False: an instruction has too many operands for it. */
bool schedule_find_edges(struct schedule *s);

/* Orders the instructions of every block so that results are there when they are read, as far as registers reach, `spare` of
 * which it leaves alone. Returns how many registers that may take; 0: the order is as it was. */
uint32_t schedule_turing(struct machine_kernel *machine, uint32_t spare);

#endif
