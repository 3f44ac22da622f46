/* SPDX-License-Identifier: Apache-2.0 */
/* OpenCL's buffers and sub-buffers. */
#ifndef HEDDLE_OPENCL_BUFFER_H
#define HEDDLE_OPENCL_BUFFER_H

#include "opencl/context.h"

/* A part of a buffer that the program sees at a pointer. */
struct mapping {
    uint8_t *pointer;
    size_t offset, bytes;
    cl_map_flags flags;
    struct mapping *next;
};

typedef void(CL_CALLBACK *memory_destructor)(cl_mem memory, void *user);

struct memory_end {
    memory_destructor function;
    void *user;
    struct memory_end *next;
};

struct _cl_mem {
    struct object object;
    cl_context context;
    cl_mem parent; /* NULL: not a part of another buffer */
    cl_mem_flags flags;
    size_t bytes, origin; /* origin: in the parent */
    uint8_t *host;        /* the program's memory, where it is used (CL_MEM_USE_HOST_PTR) */
    uint64_t address;     /* on the device */
    uint8_t *data;        /* the same bytes as the host sees them */
    cl_mem_properties *properties;
    size_t property_count;
    struct memory_end *ends;
    /* under the engine's lock */
    struct mapping *mappings, *unused;
    cl_uint mapping_count;
};

/* Lets go of one reference. */
void memory_object_release(cl_mem memory);
/* A new mapping of a part, copied to `out`: another thread may take it away at once. False: the host has no memory. */
bool buffer_map(cl_mem buffer, size_t offset, size_t bytes, cl_map_flags flags, struct mapping *out);
/* Takes the mapping at this pointer away and says what it was. False: there is none. */
bool buffer_unmap(cl_mem buffer, const void *pointer, struct mapping *out);
static inline bool buffer_has(const struct _cl_mem *buffer, size_t offset, size_t bytes) {
    return bytes <= buffer->bytes && offset <= buffer->bytes - bytes;
}

#endif
