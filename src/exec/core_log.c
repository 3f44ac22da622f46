/* SPDX-License-Identifier: Apache-2.0 */
/* The stores of an epoch that memory has not seen: what lies over memory for the SM that made them, and how they come there. */
#include <string.h>

#include "exec/core.h"
#include "exec/scalar.h"

static const void *logged_bytes(const struct core *core, const struct logged *entry) {
    if (entry->bytes > sizeof entry->value)
        return core->log.rows[entry->value].bytes;
    return &entry->value;
}

/* What a reduction leaves of an element; its bytes need not be aligned on the host. */
static void reduce(const struct logged *entry, uint8_t *element) {
    uint64_t old = 0;
    memcpy(&old, element, entry->bytes);
    const uint64_t new =
        scalar_atomic((enum atom)entry->atom, (enum type)entry->type, entry->type == TYPE_F32, old, entry->value, 0);
    memcpy(element, &new, entry->bytes);
}

/* Reductions need all of their element: bytes are widened to whole ones, which are of at most 8 bytes. */
static void overlay_reductions(const struct core *core, uint64_t address, uint32_t bytes, uint8_t *value) {
    enum { MOST = 64, WORD = 8 };
    uint8_t wide[MOST + 2 * WORD];
    const uint64_t start = address & ~(uint64_t)(WORD - 1), end = (address + bytes + WORD - 1) & ~(uint64_t)(WORD - 1);
    memcpy(wide, memory_host(core->memory, start), end - start);
    for (uint32_t i = 0; i < core->log.count; i++) {
        const struct logged *entry = &core->log.items[i];
        const uint64_t from = entry->address > start ? entry->address : start;
        const uint64_t entry_end = entry->address + entry->bytes, to = entry_end < end ? entry_end : end;
        if (from >= to)
            continue;
        if (entry->atom != ATOM_NONE)
            reduce(entry, wide + (from - start));
        else
            memcpy(wide + (from - start), (const uint8_t *)logged_bytes(core, entry) + (from - entry->address),
                   to - from);
    }
    memcpy(value, wide + (address - start), bytes);
}

/* What this SM stored lies over what memory holds, oldest first. */
void core_overlay(const struct core *core, uint64_t address, uint32_t bytes, uint8_t *value) {
    if (core->log.reduces) {
        overlay_reductions(core, address, bytes, value);
        return;
    }
    for (uint32_t i = 0; i < core->log.count; i++) {
        const struct logged *entry = &core->log.items[i];
        const uint64_t from = entry->address > address ? entry->address : address;
        const uint64_t end = address + bytes, entry_end = entry->address + entry->bytes;
        const uint64_t to = entry_end < end ? entry_end : end;
        if (from < to)
            memcpy(value + (from - address), (const uint8_t *)logged_bytes(core, entry) + (from - entry->address),
                   to - from);
    }
}

void core_publish(void *self) {
    struct core *core = self;
    if (core->pieces.count)
        core_publish_far(core);
    for (uint32_t i = 0; i < core->log.count; i++) {
        const struct logged *entry = &core->log.items[i];
        uint8_t *to = memory_host(core->memory, entry->address);
        if (entry->atom != ATOM_NONE)
            reduce(entry, to);
        else if (entry->bytes == 4)
            memcpy(to, &entry->value, 4);
        else
            memcpy(to, logged_bytes(core, entry), entry->bytes);
    }
    core->log.count = core->log.row_count = 0, core->log.reduces = false;
    memset(core->filter, 0, sizeof core->filter);
}
