/* SPDX-License-Identifier: Apache-2.0 */
/* The device as programs ask the driver about it, errors, and functions by their names. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "device/host.h"
#include "driver/driver.h"

RUNTIME(13, cudaDeviceGetAttribute, int *, int, int);
RUNTIME(13, cudaDriverGetVersion, int *);

/* ---- the device ---- */

API_CU(cuDriverGetVersion, int *out) { return heddle_13_cudaDriverGetVersion(out); }

API_CU(cuDeviceGet, int *out, int number) {
    BEGIN(NEEDS_DRIVER);
    if (out)
        *out = 0;
    return driver_end(out ? driver_check_device(number) : cudaErrorInvalidValue);
}

API_CU(cuDeviceGetName, char *out, int room, int device) {
    BEGIN(NEEDS_DRIVER);
    struct runtime *cuda = runtime_enter();
    const enum cuda_error error = out && room > 0 ? driver_check_device(device) : cudaErrorInvalidValue;
    if (!error)
        snprintf(out, (size_t)room, "Heddle %s", cuda->machine.name);
    return driver_leave(cuda, error);
}

API_CU(cuDeviceGetUuid, void *out, int device) {
    enum { UUID_BYTES = 16 };
    BEGIN(NEEDS_DRIVER);
    if (out)
        memset(out, 0, UUID_BYTES); /* as the runtime has it */
    return driver_end(out ? driver_check_device(device) : cudaErrorInvalidValue);
}
CU_ALSO(cuDeviceGetUuid, cuDeviceGetUuid_v2)

API_CU(cuDeviceTotalMem_v2, size_t *out, int device) {
    BEGIN(NEEDS_DRIVER);
    struct runtime *cuda = runtime_enter();
    enum cuda_error error = out ? driver_check_device(device) : cudaErrorInvalidValue;
    if (!error && !cuda->device)
        error = cuda->lost;
    if (!error)
        *out = host_capacity_bytes(cuda->device);
    return driver_leave(cuda, error);
}

/* Attributes one after another. */
static enum cuda_error attributes(int *out, int first, int count, int device) {
    enum cuda_error error = cudaSuccess;
    BEGIN(NEEDS_DRIVER);
    for (int i = 0; i < count && !error; i++)
        error = heddle_13_cudaDeviceGetAttribute(out + i, first + i, device);
    return driver_end(error);
}

API_CU(cuDeviceComputeCapability, int *major, int *minor, int device) {
    enum { MAJOR = 75 };
    int values[2] = {0, 0};
    if (!major || !minor)
        return cudaErrorInvalidValue;
    const enum cuda_error error = attributes(values, MAJOR, 2, device);
    *major = values[0];
    *minor = values[1];
    return error;
}

/* CUdevprop: the first fourteen attributes, in their order. */
API_CU(cuDeviceGetProperties, int *out, int device) {
    enum { FIRST = 1, COUNT = 14 };
    return out ? attributes(out, FIRST, COUNT, device) : cudaErrorInvalidValue;
}

API_CU(cuDeviceGetExecAffinitySupport, int *out, int type, int device) {
    (void)type;
    BEGIN(NEEDS_DRIVER);
    if (out)
        *out = 0;
    return driver_end(out ? driver_check_device(device) : cudaErrorInvalidValue);
}

/* ---- errors ---- */

static const char *name_of(enum cuda_error error) {
    switch ((int)error) {
#define ERROR(name, number)                                                                                            \
    case number:                                                                                                       \
        return #name;
#include "driver/errors.def"
#undef ERROR
    default: return NULL;
    }
}

API_CU(cuGetErrorName, enum cuda_error error, const char **out) {
    if (!out)
        return cudaErrorInvalidValue;
    *out = name_of(error);
    return *out ? cudaSuccess : cudaErrorInvalidValue;
}

API_CU(cuGetErrorString, enum cuda_error error, const char **out) {
    __attribute__((visibility("hidden"))) const char *heddle_13_cudaGetErrorString(enum cuda_error);
    if (!out)
        return cudaErrorInvalidValue;
    *out = name_of(error) ? heddle_13_cudaGetErrorString(error) : NULL;
    return *out ? cudaSuccess : cudaErrorInvalidValue;
}

/* ---- functions by their names ---- */

/* A function that means something else from a version of CUDA on. */
static const struct {
    const char *name;
    int since;
    const char *then;
} changes[] = {
#define CHANGE(name, since, then) {#name, since, #then},
#include "driver/changes.def"
#undef CHANGE
};

static void *function_named(const char *name, int version) {
    enum { NAME_BYTES = 128 };
    char second[NAME_BYTES];
    Dl_info self;
    void *library = dladdr(changes, &self) ? dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    if (!library)
        return NULL;
    const char *wanted = NULL;
    for (unsigned i = 0; i < sizeof changes / sizeof *changes; i++)
        if (strcmp(changes[i].name, name) == 0 && version >= changes[i].since)
            wanted = changes[i].then;
    snprintf(second, sizeof second, "%s_v2", name); /* what CUDA 3.2 to 6.5 gave 64 bits */
    void *found = wanted ? dlsym(library, wanted) : dlsym(library, second);
    if (!found && strncmp(name, "cu", 2) == 0)
        found = dlsym(library, name);
    dlclose(library);
    return found;
}

static enum cuda_error find(const char *name, void **out, int version, int *status) {
    enum { FOUND = 0, NOT_FOUND = 1 };
    if (!name || !out)
        return cudaErrorInvalidValue;
    *out = function_named(name, version);
    if (status)
        *status = *out ? FOUND : NOT_FOUND;
    return *out ? cudaSuccess : cudaErrorSymbolNotFound;
}

/* Flags ask for the thread's own default stream, which is everybody's. */
API_CU(cuGetProcAddress, const char *name, void **out, int version, uint64_t flags) {
    (void)flags;
    return find(name, out, version, NULL);
}

/* A name that is not there is no error any more: it has no address. */
API_CU(cuGetProcAddress_v2, const char *name, void **out, int version, uint64_t flags, int *status) {
    (void)flags;
    const enum cuda_error error = find(name, out, version, status);
    return error == cudaErrorSymbolNotFound ? cudaSuccess : error;
}
CU_ALSO(cuGetProcAddress_v2, cuGetProcAddress_v2_ptsz)

/* ---- the same, asked of the runtime ---- */

API_STREAM(cudaGetDriverEntryPointByVersion, const char *name, void **out, unsigned version, uint64_t flags,
           int *status) {
    (void)flags;
    const enum cuda_error error = find(name, out, (int)version, status);
    return runtime_note(error == cudaErrorSymbolNotFound ? cudaSuccess : error);
}

#define ENTRY_POINT(version, number)                                                                                   \
    API_IN(version, cudaGetDriverEntryPoint, const char *name, void **out, uint64_t flags, int *status) {              \
        return entry_cudaGetDriverEntryPointByVersion(name, out, number, flags, status);                               \
    }                                                                                                                  \
    EXPORT_##version(entry_##version##_cudaGetDriverEntryPoint, cudaGetDriverEntryPoint_ptsz)
ENTRY_POINT(11, 11080)
ENTRY_POINT(12, 12080)
ENTRY_POINT(13, 13000)
