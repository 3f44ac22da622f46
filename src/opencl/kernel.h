/* SPDX-License-Identifier: Apache-2.0 */
/* OpenCL's kernels and their arguments. */
#ifndef HEDDLE_OPENCL_KERNEL_H
#define HEDDLE_OPENCL_KERNEL_H

#include "opencl/buffer.h"
#include "opencl/program.h"

struct kernel_argument {
    bool is_set;
    /* A pointer to global or constant memory. The specification forbids a kernel to keep it alive: it is watched, and a launch
     * finds out whether it still lives. */
    cl_mem buffer;
    const void *shared; /* a pointer to shared virtual memory */
    size_t local_bytes; /* a pointer to local memory */
    const void *value;  /* anything else, in the kernel's arena: the parameter's bytes */
};

struct _cl_kernel {
    struct object object;
    cl_program program;
    struct build *build; /* the program's when it was created */
    const struct function *function;
    const struct compile_kernel *source; /* what the source says of it */
    struct kernel_argument *arguments;   /* function->param_count of them, under the engine's lock */
    const char *attributes;              /* as CL_KERNEL_ATTRIBUTES has them */
};

void kernel_release(cl_kernel kernel);
/* Threads of a block that the machine and the kernel allow. */
size_t kernel_block_threads(const struct _cl_kernel *kernel);
/* The size the source or the module requires; 0: none. */
void kernel_required_size(const struct _cl_kernel *kernel, uint32_t size[3]);

#endif
