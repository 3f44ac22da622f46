/* SPDX-License-Identifier: Apache-2.0 */
/* Platform, device, context, queue: queries, errors, lifetimes. */
#include "opencl_fixture.h"

static void platforms(void **state) {
    struct fixture *f = *state;
    cl_uint count = 0;
    OK(clGetPlatformIDs(0, NULL, &count));
    assert_true(count >= 1);
    IS(CL_INVALID_VALUE, clGetPlatformIDs(0, NULL, NULL));
    const cl_platform_info texts[] = {CL_PLATFORM_PROFILE, CL_PLATFORM_VERSION, CL_PLATFORM_NAME, CL_PLATFORM_VENDOR,
                                      CL_PLATFORM_EXTENSIONS};
    for (unsigned i = 0; i < 5; i++) {
        char text[4096];
        size_t size = 0;
        OK(clGetPlatformInfo(f->platform, texts[i], 0, NULL, &size));
        assert_true(size > 1 && size < sizeof text);
        OK(clGetPlatformInfo(f->platform, texts[i], size, text, NULL));
        assert_int_equal(strlen(text) + 1, size);
        IS(CL_INVALID_VALUE, clGetPlatformInfo(f->platform, texts[i], size - 1, text, NULL));
    }
    IS(CL_INVALID_VALUE, clGetPlatformInfo(f->platform, 0x1, 0, NULL, NULL));
    assert_non_null(clGetExtensionFunctionAddressForPlatform(f->platform, "clIcdGetPlatformIDsKHR"));
    assert_null(clGetExtensionFunctionAddressForPlatform(f->platform, "clNoSuchFunction"));
}

