/* SPDX-License-Identifier: Apache-2.0 */
/* The heap of kernels' malloc and free: an allocation of device memory, of which blocks are handed out. Its books are the host's, so
 * that no kernel can break them. The same calls in the same order give the same addresses. */
#ifndef HEDDLE_EXEC_KERNEL_HEAP_H
#define HEDDLE_EXEC_KERNEL_HEAP_H

#include "base/keep.h"
#include "exec/memory.h"

/* A free of what is not there, found when memory performed it: its launch has gone on. */
struct kernel_heap_fault {
    bool found;
    uint32_t pc, thread; /* thread of the block */
    uint64_t block, address;
};

struct kernel_heap;

#define HEAP_BYTES_MIN (UINT64_C(1) << 10)
#define HEAP_BYTES_MAX (UINT64_C(4) << 30)

/* Takes `bytes` of device memory for it, and sets memory->heap. */
enum status kernel_heap_create(struct memory *memory, uint64_t bytes, struct report *report);
/* Its books, where it lies among them, if there is one. Read into a device that has none, of whose memory it takes its place
 * again. STATUS_OK with keep->good false: damaged. */
enum status kernel_heap_keep(struct memory *memory, struct keep *keep, struct report *report);
void kernel_heap_destroy(struct memory *memory);
/* Where it lies: what waits for its turn waits for this address. */
uint64_t kernel_heap_address(const struct kernel_heap *heap);
uint64_t kernel_heap_bytes(const struct kernel_heap *heap);
/* The device address of a block, aligned to 16 bytes or to more where that is asked for; 0: there is no room for it, or the alignment
 * is no power of two. Nobody clears it. */
uint64_t kernel_heap_allocate(struct kernel_heap *heap, uint64_t bytes, uint64_t alignment);
/* False: no block begins there. */
bool kernel_heap_free(struct kernel_heap *heap, uint64_t address);
/* The block that holds the address, and whether there is one. */
bool kernel_heap_find(const struct kernel_heap *heap, uint64_t address, uint64_t *start, uint64_t *end);
/* The first of a launch. */
struct kernel_heap_fault *kernel_heap_fault(struct kernel_heap *heap);

static inline bool kernel_heap_holds(const struct memory *memory, uint64_t address) {
    return address - memory->heap_start < memory->heap_bytes;
}

#endif
