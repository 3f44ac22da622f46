// SPDX-License-Identifier: Apache-2.0
// cuBLAS as far as cublas_v2.h has it: plain kernels (blas_kernels.h, blas.h). `heddle cc -lcublas` compiles them into the program.
// Sums are in a fixed order, so results are the same in every run; they are not the bits of NVIDIA's library.
#include "blas_kernels.h"
#include <cstdio>
#include <cstring>

struct cublasContext {
    cudaStream_t stream;
    cublasPointerMode_t mode;
    cublasMath_t math;
    void *result; // 16 bytes of device memory for what reductions give
};

namespace {

// A factor, which is the host's or the device's.
template <class T> cublasStatus_t factor(const cublasContext *handle, const T *from, T *to) {
    if (!from)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (handle->mode == CUBLAS_POINTER_MODE_HOST) {
        *to = *from;
        return CUBLAS_STATUS_SUCCESS;
    }
    return status_of(cudaMemcpy(to, from, sizeof *to, cudaMemcpyDeviceToHost));
}

// What a reduction gives goes where the caller wants it.
template <class T> cublasStatus_t deliver(cublasContext *handle, const T *device, T *result) {
    const cudaMemcpyKind kind =
        handle->mode == CUBLAS_POINTER_MODE_HOST ? cudaMemcpyDeviceToHost : cudaMemcpyDeviceToDevice;
    return status_of(cudaMemcpy(result, device, sizeof *result, kind));
}

template <class What, class T, class R>
cublasStatus_t run_sum(cublasContext *handle, int n, const T *x, int incx, const T *y, int incy, R *result) {
    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!result)
        return CUBLAS_STATUS_INVALID_VALUE;
    R *const device = static_cast<R *>(handle->result);
    sum<What><<<1, THREADS, 0, handle->stream>>>(n > 0 ? n : 0, x, incx, y, incy, device);
    const cublasStatus_t status = launched();
    return status ? status : deliver(handle, device, result);
}

// ---- products of matrices ----

template <class T> struct type_of;
template <> struct type_of<float> { static constexpr cudaDataType value = CUDA_R_32F; };
template <> struct type_of<double> { static constexpr cudaDataType value = CUDA_R_64F; };
template <> struct type_of<__half> { static constexpr cudaDataType value = CUDA_R_16F; };

// One matrix or several: a stride between them, or a list of pointers.
gemm_matrix matrix(const void *data, cudaDataType type, int ld, cublasOperation_t trans, long long stride = 0, bool is_list = false) {
    return {data, type, ld, stride, trans != CUBLAS_OP_N, is_list};
}

cublasStatus_t run_gemm(cublasHandle_t handle, gemm_call call, cudaDataType scale, const void *alpha, const void *beta) {
    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    const bool is_on_device = handle->mode == CUBLAS_POINTER_MODE_DEVICE;
    cublasStatus_t status = factor_of(scale, is_on_device, alpha, &call.alpha);
    if (!status)
        status = factor_of(scale, is_on_device, beta, &call.beta);
    call.d = call.c, call.stream = handle->stream;
    return status ? status : gemm_run(call);
}

// Whether factors of a type go with matrices of another.
bool goes_with(cudaDataType scale, cudaDataType in, cudaDataType out) {
    return scale == CUDA_R_64F   ? out == CUDA_R_64F
           : scale == CUDA_R_32I ? out == CUDA_R_32I
           : scale == CUDA_R_16F ? in == CUDA_R_16F && out == CUDA_R_16F
                                 : out != CUDA_R_64F && out != CUDA_R_32I;
}

cublasStatus_t run_gemm_ex(cublasHandle_t handle, const gemm_call &call, cublasComputeType_t compute, const void *alpha,
                           const void *beta) {
    cudaDataType scale;
    if (!scale_of(compute, &scale) || !goes_with(scale, call.a.type, call.c.type))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    return run_gemm(handle, call, scale, alpha, beta);
}

template <class T>
cublasStatus_t run_dot(cublasHandle_t handle, int n, const void *x, int incx, const void *y, int incy, void *result) {
    return run_sum<products>(handle, n, static_cast<const T *>(x), incx, static_cast<const T *>(y), incy, static_cast<T *>(result));
}

} // namespace

