/* SPDX-License-Identifier: Apache-2.0 */
/* Who issues together, and when they meet again: the plug point.
 * A mechanism owns the control state (PC, masks, call depth) of the threads of one SM, or of one block in the
 * functional run. Threads are numbered by slot: warp w holds thread slots w * warp_size and so on. What could issue
 * stands in issue slots; a mechanism that keeps warps together uses slot w for warp w. Calls that can change what slots
 * offer answer with the slots to be looked at again, a bit each: where warps keep their slots bit w mod 64 stands for the
 * slot of warp w, which the call was about. */
#ifndef HEDDLE_DIVERGENCE_DIVERGENCE_H
#define HEDDLE_DIVERGENCE_DIVERGENCE_H

#include "base/arena.h"
#include "cost/own.h"
#include "simt/executor.h"
#include "isa/module.h"

/* What an SM has done with its time so far, for mechanisms that adapt to it. */
struct divergence_usage {
    const uint64_t *memory, *idle, *stall; /* slots that passed empty, by why: as in sm/sm_stats.def */
    const uint64_t *requests;              /* to memory */
    unsigned schedulers;                   /* slots of a cycle */
    uint64_t share; /* requests of 1000 cycles that are the SM's part of the memory's bandwidth */
};

struct divergence_shape {
    const struct inst *code;
    uint32_t code_count;
    unsigned warps, warp_size, warps_per_block;
    unsigned width;      /* lanes of a group at most: threads have the first so many of their warps */
    unsigned schedulers; /* issue slot s belongs to scheduler s mod this */
    unsigned paths;      /* issue slots of each warp, where it has `paths`; else, and in the functional run, 0 */
    const void *params;  /* values of the mechanism's own keys */
    const uint64_t *now; /* the present cycle; always 0 in the functional run */
    uint64_t *wake;      /* forming: a cycle to come in which to call `advance`; UINT64_MAX: none */
    const struct divergence_usage *usage; /* NULL in the functional run */
    const struct executor *executor; /* what threads hold; in the functional run only `guard`, `members` and `give` */
    bool
        apart; /* forming: a scoreboard by thread: threads of any issue come back each in its own time, not all at once */
};

/* ---- the capabilities, each optional ---- */

/* Lanes that wait on their own, where warps keep their slot. These lanes of the warp, which were just issued, wait for other
 * threads, at a block barrier or a warp-level operation, until go_on; the slot offers the others meanwhile. Such a mechanism ends
 * straight runs before operations that wait for the lanes they name (inst_meets). Without it a warp that waits does so as a
 * whole. */
struct divergence_waiting {
    void (*wait)(void *self, unsigned warp, uint32_t lanes);
    uint64_t (*go_on)(void *self, unsigned warp, uint32_t lanes);
};

/* Lanes that slip, in time, where warps keep their slot: lanes of a warp go on while others wait for memory. A warp has one
 * instruction in flight (sm_pipeline). The mechanism's runs end behind every ld and st of other than shared and constant
 * memory. */
struct divergence_slipping {
    /* Of every ld and st issued the mechanism hears once: when all accesses of a load or store of global or local memory have
     * been looked up, which lanes hit the L1 and which wait for data; of others at once, with no lanes. It answers with the lanes
     * that wait by themselves: all that wait, or none, and then the warp waits for all. */
    uint32_t (*looked_up)(void *self, unsigned warp, uint32_t pc, uint32_t hits, uint32_t misses);
    /* The data of lanes that wait by themselves have come. */
    uint64_t (*arrived)(void *self, unsigned warp, uint32_t lanes);
};

/* Paths that loads divide: lanes whose data are there go on while others of their path wait. */
enum divergence_division {
    DIVIDES_NEVER,       /* `divide` is not called */
    DIVIDES_AT_LOOK_UP,  /* when all accesses of a load of global or local memory have been looked up */
    DIVIDES_WHEN_STALLED /* then, and again with more lanes in a cycle in which nothing of the SM can issue */
};
struct divergence_dividing {
    /* With these values of its keys. */
    enum divergence_division (*when)(const void *params);
    /* Of the lanes of a load of the warp, `here` have hit, have no access or have got their data since; `misses` wait for theirs;
     * neither is none. `stalled`: no slot but the load's own could issue. Each path that has lanes of both may be divided. It
     * answers with the paths to be looked at again, bit k for path k; 0: none was divided, and the load is written back as a whole. */
    uint64_t (*divide)(void *self, unsigned warp, uint32_t here, uint32_t misses, bool stalled);
};

