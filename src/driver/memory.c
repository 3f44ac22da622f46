/* SPDX-License-Identifier: Apache-2.0 */
/* Memory: allocations, bytes moved and filled, and what a pointer is. */
#include <string.h>

#include "cuda/copy.h"
#include "cuda/stream.h"
#include "device/host.h"
#include "driver/driver.h"

RUNTIME(13, cudaMalloc, void **, size_t);
RUNTIME(13, cudaMallocPitch, void **, size_t *, size_t, size_t);
RUNTIME(13, cudaMemcpyAsync, void *, const void *, size_t, int, void *);
RUNTIME(13, cudaMemcpy3DAsync, const struct copy3d *, void *);
RUNTIME(13, cudaArrayGetInfo, struct channel_format *, struct extent_bytes *, unsigned *, const void *);
RUNTIME(13, cudaPointerGetAttributes, struct pointer_attributes *, const void *);
RUNTIME(13, cudaGraphAddMemcpyNode, void **, void *, void *const *, size_t, const struct copy3d *);
RUNTIME(13, cudaGraphAddMemsetNode, void **, void *, void *const *, size_t, const struct fill_node_params *);

/* ---- allocations ---- */

static enum cuda_error allocate(void **out, size_t bytes) {
    BEGIN(NEEDS_CONTEXT);
    return driver_end(bytes ? heddle_13_cudaMalloc(out, bytes) : cudaErrorInvalidValue);
}

API_CU(cuMemAlloc_v2, void **out, size_t bytes) { return allocate(out, bytes); }
API_CU_STREAM(cuMemAllocAsync, void **out, size_t bytes, void *stream) {
    (void)stream;
    return allocate(out, bytes);
}

API_CU(cuMemAllocPitch_v2, void **out, size_t *pitch, size_t width, size_t height, unsigned element_bytes) {
    BEGIN(NEEDS_CONTEXT);
    const bool is_right =
        width && height && (element_bytes == 4 || element_bytes == 8 || element_bytes == 16); /* as documented */
    return driver_end(is_right ? heddle_13_cudaMallocPitch(out, pitch, width, height) : cudaErrorInvalidValue);
}

API_CU(cuMemGetAddressRange_v2, uint64_t *start, size_t *bytes, uint64_t address) {
    uint64_t first = 0, length = 0;
    BEGIN_LOCKED(cuda);
    if (!host_allocation(cuda->device, address, &first, &length))
        return driver_leave(cuda, cudaErrorSymbolNotFound);
    if (start)
        *start = first;
    if (bytes)
        *bytes = (size_t)length;
    return driver_leave(cuda, cudaSuccess);
}

/* ---- bytes that are moved ---- */

static enum cuda_error copy(void *to, const void *from, size_t bytes, int kind, void *stream) {
    BEGIN(NEEDS_CONTEXT);
    return driver_end(heddle_13_cudaMemcpyAsync(to, from, bytes, kind, stream));
}

#define COPY(name, blocking, kind)                                                                                     \
    API_CU_BLOCKING(blocking, void *to, const void *from, size_t bytes) { return copy(to, from, bytes, kind, NULL); }  \
    API_CU_STREAM(name, void *to, const void *from, size_t bytes, void *stream) {                                      \
        return copy(to, from, bytes, kind, stream);                                                                    \
    }
COPY(cuMemcpyAsync, cuMemcpy, COPY_DEFAULT)
COPY(cuMemcpyHtoDAsync_v2, cuMemcpyHtoD_v2, COPY_HOST_TO_DEVICE)
COPY(cuMemcpyDtoHAsync_v2, cuMemcpyDtoH_v2, COPY_DEVICE_TO_HOST)
COPY(cuMemcpyDtoDAsync_v2, cuMemcpyDtoD_v2, COPY_DEVICE_TO_DEVICE)

API_CU_BLOCKING(cuMemcpyPeer, void *to, const void *to_context, const void *from, const void *from_context,
                size_t bytes) {
    (void)to_context, (void)from_context;
    return copy(to, from, bytes, COPY_DEVICE_TO_DEVICE, NULL);
}
API_CU_STREAM(cuMemcpyPeerAsync, void *to, const void *to_context, const void *from, const void *from_context,
              size_t bytes, void *stream) {
    (void)to_context, (void)from_context;
    return copy(to, from, bytes, COPY_DEVICE_TO_DEVICE, stream);
}