extern "C" {

cublasStatus_t cublasCreate_v2(cublasHandle_t *handle) {
    if (!handle)
        return CUBLAS_STATUS_INVALID_VALUE;
    *handle = new cublasContext();
    return status_of(cudaMalloc(&(*handle)->result, 16));
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    cudaFree(handle->result);
    delete handle;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetVersion_v2(cublasHandle_t, int *version) {
    *version = 120300;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
    handle->stream = stream;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetStream_v2(cublasHandle_t handle, cudaStream_t *stream) {
    *stream = handle->stream;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t mode) {
    handle->mode = mode;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t *mode) {
    *mode = handle->mode;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
    handle->math = mode;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t *mode) {
    *mode = handle->math;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void *, size_t) {
    return handle ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}

const char *cublasGetStatusString(cublasStatus_t status) {
    switch (status) {
    case CUBLAS_STATUS_SUCCESS: return "success";
    case CUBLAS_STATUS_NOT_INITIALIZED: return "the library was not initialized";
    case CUBLAS_STATUS_ALLOC_FAILED: return "the resource allocation failed";
    case CUBLAS_STATUS_INVALID_VALUE: return "an invalid value was used as an argument";
    default: return "an error of cuBLAS";
    }
}

cublasStatus_t cublasSetMatrix(int rows, int cols, int bytes, const void *a, int lda, void *b, int ldb) {
    return status_of(cudaMemcpy2D(b, static_cast<size_t>(ldb) * bytes, a, static_cast<size_t>(lda) * bytes,
                                  static_cast<size_t>(rows) * bytes, cols, cudaMemcpyHostToDevice));
}

cublasStatus_t cublasGetMatrix(int rows, int cols, int bytes, const void *a, int lda, void *b, int ldb) {
    return status_of(cudaMemcpy2D(b, static_cast<size_t>(ldb) * bytes, a, static_cast<size_t>(lda) * bytes,
                                  static_cast<size_t>(rows) * bytes, cols, cudaMemcpyDeviceToHost));
}

cublasStatus_t cublasSetVector(int n, int bytes, const void *x, int incx, void *y, int incy) {
    return cublasSetMatrix(1, n, bytes, x, incx, y, incy); // a row of a matrix
}

cublasStatus_t cublasGetVector(int n, int bytes, const void *x, int incx, void *y, int incy) {
    return cublasGetMatrix(1, n, bytes, x, incx, y, incy);
}

#define FUNCTIONS(X, x_, T)                                                                                               \
    cublasStatus_t cublas##X##axpy_v2(cublasHandle_t handle, int n, const T *alpha, const T *x, int incx, T *y, int incy) { \
        T by = 0;                                                                                                      \
        if (!handle)                                                                                                   \
            return CUBLAS_STATUS_NOT_INITIALIZED;                                                                      \
        const cublasStatus_t status = factor(handle, alpha, &by);                                                      \
        if (status || n <= 0)                                                                                          \
            return status;                                                                                             \
        axpy<<<blocks_of(n), THREADS, 0, handle->stream>>>(n, by, x, incx, y, incy);                                   \
        return launched();                                                                                             \
    }                                                                                                                  \
    cublasStatus_t cublas##X##scal_v2(cublasHandle_t handle, int n, const T *alpha, T *x, int incx) {                  \
        T by = 0;                                                                                                      \
        if (!handle)                                                                                                   \
            return CUBLAS_STATUS_NOT_INITIALIZED;                                                                      \
        const cublasStatus_t status = factor(handle, alpha, &by);                                                      \
        if (status || n <= 0 || incx <= 0)                                                                             \
            return status;                                                                                             \
        scal<<<blocks_of(n), THREADS, 0, handle->stream>>>(n, by, x, incx);                                            \
        return launched();                                                                                             \
    }                                                                                                                  \
    cublasStatus_t cublas##X##copy_v2(cublasHandle_t handle, int n, const T *x, int incx, T *y, int incy) {            \
        if (!handle)                                                                                                   \
            return CUBLAS_STATUS_NOT_INITIALIZED;                                                                      \
        if (n <= 0)                                                                                                    \
            return CUBLAS_STATUS_SUCCESS;                                                                              \
        copy<<<blocks_of(n), THREADS, 0, handle->stream>>>(n, x, incx, y, incy);                                       \
        return launched();                                                                                             \
    }                                                                                                                  \
    cublasStatus_t cublas##X##swap_v2(cublasHandle_t handle, int n, T *x, int incx, T *y, int incy) {                  \
        if (!handle)                                                                                                   \
            return CUBLAS_STATUS_NOT_INITIALIZED;                                                                      \
        if (n <= 0)                                                                                                    \
            return CUBLAS_STATUS_SUCCESS;                                                                              \
        swap<<<blocks_of(n), THREADS, 0, handle->stream>>>(n, x, incx, y, incy);                                       \
        return launched();                                                                                             \
    }                                                                                                                  \
    cublasStatus_t cublas##X##dot_v2(cublasHandle_t handle, int n, const T *x, int incx, const T *y, int incy, T *result) { \
        return run_sum<products>(handle, n, x, incx, y, incy, result);                                                 \
    }                                                                                                                  \
    cublasStatus_t cublas##X##nrm2_v2(cublasHandle_t handle, int n, const T *x, int incx, T *result) {                 \
        return run_sum<squares>(handle, incx > 0 ? n : 0, x, incx, x, incx, result);                                   \
    }                                                                                                                  \
    cublasStatus_t cublas##X##asum_v2(cublasHandle_t handle, int n, const T *x, int incx, T *result) {                 \
        return run_sum<magnitudes>(handle, incx > 0 ? n : 0, x, incx, x, incx, result);                                \
    }                                                                                                                  \
    cublasStatus_t cublasI##x_##amax_v2(cublasHandle_t handle, int n, const T *x, int incx, int *result) {              \
        if (!handle)                                                                                                   \
            return CUBLAS_STATUS_NOT_INITIALIZED;                                                                      \
        int *const device = static_cast<int *>(handle->result);                                                        \
        amax<<<1, THREADS, 0, handle->stream>>>(incx > 0 && n > 0 ? n : 0, x, incx, device);                           \
        const cublasStatus_t status = launched();                                                                      \
        return status ? status : deliver(handle, device, result);                                                      \
    }                                                                                                                  \
    cublasStatus_t cublas##X##ger_v2(cublasHandle_t handle, int m, int n, const T *alpha, const T *x, int incx, const T *y, \
                                     int incy, T *a, int lda) {                                                        \
        T by = 0;                                                                                                      \
        if (!handle)                                                                                                   \
            return CUBLAS_STATUS_NOT_INITIALIZED;                                                                      \
        if (m < 0 || n < 0 || lda < (m > 1 ? m : 1))                                                                   \
            return CUBLAS_STATUS_INVALID_VALUE;                                                                        \
        const cublasStatus_t status = factor(handle, alpha, &by);                                                      \
        if (status || !m || !n)                                                                                        \
            return status;                                                                                             \
        ger<<<blocks_of(m), THREADS, 0, handle->stream>>>(m, n, by, x, incx, y, incy, a, lda);                         \
        return launched();                                                                                             \
    }                                                                                                                  \
    cublasStatus_t cublas##X##gemv_v2(cublasHandle_t handle, cublasOperation_t trans, int m, int n, const T *alpha,    \
                                      const T *a, int lda, const T *x, int incx, const T *beta, T *y, int incy) {      \
        T by = 0, keeps = 0;                                                                                           \
        if (!handle)                                                                                                   \
            return CUBLAS_STATUS_NOT_INITIALIZED;                                                                      \
        if (m < 0 || n < 0 || lda < (m > 1 ? m : 1))                                                                   \
            return CUBLAS_STATUS_INVALID_VALUE;                                                                        \
        cublasStatus_t status = factor(handle, alpha, &by);                                                            \
        if (!status)                                                                                                   \
            status = factor(handle, beta, &keeps);                                                                     \
        if (status || !m || !n)                                                                                        \
            return status;                                                                                             \
        gemv<<<blocks_of(trans ? n : m), THREADS, 0, handle->stream>>>(trans != CUBLAS_OP_N, m, n, by, a, lda, x, incx, keeps, y, \
                                                                       incy);                                          \
        return launched();                                                                                             \
    }                                                                                                                  \
    cublasStatus_t cublas##X##geam(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,\
                                   const T *alpha, const T *a, int lda, const T *beta, const T *b, int ldb, T *c, int ldc) {\
        T by = 0, other = 0;                                                                                           \
        if (!handle)                                                                                                   \
            return CUBLAS_STATUS_NOT_INITIALIZED;                                                                      \
        const int a_rows = transa ? n : m, b_rows = transb ? n : m;                                                    \
        if (m < 0 || n < 0 || lda < (a_rows > 1 ? a_rows : 1) || ldb < (b_rows > 1 ? b_rows : 1) || ldc < (m > 1 ? m : 1))\
            return CUBLAS_STATUS_INVALID_VALUE;                                                                        \
        cublasStatus_t status = factor(handle, alpha, &by);                                                            \
        if (!status)                                                                                                   \
            status = factor(handle, beta, &other);                                                                     \
        if (status || !m || !n)                                                                                        \
            return status;                                                                                             \
        geam<<<blocks_of(static_cast<long long>(m) * n), THREADS, 0, handle->stream>>>(transa != CUBLAS_OP_N, transb != CUBLAS_OP_N,\
                                                                                       m, n, by, a, lda, other, b, ldb, c, ldc);\
        return launched();                                                                                             \
    }                                                                                                                  \
    cublasStatus_t cublas##X##getrfBatched(cublasHandle_t handle, int n, T *const *a, int lda, int *pivots, int *info, int count) {\
        if (!handle)                                                                                                   \
            return CUBLAS_STATUS_NOT_INITIALIZED;                                                                      \
        if (n < 0 || count < 0 || lda < (n > 1 ? n : 1))                                                               \
            return CUBLAS_STATUS_INVALID_VALUE;                                                                        \
        if (!count)                                                                                                    \
            return CUBLAS_STATUS_SUCCESS;                                                                              \
        getrf<<<count, THREADS, 0, handle->stream>>>(n, a, lda, pivots, info);                                         \
        return launched();                                                                                             \
    }
