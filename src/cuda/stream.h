/* SPDX-License-Identifier: Apache-2.0 */
/* Streams and events. A stream is empty whenever a program looks at it; what it has is whether it is being captured. */
#ifndef HEDDLE_CUDA_STREAM_H
#define HEDDLE_CUDA_STREAM_H

#include "cuda/work.h"

struct graph_node;

enum { STREAM_KIND = 0x68d20002, EVENT_KIND, GRAPH_KIND, EXECUTABLE_KIND, NODE_KIND };

struct graph_nodes { /* in the arena of their graph */
    struct graph_node **items;
    unsigned count, capacity;
};

struct stream {
    unsigned kind; /* STREAM_KIND; 0: it has ended */
    unsigned flags;
    int priority;
    uint64_t number;
    struct cuda_graph *capture; /* NULL: it is not captured */
    bool began;                 /* the capture, which others have only joined */
    struct graph_nodes last;    /* what the next node of the capture needs */
    struct stream *next;
};

struct cuda_event {
    unsigned kind; /* EVENT_KIND; 0: it has ended */
    unsigned flags;
    bool is_recorded;
    uint64_t at_ns;
    struct cuda_graph *capture; /* it was recorded there */
    struct graph_nodes nodes;   /* what had been captured then */
    struct cuda_event *next;
};

struct stream *stream_create(struct runtime *cuda, unsigned flags, int priority);
/* By handle; NULL: it is none. */
struct stream *stream_find(struct runtime *cuda, void *handle);
/* Does the work, or adds it to the graph that the stream is captured in. */
enum cuda_error stream_submit(struct runtime *cuda, struct stream *stream, const struct stream_work *work);
/* The same by handle, and leaves the runtime. */
enum cuda_error stream_submit_leave(struct runtime *cuda, void *handle, const struct stream_work *work);
void event_record(struct runtime *cuda, struct cuda_event *event);

#endif
