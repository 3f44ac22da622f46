/* SPDX-License-Identifier: Apache-2.0 */
/* A place of the program where lanes of a warp wait for each other before the post-dominator: speculative reconvergence (Damani et
 * al., CGO 2020), for mechanisms with convergence barriers.
 *
 * The programmer names the place, the label (read in the abstract), and so many lanes as are enough to go on, the threshold
 * (recalled). Lanes that come into the region around it will meet there; those that leave it are not waited for (recalled). The
 * region is the innermost loop around the label, or one further out (ours). A branch within it whose lanes may come to the label before
 * its post-dominator does not make lanes wait at the latter, where they would wait for each other in a circle: it is removed
 * (recalled: the static way). Its lanes meet where the region's do, behind it (ours). Those at the label go on when nobody else of
 * their warp can run (recalled), and when another spins (ours). */
#ifndef HEDDLE_SIMT_LABEL_H
#define HEDDLE_SIMT_LABEL_H

#include "base/arena.h"
#include "base/bits.h"
#include "isa/module.h"

/* The keys, of mechanism NAME. */
#define LABEL_PARAMS(PARAM, NAME)                                                                                      \
    PARAM(label_line, NAME ".label_line", U32, "0", "0", "4294967295", "line",                                         \
          "of the module's text: the first instruction in a loop from there on is where lanes wait for each other "    \
          "before the post-dominator; 0: none is")                                                                     \
    PARAM(label_loops, NAME ".label_loops", U32, "1", "1", "64", "loops",                                              \
          "around the label that lanes must be in to be waited for: 1 is the innermost")                               \
    PARAM(label_lanes, NAME ".label_lanes", U32, "32", "1", "32", "lanes", "that are enough to go on from the label")

#define LABEL_STATS(STAT)                                                                                              \
    STAT(label_meetings, "meetings", "times that lanes went on from the label, as many as are enough")                 \
    STAT(label_early, "meetings", "times that they went on with fewer: nobody else could run, or another thread spun") \
    STAT(label_lanes, "lanes", "lanes that went on from it")

struct label_params {
    uint32_t label_line, label_loops, label_lanes;
};

struct label {
    uint32_t pc, enough;
    uint32_t first, last; /* the region */
    uint32_t behind;      /* where its lanes meet, NO_PC: at the function's exit */
    bool *removed;        /* by PC, of the branches at which lanes may diverge */
};

/* Of a warp. */
struct label_state {
    uint32_t lanes, arrived; /* in the region; at the label */
    uint32_t depth;          /* calls that had not returned when they came into it */
};

/* NULL: none is asked for, or there is no such. */
const struct label *label_create(struct arena *arena, const struct inst *code, uint32_t code_count,
                                 const struct label_params *params);
/* STATUS_INVALID where a label is asked for that the module has not. */
enum status label_check(const struct label_params *params, const char *mechanism, const struct module *module,
                        struct report *report);

static inline bool label_has(const struct label *label, uint32_t pc) { return pc >= label->first && pc <= label->last; }

/* Straight runs end before the label, and where the region begins and ends. */
static inline bool label_ends(const struct label *label, uint32_t pc) {
    return pc == label->pc || pc == label->first || pc == label->last + 1;
}

/* Enough of them are there. */
static inline bool label_is_met(const struct label *label, const struct label_state *state) {
    const unsigned all = bits_count(state->lanes);
    return state->arrived && bits_count(state->arrived) >= (label->enough < all ? label->enough : all);
}

/* Lanes stand at pc: they come into the region, or leave it. True: they have come into it. */
static inline bool label_move(const struct label *label, struct label_state *state, uint32_t pc, uint32_t depth,
                              uint32_t lanes) {
    const bool inside = label_has(label, pc);
    if (state->lanes & lanes) {
        if (depth < state->depth || (depth == state->depth && !inside))
            state->lanes &= ~lanes;
        return false;
    }
    if (!inside || (state->lanes && depth != state->depth))
        return false;
    state->lanes |= lanes, state->depth = depth;
    return true;
}

static inline bool label_is_at(const struct label *label, const struct label_state *state, uint32_t pc, uint32_t depth,
                               uint32_t lanes) {
    return pc == label->pc && depth == state->depth && !(lanes & ~state->lanes);
}

/* Lanes that stand at it wait there from now on; false: they do not. */
static inline bool label_arrive(const struct label *label, struct label_state *state, uint32_t pc, uint32_t depth,
                                uint32_t lanes) {
    const bool waits = label_is_at(label, state, pc, depth, lanes);
    state->arrived |= waits ? lanes : 0;
    return waits;
}

#endif
