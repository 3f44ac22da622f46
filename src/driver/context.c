/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts: names for the one device, whose memory all of them reach; the last one that ends takes the device along. */
#include "driver/driver.h"

struct driver *driver_of(struct runtime *cuda) {
    if (!cuda->driver) {
        cuda->driver = ARENA_NEW(&cuda->arena, struct driver);
        cuda->driver->primary = (struct driver_context){.is_primary = true, .number = ++cuda->driver->numbers};
    }
    return cuda->driver;
}

/* The runtime's functions hold the primary context as long as the process lives. */
static bool is_alive(const struct runtime *cuda, const struct driver_context *context) {
    return context->users || (context->is_primary && cuda->is_used);
}

struct driver_context *context_current(struct runtime *cuda) {
    const struct runtime_thread *thread = runtime_thread();
    if (thread->context_count)
        return thread->contexts[thread->context_count - 1];
    return thread->uses_runtime ? &driver_of(cuda)->primary : NULL;
}

enum cuda_error driver_begin(enum driver_need need) {
    enum cuda_error error = cudaSuccess;
    runtime_thread()->driver_calls++;
    if (need == NEEDS_NOTHING)
        return cudaSuccess;
    struct runtime *cuda = runtime_enter_early();
    const struct driver_context *context = context_current(cuda);
    if (!driver_of(cuda)->is_initialised && !cuda->is_used)
        error = cudaErrorInitializationError;
    else if (need == NEEDS_CONTEXT)
        error = !context                  ? cudaErrorDeviceUninitialized
                : is_alive(cuda, context) ? cudaSuccess
                                          : cudaErrorContextIsDestroyed;
    runtime_leave_early(cuda);
    return error;
}

enum cuda_error driver_end(enum cuda_error error) {
    runtime_thread()->driver_calls--;
    switch (error) { /* numbers that the driver does not have */
    case cudaErrorInvalidConfiguration:
    case cudaErrorInvalidPitchValue:
    case cudaErrorInvalidMemcpyDirection: return cudaErrorInvalidValue;
    case cudaErrorInvalidDeviceFunction: return cudaErrorInvalidResourceHandle;
    default: return error;
    }
}

enum cuda_error driver_leave(struct runtime *cuda, enum cuda_error error) {
    return driver_end(runtime_leave(cuda, error));
}

enum cuda_error driver_check_device(int device) { return device ? cudaErrorInvalidDevice : cudaSuccess; }

static struct driver_context *context_find(struct runtime *cuda, const void *handle) {
    struct driver *driver = driver_of(cuda);
    if (handle == &driver->primary)
        return &driver->primary;
    struct driver_context *context = driver->created;
    while (context && (context != handle || !context->users))
        context = context->next;
    return context;
}

/* Whatever was allocated, loaded or stopped goes with the last context. */
static void end_device(struct runtime *cuda) {
    const struct driver *driver = driver_of(cuda);
    bool is_last = !is_alive(cuda, &driver->primary);
    for (const struct driver_context *context = driver->created; context; context = context->next)
        is_last &= !context->users;
    if (is_last && cuda->device)
        runtime_reset(cuda);
}

/* ---- entry points: the driver ---- */

API_CU(cuInit, unsigned flags) {
    BEGIN(NEEDS_NOTHING);
    struct runtime *cuda = runtime_enter();
    const bool is_there = cuda->lost != cudaErrorNoDevice;
    if (!flags && is_there)
        driver_of(cuda)->is_initialised = true;
    return driver_leave(cuda, flags ? cudaErrorInvalidValue : is_there ? cudaSuccess : cudaErrorNoDevice);
}

/* ---- entry points: the primary context ---- */

API_CU(cuDevicePrimaryCtxRetain, struct driver_context **out, int device) {
    BEGIN(NEEDS_DRIVER);
    struct runtime *cuda = runtime_enter();
    const enum cuda_error error = out ? driver_check_device(device) : cudaErrorInvalidValue;
    if (!error) {
        *out = &driver_of(cuda)->primary;
        (*out)->users++;
    }
    return driver_leave(cuda, error);
}

API_CU(cuDevicePrimaryCtxRelease, int device) {
    BEGIN(NEEDS_DRIVER);
    struct runtime *cuda = runtime_enter();
    enum cuda_error error = driver_check_device(device);
    struct driver_context *primary = &driver_of(cuda)->primary;
    if (!error && !primary->users)
        error = cudaErrorDeviceUninitialized;
    if (!error && --primary->users == 0)
        end_device(cuda);
    return driver_leave(cuda, error);
}
CU_ALSO(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2)

API_CU(cuDevicePrimaryCtxReset, int device) {
    BEGIN(NEEDS_DRIVER);
    struct runtime *cuda = runtime_enter();
    const enum cuda_error error = driver_check_device(device);
    if (!error && cuda->device)
        runtime_reset(cuda);
    return driver_leave(cuda, error);
}
CU_ALSO(cuDevicePrimaryCtxReset, cuDevicePrimaryCtxReset_v2)

