/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/info.h"

#include <string.h>

#include "isa/address.h"

/* Numbers that are not 0, each once: an open table, at most half full. */
struct number_set {
    uint64_t *items;
    uint64_t count, capacity;
};

static uint64_t *place_of(const struct number_set *set, uint64_t number) {
    uint64_t at = number * UINT64_C(0x9e3779b97f4a7c15) >> 20;
    while (set->items[at & (set->capacity - 1)] && set->items[at & (set->capacity - 1)] != number)
        at++;
    return &set->items[at & (set->capacity - 1)];
}

static void add(struct arena *arena, struct number_set *set, uint64_t number) {
    if (2 * set->count >= set->capacity) {
        const struct number_set old = *set;
        set->capacity = old.capacity ? 2 * old.capacity : 1024;
        set->items = ARENA_ARRAY(arena, uint64_t, set->capacity);
        for (uint64_t i = 0; i < old.capacity; i++)
            if (old.items[i])
                *place_of(set, old.items[i]) = old.items[i];
    }
    uint64_t *place = place_of(set, number);
    set->count += *place != number;
    *place = number;
}

static void note(struct arena *arena, const struct access *access, struct number_set *sectors, struct trace_info *out) {
    if (access->kind == ACCESS_NONE)
        return;
    out->accesses++, out->shared += access->space == SPACE_SHARED, out->local += access->space == SPACE_LOCAL;
    if (access->space != SPACE_GLOBAL)
        return;
    for (BITS_EACH(lane, access->lanes | access->missed)) {
        const uint64_t first = access->address[lane] >> SECTOR_SHIFT;
        const uint64_t last = (access->address[lane] + (access->bytes ? access->bytes - 1 : 0)) >> SECTOR_SHIFT;
        for (uint64_t sector = first; sector <= last; sector++)
            add(arena, sectors, sector + 1);
    }
}

enum status trace_info_next(struct trace_reader *reader, struct arena *arena, struct trace_info *out,
                            struct report *report) {
    struct recording *recording = NULL;
    struct number_set sectors = {0};
    *out = (struct trace_info){0};
    const unsigned number = reader->launches + 1;
    const enum status status = trace_look(reader, &out->launch, arena, &recording, report);
    if (status)
        return status;
    out->warps = recording->blocks * recording->warps;
    for (uint64_t i = 0; i < out->warps; i++) {
        const struct track *track = &recording->tracks[i];
        struct track_place place;
        struct track_issue issue;
        struct executed executed;
        struct access access = {.missed = 0};
        bool good = track_begin(track, &place);
        while (good && place.gap != UINT32_MAX) {
            out->issues += place.gap + 1u;
            good = track_take(track, &place, &issue, &executed, &access);
            if (good)
                note(arena, &access, &sectors, out);
        }
        if (!good)
            return report_add(report, STATUS_INVALID, "%s: damaged: launch %u, warp %llu of its grid", reader->name,
                              number, (unsigned long long)i);
    }
    out->sectors = sectors.count;
    return STATUS_OK;
}