/* CUDA_MEMCPY2D, CUDA_MEMCPY3D and CUDA_MEMCPY3D_PEER. */
enum { PLACE_HOST = 1, PLACE_DEVICE, PLACE_ARRAY, PLACE_UNIFIED };

struct driver_side2d {
    size_t x, y;
    int place;
    void *host, *device, *array;
    size_t pitch;
};

struct driver_copy2d {
    struct driver_side2d from, to;
    size_t width, height;
};

struct driver_side3d {
    size_t x, y, z, level;
    int place;
    void *host, *device, *array, *context;
    size_t pitch, height;
};

struct driver_copy3d {
    struct driver_side3d from, to;
    size_t width, height, depth;
};

/* Bytes of what the runtime counts on a side: of texels where it is an array. */
static size_t unit_of(const struct driver_side3d *side) {
    struct channel_format format;
    if (side->place != PLACE_ARRAY || heddle_13_cudaArrayGetInfo(&format, NULL, NULL, side->array))
        return 1;
    return (size_t)(format.x + format.y + format.z + format.w) / 8;
}

static struct copy3d_side side_of(const struct driver_side3d *side) {
    return (struct copy3d_side){.array = side->place == PLACE_ARRAY ? side->array : NULL,
                                .at = {side->x / unit_of(side), side->y, side->z},
                                .memory = {.data = side->place == PLACE_HOST ? side->host : side->device,
                                           .pitch = side->pitch,
                                           .height = side->height}};
}

/* As the runtime is told; false: a side is nowhere, or a part of an array is not of whole texels. */
static bool copy_of(const struct driver_copy3d *order, struct copy3d *out) {
    static const int kinds[3][3] = {
        [PLACE_HOST] = {[PLACE_HOST] = COPY_HOST_TO_HOST, [PLACE_DEVICE] = COPY_HOST_TO_DEVICE},
        [PLACE_DEVICE] = {[PLACE_HOST] = COPY_DEVICE_TO_HOST, [PLACE_DEVICE] = COPY_DEVICE_TO_DEVICE}};
    const int from = order->from.place, to = order->to.place;
    if (from < PLACE_HOST || from > PLACE_UNIFIED || to < PLACE_HOST || to > PLACE_UNIFIED)
        return false;
    const size_t from_unit = unit_of(&order->from), to_unit = unit_of(&order->to);
    const size_t unit = from_unit > to_unit ? from_unit : to_unit;
    if (order->from.x % from_unit || order->to.x % to_unit || order->width % unit)
        return false;
    *out = (struct copy3d){.from = side_of(&order->from),
                           .to = side_of(&order->to),
                           .extent = {order->width / unit, order->height, order->depth},
                           .kind = from > PLACE_DEVICE || to > PLACE_DEVICE ? COPY_DEFAULT : kinds[from][to]};
    return true;
}

static enum cuda_error copy_3d(const struct driver_copy3d *order, void *stream) {
    struct copy3d same;
    BEGIN(NEEDS_CONTEXT);
    return driver_end(order && copy_of(order, &same) ? heddle_13_cudaMemcpy3DAsync(&same, stream)
                                                     : cudaErrorInvalidValue);
}

static struct driver_side3d deep(const struct driver_side2d *side) {
    return (struct driver_side3d){.x = side->x,
                                  .y = side->y,
                                  .place = side->place,
                                  .host = side->host,
                                  .device = side->device,
                                  .array = side->array,
                                  .pitch = side->pitch};
}

static enum cuda_error copy_2d(const struct driver_copy2d *order, void *stream) {
    if (!order)
        return cudaErrorInvalidValue;
    const struct driver_copy3d same = {
        .from = deep(&order->from), .to = deep(&order->to), .width = order->width, .height = order->height, .depth = 1};
    return copy_3d(&same, stream);
}

