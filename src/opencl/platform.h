/* SPDX-License-Identifier: Apache-2.0 */
/* The platform, its one device, and what the environment says about them. */
#ifndef HEDDLE_OPENCL_PLATFORM_H
#define HEDDLE_OPENCL_PLATFORM_H

#include "machine/machine.h"
#include "opencl/object.h"

struct _cl_device_id {
    struct object object;
    struct machine machine;
    cl_platform_id platform;
};

struct recorder; /* result/guest.h */

struct _cl_platform_id {
    struct object object;
    struct _cl_device_id device;
    bool has_device; /* false: the machine that the environment names is not one */
    struct recorder *recorder;
};

/* CL_DEVICE_MAX_MEM_ALLOC_SIZE: as much as the specification asks for at least. */
static inline uint64_t device_largest_buffer(const struct _cl_device_id *device) {
    return device->machine.memory_capacity_bytes / 4;
}

/* The platform of this process, made when first asked for; NULL: the host has no memory. */
cl_platform_id platform_get(void);

#endif
