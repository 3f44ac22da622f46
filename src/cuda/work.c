/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda/work.h"

#include <string.h>

#include "cuda/graph.h"
#include "cuda/memory.h"
#include "cuda/stream.h"

enum { GRID_Y_MAX = 65535 };

static bool is_grid(const struct runtime *cuda, struct extent3 grid, struct extent3 block) {
    const uint64_t threads = (uint64_t)block.x * block.y;
    return grid.x && grid.y && grid.z && grid.x <= INT32_MAX && grid.y <= GRID_Y_MAX && grid.z <= GRID_Y_MAX &&
           threads && block.z && threads <= cuda->machine.max_block_threads &&
           threads * block.z <= cuda->machine.max_block_threads;
}

enum cuda_error work_launch(struct runtime *cuda, const struct launch_order *order, struct arena *arena,
                            struct stream_work *out) {
    enum cuda_error error;
    struct kernel *kernel = kernel_find(cuda, order->function, &error);
    if (!kernel)
        return error;
    const struct function *function = kernel->function;
    if (!is_grid(cuda, order->grid, order->block))
        return cudaErrorInvalidConfiguration;
    if (order->shared_bytes > machine_shared_bytes(&cuda->machine) ||
        function->shared_bytes + order->shared_bytes > machine_shared_bytes(&cuda->machine) ||
        (function->param_count && !order->arguments))
        return cudaErrorInvalidValue;
    const size_t param_bytes = function->param_bytes + 8u;
    uint8_t *params = arena_alloc(arena, param_bytes);
    for (unsigned i = 0; i < function->param_count; i++)
        memcpy(params + function->params[i]->offset, order->arguments[i], function->params[i]->bytes);
    *out = (struct stream_work){.kind = WORK_LAUNCH,
                                .launch = {.kernel = kernel,
                                           .grid = {order->grid.x, order->grid.y, order->grid.z},
                                           .block = {order->block.x, order->block.y, order->block.z},
                                           .cluster = {order->cluster.x, order->cluster.y, order->cluster.z},
                                           .shared_bytes = (uint32_t)order->shared_bytes,
                                           .is_cooperative = order->is_cooperative,
                                           .params = params,
                                           .param_bytes = param_bytes}};
    return cudaSuccess;
}

struct stream_work work_copy(struct arena *arena, const struct stream_work *work) {
    struct stream_work copy = *work;
    if (work->kind == WORK_LAUNCH)
        copy.launch.params = arena_copy(arena, work->launch.params, work->launch.param_bytes);
    if (work->kind == WORK_GRAPH)
        copy.graph = graph_copy(work->graph, GRAPH_KIND); /* as it is now */
    return copy;
}

/* ---- doing it ---- */

enum { WORKSPACE_BYTES = 256 };

/* Where the blocks of a grid meet, zero again; 0: there is no memory for it. */
static uint64_t workspace(struct runtime *cuda) {
    struct report report = {0};
    if (!cuda->workspace && device_alloc(cuda->device, "where blocks meet", WORKSPACE_BYTES, &cuda->workspace, &report))
        cuda->workspace = 0;
    report_free(&report);
    void *memory = cuda->workspace ? device_memory(cuda->device, cuda->workspace, WORKSPACE_BYTES) : NULL;
    if (memory)
        memset(memory, 0, WORKSPACE_BYTES);
    return cuda->workspace;
}

static enum cuda_error error_of(const struct report *report) {
    switch (host_stop_of(report)) {
    case STOP_ADDRESS: return cudaErrorIllegalAddress;
    case STOP_ALIGNMENT: return cudaErrorMisalignedAddress;
    case STOP_ASSERT: return cudaErrorAssert;
    case STOP_LIMIT: return cudaErrorLaunchTimeout;
    case STOP_TRAP:
    case STOP_OTHER: break;
    }
    return cudaErrorLaunchFailure;
}

/* A kernel that stops is told by the next call, as a GPU that works beside the program would. */
static enum cuda_error run_launch(struct runtime *cuda, const struct stream_work *work) {
    const struct kernel *kernel = work->launch.kernel;
    if (!kernel->function) /* of a graph: its module has gone */
        return cudaErrorInvalidDeviceFunction;
    struct launch launch = {.program = kernel->image->program,
                            .kernel = kernel->function,
                            .dynamic_shared_bytes = work->launch.shared_bytes,
                            .params = work->launch.params,
                            .work_dim = 3,
                            .workspace = work->launch.is_cooperative ? workspace(cuda) : 0};
    memcpy(launch.grid, work->launch.grid, sizeof launch.grid);
    memcpy(launch.block, work->launch.block, sizeof launch.block);
    memcpy(launch.cluster, work->launch.cluster, sizeof launch.cluster);
    struct guest_launch run = {
        .recorder = cuda->recorder, .recording = cuda->recording, .entry = kernel->image->entry, .launch = &launch};
    struct report report = {0};
    pinned_to_device(cuda);
    const enum status status = guest_launch(cuda->device, &run, &report);
    pinned_to_host(cuda);
    cuda->now_ns += run.ns;
    enum cuda_error error = status == STATUS_INVALID ? cudaErrorInvalidConfiguration : cudaSuccess;
    if (status && status != STATUS_INVALID)
        cuda->lost = error_of(&report);
    if (status && !cuda->recording)
        runtime_say(cuda, "%s", report_text(&report));
    report_free(&report);
    return error;
}

static void run_fill(struct runtime *cuda, const struct cuda_fill *fill) {
    const uint32_t step = fill->element_bytes;
    for (size_t z = 0; z < fill->slices; z++)
        for (size_t y = 0; y < fill->rows; y++) {
            const size_t at = z * fill->slice + y * fill->row;
            if (step == 1)
                memset(fill->to + at, (int)fill->value, fill->width);
            else
                for (size_t x = 0; x + step <= fill->width; x += step)
                    memcpy(fill->to + at + x, &fill->value, step); /* little-endian */
            device_written(cuda->device, fill->written + at, fill->width);
        }
    cuda->now_ns += host_move_ns(cuda->device, (uint64_t)fill->width * fill->rows * fill->slices);
}

static void run_call(struct runtime *cuda, const struct host_call *call) {
    pthread_mutex_unlock(&cuda->lock);
    if (call->callback)
        call->callback(call->stream, cudaSuccess, call->data);
    else
        call->function(call->data);
    pthread_mutex_lock(&cuda->lock);
}

enum cuda_error work_run(struct runtime *cuda, const struct stream_work *work) {
    switch (work->kind) {
    case WORK_LAUNCH: return run_launch(cuda, work);
    case WORK_MOVE: cuda->now_ns += host_move_ns(cuda->device, host_move(cuda->device, &work->move)); break;
    case WORK_FILL: run_fill(cuda, &work->fill); break;
    case WORK_CALL: run_call(cuda, &work->call); break;
    case WORK_GRAPH: return graph_run(cuda, work->graph);
    case WORK_RECORD: event_record(cuda, work->event); break;
    case WORK_WAIT:
    case WORK_NOTHING: break;
    }
    return cudaSuccess;
}
