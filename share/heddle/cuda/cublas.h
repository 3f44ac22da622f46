/* SPDX-License-Identifier: Apache-2.0 */
/* cuBLAS as it was before handles: factors and results by value, letters for operations, one handle for the whole program. What is
 * declared here is what sources of that time use most; a file includes this header or cublas_v2.h, not both. */
#ifndef HEDDLE_CUBLAS_OLD_H
#define HEDDLE_CUBLAS_OLD_H
#ifdef HEDDLE_CUBLAS_H
#error "heddle cc: a source includes cublas.h or cublas_v2.h, not both"
#endif
#define HEDDLE_CUBLAS_NO_NAMES /* functions with handles keep their own names */
#include "cublas_v2.h"

typedef cublasStatus_t cublasStatus;
#ifdef __cplusplus
extern "C" {
#endif
cublasHandle_t heddle_cublas_handle(void);
cublasStatus_t *heddle_cublas_error(void);
#ifdef __cplusplus
}
#endif

#define HEDDLE_OLD static inline __attribute__((unused))
HEDDLE_OLD cublasStatus cublasInit(void) { return heddle_cublas_handle() ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED; }
HEDDLE_OLD cublasStatus cublasShutdown(void) { return CUBLAS_STATUS_SUCCESS; }
HEDDLE_OLD cublasStatus cublasSetKernelStream(cudaStream_t stream) { return cublasSetStream_v2(heddle_cublas_handle(), stream); }
/* The first error since it was last asked for. */
HEDDLE_OLD cublasStatus cublasGetError(void)
{
    const cublasStatus status = *heddle_cublas_error();
    *heddle_cublas_error() = CUBLAS_STATUS_SUCCESS;
    return status;
}
HEDDLE_OLD void heddle_cublas_done(cublasStatus status)
{
    if (status != CUBLAS_STATUS_SUCCESS && *heddle_cublas_error() == CUBLAS_STATUS_SUCCESS)
        *heddle_cublas_error() = status;
}
HEDDLE_OLD cublasOperation_t heddle_cublas_letter(char letter)
{
    return letter == 'n' || letter == 'N' ? CUBLAS_OP_N : letter == 't' || letter == 'T' ? CUBLAS_OP_T : CUBLAS_OP_C;
}
HEDDLE_OLD cublasStatus cublasAlloc(int n, int bytes, void **device)
{
    return cudaMalloc(device, (size_t)n * (size_t)bytes) == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}
HEDDLE_OLD cublasStatus cublasFree(void *device)
{
    return cudaFree(device) == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INTERNAL_ERROR;
}

#define HEDDLE_OLD_FUNCTIONS(X, x_, T)                                                                                 \
    HEDDLE_OLD void cublas##X##axpy(int n, T alpha, const T *x, int incx, T *y, int incy)                              \
    {                                                                                                                  \
        heddle_cublas_done(cublas##X##axpy_v2(heddle_cublas_handle(), n, &alpha, x, incx, y, incy));                   \
    }                                                                                                                  \
    HEDDLE_OLD void cublas##X##scal(int n, T alpha, T *x, int incx)                                                    \
    {                                                                                                                  \
        heddle_cublas_done(cublas##X##scal_v2(heddle_cublas_handle(), n, &alpha, x, incx));                            \
    }                                                                                                                  \
    HEDDLE_OLD void cublas##X##copy(int n, const T *x, int incx, T *y, int incy)                                       \
    {                                                                                                                  \
        heddle_cublas_done(cublas##X##copy_v2(heddle_cublas_handle(), n, x, incx, y, incy));                           \
    }                                                                                                                  \
    HEDDLE_OLD T cublas##X##dot(int n, const T *x, int incx, const T *y, int incy)                                     \
    {                                                                                                                  \
        T result = 0;                                                                                                  \
        heddle_cublas_done(cublas##X##dot_v2(heddle_cublas_handle(), n, x, incx, y, incy, &result));                   \
        return result;                                                                                                 \
    }                                                                                                                  \
    HEDDLE_OLD T cublas##X##nrm2(int n, const T *x, int incx)                                                          \
    {                                                                                                                  \
        T result = 0;                                                                                                  \
        heddle_cublas_done(cublas##X##nrm2_v2(heddle_cublas_handle(), n, x, incx, &result));                           \
        return result;                                                                                                 \
    }                                                                                                                  \
    HEDDLE_OLD T cublas##X##asum(int n, const T *x, int incx)                                                          \
    {                                                                                                                  \
        T result = 0;                                                                                                  \
        heddle_cublas_done(cublas##X##asum_v2(heddle_cublas_handle(), n, x, incx, &result));                           \
        return result;                                                                                                 \
    }                                                                                                                  \
    HEDDLE_OLD int cublasI##x_##amax(int n, const T *x, int incx)                                                      \
    {                                                                                                                  \
        int result = 0;                                                                                                \
        heddle_cublas_done(cublasI##x_##amax_v2(heddle_cublas_handle(), n, x, incx, &result));                         \
        return result;                                                                                                 \
    }                                                                                                                  \
    HEDDLE_OLD void cublas##X##gemv(char trans, int m, int n, T alpha, const T *a, int lda, const T *x, int incx, T beta, T *y, \
                                    int incy)                                                                          \
    {                                                                                                                  \
        heddle_cublas_done(cublas##X##gemv_v2(heddle_cublas_handle(), heddle_cublas_letter(trans), m, n, &alpha, a, lda, x, incx, \
                                              &beta, y, incy));                                                        \
    }                                                                                                                  \
    HEDDLE_OLD void cublas##X##gemm(char transa, char transb, int m, int n, int k, T alpha, const T *a, int lda, const T *b, \
                                    int ldb, T beta, T *c, int ldc)                                                    \
    {                                                                                                                  \
        heddle_cublas_done(cublas##X##gemm_v2(heddle_cublas_handle(), heddle_cublas_letter(transa), heddle_cublas_letter(transb), \
                                              m, n, k, &alpha, a, lda, b, ldb, &beta, c, ldc));                        \
    }
HEDDLE_OLD_FUNCTIONS(S, s, float)
HEDDLE_OLD_FUNCTIONS(D, d, double)
#undef HEDDLE_OLD_FUNCTIONS
#undef HEDDLE_OLD

#endif