API_CU_BLOCKING(cuMemcpy2D_v2, const struct driver_copy2d *order) { return copy_2d(order, NULL); }
API_CU_BLOCKING(cuMemcpy2DUnaligned_v2, const struct driver_copy2d *order) { return copy_2d(order, NULL); }
API_CU_STREAM(cuMemcpy2DAsync_v2, const struct driver_copy2d *order, void *stream) { return copy_2d(order, stream); }
API_CU_BLOCKING(cuMemcpy3D_v2, const struct driver_copy3d *order) { return copy_3d(order, NULL); }
API_CU_STREAM(cuMemcpy3DAsync_v2, const struct driver_copy3d *order, void *stream) { return copy_3d(order, stream); }
API_CU_BLOCKING(cuMemcpy3DPeer, const struct driver_copy3d *order) { return copy_3d(order, NULL); }
API_CU_STREAM(cuMemcpy3DPeerAsync, const struct driver_copy3d *order, void *stream) { return copy_3d(order, stream); }

API_CU(cuGraphAddMemcpyNode, void **out, void *graph, void *const *needs, size_t count,
       const struct driver_copy3d *order, const void *context) {
    struct copy3d same;
    (void)context;
    BEGIN(NEEDS_CONTEXT);
    return driver_end(order && copy_of(order, &same) ? heddle_13_cudaGraphAddMemcpyNode(out, graph, needs, count, &same)
                                                     : cudaErrorInvalidValue);
}

/* ---- bytes that are filled ---- */

/* Width in elements. */
static enum cuda_error fill(void *to, const struct cuda_fill *how, void *stream) {
    struct cuda_fill whole = *how;
    struct stream_work work;
    BEGIN_LOCKED(cuda);
    if ((uintptr_t)to % how->element_bytes || how->row % how->element_bytes ||
        how->width > SIZE_MAX / how->element_bytes)
        return driver_leave(cuda, cudaErrorInvalidValue);
    whole.width *= how->element_bytes;
    whole.slices = 1;
    enum cuda_error error = fill_work(cuda, to, &whole, &work);
    if (!error)
        error = stream_submit(cuda, stream_find(cuda, stream), &work);
    return driver_leave(cuda, error);
}

#define FILL(bits, type)                                                                                               \
    API_CU_BLOCKING(cuMemsetD##bits##_v2, void *to, type value, size_t count) {                                        \
        return fill(to, &(struct cuda_fill){.width = count, .rows = 1, .value = value, .element_bytes = (bits) / 8},   \
                    NULL);                                                                                             \
    }                                                                                                                  \
    API_CU_STREAM(cuMemsetD##bits##Async, void *to, type value, size_t count, void *stream) {                          \
        return fill(to, &(struct cuda_fill){.width = count, .rows = 1, .value = value, .element_bytes = (bits) / 8},   \
                    stream);                                                                                           \
    }                                                                                                                  \
    API_CU_BLOCKING(cuMemsetD2D##bits##_v2, void *to, size_t row, type value, size_t width, size_t rows) {             \
        return fill(to,                                                                                                \
                    &(struct cuda_fill){                                                                               \
                        .row = row, .width = width, .rows = rows, .value = value, .element_bytes = (bits) / 8},        \
                    NULL);                                                                                             \
    }                                                                                                                  \
    API_CU_STREAM(cuMemsetD2D##bits##Async, void *to, size_t row, type value, size_t width, size_t rows,               \
                  void *stream) {                                                                                      \
        return fill(to,                                                                                                \
                    &(struct cuda_fill){                                                                               \
                        .row = row, .width = width, .rows = rows, .value = value, .element_bytes = (bits) / 8},        \
                    stream);                                                                                           \
    }
FILL(8, unsigned char)
FILL(16, unsigned short)
FILL(32, unsigned)

API_CU(cuGraphAddMemsetNode, void **out, void *graph, void *const *needs, size_t count,
       const struct fill_node_params *params, const void *context) {
    (void)context;
    BEGIN(NEEDS_CONTEXT);
    return driver_end(heddle_13_cudaGraphAddMemsetNode(out, graph, needs, count, params));
}

/* ---- what a pointer is ---- */

struct pointer_facts {
    struct pointer_attributes about;
    uint64_t start, bytes;
    struct driver_context *context;
};

