/* SPDX-License-Identifier: Apache-2.0 */
/* Who wrote and who read each word of memory last.
 *
 * A cell stands for four bytes until an access is narrower; then the page's cells stand for one byte each. Of readers two are
 * kept, the last and the one farthest from it: a write that races only with a third is not seen. */
#ifndef HEDDLE_CHECK_SHADOW_H
#define HEDDLE_CHECK_SHADOW_H

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
    unsigned shift; /* 2: a cell for four bytes; 0: for one */
    struct cell *cells;
};

struct shadow {
    struct arena arena; /* lives as long as the check */
    struct shadow_page **pages;
    size_t count;
};

/* The cells of an access, which does not cross a page; NULL: its address is not one of device memory. Slowly: where there are no cells
 * yet, or they stand for too much. */
struct cell *shadow_global_slowly(struct shadow *shadow, uint64_t address, unsigned bytes, unsigned *count);
struct cell *shadow_shared_slowly(struct arena *arena, struct block_watch *place, uint64_t address, unsigned bytes,
                                  unsigned *count);
static inline struct cell *shadow_global(struct shadow *shadow, uint64_t address, unsigned bytes, unsigned *count) {
    const uint64_t at = address - GLOBAL_BASE, number = at / SHADOW_PAGE;
    const struct shadow_page *page = number < shadow->count ? shadow->pages[number] : NULL;
    if (!page || bytes >> page->shift == 0)
        return shadow_global_slowly(shadow, address, bytes, count);
    *count = bytes >> page->shift;
    return &page->cells[at % SHADOW_PAGE >> page->shift];
}
static inline struct cell *shadow_shared(struct arena *arena, struct block_watch *place, uint64_t address,
                                         unsigned bytes, unsigned *count) {
    if (!place->shared || bytes >> place->shared_shift == 0)
        return shadow_shared_slowly(arena, place, address, bytes, count);
    *count = bytes >> place->shared_shift;
    return (struct cell *)place->shared + (address >> place->shared_shift);
}
void shadow_free(struct shadow *shadow);

#endif
