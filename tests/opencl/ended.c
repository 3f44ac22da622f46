/* SPDX-License-Identifier: Apache-2.0 */
/* Launches three kernels, waits for them and ends with everything open, as it is told: exit, _exit, kill. Told to count, it
 * launches one after another without end, and says how many have ended. */
#include "programs/program.h"
#include <signal.h>
#include <unistd.h>

int main(int argc, char **argv) {
    struct gpu gpu = gpu_open(0);
    cl_program program =
        gpu_build(&gpu, "kernel void add(global int *p) { atomic_add(p + get_global_id(0) % 4, 1); }", "");
    cl_kernel kernel = gpu_kernel(program, "add");
    cl_mem buffer = gpu_buffer(&gpu, CL_MEM_READ_WRITE, 16, NULL);
    const size_t threads = 256;
    CHECK(clSetKernelArg(kernel, 0, sizeof buffer, &buffer));
    const char *how = argc > 1 ? argv[1] : "exit";
    for (int i = 1; strcmp(how, "count") == 0; i++) {
        CHECK(clEnqueueNDRangeKernel(gpu.queue, kernel, 1, NULL, &threads, NULL, 0, NULL, NULL));
        CHECK(clFinish(gpu.queue));
        printf("%d\n", i);
        fflush(stdout);
    }
    for (int i = 0; i < 3; i++)
        CHECK(clEnqueueNDRangeKernel(gpu.queue, kernel, 1, NULL, &threads, NULL, 0, NULL, NULL));
    CHECK(clFinish(gpu.queue));
    if (strcmp(how, "_exit") == 0)
        _exit(0);
    if (strcmp(how, "kill") == 0)
        kill(getpid(), SIGKILL);
    return 0;
}
