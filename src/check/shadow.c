/* SPDX-License-Identifier: Apache-2.0 */
#include "check/shadow.h"

#include <string.h>

#include "isa/address.h"

/* Cells of four bytes become four cells each. */
static struct cell *split(struct arena *arena, const struct cell *cells, size_t words) {
    struct cell *out = ARENA_ARRAY(arena, struct cell, 4 * words);
    for (size_t i = 0; i < 4 * words; i++)
        out[i] = cells[i / 4];
    return out;
}

struct cell *shadow_global_slowly(struct shadow *shadow, uint64_t address, unsigned bytes, unsigned *count) {
    const uint64_t at = address - GLOBAL_BASE, number = at / SHADOW_PAGE;
    if (address < GLOBAL_BASE || number > UINT32_MAX)
        return NULL;
    if (number >= shadow->count) {
        const size_t grown = number < 2 * shadow->count ? 2 * shadow->count : (size_t)number + 256;
        struct shadow_page **pages = ARENA_ARRAY(&shadow->arena, struct shadow_page *, grown);
        if (shadow->count)
            memcpy(pages, shadow->pages, shadow->count * sizeof *pages);
        shadow->pages = pages, shadow->count = grown;
    }
    struct shadow_page *page = shadow->pages[number];
    if (!page) {
        page = shadow->pages[number] = ARENA_NEW(&shadow->arena, struct shadow_page);
        page->shift = 2;
        page->cells = ARENA_ARRAY(&shadow->arena, struct cell, SHADOW_PAGE / 4);
    }
    if (bytes < 4 && page->shift) {
        page->cells = split(&shadow->arena, page->cells, SHADOW_PAGE / 4);
        page->shift = 0;
    }
    *count = bytes >> page->shift;
    return &page->cells[at % SHADOW_PAGE >> page->shift];
}

struct cell *shadow_shared_slowly(struct arena *arena, struct block_watch *place, uint64_t address, unsigned bytes,
                                  unsigned *count) {
    const size_t words = (place->shared_bytes + 3u) / 4;
    if (!place->shared) {
        place->shared = ARENA_ARRAY(arena, struct cell, words);
        place->shared_shift = 2;
    }
    if (bytes < 4 && place->shared_shift) {
        place->shared = split(arena, place->shared, words);
        place->shared_shift = 0;
    }
    *count = bytes >> place->shared_shift;
    return (struct cell *)place->shared + (address >> place->shared_shift);
}

void shadow_free(struct shadow *shadow) { arena_free(&shadow->arena); }
