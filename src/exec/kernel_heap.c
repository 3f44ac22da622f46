/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/kernel_heap.h"

#include <string.h>

#include "base/bits.h"
#include "base/memory.h"

/* Blocks are counted in units, the first of which is left free: what runs a little over the end of a block is seen. Free blocks are
 * in lists by size, eight for each power of two (two-level segregated fit); neighbours that are free are one block. */
enum { UNIT_BYTES = 16, HEAD_UNITS = 1, LISTS = 256, LIST_WORDS = LISTS / 64, LEVELS = 5, LOOKED_AT_FIRST = 8 };
#define NO_BLOCK UINT32_MAX
#define UNITS_MAX (uint32_t)(HEAP_BYTES_MAX / UNIT_BYTES) /* 64^LEVELS is more */

/* By the unit that it begins with. */
struct kernel_heap_block {
    uint32_t units, before; /* of it, and of the block before it */
    uint32_t next, previous;
    uint16_t spare; /* taken: bytes of its last unit that nobody asked for */
    bool is_taken;
};

struct kernel_heap {
    uint64_t address;
    uint32_t units;
    struct kernel_heap_block *blocks;
    uint32_t first[LISTS]; /* of the free blocks; NO_BLOCK: none */
    uint64_t some[LIST_WORDS];
    /* bits of units where taken blocks begin; on each further level, of words below that have any */
    uint64_t *begins[LEVELS];
    uint64_t table_bytes;
    struct kernel_heap_fault fault;
};

static unsigned last64(uint64_t word) { return 63u - (unsigned)__builtin_clzll(word); }

/* ---- where taken blocks begin ---- */

static void set_begin(struct kernel_heap *heap, uint32_t unit) {
    for (unsigned level = 0; level < LEVELS; level++, unit /= 64)
        heap->begins[level][unit / 64] |= UINT64_C(1) << unit % 64;
}

static void clear_begin(struct kernel_heap *heap, uint32_t unit) {
    for (unsigned level = 0; level < LEVELS; level++, unit /= 64)
        if (heap->begins[level][unit / 64] &= ~(UINT64_C(1) << unit % 64))
            return;
}

/* The last taken block that begins there or before; NO_BLOCK: none does. */
static uint32_t last_begin(const struct kernel_heap *heap, uint32_t unit) {
    uint64_t word = heap->begins[0][unit / 64] & bits_low64(unit % 64 + 1);
    unsigned level = 0;
    while (!word) {
        unit /= 64;
        if (++level == LEVELS)
            return NO_BLOCK;
        word = heap->begins[level][unit / 64] & bits_low64(unit % 64);
    }
    unit = unit / 64 * 64 + last64(word);
    while (level--)
        unit = unit * 64 + last64(heap->begins[level][unit]);
    return unit;
}

/* ---- free blocks ---- */

static unsigned list_of(uint32_t units) {
    if (units < 16)
        return units;
    const unsigned power = bits_last(units);
    return 8 * (power - 2) + (units >> (power - 3) & 7);
}

static void add_free(struct kernel_heap *heap, uint32_t unit) {
    struct kernel_heap_block *block = &heap->blocks[unit];
    const unsigned list = list_of(block->units);
    block->is_taken = false;
    block->previous = NO_BLOCK, block->next = heap->first[list];
    if (block->next != NO_BLOCK)
        heap->blocks[block->next].previous = unit;
    heap->first[list] = unit;
    heap->some[list / 64] |= UINT64_C(1) << list % 64;
}

static void remove_free(struct kernel_heap *heap, uint32_t unit) {
    const struct kernel_heap_block *block = &heap->blocks[unit];
    const unsigned list = list_of(block->units);
    if (block->next != NO_BLOCK)
        heap->blocks[block->next].previous = block->previous;
    if (block->previous != NO_BLOCK)
        heap->blocks[block->previous].next = block->next;
    else if ((heap->first[list] = block->next) == NO_BLOCK)
        heap->some[list / 64] &= ~(UINT64_C(1) << list % 64);
}

/* A block that is as large, of those at the head of a list. */
static uint32_t find_in_list(const struct kernel_heap *heap, unsigned list, uint32_t units, uint32_t looked_at) {
    uint32_t at = heap->first[list];
    while (at != NO_BLOCK && looked_at && heap->blocks[at].units < units)
        at = heap->blocks[at].next, looked_at--;
    return looked_at ? at : NO_BLOCK;
}

static uint32_t find_free(const struct kernel_heap *heap, uint32_t units) {
    const unsigned list = list_of(units);
    const uint32_t near = find_in_list(heap, list, units, LOOKED_AT_FIRST);
    if (near != NO_BLOCK)
        return near;
    for (unsigned at = list + 1; at < LISTS; at = at / 64 * 64 + 64) {
        const uint64_t word = heap->some[at / 64] & ~bits_low64(at % 64);
        if (word)
            return heap->first[at / 64 * 64 + bits_first64(word)];
    }
    return find_in_list(heap, list, units, UINT32_MAX);
}

