/* SPDX-License-Identifier: Apache-2.0 */
/* Groups that form anew: what their front end (regroup.c) and the scoreboard by thread (thread_board.c) share. Without sets of
 * slots, so that both copies of the stages (slot_set.h) share it. */
#ifndef HEDDLE_SM_REGROUP_H
#define HEDDLE_SM_REGROUP_H

#include "sm/lanes_pending.h"
#include "sm/state.h"

/* The threads of one warp in a group: lanes of that. */
struct board_part {
    uint32_t home, warp;
};

/* A group warp by warp, and where its threads go on. */
struct board_group {
    uint32_t next;          /* NO_PC: as thread_board.next says of each */
    uint32_t taken, target; /* taken: lanes that go on at the target */
    uint8_t from;           /* the slot that it was issued from */
    bool in_place;          /* every thread is in the lane that it has in its warp */
    uint32_t troop; /* that its threads were when it issued, as long as the generation is this; NO_TROOP: none */
    uint32_t generation;
    uint32_t count; /* parts; 0: it has not been divided */
    struct board_part parts[LANES_MAX];
};

/* Lanes of a warp that have not come back to the mechanism: what they issue next needs registers that wait for a write. By where they
 * go on and the slot that they were issued from. */
struct board_away {
    uint32_t lanes, count;
    struct board_waiting {
        uint32_t pc, from;
        struct lanes_pending wait;
    } items[LANES_MAX];
};

/* Threads that issue together, and have since the troop was formed: what they wait for is kept once for all. It dissolves when one of
 * them issues with others, or some go on and others not. */
#define NO_TROOP UINT32_MAX
enum { TROOPS_MAX = 128 };
struct board_troop {
    uint16_t threads[LANES_MAX];
    uint32_t lanes, generation, free; /* free: the next free one */
    struct sm_pending *pending;       /* by word */
    uint64_t words;                   /* in which some are, bit i for words i, i + 64 and so on */
    bool residual;                    /* some of its threads may wait for registers written before */
    bool away, at_memory;             /* it waits as one, before this PC; for memory */
    uint32_t pc;
    struct board_group group;
};

/* A number for each lane of a warp, by bits. */
enum { COUNT_BITS = 10 };
_Static_assert(FLIGHTS_MAX < 1 << COUNT_BITS, "a thread is in all flights at most");
struct lane_counts {
    uint32_t bits[COUNT_BITS];
};

/* Registers that wait for a write, by thread, and threads that wait for registers. */
struct thread_board {
    uint32_t registers;
    uint64_t *words;             /* [warp][word]: registers that some lane waits for */
    uint32_t *marked;            /* of each warp: words in which some are */
    struct lanes_pending *lanes; /* [warp][register] */
    uint32_t *tracked;           /* of each flight: lanes whose registers wait for it */
    struct board_group *groups;  /* of each flight: its threads */
    uint32_t *next;              /* of each thread whose group does not say it: where it goes on */
    uint8_t *from;               /* and the slot that it was issued from */
    bool fences;                 /* the module has some */
    struct lane_counts *memory;  /* of each warp, where it has: instructions of the memory unit in flight */
    struct lane_counts *atomics; /* of each warp: atomics in flight */
    uint32_t atomics_out;        /* of all threads */
    struct board_away *away;     /* of each warp */
    struct board_troop *troops;
    uint8_t *troop_of; /* of each thread: its troop plus 1; 0: none */
    uint32_t free_troop;
    uint32_t at_memory[ISSUE_SLOTS_MAX]; /* of each slot: threads issued from it that wait for memory */
    uint16_t *guards; /* [thread][number]: sm.late_guards: the flight that wrote it last plus 1; 0: none in flight */
    uint64_t changed; /* slots whose threads began or ended to wait for memory */
    uint64_t blocked; /* slots whose group waits for registers */
};

struct regroup {
    uint16_t (*threads)[LANES_MAX]; /* of each flight */
    uint32_t alive, at_memory;      /* threads */
    uint32_t issued_pc[SET_SLOTS];  /* of the last issue of each slot */
    uint32_t issue_cycles;          /* that the bundle being issued takes */
    struct thread_board *board;     /* NULL: a thread has one instruction in flight */
    /* Where slots keep their threads (`ahead`): */
    uint32_t *stays;          /* of each flight: lanes at a barrier, beyond its write-back if it opens later */
    uint16_t *barrier_flight; /* of each thread at a barrier: the flight that took it there plus 1; 0: written back */
    uint8_t *barrier_slot;    /* and the slot that it was issued from */
};

SM_STAGE struct thread_board *sm_board_create(struct sm *sm);
/* The flight's instruction, of these lanes of its threads, is on its way; where each of them goes on. True: they wait for it, and need
 * not come back ahead of it. */
SM_STAGE bool sm_board_issued(struct sm *sm, uint32_t flight, uint32_t lanes, const struct executed *executed,
                              const struct access *access);
/* What it writes is there: its threads that were away and need be no longer. over: false: it is kept until its predicates guard. */
SM_STAGE uint32_t sm_board_written(struct sm *sm, uint32_t flight, bool *over);
/* The flight has the threads of another. */
SM_STAGE void sm_board_copy(struct thread_board *board, uint32_t to, uint32_t from);
/* A part of the flight, which has its threads, is written back apart. */
SM_STAGE void sm_board_split(struct sm *sm, uint32_t flight, uint32_t part);
/* These threads, of which each knows where it goes on. */
SM_STAGE void sm_board_gather(struct board_group *group, const uint16_t *threads, uint32_t lanes);
/* Of these lanes of the group those whose next instruction needs nothing that is not there; the others are away from now on. */
SM_STAGE uint32_t sm_board_ready(struct sm *sm, struct board_group *group, const uint16_t *threads, uint32_t lanes);
/* What a group waits for; WAIT_TURN: nothing. */
SM_STAGE enum sm_wait sm_board_wait(struct sm *sm, const struct group *group);
/* The same of the group in a slot, which is looked at again when registers have come. */
SM_STAGE enum sm_wait sm_board_look(struct sm *sm, unsigned slot, const struct group *group);

#endif