struct pointer_value {
    size_t bytes; /* 0: there is no such attribute */
    uint64_t value;
    bool is_needed; /* 0 is no value */
};

static struct pointer_value pointer_attribute(const struct pointer_facts *facts, int attribute) {
    enum { READ_WRITE = 3, LAST_ATTRIBUTE = 16 };
    const struct pointer_attributes *about = &facts->about;
    const struct pointer_value values[LAST_ATTRIBUTE + 1] = {
        [1] = {sizeof(void *), (uintptr_t)facts->context, false},
        [2] = {sizeof(unsigned), about->type == POINTER_HOST ? PLACE_HOST : PLACE_DEVICE, false},
        [3] = {sizeof(void *), (uintptr_t)about->device_pointer, true},
        [4] = {sizeof(void *), (uintptr_t)about->host_pointer, true},
        [6] = {sizeof(unsigned), 1, false},           /* copies end before they return */
        [7] = {sizeof(uint64_t), facts->start, true}, /* a number of the allocation */
        [8] = {sizeof(unsigned), about->type == POINTER_MANAGED, false},
        [9] = {sizeof(int), 0, false},       /* the device */
        [10] = {sizeof(unsigned), 0, false}, /* other processes cannot open it */
        [11] = {sizeof(uint64_t), facts->start, true},
        [12] = {sizeof(size_t), facts->bytes, true},
        [13] = {sizeof(unsigned), 1, false}, /* it is mapped */
        [14] = {sizeof(uint64_t), 0, false}, /* handles for others: none */
        [15] = {sizeof(unsigned), 0, false},
        [16] = {sizeof(unsigned), READ_WRITE, false},
    };
    return attribute > 0 && attribute <= LAST_ATTRIBUTE ? values[attribute] : (struct pointer_value){.bytes = 0};
}

/* Whether CUDA knows the pointer. */
static enum cuda_error pointer_facts(uint64_t pointer, struct pointer_facts *out) {
    *out = (struct pointer_facts){.start = 0};
    enum cuda_error error = heddle_13_cudaPointerGetAttributes(&out->about, (const void *)(uintptr_t)pointer);
    if (error)
        return error;
    struct runtime *cuda = runtime_enter();
    host_allocation(cuda->device, pointer, &out->start, &out->bytes);
    out->context = context_current(cuda);
    return runtime_leave(cuda, out->about.type == POINTER_UNREGISTERED ? cudaErrorInvalidValue : cudaSuccess);
}

API_CU(cuPointerGetAttribute, void *out, int attribute, uint64_t pointer) {
    struct pointer_facts facts;
    BEGIN(NEEDS_CONTEXT);
    const enum cuda_error error = out ? pointer_facts(pointer, &facts) : cudaErrorInvalidValue;
    if (error)
        return driver_end(error);
    const struct pointer_value is = pointer_attribute(&facts, attribute);
    if (!is.bytes || (is.is_needed && !is.value))
        return driver_end(cudaErrorInvalidValue);
    memcpy(out, &is.value, is.bytes); /* little-endian */
    return driver_end(cudaSuccess);
}

/* What CUDA does not know has attributes of 0. */
API_CU(cuPointerGetAttributes, unsigned count, const int *list, void **out, uint64_t pointer) {
    struct pointer_facts facts;
    BEGIN(NEEDS_CONTEXT);
    if (!list || !out)
        return driver_end(cudaErrorInvalidValue);
    const bool is_known = pointer_facts(pointer, &facts) == cudaSuccess;
    for (unsigned i = 0; i < count; i++) {
        struct pointer_value is = pointer_attribute(&facts, list[i]);
        if (!is.bytes)
            return driver_end(cudaErrorInvalidValue);
        if (!is_known)
            is.value = 0;
        memcpy(out[i], &is.value, is.bytes);
    }
    return driver_end(cudaSuccess);
}

API_CU(cuPointerSetAttribute, const void *value, int attribute, uint64_t pointer) {
    enum { SYNC_MEMOPS = 6 };
    struct pointer_facts facts;
    BEGIN(NEEDS_CONTEXT);
    return driver_end(value && attribute == SYNC_MEMOPS ? pointer_facts(pointer, &facts) : cudaErrorInvalidValue);
}
