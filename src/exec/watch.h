/* SPDX-License-Identifier: Apache-2.0 */
/* Whoever watches the memory and the waiting of a functional launch: heddle check.
 *
 * A launch with a watch is linked with other steps for what can be watched (exec/watched.c); any other launch has no test
 * for it. A watched launch goes on where accesses lead nowhere or are misaligned: such a load gives 0. */
#ifndef HEDDLE_EXEC_WATCH_H
#define HEDDLE_EXEC_WATCH_H

#include "exec/exec.h"

/* A group of a warp at an instruction. */
struct watch_issue {
    const struct linked *linked;
    const struct exec_launch *launch;
    const struct memory *memory;
    uint64_t block; /* linear index */
    unsigned warp;  /* of the block */
    uint32_t pc, lanes;
    const struct inst *inst;
    uint32_t shared_bytes; /* of the block */
    uint64_t refused_at;   /* the address of what was refused last as outside */
    void **
        place; /* the watcher's own, one for each block under way; NULL at first, and kept for the block that follows */
};

struct watch_access {
    uint8_t space;           /* SPACE_GLOBAL or SHARED, generic addresses resolved */
    uint8_t bytes;           /* of one lane, all elements of a vector together */
    uint32_t lanes;          /* that access memory of that space, which is there */
    uint32_t changed;        /* of them: what they wrote is another value than what was there */
    const uint64_t *address; /* of each lane */
    uint8_t *const *memory;  /* of each lane, as the host sees it */
};

enum watch_refusal {
    WATCH_OUTSIDE,
    WATCH_MISALIGNED,
    WATCH_NOT_NAMED, /* a lane is not in its own member mask */
    WATCH_STOPPED,   /* the launch cannot go on */
    WATCH_REFUSALS,
};

/* What a value that nobody has written decides. */
enum watch_use { WATCH_DECISION, WATCH_ADDRESS, WATCH_OUTPUT };

struct exec_watch {
    void *self;
    struct exec_delays *delays; /* stores may reach memory late (exec/delayed.h); NULL: they do not */
    bool accesses;              /* false: only what is refused is told, and linked steps stay as they are */
    bool registers;             /* tell where registers and local memory are used that nobody has written */
    /* A load, a store or an atomic has been executed. */
    void (*access)(void *self, const struct watch_issue *issue, const struct watch_access *access);
    /* These lanes have met at a warp-level operation; others of the issue at another. */
    void (*meet)(void *self, const struct watch_issue *issue, uint32_t lanes);
    void (*fence)(void *self, const struct watch_issue *issue);
    /* The lanes have come to a block barrier; absent: lanes of their warp that have neither come with them nor ended. */
    void (*arrive)(void *self, const struct watch_issue *issue, unsigned barrier, uint32_t absent);
    /* The barrier is met, and lanes that waited go on. alive: threads of the block that have not ended. */
    void (*leave)(void *self, const struct watch_issue *issue, unsigned barrier, uint32_t alive);
    /* What a lane does is wrong. */
    void (*refuse)(void *self, const struct watch_issue *issue, unsigned lane, enum watch_refusal why,
                   const char *message);
    void (*unwritten)(void *self, const struct watch_issue *issue, unsigned lane, enum watch_use use);
};

/* Puts the steps that tell a watch of accesses, barriers, fences and warp-level operations in the place of others, where it asks for `accesses`; where it asks
 * for `registers` and the kernel may use what nobody has written, nearly all. */
void exec_watch_link(struct linked *linked, const struct exec_watch *watch);
/* Was it linked so? watch NULL: it has none. */
bool exec_watch_fits(const struct linked *linked, const struct exec_watch *watch);
/* The block has ended. */
void exec_watch_end(struct exec *exec);
/* Waiting lanes of the warp go on behind the barrier at pc (struct exec_watch, leave). */
void exec_watch_leave(struct exec *exec, unsigned warp, uint32_t pc, uint32_t lanes, unsigned barrier, uint32_t alive);

#endif
