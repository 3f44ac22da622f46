/* SPDX-License-Identifier: Apache-2.0 */
/* The texture unit: reads of images, one after another, behind the load/store unit, which hands them over. A sample takes it for as long
 * as its filter or its look-ups need, whichever are more; its texels come from the L1 or a cache of the unit's own. */
#ifndef HEDDLE_SM_TEXTURE_H
#define HEDDLE_SM_TEXTURE_H

#include "sm/state.h"

enum { TEXTURE_UNIT = 253 };           /* in place of a flight's warp, as OWN_L2 is */
#define TAG_TEXTURE (UINT64_MAX - 3)   /* of requests of the unit's own cache */
#define TAG_TEXELS (UINT64_C(1) << 62) /* with the number of a flight: a sample that the L1 knows of */

enum {
    SAMPLE_SECTORS_MAX = 16 * LANES_MAX, /* of every lane all texels */
    SAMPLE_SLOTS = 2 * SAMPLE_SECTORS_MAX,
    TEXTURE_QUEUE_MAX = 16
};

/* An instruction on its way to the unit, or in it. */
struct texture_sample {
    uint16_t next_free; /* in the pool, plus 1 */
    uint16_t count, next;
    uint32_t flight, cycles; /* cycles: of its filter */
    uint64_t begun;
    uint64_t sectors[SAMPLE_SECTORS_MAX];
};

struct sm_texture {
    struct cache *cache; /* the L1, or its own */
    bool is_own;
    uint32_t clock; /* the flight that wakes it */
    bool is_awake;
    bool is_held; /* the load/store unit waits for room since held_since */
    uint64_t held_since, free_cycle;
    uint16_t queue[TEXTURE_QUEUE_MAX]; /* in the pool */
    unsigned head, count;
    uint16_t free, used;          /* of the pool: the first free plus 1; so many have been used once */
    uint16_t slots[SAMPLE_SLOTS]; /* of the instruction that is being put together: a sector's number plus 1 */
    struct texture_sample *pool;  /* one for every instruction that can be on its way */
};

/* For code that makes samples. */
SM_STAGE void sm_texture_create(struct sm *sm, const struct sm_caches *caches);
/* What lanes read, as a sample on its way; its number in the pool. */
SM_STAGE uint32_t sm_texture_gather(struct sm *sm, uint32_t flight, const struct access *access);
/* The unit takes a sample; false: it is full, and says when it is not by going on with the load/store unit. */
SM_STAGE bool sm_texture_take(struct sm *sm, uint32_t sample);
/* The clock has rung. */
SM_STAGE void sm_texture_advance(struct sm *sm);
/* memory.c: where every transaction has been made and no data are missing, the access is over. */
SM_STAGE void sm_complete_access(struct sm *sm, uint32_t flight);
/* Texels of the flight have come from the L1; a line of the unit's own cache has. */
SM_STAGE void sm_texels_arrived(struct sm *sm, uint32_t flight);
SM_STAGE void sm_texture_arrived(struct sm *sm, uint64_t address);

#endif
