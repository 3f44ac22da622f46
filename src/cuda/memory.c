/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda/memory.h"

#include <stdio.h>
#include <string.h>

#include "base/bits.h"
#include "cuda/stream.h"

enum { PITCH_BYTES = 512, ATTACH_GLOBAL = 1 };

/* A range that is more than device memory: pinned, managed, or memory that the program registers. */
struct pinned {
    int type; /* POINTER_HOST, POINTER_MANAGED */
    unsigned flags;
    uint64_t host, device; /* its addresses; device 0: the device does not reach it */
    uint64_t bytes;
    bool is_registered; /* the program's own memory */
    struct arena arena; /* holds this, and memory that the device does not reach */
    struct pinned *next;
};

static struct pinned *pinned_find(const struct runtime *cuda, uint64_t address, bool by_device) {
    for (struct pinned *one = cuda->pinned; one; one = one->next) {
        const uint64_t start = by_device ? one->device : one->host;
        if (start && address - start < one->bytes)
            return one;
    }
    return NULL;
}

static struct pinned *pinned_add(struct runtime *cuda, const struct pinned *like) {
    struct arena arena = {0};
    struct pinned *one = ARENA_NEW(&arena, struct pinned);
    *one = *like;
    one->arena = arena;
    one->next = cuda->pinned;
    cuda->pinned = one;
    return one;
}

static void give_back(struct runtime *cuda, uint64_t address) {
    device_free(cuda->device, address);
    guest_freed(cuda->recording, address);
}

static void pinned_remove(struct runtime *cuda, struct pinned *one) {
    struct pinned **at = &cuda->pinned;
    while (*at != one)
        at = &(*at)->next;
    *at = one->next;
    if (one->device)
        give_back(cuda, one->device);
    struct arena arena = one->arena;
    arena_free(&arena);
}

void pinned_forget(struct runtime *cuda) {
    while (cuda->pinned)
        pinned_remove(cuda, cuda->pinned);
}

void pinned_to_device(struct runtime *cuda) {
    for (struct pinned *one = cuda->pinned; one; one = one->next)
        if (one->is_registered)
            memcpy(device_memory(cuda->device, one->device, one->bytes), (void *)(uintptr_t)one->host, one->bytes);
}

void pinned_to_host(struct runtime *cuda) {
    for (struct pinned *one = cuda->pinned; one; one = one->next)
        if (one->is_registered)
            memcpy((void *)(uintptr_t)one->host, device_memory(cuda->device, one->device, one->bytes), one->bytes);
}

/* is_written: the host writes there when it likes. */
static enum cuda_error allocate(struct runtime *cuda, const char *function, size_t bytes, bool is_written,
                                uint64_t *address) {
    struct report report = {0};
    char name[48];
    snprintf(name, sizeof name, "%s", function);
    if (guest_is_checked(cuda->recording)) /* which of them */
        snprintf(name, sizeof name, "%s %llu", function, (unsigned long long)++cuda->allocations);
    const enum status status = device_alloc(cuda->device, name, bytes, address, &report);
    report_free(&report);
    if (!status)
        guest_allocated(cuda->recording, &(struct host_range){*address, bytes, name}, is_written);
    return status ? cudaErrorMemoryAllocation : cudaSuccess;
}

/* ---- entry points: device memory ---- */

API(cudaMalloc, void **out, size_t bytes) {
    uint64_t address = 0;
    ENTER(cuda);
    if (!out)
        return runtime_leave(cuda, cudaErrorInvalidValue);
    const enum cuda_error error = bytes ? allocate(cuda, "cudaMalloc", bytes, false, &address) : cudaSuccess;
    *out = (void *)(uintptr_t)address;
    return runtime_leave(cuda, error);
}

API(cudaMallocPitch, void **out, size_t *pitch, size_t width, size_t height) {
    if (!pitch || width > SIZE_MAX / 2 || (height && bits_round_up(width, PITCH_BYTES) > SIZE_MAX / height))
        return runtime_note(cudaErrorInvalidValue);
    *pitch = bits_round_up(width, PITCH_BYTES);
    return entry_cudaMalloc(out, *pitch * height);
}

API(cudaMalloc3D, struct pitched_pointer *out, struct extent_bytes extent) {
    if (!out)
        return runtime_note(cudaErrorInvalidValue);
    out->width = extent.width;
    out->height = extent.height;
    return entry_cudaMallocPitch(&out->data, &out->pitch, extent.width, extent.height * extent.depth);
}

static enum cuda_error free_memory(void *pointer) {
    uint64_t start = 0, bytes = 0;
    const uint64_t address = (uint64_t)(uintptr_t)pointer;
    ENTER(cuda);
    if (!pointer)
        return runtime_leave(cuda, cudaSuccess);
    struct pinned *one = pinned_find(cuda, address, false);
    if (one && one->host == address && !one->is_registered)
        pinned_remove(cuda, one);
    else if (!one && host_allocation(cuda->device, address, &start, &bytes) && start == address)
        give_back(cuda, address);
    else
        return runtime_leave(cuda, cudaErrorInvalidValue);
    return runtime_leave(cuda, cudaSuccess);
}

