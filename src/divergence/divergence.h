/* Who issues together, and when they meet again: the plug point.
 * A mechanism owns the control state (PC, masks, call depth) of the threads of one SM, or of one block in the
 * functional run. Warps are numbered by slot: warp w holds thread slots 32w .. 32w+31. */
#ifndef HEDDLE_DIVERGENCE_DIVERGENCE_H
#define HEDDLE_DIVERGENCE_DIVERGENCE_H

#include "base/arena.h"
#include "isa/executor.h"

struct divergence_ops {
    const char *name, *help;
    /* State for `warps` warps of `warp_size` lanes running `code`. */
    void *(*create)(struct arena *arena, const struct inst *code, unsigned warps, unsigned warp_size);
    /* Threads `lanes` of warp start at pc; the warp was empty. */
    void (*start)(void *self, unsigned warp, uint32_t pc, uint32_t lanes);
    /* What warp could issue now; false: nothing (all ended). Barrier waits are the caller's business. */
    bool (*offer)(void *self, unsigned warp, struct group *out);
    /* The group offered by warp was issued, with this outcome. */
    void (*issued)(void *self, unsigned warp, const struct executed *executed);
    /* Lanes of warp that have not ended. */
    uint32_t (*alive)(const void *self, unsigned warp);
    /* Where each thread of the warp stands, for reports: next PC of each lane alive. */
    void (*where)(const void *self, unsigned warp, uint32_t pcs[LANES_MAX]);
};

/* The mechanism of that exact name, or NULL. */
const struct divergence_ops *divergence_find(const char *name);
/* All names in the order of divergence/mechanisms.def, NULL-terminated. */
const struct divergence_ops *const *divergence_all(void);

#endif
