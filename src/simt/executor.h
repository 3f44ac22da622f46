/* SPDX-License-Identifier: Apache-2.0 */
/* What the machine in time, and the functional run, ask of whoever knows what instructions do.
 * exec/ executes threads; trace/ replays them. */
#ifndef HEDDLE_SIMT_EXECUTOR_H
#define HEDDLE_SIMT_EXECUTOR_H

#include "base/bits.h"
#include "simt/cluster.h"
#include "simt/group.h"

struct barrier_result; /* simt/barrier.h */

enum flow {
    FLOW_NEXT,    /* all lanes go on at pc + 1 */
    FLOW_BRANCH,  /* `taken` lanes go to target, the rest to pc + 1 */
    FLOW_MULTI,   /* each lane goes to next[lane]: brx */
    FLOW_CALL,    /* lanes in `taken` go to next[lane], one call deeper; the rest to pc + 1 */
    FLOW_RETURN,  /* lanes in `taken` go to next[lane], one call up; the rest to pc + 1 */
    FLOW_EXIT,    /* `taken` lanes have ended; the rest go on at pc + 1 */
    FLOW_BARRIER, /* `taken` lanes have arrived at a block barrier; the others go on */
    FLOW_FAULT,   /* the launch cannot go on; the executor holds the report; a mixed group: of the warp in `target` */
};

/* What an issue, or a straight run of them, did. */
struct executed {
    enum flow flow;
    uint32_t pc;     /* of the last instruction issued */
    uint32_t issues; /* how many were issued */
    uint32_t lanes;  /* active lanes at the last */
    uint32_t taken;
    uint32_t target;
    uint32_t next[LANES_MAX];
    /* FLOW_BARRIER */
    uint32_t barrier, expected; /* expected 0: every thread of the block that has not ended */
    uint32_t predicate;         /* bar.red: lanes whose predicate holds */
};

/* Do the lanes go on at different places? */
static inline bool executed_diverges(const struct executed *executed) {
    const enum flow flow = executed->flow;
    const bool jumps = flow == FLOW_BRANCH || flow == FLOW_CALL;
    bool diverges = jumps && executed->taken && executed->taken != executed->lanes;
    if (flow == FLOW_MULTI || flow == FLOW_CALL) {
        const uint32_t moving = flow == FLOW_MULTI ? executed->lanes : executed->taken;
        const uint32_t next = executed->next[bits_first(moving)];
        for (BITS_EACH(lane, moving))
            diverges |= executed->next[lane] != next;
    }
    return diverges;
}

/* What one issue asked of memory, for whoever models when. */
enum access_kind {
    ACCESS_NONE,
    ACCESS_LOAD,
    ACCESS_STORE,
    ACCESS_ATOMIC,
    /* of the lanes that found their data near; for the others, in `missed`, data are only fetched */
    ACCESS_SNOOPED_LOAD,
    ACCESS_SNOOPED_STORE,
    ACCESS_TEXELS, /* a sample of each lane: of the texels of `address`, and `more` */
    ACCESS_FAR /* shared memory of other blocks of the cluster, which their SMs perform; `far`: what of the first ones */
};

struct access {
    uint8_t kind;    /* enum access_kind */
    uint8_t space;   /* SPACE_GLOBAL, SHARED, LOCAL or CONST, generic addresses resolved by the first lane's */
    uint8_t bytes;   /* of one lane, all elements of a vector together */
    bool packed;     /* known to be of all lanes, each right behind the one before */
    uint8_t far;     /* ACCESS_FAR: ACCESS_LOAD, STORE or ATOMIC */
    uint32_t lanes;  /* that access */
    uint32_t missed; /* ACCESS_SNOOPED_*: that do not, for their data are not near */
    uint32_t ticket; /* atomics on global memory: performed below, see struct executor; and of ACCESS_FAR */
    /* Of local memory: interleaved so that lanes with the same offset lie side by side. ACCESS_FAR: the SM above 32 bits, and below
     * the block's rank and its address there. */
    uint64_t address[LANES_MAX];
    uint64_t (*more)[LANES_MAX]; /* ACCESS_TEXELS: further addresses of the lanes, more_count times */
    uint16_t more_count;
    uint8_t samples; /* ACCESS_TEXELS: bilinear ones that a lane's is made of, or one of a point */
    uint16_t texels; /* the same: of all lanes together */
};

#define NO_TICKET UINT32_MAX

/* The ticket under which it is performed elsewhere; NO_TICKET: it is not. */
static inline uint32_t access_ticket(const struct access *access) {
    return access->kind == ACCESS_ATOMIC || access->kind == ACCESS_FAR ? access->ticket : NO_TICKET;
}

/* The threads of one SM: `places` blocks at a time, warps numbered through them. One per SM; only `perform` is called
 * from elsewhere, between the SMs' turns. */
struct executor {
    void *self;
    /* A block begins in a place; its warps' registers, shared and local memory are zero. */
    void (*start)(void *self, unsigned place, uint64_t block);
    /* The block that has begun in the place is one of a cluster. NULL: there are none. */
    void (*join)(void *self, unsigned place, struct cluster_blocks *cluster);
    /* Lanes of that warp of a place that hold threads. */
    uint32_t (*lanes)(const void *self, unsigned warp);
    /* One issue of the warp's group. Global stores are the SM's own until publish. */
    void (*step)(void *self, unsigned warp, const struct group *group, uint32_t alive, uint64_t cycle,
                 struct executed *out, struct access *access);
    /* Further lanes of a warp do what the instruction at pc does, for which somebody else's issue stands: their threads count,
     * no issue does. Those of them that a branch takes. Not of other control flow, nor of what writes memory. NULL: nobody
     * can. */
    uint32_t (*follow)(void *self, unsigned warp, uint32_t pc, uint32_t lanes);
    /* From here on `holds` of `near` says whether data are near, for ld_snoop and st_snoop. NULL: nobody asks. */
    void (*look)(void *self, const void *near, bool (*holds)(const void *near, uint64_t address));
    /* Lanes of its warp that a thread's instruction at pc waits for, from the member mask of a .sync form; 0: none. Of a
     * bmov.back: those of the barrier. */
    uint32_t (*members)(const void *self, unsigned thread, uint32_t pc);
    /* Lanes of the warp for which the guard of the instruction at pc holds; all where it has none. */
    uint32_t (*guard)(const void *self, unsigned warp, uint32_t pc);
    /* What the instruction at pc, just issued, gives these lanes: the mechanism's own. */
    void (*give)(void *self, unsigned warp, uint32_t pc, uint32_t lanes, uint32_t value);
    /* The result of a finished bar.red at pc goes to the lanes that waited. */
    void (*barrier_result)(void *self, unsigned warp, uint32_t pc, uint32_t lanes, const struct barrier_result *result);
    /* An atomic, or an access to another block's memory, reaches memory for some of its lanes; its old values wait for finish, when the reply is back. */
    void (*perform)(void *self, uint32_t ticket, uint32_t lanes);
    void (*finish)(void *self, uint32_t ticket);
    /* At the end of an epoch, in the order of the SMs: stores become visible to all. Only where there are any. */
    void (*publish)(void *self);
    const unsigned *unpublished; /* how many stores */
    /* Another host thread runs the SM from here on: what instructions count goes to its counters. */
    void (*count_in)(void *self, unsigned thread);
};

#endif