static void devices(void **state) {
    struct fixture *f = *state;
    cl_uint count = 0;
    OK(clGetDeviceIDs(f->platform, CL_DEVICE_TYPE_ALL, 0, NULL, &count));
    assert_int_equal(count, 1);
    IS(CL_INVALID_VALUE, clGetDeviceIDs(f->platform, CL_DEVICE_TYPE_ALL, 0, NULL, NULL));
    cl_device_id device;
    IS(CL_INVALID_VALUE, clGetDeviceIDs(f->platform, CL_DEVICE_TYPE_ALL, 0, &device, NULL));
    IS(CL_DEVICE_NOT_FOUND, clGetDeviceIDs(f->platform, CL_DEVICE_TYPE_ACCELERATOR, 1, &device, NULL));
    if (f->is_heddle)
        IS(CL_INVALID_DEVICE_TYPE, clGetDeviceIDs(f->platform, (cl_device_type)1 << 40, 1, &device, NULL));
    OK(clGetDeviceIDs(f->platform, CL_DEVICE_TYPE_DEFAULT, 1, &device, NULL));
    assert_ptr_equal(device, f->device);
    OK(clRetainDevice(device));
    OK(clReleaseDevice(device));
    const cl_device_partition_property parts[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
    if (f->is_heddle)
        IS(CL_INVALID_VALUE, clCreateSubDevices(device, parts, 0, NULL, &count));
    IS(CL_INVALID_VALUE, clGetDeviceInfo(device, 0x1, 0, NULL, NULL));
    char little;
    IS(CL_INVALID_VALUE, clGetDeviceInfo(device, CL_DEVICE_NAME, 1, &little, NULL));
}

/* Minimums of the full profile, OpenCL 3.0, table 5. */
static void device_limits(void **state) {
    struct fixture *f = *state;
    cl_device_id d = f->device;
    assert_true(ASK(cl_uint, clGetDeviceInfo, d, CL_DEVICE_MAX_COMPUTE_UNITS) >= 1);
    assert_true(ASK(cl_uint, clGetDeviceInfo, d, CL_DEVICE_MAX_CLOCK_FREQUENCY) >= 1);
    assert_true(ASK(cl_uint, clGetDeviceInfo, d, CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS) >= 3);
    assert_true(ASK(size_t, clGetDeviceInfo, d, CL_DEVICE_MAX_PARAMETER_SIZE) >= 1024);
    assert_true(ASK(cl_uint, clGetDeviceInfo, d, CL_DEVICE_MEM_BASE_ADDR_ALIGN) >= 8 * sizeof(cl_long16));
    assert_true(ASK(cl_ulong, clGetDeviceInfo, d, CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE) >= 64 << 10);
    assert_true(ASK(cl_uint, clGetDeviceInfo, d, CL_DEVICE_MAX_CONSTANT_ARGS) >= 8);
    assert_true(ASK(cl_ulong, clGetDeviceInfo, d, CL_DEVICE_LOCAL_MEM_SIZE) >= 32 << 10);
    assert_true(ASK(size_t, clGetDeviceInfo, d, CL_DEVICE_PRINTF_BUFFER_SIZE) >= 1 << 20);
    const cl_ulong memory = ASK(cl_ulong, clGetDeviceInfo, d, CL_DEVICE_GLOBAL_MEM_SIZE);
    const cl_ulong largest = ASK(cl_ulong, clGetDeviceInfo, d, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    assert_true(largest >= memory / 4 || largest >= (cl_ulong)1 << 30);
    assert_true(ASK(cl_bool, clGetDeviceInfo, d, CL_DEVICE_AVAILABLE));
    assert_true(ASK(cl_bool, clGetDeviceInfo, d, CL_DEVICE_COMPILER_AVAILABLE));
    assert_true(ASK(cl_bool, clGetDeviceInfo, d, CL_DEVICE_LINKER_AVAILABLE));
    const cl_command_queue_properties queues =
        ASK(cl_command_queue_properties, clGetDeviceInfo, d, CL_DEVICE_QUEUE_PROPERTIES);
    assert_true(queues & CL_QUEUE_PROFILING_ENABLE);
    const cl_device_fp_config config = ASK(cl_device_fp_config, clGetDeviceInfo, d, CL_DEVICE_SINGLE_FP_CONFIG);
    assert_true(config & CL_FP_ROUND_TO_NEAREST && config & CL_FP_INF_NAN);
    assert_ptr_equal(ASK(cl_platform_id, clGetDeviceInfo, d, CL_DEVICE_PLATFORM), f->platform);
    size_t sizes[3];
    OK(clGetDeviceInfo(d, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof sizes, sizes, NULL));
    assert_true(sizes[0] >= 1 && sizes[1] >= 1 && sizes[2] >= 1);
}

/* Names come with versions in the same number as the text lists them. */
static void device_extensions(void **state) {
    struct fixture *f = *state;
    char text[8192];
    size_t bytes = 0;
    cl_name_version versions[256];
    OK(clGetDeviceInfo(f->device, CL_DEVICE_EXTENSIONS, sizeof text, text, NULL));
    OK(clGetDeviceInfo(f->device, CL_DEVICE_EXTENSIONS_WITH_VERSION, sizeof versions, versions, &bytes));
    assert_int_equal(bytes % sizeof versions[0], 0);
    for (size_t i = 0; i < bytes / sizeof versions[0]; i++)
        assert_non_null(strstr(text, versions[i].name));
    assert_non_null(strstr(text, "cl_khr_fp64"));
    OK(clGetDeviceInfo(f->device, CL_DEVICE_OPENCL_C_FEATURES, 0, NULL, &bytes));
    OK(clGetDeviceInfo(f->device, CL_DEVICE_OPENCL_C_ALL_VERSIONS, 0, NULL, &bytes));
    assert_true(bytes >= sizeof versions[0]);
}

/* The compiler knows by its macro whatever the device lists. */
static void compiler_knows_extensions(void **state) {
    struct fixture *f = *state;
    static char text[16384];
    static const cl_device_info lists[] = {CL_DEVICE_EXTENSIONS_WITH_VERSION, CL_DEVICE_OPENCL_C_FEATURES};
    for (unsigned list = 0; list < 2; list++) {
        size_t bytes = 0, length = 0;
        cl_name_version names[256];
        OK(clGetDeviceInfo(f->device, lists[list], sizeof names, names, &bytes));
        for (size_t i = 0; i < bytes / sizeof names[0]; i++)
            if (strcmp(names[i].name, "cl_khr_icd") != 0) /* of the platform */
                length += (size_t)snprintf(text + length, sizeof text - length, "#ifndef %s\n#error %s\n#endif\n",
                                           names[i].name, names[i].name);
        snprintf(text + length, sizeof text - length, "kernel void a(void) {}\n");
        cl_program program = fixture_build(f, text, "-cl-std=CL3.0");
        OK(clReleaseProgram(program));
    }
}

/* Bits as in the extension's specification: load and store, add, minimum and maximum, of global and local memory. */
static void device_adds_floats(void **state) {
    struct fixture *f = *state;
    char text[8192];
    OK(clGetDeviceInfo(f->device, CL_DEVICE_EXTENSIONS, sizeof text, text, NULL));
    if (!strstr(text, "cl_ext_float_atomics"))
        return;
    for (cl_device_info kind = 0x4231; kind <= 0x4233; kind++) {
        const cl_bitfield capabilities = ASK(cl_bitfield, clGetDeviceInfo, f->device, kind);
        assert_int_equal(capabilities & ~(cl_bitfield)0x70007, 0);
        if (f->is_heddle)
            assert_int_equal(capabilities, kind == 0x4233 ? 0 : 0x70007);
    }
}

/* Whatever a program may ask has an answer. */
static void device_answers_everything(void **state) {
    struct fixture *f = *state;
    for (cl_device_info name = CL_DEVICE_TYPE; name <= CL_DEVICE_PIPE_SUPPORT; name++) {
        const bool unused = name == 0x105f || (name >= 0x106a && name <= 0x106e); /* of no query */
        char answer[16384];
        size_t size = 0;
        const cl_int code = clGetDeviceInfo(f->device, name, sizeof answer, answer, &size);
        if (f->is_heddle && !unused && code != CL_SUCCESS)
            fail_msg("query 0x%x gives %d", name, code);
    }
}

static cl_context destroyed;
static void *destroyed_user;
static unsigned destroyed_order;
static void CL_CALLBACK on_destroyed(cl_context context, void *user) {
    destroyed = context, destroyed_user = user, destroyed_order = destroyed_order * 10 + *(unsigned *)user;
}

static void contexts(void **state) {
    struct fixture *f = *state;
    cl_int code;
    const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)f->platform, 0};
    const cl_context_properties wrong[] = {0x77777, 1, 0};
    const cl_context_properties no_platform[] = {CL_CONTEXT_PLATFORM, 0, 0};
    REFUSED(CL_INVALID_VALUE, clCreateContext(properties, 0, &f->device, NULL, NULL, &code));
    REFUSED(CL_INVALID_VALUE, clCreateContext(properties, 1, NULL, NULL, NULL, &code));
    REFUSED(CL_INVALID_VALUE, clCreateContext(properties, 1, &f->device, NULL, &code, &code));
    REFUSED(CL_INVALID_PROPERTY, clCreateContext(wrong, 1, &f->device, NULL, NULL, &code));
    REFUSED(CL_INVALID_PLATFORM, clCreateContext(no_platform, 1, &f->device, NULL, NULL, &code));
    static const cl_context_properties no_truth[] = {-1, 2, CL_TRUE + 1, (cl_context_properties)1 << 32};
    for (size_t i = 0; f->is_heddle && i < sizeof no_truth / sizeof *no_truth; i++) {
        const cl_context_properties sync[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)f->platform,
                                              CL_CONTEXT_INTEROP_USER_SYNC, no_truth[i], 0};
        REFUSED(CL_INVALID_PROPERTY, clCreateContext(sync, 1, &f->device, NULL, NULL, &code));
        REFUSED(CL_INVALID_PROPERTY, clCreateContextFromType(sync, CL_DEVICE_TYPE_ALL, NULL, NULL, &code));
    }
    cl_context context = clCreateContext(properties, 1, &f->device, NULL, NULL, &code);
    OK(code);
    assert_int_equal(ASK(cl_uint, clGetContextInfo, context, CL_CONTEXT_REFERENCE_COUNT), 1);
    assert_int_equal(ASK(cl_uint, clGetContextInfo, context, CL_CONTEXT_NUM_DEVICES), 1);
    assert_ptr_equal(ASK(cl_device_id, clGetContextInfo, context, CL_CONTEXT_DEVICES), f->device);
    cl_context_properties got[8];
    size_t bytes;
    OK(clGetContextInfo(context, CL_CONTEXT_PROPERTIES, sizeof got, got, &bytes));
    assert_int_equal(bytes, sizeof properties);
    assert_memory_equal(got, properties, bytes);
    IS(CL_INVALID_VALUE, clGetContextInfo(context, 0x1, 0, NULL, NULL));
    OK(clRetainContext(context));
    assert_int_equal(ASK(cl_uint, clGetContextInfo, context, CL_CONTEXT_REFERENCE_COUNT), 2);
    OK(clReleaseContext(context));
    static unsigned one = 1, two = 2;
    if (f->is_heddle) {
        OK(clSetContextDestructorCallback(context, on_destroyed, &one));
        OK(clSetContextDestructorCallback(context, on_destroyed, &two));
        IS(CL_INVALID_VALUE, clSetContextDestructorCallback(context, NULL, NULL));
    }
    OK(clReleaseContext(context));
    if (f->is_heddle) {
        assert_ptr_equal(destroyed, context);
        assert_int_equal(destroyed_order, 21); /* the last one first */
    }
    context = clCreateContextFromType(properties, CL_DEVICE_TYPE_ALL, NULL, NULL, &code);
    OK(code);
    OK(clReleaseContext(context));
    if (f->is_heddle)
        REFUSED(CL_DEVICE_NOT_FOUND,
                clCreateContextFromType(properties, CL_DEVICE_TYPE_ACCELERATOR, NULL, NULL, &code));
}

