/* SPDX-License-Identifier: Apache-2.0 */
/* What a launch costs beyond the model: an empty kernel through the loader, and a copy of a large buffer.
 * usage: opencl_overhead [LAUNCHES]   prints microseconds per launch, on the clock and of all threads' processor time,
 * which other programs of the host do not change, and GB/s of write and read beside memcpy. */
#include "programs/program.h"
#include <time.h>

static double read_clock(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static double now(void) { return read_clock(CLOCK_MONOTONIC); }
static double used(void) { return read_clock(CLOCK_PROCESS_CPUTIME_ID); }

int main(int argc, char **argv) {
    const size_t bytes = (size_t)256 << 20;
    const double gigabytes = (double)bytes * 1e-9;
    const int launches = argc > 1 ? atoi(argv[1]) : 20000;
    struct gpu gpu = gpu_open(0);
    cl_program program = gpu_build(&gpu, "kernel void nothing(void) {}", "");
    cl_kernel kernel = gpu_kernel(program, "nothing");
    const size_t one = 1;
    for (int finish = 0; finish < 2; finish++) {
        const double start = now(), start_used = used();
        for (int i = 0; i < launches; i++) {
            CHECK(clEnqueueNDRangeKernel(gpu.queue, kernel, 1, NULL, &one, &one, 0, NULL, NULL));
            if (finish)
                CHECK(clFinish(gpu.queue));
        }
        CHECK(clFinish(gpu.queue));
        printf("launch %s: %.2f us, processor %.2f us\n", finish ? "and finish" : "alone",
               (now() - start) * 1e6 / launches, (used() - start_used) * 1e6 / launches);
    }
    char *host = malloc(bytes), *other = malloc(bytes);
    cl_mem buffer = gpu_buffer(&gpu, CL_MEM_READ_WRITE, bytes, NULL);
    memset(host, 1, bytes), memset(other, 2, bytes);
    for (int round = 0; round < 2; round++) { /* the first touches the memory */
        double times[4] = {now()};
        memcpy(other, host, bytes);
        times[1] = now();
        CHECK(clEnqueueWriteBuffer(gpu.queue, buffer, CL_TRUE, 0, bytes, host, 0, NULL, NULL));
        times[2] = now();
        CHECK(clEnqueueReadBuffer(gpu.queue, buffer, CL_TRUE, 0, bytes, host, 0, NULL, NULL));
        times[3] = now();
        if (round)
            printf("memcpy %.1f GB/s, write %.1f GB/s, read %.1f GB/s\n", gigabytes / (times[1] - times[0]),
                   gigabytes / (times[2] - times[1]), gigabytes / (times[3] - times[2]));
    }
    free(host);
    free(other);
    CHECK(clReleaseMemObject(buffer));
    CHECK(clReleaseKernel(kernel));
    CHECK(clReleaseProgram(program));
    gpu_close(&gpu);
    return 0;
}