API_CU(cuDevicePrimaryCtxSetFlags, int device, unsigned flags) {
    BEGIN(NEEDS_DRIVER);
    struct runtime *cuda = runtime_enter();
    const enum cuda_error error = driver_check_device(device);
    if (!error)
        driver_of(cuda)->primary.flags = flags;
    return driver_leave(cuda, error);
}
CU_ALSO(cuDevicePrimaryCtxSetFlags, cuDevicePrimaryCtxSetFlags_v2)

API_CU(cuDevicePrimaryCtxGetState, int device, unsigned *flags, int *is_active) {
    BEGIN(NEEDS_DRIVER);
    struct runtime *cuda = runtime_enter();
    const enum cuda_error error = flags && is_active ? driver_check_device(device) : cudaErrorInvalidValue;
    const struct driver_context *primary = &driver_of(cuda)->primary;
    if (!error) {
        *flags = primary->flags;
        *is_active = is_alive(cuda, primary);
    }
    return driver_leave(cuda, error);
}

/* ---- entry points: what is current ---- */

static enum cuda_error push(struct driver_context *context) {
    struct runtime_thread *thread = runtime_thread();
    if (thread->context_count == CONTEXTS_MAX)
        return cudaErrorMemoryAllocation;
    thread->contexts[thread->context_count++] = context;
    return cudaSuccess;
}

API_CU(cuCtxPushCurrent, void *handle) {
    BEGIN(NEEDS_DRIVER);
    struct runtime *cuda = runtime_enter();
    struct driver_context *context = context_find(cuda, handle);
    return driver_leave(cuda, context ? push(context) : cudaErrorDeviceUninitialized);
}
CU_ALSO(cuCtxPushCurrent, cuCtxPushCurrent_v2)

API_CU(cuCtxPopCurrent, struct driver_context **out) {
    BEGIN(NEEDS_DRIVER);
    struct runtime_thread *thread = runtime_thread();
    if (!thread->context_count)
        return driver_end(cudaErrorDeviceUninitialized);
    const unsigned top = --thread->context_count;
    if (out)
        *out = thread->contexts[top];
    return driver_end(cudaSuccess);
}
CU_ALSO(cuCtxPopCurrent, cuCtxPopCurrent_v2)

API_CU(cuCtxSetCurrent, void *handle) {
    BEGIN(NEEDS_DRIVER);
    struct runtime_thread *thread = runtime_thread();
    struct runtime *cuda = runtime_enter();
    struct driver_context *context = handle ? context_find(cuda, handle) : NULL;
    if (handle && !context)
        return driver_leave(cuda, cudaErrorDeviceUninitialized);
    if (thread->context_count)
        thread->context_count--;
    return driver_leave(cuda, context ? push(context) : cudaSuccess);
}

API_CU(cuCtxGetCurrent, struct driver_context **out) {
    BEGIN(NEEDS_DRIVER);
    struct runtime *cuda = runtime_enter();
    if (out)
        *out = context_current(cuda);
    return driver_leave(cuda, out ? cudaSuccess : cudaErrorInvalidValue);
}

/* ---- entry points: contexts that programs make ---- */

static enum cuda_error create(struct driver_context **out, unsigned flags, int device) {
    BEGIN(NEEDS_DRIVER);
    struct runtime *cuda = runtime_enter();
    struct driver *driver = driver_of(cuda);
    enum cuda_error error = out ? driver_check_device(device) : cudaErrorInvalidValue;
    if (error)
        return driver_leave(cuda, error);
    struct driver_context **at = &driver->created;
    while (*at && (*at)->users)
        at = &(*at)->next;
    struct driver_context *context =
        *at ? *at : ARENA_NEW(&cuda->arena, struct driver_context); /* an ended one, anew */
    *context = (struct driver_context){
        .users = 1, .flags = flags, .number = ++driver->numbers, .next = *at ? context->next : NULL};
    *at = context;
    error = push(context);
    if (error)
        context->users = 0;
    else
        *out = context;
    return driver_leave(cuda, error);
}

API_CU(cuCtxCreate, struct driver_context **out, unsigned flags, int device) { return create(out, flags, device); }
CU_ALSO(cuCtxCreate, cuCtxCreate_v2)

/* A share of the SMs cannot be had. */
static enum cuda_error create_share(struct driver_context **out, bool is_share, unsigned flags, int device) {
    return is_share ? cudaErrorNotSupported : create(out, flags, device);
}

API_CU(cuCtxCreate_v3, struct driver_context **out, const void *shares, int count, unsigned flags, int device) {
    return create_share(out, shares && count, flags, device);
}

