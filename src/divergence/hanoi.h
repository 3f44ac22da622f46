/* SPDX-License-Identifier: Apache-2.0 */
/* Hanoi, convergence barriers as Turing has them: what the mechanism's files share. How it works stands in hanoi.c. */
#ifndef HEDDLE_DIVERGENCE_HANOI_H
#define HEDDLE_DIVERGENCE_HANOI_H

#include "divergence/divergence.h"
#include "simt/label.h"

enum { HANOI_REGISTERS = 16, HANOI_NO_REGISTER = 255 };

#define HANOI_STATS(STAT, LARGEST)                                                                                     \
    STAT(set, "registers", "convergence barriers set (BSSY)")                                                          \
    STAT(met, "meetings", "meetings that all their lanes came to (BSYNC)")                                             \
    STAT(broken, "lanes", "lanes that left a convergence barrier before it was met (BREAK)")                           \
    STAT(syncs, "meetings", "meetings of lanes that an instruction names (WARPSYNC)")                                  \
    STAT(lacking, "meetings", "of these, those for which no register was free")                                        \
    STAT(yields, "switches", "changes to another path whose turn it was (YIELD)")                                      \
    STAT(spills, "registers",                                                                                          \
         "PTX: convergence barriers set while all registers were in use, which a compiler spills")                     \
    LABEL_STATS(STAT)                                                                                                  \
    LARGEST(ws_largest, "entries", "most paths of a warp on its warp-split stack, of 32")                              \
    LARGEST(rec_largest, "entries", "most meetings on a warp's reconvergence stack")

struct hanoi_stats {
#define STAT(field, unit, help) uint64_t field;
    HANOI_STATS(STAT, STAT)
#undef STAT
};

/* Which side of a branch runs first. */
enum hanoi_first { FIRST_MAJORITY, FIRST_TAKEN, FIRST_FEWEST };

struct hanoi_params {
    uint32_t registers, first, yield_issues, pc_bits;
    uint32_t label_line, label_loops, label_lanes;
};

/* An entry of the warp-split stack. */
struct hanoi_path {
    uint32_t pc, lanes;
    uint32_t depth; /* calls that have not returned */
    bool held;      /* it waits for threads of the block */
};

/* An entry of the reconvergence stack: its lanes are those of register `reg`. */
struct hanoi_meeting {
    uint32_t pc; /* behind the meeting; of PTX: of the meeting, NO_PC: where the function at `depth` has returned */
    uint32_t depth;
    uint32_t lanes, arrived; /* without a register: of PTX */
    uint32_t resume;         /* pc is NO_PC: where they go on */
    uint8_t reg;             /* HANOI_NO_REGISTER: none */
    bool is_sync;            /* WARPSYNC: whoever knows whom it waits for says when they have come */
};

struct hanoi_warp {
    uint32_t alive;
    uint32_t slice; /* PTX: instructions since another path has run */
    unsigned count; /* of the warp-split stack; the last is the top, which runs */
    struct hanoi_path paths[LANES_MAX + 1];
    struct {
        struct hanoi_meeting *items;
        unsigned count, capacity;
    } meetings;                                                /* the reconvergence stack */
    uint32_t lanes[HANOI_REGISTERS], arrived[HANOI_REGISTERS]; /* of each register; who waits at its BSYNC */
    uint16_t valid;
    struct label_state label;
};

struct hanoi {
    struct arena *arena;
    const struct inst *code;
    const uint32_t *ends; /* by PC: that before which a straight run from there must end, for what is in the code */
    const struct executor *executor;
    bool own;       /* the code has convergence barriers of its own */
    uint16_t named; /* registers that the code names */
    struct hanoi_params params;
    const struct label *label; /* PTX; NULL: none */
    struct hanoi_warp *warps;
    struct hanoi_stats stats;
};

static inline struct hanoi_path *hanoi_top(struct hanoi_warp *warp) { return &warp->paths[warp->count - 1]; }

/* The lanes of a meeting, where they are known: not those of a register that is not valid. */
static inline bool hanoi_lanes_of(const struct hanoi_warp *warp, const struct hanoi_meeting *meeting, uint32_t *lanes) {
    const bool is_own = meeting->reg == HANOI_NO_REGISTER;
    *lanes = is_own ? meeting->lanes : warp->lanes[meeting->reg];
    return is_own || warp->valid >> meeting->reg & 1;
}

/* PTX: the meeting that these lanes, of one path, come to next. */
static inline struct hanoi_meeting *hanoi_innermost(struct hanoi_warp *warp, uint32_t lanes) {
    for (unsigned i = warp->meetings.count; i-- > 0;)
        if (!warp->meetings.items[i].is_sync && warp->meetings.items[i].lanes & lanes)
            return &warp->meetings.items[i];
    return NULL;
}

/* ---- the label, where there is one: hanoi_label.c ---- */

/* A path comes into its region or leaves it. */
void hanoi_label_move(struct hanoi *self, struct hanoi_warp *warp, const struct hanoi_path *path);
/* Those at the label are on top of the warp-split stack; false: there are none. */
bool hanoi_label_release(struct hanoi *self, struct hanoi_warp *warp);

/* ---- meetings: hanoi_meet.c ---- */

/* A path goes on the warp-split stack in any case. */
void hanoi_push_ready(struct hanoi *self, struct hanoi_warp *warp, struct hanoi_path path);

/* A path goes on the warp-split stack; PTX: unless it stands where its lanes meet. */
void hanoi_push(struct hanoi *self, struct hanoi_warp *warp, struct hanoi_path path);
/* All that can meet do, from the top of the reconvergence stack on. */
void hanoi_settle(struct hanoi *self, struct hanoi_warp *warp);
/* PTX: lanes that diverge here meet there; none is set where the innermost meeting of their path is the same. */
void hanoi_part(struct hanoi *self, struct hanoi_warp *warp, const struct hanoi_path *path, uint32_t pc,
                uint32_t depth);
/* Lanes have ended. */
void hanoi_end(struct hanoi_warp *warp, uint32_t lanes);
/* PTX: the path is not waited for at meetings where others wait; false: none do. */
bool hanoi_leave_waited(struct hanoi *self, struct hanoi_warp *warp, uint32_t lanes);
/* BSSY, BSYNC, BREAK and BMOV, which the top has issued at pc; `lanes`: for whom the guard holds. */
void hanoi_obey(struct hanoi *self, unsigned number, uint32_t pc, uint32_t lanes);
/* WARPSYNC at pc: lanes that come, and that go on together. */
void hanoi_sync(struct hanoi *self, unsigned number, uint32_t pc, uint32_t lanes);
void hanoi_synced(struct hanoi *self, struct hanoi_warp *warp, uint32_t pc, uint32_t lanes);
/* Are paths disjoint, disjoint of those that wait, and all of them alive; does no lane wait where its register has it not? */
bool hanoi_is_sound(const struct hanoi *self, const struct hanoi_warp *warp);

#endif