FUNCTIONS(S, s, float)
FUNCTIONS(D, d, double)

#define PRODUCTS(X, one, T)                                                                                            \
    cublasStatus_t cublas##X##one(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k,\
                                      const T *alpha, const T *a, int lda, const T *b, int ldb, const T *beta, T *c, int ldc) {\
        const cudaDataType type = type_of<T>::value;                                                                   \
        return run_gemm(handle, {m, n, k, 1, 0, 0, matrix(a, type, lda, transa), matrix(b, type, ldb, transb),         \
                                 matrix(c, type, ldc, CUBLAS_OP_N)}, type, alpha, beta);                               \
    }                                                                                                                  \
    cublasStatus_t cublas##X##gemmStridedBatched(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,\
                                                 int k, const T *alpha, const T *a, int lda, long long int stride_a, const T *b, int ldb,\
                                                 long long int stride_b, const T *beta, T *c, int ldc, long long int stride_c, int count) {\
        const cudaDataType type = type_of<T>::value;                                                                   \
        return run_gemm(handle, {m, n, k, count, 0, 0, matrix(a, type, lda, transa, stride_a), matrix(b, type, ldb, transb, stride_b),\
                                 matrix(c, type, ldc, CUBLAS_OP_N, stride_c)}, type, alpha, beta);                     \
    }                                                                                                                  \
    cublasStatus_t cublas##X##gemmBatched(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k,\
                                          const T *alpha, const T *const *a, int lda, const T *const *b, int ldb, const T *beta,\
                                          T *const *c, int ldc, int count) {                                           \
        const cudaDataType type = type_of<T>::value;                                                                   \
        return run_gemm(handle, {m, n, k, count, 0, 0, matrix(a, type, lda, transa, 0, true), matrix(b, type, ldb, transb, 0, true),\
                                 matrix(c, type, ldc, CUBLAS_OP_N, 0, true)}, type, alpha, beta);                      \
    }
