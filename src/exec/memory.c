/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/memory.h"

#include <inttypes.h>
#include <string.h>

#include "base/bits.h"
#include "base/memory.h"

enum { ALIGNMENT = 256, RESERVE_LEAST_BYTES = 64 << 20 };

enum status memory_create(struct memory *memory, struct arena *arena, uint64_t capacity_bytes, uint64_t guard_bytes,
                          struct report *report) {
    /* Where the host allows less address space (valgrind, ulimit -v), the device has less: what fits still runs. */
    *memory = (struct memory){.arena = arena, .capacity_bytes = capacity_bytes, .guard_bytes = guard_bytes};
    while (!(memory->host = memory_reserve(memory->capacity_bytes)) && memory->capacity_bytes > RESERVE_LEAST_BYTES)
        memory->capacity_bytes /= 2;
    memory->is_cut = memory->capacity_bytes < capacity_bytes;
    if (!memory->host)
        return report_add(report, STATUS_SYSTEM,
                          "cannot reserve %" PRIu64
                          " bytes of address space for device memory; lower memory.capacity_bytes",
                          capacity_bytes);
    return STATUS_OK;
}

void memory_destroy(struct memory *memory) {
    if (memory->host)
        memory_release(memory->host, memory->capacity_bytes);
    memory->host = NULL;
}

static uint64_t room_of(const struct memory *memory, uint64_t bytes) {
    return bits_round_up((bytes ? bytes : 1) + memory->guard_bytes, ALIGNMENT);
}

/* Behind which allocations the lowest hole of so many bytes is, and where; allocations.count: there is none. */
static unsigned find_hole(const struct memory *memory, uint64_t bytes, uint64_t *address) {
    uint64_t end = GLOBAL_BASE;
    for (unsigned i = 0; i < memory->allocations.count; i++) {
        const struct allocation *allocation = &memory->allocations.items[i];
        *address = bits_round_up(end, ALIGNMENT);
        if (*address <= allocation->start && allocation->start - *address >= room_of(memory, bytes))
            return i;
        end = allocation->limit;
    }
    return memory->allocations.count;
}

static enum status take_hole(struct memory *memory, const char *name, uint64_t bytes, uint64_t address, unsigned index,
                             struct report *report) {
    if (bytes && !memory_commit(memory_host(memory, address), bytes))
        return report_add(report, STATUS_SYSTEM, "the host has no %" PRIu64 " bytes for '%s'", bytes, name);
    ARENA_PUSH(memory->arena, &memory->allocations);
    struct allocation *place = &memory->allocations.items[index];
    memmove(place + 1, place, (memory->allocations.count - 1 - index) * sizeof *place);
    *place = (struct allocation){.start = address,
                                 .end = address + bytes,
                                 .limit = address + room_of(memory, bytes),
                                 .name = arena_strdup(memory->arena, name)};
    memory->freed_bytes -= room_of(memory, bytes);
    return STATUS_OK;
}

void memory_free(struct memory *memory, uint64_t address) {
    unsigned index = 0;
    while (index < memory->allocations.count && memory->allocations.items[index].start != address)
        index++;
    if (index == memory->allocations.count || (memory->heap_bytes && address == memory->heap_start))
        return;
    struct allocation *allocation = &memory->allocations.items[index];
    const uint64_t bytes = allocation->end - allocation->start;
    const struct allocation gone = *allocation;
    memory_clear(memory_host(memory, address), bytes);
    memory->allocations.count--;
    memmove(allocation, allocation + 1, (memory->allocations.count - index) * sizeof *allocation);
    if (memory->listener) {
        *ARENA_PUSH(memory->arena, &memory->kept) = gone;
        memory->kept_bytes += gone.limit - gone.start;
        return;
    }
    memory->freed_bytes += gone.limit - gone.start;
    /* what is free at the end is room again */
    const struct allocation *last = index ? allocation - 1 : NULL;
    if (index < memory->allocations.count)
        return;
    const uint64_t used = last ? last->limit - GLOBAL_BASE : 0;
    memory->freed_bytes -= memory->used_bytes - used;
    memory->used_bytes = used;
}

/* Used are all bytes up to the highest limit; what no allocation has of them is free. */
static void count_used(struct memory *memory) {
    uint64_t taken = 0;
    for (unsigned i = 0; i < memory->allocations.count; i++)
        taken += memory->allocations.items[i].limit - memory->allocations.items[i].start;
    const unsigned count = memory->allocations.count;
    memory->used_bytes = count ? memory->allocations.items[count - 1].limit - GLOBAL_BASE : 0;
    memory->freed_bytes = memory->used_bytes - taken;
}

/* What was given back and kept is room again. */
static void give_up_kept(struct memory *memory) {
    memory->kept.count = 0;
    memory->kept_bytes = 0;
    count_used(memory);
}

