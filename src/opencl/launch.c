/* SPDX-License-Identifier: Apache-2.0 */
/* clEnqueueNDRangeKernel: from arguments and sizes to a launch on the device. */
#include <string.h>

#include "opencl/event.h"
#include "opencl/kernel.h"
#include "result/guest.h"

struct launch_work {
    cl_kernel kernel;
    struct launch launch;
};

/* ---- carrying out ---- */

static struct command_end run_launch(cl_event event, struct device *device) {
    struct launch_work *work = event->work;
    struct report report = {0};
    struct guest_launch run = {.recorder = event->context->device->platform->recorder,
                               .recording = event->context->recording,
                               .entry = work->kernel->build->record,
                               .launch = &work->launch};
    const enum status status = guest_launch(device, &run, &report);
    struct command_end end = {.status = CL_COMPLETE, .ns = run.ns};
    if (status != STATUS_OK) {
        end.status = status == STATUS_INVALID ? CL_INVALID_OPERATION : CL_OUT_OF_RESOURCES;
        end.lost = true;
        context_tell(event->context, report_text(&report));
    }
    report_free(&report);
    return end;
}

/* ---- sizes ---- */

/* The largest divisor of n up to `most`. */
static uint32_t divisor(size_t n, size_t most) {
    for (size_t size = most < n ? most : n; size > 1; size--)
        if (n % size == 0)
            return (uint32_t)size;
    return 1;
}

enum { BLOCK_THREADS = 256 }; /* of a block whose size the program leaves to us */

static void choose_block(const struct _cl_kernel *kernel, cl_uint dimensions, const size_t *global, uint32_t block[3]) {
    size_t left = kernel_block_threads(kernel);
    left = left < BLOCK_THREADS ? left : BLOCK_THREADS;
    for (cl_uint i = 0; i < dimensions; i++) {
        block[i] = divisor(global[i], left);
        left /= block[i];
    }
}

static cl_int read_block(const struct _cl_kernel *kernel, cl_uint dimensions, const size_t *global, const size_t *local,
                         uint32_t block[3]) {
    const size_t most = kernel_block_threads(kernel);
    uint32_t required[3];
    size_t threads = 1;
    kernel_required_size(kernel, required);
    if (!local && !required[0])
        choose_block(kernel, dimensions, global, block);
    for (cl_uint i = 0; i < dimensions && (local || required[0]); i++) {
        const size_t size = local ? local[i] : required[i];
        if (!size)
            return CL_INVALID_WORK_GROUP_SIZE;
        if (size > most)
            return CL_INVALID_WORK_ITEM_SIZE;
        block[i] = (uint32_t)size;
    }
    for (unsigned i = 0; i < 3; i++) {
        threads *= block[i];
        if (threads > most || (i < dimensions && global[i] % block[i]) || (required[0] && required[i] != block[i]))
            return CL_INVALID_WORK_GROUP_SIZE;
    }
    return CL_SUCCESS;
}

/* Work-items as the program gives them; offset and local may be NULL. */
struct work_range {
    cl_uint dimensions;
    const size_t *offset, *global, *local;
};

static cl_int read_sizes(const struct _cl_kernel *kernel, const struct work_range *range, struct launch *launch,
                         bool *is_empty) {
    const cl_uint dimensions = range->dimensions;
    const size_t *global = range->global;
    *is_empty = false;
    if (dimensions < 1 || dimensions > 3)
        return CL_INVALID_WORK_DIMENSION;
    for (unsigned i = 0; i < 3; i++)
        launch->grid[i] = launch->block[i] = 1;
    for (cl_uint i = 0; i < dimensions; i++)
        *is_empty |= !global || !global[i];
    if (*is_empty)
        return CL_SUCCESS;
    const cl_int wrong = read_block(kernel, dimensions, global, range->local, launch->block);
    if (wrong)
        return wrong;
    for (cl_uint i = 0; i < dimensions; i++) {
        const size_t blocks = global[i] / launch->block[i], from = range->offset ? range->offset[i] : 0;
        if (blocks > INT32_MAX || global[i] > UINT32_MAX)
            return CL_INVALID_GLOBAL_WORK_SIZE;
        if (from > UINT32_MAX || from + global[i] > UINT32_MAX) /* ids are of 32 bits in the launch's registers */
            return CL_INVALID_GLOBAL_OFFSET;
        launch->grid[i] = (uint32_t)blocks;
        launch->global_offset[i] = (uint32_t)from;
    }
    launch->work_dim = dimensions;
    return CL_SUCCESS;
}

/* ---- arguments ---- */

