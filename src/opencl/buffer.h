/* SPDX-License-Identifier: Apache-2.0 */
/* OpenCL's buffers, sub-buffers and images: memory objects. */
#ifndef HEDDLE_OPENCL_BUFFER_H
#define HEDDLE_OPENCL_BUFFER_H

#include "image/image.h"
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
    struct svm_range
        *shared;      /* that memory is shared virtual memory (opencl/svm.h), and the device's too; NULL: it is not */
    uint64_t address; /* on the device */
    uint8_t *data;    /* the same bytes as the host sees them */
    cl_mem_object_type type;
    cl_image_format format; /* of an image, as are those below */
    struct image_view view;
    uint64_t handle; /* on the device */
    cl_mem_properties *properties;
    size_t property_count;
    struct memory_end *ends;
    /* under the engine's lock */
    struct mapping *mappings, *unused;
    cl_uint mapping_count;
};

/* The program sees it at memory of its own, to which its bytes are copied and from there. */
static inline bool buffer_has_copy(const struct _cl_mem *buffer) {
    return buffer->host && buffer->host != buffer->data;
}
static inline bool memory_is_image(const struct _cl_mem *memory) { return memory->type != CL_MEM_OBJECT_BUFFER; }

/* What a memory object is made of, in whose context; `from`: the program's memory that it begins with, or NULL. */
struct object_order {
    cl_context context;
    cl_mem_flags flags;
    cl_mem_object_type type;
    size_t bytes;
    void *host;
};
bool memory_flags_fit(cl_mem_flags flags);
/* NULL with the error in *code. */
cl_mem memory_create_object(const struct object_order *order, cl_int *code);
/* A part of a buffer from `origin` on, which keeps the buffer alive. Flags that it does not say come from there. */
cl_mem memory_create_part(cl_mem buffer, const struct object_order *order, size_t origin, cl_int *code);
bool memory_part_flags(cl_mem_flags of_buffer, cl_mem_flags *flags);
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