/* A context lives as long as something in it does. */
static void contexts_outlive_their_handle(void **state) {
    struct fixture *f = *state;
    cl_int code;
    cl_context context = clCreateContext(NULL, 1, &f->device, NULL, NULL, &code);
    OK(code);
    cl_command_queue queue = clCreateCommandQueue(context, f->device, 0, &code);
    OK(code);
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 64, NULL, &code);
    OK(code);
    OK(clReleaseContext(context));
    int in = 42, out = 0;
    cl_event event;
    OK(clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, sizeof in, &in, 0, NULL, NULL));
    OK(clEnqueueReadBuffer(queue, buffer, CL_FALSE, 0, sizeof out, &out, 0, NULL, &event));
    OK(clReleaseMemObject(buffer)); /* the commands keep it */
    OK(clWaitForEvents(1, &event));
    assert_int_equal(out, 42);
    OK(clReleaseCommandQueue(queue));
    OK(clReleaseEvent(event));
}

static void queues(void **state) {
    struct fixture *f = *state;
    cl_int code;
    REFUSED(CL_INVALID_VALUE, clCreateCommandQueue(f->context, f->device, 1 << 20, &code));
    const cl_queue_properties list[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE, 0};
    const cl_queue_properties wrong[] = {0x77777, 1, 0};
    REFUSED(CL_INVALID_VALUE, clCreateCommandQueueWithProperties(f->context, f->device, wrong, &code));
    cl_command_queue queue = clCreateCommandQueueWithProperties(f->context, f->device, list, &code);
    OK(code);
    assert_ptr_equal(ASK(cl_context, clGetCommandQueueInfo, queue, CL_QUEUE_CONTEXT), f->context);
    assert_ptr_equal(ASK(cl_device_id, clGetCommandQueueInfo, queue, CL_QUEUE_DEVICE), f->device);
    assert_int_equal(ASK(cl_command_queue_properties, clGetCommandQueueInfo, queue, CL_QUEUE_PROPERTIES),
                     CL_QUEUE_PROFILING_ENABLE);
    assert_int_equal(ASK(cl_uint, clGetCommandQueueInfo, queue, CL_QUEUE_REFERENCE_COUNT), 1);
    OK(clRetainCommandQueue(queue));
    assert_int_equal(ASK(cl_uint, clGetCommandQueueInfo, queue, CL_QUEUE_REFERENCE_COUNT), 2);
    OK(clReleaseCommandQueue(queue));
    IS(CL_INVALID_VALUE, clGetCommandQueueInfo(queue, 0x1, 0, NULL, NULL));
    size_t bytes = 99;
    OK(clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES_ARRAY, 0, NULL, &bytes));
    assert_int_equal(bytes, sizeof list);
    if (f->is_heddle) {
        IS(CL_INVALID_COMMAND_QUEUE, clGetCommandQueueInfo(queue, CL_QUEUE_SIZE, 0, NULL, NULL));
        IS(CL_INVALID_OPERATION, clSetCommandQueueProperty(queue, CL_QUEUE_PROFILING_ENABLE, CL_TRUE, NULL));
        const cl_queue_properties on_device[] = {CL_QUEUE_PROPERTIES,
                                                 CL_QUEUE_ON_DEVICE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0};
        REFUSED(CL_INVALID_QUEUE_PROPERTIES,
                clCreateCommandQueueWithProperties(f->context, f->device, on_device, &code));
        IS(CL_INVALID_OPERATION, clSetDefaultDeviceCommandQueue(f->context, f->device, queue));
        cl_ulong time;
        IS(CL_INVALID_OPERATION, clGetHostTimer(f->device, &time));
        IS(CL_INVALID_OPERATION, clGetDeviceAndHostTimer(f->device, &time, &time));
    }
    OK(clFlush(queue));
    OK(clFinish(queue));
    OK(clReleaseCommandQueue(queue));
}

