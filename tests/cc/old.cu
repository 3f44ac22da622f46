// SPDX-License-Identifier: Apache-2.0
// What suites of CUDA's first years use and CUDA 13 no longer has: cutil, cudaThreadSynchronize, clockRate, kernels by the old words.
#include "check.h"
#include <cuda.h>
#include <cutil_inline.h>
#include <device_launch_parameters.h>
#include <helper_cuda.h>
#include <helper_functions.h>
#include <math_constants.h>

#define BLOCK 32

__global__ void square(float *data, int count)
{
    const int i = __mul24(blockIdx.x, blockDim.x) + threadIdx.x;
    int nothing[1] = {0.0}; // is narrowed: a warning
    if (i < count)
        data[i] = data[i] * data[i] + (__any(i < 0) ? CUDART_PI_F : 0) + min(max(i, 3), 2u) - 2 + nothing[0];
}

int main(int argc, char **argv)
{
    enum { COUNT = 100 };
    float host[COUNT], reference[COUNT], *data = NULL;
    unsigned int timer = 0;
    struct cudaDeviceProp properties;
    CUT_DEVICE_INIT(argc, argv);
    CUT_SAFE_CALL(cutCreateTimer(&timer));
    CUT_SAFE_CALL(cutStartTimer(timer));
    EXPECT(findCudaDevice(argc, (const char **)argv) == 0);
    checkCudaErrors(cudaGetDeviceProperties(&properties, 0));
    EXPECT(properties.clockRate > 0 && properties.memoryClockRate > 0 && properties.warpSize == 32);
    EXPECT(properties.major == 7 && properties.multiProcessorCount > 0 && properties.maxThreadsDim[0] >= 512);
    for (int i = 0; i < COUNT; i++)
        host[i] = (float)i, reference[i] = (float)i * i;
    CUDA_SAFE_CALL(cudaMalloc((void **)&data, sizeof host));
    CUDA_SAFE_CALL(cudaMemcpy(data, host, sizeof host, cudaMemcpyHostToDevice));
    square<<<(COUNT + BLOCK - 1) / BLOCK, BLOCK>>>(data, COUNT);
    CUT_CHECK_ERROR("square");
    CUDA_SAFE_CALL(cudaThreadSynchronize());
    CUDA_SAFE_CALL(cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost));
    EXPECT(cutCompareL2fe(reference, host, COUNT, 1e-6f) && cutComparefe(reference, host, COUNT, 0.0f));
    CUT_SAFE_CALL(cutStopTimer(timer));
    EXPECT(cutGetTimerValue(timer) > 0);
    int number = 0;
    const char *words[] = {"program", "--size=12", "-quiet"};
    EXPECT(checkCmdLineFlag(3, words, "quiet") && !checkCmdLineFlag(3, words, "siz"));
    EXPECT(cutGetCmdLineArgumenti(3, words, "size", &number) && number == 12);
    CUDA_SAFE_CALL(cudaFree(data));
    return finish();
}
