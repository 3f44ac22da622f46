/* SPDX-License-Identifier: Apache-2.0 */
/* Threads with PCs of their own and convergence barriers, Volta and later: what the mechanism's files share. How it
 * works stands in barriers.c. */
#ifndef HEDDLE_DIVERGENCE_BARRIERS_H
#define HEDDLE_DIVERGENCE_BARRIERS_H

#include "divergence/divergence.h"
#include "simt/label.h"

enum { REGISTERS = 16 };
#define NO_BARRIER UINT8_MAX

#define BARRIERS_STATS(STAT, LARGEST)                                                                                  \
    STAT(registers_set, "registers", "convergence barriers set where lanes diverged (BSSY)")                           \
    STAT(registers_met, "registers", "of them, those that all their lanes reached (BSYNC)")                            \
    STAT(registers_lacking, "branches", "branches that found no free register: the sides reconverge at an outer one")  \
    STAT(breaks, "lanes", "lanes that left a convergence barrier before it was met: by their end or a yield (BREAK)")  \
    STAT(switches, "switches", "changes from one path of a warp to another")                                           \
    STAT(yields, "switches", "of them, those of a path that could have gone on")                                       \
    LABEL_STATS(STAT)                                                                                                  \
    LARGEST(registers_largest, "registers", "most convergence barriers of a warp in use at a time, of 16")             \
    LARGEST(paths_largest, "paths", "most paths of a warp at a time")

struct barriers_stats {
#define STAT(field, unit, help) uint64_t field;
    BARRIERS_STATS(STAT, STAT)
#undef STAT
};

enum barriers_state {
    READY,
    MOVED,       /* and nobody has looked yet whether it is where its lanes meet */
    AT_REGISTER, /* where they meet */
    AT_OTHERS,   /* at a block barrier or a warp-level operation */
    AT_LABEL     /* where lanes meet before the post-dominator */
};

struct barriers_path {
    uint64_t turn; /* when it began to run, or to be ready: the lowest runs next */
    uint32_t pc, lanes;
    uint32_t depth; /* calls that have not returned */
    uint8_t inner;  /* the register where its lanes meet next, NO_BARRIER */
    uint8_t state;
};

/* Where lanes that diverge meet; pc NO_PC: where the function at that depth has returned. */
struct barriers_meeting {
    uint32_t pc, depth;
};

struct barriers_register {
    uint32_t lanes, arrived;
    uint32_t pc, depth; /* where they meet: struct barriers_meeting */
    uint8_t outer;
};

struct barriers_warp {
    uint32_t alive;
    uint32_t count, running; /* paths; running: count or more for none */
    uint32_t slice;          /* instructions of the running path in its turn, from the one at which it diverged on */
    bool moved;              /* some path is MOVED */
    uint16_t used;           /* registers */
    uint64_t turns;
    struct label_state label;
    struct barriers_path paths[LANES_MAX];
    struct barriers_register registers[REGISTERS];
};

struct barriers {
    const struct inst *code;
    const uint32_t *ends; /* by PC: that before which a straight run from there must end, for what is in the code */
    uint32_t yield_issues;
    const struct label *label; /* NULL: none */
    struct barriers_warp *warps;
    struct barriers_stats stats;
};

/* ---- paths ---- */

static inline void barriers_set_moved(struct barriers_warp *warp, struct barriers_path *path) {
    path->state = MOVED;
    warp->moved = true;
}

void barriers_remove_path(struct barriers_warp *warp, unsigned i);
/* Paths that went on together and are at the same place are one. */
void barriers_join_moved(struct barriers_warp *warp, uint32_t lanes);

/* ---- registers: barriers_registers.c ---- */

/* BSYNC: is the path where its innermost register is met? */
static inline bool barriers_has_arrived(const struct barriers_warp *warp, const struct barriers_path *path) {
    if (path->inner == NO_BARRIER)
        return false;
    const struct barriers_register *reg = &warp->registers[path->inner];
    return reg->pc == NO_PC ? path->depth < reg->depth : path->pc == reg->pc && path->depth == reg->depth;
}

/* A free register for these lanes; NO_BARRIER: there is none. */
uint8_t barriers_set_register(struct barriers *self, struct barriers_warp *warp, uint32_t lanes,
                              struct barriers_meeting meeting, uint8_t outer);
/* BREAK */
void barriers_leave_register(struct barriers *self, struct barriers_warp *warp, unsigned number, uint32_t lanes);
/* The path yields: it leaves the registers where others wait for it, and those within; false: none do. */
bool barriers_leave_waited(struct barriers *self, struct barriers_warp *warp, struct barriers_path *path);
/* Paths that moved wait where they meet, or are ready. Opening a register moves paths again. */
void barriers_settle(struct barriers *self, struct barriers_warp *warp);

/* ---- the label, where there is one: barriers_label.c ---- */

/* A path that moved comes into its region or leaves it. */
void barriers_label_move(struct barriers *self, struct barriers_warp *warp, struct barriers_path *path);
/* Those at the label go on, if enough are there. */
void barriers_label_meet(struct barriers *self, struct barriers_warp *warp);
/* They go on in any case; false: there are none. */
bool barriers_label_release(struct barriers *self, struct barriers_warp *warp);

#endif
