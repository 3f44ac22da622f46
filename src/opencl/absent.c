/* SPDX-License-Identifier: Apache-2.0 */
/* Images, samplers, pipes and shared virtual memory: the device has none, and says so the way the specification asks. */
#include "opencl/kernel.h"
#include "opencl/object.h"
#include "opencl/queue.h"

static void *no_object(cl_context context, cl_int *code) {
    return object_refuse(code, object_is(context, KIND_CONTEXT) ? CL_INVALID_OPERATION : CL_INVALID_CONTEXT);
}

static cl_int no_command(cl_command_queue queue) {
    return object_is(queue, KIND_QUEUE) ? CL_INVALID_OPERATION : CL_INVALID_COMMAND_QUEUE;
}

#define UNUSED6(a, b, c, d, e, f) (void)(a), (void)(b), (void)(c), (void)(d), (void)(e), (void)(f)

cl_mem CL_API_CALL clCreateImage(cl_context context, cl_mem_flags flags, const cl_image_format *format,
                                 const cl_image_desc *description, void *host, cl_int *code) {
    UNUSED6(flags, format, description, host, 0, 0);
    return no_object(context, code);
}

cl_mem CL_API_CALL clCreateImageWithProperties(cl_context context, const cl_mem_properties *properties,
                                               cl_mem_flags flags, const cl_image_format *format,
                                               const cl_image_desc *description, void *host, cl_int *code) {
    UNUSED6(properties, flags, format, description, host, 0);
    return no_object(context, code);
}

cl_mem CL_API_CALL clCreateImage2D(cl_context context, cl_mem_flags flags, const cl_image_format *format, size_t width,
                                   size_t height, size_t row, void *host, cl_int *code) {
    UNUSED6(flags, format, width, height, row, host);
    return no_object(context, code);
}

cl_mem CL_API_CALL clCreateImage3D(cl_context context, cl_mem_flags flags, const cl_image_format *format, size_t width,
                                   size_t height, size_t depth, size_t row, size_t slice, void *host, cl_int *code) {
    UNUSED6(flags, format, width, height, depth, row);
    UNUSED6(slice, host, 0, 0, 0, 0);
    return no_object(context, code);
}

cl_int CL_API_CALL clGetSupportedImageFormats(cl_context context, cl_mem_flags flags, cl_mem_object_type type,
                                              cl_uint room, cl_image_format *formats, cl_uint *count) {
    UNUSED6(flags, type, room, formats, 0, 0);
    if (!object_is(context, KIND_CONTEXT))
        return CL_INVALID_CONTEXT;
    if (formats && !room)
        return CL_INVALID_VALUE;
    if (count)
        *count = 0;
    return CL_SUCCESS;
}

cl_int CL_API_CALL clGetImageInfo(cl_mem image, cl_image_info name, size_t size, void *value, size_t *size_ret) {
    UNUSED6(image, name, size, value, size_ret, 0);
    return CL_INVALID_MEM_OBJECT;
}

cl_sampler CL_API_CALL clCreateSampler(cl_context context, cl_bool normalised, cl_addressing_mode addressing,
                                       cl_filter_mode filter, cl_int *code) {
    UNUSED6(normalised, addressing, filter, 0, 0, 0);
    return no_object(context, code);
}

cl_sampler CL_API_CALL clCreateSamplerWithProperties(cl_context context, const cl_sampler_properties *properties,
                                                     cl_int *code) {
    (void)properties;
    return no_object(context, code);
}

cl_int CL_API_CALL clRetainSampler(cl_sampler sampler) {
    (void)sampler;
    return CL_INVALID_SAMPLER;
}

cl_int CL_API_CALL clReleaseSampler(cl_sampler sampler) {
    (void)sampler;
    return CL_INVALID_SAMPLER;
}

cl_int CL_API_CALL clGetSamplerInfo(cl_sampler sampler, cl_sampler_info name, size_t size, void *value,
                                    size_t *size_ret) {
    UNUSED6(sampler, name, size, value, size_ret, 0);
    return CL_INVALID_SAMPLER;
}

cl_int CL_API_CALL clEnqueueReadImage(cl_command_queue queue, cl_mem image, cl_bool blocking, const size_t *origin,
                                      const size_t *region, size_t row, size_t slice, void *host, cl_uint wait_count,
                                      const cl_event *waits, cl_event *out) {
    UNUSED6(image, blocking, origin, region, row, slice);
    UNUSED6(host, wait_count, waits, out, 0, 0);
    return no_command(queue);
}

cl_int CL_API_CALL clEnqueueWriteImage(cl_command_queue queue, cl_mem image, cl_bool blocking, const size_t *origin,
                                       const size_t *region, size_t row, size_t slice, const void *host,
                                       cl_uint wait_count, const cl_event *waits, cl_event *out) {
    UNUSED6(image, blocking, origin, region, row, slice);
    UNUSED6(host, wait_count, waits, out, 0, 0);
    return no_command(queue);
}

cl_int CL_API_CALL clEnqueueFillImage(cl_command_queue queue, cl_mem image, const void *colour, const size_t *origin,
                                      const size_t *region, cl_uint wait_count, const cl_event *waits, cl_event *out) {
    UNUSED6(image, colour, origin, region, wait_count, waits);
    (void)out;
    return no_command(queue);
}

