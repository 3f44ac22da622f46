/* SPDX-License-Identifier: Apache-2.0 */
/* Groups that form anew: what their front end (regroup.c) and the scoreboard by thread (thread_board.c) share. Without sets of
 * slots, so that both copies of the stages (slot_set.h) share it. */
#ifndef HEDDLE_SM_REGROUP_H
#define HEDDLE_SM_REGROUP_H

#include "sm/lanes_pending.h"
#include "sm/state.h"

/* Registers that wait for a write, by thread, and threads that wait for registers: such a thread has not come back to the
 * mechanism. */
struct thread_board {
    uint32_t registers;
    uint64_t *words;              /* [warp][word]: registers that some lane waits for */
    struct lanes_pending *lanes;  /* [warp][register] */
    uint32_t *tracked;            /* of each flight: lanes whose registers wait for it */
    uint32_t *next;               /* of each thread: where it goes on */
    uint8_t *from;                /* and the slot that it was issued from */
    uint16_t *memory, *atomics;   /* of each thread: its instructions of the memory unit in flight; its atomics */
    uint32_t *away, *away_memory; /* of each warp: lanes that wait for registers; of them, for memory */
    uint32_t at_memory[ISSUE_SLOTS_MAX]; /* of each slot: threads issued from it that do */
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
/* The flight's instruction, of these lanes of its threads, is on its way; where each of them goes on. */
SM_STAGE void sm_board_issued(struct sm *sm, uint32_t flight, uint32_t lanes, const struct executed *executed,
                              const struct access *access);
/* What it writes is there. False: it is kept until its predicates guard. */
SM_STAGE bool sm_board_written(struct sm *sm, uint32_t flight);
/* Of these threads those whose next instruction needs nothing that is not there; the others are away from now on. */
SM_STAGE uint32_t sm_board_ready(struct sm *sm, const uint16_t *threads, uint32_t lanes);
/* The same of those among them that are away. */
SM_STAGE uint32_t sm_board_freed(struct sm *sm, const uint16_t *threads, uint32_t lanes);
/* What a group waits for; WAIT_TURN: nothing. */
SM_STAGE enum sm_wait sm_board_wait(const struct sm *sm, const struct group *group);
/* The same of the group in a slot, which is looked at again when registers have come. */
SM_STAGE enum sm_wait sm_board_look(struct sm *sm, unsigned slot, const struct group *group);

#endif
