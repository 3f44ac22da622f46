/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes of graphs: added one by one, asked about, changed. */
#include "cuda/copy.h"
#include "cuda/graph.h"

/* Where a new node goes, as every function that adds one is told. */
struct node_place {
    void **out;
    void *graph;
    void *const *needs;
    size_t count;
};

/* Leaves the runtime. */
static enum cuda_error add_leave(struct runtime *cuda, const struct node_place *place, enum cuda_error error,
                                 const struct stream_work *work) {
    struct cuda_graph *graph = graph_find(place->graph, GRAPH_KIND);
    if (!error && (!place->out || !graph || (place->count && !place->needs)))
        error = cudaErrorInvalidValue;
    for (size_t i = 0; !error && i < place->count; i++)
        if (!node_find(place->needs[i]))
            error = cudaErrorInvalidValue;
    if (!error)
        *place->out = graph_add(graph, work, (struct graph_node *const *)place->needs, place->count);
    arena_reset(&cuda->scratch);
    return runtime_leave(cuda, error);
}

static enum cuda_error kernel_work(struct runtime *cuda, const struct kernel_node_params *params,
                                   struct stream_work *out) {
    if (!params || params->extra)
        return params ? cudaErrorNotSupported : cudaErrorInvalidValue;
    const struct launch_order order = {params->function,  params->grid, params->block, params->shared_bytes,
                                       params->arguments, false,        {0, 0, 0}};
    return work_launch(cuda, &order, &cuda->scratch, out);
}

static enum cuda_error fill_node_work(struct runtime *cuda, const struct fill_node_params *params,
                                      struct stream_work *out) {
    if (!params || (params->element_bytes != 1 && params->element_bytes != 2 && params->element_bytes != 4))
        return cudaErrorInvalidValue;
    const struct cuda_fill fill = {.row = params->pitch,
                                   .width = params->width * params->element_bytes,
                                   .rows = params->height,
                                   .slices = 1,
                                   .value = params->value,
                                   .element_bytes = params->element_bytes};
    return fill_work(cuda, params->to, &fill, out);
}

/* A copy of nothing is a node too. */
static enum cuda_error copied(enum cuda_error error, struct stream_work *work, enum work_kind kind) {
    if (!error && work->kind == WORK_NOTHING)
        *work = (struct stream_work){.kind = kind};
    return error;
}

/* ---- entry points: adding ---- */

API(cudaGraphAddKernelNode, void **out, void *graph, void *const *needs, size_t count,
    const struct kernel_node_params *params) {
    struct stream_work work;
    ENTER(cuda);
    return add_leave(cuda, &(struct node_place){out, graph, needs, count}, kernel_work(cuda, params, &work), &work);
}

API(cudaGraphAddMemcpyNode, void **out, void *graph, void *const *needs, size_t count, const struct copy3d *params) {
    struct stream_work work;
    ENTER(cuda);
    return add_leave(cuda, &(struct node_place){out, graph, needs, count},
                     copied(copy_work_3d(cuda, params, &work), &work, WORK_MOVE), &work);
}

static enum cuda_error plain_work(struct runtime *cuda, void *to, const void *from, size_t bytes, int kind,
                                  struct stream_work *out) {
    const struct copy_order order = {.to = to, .from = from, .bytes = bytes, .rows = 1, .slices = 1, .kind = kind};
    return copied(copy_work(cuda, &order, out), out, WORK_MOVE);
}

API(cudaGraphAddMemcpyNode1D, void **out, void *graph, void *const *needs, size_t count, void *to, const void *from,
    size_t bytes, int kind) {
    struct stream_work work;
    ENTER(cuda);
    return add_leave(cuda, &(struct node_place){out, graph, needs, count},
                     plain_work(cuda, to, from, bytes, kind, &work), &work);
}

API(cudaGraphAddMemcpyNodeToSymbol, void **out, void *graph, void *const *needs, size_t count, const void *symbol,
    const void *from, size_t bytes, size_t offset, int kind) {
    struct stream_work work;
    ENTER(cuda);
    const struct symbol_order order = {symbol, (void *)(uintptr_t)from, bytes, offset, kind, true};
    return add_leave(cuda, &(struct node_place){out, graph, needs, count},
                     copied(copy_work_symbol(cuda, &order, &work), &work, WORK_MOVE), &work);
}

