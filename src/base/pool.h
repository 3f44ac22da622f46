/* SPDX-License-Identifier: Apache-2.0 */
/* Objects of one size, taken and given back in any order, from memory set aside once: for what comes and goes
 * inside the cycle loop, where nothing may be allocated. */
#ifndef HEDDLE_BASE_POOL_H
#define HEDDLE_BASE_POOL_H

#include "base/arena.h"

struct pool {
    unsigned char *objects;
    unsigned *free_indices; /* a stack; the first `free_count` are free */
    size_t object_bytes;
    unsigned capacity, free_count;
};

/* Room for `capacity` objects of at least `object_bytes`, each aligned to 16 bytes. Lives as long as the arena. */
void pool_create(struct pool *pool, struct arena *arena, size_t object_bytes, unsigned capacity);
/* A zeroed object, or NULL when all are taken: how many there are is a limit of the machine, so the caller waits. */
void *pool_take(struct pool *pool);
/* The object must come from pool_take of the same pool, and be given back once. */
void pool_give(struct pool *pool, void *object);
static inline unsigned pool_taken(const struct pool *pool) { return pool->capacity - pool->free_count; }

#endif
