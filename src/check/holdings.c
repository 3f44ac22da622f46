/* SPDX-License-Identifier: Apache-2.0 */
#include "check/holdings.h"

#include <string.h>

#include "base/bits.h"

enum { FREED_MAX = 1024 };

/* Stands for a page of which nothing is written, and is none. */
#define UNTOUCHED ((struct holdings_page *)(uintptr_t)1)

static struct holdings_page *take_page(struct holdings *holdings, int bits) {
    struct holdings_page *page = holdings->unused;
    if (page)
        holdings->unused = page->next;
    else
        page = ARENA_NEW(&holdings->arena, struct holdings_page);
    memset(page->unwritten, bits, sizeof page->unwritten);
    page->left = bits ? HOLDINGS_PAGE : 0;
    return page;
}

static void put_page(struct holdings *holdings, struct holdings_page **at, struct holdings_page *now) {
    if (*at && *at != UNTOUCHED) {
        (*at)->next = holdings->unused;
        holdings->unused = *at;
    }
    *at = now;
}

static bool get_bit(const struct holdings_page *page, unsigned at) {
    return page == UNTOUCHED || (page && page->unwritten[at / 64] >> at % 64 & 1);
}

/* Bits of a word of 64 that stand for bytes from `from` to `end` of the page. */
static uint64_t bits_within(unsigned word, unsigned from, unsigned end) {
    const unsigned start = 64 * word, low = from > start ? from - start : 0, high = end - start;
    return bits_low64(high) & ~bits_low64(low);
}

static void set_bits(struct holdings_page *page, unsigned from, unsigned end, bool unwritten) {
    for (unsigned word = from / 64; 64 * word < end; word++) {
        const uint64_t bits = bits_within(word, from, end), before = page->unwritten[word];
        page->unwritten[word] = unwritten ? before | bits : before & ~bits;
        page->left += bits_count64(page->unwritten[word]) - bits_count64(before);
    }
}

static void mark_in_page(struct holdings *holdings, struct holdings_page **at, unsigned from, unsigned end,
                         bool unwritten) {
    struct holdings_page *const whole = unwritten ? UNTOUCHED : NULL;
    if (*at == whole)
        return;
    if (end - from == HOLDINGS_PAGE) {
        put_page(holdings, at, whole);
        return;
    }
    if (!*at || *at == UNTOUCHED)
        *at = take_page(holdings, *at ? 0xff : 0);
    set_bits(*at, from, end, unwritten);
    if (!(*at)->left)
        put_page(holdings, at, NULL);
}

static void mark(struct holdings *holdings, uint64_t address, uint64_t bytes, bool unwritten) {
    if (address < GLOBAL_BASE || !bytes)
        return;
    const uint64_t start = address - GLOBAL_BASE, end = start + bytes;
    for (uint64_t at = start; at < end;) {
        const uint64_t number = at / HOLDINGS_PAGE, page_end = (number + 1) * HOLDINGS_PAGE;
        const uint64_t stop = end < page_end ? end : page_end;
        while (unwritten && number >= holdings->pages.count)
            *ARENA_PUSH(&holdings->arena, &holdings->pages) = NULL;
        if (number < holdings->pages.count)
            mark_in_page(holdings, &holdings->pages.items[number], (unsigned)(at % HOLDINGS_PAGE),
                         (unsigned)(stop - number * HOLDINGS_PAGE), unwritten);
        at = stop;
    }
}

void holdings_add(struct holdings *holdings, const struct holding *one, bool is_written) {
    struct holding *added = ARENA_PUSH(&holdings->arena, &holdings->list);
    *added = *one;
    added->name = arena_strdup(&holdings->arena, one->name);
    mark(holdings, one->start, one->bytes, !is_written);
}

void holdings_free(struct holdings *holdings, uint64_t start, uint64_t launch) {
    struct holding *items = holdings->list.items;
    unsigned i = holdings->list.count;
    while (i > 0 && (items[i - 1].start != start || items[i - 1].is_freed))
        i--;
    if (!i)
        return;
    items[i - 1].is_freed = true;
    items[i - 1].freed = launch;
    mark(holdings, start, items[i - 1].bytes, false);
    if (++holdings->freed <= FREED_MAX)
        return;
    for (i = 0; !items[i].is_freed;) /* the first of them is forgotten */
        i++;
    holdings->list.count--;
    holdings->freed--;
    memmove(&items[i], &items[i + 1], (holdings->list.count - i) * sizeof *items);
}

void holdings_write(struct holdings *holdings, uint64_t address, uint64_t bytes) {
    mark(holdings, address, bytes, false);
}

void holdings_copy(struct holdings *holdings, uint64_t to, uint64_t from, uint64_t bytes) {
    while (bytes) {
        const uint64_t to_left = HOLDINGS_PAGE - (to - GLOBAL_BASE) % HOLDINGS_PAGE,
                       from_left = HOLDINGS_PAGE - (from - GLOBAL_BASE) % HOLDINGS_PAGE;
        uint64_t step = to_left < from_left ? to_left : from_left;
        step = step < bytes ? step : bytes;
        const struct holdings_page *page = holdings_page(holdings, from);
        if (!page || page == UNTOUCHED)
            mark(holdings, to, step, page != NULL);
        else
            for (uint64_t i = 0; i < step; i++)
                mark(holdings, to + i, 1, get_bit(page, (unsigned)((from + i - GLOBAL_BASE) % HOLDINGS_PAGE)));
        to += step, from += step, bytes -= step;
    }
}

bool holdings_lack_slowly(const struct holdings_page *page, uint64_t address, unsigned bytes) {
    const unsigned from = (unsigned)((address - GLOBAL_BASE) % HOLDINGS_PAGE), end = from + bytes;
    bool lack = page == UNTOUCHED;
    for (unsigned word = from / 64; 64 * word < end && !lack; word++)
        lack = (page->unwritten[word] & bits_within(word, from, end)) != 0;
    return lack;
}

const struct holding *holdings_find(const struct holdings *holdings, uint64_t address) {
    for (unsigned i = holdings->list.count; i > 0; i--) {
        const struct holding *one = &holdings->list.items[i - 1];
        if (address - one->start < one->bytes)
            return one;
    }
    return NULL;
}

void holdings_close(struct holdings *holdings) { arena_free(&holdings->arena); }
