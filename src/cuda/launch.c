/* SPDX-License-Identifier: Apache-2.0 */
/* Launches, what is asked about kernels, and how many blocks of them an SM holds. */
#include <string.h>

#include "cuda/stream.h"

/* ---- launching ---- */

static enum cuda_error launch(const struct launch_order *order, void *stream) {
    struct stream_work work;
    ENTER(cuda);
    enum cuda_error error = work_launch(cuda, order, &cuda->scratch, &work);
    if (!error)
        error = stream_submit(cuda, stream_find(cuda, stream), &work);
    arena_reset(&cuda->scratch);
    return runtime_leave(cuda, error);
}

API_STREAM(cudaLaunchKernel, const void *function, struct extent3 grid, struct extent3 block, void **arguments,
           size_t shared_bytes, void *stream) {
    return launch(&(struct launch_order){function, grid, block, shared_bytes, arguments, false, {0, 0, 0}}, stream);
}

API_STREAM(__cudaLaunchKernel, const void *kernel, struct extent3 grid, struct extent3 block, void **arguments,
           size_t shared_bytes, void *stream) {
    return launch(&(struct launch_order){kernel, grid, block, shared_bytes, arguments, false, {0, 0, 0}}, stream);
}

/* More blocks than the machine holds at a time could never meet. */
static enum cuda_error check_cooperative(const struct launch_order *order) {
    enum cuda_error error;
    ENTER(cuda);
    const struct kernel *kernel = kernel_find(cuda, order->function, &error);
    if (kernel) {
        const uint64_t blocks = (uint64_t)order->grid.x * order->grid.y * order->grid.z;
        const uint32_t held =
            host_blocks_per_sm(cuda->device, kernel->function, order->block.x * order->block.y * order->block.z,
                               (uint32_t)order->shared_bytes);
        if (blocks > (uint64_t)held * cuda->machine.sm_count)
            error = cudaErrorCooperativeLaunchTooLarge;
    }
    return runtime_leave(cuda, error);
}

API_STREAM(cudaLaunchCooperativeKernel, const void *function, struct extent3 grid, struct extent3 block,
           void **arguments, size_t shared_bytes, void *stream) {
    const struct launch_order order = {function, grid, block, shared_bytes, arguments, true, {0, 0, 0}};
    const enum cuda_error error = check_cooperative(&order);
    return error ? error : launch(&order, stream);
}

/* Clusters of several blocks: not of code for GPUs that have none. */
static bool has_clusters(const void *function) {
    enum { FIRST_ARCH = 90 };
    enum cuda_error error;
    ENTER(cuda);
    const struct kernel *kernel = kernel_find(cuda, function, &error);
    const bool has = !kernel || kernel->image->arch >= FIRST_ARCH;
    runtime_leave(cuda, cudaSuccess);
    return has;
}

API_STREAM(cudaLaunchKernelExC, const struct launch_configuration *how, const void *function, void **arguments) {
    enum { COOPERATIVE = 2, CLUSTER = 4 };
    if (!how)
        return runtime_note(cudaErrorInvalidValue);
    struct launch_order order = {function, how->grid, how->block, how->shared_bytes, arguments, false, {0, 0, 0}};
    for (unsigned i = 0; i < how->attribute_count; i++) {
        const struct launch_attribute *one = &how->attributes[i];
        const struct extent3 *cluster = &one->value.extent;
        if (one->id == CLUSTER && (!cluster->x || !cluster->y || !cluster->z))
            return runtime_note(cudaErrorInvalidValue);
        if (one->id == CLUSTER && cluster->x * cluster->y * cluster->z != 1 && !has_clusters(function))
            return runtime_note(cudaErrorNotSupported);
        if (one->id == CLUSTER)
            order.cluster = *cluster;
        order.is_cooperative |= one->id == COOPERATIVE && one->value.number;
        const enum cuda_error error = order.is_cooperative ? check_cooperative(&order) : cudaSuccess;
        if (error)
            return error;
    }
    return launch(&order, how->stream);
}

/* ---- kernel<<<...>>>, as compilers write it ---- */

API_OF(unsigned, __cudaPushCallConfiguration, struct extent3 grid, struct extent3 block, size_t shared_bytes,
       void *stream) {
    struct runtime_thread *thread = runtime_thread();
    if (thread->pushed_count == sizeof thread->pushed / sizeof *thread->pushed)
        return 1;
    thread->pushed[thread->pushed_count++] =
        (struct launch_configuration){.grid = grid, .block = block, .shared_bytes = shared_bytes, .stream = stream};
    return 0;
}

API(__cudaPopCallConfiguration, struct extent3 *grid, struct extent3 *block, size_t *shared_bytes, void **stream) {
    struct runtime_thread *thread = runtime_thread();
    if (!thread->pushed_count)
        return runtime_note(cudaErrorMissingConfiguration);
    const struct launch_configuration *top = &thread->pushed[--thread->pushed_count];
    *grid = top->grid;
    *block = top->block;
    *shared_bytes = top->shared_bytes;
    *stream = top->stream;
    return cudaSuccess;
}

/* ---- kernels ---- */