API(cudaFree, void *pointer) { return free_memory(pointer); }
API(cudaFreeHost, void *pointer) { return free_memory(pointer); }

API_STREAM(cudaMallocAsync, void **out, size_t bytes, void *stream) {
    (void)stream;
    return entry_cudaMalloc(out, bytes);
}

API_STREAM(cudaMallocFromPoolAsync, void **out, size_t bytes, void *pool, void *stream) {
    (void)pool, (void)stream;
    return entry_cudaMalloc(out, bytes);
}

API_STREAM(cudaFreeAsync, void *pointer, void *stream) {
    (void)stream;
    return free_memory(pointer);
}

API(cudaMemGetInfo, size_t *left, size_t *all) {
    ENTER(cuda);
    if (!left || !all)
        return runtime_leave(cuda, cudaErrorInvalidValue);
    *all = host_capacity_bytes(cuda->device);
    *left = *all - host_used_bytes(cuda->device);
    return runtime_leave(cuda, cudaSuccess);
}

/* ---- entry points: memory that both reach ---- */

API(cudaMallocManaged, void **out, size_t bytes, unsigned flags) {
    struct pinned like = {.type = POINTER_MANAGED, .flags = flags, .bytes = bytes};
    ENTER(cuda);
    if (!out || !bytes)
        return runtime_leave(cuda, cudaErrorInvalidValue);
    if (!cuda->is_unified) {
        runtime_say(cuda, "cudaMallocManaged is refused: device memory does not lie at the program's own addresses");
        return runtime_leave(cuda, cudaErrorNotSupported);
    }
    const enum cuda_error error = allocate(cuda, "cudaMallocManaged", bytes, true, &like.device);
    like.host = like.device;
    if (!error)
        *out = (void *)(uintptr_t)pinned_add(cuda, &like)->host;
    return runtime_leave(cuda, error);
}

API(cudaHostAlloc, void **out, size_t bytes, unsigned flags) {
    struct pinned like = {.type = POINTER_HOST, .flags = flags, .bytes = bytes};
    enum cuda_error error = cudaSuccess;
    ENTER(cuda);
    if (!out)
        return runtime_leave(cuda, cudaErrorInvalidValue);
    *out = NULL;
    if (bytes && cuda->is_unified)
        error = allocate(cuda, "cudaHostAlloc", bytes, true, &like.device);
    like.host = like.device;
    if (bytes && !error) {
        struct pinned *one = pinned_add(cuda, &like);
        if (!one->host)
            one->host = (uint64_t)(uintptr_t)arena_alloc_aligned(&one->arena, bytes, 4096);
        *out = (void *)(uintptr_t)one->host;
    }
    return runtime_leave(cuda, error);
}

API(cudaMallocHost, void **out, size_t bytes) { return entry_cudaHostAlloc(out, bytes, 0); }

API(cudaHostGetDevicePointer, void **out, void *host, unsigned flags) {
    ENTER(cuda);
    const uint64_t address = (uint64_t)(uintptr_t)host;
    const struct pinned *one = pinned_find(cuda, address, false);
    if (!out || flags || !one || !one->device)
        return runtime_leave(cuda, cudaErrorInvalidValue);
    *out = (void *)(uintptr_t)(one->device + (address - one->host));
    return runtime_leave(cuda, cudaSuccess);
}

API(cudaHostGetFlags, unsigned *out, void *host) {
    ENTER(cuda);
    const struct pinned *one = pinned_find(cuda, (uint64_t)(uintptr_t)host, false);
    if (!out || !one || one->type != POINTER_HOST)
        return runtime_leave(cuda, cudaErrorInvalidValue);
    *out = one->flags;
    return runtime_leave(cuda, cudaSuccess);
}

API(cudaHostRegister, void *host, size_t bytes, unsigned flags) {
    struct pinned like = {
        .type = POINTER_HOST, .flags = flags, .host = (uint64_t)(uintptr_t)host, .bytes = bytes, .is_registered = true};
    ENTER(cuda);
    if (!host || !bytes)
        return runtime_leave(cuda, cudaErrorInvalidValue);
    if (pinned_find(cuda, like.host, false))
        return runtime_leave(cuda, cudaErrorHostMemoryAlreadyRegistered);
    const enum cuda_error error = allocate(cuda, "cudaHostRegister", bytes, true, &like.device);
    if (!error)
        pinned_add(cuda, &like);
    return runtime_leave(cuda, error);
}

API(cudaHostUnregister, void *host) {
    ENTER(cuda);
    struct pinned *one = pinned_find(cuda, (uint64_t)(uintptr_t)host, false);
    if (!one || !one->is_registered)
        return runtime_leave(cuda, cudaErrorHostMemoryNotRegistered);
    pinned_remove(cuda, one);
    return runtime_leave(cuda, cudaSuccess);
}