cl_int CL_API_CALL clEnqueueCopyImage(cl_command_queue queue, cl_mem from, cl_mem to, const size_t *from_origin,
                                      const size_t *to_origin, const size_t *region, cl_uint wait_count,
                                      const cl_event *waits, cl_event *out) {
    UNUSED6(from, to, from_origin, to_origin, region, wait_count);
    UNUSED6(waits, out, 0, 0, 0, 0);
    return no_command(queue);
}

cl_int CL_API_CALL clEnqueueCopyImageToBuffer(cl_command_queue queue, cl_mem from, cl_mem to, const size_t *origin,
                                              const size_t *region, size_t offset, cl_uint wait_count,
                                              const cl_event *waits, cl_event *out) {
    UNUSED6(from, to, origin, region, offset, wait_count);
    UNUSED6(waits, out, 0, 0, 0, 0);
    return no_command(queue);
}

cl_int CL_API_CALL clEnqueueCopyBufferToImage(cl_command_queue queue, cl_mem from, cl_mem to, size_t offset,
                                              const size_t *origin, const size_t *region, cl_uint wait_count,
                                              const cl_event *waits, cl_event *out) {
    UNUSED6(from, to, origin, region, offset, wait_count);
    UNUSED6(waits, out, 0, 0, 0, 0);
    return no_command(queue);
}

void *CL_API_CALL clEnqueueMapImage(cl_command_queue queue, cl_mem image, cl_bool blocking, cl_map_flags flags,
                                    const size_t *origin, const size_t *region, size_t *row, size_t *slice,
                                    cl_uint wait_count, const cl_event *waits, cl_event *out, cl_int *code) {
    UNUSED6(image, blocking, flags, origin, region, row);
    UNUSED6(slice, wait_count, waits, out, 0, 0);
    return object_refuse(code, no_command(queue));
}

cl_mem CL_API_CALL clCreatePipe(cl_context context, cl_mem_flags flags, cl_uint packet, cl_uint packets,
                                const cl_pipe_properties *properties, cl_int *code) {
    UNUSED6(flags, packet, packets, properties, 0, 0);
    return no_object(context, code);
}

cl_int CL_API_CALL clGetPipeInfo(cl_mem pipe, cl_pipe_info name, size_t size, void *value, size_t *size_ret) {
    UNUSED6(pipe, name, size, value, size_ret, 0);
    return CL_INVALID_MEM_OBJECT;
}

void *CL_API_CALL clSVMAlloc(cl_context context, cl_svm_mem_flags flags, size_t size, cl_uint alignment) {
    UNUSED6(context, flags, size, alignment, 0, 0);
    return NULL;
}

void CL_API_CALL clSVMFree(cl_context context, void *pointer) { (void)context, (void)pointer; }

cl_int CL_API_CALL clSetKernelArgSVMPointer(cl_kernel kernel, cl_uint index, const void *pointer) {
    (void)index, (void)pointer;
    return object_is(kernel, KIND_KERNEL) ? CL_INVALID_OPERATION : CL_INVALID_KERNEL;
}

cl_int CL_API_CALL clEnqueueSVMFree(cl_command_queue queue, cl_uint count, void *pointers[],
                                    void(CL_CALLBACK *function)(cl_command_queue, cl_uint, void *[], void *),
                                    void *user, cl_uint wait_count, const cl_event *waits, cl_event *out) {
    UNUSED6(count, pointers, function, user, wait_count, waits);
    (void)out;
    return no_command(queue);
}

cl_int CL_API_CALL clEnqueueSVMMemcpy(cl_command_queue queue, cl_bool blocking, void *to, const void *from, size_t size,
                                      cl_uint wait_count, const cl_event *waits, cl_event *out) {
    UNUSED6(blocking, to, from, size, wait_count, waits);
    (void)out;
    return no_command(queue);
}

cl_int CL_API_CALL clEnqueueSVMMemFill(cl_command_queue queue, void *pointer, const void *pattern, size_t pattern_bytes,
                                       size_t size, cl_uint wait_count, const cl_event *waits, cl_event *out) {
    UNUSED6(pointer, pattern, pattern_bytes, size, wait_count, waits);
    (void)out;
    return no_command(queue);
}

cl_int CL_API_CALL clEnqueueSVMMap(cl_command_queue queue, cl_bool blocking, cl_map_flags flags, void *pointer,
                                   size_t size, cl_uint wait_count, const cl_event *waits, cl_event *out) {
    UNUSED6(blocking, flags, pointer, size, wait_count, waits);
    (void)out;
    return no_command(queue);
}

cl_int CL_API_CALL clEnqueueSVMUnmap(cl_command_queue queue, void *pointer, cl_uint wait_count, const cl_event *waits,
                                     cl_event *out) {
    UNUSED6(pointer, wait_count, waits, out, 0, 0);
    return no_command(queue);
}

cl_int CL_API_CALL clEnqueueSVMMigrateMem(cl_command_queue queue, cl_uint count, const void **pointers,
                                          const size_t *sizes, cl_mem_migration_flags flags, cl_uint wait_count,
                                          const cl_event *waits, cl_event *out) {
    UNUSED6(count, pointers, sizes, flags, wait_count, waits);
    (void)out;
    return no_command(queue);
}
