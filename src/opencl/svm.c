/* SPDX-License-Identifier: Apache-2.0 */
#include "opencl/svm.h"

#include <stdio.h>

#include "result/guest.h"

enum { LARGEST_TYPE_BYTES = 128 }; /* long16; addresses of the device are aligned to more */

/* ---- what is allocated ---- */

struct svm_range *svm_find(cl_context context, const void *pointer) {
    for (struct svm_range *range = context->svm; range; range = range->next)
        if (!range->is_freed && (uint64_t)(uintptr_t)pointer - range->start < range->bytes)
            return range;
    return NULL;
}

static struct svm_range *find_part(cl_context context, const void *pointer, size_t bytes) {
    struct svm_range *range = svm_find(context, pointer);
    return range && bytes <= range->bytes - ((uintptr_t)pointer - range->start) ? range : NULL;
}

bool svm_has(cl_context context, const void *pointer, size_t bytes) {
    pthread_mutex_lock(&context->engine.lock);
    const bool has = find_part(context, pointer, bytes) != NULL;
    pthread_mutex_unlock(&context->engine.lock);
    return has;
}

struct svm_range *svm_keep(cl_context context, const void *pointer, size_t bytes) {
    pthread_mutex_lock(&context->engine.lock);
    struct svm_range *range = find_part(context, pointer, bytes);
    if (range)
        range->users++;
    pthread_mutex_unlock(&context->engine.lock);
    return range;
}

/* Ends one use, and the allocation with the last. The lock is held at entry, not at the end. */
static void drop(cl_context context, struct svm_range *range) {
    const uint64_t start = range->start;
    const bool ends = --range->users == 0;
    struct svm_range **at = &context->svm;
    while (ends && *at != range)
        at = &(*at)->next;
    if (ends) {
        *at = range->next;
        range->next = context->unused_svm;
        context->unused_svm = range;
    }
    pthread_mutex_unlock(&context->engine.lock);
    if (!ends)
        return;
    engine_acquire(&context->engine);
    device_free(context->engine.device, start);
    guest_freed(context->recording, start);
    engine_give_back(&context->engine);
}

void svm_let_go(cl_context context, struct svm_range *range) {
    pthread_mutex_lock(&context->engine.lock);
    drop(context, range);
}

/* Room on the device, at the same address for the host; 0: there is none. */
static uint64_t place(cl_context context, cl_svm_mem_flags flags, size_t bytes) {
    uint64_t address = 0;
    char name[48];
    snprintf(name, sizeof name, "clSVMAlloc %u", atomic_fetch_add(&context->buffers, 1) + 1);
    engine_acquire(&context->engine);
    if (device_alloc(context->engine.device, name, bytes, &address, NULL) == STATUS_OK)
        guest_allocated(context->recording, &(struct host_range){address, bytes, name},
                        flags & CL_MEM_SVM_FINE_GRAIN_BUFFER);
    else
        address = 0;
    engine_give_back(&context->engine);
    return address;
}

/* False: the host has no memory. */
static bool add(cl_context context, const struct svm_range *like) {
    pthread_mutex_lock(&context->engine.lock);
    struct svm_range *range = context->unused_svm;
    if (range)
        context->unused_svm = range->next;
    else
        range = object_alloc(&context->object, sizeof *range);
    if (range) {
        *range = *like;
        range->next = context->svm;
        context->svm = range;
    }
    pthread_mutex_unlock(&context->engine.lock);
    return range != NULL;
}

/* ---- entry points ---- */

static bool flags_fit(cl_svm_mem_flags flags) {
    const cl_svm_mem_flags access = flags & (CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY);
    return !(access & (access - 1)) && !(flags & ~(access | CL_MEM_SVM_FINE_GRAIN_BUFFER));
}

void *CL_API_CALL clSVMAlloc(cl_context context, cl_svm_mem_flags flags, size_t size, cl_uint alignment) {
    if (!object_is(context, OBJECT_CONTEXT) || !svm_is_supported(context->device) || !flags_fit(flags) || !size ||
        size > device_largest_buffer(context->device) || (alignment & (alignment - 1)) ||
        alignment > LARGEST_TYPE_BYTES)
        return NULL;
    if (!context->is_unified) {
        context_tell(
            context,
            "clSVMAlloc is refused: the addresses of the device are not the program's own here. They are of one "
            "context of a process at a time, the first; release the others before this one is made, or use "
            "clCreateBuffer");
        return NULL;
    }
    const struct svm_range like = {.start = place(context, flags, size), .bytes = size, .flags = flags, .users = 1};
    if (!like.start || add(context, &like))
        return (void *)(uintptr_t)like.start;
    engine_acquire(&context->engine);
    device_free(context->engine.device, like.start);
    guest_freed(context->recording, like.start);
    engine_give_back(&context->engine);
    return NULL;
}

void CL_API_CALL clSVMFree(cl_context context, void *pointer) {
    if (!object_is(context, OBJECT_CONTEXT) || !pointer)
        return;
    pthread_mutex_lock(&context->engine.lock);
    struct svm_range *range = svm_find(context, pointer);
    if (!range || range->start != (uintptr_t)pointer) {
        pthread_mutex_unlock(&context->engine.lock);
        return;
    }
    range->is_freed = true;
    drop(context, range);
}