API(cudaGraphAddMemcpyNodeFromSymbol, void **out, void *graph, void *const *needs, size_t count, void *to,
    const void *symbol, size_t bytes, size_t offset, int kind) {
    struct stream_work work;
    ENTER(cuda);
    const struct symbol_order order = {symbol, to, bytes, offset, kind, false};
    return add_leave(cuda, &(struct node_place){out, graph, needs, count},
                     copied(copy_work_symbol(cuda, &order, &work), &work, WORK_MOVE), &work);
}

API(cudaGraphAddMemsetNode, void **out, void *graph, void *const *needs, size_t count,
    const struct fill_node_params *params) {
    struct stream_work work;
    ENTER(cuda);
    return add_leave(cuda, &(struct node_place){out, graph, needs, count},
                     copied(fill_node_work(cuda, params, &work), &work, WORK_FILL), &work);
}

API(cudaGraphAddHostNode, void **out, void *graph, void *const *needs, size_t count,
    const struct call_node_params *params) {
    ENTER(cuda);
    const bool right = params && params->function;
    const struct stream_work work = {
        .kind = WORK_CALL, .call = {.function = right ? params->function : NULL, .data = right ? params->data : NULL}};
    return add_leave(cuda, &(struct node_place){out, graph, needs, count}, right ? cudaSuccess : cudaErrorInvalidValue,
                     &work);
}

API(cudaGraphAddChildGraphNode, void **out, void *graph, void *const *needs, size_t count, void *child) {
    ENTER(cuda);
    const struct stream_work work = {.kind = WORK_GRAPH, .graph = graph_find(child, GRAPH_KIND)};
    return add_leave(cuda, &(struct node_place){out, graph, needs, count},
                     work.graph ? cudaSuccess : cudaErrorInvalidValue, &work);
}

API(cudaGraphAddEmptyNode, void **out, void *graph, void *const *needs, size_t count) {
    ENTER(cuda);
    return add_leave(cuda, &(struct node_place){out, graph, needs, count}, cudaSuccess,
                     &(struct stream_work){.kind = WORK_NOTHING});
}

static enum cuda_error add_event(const struct node_place *place, void *handle, enum work_kind kind) {
    struct cuda_event *event = handle;
    ENTER(cuda);
    const bool right = event && event->kind == EVENT_KIND;
    return add_leave(cuda, place, right ? cudaSuccess : cudaErrorInvalidValue,
                     &(struct stream_work){.kind = kind, .event = event});
}

API(cudaGraphAddEventRecordNode, void **out, void *graph, void *const *needs, size_t count, void *event) {
    return add_event(&(struct node_place){out, graph, needs, count}, event, WORK_RECORD);
}

API(cudaGraphAddEventWaitNode, void **out, void *graph, void *const *needs, size_t count, void *event) {
    return add_event(&(struct node_place){out, graph, needs, count}, event, WORK_WAIT);
}

/* ---- entry points: changing ---- */

/* The node itself, or its copy in an executable graph. */
static struct graph_node *node_in(void *executable, void *handle) {
    struct cuda_graph *graph = graph_find(executable, EXECUTABLE_KIND);
    struct graph_node *node = executable ? NULL : node_find(handle);
    for (struct graph_node *one = graph ? graph->first : NULL; one && !node; one = one->next)
        if (one->original == handle)
            node = one;
    return node;
}

/* Leaves the runtime. */
static enum cuda_error set_leave(struct runtime *cuda, struct graph_node *node, enum cuda_error error,
                                 const struct stream_work *work) {
    if (!error && (!node || node->work.kind != work->kind))
        error = cudaErrorInvalidValue;
    if (!error)
        node->work = work_copy(&node->graph->arena, work);
    arena_reset(&cuda->scratch);
    return runtime_leave(cuda, error);
}

static enum cuda_error set_kernel(void *executable, void *handle, const struct kernel_node_params *params) {
    struct stream_work work = {.kind = WORK_NOTHING};
    ENTER(cuda);
    const enum cuda_error error = kernel_work(cuda, params, &work);
    return set_leave(cuda, node_in(executable, handle), error, &work);
}

