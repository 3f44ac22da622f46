/* SPDX-License-Identifier: Apache-2.0 */
#include "mem/link.h"

#include "base/bits.h"

/* No host cache line is shared between slots: one may be written by the sender's thread and the next by the
 * receiver's. */
enum { HOST_LINE_BYTES = 64 };
static const uint64_t MAX_RING_BYTES = UINT64_C(1) << 40;

static uint64_t round_up_to_power_of_two(uint64_t n) {
    uint64_t power = 1;
    while (power < n)
        power *= 2;
    return power;
}

enum status link_create(struct link **out, struct arena *arena, const struct link_params *params,
                        struct report *report) {
    if (params->latency_cycles == 0)
        return report_add(report, STATUS_INVALID, "link: a latency of 0 cycles cannot be simulated; use at least 1");
    if (params->capacity_units == 0)
        return report_add(report, STATUS_INVALID, "link: a receiver without room never takes anything; use at least 1");
    uint64_t slots = round_up_to_power_of_two(params->capacity_units);
    uint64_t slot_bytes =
        bits_round_up(offsetof(struct link_slot, item) + (uint64_t)params->item_bytes, HOST_LINE_BYTES);
    if (slot_bytes > MAX_RING_BYTES / slots)
        return report_add(report, STATUS_INVALID, "link: %u units of %u bytes each are too many; lower the capacity",
                          params->capacity_units, params->item_bytes);
    struct link *link = arena_alloc_aligned(arena, sizeof *link, HOST_LINE_BYTES);
    link->params = *params;
    link->slot_bytes = slot_bytes;
    link->slot_mask = slots - 1;
    link->ring = arena_alloc_aligned(arena, (size_t)(slots * slot_bytes), HOST_LINE_BYTES);
    link_reset(link);
    *out = link;
    return STATUS_OK;
}

void link_reset(struct link *link) {
    link->sent_slots = link->credited_slots = link->taken_known = link->taken_slots = link->sent_known = 0;
    link->seen_slots = 0;
    link->arrival_next = NO_CYCLE;
    link->credits = link->params.capacity_units;
    link->sent = link->received = (struct link_counts){0};
}

/* What left at this tick of one side, as a tick of the other. */
static uint64_t felt(const struct link *link, const struct clock_ratio *from, uint64_t tick,
                     const struct clock_ratio *to) {
    return clock_first_tick(to, clock_cycle(from, tick) + link->params.latency_cycles);
}

bool link_exchange_clocks(struct link *link, const struct clock_ratio *sender, const struct clock_ratio *receiver) {
    const uint32_t latency = link->params.latency_cycles; /* has been added, as if all clocks were one */
    for (uint64_t n = link->sent_known; n != link->sent_slots; n++) {
        struct link_slot *slot = link_slot(link, n);
        slot->arrival_cycle = felt(link, sender, slot->arrival_cycle - latency, receiver);
    }
    for (uint64_t n = link->taken_known; n != link->taken_slots; n++) {
        struct link_slot *slot = link_slot(link, n);
        slot->credit_cycle = felt(link, receiver, slot->credit_cycle - latency, sender);
    }
    return link_exchange(link);
}

struct link_counts link_in_flight(const struct link *link) {
    return (struct link_counts){.items = link->sent.items - link->received.items,
                                .units = link->sent.units - link->received.units,
                                .bytes = link->sent.bytes - link->received.bytes};
}

bool link_conserves(const struct link *link) {
    struct link_counts found = {0};
    uint64_t units_used = 0;
    for (uint64_t n = link->credited_slots; n != link->sent_slots; n++) {
        const struct link_slot *slot = link_slot(link, n);
        units_used += slot->units;
        if (n >= link->taken_slots)
            link_count(&found, slot->units, slot->bytes);
    }
    struct link_counts flight = link_in_flight(link);
    return found.items == flight.items && found.units == flight.units && found.bytes == flight.bytes &&
           link->credited_slots <= link->taken_slots && link->taken_slots <= link->sent_slots &&
           units_used + link->credits == link->params.capacity_units;
}