/* What the device does not have answers as the specification says. */
static void absent_things(void **state) {
    struct fixture *f = *state;
    cl_int code;
    if (!f->is_heddle)
        return;
    REFUSED(CL_INVALID_OPERATION, clCreatePipe(f->context, 0, 4, 4, NULL, &code));
    cl_mem buffer = fixture_buffer(f, 64);
    char bytes[64];
    IS(CL_INVALID_MEM_OBJECT, clGetPipeInfo(buffer, CL_PIPE_PACKET_SIZE, 0, NULL, NULL));
    IS(CL_INVALID_OPERATION, clEnqueueNativeKernel(f->queue, (void(CL_CALLBACK *)(void *))(uintptr_t)&bytes, NULL, 0, 0,
                                                   NULL, NULL, 0, NULL, NULL));
    OK(clReleaseMemObject(buffer));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(platforms),
        cmocka_unit_test(devices),
        cmocka_unit_test(device_limits),
        cmocka_unit_test(device_extensions),
        cmocka_unit_test(compiler_knows_extensions),
        cmocka_unit_test(device_adds_floats),
        cmocka_unit_test(device_answers_everything),
        cmocka_unit_test(contexts),
        cmocka_unit_test(contexts_outlive_their_handle),
        cmocka_unit_test(queues),
        cmocka_unit_test(absent_things),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
