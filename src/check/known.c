/* SPDX-License-Identifier: Apache-2.0 */
#include "check/known.h"

#include <string.h>

/* Where it stands, or would stand. */
static unsigned place_of(const struct known *known, uint64_t who) {
    unsigned low = 0, high = known->count;
    while (low < high) {
        const unsigned middle = (low + high) / 2;
        if (known->items[middle].who < who)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t known_find(const struct known *known, uint64_t who) {
    const unsigned at = place_of(known, who);
    return at < known->count && known->items[at].who == who ? known->items[at].time : 0;
}

void known_add(struct arena *arena, struct known *known, uint64_t who, uint32_t time) {
    const unsigned at = place_of(known, who);
    if (at < known->count && known->items[at].who == who) {
        if (known->items[at].time < time)
            known->items[at].time = time;
        return;
    }
    ARENA_PUSH(arena, known);
    memmove(&known->items[at + 1], &known->items[at], (known->count - 1 - at) * sizeof *known->items);
    known->items[at] = (struct known_item){who, time};
}

void known_join(struct arena *arena, struct known *into, const struct known *from) {
    if (!into->count && from->count) { /* the common case: all of it is new */
        if (into->capacity < from->count)
            *into = (struct known){ARENA_ARRAY(arena, struct known_item, from->count), 0, from->count};
        memcpy(into->items, from->items, from->count * sizeof *from->items);
        into->count = from->count;
        return;
    }
    for (unsigned i = 0; i < from->count; i++)
        known_add(arena, into, from->items[i].who, from->items[i].time);
}

bool known_covers(const struct known *known, uint64_t block, uint32_t thread, uint32_t time) {
    return known->count && (known_find(known, thread) >= time || known_find(known, KNOWN_BLOCK | block) >= time);
}
