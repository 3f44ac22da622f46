/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs as a whole, and what streams have of them: capture. */
#include "cuda/graph.h"

struct cuda_graph *graph_find(void *handle, unsigned kind) {
    struct cuda_graph *graph = handle;
    return graph && graph->kind == kind ? graph : NULL;
}

struct graph_node *node_find(void *handle) {
    struct graph_node *node = handle;
    return node && node->kind == NODE_KIND ? node : NULL;
}

struct cuda_graph *graph_create(unsigned kind) {
    struct arena arena = {0};
    struct cuda_graph *graph = ARENA_NEW(&arena, struct cuda_graph);
    graph->kind = kind;
    graph->arena = arena;
    return graph;
}

void graph_destroy(struct cuda_graph *graph) {
    for (struct graph_node *node = graph->first; node; node = node->next)
        if (node->work.kind == WORK_GRAPH)
            graph_destroy(node->work.graph);
    graph->kind = 0;
    struct arena arena = graph->arena; /* it holds the graph */
    arena_free(&arena);
}

struct graph_node *graph_add(struct cuda_graph *graph, const struct stream_work *work, struct graph_node *const *needs,
                             size_t count) {
    struct graph_node *node = ARENA_NEW(&graph->arena, struct graph_node);
    node->kind = NODE_KIND;
    node->graph = graph;
    node->work = work_copy(&graph->arena, work);
    for (size_t i = 0; i < count; i++)
        if (needs[i])
            *ARENA_PUSH(&graph->arena, &node->needs) = needs[i];
    if (graph->last)
        graph->last->next = node;
    else
        graph->first = node;
    graph->last = node;
    return node;
}

struct cuda_graph *graph_copy(struct cuda_graph *from, unsigned kind) {
    struct cuda_graph *copy = graph_create(kind);
    for (struct graph_node *node = from->first; node; node = node->next) {
        if (!node->kind)
            continue;
        node->twin = graph_add(copy, &node->work, NULL, 0);
        node->twin->original = node;
        node->twin->is_off = node->is_off;
    }
    for (struct graph_node *node = from->first; node; node = node->next)
        for (unsigned i = 0; node->kind && i < node->needs.count; i++)
            if (node->needs.items[i]->kind)
                *ARENA_PUSH(&copy->arena, &node->twin->needs) = node->needs.items[i]->twin;
    return copy;
}

static bool may_run(const struct graph_node *node) {
    for (unsigned i = 0; i < node->needs.count; i++)
        if (node->needs.items[i]->kind && node->needs.items[i]->twin != node->needs.items[i])
            return false;
    return true;
}

/* A node that has been done is its own twin. Nodes are in an order that mostly is one to do them in. */
enum cuda_error graph_run(struct runtime *cuda, struct cuda_graph *graph) {
    enum cuda_error error = cudaSuccess;
    bool more = true, progress = true;
    for (struct graph_node *node = graph->first; node; node = node->next)
        node->twin = NULL;
    while (more && progress && !error && !cuda->lost) {
        more = progress = false;
        for (struct graph_node *node = graph->first; node && !error && !cuda->lost; node = node->next) {
            if (!node->kind || node->twin)
                continue;
            if (!may_run(node)) {
                more = true;
                continue;
            }
            if (!node->is_off)
                error = work_run(cuda, &node->work);
            node->twin = node;
            progress = true;
        }
    }
    return more && !progress ? cudaErrorInvalidValue : error; /* a circle */
}

/* ---- entry points: capture ---- */

API_STREAM(cudaStreamBeginCapture, void *handle, int mode) {
    ENTER(cuda);
    struct stream *stream = stream_find(cuda, handle);
    if (!stream || (unsigned)mode > 2)
        return runtime_leave(cuda, cudaErrorInvalidValue);
    if (stream == cuda->first_stream)
        return runtime_leave(cuda, cudaErrorStreamCaptureUnsupported);
    if (stream->capture)
        return runtime_leave(cuda, cudaErrorIllegalState);
    stream->capture = graph_create(GRAPH_KIND);
    stream->began = true;
    stream->last = (struct graph_nodes){0};
    return runtime_leave(cuda, cudaSuccess);
}

