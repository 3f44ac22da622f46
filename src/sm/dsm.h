/* SPDX-License-Identifier: Apache-2.0 */
/* What an SM has for clusters of several blocks: links to and from the others, and the messages that it serves. */
#ifndef HEDDLE_SM_DSM_H
#define HEDDLE_SM_DSM_H

#include "sm/state.h"

enum { DSM_QUEUE = 64 };

struct sm_dsm {
    struct sm_dsm_parts parts;
    struct {
        uint64_t ready_cycle;
        struct packet packet;
    } queue[DSM_QUEUE]; /* of others, in order */
    unsigned head, count;
    struct sm_dsm_served *served; /* in this round: at most one a cycle */
    unsigned served_count;
    uint64_t *opens,
        *met; /* of each place: when barrier.cluster opens, NO_CYCLE: that is not known; when its threads had all arrived */
    uint64_t open_next;
    double port_free; /* when what has been sent is out */
    struct dsm_stats stats;
};

/* Sends a message with so many bytes of data, where the way out of the SM is free within the cycle; false: not yet. */
static inline bool sm_dsm_send(struct sm *sm, struct link *link, const struct packet *packet, uint32_t bytes) {
    struct sm_dsm *dsm = sm->dsm;
    const double now = (double)sm->now;
    if (dsm->port_free >= now + 1 || !link_send(link, sm->now, packet, 1, bytes))
        return false;
    dsm->port_free =
        (dsm->port_free > now ? dsm->port_free : now) + (bytes + dsm->parts.header_bytes) / dsm->parts.bytes_per_cycle;
    return true;
}
SM_STAGE void sm_dsm_create(struct sm *sm, const struct sm_dsm_parts *parts);
/* What came, and what leaves, in this cycle. */
SM_STAGE void sm_dsm_run(struct sm *sm);
/* A block of a cluster begins. */
SM_STAGE void sm_dsm_start(struct sm *sm, unsigned place);
/* A block's threads arrived somewhere, or ended: have all arrived at barrier.cluster? */
static inline void sm_dsm_note(struct sm *sm, unsigned number) {
    struct sm_place *place = &sm->places[number];
    if (!place->cluster)
        return;
    uint64_t *met = &place->cluster->met[place->rank], *gone = &place->cluster->gone[place->rank];
    const struct waiting_block *block = &place->waiting;
    if (block->at_cluster && block->at_cluster == block->alive && *met == NO_CYCLE &&
        sm->dsm->opens[number] == NO_CYCLE)
        *met = sm->dsm->met[number] = sm->now;
    if (!block->alive && *gone == NO_CYCLE)
        *gone = sm->now;
}
/* sm.c: the first cycle at which it has something to do for other blocks, or `next`. */
uint64_t sm_dsm_next(const struct sm *sm, uint64_t next);
/* The access at the head of the queue: a line of another block's shared memory a cycle. */
SM_STAGE void sm_dsm_request(struct sm *sm, struct queued *entry);
/* memory.c: a reply of another SM. */
SM_STAGE void sm_dsm_reply(struct sm *sm, const struct packet *packet);
/* wait.c: the threads of the block go on; the slots to be looked at again. */
SM_STAGE slot_set sm_open_block(struct sm *sm, unsigned place);

#endif