API(cudaGraphKernelNodeSetParams, void *node, const struct kernel_node_params *params) {
    return set_kernel(NULL, node, params);
}
API(cudaGraphExecKernelNodeSetParams, void *executable, void *node, const struct kernel_node_params *params) {
    return executable ? set_kernel(executable, node, params) : runtime_note(cudaErrorInvalidValue);
}

static enum cuda_error set_copy(void *executable, void *handle, const struct copy3d *params) {
    struct stream_work work = {.kind = WORK_NOTHING};
    ENTER(cuda);
    const enum cuda_error error = copied(copy_work_3d(cuda, params, &work), &work, WORK_MOVE);
    return set_leave(cuda, node_in(executable, handle), error, &work);
}

API(cudaGraphMemcpyNodeSetParams, void *node, const struct copy3d *params) { return set_copy(NULL, node, params); }
API(cudaGraphExecMemcpyNodeSetParams, void *executable, void *node, const struct copy3d *params) {
    return executable ? set_copy(executable, node, params) : runtime_note(cudaErrorInvalidValue);
}

API(cudaGraphExecMemcpyNodeSetParams1D, void *executable, void *node, void *to, const void *from, size_t bytes,
    int kind) {
    struct stream_work work = {.kind = WORK_NOTHING};
    ENTER(cuda);
    const enum cuda_error error = plain_work(cuda, to, from, bytes, kind, &work);
    return set_leave(cuda, executable ? node_in(executable, node) : NULL, error, &work);
}

API(cudaGraphMemcpyNodeSetParams1D, void *node, void *to, const void *from, size_t bytes, int kind) {
    struct stream_work work = {.kind = WORK_NOTHING};
    ENTER(cuda);
    const enum cuda_error error = plain_work(cuda, to, from, bytes, kind, &work);
    return set_leave(cuda, node_find(node), error, &work);
}

static enum cuda_error set_fill(void *executable, void *handle, const struct fill_node_params *params) {
    struct stream_work work = {.kind = WORK_NOTHING};
    ENTER(cuda);
    const enum cuda_error error = copied(fill_node_work(cuda, params, &work), &work, WORK_FILL);
    return set_leave(cuda, node_in(executable, handle), error, &work);
}

API(cudaGraphMemsetNodeSetParams, void *node, const struct fill_node_params *params) {
    return set_fill(NULL, node, params);
}
API(cudaGraphExecMemsetNodeSetParams, void *executable, void *node, const struct fill_node_params *params) {
    return executable ? set_fill(executable, node, params) : runtime_note(cudaErrorInvalidValue);
}

static enum cuda_error set_call(void *executable, void *handle, const struct call_node_params *params) {
    ENTER(cuda);
    const bool right = params && params->function;
    const struct stream_work work = {
        .kind = WORK_CALL, .call = {.function = right ? params->function : NULL, .data = right ? params->data : NULL}};
    return set_leave(cuda, node_in(executable, handle), right ? cudaSuccess : cudaErrorInvalidValue, &work);
}

API(cudaGraphHostNodeSetParams, void *node, const struct call_node_params *params) {
    return set_call(NULL, node, params);
}
API(cudaGraphExecHostNodeSetParams, void *executable, void *node, const struct call_node_params *params) {
    return executable ? set_call(executable, node, params) : runtime_note(cudaErrorInvalidValue);
}

API(cudaGraphNodeSetEnabled, void *executable, void *handle, unsigned is_on) {
    ENTER(cuda);
    struct graph_node *node = executable ? node_in(executable, handle) : NULL;
    if (node)
        node->is_off = !is_on;
    return runtime_leave(cuda, node ? cudaSuccess : cudaErrorInvalidValue);
}

API(cudaGraphDestroyNode, void *handle) {
    ENTER(cuda);
    struct graph_node *node = node_find(handle);
    if (node)
        node->kind = 0;
    return runtime_leave(cuda, node ? cudaSuccess : cudaErrorInvalidValue);
}

/* ---- entry points: asking ---- */

