/* SPDX-License-Identifier: Apache-2.0 */
/* OpenCL's device queries. */
#include "device/host.h"
#include "device/lowered.h"
#include "opencl/image.h"
#include "opencl/info.h"
#include "opencl/platform.h"
#include "opencl/program.h"
#include "opencl/svm.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const cl_name_version extensions[] = {
#define EXTENSION(name) {CL_MAKE_VERSION(1, 0, 0), #name},
#define EXTENSION_MACRO EXTENSION
#include "compile/extensions.def"
};

static const cl_name_version features[] = {
#define FEATURE(name) {CL_MAKE_VERSION(3, 0, 0), #name},
#define FEATURE_MACRO FEATURE
#include "compile/extensions.def"
};

static const char extension_names[] =
#define EXTENSION(name) #name " "
#define EXTENSION_MACRO EXTENSION
#include "compile/extensions.def"
    ;

static const char extension_names_without_images[] =
#define EXTENSION(name) #name " "
#define EXTENSION_MACRO EXTENSION
#define IMAGE_EXTENSION(name)
#define IMAGE_EXTENSION_MACRO(name)
#define IMAGE_MACRO(name)
#define IMAGE_FEATURE(name)
#include "compile/extensions.def"
    ;

static const cl_name_version c_versions[] = {{CL_MAKE_VERSION(1, 0, 0), "OpenCL C"},
                                             {CL_MAKE_VERSION(1, 1, 0), "OpenCL C"},
                                             {CL_MAKE_VERSION(1, 2, 0), "OpenCL C"},
                                             {CL_MAKE_VERSION(3, 0, 0), "OpenCL C"}};

/* As llvm-spirv 15 knows them, and more. */
static const cl_name_version il_versions[] = {{CL_MAKE_VERSION(1, 0, 0), "SPIR-V"},
                                              {CL_MAKE_VERSION(1, 1, 0), "SPIR-V"},
                                              {CL_MAKE_VERSION(1, 2, 0), "SPIR-V"}};

/* Of features and extensions, those at their end that devices without images lack. */
enum {
#define IMAGE_EXTENSION(name) +1
#define IMAGE_EXTENSION_MACRO(name) +1
#define IMAGE_MACRO(name)
#define IMAGE_FEATURE(name)
    IMAGE_EXTENSIONS = 0
#include "compile/extensions.def"
    ,
#define IMAGE_EXTENSION(name)
#define IMAGE_EXTENSION_MACRO(name)
#define IMAGE_MACRO(name)
#define IMAGE_FEATURE(name) +1
    IMAGE_FEATURES = 0
#include "compile/extensions.def"
};

static const cl_device_fp_config float_config =
    CL_FP_DENORM | CL_FP_INF_NAN | CL_FP_ROUND_TO_NEAREST | CL_FP_ROUND_TO_ZERO | CL_FP_ROUND_TO_INF | CL_FP_FMA;
static const cl_device_atomic_capabilities atomic_capabilities =
    CL_DEVICE_ATOMIC_ORDER_RELAXED | CL_DEVICE_ATOMIC_ORDER_ACQ_REL | CL_DEVICE_ATOMIC_ORDER_SEQ_CST |
    CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP | CL_DEVICE_ATOMIC_SCOPE_DEVICE | CL_DEVICE_ATOMIC_SCOPE_ALL_DEVICES;

static const cl_device_fp_atomic_capabilities_ext float_atomics =
    CL_DEVICE_GLOBAL_FP_ATOMIC_LOAD_STORE_EXT | CL_DEVICE_GLOBAL_FP_ATOMIC_ADD_EXT |
    CL_DEVICE_GLOBAL_FP_ATOMIC_MIN_MAX_EXT | CL_DEVICE_LOCAL_FP_ATOMIC_LOAD_STORE_EXT |
    CL_DEVICE_LOCAL_FP_ATOMIC_ADD_EXT | CL_DEVICE_LOCAL_FP_ATOMIC_MIN_MAX_EXT;

/* ---- entry points ---- */

cl_int CL_API_CALL clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint room, cl_device_id *devices,
                                  cl_uint *count) {
    const cl_device_type known = CL_DEVICE_TYPE_DEFAULT | CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_GPU |
                                 CL_DEVICE_TYPE_ACCELERATOR | CL_DEVICE_TYPE_CUSTOM;
    if (!object_is(platform, OBJECT_PLATFORM))
        return CL_INVALID_PLATFORM;
    if (type != CL_DEVICE_TYPE_ALL && (!type || type & ~known))
        return CL_INVALID_DEVICE_TYPE;
    if ((devices && !room) || (!devices && !count))
        return CL_INVALID_VALUE;
    const bool found = platform->has_device && type & (CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_DEFAULT);
    if (count)
        *count = found;
    if (found && devices)
        devices[0] = &platform->device;
    return found ? CL_SUCCESS : CL_DEVICE_NOT_FOUND;
}

cl_int CL_API_CALL clGetDeviceInfo(cl_device_id device, cl_device_info name, size_t size, void *value,
                                   size_t *size_ret) {
    if (!object_is(device, OBJECT_DEVICE))
        return CL_INVALID_DEVICE;
    const struct machine *machine = &device->machine;
    const size_t work_item_sizes[] = {machine->max_block_threads, machine->max_block_threads,
                                      machine->max_block_threads};
    const bool has_images = image_is_supported(device);
    const size_t feature_count = COUNT(features) - (has_images ? 0 : IMAGE_FEATURES);
    const size_t extension_count = COUNT(extensions) - (has_images ? 0 : IMAGE_EXTENSIONS);
    switch (name) {
#include "opencl/device_info.def"
    default: return CL_INVALID_VALUE;
    }
}

cl_int CL_API_CALL clCreateSubDevices(cl_device_id device, const cl_device_partition_property *properties, cl_uint room,
                                      cl_device_id *devices, cl_uint *count) {
    (void)properties, (void)room, (void)devices, (void)count;
    return object_is(device, OBJECT_DEVICE) ? CL_INVALID_VALUE : CL_INVALID_DEVICE; /* no way to divide it is known */
}

/* Only sub-devices are counted, and there are none. */
cl_int CL_API_CALL clRetainDevice(cl_device_id device) {
    return object_is(device, OBJECT_DEVICE) ? CL_SUCCESS : CL_INVALID_DEVICE;
}

cl_int CL_API_CALL clReleaseDevice(cl_device_id device) {
    return object_is(device, OBJECT_DEVICE) ? CL_SUCCESS : CL_INVALID_DEVICE;
}

/* CL_PLATFORM_HOST_TIMER_RESOLUTION is 0: simulated time and the host's have nothing to do with each other. */
cl_int CL_API_CALL clGetDeviceAndHostTimer(cl_device_id device, cl_ulong *device_time, cl_ulong *host_time) {
    (void)device_time, (void)host_time;
    return object_is(device, OBJECT_DEVICE) ? CL_INVALID_OPERATION : CL_INVALID_DEVICE;
}

cl_int CL_API_CALL clGetHostTimer(cl_device_id device, cl_ulong *host_time) {
    (void)host_time;
    return object_is(device, OBJECT_DEVICE) ? CL_INVALID_OPERATION : CL_INVALID_DEVICE;
}

cl_int CL_API_CALL clSetDefaultDeviceCommandQueue(cl_context context, cl_device_id device, cl_command_queue queue) {
    (void)queue;
    if (!object_is(context, OBJECT_CONTEXT))
        return CL_INVALID_CONTEXT;
    return object_is(device, OBJECT_DEVICE) ? CL_INVALID_OPERATION : CL_INVALID_DEVICE;
}
