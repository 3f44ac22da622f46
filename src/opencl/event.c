/* SPDX-License-Identifier: Apache-2.0 */
#include "opencl/event.h"

#include "opencl/info.h"

/* ---- commands ---- */

static cl_int check_waits(cl_context context, cl_uint count, const cl_event *waits) {
    if (!waits != !count)
        return CL_INVALID_EVENT_WAIT_LIST;
    for (cl_uint i = 0; i < count; i++)
        if (!object_is(waits[i], OBJECT_EVENT))
            return CL_INVALID_EVENT_WAIT_LIST;
    for (cl_uint i = 0; i < count; i++)
        if (waits[i]->context != context)
            return CL_INVALID_CONTEXT;
    return CL_SUCCESS;
}

cl_event event_create(cl_command_queue queue, cl_command_type type, cl_uint wait_count, const cl_event *waits,
                      size_t work_bytes, cl_int *code) {
    *code = check_waits(queue->context, wait_count, waits);
    if (*code)
        return NULL;
    cl_event event = object_create(OBJECT_EVENT, sizeof *event);
    cl_event *kept = event ? object_alloc(&event->object, ((size_t)wait_count + 1) * sizeof(cl_event)) : NULL;
    if (event)
        event->work = object_alloc(&event->object, work_bytes + 1);
    if (!kept || !event->work) {
        if (event)
            object_free(&event->object);
        *code = CL_OUT_OF_HOST_MEMORY;
        return NULL;
    }
    for (cl_uint i = 0; i < wait_count; i++) {
        kept[i] = waits[i];
        object_retain(&waits[i]->object);
    }
    event->waits = kept;
    event->wait_count = wait_count;
    event->context = queue->context;
    event->queue = queue;
    event->type = type;
    event->status = CL_QUEUED;
    context_retain(queue->context);
    object_retain(&queue->object);
    return event;
}

bool event_hold(cl_event event, void *const *objects, cl_uint count) {
    event->held = object_alloc(&event->object, (count + 1) * sizeof *event->held);
    if (!event->held)
        return false;
    for (cl_uint i = 0; i < count; i++)
        if (objects[i]) {
            event->held[event->held_count] = objects[i];
            object_retain(event->held[event->held_count++]);
        }
    return true;
}

void event_let_go(cl_event event) {
    for (cl_uint i = 0; i < event->wait_count; i++)
        event_release(event->waits[i]);
    event->wait_count = 0;
    for (cl_uint i = 0; i < event->held_count; i++)
        object_end(event->held[i]);
    event->held_count = 0;
}

void event_release(cl_event event) {
    if (!object_release(&event->object))
        return;
    cl_context context = event->context;
    cl_command_queue queue = event->queue;
    event_let_go(event); /* one that was never submitted still has them */
    object_free(&event->object);
    if (queue)
        queue_release(queue);
    context_release(context);
}

cl_int event_submit(cl_event event, cl_bool blocking, cl_event *out) {
    struct engine *engine = &event->context->engine;
    if (blocking || out)
        object_retain(&event->object);
    engine_submit(engine, event);
    if (out)
        *out = event;
    if (!blocking)
        return CL_SUCCESS;
    engine_wait(engine, event);
    const cl_int status = event->status;
    if (!out)
        event_release(event);
    return status < 0 ? status : CL_SUCCESS;
}

void event_status_changed(struct engine *engine, cl_event event) {
    bool any = false;
    for (struct callback *callback = event->callbacks; callback; callback = callback->next)
        if (!callback->is_due && event->status <= callback->at)
            any = callback->is_due = true;
    if (any)
        engine_call_back(engine, event);
}

/* ---- entry points ---- */

cl_event CL_API_CALL clCreateUserEvent(cl_context context, cl_int *code) {
    if (!object_is(context, OBJECT_CONTEXT))
        return object_refuse(code, CL_INVALID_CONTEXT);
    cl_event event = object_create(OBJECT_EVENT, sizeof *event);
    if (!event)
        return object_refuse(code, CL_OUT_OF_HOST_MEMORY);
    event->context = context;
    event->type = CL_COMMAND_USER;
    event->status = CL_SUBMITTED;
    context_retain(context);
    object_refuse(code, CL_SUCCESS);
    return event;
}

cl_int CL_API_CALL clSetUserEventStatus(cl_event event, cl_int status) {
    if (!object_is(event, OBJECT_EVENT) || event->type != CL_COMMAND_USER)
        return CL_INVALID_EVENT;
    if (status > CL_COMPLETE)
        return CL_INVALID_VALUE;
    return engine_end_user_event(&event->context->engine, event, status) ? CL_SUCCESS : CL_INVALID_OPERATION;
}

