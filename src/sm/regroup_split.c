/* SPDX-License-Identifier: Apache-2.0 */
/* Groups that form anew: lanes of a load that come back with their own data have a flight of their own. */
#include <string.h>

#include "sm/regroup.h"

uint32_t sm_regroup_split(struct sm *sm, uint32_t number, uint32_t lanes) {
    struct flight *whole = &sm->flights[number];
    struct thread_board *board = sm->regroup->board;
    const uint32_t tracked = board ? board->tracked[number] : 0;
    const uint32_t part = lanes & (whole->lanes | tracked) ? sm_take_flight(sm) : NO_FLIGHT;
    if (part == NO_FLIGHT) /* they come back with the others */
        return number;
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
    return part;
}

void sm_regroup_rejoin(struct sm *sm, uint32_t number, uint32_t part) {
    if (part == number)
        return;
    sm->flights[number].lanes |= sm->flights[part].lanes;
    if (sm->regroup->board)
        sm->regroup->board->tracked[number] |= sm->regroup->board->tracked[part], sm->regroup->board->tracked[part] = 0;
    sm->places[sm->flights[number].place].in_flight--;
    sm_free_flight(sm, part);
}
