/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of CUDA's old utility library that suites of its time use. */
#ifndef HEDDLE_CUDA_CUTIL_H
#define HEDDLE_CUDA_CUTIL_H
#pragma GCC system_header

#include "helper_cuda.h"
#include "helper_functions.h"

#define CUT_EXIT(argc, argv) exit(EXIT_SUCCESS)
#define CUT_DEVICE_INIT(...) (void)cudaSetDevice(0)
#define cutilDeviceInit(...) (void)cudaSetDevice(0)
#define CUDA_SAFE_CALL(call) checkCudaErrors(call)
#define CUDA_SAFE_CALL_NO_SYNC(call) checkCudaErrors(call)
#define cutilSafeCall(call) checkCudaErrors(call)
#define cutilSafeCallNoSync(call) checkCudaErrors(call)
#define cudaSafeCall(call) checkCudaErrors(call)
#define CUT_CHECK_ERROR(message) getLastCudaError(message)
#define cutilCheckMsg(message) getLastCudaError(message)
#define cutilDeviceSynchronize cudaDeviceSynchronize
#define cutilExit(argc, argv) exit(EXIT_SUCCESS)
#define CUT_SAFE_CALL(call) cutilCheckError(call)
#define cutilCheckError(call)                                                                                          \
    do {                                                                                                               \
        if (!(call)) {                                                                                                 \
            fprintf(stderr, "cutil error in %s:%d\n", __FILE__, __LINE__);                                             \
            exit(EXIT_FAILURE);                                                                                        \
        }                                                                                                              \
    } while (0)
#define CUT_THREADPROC void *
typedef int CUTBoolean;
enum { CUTFalse = 0, CUTTrue = 1 };
#define CUT_BANK_CHECKER(array, index) array[index]

/* Stop watches by number. */
inline StopWatchInterface *heddle_watch(unsigned int number)
{
    static StopWatchInterface watches[256];
    return &watches[number % 256];
}
inline CUTBoolean cutCreateTimer(unsigned int *timer)
{
    static unsigned int made;
    *timer = made++;
    heddle_watch(*timer)->reset();
    return CUTTrue;
}
inline CUTBoolean cutDeleteTimer(unsigned int) { return CUTTrue; }
inline CUTBoolean cutStartTimer(unsigned int timer) { return heddle_watch(timer)->start(), CUTTrue; }
inline CUTBoolean cutStopTimer(unsigned int timer) { return heddle_watch(timer)->stop(), CUTTrue; }
inline CUTBoolean cutResetTimer(unsigned int timer) { return heddle_watch(timer)->reset(), CUTTrue; }
inline float cutGetTimerValue(unsigned int timer) { return heddle_watch(timer)->getTime(); }
inline float cutGetAverageTimerValue(unsigned int timer) { return heddle_watch(timer)->getAverageTime(); }
/* Command lines. */
inline CUTBoolean cutCheckCmdLineFlag(int argc, const char **argv, const char *name)
{
    return checkCmdLineFlag(argc, argv, name);
}
inline CUTBoolean cutGetCmdLineArgumenti(int argc, const char **argv, const char *name, int *out)
{
    return getCmdLineArgumentValue(argc, argv, name, out);
}
inline CUTBoolean cutGetCmdLineArgumentf(int argc, const char **argv, const char *name, float *out)
{
    const bool is = checkCmdLineFlag(argc, argv, name);
    if (is)
        *out = getCmdLineArgumentFloat(argc, argv, name);
    return is;
}
inline CUTBoolean cutGetCmdLineArgumentstr(int argc, const char **argv, const char *name, char **out)
{
    return getCmdLineArgumentString(argc, argv, name, out);
}
inline char *cutFindFilePath(const char *name, const char *program) { return sdkFindFilePath(name, program); }
/* Comparisons. */
inline CUTBoolean cutComparef(const float *reference, const float *data, unsigned int count)
{
    return compareData(reference, data, count, 0.0f, 0.0f);
}
inline CUTBoolean cutComparefe(const float *reference, const float *data, unsigned int count, float epsilon)
{
    return compareData(reference, data, count, epsilon, 0.0f);
}
inline CUTBoolean cutComparei(const int *reference, const int *data, unsigned int count)
{
    return compareData(reference, data, count, 0.0f, 0.0f);
}
inline CUTBoolean cutCompareL2fe(const float *reference, const float *data, unsigned int count, float epsilon)
{
    return sdkCompareL2fe(reference, data, count, epsilon);
}
inline void cutFree(void *memory) { free(memory); }

#endif
