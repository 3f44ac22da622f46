/* SPDX-License-Identifier: Apache-2.0 */
/* Three queues, out of order among them: upload, compute and download of chunks, held together by events alone. */
#include "program.h"

static const char *const source =
    "kernel void work(global float *x) { size_t i = get_global_id(0); x[i] = x[i] * x[i] + 1; }";

int main(void) {
    enum { CHUNKS = 8, COUNT = 1024 };
    static float in[CHUNKS][COUNT], out[CHUNKS][COUNT];
    struct gpu gpu = gpu_open(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    cl_int code;
    cl_command_queue up = clCreateCommandQueue(gpu.context, gpu.device, 0, &code), down;
    CHECK(code);
    down = clCreateCommandQueue(gpu.context, gpu.device, 0, &code);
    CHECK(code);
    cl_program program = gpu_build(&gpu, source, "");
    cl_kernel kernel = gpu_kernel(program, "work");
    cl_mem buffers[CHUNKS];
    cl_event uploaded[CHUNKS], computed[CHUNKS], downloaded[CHUNKS];
    for (unsigned c = 0; c < CHUNKS; c++)
        for (unsigned i = 0; i < COUNT; i++)
            in[c][i] = (float)(c * 10 + i % 7);
    const size_t all = COUNT;
    for (unsigned c = 0; c < CHUNKS; c++) {
        buffers[c] = gpu_buffer(&gpu, CL_MEM_READ_WRITE, sizeof in[c], NULL);
        CHECK(clEnqueueWriteBuffer(up, buffers[c], CL_FALSE, 0, sizeof in[c], in[c], 0, NULL, &uploaded[c]));
        CHECK(clSetKernelArg(kernel, 0, sizeof buffers[c], &buffers[c]));
        CHECK(clEnqueueNDRangeKernel(gpu.queue, kernel, 1, NULL, &all, NULL, 1, &uploaded[c], &computed[c]));
        CHECK(
            clEnqueueReadBuffer(down, buffers[c], CL_FALSE, 0, sizeof out[c], out[c], 1, &computed[c], &downloaded[c]));
    }
    CHECK(clFlush(up));
    CHECK(clFlush(gpu.queue));
    CHECK(clFlush(down));
    CHECK(clWaitForEvents(CHUNKS, downloaded));
    bool right = true;
    for (unsigned c = 0; c < CHUNKS; c++) {
        for (unsigned i = 0; i < COUNT; i++)
            right &= out[c][i] == in[c][i] * in[c][i] + 1;
        CHECK(clReleaseEvent(uploaded[c]));
        CHECK(clReleaseEvent(computed[c]));
        CHECK(clReleaseEvent(downloaded[c]));
        CHECK(clReleaseMemObject(buffers[c]));
    }
    CHECK(clReleaseKernel(kernel));
    CHECK(clReleaseProgram(program));
    CHECK(clReleaseCommandQueue(up));
    CHECK(clReleaseCommandQueue(down));
    gpu_close(&gpu);
    return verdict(right);
}
