/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda/copy.h"

#include "cuda/array.h"
#include "cuda/stream.h"

enum side { SIDE_HOST, SIDE_DEVICE, SIDE_EITHER };

/* Where the host finds a range that a program names; NULL: it is not there. *address: on the device, 0 if it is not. */
static uint8_t *view(struct runtime *cuda, const void *pointer, size_t bytes, enum side side, uint64_t *address) {
    const uint64_t start = (uint64_t)(uintptr_t)pointer;
    uint8_t *on_device = side == SIDE_HOST && !cuda->is_unified ? NULL : device_memory(cuda->device, start, bytes);
    const bool in_range = cuda->is_unified && host_is_address(cuda->device, start);
    *address = on_device ? start : 0;
    if (on_device)
        return on_device;
    return side == SIDE_DEVICE || in_range ? NULL : (uint8_t *)(uintptr_t)pointer;
}

static size_t reach(size_t bytes, size_t rows, size_t row, size_t slices, size_t slice) {
    return (slices - 1) * slice + (rows - 1) * row + bytes;
}

enum cuda_error copy_work(struct runtime *cuda, const struct copy_order *order, struct stream_work *out) {
    static const enum side to[] = {SIDE_HOST, SIDE_DEVICE, SIDE_HOST, SIDE_DEVICE, SIDE_EITHER};
    static const enum side from[] = {SIDE_HOST, SIDE_HOST, SIDE_DEVICE, SIDE_DEVICE, SIDE_EITHER};
    uint64_t ignored;
    *out = (struct stream_work){.kind = WORK_NOTHING};
    if ((unsigned)order->kind > COPY_DEFAULT)
        return cudaErrorInvalidMemcpyDirection;
    if (!order->bytes || !order->rows || !order->slices)
        return cudaSuccess;
    if ((order->rows > 1 || order->slices > 1) && (order->bytes > order->to_row || order->bytes > order->from_row))
        return cudaErrorInvalidPitchValue;
    const size_t to_bytes = reach(order->bytes, order->rows, order->to_row, order->slices, order->to_slice);
    const size_t from_bytes = reach(order->bytes, order->rows, order->from_row, order->slices, order->from_slice);
    struct box *box = &out->move;
    *out = (struct stream_work){.kind = WORK_MOVE,
                                .move = {.to = {.row = order->to_row, .slice = order->to_slice},
                                         .from = {.row = order->from_row, .slice = order->from_slice},
                                         .bytes = order->bytes,
                                         .rows = order->rows,
                                         .slices = order->slices}};
    box->to.data = view(cuda, order->to, to_bytes, to[order->kind], &box->written);
    box->from.data = view(cuda, order->from, from_bytes, from[order->kind], &ignored);
    return box->to.data && box->from.data ? cudaSuccess : cudaErrorInvalidValue;
}

/* One side of a copy of three dimensions. */
struct place3d {
    void *data;
    size_t row, slice;
};

/* Bytes, rows and slices of the copy; x of an array counts texels. NULL data: it is not inside the array. */
static struct place3d place_3d(const struct copy3d_side *side, const struct cuda_array *array,
                               const struct extent_bytes *size) {
    const struct pitched_pointer *memory = &side->memory;
    const struct position3 *at = &side->at;
    if (!array)
        return (struct place3d){(uint8_t *)memory->data + (at->z * memory->height + at->y) * memory->pitch + at->x,
                                memory->pitch, memory->pitch * memory->height};
    const struct array_part part = {
        at->x * array_texel_bytes(array), at->y, at->z, size->width, size->height, size->depth};
    return (struct place3d){array_place(array, &part), array->view.row_bytes, array->view.slice_bytes};
}

/* Where an array takes part, widths are in its texels. */
enum cuda_error copy_work_3d(struct runtime *cuda, const struct copy3d *order, struct stream_work *out) {
    if (!order)
        return cudaErrorInvalidValue;
    const struct cuda_array *to_array = array_find(cuda, order->to.array);
    const struct cuda_array *from_array = array_find(cuda, order->from.array);
    if ((order->to.array && !to_array) || (order->from.array && !from_array))
        return cudaErrorInvalidResourceHandle;
    const size_t unit = to_array ? array_texel_bytes(to_array) : from_array ? array_texel_bytes(from_array) : 1;
    if ((from_array && array_texel_bytes(from_array) != unit) || order->extent.width > SIZE_MAX / unit)
        return cudaErrorInvalidValue;
    const struct extent_bytes size = {order->extent.width * unit, order->extent.height, order->extent.depth};
    const struct place3d to = place_3d(&order->to, to_array, &size), from = place_3d(&order->from, from_array, &size);
    if ((to_array && !to.data) || (from_array && !from.data))
        return cudaErrorInvalidValue;
    const struct copy_order plain = {.to = to.data,
                                     .from = from.data,
                                     .to_row = to.row,
                                     .to_slice = to.slice,
                                     .from_row = from.row,
                                     .from_slice = from.slice,
                                     .bytes = size.width,
                                     .rows = size.height,
                                     .slices = size.depth,
                                     .kind = order->kind};
    return copy_work(cuda, &plain, out);
}

