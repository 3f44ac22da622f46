/* SPDX-License-Identifier: Apache-2.0 */
/* A program driven by callbacks: each launch's end starts the next, the main thread only waits for the last. */
#include "program.h"
#include <pthread.h>

static const char *const source = "kernel void collatz(global uint *x, global uint *steps) {\n"
                                  "    size_t i = get_global_id(0);\n"
                                  "    if (x[i] == 1) return;\n"
                                  "    x[i] = x[i] & 1 ? 3 * x[i] + 1 : x[i] / 2;\n"
                                  "    steps[i]++;\n"
                                  "}\n";

enum { COUNT = 256, LAUNCHES = 150 };

struct job {
    struct gpu gpu;
    cl_kernel kernel;
    unsigned done;
    pthread_mutex_t lock;
    pthread_cond_t changed;
};

static void CL_CALLBACK on_end(cl_event event, cl_int status, void *user);

static void launch(struct job *job) {
    const size_t all = COUNT;
    cl_event event;
    CHECK(clEnqueueNDRangeKernel(job->gpu.queue, job->kernel, 1, NULL, &all, NULL, 0, NULL, &event));
    CHECK(clSetEventCallback(event, CL_COMPLETE, on_end, job));
    CHECK(clReleaseEvent(event));
    CHECK(clFlush(job->gpu.queue));
}

static void CL_CALLBACK on_end(cl_event event, cl_int status, void *user) {
    struct job *job = user;
    (void)event;
    CHECK(status);
    pthread_mutex_lock(&job->lock);
    const bool more = ++job->done < LAUNCHES;
    pthread_cond_signal(&job->changed);
    pthread_mutex_unlock(&job->lock);
    if (more)
        launch(job);
}

int main(void) {
    unsigned x[COUNT], steps[COUNT] = {0}, expected[COUNT] = {0};
    for (unsigned i = 0; i < COUNT; i++) {
        x[i] = i + 1;
        for (unsigned n = i + 1; n != 1; n = n & 1 ? 3 * n + 1 : n / 2)
            expected[i]++;
    }
    struct job job = {.gpu = gpu_open(0), .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    cl_program program = gpu_build(&job.gpu, source, "");
    job.kernel = gpu_kernel(program, "collatz");
    cl_mem a = gpu_buffer(&job.gpu, CL_MEM_READ_WRITE, sizeof x, x);
    cl_mem b = gpu_buffer(&job.gpu, CL_MEM_READ_WRITE, sizeof steps, steps);
    CHECK(clSetKernelArg(job.kernel, 0, sizeof a, &a));
    CHECK(clSetKernelArg(job.kernel, 1, sizeof b, &b));
    launch(&job);
    pthread_mutex_lock(&job.lock);
    while (job.done < LAUNCHES)
        pthread_cond_wait(&job.changed, &job.lock);
    pthread_mutex_unlock(&job.lock);
    CHECK(clEnqueueReadBuffer(job.gpu.queue, b, CL_TRUE, 0, sizeof steps, steps, 0, NULL, NULL));
    CHECK(clReleaseMemObject(a));
    CHECK(clReleaseMemObject(b));
    CHECK(clReleaseKernel(job.kernel));
    CHECK(clReleaseProgram(program));
    gpu_close(&job.gpu);
    return verdict(memcmp(steps, expected, sizeof steps) == 0);
}
