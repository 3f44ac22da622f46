/* SPDX-License-Identifier: Apache-2.0 */
#include "simt/formed.h"

void formed_create(struct formed_pool *pool, struct arena *arena, unsigned count) {
    pool->items = ARENA_ARRAY(arena, struct formed, count);
    for (unsigned i = 0; i < count; i++)
        pool->items[i].next = (uint16_t)(i + 1 < count ? i + 1 : FORMED_NONE);
    pool->free = 0;
    pool->first = pool->last = FORMED_NONE;
    pool->slots_free = UINT64_MAX;
}

uint16_t formed_take(struct formed_pool *pool, unsigned block, uint32_t pc) {
    const uint16_t number = pool->free;
    struct formed *formed = &pool->items[number];
    pool->free = formed->next;
    pool->count++;
    formed->pc = pc, formed->lanes = 0;
    formed->block = (uint16_t)block, formed->slot = formed->home = FORMED_NONE;
    return number;
}

void formed_give(struct formed_pool *pool, uint16_t number) {
    pool->items[number].lanes = 0;
    pool->items[number].next = pool->free;
    pool->free = number;
    pool->count--;
}

void formed_requeue(struct formed_pool *pool, uint16_t number) {
    struct formed *formed = &pool->items[number];
    formed->slot = FORMED_NONE;
    formed->next = FORMED_NONE, formed->previous = pool->last;
    if (pool->last == FORMED_NONE)
        pool->first = number;
    else
        pool->items[pool->last].next = number;
    pool->last = number;
}

void formed_enqueue(struct formed_pool *pool, uint16_t number) {
    pool->items[number].birth = pool->births++;
    formed_requeue(pool, number);
}

void formed_enter(struct formed_pool *pool, uint16_t number, unsigned slot) {
    struct formed *formed = &pool->items[number];
    if (formed->previous == FORMED_NONE)
        pool->first = formed->next;
    else
        pool->items[formed->previous].next = formed->next;
    if (formed->next == FORMED_NONE)
        pool->last = formed->previous;
    else
        pool->items[formed->next].previous = formed->previous;
    pool->slots[slot] = number;
    pool->slots_free &= ~(UINT64_C(1) << slot);
    formed->slot = formed->home = (uint16_t)slot;
}

uint16_t formed_leave(struct formed_pool *pool, unsigned slot) {
    const uint16_t number = pool->slots[slot];
    pool->items[number].slot = FORMED_NONE;
    pool->slots_free |= UINT64_C(1) << slot;
    return number;
}

uint64_t formed_fill(struct formed_pool *pool) {
    uint64_t changed = 0;
    while (pool->slots_free && pool->first != FORMED_NONE) {
        const uint16_t home = pool->items[pool->first].home;
        const bool again = home != FORMED_NONE && pool->slots_free >> home & 1;
        const unsigned slot = again ? home : bits_first64(pool->slots_free);
        formed_enter(pool, pool->first, slot);
        changed |= UINT64_C(1) << slot;
    }
    return changed;
}

unsigned formed_show(const struct formed_pool *pool, unsigned block, struct group_row *rows, unsigned most) {
    unsigned count = 0;
    for (unsigned slot = 0; slot < ISSUE_SLOTS_MAX && count < most; slot++) {
        const struct formed *formed = formed_at(pool, slot);
        if (formed && formed->block == block)
            rows[count++] = (struct group_row){"in a slot", formed->pc, NO_PC, formed->lanes, formed->threads};
    }
    for (uint16_t i = pool->first; i != FORMED_NONE && count < most; i = pool->items[i].next) {
        const struct formed *formed = &pool->items[i];
        if (formed->block == block)
            rows[count++] = (struct group_row){"queued", formed->pc, NO_PC, formed->lanes, formed->threads};
    }
    return count;
}
