/* SPDX-License-Identifier: Apache-2.0 */
/* A link between two parts: items one way, credits the other, both `latency_cycles` on the way.
 *
 * The receiver has room for `capacity_units`; an item takes as many units as the sender says (1, or its flits). Room
 * used by an item comes back to the sender `latency_cycles` after the receiver took the item out: the sender knows no
 * more of the receiver than the credits that have arrived.
 *
 * Within an epoch of at most `latency_cycles` each side runs on its own, in either order or on two host threads without
 * a lock: the sender touches only its half, the receiver its own, and of the ring only slots that the other half cannot
 * name yet. link_exchange, between epochs, tells each half how far the other has come. What is sent or taken in an
 * epoch is felt `latency_cycles` later, so never before the epoch's end: its length changes nothing.
 *
 * Cycles never go back. Each side counts in a clock of its own; the latency is in that of the machine. Where the three
 * are one, link_exchange is enough; else link_exchange_clocks translates what it tells. */
#ifndef HEDDLE_MEM_LINK_H
#define HEDDLE_MEM_LINK_H

#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/status.h"
#include "mem/clock.h"
#include "mem/request.h"

struct link_params {
    uint32_t latency_cycles; /* at least 1; an epoch is no longer than this */
    uint32_t capacity_units; /* the receiver's room; at least 1 */
    uint32_t item_bytes;     /* what is copied for an item, not what it counts for */
};

struct link_counts {
    uint64_t items, units, bytes;
};

/* One item on its way or in the receiver's room; its data follow. */
struct link_slot {
    uint64_t arrival_cycle; /* at the receiver, in its clock; before the exchange in the sender's */
    uint64_t
        credit_cycle; /* at the sender, written when the item is taken; before the exchange in the receiver's clock */
    uint32_t units, bytes;
    alignas(8) unsigned char item[];
};

/* Slots are numbered from 0 without end; slot n lies at n modulo the ring's size. The sender has a credit for every
 * unit it sends and an item takes at least one, so slots not credited back always fit into the ring. */
struct link {
    /* never changes; read by both */
    struct link_params params;
    unsigned char *ring;
    uint64_t slot_bytes, slot_mask;
    /* the sender's half */
    alignas(64) uint64_t sent_slots; /* the next slot to fill */
    uint64_t credited_slots;         /* the next slot whose credit has not arrived */
    uint64_t taken_known;            /* slots the receiver had taken at the last exchange */
    uint32_t credits;                /* units; at most the capacity */
    struct link_counts sent;
    uint64_t seen_slots; /* of those filled, as many have been looked at by link_unseen */
    /* the receiver's half */
    alignas(64) uint64_t taken_slots; /* the next slot to take */
    uint64_t sent_known;              /* slots filled at the last exchange */
    uint64_t arrival_next;            /* of the next slot to take; NO_CYCLE when it is not known to be filled */
    struct link_counts received;
};

/* Refuses a latency or capacity of 0, and a ring the host could not hold. */
enum status link_create(struct link **out, struct arena *arena, const struct link_params *params,
                        struct report *report);

/* As created: nothing on its way, no cycle passed. */
void link_reset(struct link *link);

static inline struct link_slot *link_slot(const struct link *link, uint64_t number) {
    return (struct link_slot *)(void *)(link->ring + (number & link->slot_mask) * link->slot_bytes);
}

/* Sender: units it may send at `cycle`. */
static inline uint32_t link_room(struct link *link, uint64_t cycle) {
    while (link->credited_slots != link->taken_known) {
        const struct link_slot *slot = link_slot(link, link->credited_slots);
        if (slot->credit_cycle > cycle)
            break;
        link->credits += slot->units;
        link->credited_slots++;
    }
    return link->credits;
}

/* Sender: whether it may send a unit at `cycle`. */
static inline bool link_open(struct link *link, uint64_t cycle) { return link->credits || link_room(link, cycle); }

/* Sender: the cycle at which its room will next grow, as far as it can know before the next exchange. */
static inline uint64_t link_credit_next(const struct link *link) {
    return link->credited_slots == link->taken_known ? NO_CYCLE : link_slot(link, link->credited_slots)->credit_cycle;
}

static inline void link_count(struct link_counts *counts, uint32_t units, uint32_t bytes) {
    counts->items++;
    counts->units += units;
    counts->bytes += bytes;
}