PRODUCTS(S, gemm_v2, float)
PRODUCTS(D, gemm_v2, double)
PRODUCTS(H, gemm, __half)

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k,
                            const void *alpha, const void *a, cudaDataType a_type, int lda, const void *b, cudaDataType b_type, int ldb,
                            const void *beta, void *c, cudaDataType c_type, int ldc, cublasComputeType_t compute, cublasGemmAlgo_t) {
    return run_gemm_ex(handle,
                       {m, n, k, 1, 0, 0, matrix(a, a_type, lda, transa), matrix(b, b_type, ldb, transb),
                        matrix(c, c_type, ldc, CUBLAS_OP_N)},
                       compute, alpha, beta);
}

cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k,
                                          const void *alpha, const void *a, cudaDataType a_type, int lda, long long int stride_a,
                                          const void *b, cudaDataType b_type, int ldb, long long int stride_b, const void *beta, void *c,
                                          cudaDataType c_type, int ldc, long long int stride_c, int count, cublasComputeType_t compute,
                                          cublasGemmAlgo_t) {
    return run_gemm_ex(handle,
                       {m, n, k, count, 0, 0, matrix(a, a_type, lda, transa, stride_a), matrix(b, b_type, ldb, transb, stride_b),
                        matrix(c, c_type, ldc, CUBLAS_OP_N, stride_c)},
                       compute, alpha, beta);
}

cublasStatus_t cublasDotEx(cublasHandle_t handle, int n, const void *x, cudaDataType x_type, int incx, const void *y, cudaDataType y_type,
                           int incy, void *result, cudaDataType result_type, cudaDataType) {
    if (x_type != y_type || x_type != result_type)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    switch (x_type) {
    case CUDA_R_32F: return run_dot<float>(handle, n, x, incx, y, incy, result);
    case CUDA_R_64F: return run_dot<double>(handle, n, x, incx, y, incy, result);
    case CUDA_R_16F: return run_dot<_Float16>(handle, n, x, incx, y, incy, result);
    case CUDA_R_16BF: return run_dot<__nv_bfloat16>(handle, n, x, incx, y, incy, result);
    default: return CUBLAS_STATUS_NOT_SUPPORTED;
    }
}

// Programs that include cublas.h have one handle, and one error that is kept.
cublasHandle_t heddle_cublas_handle(void) {
    static cublasHandle_t handle;
    if (!handle)
        cublasCreate(&handle);
    return handle;
}

cublasStatus_t *heddle_cublas_error(void) {
    static cublasStatus_t error = CUBLAS_STATUS_SUCCESS;
    return &error;
}

} // extern "C"
