/* SPDX-License-Identifier: Apache-2.0 */
#include "opencl/queue.h"

#include "opencl/info.h"

void queue_release(cl_command_queue queue) {
    if (!object_release(&queue->object))
        return;
    cl_context context = queue->context;
    object_free(&queue->object);
    context_release(context);
}

static cl_command_queue make_queue(cl_context context, cl_device_id device, cl_command_queue_properties properties,
                                   cl_int *code) {
    const cl_command_queue_properties known = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE;
    const cl_command_queue_properties on_device = CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT;
    if (!object_is(context, OBJECT_CONTEXT))
        return object_refuse(code, CL_INVALID_CONTEXT);
    if (!object_is(device, OBJECT_DEVICE) || device != context->device)
        return object_refuse(code, CL_INVALID_DEVICE);
    if (properties & ~(known | on_device))
        return object_refuse(code, CL_INVALID_VALUE);
    if (properties & on_device)
        return object_refuse(code, CL_INVALID_QUEUE_PROPERTIES);
    cl_command_queue queue = object_create(OBJECT_QUEUE, sizeof *queue);
    if (!queue)
        return object_refuse(code, CL_OUT_OF_HOST_MEMORY);
    queue->context = context;
    queue->properties = properties;
    context_retain(context);
    object_refuse(code, CL_SUCCESS);
    return queue;
}

cl_command_queue CL_API_CALL clCreateCommandQueue(cl_context context, cl_device_id device,
                                                  cl_command_queue_properties properties, cl_int *code) {
    return make_queue(context, device, properties, code);
}

cl_command_queue CL_API_CALL clCreateCommandQueueWithProperties(cl_context context, cl_device_id device,
                                                                const cl_queue_properties *list, cl_int *code) {
    cl_command_queue_properties properties = 0;
    size_t count = 0;
    if (!object_is(context, OBJECT_CONTEXT))
        return object_refuse(code, CL_INVALID_CONTEXT);
    if (!object_is(device, OBJECT_DEVICE))
        return object_refuse(code, CL_INVALID_DEVICE);
    for (; list && list[count]; count += 2) {
        if (list[count] == CL_QUEUE_PROPERTIES)
            properties = (cl_command_queue_properties)list[count + 1];
        else if (list[count] == CL_QUEUE_SIZE)
            return object_refuse(code, CL_INVALID_QUEUE_PROPERTIES); /* there are no queues on the device */
        else
            return object_refuse(code, CL_INVALID_VALUE);
    }
    cl_command_queue queue = make_queue(context, device, properties, code);
    if (!queue || !list)
        return queue;
    queue->list_count = count + 1;
    queue->list = object_alloc(&queue->object, queue->list_count * sizeof *list);
    if (!queue->list) {
        queue_release(queue);
        return object_refuse(code, CL_OUT_OF_HOST_MEMORY);
    }
    memcpy(queue->list, list, queue->list_count * sizeof *list);
    return queue;
}

cl_int CL_API_CALL clRetainCommandQueue(cl_command_queue queue) {
    if (!object_is(queue, OBJECT_QUEUE))
        return CL_INVALID_COMMAND_QUEUE;
    object_retain(&queue->object);
    return CL_SUCCESS;
}

cl_int CL_API_CALL clReleaseCommandQueue(cl_command_queue queue) {
    if (!object_is(queue, OBJECT_QUEUE))
        return CL_INVALID_COMMAND_QUEUE;
    engine_flush(&queue->context->engine);
    queue_release(queue);
    return CL_SUCCESS;
}

cl_int CL_API_CALL clGetCommandQueueInfo(cl_command_queue queue, cl_command_queue_info name, size_t size, void *value,
                                         size_t *size_ret) {
    if (!object_is(queue, OBJECT_QUEUE))
        return CL_INVALID_COMMAND_QUEUE;
    switch (name) {
        INFO(CL_QUEUE_CONTEXT, cl_context, queue->context)
        INFO(CL_QUEUE_DEVICE, cl_device_id, queue->context->device)
        INFO(CL_QUEUE_REFERENCE_COUNT, cl_uint, object_references(&queue->object))
        INFO(CL_QUEUE_PROPERTIES, cl_command_queue_properties, queue->properties)
        INFO(CL_QUEUE_DEVICE_DEFAULT, cl_command_queue, NULL)
        INFO_LIST(CL_QUEUE_PROPERTIES_ARRAY, cl_queue_properties, queue->list, queue->list_count)
    case CL_QUEUE_SIZE: return CL_INVALID_COMMAND_QUEUE; /* only of queues on the device */
    default: return CL_INVALID_VALUE;
    }
}

/* Removed with OpenCL 1.1; a device of a later version refuses it. */
cl_int CL_API_CALL clSetCommandQueueProperty(cl_command_queue queue, cl_command_queue_properties properties,
                                             cl_bool enable, cl_command_queue_properties *old) {
    (void)properties, (void)enable, (void)old;
    return object_is(queue, OBJECT_QUEUE) ? CL_INVALID_OPERATION : CL_INVALID_COMMAND_QUEUE;
}

cl_int CL_API_CALL clFlush(cl_command_queue queue) {
    if (!object_is(queue, OBJECT_QUEUE))
        return CL_INVALID_COMMAND_QUEUE;
    engine_flush(&queue->context->engine);
    return CL_SUCCESS;
}

cl_int CL_API_CALL clFinish(cl_command_queue queue) {
    if (!object_is(queue, OBJECT_QUEUE))
        return CL_INVALID_COMMAND_QUEUE;
    object_retain(&queue->object);
    struct engine *engine = &queue->context->engine;
    engine_finish(engine, queue);
    pthread_mutex_lock(&engine->lock);
    const bool lost = engine->lost;
    pthread_mutex_unlock(&engine->lock);
    queue_release(queue);
    return lost ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
}