API(cudaPointerGetAttributes, struct pointer_attributes *out, const void *pointer) {
    uint64_t start, bytes;
    const uint64_t address = (uint64_t)(uintptr_t)pointer;
    ENTER(cuda);
    if (!out)
        return runtime_leave(cuda, cudaErrorInvalidValue);
    const struct pinned *host = pinned_find(cuda, address, false),
                        *one = host ? host : pinned_find(cuda, address, true);
    const bool on_device = host_allocation(cuda->device, address, &start, &bytes);
    *out = (struct pointer_attributes){.type = one         ? one->type
                                               : on_device ? POINTER_DEVICE
                                                           : POINTER_UNREGISTERED,
                                       .device = one || on_device ? 0 : -2};
    if (one && one->device)
        out->device_pointer = (void *)(uintptr_t)(one->device + (address - (host ? one->host : one->device)));
    if (one)
        out->host_pointer = (void *)(uintptr_t)(one->host + (address - (host ? one->host : one->device)));
    else
        out->device_pointer = on_device ? (void *)(uintptr_t)pointer : NULL;
    if (!one && !on_device)
        out->host_pointer = (void *)(uintptr_t)pointer;
    return runtime_leave(cuda, cudaSuccess);
}

/* ---- entry points: where memory should be ---- */

/* There is one place: advice changes nothing but is checked. */
static enum cuda_error advised(const void *pointer, size_t bytes, void *stream) {
    ENTER(cuda);
    const bool right =
        bytes && device_memory(cuda->device, (uint64_t)(uintptr_t)pointer, bytes) && stream_find(cuda, stream);
    return runtime_leave(cuda, right ? cudaSuccess : cudaErrorInvalidValue);
}

API_IN(11, cudaMemPrefetchAsync, const void *pointer, size_t bytes, int device, void *stream) {
    return device > 0 ? runtime_note(cudaErrorInvalidDevice) : advised(pointer, bytes, stream);
}
EXPORT_12(entry_11_cudaMemPrefetchAsync, cudaMemPrefetchAsync)
EXPORT_11(entry_11_cudaMemPrefetchAsync, cudaMemPrefetchAsync_ptsz)
EXPORT_12(entry_11_cudaMemPrefetchAsync, cudaMemPrefetchAsync_ptsz)

API_IN(13, cudaMemPrefetchAsync, const void *pointer, size_t bytes, struct memory_location location, unsigned flags,
       void *stream) {
    (void)location, (void)flags;
    return advised(pointer, bytes, stream);
}
EXPORT_12(entry_13_cudaMemPrefetchAsync, cudaMemPrefetchAsync_v2)
EXPORT_12(entry_13_cudaMemPrefetchAsync, cudaMemPrefetchAsync_v2_ptsz)
EXPORT_13(entry_13_cudaMemPrefetchAsync, cudaMemPrefetchAsync_ptsz)

API_IN(11, cudaMemAdvise, const void *pointer, size_t bytes, int advice, int device) {
    (void)advice, (void)device;
    return advised(pointer, bytes, NULL);
}
EXPORT_12(entry_11_cudaMemAdvise, cudaMemAdvise)

API_IN(13, cudaMemAdvise, const void *pointer, size_t bytes, int advice, struct memory_location location) {
    (void)advice, (void)location;
    return advised(pointer, bytes, NULL);
}
EXPORT_12(entry_13_cudaMemAdvise, cudaMemAdvise_v2)

/* ---- entry points: pools, of which there is one ---- */

static const char the_pool = 0;

static enum cuda_error give_pool(void **out) {
    if (out)
        *out = (void *)(uintptr_t)&the_pool;
    return runtime_note(out ? cudaSuccess : cudaErrorInvalidValue);
}

API(cudaDeviceGetDefaultMemPool, void **out, int device) {
    return device ? runtime_note(cudaErrorInvalidDevice) : give_pool(out);
}
API(cudaDeviceGetMemPool, void **out, int device) {
    return device ? runtime_note(cudaErrorInvalidDevice) : give_pool(out);
}
API(cudaMemPoolCreate, void **out, const void *properties) {
    return properties ? give_pool(out) : runtime_note(cudaErrorInvalidValue);
}

static enum cuda_error answer_pool(const void *pool) {
    return runtime_note(pool == &the_pool ? cudaSuccess : cudaErrorInvalidValue);
}

API(cudaDeviceSetMemPool, int device, void *pool) {
    return device ? runtime_note(cudaErrorInvalidDevice) : answer_pool(pool);
}
API(cudaMemPoolDestroy, void *pool) { return answer_pool(pool); }
API(cudaMemPoolTrimTo, void *pool, size_t bytes) {
    (void)bytes;
    return answer_pool(pool);
}
API(cudaMemPoolSetAttribute, void *pool, int attribute, void *value) {
    (void)attribute, (void)value;
    return answer_pool(pool);
}
API(cudaMemPoolSetAccess, void *pool, const void *list, size_t count) {
    (void)list, (void)count;
    return answer_pool(pool);
}