/* Paths that take turns: one of a warp is active, and only it fetches and issues. It gives way to another when it is gone, or while it
 * waits for data that the L1 had not and nothing of its scheduler can issue. */
enum divergence_stalled { STALLED_ANY, STALLED_HALF, STALLED_ALL };
struct divergence_turns {
    enum divergence_stalled stalled; /* how many of the scheduler's warps must so wait */
    bool yields;                     /* when its load is known to miss, and not when it needs the data */
    bool refetches; /* the warp has one instruction buffer, which is filled anew for who becomes active */
};
struct divergence_turning {
    /* With these values of its keys. */
    struct divergence_turns (*turns)(const void *params);
    /* A path of the warp has given way while it waited; path `to` is active. */
    void (*gave_way)(void *self, unsigned warp, unsigned to);
};

/* A second instruction in a scheduler's turn, or more, on lanes whose units those before leave free: of another path of the warp, or of another warp of
 * the scheduler. It is in its instruction buffer and waits for nothing, as any that issues; all read their registers at once, and where they need units of one kind
 * they share them. One of them accesses memory, unless `together`, and those behind the first wait for no other lanes. */
struct divergence_seconds {
    bool paths, warps; /* where both: paths first */
    unsigned
        ways; /* warps: a second is sought among so many warps of the scheduler, the first's own with them; 0: among all */
    unsigned most; /* instructions of a turn; 0: two */
    bool
        together; /* accesses of a turn to global and local memory, and to shared memory, are served as one: a line, and a word of a bank, once for all */
};
struct divergence_beside {
    /* With these values of its keys. Neither: one instruction a turn. */
    struct divergence_seconds (*seconds)(const void *params);
    /* The units that lanes of the warp run on, a bit each; two instructions run beside each other that have none in common. NULL: lane i has unit i. */
    uint32_t (*units)(const void *self, unsigned warp, uint32_t lanes);
    /* A second one has issued from the slot: of another warp than the first? */
    void (*issued)(void *self, unsigned slot, bool of_other_warp);
    /* Which of the ready slots, whose path is at pc by now, goes when so many have gone in this turn: the highest, 0: not now. Of equals sm.scheduler chooses the first
     * of a turn; the others as in the turn before, then the oldest. NULL: sm.scheduler chooses the first, whatever the path. */
    unsigned (*rank)(const void *self, unsigned slot, uint32_t pc, unsigned number);
};

/* Several paths of a warp in flight at once, in time, where the pipeline has a scoreboard. A warp w has shape->paths issue slots: slot
 * k * shape->warps + w is that of its path k, and `offer` and `issued` are asked with it. The paths keep lanes and registers of
 * their warp; their lanes are disjoint, and an instruction waits for registers of its own lanes alone. start, issued and go_on answer
 * with the warp's paths to be looked at again, bit k for path k. In the functional run, and where a warp has one slot, that slot
 * offers one path after another. Such a mechanism has `waiting` too: a path at a barrier offers nothing. */
struct divergence_paths {
    /* Issue slots of a warp, with these values of its keys: from 1 to LANES_MAX. */
    unsigned (*most)(const void *params);
    bool fewer; /* an SM that has not so many gives it what it has; else that is refused */
    /* The path in the slot has gone on to pc within its straight run: told before the mechanism hears of another path of the warp. */
    void (*moved)(void *self, unsigned slot, uint32_t pc);
    /* Which of the ready paths of the warp, bit k for path k and never none, issues when the scheduler has chosen the warp; NULL: the
     * one that issued last while it can, else the next. `moved` has been told of all of them where there are several. */
    unsigned (*pick)(void *self, unsigned warp, uint32_t ready);
    /* NULL: loads do not divide paths. */
    const struct divergence_dividing *dividing;
    /* NULL: every path that is ready may issue. `pick` then also says, of the paths that a warp has, which is active next. */
    const struct divergence_turning *turning;
    /* NULL: a scheduler's turn is one instruction. It excludes `turning`. */
    const struct divergence_beside *beside;
};

