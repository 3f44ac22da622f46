/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs: work that is described first and done later, as often as is wished. */
#ifndef HEDDLE_CUDA_GRAPH_H
#define HEDDLE_CUDA_GRAPH_H

#include "cuda/stream.h"

struct graph_node {
    unsigned kind; /* NODE_KIND; 0: it was taken out */
    struct cuda_graph *graph;
    struct stream_work work;
    bool is_off;                 /* of cudaGraphNodeSetEnabled */
    struct graph_node *original; /* of a node in a copy: the one it was copied from */
    struct graph_node *twin;     /* while its graph is copied: the copy */
    struct graph_nodes needs;    /* nodes that come before it */
    struct graph_node *next;
};

struct cuda_graph {
    unsigned kind; /* GRAPH_KIND or EXECUTABLE_KIND; 0: it has ended */
    struct arena arena;
    struct graph_node *first, *last;
};

/* By handle; NULL: it is none. */
struct cuda_graph *graph_find(void *handle, unsigned kind);
struct graph_node *node_find(void *handle);
struct cuda_graph *graph_create(unsigned kind);
struct cuda_graph *graph_copy(struct cuda_graph *from, unsigned kind);
void graph_destroy(struct cuda_graph *graph);
/* A node with a copy of the work, behind those that it needs; NULLs among them are left out. */
struct graph_node *graph_add(struct cuda_graph *graph, const struct stream_work *work, struct graph_node *const *needs,
                             size_t count);
/* Does the work of all nodes, each after those that it needs. */
enum cuda_error graph_run(struct runtime *cuda, struct cuda_graph *graph);

#endif
