/* SPDX-License-Identifier: Apache-2.0 */
/* OpenCL's shared virtual memory: buffers that host and kernels know by the same pointer. Where the addresses of a context's device are the
 * host's own (host_unify) an allocation of the device is one. */
#ifndef HEDDLE_OPENCL_SVM_H
#define HEDDLE_OPENCL_SVM_H

#include "device/lowered.h"
#include "opencl/context.h"

/* A part that the program has mapped. */
struct svm_mapping {
    const void *pointer;
    size_t bytes;
    cl_map_flags flags;
    struct svm_mapping *next;
};

/* An allocation, in the context's arena and under the engine's lock. */
struct svm_range {
    uint64_t start;
    size_t bytes;
    cl_svm_mem_flags flags;
    struct svm_mapping *mappings;
    unsigned users; /* 1, and one for every buffer that was made over it */
    bool is_freed;  /* by the program; a buffer still has it */
    struct svm_range *next;
};

/* Kernels have pointers as wide as the host's. */
static inline bool svm_is_supported(const struct _cl_device_id *device) {
    return lowered_address_bits(&device->machine, (enum isa_choice)device->machine.isa) == 64;
}
static inline cl_device_svm_capabilities svm_capabilities(const struct _cl_device_id *device) {
    return svm_is_supported(device) ? CL_DEVICE_SVM_COARSE_GRAIN_BUFFER | CL_DEVICE_SVM_FINE_GRAIN_BUFFER : 0;
}
/* Whether the pointer lies in an allocation of the context that goes on for so many bytes. */
bool svm_has(cl_context context, const void *pointer, size_t bytes);
/* The same under the engine's lock. */
struct svm_range *svm_find(cl_context context, const void *pointer);
/* A buffer over shared memory keeps it. NULL: that is not such memory, or has fewer bytes. */
struct svm_range *svm_keep(cl_context context, const void *pointer, size_t bytes);
void svm_let_go(cl_context context, struct svm_range *range);

#endif
