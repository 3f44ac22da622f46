/* SPDX-License-Identifier: Apache-2.0 */
#include "base/heap.h"

#include <assert.h>

void heap_create(struct heap *heap, struct arena *arena, unsigned capacity, size_t keys, uint32_t table_entries,
                 uint32_t table_ways) {
    *heap = (struct heap){.capacity = capacity, .entries = ARENA_ARRAY(arena, struct heap_entry, capacity)};
    assoc_create(&heap->places, arena, keys, table_entries, table_ways);
}

bool heap_has_room(const struct heap *heap, uint32_t key) {
    if (assoc_find(&heap->places, key) != ASSOC_NONE)
        return true;
    return heap->count < heap->capacity && assoc_has_room(&heap->places, key);
}

static void place(struct heap *heap, unsigned at, struct heap_entry entry) {
    heap->entries[at] = entry;
    assoc_put(&heap->places, entry.key, (uint16_t)at);
}

unsigned heap_add(struct heap *heap, uint32_t key, uint32_t more) {
    const uint16_t found = assoc_find(&heap->places, key);
    unsigned at = found, levels = 0;
    if (found == ASSOC_NONE) {
        assert(heap_has_room(heap, key));
        at = heap->count++;
        heap->entries[at] = (struct heap_entry){key, 0};
        heap->largest = heap->count > heap->largest ? heap->count : heap->largest;
    }
    struct heap_entry entry = heap->entries[at];
    entry.count += more;
    for (; at && heap->entries[(at - 1) / 2].count <= entry.count; at = (at - 1) / 2, levels++)
        place(heap, at, heap->entries[(at - 1) / 2]);
    place(heap, at, entry);
    return levels;
}

unsigned heap_pop(struct heap *heap, struct heap_entry *out) {
    assert(heap->count);
    *out = heap->entries[0];
    assoc_remove(&heap->places, out->key);
    const struct heap_entry last = heap->entries[--heap->count];
    unsigned at = 0, levels = 0;
    for (unsigned child; (child = 2 * at + 1) < heap->count; at = child, levels++) {
        if (child + 1 < heap->count && heap->entries[child + 1].count > heap->entries[child].count)
            child++;
        if (heap->entries[child].count <= last.count)
            break;
        place(heap, at, heap->entries[child]);
    }
    if (heap->count)
        place(heap, at, last);
    return levels;
}