API_STREAM(cudaStreamEndCapture, void *handle, void **out) {
    ENTER(cuda);
    struct stream *origin = stream_find(cuda, handle);
    if (!origin || !out)
        return runtime_leave(cuda, cudaErrorInvalidValue);
    struct cuda_graph *graph = origin->capture;
    *out = NULL;
    if (!graph || !origin->began)
        return runtime_leave(cuda, graph ? cudaErrorStreamCaptureUnmatched : cudaErrorIllegalState);
    for (struct stream *one = cuda->first_stream; one; one = one->next)
        if (one->capture == graph)
            one->capture = NULL, one->last = (struct graph_nodes){0}, one->began = false;
    *out = graph;
    return runtime_leave(cuda, cudaSuccess);
}

API_STREAM(cudaStreamIsCapturing, void *handle, int *out) {
    ENTER(cuda);
    const struct stream *stream = stream_find(cuda, handle);
    if (!stream || !out)
        return runtime_leave(cuda, cudaErrorInvalidValue);
    *out = stream->capture != NULL;
    return runtime_leave(cuda, cudaSuccess);
}

/* What the versions' cudaStreamGetCaptureInfo have in common. */
struct capture_info {
    int *is_captured;
    unsigned long long *number;
    void **graph;
    const void ***needs;
    size_t *need_count;
};

static enum cuda_error capture_info(void *handle, const struct capture_info *out) {
    ENTER(cuda);
    struct stream *stream = stream_find(cuda, handle);
    if (!stream || !out->is_captured)
        return runtime_leave(cuda, cudaErrorInvalidValue);
    *out->is_captured = stream->capture != NULL;
    if (out->number)
        *out->number = stream->number;
    if (out->graph)
        *out->graph = stream->capture;
    if (out->needs)
        *out->needs = (const void **)stream->last.items;
    if (out->need_count)
        *out->need_count = stream->last.count;
    return runtime_leave(cuda, cudaSuccess);
}

API_IN(11, cudaStreamGetCaptureInfo, void *handle, int *is_captured, unsigned long long *number) {
    return capture_info(handle, &(struct capture_info){.is_captured = is_captured, .number = number});
}
EXPORT_12(entry_11_cudaStreamGetCaptureInfo, cudaStreamGetCaptureInfo)
EXPORT_11(entry_11_cudaStreamGetCaptureInfo, cudaStreamGetCaptureInfo_ptsz)
EXPORT_12(entry_11_cudaStreamGetCaptureInfo, cudaStreamGetCaptureInfo_ptsz)

API_FUNCTION(enum cuda_error, capture_info_v2, void *handle, int *is_captured, unsigned long long *number, void **graph,
             const void ***needs, size_t *count) {
    return capture_info(handle, &(struct capture_info){is_captured, number, graph, needs, count});
}
EXPORT_11(capture_info_v2, cudaStreamGetCaptureInfo_v2)
EXPORT_12(capture_info_v2, cudaStreamGetCaptureInfo_v2)

API_IN(13, cudaStreamGetCaptureInfo, void *handle, int *is_captured, unsigned long long *number, void **graph,
       const void ***needs, const void **edges, size_t *count) {
    if (edges)
        *edges = NULL;
    return capture_info(handle, &(struct capture_info){is_captured, number, graph, needs, count});
}
EXPORT_12(entry_13_cudaStreamGetCaptureInfo, cudaStreamGetCaptureInfo_v3)
EXPORT_13(entry_13_cudaStreamGetCaptureInfo, cudaStreamGetCaptureInfo_ptsz)

API(cudaThreadExchangeStreamCaptureMode, int *mode) {
    struct runtime_thread *thread = runtime_thread();
    const int before = thread->capture_mode;
    if (!mode || (unsigned)*mode > 2)
        return runtime_note(cudaErrorInvalidValue);
    thread->capture_mode = *mode;
    *mode = before;
    return cudaSuccess;
}

/* ---- entry points: whole graphs ---- */

API(cudaGraphCreate, void **out, unsigned flags) {
    ENTER(cuda);
    if (!out || flags)
        return runtime_leave(cuda, cudaErrorInvalidValue);
    *out = graph_create(GRAPH_KIND);
    return runtime_leave(cuda, cudaSuccess);
}

static enum cuda_error destroy(void *handle, unsigned kind) {
    ENTER(cuda);
    struct cuda_graph *graph = graph_find(handle, kind);
    if (!graph)
        return runtime_leave(cuda, cudaErrorInvalidValue);
    graph_destroy(graph);
    return runtime_leave(cuda, cudaSuccess);
}

