/* SPDX-License-Identifier: Apache-2.0 */
/* A host program for tests/hostile: hands a source with options, or a binary, to the OpenCL device, and then does all that
 * one does with a program: asks about it, links it, makes its kernels, sets arguments, launches.
 *   host source FILE OPTIONS    host binary FILE OPTIONS    host sealed FILE OPTIONS: with a checksum that fits
 *   host save FILE: writes executable.bin, compiled.bin and library.bin
 * Exit status: 0 it ran, 2 the device refused, 3 a launch failed; refusals are printed. */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { BUFFER_BYTES = 4096, HEADER_BYTES = 128, BINARY_LIMIT = 16 << 20 };

struct host {
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    cl_mem buffer;
};

static char *read_file(const char *path, size_t *bytes) {
    FILE *file = fopen(path, "rb");
    char *data = malloc(BINARY_LIMIT + 1);
    if (!file || !data) {
        perror(path);
        exit(2);
    }
    *bytes = fread(data, 1, BINARY_LIMIT, file);
    data[*bytes] = 0;
    fclose(file);
    return data;
}

static int refused(const char *what, cl_int code) {
    fprintf(stderr, "%s: the device refuses with %d\n", what, code);
    return 2;
}

static void save(cl_program program, const char *path) {
    size_t bytes = 0;
    clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, NULL);
    unsigned char *binary = malloc(bytes + 1);
    clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL);
    FILE *file = fopen(path, "wb");
    if (!file || !bytes || fwrite(binary, 1, bytes, file) != bytes || fclose(file)) {
        fprintf(stderr, "%s: there is no binary\n", path);
        exit(2);
    }
    free(binary);
}

static int save_all(const struct host *host, const char *source) {
    cl_int code;
    cl_program built = clCreateProgramWithSource(host->context, 1, &source, NULL, &code);
    cl_program compiled = clCreateProgramWithSource(host->context, 1, &source, NULL, &code);
    if (clBuildProgram(built, 1, &host->device, "", NULL, NULL) ||
        clCompileProgram(compiled, 1, &host->device, "", 0, NULL, NULL, NULL, NULL))
        return refused("save", CL_BUILD_PROGRAM_FAILURE);
    cl_program library =
        clLinkProgram(host->context, 1, &host->device, "-create-library", 1, &compiled, NULL, NULL, &code);
    if (code)
        return refused("save", code);
    save(built, "executable.bin");
    save(compiled, "compiled.bin");
    save(library, "library.bin");
    clReleaseProgram(built);
    clReleaseProgram(compiled);
    clReleaseProgram(library);
    return 0;
}

/* The checksum in the header of a binary (src/opencl/binary.c) made to fit: who wrote the file can do that too. */
static void seal(char *data, size_t bytes) {
    char *space = bytes > HEADER_BYTES ? memchr(data, ' ', HEADER_BYTES) : NULL;
    if (space && space + 17 < data + HEADER_BYTES) {
        char sum[17];
        snprintf(sum, sizeof sum, "%016" PRIx64, (uint64_t)XXH64(data + HEADER_BYTES, bytes - HEADER_BYTES, 0));
        memcpy(space + 1, sum, 16);
    }
}

/* Sets what can be guessed of every argument, and launches. */
static int launch(const struct host *host, cl_kernel kernel) {
    cl_uint arguments = 0;
    clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof arguments, &arguments, NULL);
    for (cl_uint i = 0; i < arguments && i < 64; i++) {
        char type[256];
        const cl_ulong zero[16] = {0};
        clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_TYPE_NAME, sizeof type, type, NULL);
        cl_int code = clSetKernelArg(kernel, i, sizeof host->buffer, &host->buffer);
        for (size_t bytes = 1; code && bytes <= sizeof zero; bytes *= 2)
            code = clSetKernelArg(kernel, i, bytes, zero);
        if (code)
            clSetKernelArg(kernel, i, 256, NULL);
    }
    const size_t global = 64, local = 32;
    cl_int code = clEnqueueNDRangeKernel(host->queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL);
    code = code ? code : clFinish(host->queue);
    if (code)
        fprintf(stderr, "a launch ends with %d\n", code);
    return code ? 3 : 0;
}

static int launch_all(const struct host *host, cl_program program) {
    cl_kernel kernels[64];
    cl_uint count = 0;
    const cl_int code = clCreateKernelsInProgram(program, 64, kernels, &count);
    if (code)
        return refused("clCreateKernelsInProgram", code);
    int status = 0;
    for (cl_uint i = 0; i < count; i++) {
        status = status ? status : launch(host, kernels[i]);
        clReleaseKernel(kernels[i]);
    }
    return status;
}

/* Builds the program; what cannot be built, being a piece of one, is linked. */
static int use(const struct host *host, cl_program program, const char *options) {
    cl_int code = clBuildProgram(program, 1, &host->device, options, NULL, NULL);
    char *log = calloc(1, 1 << 20);
    clGetProgramBuildInfo(program, host->device, CL_PROGRAM_BUILD_LOG, 1 << 20, log, NULL);
    free(log);
    if (!code)
        return launch_all(host, program);
    cl_program linked = clLinkProgram(host->context, 1, &host->device, "", 1, &program, NULL, NULL, &code);
    const int status = code ? refused("clBuildProgram and clLinkProgram", code) : launch_all(host, linked);
    if (linked)
        clReleaseProgram(linked);
    return status;
}

static int run(const struct host *host, char **argv) {
    size_t bytes;
    cl_int code, status = 0;
    char *data = read_file(argv[2], &bytes);
    cl_program program = NULL;
    if (strcmp(argv[1], "save") == 0) {
        code = save_all(host, data);
        free(data);
        return code;
    }
    if (strcmp(argv[1], "source") == 0) {
        const char *source = data;
        program = clCreateProgramWithSource(host->context, 1, &source, &bytes, &code);
    } else {
        if (strcmp(argv[1], "sealed") == 0)
            seal(data, bytes);
        const unsigned char *binary = (const unsigned char *)data;
        program = clCreateProgramWithBinary(host->context, 1, &host->device, &bytes, &binary, &status, &code);
    }
    const int result = program ? use(host, program, argv[3]) : refused("the program", code);
    if (program)
        clReleaseProgram(program);
    free(data);
    return result;
}

int main(int argc, char **argv) {
    struct host host;
    cl_platform_id platform;
    cl_int code;
    if (argc < 3 || (argc < 4 && strcmp(argv[1], "save") != 0)) {
        fprintf(stderr, "usage: host source|binary|sealed FILE OPTIONS, host save FILE\n");
        return 2;
    }
    if (clGetPlatformIDs(1, &platform, NULL) || clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &host.device, NULL))
        return refused("the platform", CL_DEVICE_NOT_FOUND);
    host.context = clCreateContext(NULL, 1, &host.device, NULL, NULL, &code);
    host.queue = clCreateCommandQueueWithProperties(host.context, host.device, NULL, &code);
    host.buffer = clCreateBuffer(host.context, CL_MEM_READ_WRITE, BUFFER_BYTES, NULL, &code);
    const int status = code ? refused("the context", code) : run(&host, argv);
    clReleaseMemObject(host.buffer);
    clReleaseCommandQueue(host.queue);
    clReleaseContext(host.context);
    return status;
}
