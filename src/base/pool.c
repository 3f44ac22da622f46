/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pool.h"

#include <assert.h>
#include <string.h>

#include "base/bits.h"

void pool_create(struct pool *pool, struct arena *arena, size_t object_bytes, unsigned capacity) {
    pool->object_bytes = (size_t)bits_round_up(object_bytes ? object_bytes : 1, 16);
    pool->objects = arena_calloc(arena, capacity, pool->object_bytes);
    pool->free_indices = ARENA_ARRAY(arena, unsigned, capacity);
    pool->capacity = capacity;
    pool->free_count = capacity;
    /* The lowest index is taken first, so that a run that needs few objects touches few pages. */
    for (unsigned i = 0; i < capacity; i++)
        pool->free_indices[i] = capacity - 1 - i;
}

void *pool_take(struct pool *pool) {
    if (pool->free_count == 0)
        return NULL;
    unsigned index = pool->free_indices[--pool->free_count];
    void *object = pool->objects + index * pool->object_bytes;
    memset(object, 0, pool->object_bytes);
    return object;
}

void pool_give(struct pool *pool, void *object) {
    size_t offset = (size_t)((unsigned char *)object - pool->objects);
    assert(offset % pool->object_bytes == 0 && offset / pool->object_bytes < pool->capacity);
    assert(pool->free_count < pool->capacity);
    pool->free_indices[pool->free_count++] = (unsigned)(offset / pool->object_bytes);
}