/* Copies a message. For those of the usual size a call would cost more than the copy. */
enum { LINK_USUAL_BYTES = 40 };
static inline void link_copy(void *to, const void *from, uint32_t bytes) {
    __asm__("" : "+r"(from)); /* a link of smaller items never has this size, but gcc warns of reading beyond them */
    if (bytes == LINK_USUAL_BYTES)
        memcpy(to, from, LINK_USUAL_BYTES);
    else
        memcpy(to, from, bytes);
}

/* Sender: sends an item that it writes where the answer says, before the next exchange; the link must have room for its
 * units (at least 1). What is made there, and not copied there, the host need not wait for to be stored. `bytes` is what
 * the item counts for. */
static inline void *link_put(struct link *link, uint64_t cycle, uint32_t units, uint32_t bytes) {
    link->credits -= units;
    struct link_slot *slot = link_slot(link, link->sent_slots++);
    slot->arrival_cycle = cycle + link->params.latency_cycles;
    slot->units = units;
    slot->bytes = bytes;
    link_count(&link->sent, units, bytes);
    return slot->item;
}

/* Sender: it has sent what link_unseen has not told. */
static inline bool link_has_unseen(const struct link *link) { return link->seen_slots != link->sent_slots; }

/* Sender, before the next exchange: an item sent since this was last asked that it may still write to; NULL: no more. */
static inline void *link_unseen(struct link *link) {
    return link->seen_slots == link->sent_slots ? NULL : link_slot(link, link->seen_slots++)->item;
}

/* Sender: copies the item. False, and nothing is sent, when its units (at least 1) exceed the room: the sender must have
 * asked. */
static inline bool link_send(struct link *link, uint64_t cycle, const void *item, uint32_t units, uint32_t bytes) {
    if (units == 0 || (units > link->credits && units > link_room(link, cycle)))
        return false;
    link_copy(link_put(link, cycle, units, bytes), item, link->params.item_bytes);
    return true;
}

/* Receiver: when the oldest item not taken arrives, or arrived; NO_CYCLE when none can before the next exchange. */
static inline uint64_t link_next(const struct link *link) { return link->arrival_next; }

/* Receiver: the oldest item if it has arrived by `cycle` (below NO_CYCLE), else NULL. Good until it is taken. */
static inline const void *link_arrived(const struct link *link, uint64_t cycle) {
    return link_next(link) <= cycle ? link_slot(link, link->taken_slots)->item : NULL;
}

/* Receiver: the item so many behind the next to be taken, arrived or on its way; NULL when it is not known to be sent. */
static inline const void *link_behind(const struct link *link, uint64_t count) {
    return link->sent_known - link->taken_slots > count ? link_slot(link, link->taken_slots + count)->item : NULL;
}

/* Receiver: takes the item that link_arrived shows and sends its credit. False when there is none. */
static inline bool link_pop(struct link *link, uint64_t cycle) {
    if (link->arrival_next > cycle)
        return false;
    struct link_slot *slot = link_slot(link, link->taken_slots++);
    slot->credit_cycle = cycle + link->params.latency_cycles;
    link_count(&link->received, slot->units, slot->bytes);
    link->arrival_next =
        link->taken_slots == link->sent_known ? NO_CYCLE : link_slot(link, link->taken_slots)->arrival_cycle;
    return true;
}

/* Between epochs, when neither side runs. Whether the receiver hears of new items. */
static inline bool link_exchange(struct link *link) {
    link->taken_known = link->taken_slots;
    if (link->sent_known == link->sent_slots)
        return false;
    if (link->arrival_next == NO_CYCLE)
        link->arrival_next = link_slot(link, link->taken_slots)->arrival_cycle;
    link->sent_known = link->sent_slots;
    return true;
}
/* The same where the sides have clocks of their own: what was sent or taken at a tick is felt at the first tick of the
 * other side that begins `latency_cycles` or more after the cycle in which that tick began. */
bool link_exchange_clocks(struct link *link, const struct clock_ratio *sender, const struct clock_ratio *receiver);
/* Between epochs: items sent and not taken; 0 everywhere, with nothing waiting to be sent: the link is idle. */
struct link_counts link_in_flight(const struct link *link);
/* Between epochs: whether what was sent is what was received and what is on its way, and credits and the room in use
 * make up the capacity. Counts every slot: for checks, not for the cycle loop. */
bool link_conserves(const struct link *link);

#endif