API(cudaGraphNodeGetType, void *handle, int *out) {
    ENTER(cuda);
    const struct graph_node *node = node_find(handle);
    if (node && out)
        *out = (int)node->work.kind;
    return runtime_leave(cuda, node && out ? cudaSuccess : cudaErrorInvalidValue);
}

API(cudaGraphNodeFindInClone, void **out, void *original, void *clone) {
    ENTER(cuda);
    struct cuda_graph *graph = graph_find(clone, GRAPH_KIND);
    struct graph_node *node = graph ? graph->first : NULL;
    while (node && node->original != original)
        node = node->next;
    if (node && out)
        *out = node;
    return runtime_leave(cuda, node && out ? cudaSuccess : cudaErrorInvalidValue);
}

/* Lists nodes: as many as there is room for in `out`, which may be NULL; *count gets how many there are or were given. */
static enum cuda_error list_nodes(void *handle, void **out, size_t *count, bool roots) {
    ENTER(cuda);
    const struct cuda_graph *graph = graph_find(handle, GRAPH_KIND);
    size_t found = 0;
    if (!graph || !count)
        return runtime_leave(cuda, cudaErrorInvalidValue);
    for (struct graph_node *node = graph->first; node; node = node->next) {
        if (!node->kind || (roots && node->needs.count))
            continue;
        if (out && found == *count)
            break;
        if (out)
            out[found] = node;
        found++;
    }
    *count = found;
    return runtime_leave(cuda, cudaSuccess);
}

API(cudaGraphGetNodes, void *graph, void **out, size_t *count) { return list_nodes(graph, out, count, false); }
API(cudaGraphGetRootNodes, void *graph, void **out, size_t *count) { return list_nodes(graph, out, count, true); }

static enum cuda_error list_edges(void *handle, void **from, void **to, size_t *count) {
    ENTER(cuda);
    const struct cuda_graph *graph = graph_find(handle, GRAPH_KIND);
    size_t found = 0;
    if (!graph || !count)
        return runtime_leave(cuda, cudaErrorInvalidValue);
    for (struct graph_node *node = graph->first; node; node = node->next)
        for (unsigned i = 0; node->kind && i < node->needs.count; i++) {
            if (!node->needs.items[i]->kind || (from && to && found == *count))
                continue;
            if (from && to)
                from[found] = node->needs.items[i], to[found] = node;
            found++;
        }
    *count = found;
    return runtime_leave(cuda, cudaSuccess);
}

API_IN(11, cudaGraphGetEdges, void *graph, void **from, void **to, size_t *count) {
    return list_edges(graph, from, to, count);
}
EXPORT_12(entry_11_cudaGraphGetEdges, cudaGraphGetEdges)
API_IN(13, cudaGraphGetEdges, void *graph, void **from, void **to, void *data, size_t *count) {
    (void)data;
    return list_edges(graph, from, to, count);
}

static enum cuda_error add_edges(void *handle, void *const *from, void *const *to, size_t count) {
    ENTER(cuda);
    struct cuda_graph *graph = graph_find(handle, GRAPH_KIND);
    enum cuda_error error = graph && (!count || (from && to)) ? cudaSuccess : cudaErrorInvalidValue;
    for (size_t i = 0; !error && i < count; i++) {
        struct graph_node *node = node_find(to[i]), *before = node_find(from[i]);
        if (!node || !before || node->graph != graph || before->graph != graph)
            error = cudaErrorInvalidValue;
        else
            *ARENA_PUSH(&graph->arena, &node->needs) = before;
    }
    return runtime_leave(cuda, error);
}

API_IN(11, cudaGraphAddDependencies, void *graph, void *const *from, void *const *to, size_t count) {
    return add_edges(graph, from, to, count);
}
EXPORT_12(entry_11_cudaGraphAddDependencies, cudaGraphAddDependencies)
API_IN(13, cudaGraphAddDependencies, void *graph, void *const *from, void *const *to, const void *data, size_t count) {
    (void)data;
    return add_edges(graph, from, to, count);
}
EXPORT_12(entry_13_cudaGraphAddDependencies, cudaGraphAddDependencies_v2)