/* Groups that form anew: a group dissolves when it issues; its threads come back by `returned`, one by one where their data do,
 * and what they form then stands in any slot. With a scoreboard by thread (shape->apart) they come back when nothing that their next
 * instruction needs is in flight, whatever else is. All threads of a group are of one block. */
struct divergence_forming {
    /* The instruction of these threads (of each lane, as in struct group) is written back, or need not be for what they do next, or
     * their barrier has opened, and then they are in the lanes of one warp. */
    uint64_t (*returned)(void *self, const uint16_t *threads, uint32_t lanes);
    /* What follows may be left out. */
    /* Another group of the bundle that the last offer began, on lanes that are still free; false: no more. What was offered and
     * not issued stays. NULL: a bundle is one group. */
    bool (*more)(void *self, unsigned slot, struct group *out);
    /* A slot that offers nothing now keeps its threads, which are still in the pipeline or wait for others: where it goes on when
     * they come back, so that it is fetched for meanwhile; NO_PC: nowhere yet. Sets *memory when it waits for memory. Threads at a
     * barrier come back when it is open and their instruction is written back. NULL: slots that offer nothing are empty, every
     * issue is fetched for anew, and threads come back when it opens. */
    uint32_t (*ahead)(const void *self, unsigned slot, bool *memory);
    /* The cycle that the mechanism wrote to shape->wake has come, before anything of it; NULL: it never writes one. */
    uint64_t (*advance)(void *self);
    /* Times that the group in slot takes to issue, its threads reading their registers in turns; NULL: 1. */
    unsigned (*turns)(const void *self, unsigned slot);
    /* The slot of `ready`, never 0, that issues next, ISSUE_SLOTS_MAX: none now; NULL: sm.scheduler decides. */
    unsigned (*pick)(void *self, uint64_t ready);
    /* Issue slots that it needs, where that grows with the number of warps; an SM that would need more than ISSUE_SLOTS_MAX is
     * refused. NULL: any number will do, and what finds none waits for one. */
    unsigned (*slots)(const struct divergence_shape *shape);
    /* Threads that it keeps in one warp, where those are not the machine's; NULL: sm.warp_size. */
    unsigned (*warp_threads)(const void *params);
    /* Why it can say nothing without time, with these values of its keys; answers NULL where what issues together depends on what
     * threads do and not on when: in the functional run they come back at once. NULL function: it groups threads by when they come
     * back. */
    const char *(*needs_time)(const void *params);
    /* Where the pipeline has a scoreboard: why a thread has one instruction in flight all the same, with these values of its keys;
     * answers NULL, and NULL function: it has several, and comes back when the registers are there that its next one needs. */
    const char *(*one_in_flight)(const void *params);
    /* A slot holds threads at different PCs: they have an instruction supply each, and fetch is not modelled. */
    bool fetches_alone;
    /* The threads of a load come back together, unless divergence.load_return says otherwise. */
    bool returns_together;
    /* Every thread issues each of its instructions itself: no group stands for others, nobody is passed over. Threads that have come back
     * need nothing that is in flight then, and the scoreboard by thread does not ask again before their group issues. */
    bool issues_each;
};

/* ---- the core, which every mechanism has ---- */

struct divergence_ops {
    const char *name, *help;
    void *(*create)(struct arena *arena, const struct divergence_shape *shape);
    /* Threads `lanes` of warp start at pc; the warp was empty. */
    uint64_t (*start)(void *self, unsigned warp, uint32_t pc, uint32_t lanes);
    /* What the slot could issue now; false: nothing. It issues what it offered last, unless it has bundles (`more`). Barrier
     * waits are the caller's business. */
    bool (*offer)(void *self, unsigned slot, struct group *out);
    /* A group offered by slot was issued, with this outcome. Where warps keep their slot straight runs are told once:
     * while the outcome is FLOW_NEXT and pc + 1 is not the group's stop_pc, the caller may go on with the same lanes at
     * pc + 1, and tells the outcome that ends the run, whose pc counts; how much of the run executed->issues counts is
     * the caller's affair. Until then offer, alive and where speak of the run's start. */
    uint64_t (*issued)(void *self, unsigned slot, const struct group *group, const struct executed *executed);
    /* Lanes of warp that have not ended. */
    uint32_t (*alive)(const void *self, unsigned warp);
    /* Where each thread of the warp stands, for reports: next PC of each lane alive. */
    void (*where)(const void *self, unsigned warp, uint32_t pcs[LANES_MAX]);
    /* What it can beyond the core; NULL: it cannot. `forming` excludes the others, `paths` excludes `slipping` and asks for `waiting`. */
    const struct divergence_waiting *waiting;
    const struct divergence_slipping *slipping;
    const struct divergence_paths *paths;
    const struct divergence_forming *forming;
    /* What it holds for the warp, what runs next first: at most `most` rows, good until it is told anything; how many.
     * NULL: nothing beyond `where`. */
    unsigned (*show)(const void *self, unsigned warp, struct group_row *rows, unsigned most);
    /* STATUS_INVALID with what of its own keys the module has not, before a launch; NULL: they name nothing in it. */
    enum status (*check)(const void *params, const struct module *module, struct report *report);
    struct own own;
};