/* A block that begins there, and what comes behind it knows. */
static void place_block(struct kernel_heap *heap, uint32_t unit, uint32_t units) {
    heap->blocks[unit].units = units;
    if (unit + units < heap->units)
        heap->blocks[unit + units].before = units;
}

/* The block is cut in two; the second begins so many units behind its start. */
static void split(struct kernel_heap *heap, uint32_t unit, uint32_t units) {
    const uint32_t all = heap->blocks[unit].units;
    place_block(heap, unit, units);
    place_block(heap, unit + units, all - units);
    heap->blocks[unit + units].before = units;
}

/* ---- what kernels ask for ---- */

/* Units before the head of a block that begins there and whose data are aligned. */
static uint32_t units_before(const struct kernel_heap *heap, uint32_t unit, uint64_t alignment) {
    const uint64_t data = heap->address + (uint64_t)(unit + HEAD_UNITS) * UNIT_BYTES;
    return (uint32_t)((bits_round_up(data, alignment) - data) / UNIT_BYTES);
}

uint64_t kernel_heap_allocate(struct kernel_heap *heap, uint64_t bytes, uint64_t alignment) {
    const uint64_t all = (uint64_t)heap->units * UNIT_BYTES;
    if (!bits_is_power_of_two(alignment) || bytes > all || alignment > all)
        return 0;
    alignment = alignment < UNIT_BYTES ? UNIT_BYTES : alignment;
    const uint64_t filled = bytes ? bytes : 1;
    const uint64_t units = HEAD_UNITS + (filled + UNIT_BYTES - 1) / UNIT_BYTES;
    const uint64_t room = units + alignment / UNIT_BYTES - 1;
    if (room > heap->units)
        return 0;
    uint32_t unit = find_free(heap, (uint32_t)room);
    if (unit == NO_BLOCK)
        return 0;
    remove_free(heap, unit);
    const uint32_t before = units_before(heap, unit, alignment);
    if (before) {
        split(heap, unit, before);
        add_free(heap, unit);
        unit += before;
    }
    if (heap->blocks[unit].units > units) {
        split(heap, unit, (uint32_t)units);
        add_free(heap, unit + (uint32_t)units);
    }
    heap->blocks[unit].is_taken = true;
    heap->blocks[unit].spare = (uint16_t)((units - HEAD_UNITS) * UNIT_BYTES - bytes);
    set_begin(heap, unit);
    return heap->address + (uint64_t)(unit + HEAD_UNITS) * UNIT_BYTES;
}

bool kernel_heap_find(const struct kernel_heap *heap, uint64_t address, uint64_t *start, uint64_t *end) {
    if (address - heap->address >= (uint64_t)heap->units * UNIT_BYTES)
        return false;
    const uint32_t unit = last_begin(heap, (uint32_t)((address - heap->address) / UNIT_BYTES));
    if (unit == NO_BLOCK)
        return false;
    const struct kernel_heap_block *block = &heap->blocks[unit];
    *start = heap->address + (uint64_t)(unit + HEAD_UNITS) * UNIT_BYTES;
    *end = heap->address + (uint64_t)(unit + block->units) * UNIT_BYTES - block->spare;
    return address >= *start && address < *end;
}

bool kernel_heap_free(struct kernel_heap *heap, uint64_t address) {
    const uint64_t offset = address - heap->address;
    if (offset >= (uint64_t)heap->units * UNIT_BYTES || offset % UNIT_BYTES || offset < HEAD_UNITS * UNIT_BYTES)
        return false;
    uint32_t unit = (uint32_t)(offset / UNIT_BYTES) - HEAD_UNITS;
    if (last_begin(heap, unit) != unit)
        return false;
    clear_begin(heap, unit);
    uint32_t units = heap->blocks[unit].units;
    const uint32_t behind = unit + units;
    if (behind < heap->units && !heap->blocks[behind].is_taken) {
        remove_free(heap, behind);
        units += heap->blocks[behind].units;
    }
    const uint32_t before = unit ? unit - heap->blocks[unit].before : unit;
    if (before != unit && !heap->blocks[before].is_taken) {
        remove_free(heap, before);
        units += unit - before;
        unit = before;
    }
    place_block(heap, unit, units);
    add_free(heap, unit);
    return true;
}

/* ---- the heap ---- */

uint64_t kernel_heap_address(const struct kernel_heap *heap) { return heap->address; }

uint64_t kernel_heap_bytes(const struct kernel_heap *heap) { return (uint64_t)heap->units * UNIT_BYTES; }

struct kernel_heap_fault *kernel_heap_fault(struct kernel_heap *heap) {
    return &heap->fault;
}

/* Books of so many units: what nobody touches costs the host nothing. */
static bool make_tables(struct kernel_heap *heap) {
    uint64_t words[LEVELS], count = heap->units, all = 0;
    for (unsigned level = 0; level < LEVELS; level++)
        all += words[level] = count = count / 64 + 1;
    heap->table_bytes = all * sizeof(uint64_t) + heap->units * sizeof *heap->blocks;
    uint64_t *table = memory_reserve(heap->table_bytes);
    if (!table)
        return false;
    heap->begins[0] = table;
    for (unsigned level = 1; level < LEVELS; level++)
        heap->begins[level] = heap->begins[level - 1] + words[level - 1];
    heap->blocks = (struct kernel_heap_block *)(void *)(table + all);
    return memory_commit(table, heap->table_bytes);
}

