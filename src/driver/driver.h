/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA's driver API (libcuda.so.1): the shape of its entry points, its contexts, and structs of its binary interface. Written from the
 * published interface; no header of NVIDIA's is used.
 *
 * Its functions stand over those of src/cuda, in the same library: a process that calls both has one device, and pointers, streams,
 * events, graphs and kernels of one are those of the other. Errors have the runtime's numbers, but for a few (driver_end). */
#ifndef HEDDLE_DRIVER_DRIVER_H
#define HEDDLE_DRIVER_DRIVER_H

#include "cuda/runtime.h"

#define CU_EXPORT(function, name) __asm__(".globl " #name "\n.set " #name ", " #function);
/* A function of the driver's; the same under a second name; and with those that programs ask for whose default stream is the
 * thread's own: all streams are one here. */
#define API_CU(name, ...) CU_EXPORT(driver_##name, name) API_FUNCTION(enum cuda_error, driver_##name, __VA_ARGS__)
#define CU_ALSO(name, second) CU_EXPORT(driver_##name, second)
#define API_CU_STREAM(name, ...) CU_EXPORT(driver_##name, name##_ptsz) API_CU(name, __VA_ARGS__)
#define API_CU_BLOCKING(name, ...) CU_EXPORT(driver_##name, name##_ptds) API_CU(name, __VA_ARGS__)

/* A function of the runtime's, by the version that it is exported under: RUNTIME(13, cudaMalloc, void **, size_t). */
#define RUNTIME(version, name, ...)                                                                                    \
    __attribute__((visibility("hidden"))) enum cuda_error heddle_##version##_##name(__VA_ARGS__)

enum driver_need { NEEDS_NOTHING, NEEDS_DRIVER, NEEDS_CONTEXT };
/* Begins a function of the driver's: what keeps it from going on, which it then ends with. */
enum cuda_error driver_begin(enum driver_need need);
/* Ends it: what it returns. */
enum cuda_error driver_end(enum cuda_error error);

#define BEGIN(need)                                                                                                    \
    do {                                                                                                               \
        const enum cuda_error begun_ = driver_begin(need);                                                             \
        if (begun_)                                                                                                    \
            return driver_end(begun_);                                                                                 \
    } while (0)

/* The runtime with its lock and a device; where there is none to go on with, the function ends. */
#define BEGIN_LOCKED(cuda)                                                                                             \
    BEGIN(NEEDS_CONTEXT);                                                                                              \
    struct runtime *cuda = runtime_enter();                                                                            \
    if (cuda->lost)                                                                                                    \
    return driver_leave(cuda, cuda->lost)
enum cuda_error driver_leave(struct runtime *cuda, enum cuda_error error);

/* A name for the one device. */
struct driver_context {
    bool is_primary;
    unsigned users; /* of the primary one: how often it was retained; of others: 0 when they have ended */
    unsigned flags;
    uint64_t number;
    struct driver_context *next;
};

struct driver {
    bool is_initialised; /* by cuInit */
    struct driver_context primary;
    struct driver_context *created;
    uint64_t numbers;
    struct link_job *links;              /* driver/link.c */
    struct driver_reference *references; /* driver/reference.c */
};

/* The lock is held. Made when first asked for. */
struct driver *driver_of(struct runtime *cuda);
/* What is current to this thread; NULL: nothing is. The lock is held. */
struct driver_context *context_current(struct runtime *cuda);
/* What must be given to a function that was asked for a device. */
enum cuda_error driver_check_device(int device);

#endif
