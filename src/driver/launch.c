/* SPDX-License-Identifier: Apache-2.0 */
/* Launches, and what is asked about kernels. */
#include <string.h>

#include "cuda/image.h"
#include "driver/driver.h"

RUNTIME(13, cudaLaunchKernel, const void *, struct extent3, struct extent3, void **, size_t, void *);
RUNTIME(13, cudaLaunchCooperativeKernel, const void *, struct extent3, struct extent3, void **, size_t, void *);
RUNTIME(13, cudaLaunchKernelExC, const struct launch_configuration *, const void *, void **);
RUNTIME(13, cudaFuncGetAttributes, struct function_attributes *, const void *);
RUNTIME(13, cudaFuncSetAttribute, const void *, int, int);
RUNTIME(13, cudaFuncSetCacheConfig, const void *, int);
RUNTIME(13, cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, int *, const void *, int, size_t, unsigned);
RUNTIME(13, cudaGraphKernelNodeSetParams, void *, const struct kernel_node_params *);
RUNTIME(13, cudaGraphExecKernelNodeSetParams, void *, void *, const struct kernel_node_params *);
RUNTIME(13, cudaGraphAddKernelNode, void **, void *, void *const *, size_t, const struct kernel_node_params *);

/* ---- parameters in a block of their own ---- */

struct parameter_block {
    const uint8_t *data;
    size_t bytes;
};

/* What a program says of it: words and their values, up to an end; false: it says something else. */
static bool read_block(void **extra, struct parameter_block *out) {
    enum { END = 0, BUFFER = 1, BUFFER_BYTES = 2 };
    while ((uintptr_t)*extra != END) {
        const uintptr_t word = (uintptr_t)*extra++;
        void *value = *extra++;
        if (word == BUFFER)
            out->data = value;
        else if (word == BUFFER_BYTES && value)
            out->bytes = *(const size_t *)value;
        else
            return false;
    }
    return out->data != NULL;
}

/* Parameters one by one, as kernels take them here; in the arena. */
static enum cuda_error split_block(const void *function, void **extra, struct arena *arena, void ***out) {
    enum cuda_error error;
    struct parameter_block block = {0};
    struct runtime *cuda = runtime_enter();
    const struct kernel *kernel = kernel_find(cuda, function, &error);
    if (kernel && (!read_block(extra, &block) || block.bytes < kernel->function->param_bytes))
        error = cudaErrorInvalidValue;
    if (!error) {
        const struct function *known = kernel->function;
        *out = ARENA_ARRAY(arena, void *, known->param_count + 1);
        for (unsigned i = 0; i < known->param_count; i++)
            (*out)[i] = (void *)(uintptr_t)(block.data + known->params[i]->offset);
    }
    return runtime_leave(cuda, error);
}

static enum cuda_error launch(const struct launch_configuration *how, const void *function, void **arguments,
                              void **extra) {
    enum cuda_error error = cudaSuccess;
    struct arena arena = {0};
    BEGIN(NEEDS_CONTEXT);
    if (arguments && extra)
        error = cudaErrorInvalidValue;
    else if (extra)
        error = split_block(function, extra, &arena, &arguments);
    if (!error)
        error = heddle_13_cudaLaunchKernelExC(how, function, arguments);
    arena_free(&arena);
    return driver_end(error);
}

/* ---- entry points: launches ---- */

API_CU_STREAM(cuLaunchKernel, const void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
              unsigned block_y, unsigned block_z, unsigned shared_bytes, void *stream, void **arguments, void **extra) {
    const struct launch_configuration how = {.grid = {grid_x, grid_y, grid_z},
                                             .block = {block_x, block_y, block_z},
                                             .shared_bytes = shared_bytes,
                                             .stream = stream};
    return launch(&how, function, arguments, extra);
}

API_CU_STREAM(cuLaunchCooperativeKernel, const void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
              unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes, void *stream,
              void **arguments) {
    BEGIN(NEEDS_CONTEXT);
    return driver_end(heddle_13_cudaLaunchCooperativeKernel(function, (struct extent3){grid_x, grid_y, grid_z},
                                                            (struct extent3){block_x, block_y, block_z}, arguments,
                                                            shared_bytes, stream));
}

struct driver_configuration { /* CUlaunchConfig */
    struct extent3 grid, block;
    unsigned shared_bytes;
    void *stream;
    struct launch_attribute *attributes;
    unsigned attribute_count;
};

API_CU_STREAM(cuLaunchKernelEx, const struct driver_configuration *how, const void *function, void **arguments,
              void **extra) {
    if (!how)
        return cudaErrorInvalidValue;
    const struct launch_configuration same = {.grid = how->grid,
                                              .block = how->block,
                                              .shared_bytes = how->shared_bytes,
                                              .stream = how->stream,
                                              .attributes = how->attributes,
                                              .attribute_count = how->attribute_count};
    return launch(&same, function, arguments, extra);
}

struct driver_kernel_node { /* CUDA_KERNEL_NODE_PARAMS of CUDA 12 */
    struct kernel_node_params params;
    void *kernel; /* where params.function is NULL */
    void *context;
};

static struct kernel_node_params kernel_of(const struct driver_kernel_node *node) {
    struct kernel_node_params params = node->params;
    if (!params.function)
        params.function = node->kernel;
    return params;
}

API_CU(cuGraphAddKernelNode_v2, void **out, void *graph, void *const *needs, size_t count,
       const struct driver_kernel_node *node) {
    BEGIN(NEEDS_CONTEXT);
    if (!node)
        return driver_end(cudaErrorInvalidValue);
    const struct kernel_node_params params = kernel_of(node);
    return driver_end(heddle_13_cudaGraphAddKernelNode(out, graph, needs, count, &params));
}

