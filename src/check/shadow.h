/* SPDX-License-Identifier: Apache-2.0 */
/* Who wrote and who read each word of memory last.
 *
 * A cell stands for as many bytes as the first access of its page has, 16 at most, until one is narrower: then cells are split. None stands for two
 * bytes, which are split to one each. What is found does not depend on it: accesses cover whole cells, and a cell of several words counts for as many.
 * Of readers two are kept, the last and the one farthest from it: a write that races only with a third is not seen. */
#ifndef HEDDLE_CHECK_SHADOW_H
#define HEDDLE_CHECK_SHADOW_H

#include "base/bits.h"
#include "check/order.h"
#include "isa/address.h"

enum trace_flag {
    TRACE_STRONG = 1 << 0, /* atomic, volatile, or with a memory order */
    TRACE_WIDE = 1 << 1,   /* of device or system scope */
    TRACE_SILENT = 1 << 2, /* a write of the value that was there */
    TRACE_ATOMIC = 1 << 3,
    TRACE_TOGETHER = 1 << 4, /* several lanes of the warp did it at once */
    TRACE_SHIFT = 24,        /* flags stand above the PC */
};

struct trace {
    uint32_t thread; /* in the launch */
    uint32_t time;   /* check/order.h; 0: there was none */
    uint32_t info;   /* PC, and flags above it */
};

struct cell {
    struct trace write, read, other;
};

enum { SHADOW_PAGE = 4096, SHADOW_PCS = 1 << TRACE_SHIFT };

struct shadow_page {
    struct cell *cells; /* NULL: none yet */
    unsigned shift;     /* a cell is of 1 << shift bytes: 0, 2, 3 or 4 */
};

struct shadow {
    struct arena arena; /* lives as long as the check */
    struct shadow_page *pages;
    size_t count;
};

/* Cells of an access. */
struct cells {
    struct cell *first; /* NULL: its address is not one of device memory */
    unsigned count, shift;
};

/* It does not cross a page. Slowly: where there are no cells yet, or they stand for too much. */
struct cells shadow_global_slowly(struct shadow *shadow, uint64_t address, unsigned bytes);
struct cells shadow_shared_slowly(struct arena *arena, struct block_watch *place, uint64_t address, unsigned bytes);

static inline struct cells shadow_global(struct shadow *shadow, uint64_t address, unsigned bytes) {
    const uint64_t at = address - GLOBAL_BASE, number = at / SHADOW_PAGE;
    const struct shadow_page *page = number < shadow->count ? &shadow->pages[number] : NULL;
    if (!page || !page->cells || (at | bytes) & bits_low(page->shift))
        return shadow_global_slowly(shadow, address, bytes);
    return (struct cells){&page->cells[at % SHADOW_PAGE >> page->shift], bytes >> page->shift, page->shift};
}
static inline struct cells shadow_shared(struct arena *arena, struct block_watch *place, uint64_t address,
                                         unsigned bytes) {
    const unsigned shift = place->shared_shift;
    if (!place->shared || (address | bytes) & bits_low(shift))
        return shadow_shared_slowly(arena, place, address, bytes);
    return (struct cells){(struct cell *)place->shared + (address >> shift), bytes >> shift, shift};
}
/* Words that one of them stands for; of single bytes each counts for one. */
static inline unsigned cells_words(const struct cells *cells) {
    return cells->shift > 2 ? 1u << (cells->shift - 2) : 1;
}
void shadow_free(struct shadow *shadow);

#endif
