/* SPDX-License-Identifier: Apache-2.0 */
#include "opencl/buffer.h"

#include <stdio.h>

#include "opencl/info.h"
#include "opencl/svm.h"
#include "result/guest.h"

enum { SUB_BUFFER_ALIGNMENT_BYTES = 128 }; /* CL_DEVICE_MEM_BASE_ADDR_ALIGN */

/* ---- lifetime ---- */

static void destroy(cl_mem memory) {
    for (struct memory_end *end = memory->ends; end; end = end->next)
        end->function(memory, end->user);
    cl_context context = memory->context;
    cl_mem parent = memory->parent;
    struct svm_range *shared = parent ? NULL : memory->shared;
    if (memory->handle || (!parent && memory->data && !shared)) {
        engine_acquire(&context->engine);
        device_image_end(context->engine.device, memory->handle);
        if (!parent && !shared) {
            device_free(context->engine.device, memory->address);
            guest_freed(context->recording, memory->address);
        }
        engine_give_back(&context->engine);
    }
    object_free(&memory->object);
    if (shared)
        svm_let_go(context, shared);
    if (parent)
        memory_object_release(parent);
    context_release(context);
}

void memory_object_release(cl_mem memory) {
    if (object_release(&memory->object))
        destroy(memory);
}

static bool at_most_one(cl_mem_flags flags, cl_mem_flags of) { return (flags & of & ((flags & of) - 1)) == 0; }

static const cl_mem_flags device_access = CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY;
static const cl_mem_flags host_access = CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS;
static const cl_mem_flags host_pointer = CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR;

bool memory_flags_fit(cl_mem_flags flags) {
    return !(flags & ~(device_access | host_access | host_pointer)) && at_most_one(flags, device_access) &&
           at_most_one(flags, host_access) && at_most_one(flags, CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR) &&
           at_most_one(flags, CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR);
}

/* Room on the device, filled from the program's memory where it gave any. */
static bool place(cl_mem buffer, const void *from) {
    struct engine *engine = &buffer->context->engine;
    char name[32];
    snprintf(name, sizeof name, "buffer %u", atomic_fetch_add(&buffer->context->buffers, 1) + 1);
    engine_acquire(engine);
    const bool placed = device_alloc(engine->device, name, buffer->bytes, &buffer->address, NULL) == STATUS_OK;
    if (placed) {
        buffer->data = device_memory(engine->device, buffer->address, buffer->bytes);
        guest_allocated(buffer->context->recording, &(struct host_range){buffer->address, buffer->bytes, name}, false);
        if (from) {
            memcpy(buffer->data, from, buffer->bytes);
            device_written(engine->device, buffer->address, buffer->bytes);
        }
    }
    engine_give_back(engine);
    return placed;
}

cl_mem memory_create_object(const struct object_order *order, cl_int *code) {
    cl_mem memory = object_create(OBJECT_MEMORY, sizeof *memory);
    if (!memory)
        return object_refuse(code, CL_OUT_OF_HOST_MEMORY);
    memory->context = order->context;
    memory->type = order->type;
    memory->flags = order->flags & device_access ? order->flags : order->flags | CL_MEM_READ_WRITE;
    memory->bytes = order->bytes;
    memory->host = order->flags & CL_MEM_USE_HOST_PTR ? order->host : NULL;
    memory->shared = memory->host ? svm_keep(order->context, memory->host, order->bytes) : NULL;
    context_retain(order->context);
    if (memory->shared)
        memory->data = memory->host, memory->address = (uint64_t)(uintptr_t)memory->host;
    else if (!place(memory, order->host)) {
        destroy(memory);
        return object_refuse(code, CL_MEM_OBJECT_ALLOCATION_FAILURE);
    }
    object_refuse(code, CL_SUCCESS);
    return memory;
}

cl_mem memory_create_part(cl_mem buffer, const struct object_order *order, size_t origin, cl_int *code) {
    cl_mem part = object_create(OBJECT_MEMORY, sizeof *part);
    if (!part)
        return object_refuse(code, CL_OUT_OF_HOST_MEMORY);
    part->context = buffer->context;
    part->parent = buffer;
    part->type = order->type;
    part->flags = order->flags;
    part->bytes = order->bytes;
    part->origin = origin;
    part->shared = buffer->shared;
    part->host = buffer->host ? buffer->host + origin : NULL;
    part->address = buffer->address + origin;
    part->data = buffer->data + origin;
    context_retain(buffer->context);
    object_retain(&buffer->object);
    object_refuse(code, CL_SUCCESS);
    return part;
}