struct context_wishes { /* CUctxCreateParams */
    const void *shares;
    int count;
    const void *graphics;
};

API_CU(cuCtxCreate_v4, struct driver_context **out, const struct context_wishes *wishes, unsigned flags, int device) {
    return create_share(out, wishes && (wishes->count || wishes->graphics), flags, device);
}

static enum cuda_error destroy(void *handle) {
    BEGIN(NEEDS_DRIVER);
    struct runtime_thread *thread = runtime_thread();
    struct runtime *cuda = runtime_enter();
    struct driver_context *context = handle ? context_find(cuda, handle) : NULL;
    if (!context || context->is_primary)
        return driver_leave(cuda, cudaErrorDeviceUninitialized);
    if (--context->users == 0) {
        if (thread->context_count && thread->contexts[thread->context_count - 1] == context)
            thread->context_count--;
        end_device(cuda);
    }
    return driver_leave(cuda, cudaSuccess);
}

API_CU(cuCtxDestroy, void *handle) { return destroy(handle); }
CU_ALSO(cuCtxDestroy, cuCtxDestroy_v2)
API_CU(cuCtxDetach, void *handle) { return destroy(handle); }

API_CU(cuCtxAttach, struct driver_context **out, unsigned flags) {
    BEGIN_LOCKED(cuda);
    if (!out || flags)
        return driver_leave(cuda, cudaErrorInvalidValue);
    *out = context_current(cuda);
    (*out)->users++;
    return driver_leave(cuda, cudaSuccess);
}

/* ---- entry points: what is asked about them ---- */

/* The number that a function asks for, of the current context or of the one it names. */
static enum cuda_error ask(const void *handle, uint64_t *number, unsigned *flags) {
    BEGIN(NEEDS_CONTEXT);
    struct runtime *cuda = runtime_enter();
    const struct driver_context *context = handle ? context_find(cuda, handle) : context_current(cuda);
    if (context && number)
        *number = context->number;
    if (context && flags)
        *flags = context->flags;
    return driver_leave(cuda, context ? cudaSuccess : cudaErrorDeviceUninitialized);
}

API_CU(cuCtxGetId, const void *handle, uint64_t *out) { return out ? ask(handle, out, NULL) : cudaErrorInvalidValue; }
API_CU(cuCtxGetFlags, unsigned *out) { return out ? ask(NULL, NULL, out) : cudaErrorInvalidValue; }

API_CU(cuCtxSetFlags, unsigned flags) {
    BEGIN_LOCKED(cuda);
    context_current(cuda)->flags = flags;
    return driver_leave(cuda, cudaSuccess);
}

API_CU(cuCtxGetApiVersion, const void *handle, unsigned *out) {
    enum { API_VERSION = 3020 };
    if (out)
        *out = API_VERSION;
    return out ? ask(handle, NULL, NULL) : cudaErrorInvalidValue;
}

API_CU(cuCtxGetDevice, int *out) {
    if (out)
        *out = 0;
    return out ? ask(NULL, NULL, NULL) : cudaErrorInvalidValue;
}

API_CU(cuCtxGetDevice_v2, int *out, const void *handle) {
    if (out)
        *out = 0;
    return out ? ask(handle, NULL, NULL) : cudaErrorInvalidValue;
}

API_CU(cuCtxSynchronize_v2, const void *handle) {
    const enum cuda_error error = ask(handle, NULL, NULL);
    if (error)
        return error;
    BEGIN_LOCKED(cuda);
    return driver_leave(cuda, cudaSuccess);
}

/* There is no second device. */
API_CU(cuCtxEnablePeerAccess, const void *handle, unsigned flags) {
    const enum cuda_error error = flags ? cudaErrorInvalidValue : ask(handle, NULL, NULL);
    return error ? error : cudaErrorPeerAccessUnsupported;
}
API_CU(cuCtxDisablePeerAccess, const void *handle) {
    const enum cuda_error error = ask(handle, NULL, NULL);
    return error ? error : cudaErrorPeerAccessNotEnabled;
}

static enum cuda_error of_stream(void *stream, struct driver_context **out) {
    RUNTIME(13, cudaStreamGetFlags, void *, unsigned *);
    unsigned ignored;
    BEGIN(NEEDS_CONTEXT);
    const enum cuda_error error = out ? heddle_13_cudaStreamGetFlags(stream, &ignored) : cudaErrorInvalidValue;
    if (error)
        return driver_end(error);
    struct runtime *cuda = runtime_enter();
    *out = context_current(cuda);
    return driver_leave(cuda, cudaSuccess);
}

API_CU_STREAM(cuStreamGetCtx, void *stream, struct driver_context **out) { return of_stream(stream, out); }
API_CU_STREAM(cuStreamGetCtx_v2, void *stream, struct driver_context **out, void **green) {
    if (green)
        *green = NULL;
    return of_stream(stream, out);
}