API_CU(cuGraphKernelNodeSetParams_v2, void *old, const struct driver_kernel_node *node) {
    BEGIN(NEEDS_CONTEXT);
    if (!node)
        return driver_end(cudaErrorInvalidValue);
    const struct kernel_node_params params = kernel_of(node);
    return driver_end(heddle_13_cudaGraphKernelNodeSetParams(old, &params));
}

API_CU(cuGraphExecKernelNodeSetParams_v2, void *executable, void *old, const struct driver_kernel_node *node) {
    BEGIN(NEEDS_CONTEXT);
    if (!node)
        return driver_end(cudaErrorInvalidValue);
    const struct kernel_node_params params = kernel_of(node);
    return driver_end(heddle_13_cudaGraphExecKernelNodeSetParams(executable, old, &params));
}

/* ---- entry points: attributes of kernels ---- */

enum { ATTRIBUTE_DYNAMIC_SHARED = 8, ATTRIBUTE_LAST = 15 };

static enum cuda_error attribute_of(int *out, int attribute, const void *function) {
    struct function_attributes about = {0};
    BEGIN(NEEDS_CONTEXT);
    if (!out || attribute < 0 || attribute > ATTRIBUTE_LAST)
        return driver_end(cudaErrorInvalidValue);
    const enum cuda_error error = heddle_13_cudaFuncGetAttributes(&about, function);
    const int values[ATTRIBUTE_LAST + 1] = {
        about.max_threads,      (int)about.shared_bytes, (int)about.const_bytes,
        (int)about.local_bytes, about.registers,         about.ptx_version,
        about.binary_version,   about.cache_mode,        about.max_dynamic_shared_bytes,
        about.shared_carve_out}; /* clusters: none */
    if (!error)
        *out = values[attribute];
    return driver_end(error);
}

API_CU(cuFuncGetAttribute, int *out, int attribute, const void *function) {
    return attribute_of(out, attribute, function);
}

API_CU(cuKernelGetAttribute, int *out, int attribute, const void *kernel, int device) {
    const enum cuda_error error = driver_check_device(device);
    return error ? error : attribute_of(out, attribute, kernel);
}

/* The first ones cannot be set. */
static enum cuda_error set_attribute(const void *function, int attribute, int value) {
    BEGIN(NEEDS_CONTEXT);
    return driver_end(attribute >= ATTRIBUTE_DYNAMIC_SHARED && attribute <= ATTRIBUTE_LAST
                          ? heddle_13_cudaFuncSetAttribute(function, attribute, value)
                          : cudaErrorInvalidValue);
}

API_CU(cuFuncSetAttribute, const void *function, int attribute, int value) {
    return set_attribute(function, attribute, value);
}

API_CU(cuKernelSetAttribute, int attribute, int value, const void *kernel, int device) {
    const enum cuda_error error = driver_check_device(device);
    return error ? error : set_attribute(kernel, attribute, value);
}

API_CU(cuKernelSetCacheConfig, const void *kernel, int config, int device) {
    BEGIN(NEEDS_CONTEXT);
    const enum cuda_error error = driver_check_device(device);
    return driver_end(error ? error : heddle_13_cudaFuncSetCacheConfig(kernel, config));
}

/* ---- entry points: blocks that fill the machine ---- */

typedef size_t block_shared_bytes(int threads);

struct potential_order {
    int *grid, *block;
    const void *function;
    block_shared_bytes *shared_of;
    size_t shared_bytes;
    int limit; /* 0: none */
};

/* Of all blocks that are whole warps the one of which an SM holds the most threads; of equal ones the largest. */
static enum cuda_error potential(const struct potential_order *order, unsigned flags) {
    RUNTIME(13, cudaDeviceGetAttribute, int *, int, int);
    enum { SM_COUNT = 16, WARP = 32 };
    struct function_attributes about = {0};
    int sms = 0, blocks = 0, best = 0;
    BEGIN(NEEDS_CONTEXT);
    if (!order->grid || !order->block)
        return driver_end(cudaErrorInvalidValue);
    enum cuda_error error = heddle_13_cudaFuncGetAttributes(&about, order->function);
    if (!error)
        error = heddle_13_cudaDeviceGetAttribute(&sms, SM_COUNT, 0);
    int most = order->limit && order->limit < about.max_threads ? order->limit : about.max_threads;
    for (int threads = most; threads > 0 && !error; threads = (threads - 1) / WARP * WARP) {
        error = heddle_13_cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
            &blocks, order->function, threads, order->shared_of ? order->shared_of(threads) : order->shared_bytes,
            flags);
        if (!error && blocks * threads > best) {
            best = blocks * threads;
            *order->block = threads;
            *order->grid = blocks * sms;
        }
    }
    return driver_end(error || best ? error : cudaErrorInvalidValue);
}

API_CU(cuOccupancyMaxPotentialBlockSize, int *grid, int *block, const void *function, block_shared_bytes *shared_of,
       size_t shared_bytes, int limit) {
    return potential(&(struct potential_order){grid, block, function, shared_of, shared_bytes, limit}, 0);
}

API_CU(cuOccupancyMaxPotentialBlockSizeWithFlags, int *grid, int *block, const void *function,
       block_shared_bytes *shared_of, size_t shared_bytes, int limit, unsigned flags) {
    return potential(&(struct potential_order){grid, block, function, shared_of, shared_bytes, limit}, flags);
}
