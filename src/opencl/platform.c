/* SPDX-License-Identifier: Apache-2.0 */
#include "opencl/platform.h"

#include <pthread.h>

#include "opencl/info.h"
#include "result/guest.h"

/* OpenCL's functions have no handle to begin with: the platform is the one thing that a process has once. */
static struct {
    pthread_once_t once;
    cl_platform_id platform;
} process = {.once = PTHREAD_ONCE_INIT};

static void make_platform(void) {
    cl_platform_id platform = object_create(OBJECT_PLATFORM, sizeof *platform);
    if (!platform)
        return;
    cl_device_id device = &platform->device;
    device->object = (struct object){.dispatch = &opencl_dispatch, .kind = OBJECT_DEVICE};
    device->platform = platform;
    struct report report = {0};
    platform->has_device = guest_machine(&device->machine, &report) == STATUS_OK;
    const struct guest_settings settings = guest_settings_read();
    platform->recorder = recorder_create(&settings, SESSION_FOUND_OPENCL);
    guest_watch_compiler(platform->recorder);
    report_free(&report);
    process.platform = platform;
}

cl_platform_id platform_get(void) {
    pthread_once(&process.once, make_platform);
    return process.platform;
}

/* At the end of the process. Other threads may still be in here, so nothing is given back. */
__attribute__((destructor)) static void end_platform(void) {
    if (process.platform)
        recorder_end(process.platform->recorder);
}

/* ---- entry points ---- */

cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint room, cl_platform_id *platforms, cl_uint *count)
    __attribute__((visibility("default")));

cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint room, cl_platform_id *platforms, cl_uint *count) {
    if ((platforms && !room) || (!platforms && !count))
        return CL_INVALID_VALUE;
    cl_platform_id platform = platform_get();
    if (count)
        *count = platform != NULL;
    if (!platform)
        return CL_PLATFORM_NOT_FOUND_KHR;
    if (platforms)
        platforms[0] = platform;
    return CL_SUCCESS;
}

cl_int CL_API_CALL clGetPlatformIDs(cl_uint room, cl_platform_id *platforms, cl_uint *count) {
    return clIcdGetPlatformIDsKHR(room, platforms, count);
}

static const cl_name_version platform_extensions[] = {{CL_MAKE_VERSION(1, 0, 0), "cl_khr_icd"}};

__attribute__((visibility("default"))) cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id platform,
                                                                            cl_platform_info name, size_t size,
                                                                            void *value, size_t *size_ret) {
    if (!object_is(platform, OBJECT_PLATFORM))
        return CL_INVALID_PLATFORM;
    switch (name) {
        INFO_TEXT(CL_PLATFORM_PROFILE, "FULL_PROFILE")
        INFO_TEXT(CL_PLATFORM_VERSION, "OpenCL 3.0 Heddle " HEDDLE_VERSION)
        INFO(CL_PLATFORM_NUMERIC_VERSION, cl_version, CL_MAKE_VERSION(3, 0, 0))
        INFO_TEXT(CL_PLATFORM_NAME, "Heddle")
        INFO_TEXT(CL_PLATFORM_VENDOR, "Heddle")
        INFO_TEXT(CL_PLATFORM_EXTENSIONS, "cl_khr_icd")
        INFO_LIST(CL_PLATFORM_EXTENSIONS_WITH_VERSION, cl_name_version, platform_extensions, 1)
        INFO_TEXT(CL_PLATFORM_ICD_SUFFIX_KHR, "HEDDLE")
        INFO(CL_PLATFORM_HOST_TIMER_RESOLUTION, cl_ulong, 0)
    default: return CL_INVALID_VALUE;
    }
}

__attribute__((visibility("default"))) void *CL_API_CALL clGetExtensionFunctionAddress(const char *name) {
    static const struct {
        const char *name;
        void (*function)(void);
    } entries[] = {
#define ENTRY(name) {#name, (void (*)(void))name},
#include "opencl/entries.def"
#undef ENTRY
        {"clCreateProgramWithILKHR", (void (*)(void))clCreateProgramWithILKHR},
        {"clIcdGetPlatformIDsKHR", (void (*)(void))clIcdGetPlatformIDsKHR},
    };
    void *found = NULL;
    for (size_t i = 0; name && i < sizeof entries / sizeof *entries; i++)
        if (strcmp(name, entries[i].name) == 0)
            memcpy(&found, &entries[i].function, sizeof found); /* ISO C has no cast from function to object pointers */
    return found;
}

void *CL_API_CALL clGetExtensionFunctionAddressForPlatform(cl_platform_id platform, const char *name) {
    return object_is(platform, OBJECT_PLATFORM) ? clGetExtensionFunctionAddress(name) : NULL;
}