enum cuda_error copy_work_symbol(struct runtime *cuda, const struct symbol_order *order, struct stream_work *out) {
    uint64_t address = 0;
    const struct variable *found = variable_find(cuda, order->symbol, &address);
    if (!found)
        return cudaErrorInvalidSymbol;
    if (order->offset > found->bytes || order->bytes > found->bytes - order->offset)
        return cudaErrorInvalidValue;
    const int wrong = order->is_to ? COPY_DEVICE_TO_HOST : COPY_HOST_TO_DEVICE;
    if (order->kind == wrong || order->kind == COPY_HOST_TO_HOST)
        return cudaErrorInvalidMemcpyDirection;
    void *variable = (void *)(uintptr_t)(address + order->offset);
    const struct copy_order plain = {.to = order->is_to ? variable : order->host,
                                     .from = order->is_to ? order->host : variable,
                                     .bytes = order->bytes,
                                     .rows = 1,
                                     .slices = 1,
                                     .kind = order->kind};
    return copy_work(cuda, &plain, out);
}

enum cuda_error fill_work(struct runtime *cuda, void *to, const struct cuda_fill *fill, struct stream_work *out) {
    *out = (struct stream_work){.kind = WORK_NOTHING};
    if (!fill->width || !fill->rows || !fill->slices)
        return cudaSuccess;
    if (fill->rows > 1 && fill->width > fill->row)
        return cudaErrorInvalidPitchValue;
    *out = (struct stream_work){.kind = WORK_FILL, .fill = *fill};
    out->fill.to = view(cuda, to, reach(fill->width, fill->rows, fill->row, fill->slices, fill->slice), SIDE_DEVICE,
                        &out->fill.written);
    return out->fill.to ? cudaSuccess : cudaErrorInvalidValue;
}

/* ---- entry points ---- */

static enum cuda_error submit(void *stream, const struct copy_order *order) {
    struct stream_work work;
    ENTER(cuda);
    const enum cuda_error error = copy_work(cuda, order, &work);
    return error ? runtime_leave(cuda, error) : stream_submit_leave(cuda, stream, &work);
}

static enum cuda_error copy_plain(void *to, const void *from, size_t bytes, int kind, void *stream) {
    return submit(stream,
                  &(struct copy_order){.to = to, .from = from, .bytes = bytes, .rows = 1, .slices = 1, .kind = kind});
}

API_BLOCKING(cudaMemcpy, void *to, const void *from, size_t bytes, int kind) {
    return copy_plain(to, from, bytes, kind, NULL);
}

API_STREAM(cudaMemcpyAsync, void *to, const void *from, size_t bytes, int kind, void *stream) {
    return copy_plain(to, from, bytes, kind, stream);
}

API(cudaMemcpyPeer, void *to, int to_device, const void *from, int from_device, size_t bytes) {
    if (to_device || from_device)
        return runtime_note(cudaErrorInvalidDevice);
    return copy_plain(to, from, bytes, COPY_DEVICE_TO_DEVICE, NULL);
}

API(cudaMemcpyPeerAsync, void *to, int to_device, const void *from, int from_device, size_t bytes, void *stream) {
    if (to_device || from_device)
        return runtime_note(cudaErrorInvalidDevice);
    return copy_plain(to, from, bytes, COPY_DEVICE_TO_DEVICE, stream);
}

API_STREAM(cudaMemcpy2DAsync, void *to, size_t to_row, const void *from, size_t from_row, size_t bytes, size_t rows,
           int kind, void *stream) {
    return submit(stream, &(struct copy_order){.to = to,
                                               .from = from,
                                               .to_row = to_row,
                                               .from_row = from_row,
                                               .bytes = bytes,
                                               .rows = rows,
                                               .slices = 1,
                                               .kind = kind});
}