API(cudaGraphDestroy, void *handle) { return destroy(handle, GRAPH_KIND); }
API(cudaGraphExecDestroy, void *handle) { return destroy(handle, EXECUTABLE_KIND); }

static enum cuda_error copy(void **out, void *handle, unsigned kind) {
    ENTER(cuda);
    struct cuda_graph *graph = graph_find(handle, GRAPH_KIND);
    if (!graph || !out)
        return runtime_leave(cuda, cudaErrorInvalidValue);
    *out = graph_copy(graph, kind);
    return runtime_leave(cuda, cudaSuccess);
}

API(cudaGraphClone, void **out, void *handle) { return copy(out, handle, GRAPH_KIND); }

API(cudaGraphInstantiateWithFlags, void **out, void *handle, unsigned long long flags) {
    (void)flags; /* where memory is freed, and how it is launched: there is one way */
    return copy(out, handle, EXECUTABLE_KIND);
}
EXPORT_12(entry_cudaGraphInstantiateWithFlags, cudaGraphInstantiate)
EXPORT_13(entry_cudaGraphInstantiateWithFlags, cudaGraphInstantiate)

API_IN(11, cudaGraphInstantiate, void **out, void *handle, void **wrong, char *log, size_t log_bytes) {
    if (wrong)
        *wrong = NULL;
    if (log && log_bytes)
        log[0] = 0;
    return copy(out, handle, EXECUTABLE_KIND);
}

struct instantiate_params {
    unsigned long long flags;
    void *stream, *wrong;
    int result;
};

API_STREAM(cudaGraphInstantiateWithParams, void **out, void *handle, struct instantiate_params *params) {
    if (!params)
        return runtime_note(cudaErrorInvalidValue);
    params->wrong = NULL;
    params->result = 0;
    return copy(out, handle, EXECUTABLE_KIND);
}

API_STREAM(cudaGraphLaunch, void *handle, void *stream) {
    ENTER(cuda);
    struct cuda_graph *graph = graph_find(handle, EXECUTABLE_KIND);
    if (!graph)
        return runtime_leave(cuda, cudaErrorInvalidValue);
    return stream_submit_leave(cuda, stream, &(struct stream_work){.kind = WORK_GRAPH, .graph = graph});
}

API_STREAM(cudaGraphUpload, void *handle, void *stream) {
    ENTER(cuda);
    const bool right = graph_find(handle, EXECUTABLE_KIND) && stream_find(cuda, stream);
    return runtime_leave(cuda, right ? cudaSuccess : cudaErrorInvalidValue);
}

/* The nodes of the graph take the place of those that were copied before, if they are as many and of the same kinds. */
static bool update(struct cuda_graph *executable, struct cuda_graph *graph) {
    struct graph_node *to = executable->first, *from = graph->first;
    while (to || from) {
        for (; from && !from->kind;)
            from = from->next;
        if (!to && !from)
            break;
        if (!to || !from || to->work.kind != from->work.kind)
            return false;
        if (to->work.kind == WORK_GRAPH)
            graph_destroy(to->work.graph);
        to->work = work_copy(&executable->arena, &from->work);
        to->original = from;
        to = to->next, from = from->next;
    }
    return true;
}

static enum cuda_error update_leave(void *executable, void *graph, int *result) {
    enum { UPDATED = 0, TOPOLOGY_CHANGED = 2 };
    ENTER(cuda);
    struct cuda_graph *to = graph_find(executable, EXECUTABLE_KIND), *from = graph_find(graph, GRAPH_KIND);
    if (!to || !from)
        return runtime_leave(cuda, cudaErrorInvalidValue);
    const bool done = update(to, from);
    if (result)
        *result = done ? UPDATED : TOPOLOGY_CHANGED;
    return runtime_leave(cuda, done ? cudaSuccess : cudaErrorGraphExecUpdateFailure);
}

struct update_result {
    int result;
    void *node, *from;
};

API_IN(13, cudaGraphExecUpdate, void *executable, void *graph, struct update_result *out) {
    if (out)
        out->node = out->from = NULL;
    return update_leave(executable, graph, out ? &out->result : NULL);
}
EXPORT_12(entry_13_cudaGraphExecUpdate, cudaGraphExecUpdate)

API_IN(11, cudaGraphExecUpdate, void *executable, void *graph, void **wrong, int *result) {
    if (wrong)
        *wrong = NULL;
    return update_leave(executable, graph, result);
}
