/* SPDX-License-Identifier: Apache-2.0 */
/* What CUDA's samples share: errors that end the program, the choice of a device. */
#ifndef HEDDLE_CUDA_HELPER_CUDA_H
#define HEDDLE_CUDA_HELPER_CUDA_H
#pragma GCC system_header

#include <cuda_runtime.h>
#include "helper_string.h"
#include <stdio.h>
#include <stdlib.h>

inline const char *_cudaGetErrorEnum(cudaError_t error) { return cudaGetErrorName(error); }
template <class T> void check(T result, const char *call, const char *file, int line)
{
    if (!result)
        return;
    fprintf(stderr, "CUDA error at %s:%d code=%d(%s) \"%s\" \n", file, line, (int)result,
            cudaGetErrorName((cudaError_t)result), call);
    exit(EXIT_FAILURE);
}
#define checkCudaErrors(call) check((call), #call, __FILE__, __LINE__)
inline void __getLastCudaError(const char *message, const char *file, int line)
{
    const cudaError_t error = cudaGetLastError();
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "%s(%i) : getLastCudaError() CUDA error : %s : (%d) %s.\n", file, line, message, (int)error,
            cudaGetErrorString(error));
    exit(EXIT_FAILURE);
}
#define getLastCudaError(message) __getLastCudaError(message, __FILE__, __LINE__)
inline void __printLastCudaError(const char *message, const char *file, int line)
{
    const cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess)
        fprintf(stderr, "%s(%i) : %s : (%d) %s.\n", file, line, message, (int)error, cudaGetErrorString(error));
}
#define printLastCudaError(message) __printLastCudaError(message, __FILE__, __LINE__)
#ifndef MAX
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#endif
inline int ftoi(float value) { return (int)(value >= 0 ? value + 0.5f : value - 0.5f); }
inline int _ConvertSMVer2Cores(int major, int minor)
{
    return major == 2 ? (minor ? 48 : 32) : major == 3 ? 192 : major == 5 ? 128 : major == 6 ? (minor ? 128 : 64)
         : major == 7                     ? 64
         : major == 8 && !minor           ? 64
                                          : 128;
}
inline const char *_ConvertSMVer2ArchName(int, int) { return "Heddle"; }
inline int gpuDeviceInit(int device)
{
    int count = 0;
    checkCudaErrors(cudaGetDeviceCount(&count));
    if (device < 0)
        device = 0;
    if (device >= count)
        return -device;
    checkCudaErrors(cudaSetDevice(device));
    return device;
}
inline int gpuGetMaxGflopsDeviceId() { return 0; }
inline int findCudaDevice(int argc, const char **argv)
{
    struct cudaDeviceProp properties;
    const int device =
        gpuDeviceInit(checkCmdLineFlag(argc, argv, "device") ? getCmdLineArgumentInt(argc, argv, "device") : 0);
    if (device < 0) {
        fprintf(stderr, "there is no such device\n");
        exit(EXIT_FAILURE);
    }
    checkCudaErrors(cudaGetDeviceProperties(&properties, device));
    printf("GPU Device %d: \"%s\" with compute capability %d.%d\n\n", device, properties.name, properties.major,
           properties.minor);
    return device;
}
inline int findIntegratedGPU() { return -1; }
inline bool checkCudaCapabilities(int major, int minor)
{
    struct cudaDeviceProp properties;
    checkCudaErrors(cudaGetDeviceProperties(&properties, 0));
    return properties.major > major || (properties.major == major && properties.minor >= minor);
}

#endif