cl_int CL_API_CALL clRetainEvent(cl_event event) {
    if (!object_is(event, OBJECT_EVENT))
        return CL_INVALID_EVENT;
    object_retain(&event->object);
    return CL_SUCCESS;
}

cl_int CL_API_CALL clReleaseEvent(cl_event event) {
    if (!object_is(event, OBJECT_EVENT))
        return CL_INVALID_EVENT;
    event_release(event);
    return CL_SUCCESS;
}

cl_int CL_API_CALL clWaitForEvents(cl_uint count, const cl_event *events) {
    if (!count || !events)
        return CL_INVALID_VALUE;
    for (cl_uint i = 0; i < count; i++)
        if (!object_is(events[i], OBJECT_EVENT))
            return CL_INVALID_EVENT;
    for (cl_uint i = 1; i < count; i++)
        if (events[i]->context != events[0]->context)
            return CL_INVALID_CONTEXT;
    bool failed = false;
    for (cl_uint i = 0; i < count; i++) {
        object_retain(&events[i]->object);
        engine_wait(&events[i]->context->engine, events[i]);
        failed |= events[i]->status < 0;
        event_release(events[i]);
    }
    return failed ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST : CL_SUCCESS;
}

/* Who asks again and again for the status wants it to change. */
static cl_int event_status(cl_event event) {
    struct engine *engine = &event->context->engine;
    engine_flush(engine);
    pthread_mutex_lock(&engine->lock);
    const cl_int status = event->status;
    pthread_mutex_unlock(&engine->lock);
    return status;
}

cl_int CL_API_CALL clGetEventInfo(cl_event event, cl_event_info name, size_t size, void *value, size_t *size_ret) {
    if (!object_is(event, OBJECT_EVENT))
        return CL_INVALID_EVENT;
    switch (name) {
        INFO(CL_EVENT_COMMAND_QUEUE, cl_command_queue, event->queue)
        INFO(CL_EVENT_CONTEXT, cl_context, event->context)
        INFO(CL_EVENT_COMMAND_TYPE, cl_command_type, event->type)
        INFO(CL_EVENT_COMMAND_EXECUTION_STATUS, cl_int, event_status(event))
        INFO(CL_EVENT_REFERENCE_COUNT, cl_uint, object_references(&event->object))
    default: return CL_INVALID_VALUE;
    }
}

cl_int CL_API_CALL clGetEventProfilingInfo(cl_event event, cl_profiling_info name, size_t size, void *value,
                                           size_t *size_ret) {
    if (!object_is(event, OBJECT_EVENT))
        return CL_INVALID_EVENT;
    if (!event->queue || !(event->queue->properties & CL_QUEUE_PROFILING_ENABLE) || event_status(event) != CL_COMPLETE)
        return CL_PROFILING_INFO_NOT_AVAILABLE;
    switch (name) {
        INFO(CL_PROFILING_COMMAND_QUEUED, cl_ulong, event->times[TIME_QUEUED])
        INFO(CL_PROFILING_COMMAND_SUBMIT, cl_ulong, event->times[TIME_SUBMIT])
        INFO(CL_PROFILING_COMMAND_START, cl_ulong, event->times[TIME_START])
        INFO(CL_PROFILING_COMMAND_END, cl_ulong, event->times[TIME_END])
        INFO(CL_PROFILING_COMMAND_COMPLETE, cl_ulong, event->times[TIME_END])
    default: return CL_INVALID_VALUE;
    }
}

cl_int CL_API_CALL clSetEventCallback(cl_event event, cl_int at, event_callback function, void *data) {
    if (!object_is(event, OBJECT_EVENT))
        return CL_INVALID_EVENT;
    if (!function || (at != CL_SUBMITTED && at != CL_RUNNING && at != CL_COMPLETE))
        return CL_INVALID_VALUE;
    struct engine *engine = &event->context->engine;
    pthread_mutex_lock(&engine->lock);
    struct callback *callback = object_alloc(&event->object, sizeof *callback);
    if (callback) {
        *callback = (struct callback){.function = function, .data = data, .at = at, .next = event->callbacks};
        event->callbacks = callback;
        event_status_changed(engine, event);
    }
    pthread_mutex_unlock(&engine->lock);
    if (!callback)
        return CL_OUT_OF_HOST_MEMORY;
    engine_flush(engine);
    return CL_SUCCESS;
}