API_BLOCKING(cudaMemcpy2D, void *to, size_t to_row, const void *from, size_t from_row, size_t bytes, size_t rows,
             int kind) {
    return entry_cudaMemcpy2DAsync(to, to_row, from, from_row, bytes, rows, kind, NULL);
}

API_STREAM(cudaMemcpy3DAsync, const struct copy3d *order, void *stream) {
    struct stream_work work;
    ENTER(cuda);
    const enum cuda_error error = copy_work_3d(cuda, order, &work);
    return error ? runtime_leave(cuda, error) : stream_submit_leave(cuda, stream, &work);
}

API_BLOCKING(cudaMemcpy3D, const struct copy3d *order) { return entry_cudaMemcpy3DAsync(order, NULL); }

API_STREAM(cudaMemcpy3DPeerAsync, const struct copy3d_peer *order, void *stream) {
    if (!order || order->from_device || order->to_device)
        return runtime_note(order ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
    const struct copy3d plain = {
        .from = order->from, .to = order->to, .extent = order->extent, .kind = COPY_DEVICE_TO_DEVICE};
    return entry_cudaMemcpy3DAsync(&plain, stream);
}

API_BLOCKING(cudaMemcpy3DPeer, const struct copy3d_peer *order) { return entry_cudaMemcpy3DPeerAsync(order, NULL); }

static enum cuda_error submit_symbol(void *stream, const struct symbol_order *order) {
    struct stream_work work;
    ENTER(cuda);
    const enum cuda_error error = copy_work_symbol(cuda, order, &work);
    return error ? runtime_leave(cuda, error) : stream_submit_leave(cuda, stream, &work);
}

API_STREAM(cudaMemcpyToSymbolAsync, const void *symbol, const void *from, size_t bytes, size_t offset, int kind,
           void *stream) {
    return submit_symbol(stream, &(struct symbol_order){symbol, (void *)(uintptr_t)from, bytes, offset, kind, true});
}

API_BLOCKING(cudaMemcpyToSymbol, const void *symbol, const void *from, size_t bytes, size_t offset, int kind) {
    return entry_cudaMemcpyToSymbolAsync(symbol, from, bytes, offset, kind, NULL);
}

API_STREAM(cudaMemcpyFromSymbolAsync, void *to, const void *symbol, size_t bytes, size_t offset, int kind,
           void *stream) {
    return submit_symbol(stream, &(struct symbol_order){symbol, to, bytes, offset, kind, false});
}

API_BLOCKING(cudaMemcpyFromSymbol, void *to, const void *symbol, size_t bytes, size_t offset, int kind) {
    return entry_cudaMemcpyFromSymbolAsync(to, symbol, bytes, offset, kind, NULL);
}

static enum cuda_error submit_fill(void *stream, void *to, const struct cuda_fill *fill) {
    struct stream_work work;
    ENTER(cuda);
    const enum cuda_error error = fill_work(cuda, to, fill, &work);
    return error ? runtime_leave(cuda, error) : stream_submit_leave(cuda, stream, &work);
}

API_STREAM(cudaMemsetAsync, void *to, int value, size_t bytes, void *stream) {
    const struct cuda_fill fill = {.width = bytes, .rows = 1, .slices = 1, .value = (uint8_t)value, .element_bytes = 1};
    return submit_fill(stream, to, &fill);
}

API_BLOCKING(cudaMemset, void *to, int value, size_t bytes) { return entry_cudaMemsetAsync(to, value, bytes, NULL); }

API_STREAM(cudaMemset2DAsync, void *to, size_t row, int value, size_t width, size_t rows, void *stream) {
    const struct cuda_fill fill = {
        .row = row, .width = width, .rows = rows, .slices = 1, .value = (uint8_t)value, .element_bytes = 1};
    return submit_fill(stream, to, &fill);
}

API_BLOCKING(cudaMemset2D, void *to, size_t row, int value, size_t width, size_t rows) {
    return entry_cudaMemset2DAsync(to, row, value, width, rows, NULL);
}

API_STREAM(cudaMemset3DAsync, struct pitched_pointer to, int value, struct extent_bytes extent, void *stream) {
    const struct cuda_fill fill = {.row = to.pitch,
                                   .slice = to.pitch * to.height,
                                   .width = extent.width,
                                   .rows = extent.height,
                                   .slices = extent.depth,
                                   .value = (uint8_t)value,
                                   .element_bytes = 1};
    return submit_fill(stream, to.data, &fill);
}

API_BLOCKING(cudaMemset3D, struct pitched_pointer to, int value, struct extent_bytes extent) {
    return entry_cudaMemset3DAsync(to, value, extent, NULL);
}