static enum cuda_error function_attributes(struct function_attributes *out, const void *function, unsigned version) {
    enum cuda_error error;
    ENTER(cuda);
    const struct kernel *kernel = kernel_find(cuda, function, &error);
    if (!out)
        return runtime_leave(cuda, cudaErrorInvalidValue);
    if (!kernel)
        return runtime_leave(cuda, error);
    const struct function *found = kernel->function;
    unsigned threads = cuda->machine.max_block_threads;
    if (found->max_ntid[0]) {
        unsigned most = found->max_ntid[0];
        for (unsigned i = 1; i < 3; i++)
            most *= found->max_ntid[i] ? found->max_ntid[i] : 1;
        threads = most < threads ? most : threads;
    }
    const size_t whole = version > 11 ? sizeof *out : offsetof(struct function_attributes, since_12);
    const struct function_attributes is = {.shared_bytes = found->shared_bytes,
                                           .local_bytes = found->local_bytes,
                                           .max_threads = (int)threads,
                                           .registers = (int)found->live_registers,
                                           .ptx_version = (int)kernel->image->arch,
                                           .binary_version = (int)kernel->image->arch,
                                           .max_dynamic_shared_bytes =
                                               kernel->dynamic_shared_limit
                                                   ? (int)kernel->dynamic_shared_limit
                                                   : (int)(machine_shared_bytes(&cuda->machine) - found->shared_bytes),
                                           .shared_carve_out = -1};
    memcpy(out, &is, whole);
    return runtime_leave(cuda, cudaSuccess);
}

API_IN(11, cudaFuncGetAttributes, struct function_attributes *out, const void *function) {
    return function_attributes(out, function, 11);
}
API_IN(13, cudaFuncGetAttributes, struct function_attributes *out, const void *function) {
    return function_attributes(out, function, 13);
}
EXPORT_12(entry_13_cudaFuncGetAttributes, cudaFuncGetAttributes)

API(cudaFuncSetAttribute, const void *function, int attribute, int value) {
    enum { MAX_DYNAMIC_SHARED = 8 };
    enum cuda_error error;
    ENTER(cuda);
    struct kernel *kernel = kernel_find(cuda, function, &error);
    if (kernel && attribute == MAX_DYNAMIC_SHARED) {
        const uint64_t all = machine_shared_bytes(&cuda->machine);
        if (value < 0 || kernel->function->shared_bytes + (uint64_t)value > all)
            error = cudaErrorInvalidValue;
        else
            kernel->dynamic_shared_limit = (uint32_t)value;
    }
    return runtime_leave(cuda, error);
}

/* Wishes for a cache or banks: the machine says what it has. */
static enum cuda_error known(const void *function) {
    enum cuda_error error;
    ENTER(cuda);
    kernel_find(cuda, function, &error);
    return runtime_leave(cuda, error);
}

API(cudaFuncSetCacheConfig, const void *function, int config) {
    (void)config;
    return known(function);
}
API(cudaFuncSetSharedMemConfig, const void *function, int config) {
    (void)config;
    return known(function);
}

API(cudaFuncGetName, const char **out, const void *function) {
    enum cuda_error error;
    ENTER(cuda);
    const struct kernel *kernel = kernel_find(cuda, function, &error);
    if (kernel && out)
        *out = kernel->name;
    return runtime_leave(cuda, out ? error : cudaErrorInvalidValue);
}

API(cudaFuncGetParamInfo, const void *function, size_t index, size_t *offset, size_t *bytes) {
    enum cuda_error error;
    ENTER(cuda);
    const struct kernel *kernel = kernel_find(cuda, function, &error);
    if (!kernel)
        return runtime_leave(cuda, error);
    if (index >= kernel->function->param_count || !offset)
        return runtime_leave(cuda, cudaErrorInvalidValue);
    *offset = kernel->function->params[index]->offset;
    if (bytes)
        *bytes = kernel->function->params[index]->bytes;
    return runtime_leave(cuda, cudaSuccess);
}

/* ---- occupancy ---- */

API(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, int *out, const void *function, int threads,
    size_t shared_bytes, unsigned flags) {
    enum cuda_error error;
    ENTER(cuda);
    const struct kernel *kernel = kernel_find(cuda, function, &error);
    if (!kernel)
        return runtime_leave(cuda, error);
    if (!out || threads <= 0 || flags > 1)
        return runtime_leave(cuda, cudaErrorInvalidValue);
    *out = 0;
    if (shared_bytes <= machine_shared_bytes(&cuda->machine))
        *out = (int)host_blocks_per_sm(cuda->device, kernel->function, (uint32_t)threads, (uint32_t)shared_bytes);
    return runtime_leave(cuda, cudaSuccess);
}

API(cudaOccupancyMaxActiveBlocksPerMultiprocessor, int *out, const void *function, int threads, size_t shared_bytes) {
    return entry_cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(out, function, threads, shared_bytes, 0);
}

/* What each of so many blocks on an SM may take: by halves, until one byte more is one block less. */
API(cudaOccupancyAvailableDynamicSMemPerBlock, size_t *out, const void *function, int blocks, int threads) {
    enum cuda_error error;
    ENTER(cuda);
    const struct kernel *kernel = kernel_find(cuda, function, &error);
    if (!kernel)
        return runtime_leave(cuda, error);
    if (!out || blocks <= 0 || threads <= 0)
        return runtime_leave(cuda, cudaErrorInvalidValue);
    uint32_t low = 0, high = (uint32_t)machine_shared_bytes(&cuda->machine) + 1;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (host_blocks_per_sm(cuda->device, kernel->function, (uint32_t)threads, middle) >= (uint32_t)blocks)
            low = middle;
        else
            high = middle;
    }
    *out = low;
    return runtime_leave(cuda, cudaSuccess);
}
