/* SPDX-License-Identifier: Apache-2.0 */
/* Groups that form anew: lanes of a load that come back with their own data have a flight of their own. */
#include <string.h>

#include "sm/regroup.h"

uint32_t sm_regroup_waiter(const struct sm *sm, uint32_t number, uint32_t lanes) {
    const struct thread_board *board = sm->regroup->board;
    const uint32_t out = sm->flights[number].lanes | (board ? board->tracked[number] : 0);
    return lanes & out && sm->free_flight != NO_FLIGHT ? sm->free_flight
                                                       : number; /* else they come back with the others */
}

void sm_regroup_split(struct sm *sm, uint32_t number, uint32_t lanes) {
    struct flight *whole = &sm->flights[number];
    struct thread_board *board = sm->regroup->board;
    const uint32_t tracked = board ? board->tracked[number] : 0, part = sm_take_flight(sm);
    if (board) {
        sm_board_split(sm, number, part);
        board->tracked[part] = tracked & lanes, board->tracked[number] = tracked & ~lanes;
    }
    sm->flights[part] = *whole;
    sm->flights[part].lanes = lanes & whole->lanes;
    sm->flights[part].sent = true;
    sm->flights[part].outstanding = 0;
    sm->flights[part].is_load = false; /* a load has one latency, that of its last lanes */
    whole->lanes &= ~lanes;
    sm->places[whole->place].in_flight++;
    memcpy(sm->regroup->threads[part], sm->regroup->threads[number], sizeof sm->regroup->threads[part]);
}
