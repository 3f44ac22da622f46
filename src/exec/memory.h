/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory: one range of addresses from GLOBAL_BASE up, committed allocation by allocation. */
#ifndef HEDDLE_EXEC_MEMORY_H
#define HEDDLE_EXEC_MEMORY_H

#include "base/arena.h"
#include "base/status.h"
#include "isa/address.h"

struct allocation {
    uint64_t start, end; /* device addresses; end is one past the last byte asked for */
    uint64_t limit;      /* end of the room it takes, guard included */
    const char *name;
    bool is_reference; /* a variable that holds the handle of an image */
};

/* Whoever keeps account of what memory holds (heddle exec --check): hears what the host puts there. */
struct memory_listener {
    void *self;
    void (*written)(void *self, uint64_t address, uint64_t bytes);
    void (*copied)(void *self, uint64_t to, uint64_t from, uint64_t bytes);
};

struct image_view;  /* image/image.h */
struct footprint;   /* exec/footprint.h */
struct kernel_heap; /* exec/kernel_heap.h */

struct memory {
    uint8_t *host;                       /* of address GLOBAL_BASE */
    uint64_t capacity_bytes, used_bytes; /* used: up to the end of the highest allocation there has been */
    uint64_t guard_bytes;                /* left free behind every allocation */
    uint64_t freed_bytes;                /* of used_bytes, those given back and not taken again */
    uint64_t kept_bytes;                 /* of used_bytes, those given back that nobody may take: `kept` */
    bool is_cut;                         /* the host gave less address space than the device has memory */
    struct {
        struct allocation *items;
        unsigned count, capacity;
    } allocations; /* by address */
    struct {
        struct allocation *items;
        unsigned count, capacity;
    } kept; /* with a listener: what was given back, so that an access to it is known for one */
    const struct memory_listener *listener; /* NULL: nobody */
    struct allocation shared;               /* memory of the host that kernels reach at its own address; end 0: none */
    struct footprint *footprint;            /* what is accessed is noted there; NULL: nobody asks */
    struct kernel_heap *heap;               /* of kernels' malloc; NULL: none has asked yet */
    uint64_t heap_start, heap_bytes;
    struct {
        struct image_view *items; /* one that is not in use has no width */
        unsigned count, capacity;
    } images; /* by their handles, from 1 on */
    struct arena *arena;
};

enum status memory_create(struct memory *memory, struct arena *arena, uint64_t capacity_bytes, uint64_t guard_bytes,
                          struct report *report);
void memory_destroy(struct memory *memory);
enum status memory_allocate(struct memory *memory, const char *name, uint64_t bytes, uint64_t *address,
                            struct report *report);
/* The same at an address that the caller chooses, where nothing may be; it need not be aligned. */
enum status memory_allocate_at(struct memory *memory, const char *name, uint64_t bytes, uint64_t address,
                               struct report *report);
/* An allocation becomes several: parts, by address, whose start, end and name are given. What lies between them is
 * nobody's. */
void memory_split(struct memory *memory, uint64_t address, const struct allocation *parts, unsigned count);
/* Gives an allocation back, by its first address; the lowest hole that is large enough is taken first, with a listener only where there is
 * no other room. */
void memory_free(struct memory *memory, uint64_t address);
/* The allocation that holds the address, or NULL. */
const struct allocation *memory_find(const struct memory *memory, uint64_t address);
/* The allocation that held the address and was given back (`kept`), or NULL. */
const struct allocation *memory_find_kept(const struct memory *memory, uint64_t address);
/* The allocation whose end or start lies nearest; NULL when there is none. */
const struct allocation *memory_nearest(const struct memory *memory, uint64_t address);

static inline uint8_t *memory_host(const struct memory *memory, uint64_t address) {
    return memory->host + (address - GLOBAL_BASE);
}

#endif