/* Why it can say nothing without time; NULL: it can. */
static inline const char *divergence_needs_time(const struct divergence_ops *mechanism, const void *params) {
    if (!mechanism->forming)
        return NULL;
    return mechanism->forming->needs_time ? mechanism->forming->needs_time(params)
                                          : "it groups threads by when they come back from the pipeline";
}

/* Does it access memory beyond the SM, as far as its text tells? */
static inline bool divergence_is_global(const struct inst *inst) {
    return (inst->op == OP_LD || inst->op == OP_ST || inst->op == OP_ATOM || inst->op == OP_RED ||
            inst->op == OP_LD_SNOOP || inst->op == OP_ST_SNOOP || inst->op == OP_CP_ASYNC || inst_moves_tile(inst) ||
            inst_accesses_image(inst)) &&
           (inst->space == SPACE_GLOBAL || inst->space == SPACE_LOCAL || inst->space == SPACE_GENERIC);
}
/* And do threads wait for what comes back? */
static inline bool divergence_waits_for_memory(const struct inst *inst) {
    return divergence_is_global(inst) && inst->op != OP_ST && inst->op != OP_TILE_STORE && inst->op != OP_LD_SNOOP &&
           inst->op != OP_ST_SNOOP && inst->op != OP_SUST && inst->op != OP_SURED && inst->op != OP_SUST_TEXEL &&
           inst->op != OP_CP_ASYNC;
}

/* Groups that form anew, without a scoreboard: do threads of one issue all come back at once? Else some as their data come, or as others do that they wait
 * for. */
static inline bool divergence_returns_whole(const struct inst *inst) {
    return inst->op != OP_LD && inst->op != OP_ST && inst->op != OP_ATOM && inst->op != OP_RED && inst->op != OP_BAR &&
           inst->op != OP_LD_SNOOP && inst->op != OP_ST_SNOOP && inst->op != OP_CP_ASYNC && inst->op != OP_MBARRIER &&
           !inst_accesses_image(inst) && !inst_is_of_warps(inst);
}

/* The mechanism of that exact name, or NULL. */
const struct divergence_ops *divergence_find(const char *name);
/* All of them from 0 on, in the order of divergence/mechanisms.def, then those of plug-ins; NULL: there are not so many. */
const struct divergence_ops *divergence_at(unsigned number);
/* STATUS_INVALID with what contradicts itself in the mechanism's own keys, and with every instruction of the module that
 * it cannot bring threads together for. */
enum status divergence_check(const struct divergence_ops *mechanism, const struct module *module, const void *params,
                             struct report *report);

/* ---- the stack of `pdom`, for mechanisms that build on it ---- */

/* Threads of a warp that go on apart have a stack each. Stacks are numbered as the caller likes; start, offer, issued,
 * alive, where and show are those of divergence_pdom. */
extern const struct divergence_ops divergence_pdom;

/* Empty stacks, which take memory when they are first used. */
void *pdom_create_stacks(struct arena *arena, const struct divergence_shape *shape, unsigned stacks);
/* Entries; 0: it is free. */
unsigned pdom_depth(const void *self, unsigned stack);
/* These lanes of the top go on with a stack of their own, which was free; they keep their meetings, and those that stay
 * wait for them at none. */
void pdom_split(void *self, unsigned from, unsigned to, uint32_t lanes);
/* All lanes of `from` go on with the top of `into`, and meet whom it meets; false, and nothing changed: they do not stand at
 * the same place, will return to different meetings, or not all stand there. */
bool pdom_join(void *self, unsigned into, unsigned from);

#endif
