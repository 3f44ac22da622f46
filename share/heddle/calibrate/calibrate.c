/* SPDX-License-Identifier: Apache-2.0 */
/* Measures the GPU at hand with OpenCL: cc -O2 calibrate.c -lOpenCL -lm -o calibrate; ./calibrate > card.csv, in the folder of kernels.h. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include "measure.h"

static cl_context context;
static cl_device_id device;
static cl_command_queue queue;
static cl_kernel kernels[KERNELS];
static cl_mem data, out;

static void check(cl_int error, const char *what) {
    if (error != CL_SUCCESS) {
        fprintf(stderr, "calibrate: %s: OpenCL error %d\n", what, error);
        exit(1);
    }
}

static char *read_kernels(void) {
    FILE *file = fopen("kernels.h", "r");
    char *text = (char *)calloc(1, 1 << 16);
    if (!file || !fread(text, 1, (1 << 16) - 1, file)) {
        fputs("calibrate: kernels.h is not in this folder\n", stderr);
        exit(1);
    }
    fclose(file);
    return text;
}

static void build(void) {
    const char *text = read_kernels();
    cl_int error;
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &error);
    check(error, "clCreateProgramWithSource");
    if (clBuildProgram(program, 1, &device, "", NULL, NULL) != CL_SUCCESS) {
        static char log[1 << 14];
        clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
        fprintf(stderr, "calibrate: the kernels do not compile:\n%s\n", log);
        exit(1);
    }
    for (int i = 0; i < KERNELS; i++) {
        kernels[i] = clCreateKernel(program, kernel_names[i], &error);
        check(error, kernel_names[i]);
    }
}

static void gpu_open(struct gpu_facts *f) {
    cl_platform_id platform;
    cl_int error;
    cl_uint number = 0;
    cl_ulong bytes = 0;
    size_t threads = 0;
    static char extensions[1 << 14];
    check(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &device, NULL), "clGetDeviceIDs");
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    check(error, "clCreateContext");
    queue = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &error);
    check(error, "clCreateCommandQueue");
    static char maker[128], name[128];
    clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof maker - 1, maker, NULL);
    clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name - 1, name, NULL);
    snprintf(f->name, sizeof f->name, "%s %s", maker, name);
    clGetDeviceInfo(device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof number, &number, NULL);
    f->sms = number;
    clGetDeviceInfo(device, CL_DEVICE_MAX_CLOCK_FREQUENCY, sizeof number, &number, NULL);
    f->clock_mhz = number;
    clGetDeviceInfo(device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof threads, &threads, NULL);
    f->block_threads = (unsigned)threads;
    clGetDeviceInfo(device, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, sizeof bytes, &bytes, NULL);
    f->l2_bytes = bytes;
    clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, sizeof extensions, extensions, NULL);
    f->has_doubles = strstr(extensions, "cl_khr_fp64") != NULL;
    build();
}

static void gpu_allocate(size_t bytes) {
    cl_int error;
    data = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, &error);
    check(error, "clCreateBuffer");
    out = clCreateBuffer(context, CL_MEM_READ_WRITE, 64 << 20, NULL, &error);
    check(error, "clCreateBuffer");
}

static void gpu_write(const unsigned *words, size_t first, size_t count) {
    check(clEnqueueWriteBuffer(queue, data, CL_TRUE, first * 4, count * 4, words, 0, NULL, NULL), "clEnqueueWriteBuffer");
}

static double gpu_run(enum kernel kernel, unsigned blocks, unsigned threads, unsigned n, unsigned a, unsigned b) {
    const unsigned numbers[] = {n, a, b};
    const size_t all = (size_t)blocks * threads, local = threads;
    cl_event event;
    cl_ulong begin = 0, end = 0;
    clSetKernelArg(kernels[kernel], 0, sizeof data, &data);
    clSetKernelArg(kernels[kernel], 1, sizeof out, &out);
    for (cl_uint i = 0; i < 3; i++)
        check(clSetKernelArg(kernels[kernel], 2 + i, sizeof numbers[i], &numbers[i]), "clSetKernelArg");
    check(clEnqueueNDRangeKernel(queue, kernels[kernel], 1, NULL, &all, &local, 0, NULL, &event), kernel_names[kernel]);
    check(clWaitForEvents(1, &event), kernel_names[kernel]);
    clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof begin, &begin, NULL);
    clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL);
    clReleaseEvent(event);
    return (double)(end - begin);
}

int main(int count, char **words) {
    measure(count, words);
    return 0;
}
