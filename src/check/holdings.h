/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that a program has allocated, and which of its bytes neither the host nor a kernel has written.
 *
 * A bit for each byte, in pages: a page that is written whole, or that belongs to nobody, has none, and neither has one of which nothing
 * is written. */
#ifndef HEDDLE_CHECK_HOLDINGS_H
#define HEDDLE_CHECK_HOLDINGS_H

#include <stdbool.h>

#include "base/arena.h"
#include "isa/address.h"

enum { HOLDINGS_PAGE = 4096 };

struct holding {
    uint64_t start, bytes;
    const char *name;
    uint64_t made, freed; /* launches that had begun by then */
    bool is_freed;
};

/* Bits of a page: 1 where nobody has written. */
struct holdings_page {
    uint64_t unwritten[HOLDINGS_PAGE / 64];
    unsigned left;              /* of them that are 1, never 0 */
    struct holdings_page *next; /* in the list of those not in use */
};

struct holdings {
    struct arena arena;
    struct {
        struct holding *items;
        unsigned count, capacity;
    } list;         /* in the order of allocation */
    unsigned freed; /* of them */
    struct {
        struct holdings_page **items; /* from GLOBAL_BASE on; NULL: all is written */
        unsigned count, capacity;
    } pages;
    struct holdings_page *unused;
    bool lost; /* a kernel has written and not told: nobody knows what was not written */
};

/* Of which nothing is written, or all (the host writes it when it likes). */
void holdings_add(struct holdings *holdings, const struct holding *one, bool is_written);
void holdings_free(struct holdings *holdings, uint64_t start, uint64_t launch);
void holdings_write(struct holdings *holdings, uint64_t address, uint64_t bytes);
/* What is not written at `from` is not written at `to` then. */
void holdings_copy(struct holdings *holdings, uint64_t to, uint64_t from, uint64_t bytes);
/* The last that had the address; NULL: none. */
const struct holding *holdings_find(const struct holdings *holdings, uint64_t address);
void holdings_close(struct holdings *holdings);

/* A byte of it is not written. Slowly: where a page has such. It does not cross a page. */
bool holdings_lack_slowly(const struct holdings_page *page, uint64_t address, unsigned bytes);
static inline struct holdings_page *holdings_page(const struct holdings *holdings, uint64_t address) {
    const uint64_t number = (address - GLOBAL_BASE) / HOLDINGS_PAGE;
    return number < holdings->pages.count ? holdings->pages.items[number] : NULL;
}
static inline bool holdings_lack(const struct holdings *holdings, uint64_t address, unsigned bytes) {
    const struct holdings_page *page = holdings_page(holdings, address);
    return page && holdings_lack_slowly(page, address, bytes);
}

#endif