/* ---- entry points ---- */

cl_mem CL_API_CALL clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void *host, cl_int *code) {
    if (!object_is(context, OBJECT_CONTEXT))
        return object_refuse(code, CL_INVALID_CONTEXT);
    if (!memory_flags_fit(flags))
        return object_refuse(code, CL_INVALID_VALUE);
    if (!size || size > device_largest_buffer(context->device))
        return object_refuse(code, CL_INVALID_BUFFER_SIZE);
    if (!host != !(flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR)))
        return object_refuse(code, CL_INVALID_HOST_PTR);
    if (flags & CL_MEM_USE_HOST_PTR && svm_has(context, host, 1) && !svm_has(context, host, size))
        return object_refuse(code, CL_INVALID_BUFFER_SIZE);
    return memory_create_object(&(struct object_order){context, flags, CL_MEM_OBJECT_BUFFER, size, host}, code);
}

cl_mem CL_API_CALL clCreateBufferWithProperties(cl_context context, const cl_mem_properties *properties,
                                                cl_mem_flags flags, size_t size, void *host, cl_int *code) {
    if (object_is(context, OBJECT_CONTEXT) && properties && properties[0])
        return object_refuse(code, CL_INVALID_PROPERTY); /* there are none yet */
    cl_mem buffer = clCreateBuffer(context, flags, size, host, code);
    if (buffer && properties) {
        buffer->properties = object_alloc(&buffer->object, sizeof *properties);
        buffer->property_count = buffer->properties ? 1 : 0;
    }
    return buffer;
}

/* Flags of a part: what it does not say comes from its buffer. False: it asks for more than that has. */
bool memory_part_flags(cl_mem_flags of_buffer, cl_mem_flags *flags) {
    const cl_mem_flags device = *flags & device_access, host = *flags & host_access;
    if (!at_most_one(device, device_access) || !at_most_one(host, host_access) ||
        (*flags & ~(device_access | host_access)))
        return false;
    if ((of_buffer & CL_MEM_WRITE_ONLY && device & (CL_MEM_READ_WRITE | CL_MEM_READ_ONLY)) ||
        (of_buffer & CL_MEM_READ_ONLY && device & (CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY)) ||
        (of_buffer & CL_MEM_HOST_WRITE_ONLY && host & CL_MEM_HOST_READ_ONLY) ||
        (of_buffer & CL_MEM_HOST_READ_ONLY && host & CL_MEM_HOST_WRITE_ONLY) ||
        (of_buffer & CL_MEM_HOST_NO_ACCESS && host & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY)))
        return false;
    *flags = (device ? device : of_buffer & device_access) | (host ? host : of_buffer & host_access) |
             (of_buffer & host_pointer);
    return true;
}

cl_mem CL_API_CALL clCreateSubBuffer(cl_mem buffer, cl_mem_flags flags, cl_buffer_create_type type, const void *info,
                                     cl_int *code) {
    const cl_buffer_region *region = info;
    if (!object_is(buffer, OBJECT_MEMORY) || buffer->parent || memory_is_image(buffer))
        return object_refuse(code, CL_INVALID_MEM_OBJECT);
    if (type != CL_BUFFER_CREATE_TYPE_REGION || !region || !memory_part_flags(buffer->flags, &flags))
        return object_refuse(code, CL_INVALID_VALUE);
    if (!region->size)
        return object_refuse(code, CL_INVALID_BUFFER_SIZE);
    if (!buffer_has(buffer, region->origin, region->size))
        return object_refuse(code, CL_INVALID_VALUE);
    if (region->origin % SUB_BUFFER_ALIGNMENT_BYTES)
        return object_refuse(code, CL_MISALIGNED_SUB_BUFFER_OFFSET);
    const struct object_order order = {buffer->context, flags, CL_MEM_OBJECT_BUFFER, region->size, NULL};
    return memory_create_part(buffer, &order, region->origin, code);
}