/* Local memory of the arguments lies behind the kernel's own. */
static uint64_t place_local(const struct symbol *param, size_t bytes, uint64_t *end) {
    const uint64_t align = param->pointer_align > 16 ? param->pointer_align : 16;
    *end = (*end + align - 1) / align * align;
    const uint64_t at = *end;
    *end += bytes;
    return at;
}

/* Buffers are held by the event from here on. The engine's lock is held. */
static cl_int read_arguments(cl_event event, cl_kernel kernel, struct launch *launch, uint8_t *params) {
    const uint64_t start = ((uint64_t)kernel->function->shared_bytes + 15) / 16 * 16;
    uint64_t end = start;
    for (unsigned i = 0; i < kernel->function->param_count; i++) {
        const struct symbol *param = kernel->function->params[i];
        const struct kernel_argument *argument = &kernel->arguments[i];
        cl_mem buffer = argument->buffer;
        if (!argument->is_set || (buffer && !object_try_retain(&buffer->object)))
            return CL_INVALID_KERNEL_ARGS; /* nobody set it, or it was released since */
        uint64_t address = buffer ? memory_is_image(buffer) ? buffer->handle : buffer->address : 0;
        if (buffer)
            event->held[event->held_count++] = &buffer->object;
        if (argument->shared)
            address = (uint64_t)(uintptr_t)argument->shared;
        if (argument->local_bytes)
            address = function_shared_address(kernel->function, place_local(param, argument->local_bytes, &end));
        memcpy(params + param->offset, argument->value ? argument->value : &address,
               argument->value    ? param->bytes
               : param->bytes < 8 ? param->bytes
                                  : 8);
    }
    if (end > machine_shared_bytes(&kernel->program->context->device->machine))
        return CL_OUT_OF_RESOURCES;
    launch->dynamic_shared_bytes = (uint32_t)(end - start);
    launch->params = params;
    return CL_SUCCESS;
}

/* ---- entry points ---- */

static cl_int fill_launch(cl_event event, cl_kernel kernel, const struct launch *sizes) {
    struct launch_work *work = event->work;
    const unsigned count = kernel->function->param_count;
    uint8_t *params = object_alloc(&event->object, kernel->function->param_bytes + 8u);
    event->held = object_alloc(&event->object, (count + 1) * sizeof *event->held);
    if (!params || !event->held)
        return CL_OUT_OF_HOST_MEMORY;
    work->kernel = kernel;
    work->launch = *sizes;
    work->launch.program = kernel->build->loaded;
    work->launch.kernel = kernel->function;
    object_retain(&kernel->object);
    event->held[event->held_count++] = &kernel->object;
    pthread_mutex_t *lock = &event->context->engine.lock;
    pthread_mutex_lock(lock);
    const cl_int wrong = read_arguments(event, kernel, &work->launch, params);
    pthread_mutex_unlock(lock);
    return wrong;
}

static cl_int enqueue(const struct command_order *order, cl_kernel kernel, const struct work_range *range) {
    if (!object_is(order->queue, OBJECT_QUEUE))
        return CL_INVALID_COMMAND_QUEUE;
    if (!object_is(kernel, OBJECT_KERNEL))
        return CL_INVALID_KERNEL;
    if (kernel->program->context != order->queue->context)
        return CL_INVALID_CONTEXT;
    struct launch sizes = {0};
    bool is_empty;
    cl_int wrong = read_sizes(kernel, range, &sizes, &is_empty);
    if (wrong)
        return wrong;
    cl_event event =
        event_create(order->queue, order->type, order->wait_count, order->waits, sizeof(struct launch_work), &wrong);
    if (!event)
        return wrong;
    wrong = fill_launch(event, kernel, &sizes);
    if (wrong) {
        event_release(event);
        return wrong;
    }
    event->run = is_empty ? NULL : run_launch;
    return event_submit(event, order->blocking, order->out);
}

cl_int CL_API_CALL clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                          const size_t *offset, const size_t *global, const size_t *local,
                                          cl_uint wait_count, const cl_event *waits, cl_event *out) {
    const struct command_order order = {queue, CL_COMMAND_NDRANGE_KERNEL, wait_count, waits, CL_FALSE, out};
    return enqueue(&order, kernel, &(struct work_range){dimensions, offset, global, local});
}

cl_int CL_API_CALL clEnqueueTask(cl_command_queue queue, cl_kernel kernel, cl_uint wait_count, const cl_event *waits,
                                 cl_event *out) {
    const size_t one = 1;
    const struct command_order order = {queue, CL_COMMAND_TASK, wait_count, waits, CL_FALSE, out};
    return enqueue(&order, kernel, &(struct work_range){1, NULL, &one, &one});
}
