// SPDX-License-Identifier: Apache-2.0
// link: -lcuda
// The runtime and the driver API in one program: cuda.h, -lcuda, a kernel of the program launched by the driver.
#include <cuda.h>

#include "check.h"

__global__ void add(int *p, int n, int by) {
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n)
        p[i] += by;
}

#define SUCCEEDS(call) EXPECT((call) == CUDA_SUCCESS)

int main() {
    int n = 1000, by = 5, values[1000], others = 0, count = 0;
    CUdevice device;
    CUcontext context, made;
    CUdeviceptr memory;
    cudaFunction_t function;
    CUresult (*devices)(int *) = nullptr;
    SUCCEEDS(cuInit(0));
    SUCCEEDS(cuDeviceGet(&device, 0));
    SUCCEEDS(cuCtxCreate(&made, CU_CTX_SCHED_AUTO, device));
    SUCCEEDS(cuCtxDestroy(made));
    SUCCEEDS(cuDevicePrimaryCtxRetain(&context, device));
    SUCCEEDS(cuCtxSetCurrent(context));
    CHECK(cudaGetFuncBySymbol(&function, (const void *)add));
    SUCCEEDS(cuMemAlloc(&memory, sizeof values));
    SUCCEEDS(cuMemsetD32(memory, 7, (size_t)n));
    void *arguments[] = {&memory, &n, &by};
    SUCCEEDS(cuLaunchKernel(function, 8, 1, 1, 128, 1, 1, 0, NULL, arguments, NULL));
    CHECK(cudaMemcpy(values, (void *)memory, sizeof values, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        others += values[i] != 12;
    EXPECT(others == 0);
    CHECK(cudaFree((void *)memory));
    CHECK(cudaGetDriverEntryPoint("cuDeviceGetCount", (void **)&devices, cudaEnableDefault));
    SUCCEEDS(devices(&count));
    EXPECT(count == 1);
    return finish();
}