cl_int CL_API_CALL clRetainMemObject(cl_mem memory) {
    if (!object_is(memory, OBJECT_MEMORY))
        return CL_INVALID_MEM_OBJECT;
    object_retain(&memory->object);
    return CL_SUCCESS;
}

cl_int CL_API_CALL clReleaseMemObject(cl_mem memory) {
    if (!object_is(memory, OBJECT_MEMORY))
        return CL_INVALID_MEM_OBJECT;
    memory_object_release(memory);
    return CL_SUCCESS;
}

cl_int CL_API_CALL clSetMemObjectDestructorCallback(cl_mem memory, memory_destructor function, void *user) {
    if (!object_is(memory, OBJECT_MEMORY))
        return CL_INVALID_MEM_OBJECT;
    if (!function)
        return CL_INVALID_VALUE;
    pthread_mutex_lock(&memory->context->engine.lock);
    struct memory_end *end = object_alloc(&memory->object, sizeof *end);
    if (end) {
        *end = (struct memory_end){function, user, memory->ends};
        memory->ends = end; /* the last one registered is called first */
    }
    pthread_mutex_unlock(&memory->context->engine.lock);
    return end ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
}

static cl_uint mapping_count(cl_mem memory) {
    pthread_mutex_lock(&memory->context->engine.lock);
    const cl_uint count = memory->mapping_count;
    pthread_mutex_unlock(&memory->context->engine.lock);
    return count;
}

cl_int CL_API_CALL clGetMemObjectInfo(cl_mem memory, cl_mem_info name, size_t size, void *value, size_t *size_ret) {
    if (!object_is(memory, OBJECT_MEMORY))
        return CL_INVALID_MEM_OBJECT;
    switch (name) {
        INFO(CL_MEM_TYPE, cl_mem_object_type, memory->type)
        INFO(CL_MEM_FLAGS, cl_mem_flags, memory->flags)
        INFO(CL_MEM_SIZE, size_t, memory->bytes)
        INFO(CL_MEM_HOST_PTR, void *, memory->host)
        INFO(CL_MEM_MAP_COUNT, cl_uint, mapping_count(memory))
        INFO(CL_MEM_REFERENCE_COUNT, cl_uint, object_references(&memory->object))
        INFO(CL_MEM_CONTEXT, cl_context, memory->context)
        INFO(CL_MEM_ASSOCIATED_MEMOBJECT, cl_mem, memory->parent)
        INFO(CL_MEM_OFFSET, size_t, memory->origin)
        INFO(CL_MEM_USES_SVM_POINTER, cl_bool, memory->shared != NULL)
        INFO_LIST(CL_MEM_PROPERTIES, cl_mem_properties, memory->properties, memory->property_count)
    default: return CL_INVALID_VALUE;
    }
}

/* ---- mappings ---- */

bool buffer_map(cl_mem buffer, size_t offset, size_t bytes, cl_map_flags flags, struct mapping *out) {
    struct engine *engine = &buffer->context->engine;
    pthread_mutex_lock(&engine->lock);
    struct mapping *mapping = buffer->unused;
    if (mapping)
        buffer->unused = mapping->next;
    else
        mapping = object_alloc(&buffer->object, sizeof *mapping);
    if (mapping) {
        *mapping = (struct mapping){(buffer->host ? buffer->host : buffer->data) + offset, offset, bytes, flags,
                                    buffer->mappings};
        *out = *mapping;
        buffer->mappings = mapping;
        buffer->mapping_count++;
    }
    pthread_mutex_unlock(&engine->lock);
    return mapping != NULL;
}

bool buffer_unmap(cl_mem buffer, const void *pointer, struct mapping *out) {
    struct engine *engine = &buffer->context->engine;
    pthread_mutex_lock(&engine->lock);
    struct mapping **at = &buffer->mappings;
    while (*at && (*at)->pointer != pointer)
        at = &(*at)->next;
    struct mapping *found = *at;
    if (found) {
        *out = *found;
        *at = found->next;
        found->next = buffer->unused;
        buffer->unused = found;
        buffer->mapping_count--;
    }
    pthread_mutex_unlock(&engine->lock);
    return found != NULL;
}
