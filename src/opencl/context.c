/* SPDX-License-Identifier: Apache-2.0 */
#include "opencl/context.h"

#include "opencl/info.h"
#include "opencl/svm.h"
#include "result/guest.h"

void context_retain(cl_context context) { object_retain(&context->object); }

void context_destroy(cl_context context) {
    for (struct destructor *one = context->destructors; one; one = one->next)
        one->function(context, one->user);
    guest_recording_destroy(context->recording);
    engine_destroy(&context->engine);
    object_free(&context->object);
}

void context_release(cl_context context) {
    if (!object_release(&context->object))
        return;
    if (engine_is_inside(&context->engine))
        engine_leave(&context->engine);
    else
        context_destroy(context);
}

void context_tell(cl_context context, const char *message) {
    if (context->notify)
        context->notify(message, NULL, 0, context->notify_user);
}

static void hold_device(void *owner) {
    cl_context context = owner;
    engine_acquire(&context->engine);
}

/* ---- entry points ---- */

/* How many entries a list of properties has, its zero included; 0: one of them is wrong, *code says how. */
static size_t count_properties(const cl_context_properties *properties, cl_int *code) {
    size_t count = 0;
    bool platform = false, sync = false;
    *code = CL_SUCCESS;
    for (; properties[count]; count += 2) {
        bool *seen = properties[count] == CL_CONTEXT_PLATFORM            ? &platform
                     : properties[count] == CL_CONTEXT_INTEROP_USER_SYNC ? &sync
                                                                         : NULL;
        if (!seen || *seen) {
            *code = CL_INVALID_PROPERTY;
            return 0;
        }
        *seen = true;
        if (seen == &sync && properties[count + 1] != CL_TRUE && properties[count + 1] != CL_FALSE) {
            *code = CL_INVALID_PROPERTY;
            return 0;
        }
        if (seen == &platform && (cl_platform_id)properties[count + 1] != platform_get()) {
            *code = CL_INVALID_PLATFORM;
            return 0;
        }
    }
    return count + 1;
}

static cl_context make_context(const cl_context_properties *properties, cl_device_id device, context_notify notify,
                               void *user, cl_int *code) {
    size_t count = 0;
    cl_int wrong = CL_SUCCESS;
    if (properties && !(count = count_properties(properties, &wrong)))
        return object_refuse(code, wrong);
    if (!notify && user)
        return object_refuse(code, CL_INVALID_VALUE);
    cl_context context = object_create(OBJECT_CONTEXT, sizeof *context);
    if (!context)
        return object_refuse(code, CL_OUT_OF_HOST_MEMORY);
    context->device = device;
    context->notify = notify;
    context->notify_user = user;
    context->property_count = count;
    context->properties = object_alloc(&context->object, (count + 1) * sizeof *properties);
    if (!context->properties) {
        object_free(&context->object);
        return object_refuse(code, CL_OUT_OF_HOST_MEMORY);
    }
    if (count)
        memcpy(context->properties, properties, count * sizeof *properties);
    struct report report = {0};
    const bool made = engine_create(&context->engine, context, &report);
    if (!made && notify)
        notify(report_text(&report), NULL, 0, user);
    report_free(&report);
    if (!made) {
        object_free(&context->object);
        return object_refuse(code, CL_OUT_OF_RESOURCES);
    }
    context->is_unified = svm_is_supported(device) && host_unify(context->engine.device);
    context->recording = guest_recording_create(device->platform->recorder, hold_device, context);
    guest_device(context->recording, context->engine.device, &device->machine);
    object_refuse(code, CL_SUCCESS);
    return context;
}

cl_context CL_API_CALL clCreateContext(const cl_context_properties *properties, cl_uint count,
                                       const cl_device_id *devices, context_notify notify, void *user, cl_int *code) {
    if (!count || !devices)
        return object_refuse(code, CL_INVALID_VALUE);
    for (cl_uint i = 0; i < count; i++)
        if (!object_is(devices[i], OBJECT_DEVICE))
            return object_refuse(code, CL_INVALID_DEVICE);
    return make_context(properties, devices[0], notify, user, code);
}

cl_context CL_API_CALL clCreateContextFromType(const cl_context_properties *properties, cl_device_type type,
                                               context_notify notify, void *user, cl_int *code) {
    cl_platform_id platform = platform_get();
    cl_device_id device = NULL;
    const cl_int found = platform ? clGetDeviceIDs(platform, type, 1, &device, NULL) : CL_OUT_OF_HOST_MEMORY;
    if (found != CL_SUCCESS)
        return object_refuse(code, found);
    return make_context(properties, device, notify, user, code);
}

cl_int CL_API_CALL clRetainContext(cl_context context) {
    if (!object_is(context, OBJECT_CONTEXT))
        return CL_INVALID_CONTEXT;
    context_retain(context);
    return CL_SUCCESS;
}

cl_int CL_API_CALL clReleaseContext(cl_context context) {
    if (!object_is(context, OBJECT_CONTEXT))
        return CL_INVALID_CONTEXT;
    context_release(context);
    return CL_SUCCESS;
}

cl_int CL_API_CALL clGetContextInfo(cl_context context, cl_context_info name, size_t size, void *value,
                                    size_t *size_ret) {
    if (!object_is(context, OBJECT_CONTEXT))
        return CL_INVALID_CONTEXT;
    switch (name) {
        INFO(CL_CONTEXT_REFERENCE_COUNT, cl_uint, object_references(&context->object))
        INFO(CL_CONTEXT_NUM_DEVICES, cl_uint, 1)
        INFO(CL_CONTEXT_DEVICES, cl_device_id, context->device)
        INFO_LIST(CL_CONTEXT_PROPERTIES, cl_context_properties, context->properties, context->property_count)
    default: return CL_INVALID_VALUE;
    }
}

cl_int CL_API_CALL clSetContextDestructorCallback(cl_context context, context_destructor function, void *user) {
    if (!object_is(context, OBJECT_CONTEXT))
        return CL_INVALID_CONTEXT;
    if (!function)
        return CL_INVALID_VALUE;
    pthread_mutex_lock(&context->engine.lock);
    struct destructor *one = object_alloc(&context->object, sizeof *one);
    if (one) {
        *one = (struct destructor){function, user, context->destructors};
        context->destructors = one; /* the last one registered is called first */
    }
    pthread_mutex_unlock(&context->engine.lock);
    return one ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
}
