/* SPDX-License-Identifier: Apache-2.0 */
#include "base/keep.h"

#include <stdlib.h>
#include <string.h>

enum { NUMBER_BYTES = 10, FIRST_BYTES = 4096 };

void keep_to_write(struct keep *keep) { *keep = (struct keep){.writes = true, .good = true}; }

void keep_to_read(struct keep *keep, const void *data, size_t bytes) {
    *keep = (struct keep){.good = true, .data = data, .end = bytes};
}

void keep_free(struct keep *keep) {
    free(keep->items);
    keep->items = NULL, keep->count = keep->capacity = 0;
}

void keep_refuse_named(struct keep *keep, const char *part, const char *name) {
    keep->good = false;
    if (keep->lacks)
        return;
    keep->lacks = part, keep->name = name;
}

/* Room for so many more; false: the host has no memory. */
static bool make_room(struct keep *keep, size_t bytes) {
    if (keep->capacity - keep->count >= bytes)
        return keep->good;
    size_t capacity = keep->capacity ? keep->capacity : FIRST_BYTES;
    while (capacity - keep->count < bytes)
        capacity *= 2;
    uint8_t *items = realloc(keep->items, capacity);
    if (!items) {
        keep_refuse(keep, "the host is out of memory");
        return false;
    }
    keep->items = items, keep->capacity = capacity;
    return keep->good;
}

/* Seven bits in each byte, the lowest first. */
static void put(struct keep *keep, uint64_t value) {
    if (!make_room(keep, NUMBER_BYTES))
        return;
    for (; value > 0x7f; value >>= 7)
        keep->items[keep->count++] = (uint8_t)(value | 0x80);
    keep->items[keep->count++] = (uint8_t)value;
}

static uint64_t take(struct keep *keep) {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && keep->good && keep->at < keep->end; shift += 7) {
        const uint8_t byte = keep->data[keep->at++];
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return value;
    }
    keep->good = false;
    return 0;
}

void keep_u64(struct keep *keep, uint64_t *value, uint64_t most) {
    if (keep->writes) {
        put(keep, *value);
        return;
    }
    *value = take(keep);
    keep->good &= *value <= most;
    *value = keep->good ? *value : 0;
}

void keep_u32(struct keep *keep, uint32_t *value, uint32_t most) {
    uint64_t wide = *value;
    keep_u64(keep, &wide, most);
    *value = (uint32_t)wide;
}

void keep_u16(struct keep *keep, uint16_t *value, uint16_t most) {
    uint64_t wide = *value;
    keep_u64(keep, &wide, most);
    *value = (uint16_t)wide;
}

void keep_u8(struct keep *keep, uint8_t *value, uint8_t most) {
    uint64_t wide = *value;
    keep_u64(keep, &wide, most);
    *value = (uint8_t)wide;
}

void keep_bool(struct keep *keep, bool *value) {
    uint64_t wide = *value;
    keep_u64(keep, &wide, 1);
    *value = wide != 0;
}

void keep_counts(struct keep *keep, void *counts, size_t bytes) {
    for (size_t at = 0; at + sizeof(uint64_t) <= bytes; at += sizeof(uint64_t)) {
        uint64_t value;
        memcpy(&value, (uint8_t *)counts + at, sizeof value);
        keep_u64(keep, &value, UINT64_MAX);
        memcpy((uint8_t *)counts + at, &value, sizeof value);
    }
}

void keep_cycle(struct keep *keep, uint64_t *value, uint64_t now) {
    uint64_t shifted = *value + 1; /* never is 0 */
    keep_u64(keep, &shifted, now + (UINT64_C(1) << 40));
    *value = shifted - 1;
}

void keep_bytes(struct keep *keep, void *data, size_t bytes) {
    if (keep->writes) {
        if (bytes && make_room(keep, bytes)) {
            memcpy(keep->items + keep->count, data, bytes);
            keep->count += bytes;
        }
        return;
    }
    keep->good &= bytes <= keep->end - keep->at;
    if (keep->good && bytes)
        memcpy(data, keep->data + keep->at, bytes);
    else if (bytes)
        memset(data, 0, bytes);
    keep->at += keep->good ? bytes : 0;
}
