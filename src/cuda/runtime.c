/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda/runtime.h"

#include <stdio.h>

#include "cuda/array.h"
#include "cuda/image.h"
#include "cuda/memory.h"
#include "cuda/stream.h"
#include "cuda/texture.h"

/* CUDA's functions have no handle to begin with: the runtime is the one thing that a process has once. */
static struct {
    pthread_once_t once;
    struct runtime runtime;
} process = {.once = PTHREAD_ONCE_INIT};

static _Thread_local struct runtime_thread thread;

static void make_runtime(void) {
    struct runtime *cuda = &process.runtime;
    pthread_mutex_init(&cuda->lock, NULL);
    const struct guest_settings settings = guest_settings_read();
    cuda->recorder = recorder_create(&settings, SESSION_FOUND_CUDA);
    cuda->now_ns = 1; /* programs take a time of 0 for none */
    cuda->first_stream = stream_create(cuda, 0, 0);
}

void runtime_say(struct runtime *cuda, const char *format, ...) {
    struct report words = {0};
    va_list arguments;
    va_start(arguments, format);
    report_add_va(&words, STATUS_OK, format, arguments);
    va_end(arguments);
    if (cuda->recording)
        guest_recording_fault(cuda->recording, report_text(&words));
    else
        fprintf(stderr, "heddle: %s", report_text(&words));
    report_free(&words);
}

static void hold(void *owner) {
    struct runtime *cuda = owner;
    pthread_mutex_lock(&cuda->lock);
}

static void make_device(struct runtime *cuda) {
    struct report report = {0};
    if (!cuda->recording)
        cuda->recording = guest_recording_create(cuda->recorder, hold, cuda);
    enum status status = cuda->machine.name ? STATUS_OK : guest_machine(&cuda->machine, &report);
    if (!status)
        status = device_create(&cuda->device, &cuda->machine, &report);
    cuda->lost = status ? cudaErrorNoDevice : cudaSuccess;
    cuda->is_unified = !status && host_unify(cuda->device);
    if (!status)
        guest_device(cuda->recording, cuda->device, &cuda->machine);
    if (status)
        runtime_say(cuda, "there is no simulated GPU for CUDA: %s", report_text(&report));
    else if (!cuda->is_unified)
        runtime_say(cuda,
                    "device memory does not lie at the program's own addresses, where something else is (from 0x%llx "
                    "on): managed and mapped memory are refused; link the program with -pie",
                    (unsigned long long)host_first_address());
    report_free(&report);
}

struct runtime *runtime_enter_early(void) {
    pthread_once(&process.once, make_runtime);
    pthread_mutex_lock(&process.runtime.lock);
    return &process.runtime;
}

void runtime_leave_early(struct runtime *cuda) { pthread_mutex_unlock(&cuda->lock); }

struct runtime *runtime_enter(void) {
    struct runtime *cuda = runtime_enter_early();
    if (!thread.driver_calls)
        thread.uses_runtime = cuda->is_used = true;
    if (!cuda->device && !cuda->lost)
        make_device(cuda);
    return cuda;
}

enum cuda_error runtime_note(enum cuda_error error) {
    if (error && error != cudaErrorNotReady && !thread.driver_calls)
        thread.last_error = error;
    return error;
}

enum cuda_error runtime_leave(struct runtime *cuda, enum cuda_error error) {
    pthread_mutex_unlock(&cuda->lock);
    return runtime_note(error);
}

struct runtime_thread *runtime_thread(void) {
    return &thread;
}

void runtime_reset(struct runtime *cuda) {
    images_unload(cuda);
    pinned_forget(cuda);
    guest_device_end(cuda->recording);
    textures_forget(cuda);
    mipmapped_forget(cuda);
    arrays_forget(cuda);
    device_destroy(cuda->device);
    cuda->device = NULL;
    cuda->workspace = 0;
    make_device(cuda);
    images_place_managed(cuda);
}

/* At the end of the process. Other threads may still be in here, so nothing is given back. */
__attribute__((destructor)) static void end_runtime(void) {
    if (process.runtime.recorder)
        recorder_end(process.runtime.recorder);
}
