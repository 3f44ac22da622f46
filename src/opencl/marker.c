/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that do nothing but wait, and native functions. */
#include "opencl/event.h"

static cl_int enqueue(cl_command_queue queue, cl_command_type type, bool is_barrier, cl_uint wait_count,
                      const cl_event *waits, cl_event *out) {
    if (!object_is(queue, OBJECT_QUEUE))
        return CL_INVALID_COMMAND_QUEUE;
    cl_int code;
    cl_event event = event_create(queue, type, wait_count, waits, 0, &code);
    if (!event)
        return code;
    event->is_barrier = is_barrier;
    event->waits_for_queue = !wait_count;
    return event_submit(event, CL_FALSE, out);
}

cl_int CL_API_CALL clEnqueueMarkerWithWaitList(cl_command_queue queue, cl_uint wait_count, const cl_event *waits,
                                               cl_event *out) {
    return enqueue(queue, CL_COMMAND_MARKER, false, wait_count, waits, out);
}

cl_int CL_API_CALL clEnqueueBarrierWithWaitList(cl_command_queue queue, cl_uint wait_count, const cl_event *waits,
                                                cl_event *out) {
    return enqueue(queue, CL_COMMAND_BARRIER, true, wait_count, waits, out);
}

cl_int CL_API_CALL clEnqueueMarker(cl_command_queue queue, cl_event *out) {
    if (object_is(queue, OBJECT_QUEUE) && !out)
        return CL_INVALID_VALUE;
    return enqueue(queue, CL_COMMAND_MARKER, false, 0, NULL, out);
}

cl_int CL_API_CALL clEnqueueBarrier(cl_command_queue queue) {
    return enqueue(queue, CL_COMMAND_BARRIER, true, 0, NULL, NULL);
}

cl_int CL_API_CALL clEnqueueWaitForEvents(cl_command_queue queue, cl_uint count, const cl_event *events) {
    if (!object_is(queue, OBJECT_QUEUE))
        return CL_INVALID_COMMAND_QUEUE;
    if (!count || !events)
        return CL_INVALID_VALUE;
    const cl_int code = enqueue(queue, CL_COMMAND_BARRIER, true, count, events, NULL);
    return code == CL_INVALID_EVENT_WAIT_LIST ? CL_INVALID_EVENT : code;
}

cl_int CL_API_CALL clEnqueueNativeKernel(cl_command_queue queue, void(CL_CALLBACK *function)(void *), void *arguments,
                                         size_t bytes, cl_uint count, const cl_mem *memories, const void **places,
                                         cl_uint wait_count, const cl_event *waits, cl_event *out) {
    (void)function, (void)arguments, (void)bytes, (void)count, (void)memories, (void)places, (void)wait_count;
    (void)waits, (void)out;
    /* a function of the host cannot run on a simulated device */
    return object_is(queue, OBJECT_QUEUE) ? CL_INVALID_OPERATION : CL_INVALID_COMMAND_QUEUE;
}
