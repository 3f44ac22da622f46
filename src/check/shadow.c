/* SPDX-License-Identifier: Apache-2.0 */
#include "check/shadow.h"

#include <string.h>

#include "isa/address.h"

enum { WIDEST = 4 };

/* Of the widest cells that the access covers whole. */
static unsigned shift_for(uint64_t address, unsigned bytes) {
    const unsigned shift = bits_first((uint32_t)address | bytes | 1u << WIDEST);
    return shift < 2 ? 0 : shift;
}

/* Cells become several each. */
static struct cell *split(struct arena *arena, const struct cell *cells, size_t count, unsigned parts) {
    struct cell *out = ARENA_ARRAY(arena, struct cell, parts * count);
    for (size_t i = 0; i < parts * count; i++)
        out[i] = cells[i / parts];
    return out;
}

static struct shadow_page *page_of(struct shadow *shadow, uint64_t number) {
    if (number >= shadow->count) {
        const size_t grown = number < 2 * shadow->count ? 2 * shadow->count : (size_t)number + 256;
        struct shadow_page *pages = ARENA_ARRAY(&shadow->arena, struct shadow_page, grown);
        if (shadow->count)
            memcpy(pages, shadow->pages, shadow->count * sizeof *pages);
        shadow->pages = pages, shadow->count = grown;
    }
    return &shadow->pages[number];
}

struct cells shadow_global_slowly(struct shadow *shadow, uint64_t address, unsigned bytes) {
    const uint64_t at = address - GLOBAL_BASE, number = at / SHADOW_PAGE;
    const unsigned shift = shift_for(at, bytes);
    if (address < GLOBAL_BASE || number > UINT32_MAX)
        return (struct cells){0};
    struct shadow_page *page = page_of(shadow, number);
    if (!page->cells) {
        page->cells = ARENA_ARRAY(&shadow->arena, struct cell, SHADOW_PAGE >> shift);
        page->shift = shift;
    } else if (page->shift > shift) {
        page->cells = split(&shadow->arena, page->cells, SHADOW_PAGE >> page->shift, 1u << (page->shift - shift));
        page->shift = shift;
    }
    return (struct cells){&page->cells[at % SHADOW_PAGE >> page->shift], bytes >> page->shift, page->shift};
}

struct cells shadow_shared_slowly(struct arena *arena, struct block_watch *place, uint64_t address, unsigned bytes) {
    const size_t widest = (place->shared_bytes + (1u << WIDEST) - 1) >> WIDEST;
    const unsigned shift = shift_for(address, bytes), old = place->shared_shift;
    if (!place->shared) {
        place->shared = ARENA_ARRAY(arena, struct cell, widest << (WIDEST - shift));
        place->shared_shift = shift;
    } else if (old > shift) {
        place->shared = split(arena, place->shared, widest << (WIDEST - old), 1u << (old - shift));
        place->shared_shift = shift;
    }
    return (struct cells){(struct cell *)place->shared + (address >> place->shared_shift), bytes >> place->shared_shift,
                          place->shared_shift};
}

void shadow_free(struct shadow *shadow) { arena_free(&shadow->arena); }
