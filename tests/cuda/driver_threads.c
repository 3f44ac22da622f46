/* SPDX-License-Identifier: Apache-2.0 */
/* Sixteen threads of the driver API at once: each makes a context its own, loads a module, launches it, and gives it back. */
#include "driver.h"

#include <pthread.h>

enum { THREADS = 16, ROUNDS = 6, N = 256 };

static void *work(void *data) {
    const unsigned number = (unsigned)(uintptr_t)data;
    unsigned values[N], n = N;
    CUcontext context, none;
    CUmodule module;
    CUfunction function;
    CUdeviceptr memory;
    CUstream stream;
    OK(cuCtxGetCurrent(&none));
    IS(none == NULL, 1); /* what is current is the thread's own */
    IS(cuMemAlloc(&memory, 4), CUDA_ERROR_INVALID_CONTEXT);
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    OK(cuCtxSetCurrent(context));
    for (unsigned round = 0; round < ROUNDS; round++) {
        OK(cuModuleLoadData(&module, DRIVER_PTX));
        OK(cuModuleGetFunction(&function, module, "add_step"));
        OK(cuMemAlloc(&memory, sizeof values));
        OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
        OK(cuMemsetD32Async(memory, number, N, stream));
        void *arguments[] = {&memory, &n};
        OK(cuLaunchKernel(function, 2, 1, 1, 128, 1, 1, 0, stream, arguments, NULL));
        OK(cuStreamSynchronize(stream));
        OK(cuMemcpyDtoH(values, memory, sizeof values));
        for (unsigned i = 0; i < N; i++)
            IS(values[i], number + 3);
        OK(cuMemFree(memory));
        OK(cuStreamDestroy(stream));
        OK(cuModuleUnload(module));
        IS(cuLaunchKernel(function, 2, 1, 1, 128, 1, 1, 0, NULL, arguments, NULL), CUDA_ERROR_INVALID_HANDLE);
    }
    OK(cuDevicePrimaryCtxRelease(0));
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    CUcontext context;
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&context, 0)); /* so that no thread's release is the last */
    for (uintptr_t i = 0; i < THREADS; i++)
        IS(pthread_create(&threads[i], NULL, work, (void *)i), 0);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    OK(cuDevicePrimaryCtxRelease(0));
    puts("right");
    return 0;
}
