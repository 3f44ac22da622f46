/* SPDX-License-Identifier: Apache-2.0 */
/* What programs put into streams: launches, bytes that are moved or filled, calls back. It is done at once, or kept in a graph where
 * the stream is being captured. */
#ifndef HEDDLE_CUDA_WORK_H
#define HEDDLE_CUDA_WORK_H

#include "cuda/image.h"

struct cuda_graph;
struct cuda_event;

/* In the order of cudaGraphNodeType. */
enum work_kind { WORK_LAUNCH, WORK_MOVE, WORK_FILL, WORK_CALL, WORK_GRAPH, WORK_NOTHING, WORK_WAIT, WORK_RECORD };

struct cuda_fill {
    uint8_t *to;
    size_t row, slice;          /* bytes from a row to the next, from a slice to the next */
    size_t width, rows, slices; /* in bytes, rows, slices */
    uint32_t value, element_bytes;
    uint64_t written; /* device address of `to` */
};

typedef void stream_callback(void *stream, int status, void *data); /* status: an enum cuda_error */

struct host_call {
    void (*function)(void *data); /* or: */
    stream_callback *callback;
    void *stream, *data;
};

struct stream_work {
    enum work_kind kind;
    union {
        struct {
            struct kernel *kernel;
            uint32_t grid[3], block[3], cluster[3], shared_bytes;
            bool is_cooperative; /* its blocks may wait for each other */
            uint8_t *params;
            size_t param_bytes;
        } launch;
        struct box move;
        struct cuda_fill fill;
        struct host_call call;
        struct cuda_graph *graph;
        struct cuda_event *event;
    };
};

/* A launch as cudaLaunchKernel is told of it. */
struct launch_order {
    const void *function;
    struct extent3 grid, block;
    size_t shared_bytes;
    void **arguments;
    bool is_cooperative;
    struct extent3 cluster; /* of blocks; 0: as the kernel says */
};

/* Checks and copies what the program says; parameters go into the arena. */
enum cuda_error work_launch(struct runtime *cuda, const struct launch_order *order, struct arena *arena,
                            struct stream_work *out);
/* A copy of it whose parameters are in the arena. */
struct stream_work work_copy(struct arena *arena, const struct stream_work *work);
/* Does it. The lock is held, but not while the program is called back. */
enum cuda_error work_run(struct runtime *cuda, const struct stream_work *work);

#endif