enum status memory_allocate(struct memory *memory, const char *name, uint64_t bytes, uint64_t *address,
                            struct report *report) {
    if (memory->kept_bytes && bytes > memory->capacity_bytes - memory->used_bytes)
        give_up_kept(memory);
    if (memory->freed_bytes >= bytes && memory->freed_bytes) {
        const unsigned index = find_hole(memory, bytes, address);
        if (index < memory->allocations.count)
            return take_hole(memory, name, bytes, *address, index, report);
    }
    const uint64_t room = memory->capacity_bytes - memory->used_bytes;
    if (bytes > room || room == 0) {
        if (memory->is_cut)
            return report_add(report, STATUS_SYSTEM,
                              "'%s' needs %" PRIu64 " bytes, but only %" PRIu64
                              " are left of the address space this host gave for device memory",
                              name, bytes, room);
        return report_add(report, STATUS_INVALID,
                          "'%s' needs %" PRIu64 " bytes, but only %" PRIu64
                          " of the device's memory are left; raise memory.capacity_bytes",
                          name, bytes, room);
    }
    uint8_t *start = memory->host + memory->used_bytes;
    /* the end of memory is a guard of its own; all that is used can be read, guards too */
    const uint64_t taken = room_of(memory, bytes) < room ? room_of(memory, bytes) : room;
    if (!memory_commit(start, taken))
        return report_add(report, STATUS_SYSTEM, "the host has no %" PRIu64 " bytes for '%s'", bytes, name);
    *address = GLOBAL_BASE + memory->used_bytes;
    struct allocation *allocation = ARENA_PUSH(memory->arena, &memory->allocations);
    memory->used_bytes += taken;
    *allocation = (struct allocation){.start = *address,
                                      .end = *address + bytes,
                                      .limit = GLOBAL_BASE + memory->used_bytes,
                                      .name = arena_strdup(memory->arena, name)};
    return STATUS_OK;
}

/* Where it goes in the list; whether nothing is there already. */
static bool find_place(const struct memory *memory, uint64_t address, uint64_t end, unsigned *index) {
    const struct allocation *items = memory->allocations.items;
    *index = 0;
    while (*index < memory->allocations.count && items[*index].start < address)
        ++*index;
    return (!*index || items[*index - 1].end <= address) &&
           (*index == memory->allocations.count || items[*index].start >= end);
}

enum status memory_allocate_at(struct memory *memory, const char *name, uint64_t bytes, uint64_t address,
                               struct report *report) {
    const uint64_t most = memory->capacity_bytes, at = address - GLOBAL_BASE;
    unsigned index = 0;
    bytes = bytes ? bytes : 1;
    if (address < GLOBAL_BASE || at >= most || bytes > most - at)
        return report_add(report, STATUS_INVALID,
                          "%" PRIu64 " bytes at 0x%" PRIx64
                          " do not lie in the device's memory, which begins at 0x%" PRIx64 " and has %" PRIu64
                          " bytes (memory.capacity_bytes)",
                          bytes, address, GLOBAL_BASE, most);
    if (!find_place(memory, address, address + bytes, &index))
        return report_add(report, STATUS_INVALID,
                          "0x%" PRIx64 " to 0x%" PRIx64 " is taken: another allocation is there", address,
                          address + bytes - 1);
    const uint64_t end = bits_round_up(at + bytes + memory->guard_bytes, ALIGNMENT);
    uint64_t limit = GLOBAL_BASE + (end < most ? end : most);
    if (index < memory->allocations.count && memory->allocations.items[index].start < limit)
        limit = memory->allocations.items[index].start;
    const uint64_t used = GLOBAL_BASE + memory->used_bytes; /* all below is there already */
    if (limit > used && !memory_commit(memory_host(memory, used), limit - used))
        return report_add(report, STATUS_SYSTEM, "the host has no %" PRIu64 " bytes for '%s'", bytes, name);
    ARENA_PUSH(memory->arena, &memory->allocations);
    struct allocation *place = &memory->allocations.items[index];
    memmove(place + 1, place, (memory->allocations.count - 1 - index) * sizeof *place);
    *place = (struct allocation){
        .start = address, .end = address + bytes, .limit = limit, .name = arena_strdup(memory->arena, name)};
    if (index && place[-1].limit > address)
        place[-1].limit = address;
    count_used(memory);
    return STATUS_OK;
}

void memory_split(struct memory *memory, uint64_t address, const struct allocation *parts, unsigned count) {
    unsigned index = 0;
    while (memory->allocations.items[index].start != address)
        index++;
    const uint64_t limit = memory->allocations.items[index].limit;
    for (unsigned i = 1; i < count; i++)
        ARENA_PUSH(memory->arena, &memory->allocations);
    struct allocation *place = &memory->allocations.items[index];
    const unsigned behind = memory->allocations.count - index - count;
    memmove(place + count, place + 1, behind * sizeof *place);
    for (unsigned i = 0; i < count; i++) {
        place[i] = parts[i];
        place[i].limit = i + 1 < count ? parts[i + 1].start : limit;
        place[i].name = arena_strdup(memory->arena, parts[i].name);
    }
}

const struct allocation *memory_find(const struct memory *memory, uint64_t address) {
    unsigned low = 0, high = memory->allocations.count;
    while (low < high) {
        const unsigned middle = (low + high) / 2;
        const struct allocation *allocation = &memory->allocations.items[middle];
        if (address < allocation->start)
            high = middle;
        else if (address >= allocation->end)
            low = middle + 1;
        else
            return allocation;
    }
    return address - memory->shared.start < memory->shared.end - memory->shared.start ? &memory->shared : NULL;
}

const struct allocation *memory_find_kept(const struct memory *memory, uint64_t address) {
    for (unsigned i = memory->kept.count; i > 0; i--)
        if (address - memory->kept.items[i - 1].start < memory->kept.items[i - 1].end - memory->kept.items[i - 1].start)
            return &memory->kept.items[i - 1];
    return NULL;
}

const struct allocation *memory_nearest(const struct memory *memory, uint64_t address) {
    const struct allocation *best = NULL;
    uint64_t best_distance = UINT64_MAX;
    for (unsigned i = 0; i < memory->allocations.count; i++) {
        const struct allocation *allocation = &memory->allocations.items[i];
        const uint64_t distance = address < allocation->start  ? allocation->start - address
                                  : address >= allocation->end ? address - allocation->end
                                                               : 0;
        if (distance < best_distance)
            best = allocation, best_distance = distance;
    }
    return best;
}
