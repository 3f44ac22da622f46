/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes that programs move and fill, as work for streams and graphs. */
#ifndef HEDDLE_CUDA_COPY_H
#define HEDDLE_CUDA_COPY_H

#include "cuda/work.h"

/* What a program says of a copy; rows and slices are 1 at least. */
struct copy_order {
    void *to;
    const void *from;
    size_t to_row, to_slice, from_row, from_slice;
    size_t bytes, rows, slices;
    int kind;
};

enum cuda_error copy_work(struct runtime *cuda, const struct copy_order *order, struct stream_work *out);
enum cuda_error copy_work_3d(struct runtime *cuda, const struct copy3d *order, struct stream_work *out);
/* To or from a variable. */
struct symbol_order {
    const void *symbol;
    void *host; /* the other side */
    size_t bytes, offset;
    int kind;
    bool is_to; /* the variable is written */
};
enum cuda_error copy_work_symbol(struct runtime *cuda, const struct symbol_order *order, struct stream_work *out);
/* `to` and what follows it are given in *fill but for its views; `to` as the program names it. */
enum cuda_error fill_work(struct runtime *cuda, void *to, const struct cuda_fill *fill, struct stream_work *out);

#endif
