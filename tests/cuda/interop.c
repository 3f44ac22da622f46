/* SPDX-License-Identifier: Apache-2.0 */
/* A program that calls CUDA's runtime and its driver: one device, one context, one memory; streams, events, graphs and kernels of one are
 * the other's. */
#include "program.h"

#include <cuda.h>

enum { N = 300, BYTES = N * 4, HTOD = 1, DTOH = 2 };

static unsigned values[N];

static void expect(const void *device, unsigned add) {
    unsigned back[N];
    OK(cudaMemcpy(back, device, BYTES, DTOH));
    for (unsigned i = 0; i < N; i++)
        IS(back[i], i + add);
}

/* The runtime's memory, stream and event in a launch by the driver. */
static void driver_over_runtime(void *device, CUfunction function) {
    unsigned n = N;
    void *stream, *event, *arguments[] = {&device, &n};
    size_t bytes;
    CUdeviceptr start;
    unsigned type;
    OK(cudaStreamCreate(&stream));
    OK(cudaEventCreate(&event));
    OK(cuLaunchKernel(function, 3, 1, 1, 128, 1, 1, 0, stream, arguments, NULL));
    OK(cuEventRecord(event, stream));
    OK(cudaEventSynchronize(event));
    OK(cudaStreamSynchronize(stream));
    expect(device, 1);
    OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)(uintptr_t)device));
    IS(type, CU_MEMORYTYPE_DEVICE);
    OK(cuMemGetAddressRange(&start, &bytes, (CUdeviceptr)(uintptr_t)device + 4));
    IS(start == (CUdeviceptr)(uintptr_t)device && bytes == BYTES, 1);
    OK(cuStreamDestroy(stream));
    OK(cudaEventDestroy(event));
}

/* The driver's memory and kernel in launches by the runtime, and its module's variable. */
static void runtime_over_driver(CUmodule module, CUfunction function) {
    CUdeviceptr memory, variable;
    CUfunction own;
    CUstream stream;
    unsigned n = N, seven = 7;
    size_t bytes;
    OK(cuMemAlloc(&memory, BYTES));
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cudaMemcpyAsync((void *)(uintptr_t)memory, values, BYTES, HTOD, stream));
    void *arguments[] = {&memory, &n};
    OK(launch(add_step, 3, 128, arguments, stream)); /* a kernel that was registered */
    expect((void *)(uintptr_t)memory, 1);
    OK(cuModuleGetGlobal(&variable, &bytes, module, "step"));
    OK(cudaMemcpy((void *)(uintptr_t)variable, &seven, 4, HTOD));
    OK(cudaLaunchKernel(function, (struct dim3){3, 1, 1}, (struct dim3){128, 1, 1}, arguments, 0, stream));
    expect((void *)(uintptr_t)memory, 8);
    OK(cudaGetFuncBySymbol((void **)&own, address(add_step))); /* and one of the runtime's by the driver */
    OK(cuLaunchKernel(own, 3, 1, 1, 128, 1, 1, 0, stream, arguments, NULL));
    expect((void *)(uintptr_t)memory, 9);
    OK(cudaFree((void *)(uintptr_t)memory));
    IS(cuMemFree(memory), CUDA_ERROR_INVALID_VALUE);
    OK(cudaGetLastError()); /* the driver's errors are not the runtime's last one */
    OK(cudaStreamDestroy(stream));
}

static void check_entry_points(void) {
    CUresult (*count_devices)(int *) = NULL;
    void *found = NULL;
    int status = 9, number = 0;
    OK(cudaGetDriverEntryPoint("cuDeviceGetCount", &found, 0, &status));
    IS(status, 0);
    memcpy(&count_devices, &found, sizeof found);
    OK(count_devices(&number));
    IS(number, 1);
    OK(cudaGetDriverEntryPointByVersion("cuMemAlloc", &found, 12000, 0, &status));
    IS(found != NULL && status == 0, 1);
    OK(cudaGetDriverEntryPointByVersion("cuNone", &found, 12000, 0, &status));
    IS(found == NULL && status == 1, 1);
}

int main(void) {
    CUcontext context = NULL, primary;
    CUmodule module;
    CUfunction function;
    void *device;
    int active;
    unsigned flags;
    for (unsigned i = 0; i < N; i++)
        values[i] = i;
    OK(cudaMalloc(&device, BYTES));
    OK(cudaMemcpy(device, values, BYTES, HTOD));
    OK(cuCtxGetCurrent(&context)); /* the runtime made the primary context current */
    IS(context != NULL, 1);
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&primary, 0));
    IS(primary == context, 1);
    OK(cuModuleLoadData(&module, PTX));
    OK(cuModuleGetFunction(&function, module, "add_step"));
    driver_over_runtime(device, function);
    runtime_over_driver(module, function);
    check_entry_points();
    OK(cuDevicePrimaryCtxRelease(0)); /* which the runtime has still */
    OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
    IS(active, 1);
    expect(device, 1);
    OK(cudaDeviceReset());
    IS(cuModuleUnload(module), CUDA_ERROR_INVALID_HANDLE);
    puts("right");
    return 0;
}
