/* SPDX-License-Identifier: Apache-2.0 */
/* A program of many launches, for heddle exec --sample: rounds of a stencil, a stream and a reduction, and what they add up to.
 *
 * usage: sampling_program KERNELS.cl [NUMBER]
 * NUMBER is a file whose length is added to the launches, and which becomes a byte longer: a program that does not do the same each time. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 16384, ROUNDS = 40 };

static void check(cl_int error, const char *what) {
    if (error == CL_SUCCESS)
        return;
    fprintf(stderr, "%s: OpenCL error %d\n", what, (int)error);
    exit(1);
}

static char *read_all(const char *path, size_t *length) {
    FILE *file = fopen(path, "rb");
    char *text = calloc(1, 1 << 16);
    if (!file || !text) {
        fprintf(stderr, "%s cannot be read\n", path);
        exit(1);
    }
    *length = fread(text, 1, (1 << 16) - 1, file);
    fclose(file);
    return text;
}

/* How many launches more than the last time. */
static int grown(const char *path) {
    FILE *file = path ? fopen(path, "ab") : NULL;
    if (!file)
        return 0;
    fputc('.', file);
    const int length = (int)ftell(file);
    fclose(file);
    return length;
}

struct host {
    cl_command_queue queue;
    cl_mem x, y, z;
    cl_kernel scale, stencil, sums;
};

static void launch(const struct host *host, cl_kernel kernel, size_t threads) {
    const size_t block = 128;
    check(clEnqueueNDRangeKernel(host->queue, kernel, 1, NULL, &threads, &block, 0, NULL, NULL), "launch");
}

static void run_round(const struct host *host, int number) {
    const cl_int width = 64, count = COUNT, part = 4096 + 128 * (number % 7);
    const cl_float factor = 0.5f;
    const cl_mem to = number % 2 ? host->y : host->x, from = number % 2 ? host->x : host->y;
    check(clSetKernelArg(host->stencil, 0, sizeof to, &to) | clSetKernelArg(host->stencil, 1, sizeof from, &from) |
              clSetKernelArg(host->stencil, 2, sizeof width, &width) |
              clSetKernelArg(host->stencil, 3, sizeof count, &count),
          "stencil");
    launch(host, host->stencil, COUNT);
    check(clSetKernelArg(host->scale, 0, sizeof to, &to) | clSetKernelArg(host->scale, 1, sizeof from, &from) |
              clSetKernelArg(host->scale, 2, sizeof factor, &factor) |
              clSetKernelArg(host->scale, 3, sizeof part, &part),
          "scale");
    launch(host, host->scale, (size_t)part);
    check(clSetKernelArg(host->sums, 0, sizeof host->z, &host->z) | clSetKernelArg(host->sums, 1, sizeof to, &to) |
              clSetKernelArg(host->sums, 2, 128 * sizeof(cl_float), NULL) |
              clSetKernelArg(host->sums, 3, sizeof count, &count),
          "sums");
    launch(host, host->sums, COUNT);
}

int main(int count, char **words) {
    cl_platform_id platform;
    cl_device_id device;
    cl_int error;
    size_t length;
    static float numbers[COUNT];
    if (count < 2)
        return 2;
    char *text = read_all(words[1], &length);
    const char *source = text;
    check(clGetPlatformIDs(1, &platform, NULL), "platform");
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "device");
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    check(error, "context");
    struct host host = {.queue = clCreateCommandQueue(context, device, 0, &error)};
    check(error, "queue");
    cl_program program = clCreateProgramWithSource(context, 1, &source, &length, &error);
    check(error, "source");
    check(clBuildProgram(program, 1, &device, "", NULL, NULL), "build");
    host.scale = clCreateKernel(program, "scale", NULL), host.stencil = clCreateKernel(program, "stencil", NULL);
    host.sums = clCreateKernel(program, "sums", NULL);
    for (int i = 0; i < COUNT; i++)
        numbers[i] = (float)(i % 97);
    cl_mem *const buffers[] = {&host.x, &host.y, &host.z};
    for (unsigned i = 0; i < 3; i++) {
        *buffers[i] = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof numbers, NULL, &error);
        check(error, "buffer");
        check(clEnqueueWriteBuffer(host.queue, *buffers[i], CL_TRUE, 0, sizeof numbers, numbers, 0, NULL, NULL),
              "write");
    }
    const int rounds = ROUNDS + grown(words[2]);
    for (int i = 0; i < rounds; i++)
        run_round(&host, i);
    check(clEnqueueReadBuffer(host.queue, host.z, CL_TRUE, 0, sizeof numbers, numbers, 0, NULL, NULL), "read");
    double sum = 0;
    for (int i = 0; i < COUNT / 128; i++)
        sum += numbers[i];
    printf("%.6e\n", sum);
    for (unsigned i = 0; i < 3; i++)
        clReleaseMemObject(*buffers[i]);
    clReleaseKernel(host.scale), clReleaseKernel(host.stencil), clReleaseKernel(host.sums);
    clReleaseProgram(program), clReleaseCommandQueue(host.queue), clReleaseContext(context);
    free(text);
    return 0;
}
