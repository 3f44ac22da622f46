/* SPDX-License-Identifier: Apache-2.0 */
/* Copies to and from arrays, whose places are in bytes and rows; those of three dimensions are in copy.c. */
#include "cuda/array.h"
#include "cuda/copy.h"
#include "cuda/stream.h"

/* A side of a copy: an array, at a byte of a row, or memory. */
struct copy_side {
    const void *array;
    size_t x, y;
    const void *memory; /* where there is no array */
    size_t pitch;
};

/* Where a side begins and how far its rows are apart; NULL: nowhere. */
static void *resolve(const struct runtime *cuda, const struct copy_side *side, size_t bytes, size_t rows, size_t *row) {
    const struct cuda_array *array = array_find(cuda, side->array);
    *row = array ? array->view.row_bytes : side->pitch;
    if (!side->array)
        return (void *)(uintptr_t)side->memory;
    const struct array_part part = {side->x, side->y, 0, bytes, rows, 1};
    return array ? array_place(array, &part) : NULL;
}

static enum cuda_error copy_rows(struct runtime *cuda, const struct copy_side *to, const struct copy_side *from,
                                 const struct copy_order *size, void *stream) {
    struct copy_order order = *size;
    struct stream_work work;
    order.to = resolve(cuda, to, size->bytes, size->rows, &order.to_row);
    order.from = resolve(cuda, from, size->bytes, size->rows, &order.from_row);
    order.slices = 1;
    if (!order.to || !order.from)
        return cudaErrorInvalidValue;
    const enum cuda_error error = copy_work(cuda, &order, &work);
    return error ? error : stream_submit(cuda, stream_find(cuda, stream), &work);
}

static enum cuda_error copy_2d(const struct copy_side *to, const struct copy_side *from, const struct copy_order *size,
                               void *stream) {
    ENTER(cuda);
    return runtime_leave(cuda, copy_rows(cuda, to, from, size, stream));
}

/* Bytes up to the end of the row that a side is at. */
static size_t left_in_row(const struct runtime *cuda, const struct copy_side *side) {
    const struct cuda_array *array = array_find(cuda, side->array);
    const size_t row = array ? array->view.width * (size_t)array_texel_bytes(array) : SIZE_MAX;
    return row > side->x ? row - side->x : 0;
}

static void advance(struct copy_side *side, size_t bytes, size_t rows, bool ends_row) {
    if (side->array && ends_row)
        side->x = 0, side->y += rows;
    else if (side->array)
        side->x += bytes;
    else
        side->memory = (const uint8_t *)side->memory + bytes * rows;
}

/* Bytes one after the other, which fill a row and go on in the next one: whole rows are moved at once. */
static enum cuda_error copy_span(struct copy_side to, struct copy_side from, size_t bytes, int kind, void *stream) {
    enum cuda_error error = cudaSuccess;
    ENTER(cuda);
    while (bytes && !error) {
        const size_t to_left = left_in_row(cuda, &to), from_left = left_in_row(cuda, &from);
        const size_t row = to_left < from_left ? to_left : from_left, part = row < bytes ? row : bytes;
        if (!part) {
            error = cudaErrorInvalidValue;
            break;
        }
        const bool is_whole = !to.x && !from.x && (!to.array || to_left == part) && (!from.array || from_left == part);
        const size_t rows = is_whole ? bytes / part : 1;
        to.pitch = from.pitch = part;
        error = copy_rows(cuda, &to, &from, &(struct copy_order){.bytes = part, .rows = rows, .kind = kind}, stream);
        advance(&to, part, rows, part == to_left);
        advance(&from, part, rows, part == from_left);
        bytes -= part * rows;
    }
    return runtime_leave(cuda, error);
}

/* ---- entry points: rectangles ---- */

API_STREAM(cudaMemcpy2DToArrayAsync, const void *array, size_t x, size_t y, const void *from, size_t pitch,
           size_t bytes, size_t rows, int kind, void *stream) {
    return copy_2d(&(struct copy_side){.array = array, .x = x, .y = y},
                   &(struct copy_side){.memory = from, .pitch = pitch},
                   &(struct copy_order){.bytes = bytes, .rows = rows, .kind = kind}, stream);
}

API_BLOCKING(cudaMemcpy2DToArray, const void *array, size_t x, size_t y, const void *from, size_t pitch, size_t bytes,
             size_t rows, int kind) {
    return entry_cudaMemcpy2DToArrayAsync(array, x, y, from, pitch, bytes, rows, kind, NULL);
}

API_STREAM(cudaMemcpy2DFromArrayAsync, void *to, size_t pitch, const void *array, size_t x, size_t y, size_t bytes,
           size_t rows, int kind, void *stream) {
    return copy_2d(&(struct copy_side){.memory = to, .pitch = pitch},
                   &(struct copy_side){.array = array, .x = x, .y = y},
                   &(struct copy_order){.bytes = bytes, .rows = rows, .kind = kind}, stream);
}

API_BLOCKING(cudaMemcpy2DFromArray, void *to, size_t pitch, const void *array, size_t x, size_t y, size_t bytes,
             size_t rows, int kind) {
    return entry_cudaMemcpy2DFromArrayAsync(to, pitch, array, x, y, bytes, rows, kind, NULL);
}

API_BLOCKING(cudaMemcpy2DArrayToArray, const void *to, size_t to_x, size_t to_y, const void *from, size_t from_x,
             size_t from_y, size_t bytes, size_t rows, int kind) {
    return copy_2d(&(struct copy_side){.array = to, .x = to_x, .y = to_y},
                   &(struct copy_side){.array = from, .x = from_x, .y = from_y},
                   &(struct copy_order){.bytes = bytes, .rows = rows, .kind = kind}, NULL);
}

/* ---- entry points: bytes in a row ---- */

API_STREAM(cudaMemcpyToArrayAsync, const void *array, size_t x, size_t y, const void *from, size_t bytes, int kind,
           void *stream) {
    return copy_span((struct copy_side){.array = array, .x = x, .y = y}, (struct copy_side){.memory = from}, bytes,
                     kind, stream);
}

API_BLOCKING(cudaMemcpyToArray, const void *array, size_t x, size_t y, const void *from, size_t bytes, int kind) {
    return entry_cudaMemcpyToArrayAsync(array, x, y, from, bytes, kind, NULL);
}

API_STREAM(cudaMemcpyFromArrayAsync, void *to, const void *array, size_t x, size_t y, size_t bytes, int kind,
           void *stream) {
    return copy_span((struct copy_side){.memory = to}, (struct copy_side){.array = array, .x = x, .y = y}, bytes, kind,
                     stream);
}

API_BLOCKING(cudaMemcpyFromArray, void *to, const void *array, size_t x, size_t y, size_t bytes, int kind) {
    return entry_cudaMemcpyFromArrayAsync(to, array, x, y, bytes, kind, NULL);
}

API_BLOCKING(cudaMemcpyArrayToArray, const void *to, size_t to_x, size_t to_y, const void *from, size_t from_x,
             size_t from_y, size_t bytes, int kind) {
    return copy_span((struct copy_side){.array = to, .x = to_x, .y = to_y},
                     (struct copy_side){.array = from, .x = from_x, .y = from_y}, bytes, kind, NULL);
}