/* address 0: wherever there is room. */
static enum status create_at(struct memory *memory, uint64_t bytes, uint64_t address, struct report *report) {
    struct kernel_heap *heap = ARENA_NEW(memory->arena, struct kernel_heap);
    const uint64_t units = bytes / UNIT_BYTES;
    heap->units = (uint32_t)(units < UNITS_MAX ? units : UNITS_MAX);
    heap->address = address;
    const enum status status =
        address ? memory_allocate_at(memory, "heap of malloc", kernel_heap_bytes(heap), address, report)
                : memory_allocate(memory, "heap of malloc", kernel_heap_bytes(heap), &heap->address, report);
    if (status != STATUS_OK)
        return status;
    memory->heap = heap; /* kernel_heap_destroy gives back what there is */
    if (!make_tables(heap))
        return report_add(report, STATUS_SYSTEM, "the host has no memory for the books of a heap of %llu bytes",
                          (unsigned long long)kernel_heap_bytes(heap));
    memset(heap->first, 0xff, sizeof heap->first);
    memory->heap_start = heap->address, memory->heap_bytes = kernel_heap_bytes(heap);
    return STATUS_OK;
}

enum status kernel_heap_create(struct memory *memory, uint64_t bytes, struct report *report) {
    const enum status status = create_at(memory, bytes, 0, report);
    if (status != STATUS_OK)
        return status;
    place_block(memory->heap, 0, memory->heap->units);
    add_free(memory->heap, 0);
    return STATUS_OK;
}

/* ---- checkpoints ---- */

#define UNLISTED (NO_BLOCK - 1) /* a free block that was read, of which no list has been heard */

/* All blocks by address. */
static void keep_blocks(struct kernel_heap *heap, struct keep *keep) {
    for (uint32_t unit = 0; unit < heap->units && keep->good; unit += heap->blocks[unit].units) {
        struct kernel_heap_block *block = &heap->blocks[unit];
        uint32_t units = block->units;
        keep_u32(keep, &units, heap->units - unit);
        keep_bool(keep, &block->is_taken);
        keep_u16(keep, &block->spare, UINT16_MAX);
        keep_check(keep, units > 0 && block->spare < (uint64_t)units * UNIT_BYTES);
        if (keep->writes || !keep->good)
            continue;
        place_block(heap, unit, units);
        if (block->is_taken)
            set_begin(heap, unit);
        else
            block->next = UNLISTED;
    }
}

static uint32_t count_free(const struct kernel_heap *heap) {
    uint32_t count = 0;
    for (uint32_t unit = 0; unit < heap->units; unit += heap->blocks[unit].units)
        count += !heap->blocks[unit].is_taken;
    return count;
}

/* The free blocks in the order in which they are asked for, each list from its end. */
static void keep_lists(struct kernel_heap *heap, struct keep *keep) {
    uint32_t left = count_free(heap);
    for (unsigned list = 0; list < LISTS && left && keep->good; list++) {
        uint32_t count = 0, last = NO_BLOCK;
        for (uint32_t at = keep->writes ? heap->first[list] : NO_BLOCK; at != NO_BLOCK; at = heap->blocks[at].next)
            count++, last = at;
        keep_u32(keep, &count, left);
        left -= count;
        for (; count && keep->good; count--) {
            uint32_t unit = last;
            keep_u32(keep, &unit, heap->units - 1);
            const struct kernel_heap_block *block = &heap->blocks[unit];
            keep_check(keep, block->units && !block->is_taken && list_of(block->units) == list);
            if (keep->writes) {
                last = block->previous;
                continue;
            }
            keep_check(keep, block->next == UNLISTED);
            if (keep->good)
                add_free(heap, unit);
        }
    }
    keep_check(keep, left == 0);
}

enum status kernel_heap_keep(struct memory *memory, struct keep *keep, struct report *report) {
    bool is_there = memory->heap != NULL;
    keep_bool(keep, &is_there);
    if (!is_there)
        return STATUS_OK;
    uint64_t address = keep->writes ? memory->heap_start : 0, bytes = memory->heap_bytes;
    keep_u64(keep, &address, UINT64_C(1) << 48);
    keep_u64(keep, &bytes, HEAP_BYTES_MAX);
    keep_check(keep, address && bytes >= HEAP_BYTES_MIN && bytes % UNIT_BYTES == 0);
    if (!keep->writes && keep->good) {
        const enum status status = create_at(memory, bytes, address, report);
        if (status != STATUS_OK)
            return status;
    }
    if (keep->good)
        keep_blocks(memory->heap, keep);
    if (keep->good)
        keep_lists(memory->heap, keep);
    return STATUS_OK;
}

void kernel_heap_destroy(struct memory *memory) {
    struct kernel_heap *heap = memory->heap;
    if (heap && heap->begins[0])
        memory_release(heap->begins[0], heap->table_bytes);
    memory->heap = NULL, memory->heap_bytes = 0;
}
