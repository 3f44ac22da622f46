/* SPDX-License-Identifier: Apache-2.0 */
/* What stores and atomics do to a cache: the write policies. */
#include "mem/cache_state.h"

static uint32_t written_bytes(const struct request *request) {
    if (request->byte_mask)
        return request->byte_mask;
    return bits_low(request->bytes) << (request->address % LAZY_SECTOR_BYTES);
}

/* Lazy stores: a sector all of whose bytes were written can be read. */
static void absorb(struct cache *cache, const struct cache_place *place, const struct request *request) {
    struct line *line = &cache->lines[place->index];
    if (line->valid & place->bit)
        return;
    uint32_t *written = &cache->written[sector_index(cache, place->index, place->bit)];
    *written = (line->partial & place->bit ? *written : 0) | written_bytes(request);
    if (*written == UINT32_MAX) {
        line->valid |= place->bit;
        line->partial &= (uint8_t)~place->bit;
    } else {
        line->partial |= place->bit;
    }
}

static enum cache_outcome write_lazy(struct cache *cache, const struct request *request, struct cache_place *place,
                                     uint32_t room, struct cache_result *result) {
    const bool through = cache_goes_through(cache, request);
    const struct claim claim = cache_claim(cache, request, place, false, room, result);
    if (claim.blocked)
        return CACHE_BLOCKED;
    count_miss(cache, request, place);
    if (through)
        hand_down(cache, request, result);
    cache_take_line(cache, place, &claim, result);
    absorb(cache, place, request);
    if (!through)
        line_dirty(cache, &cache->lines[place->index], place->bit);
    return CACHE_MISS;
}

/* The store goes down and the atom, if it is here, leaves. */
static enum cache_outcome write_evict(struct cache *cache, const struct request *request, struct cache_place *place,
                                      uint32_t room, struct cache_result *result) {
    struct line *line = place->index != NONE ? &cache->lines[place->index] : NULL;
    uint8_t dirty = line ? line->dirty & place->bit : 0;
    uint32_t needed = 1 + (dirty != 0);
    if (room < needed)
        return cache_block(cache, request, CACHE_NO_ROOM, needed, result);
    hand_down(cache, request, result);
    if (!line || !((line->valid | line->partial) & place->bit))
        return count_miss(cache, request, place);
    if (dirty) {
        cache_write_back(cache, line, dirty, &result->down[result->down_count++]);
        result->write_back_sectors = dirty;
        line_wash(cache, line, dirty);
    }
    line->valid &= (uint8_t)~place->bit;
    line->partial &= (uint8_t)~place->bit;
    cache_drop_empty(cache, place->index);
    return count_hit(cache, request);
}

static enum cache_write_policy write_mode(const struct cache *cache, const struct request *request) {
    enum cache_write_policy mode = (enum cache_write_policy)cache->params.write;
    if (mode == CACHE_LOCAL_BACK)
        mode = request->local ? CACHE_BACK : CACHE_EVICT;
    if (request->kind == REQUEST_ATOMIC && mode == CACHE_THROUGH)
        mode = CACHE_EVICT;
    return mode;
}

enum cache_outcome cache_write(struct cache *cache, const struct request *request, struct cache_place *place,
                               uint32_t room, struct cache_result *result) {
    enum cache_write_policy mode = write_mode(cache, request);
    if (mode == CACHE_EVICT)
        return write_evict(cache, request, place, room, result);
    bool through = mode == CACHE_THROUGH;
    enum cache_write_allocate allocate = (enum cache_write_allocate)cache->params.write_allocate;
    if (request->kind == REQUEST_ATOMIC)
        allocate = CACHE_WRITE_FETCH;
    struct line *line = place->index != NONE ? &cache->lines[place->index] : NULL;
    uint8_t takes_stores = line ? line->valid : 0;
    if (line && allocate == CACHE_WRITE_LAZY)
        takes_stores |= line->partial | line->pending;
    if (takes_stores & place->bit) {
        if (room < through)
            return cache_block(cache, request, CACHE_NO_ROOM, 1, result);
        if (through)
            hand_down(cache, request, result);
        else
            line_dirty(cache, line, place->bit);
        if (allocate == CACHE_WRITE_LAZY)
            absorb(cache, place, request);
        line_touch(cache, place->index);
        return count_hit(cache, request);
    }
    if (allocate == CACHE_WRITE_FETCH)
        return cache_fetch(cache, request, place, room, result);
    if (allocate == CACHE_WRITE_LAZY)
        return write_lazy(cache, request, place, room, result);
    if (room < 1)
        return cache_block(cache, request, CACHE_NO_ROOM, 1, result);
    hand_down(cache, request, result);
    if (line)
        line_touch(cache, place->index);
    return count_miss(cache, request, place);
}
