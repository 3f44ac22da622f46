// SPDX-License-Identifier: Apache-2.0
// cuBLAS as far as cublas_v2.h has it: plain kernels, one for each function. `heddle cc -lcublas` compiles them into the program.
// Sums are in a fixed order, so results are the same in every run; they are not the bits of NVIDIA's library.
#include "../cublas_v2.h"
#include <cstdio>
#include <cstring>

struct cublasContext {
    cudaStream_t stream;
    cublasPointerMode_t mode;
    void *result; // 16 bytes of device memory for what reductions give
};

namespace {

enum { THREADS = 256, TILE = 16 };

cublasStatus_t status_of(cudaError_t error) {
    return error == cudaSuccess                ? CUBLAS_STATUS_SUCCESS
           : error == cudaErrorMemoryAllocation ? CUBLAS_STATUS_ALLOC_FAILED
                                               : CUBLAS_STATUS_EXECUTION_FAILED;
}

cublasStatus_t launched() { return status_of(cudaGetLastError()); }

unsigned blocks_of(long long n) { return static_cast<unsigned>((n + THREADS - 1) / THREADS); }

// Where element i of a vector is: with a negative step the last is first.
__host__ __device__ long long place(long long i, int n, int step) {
    return step >= 0 ? i * step : (i - n + 1) * static_cast<long long>(step);
}

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

template <class T> __global__ void axpy(int n, T alpha, const T *x, int incx, T *y, int incy) {
    const long long i = blockIdx.x * static_cast<long long>(THREADS) + threadIdx.x;
    if (i < n)
        y[place(i, n, incy)] += alpha * x[place(i, n, incx)];
}

template <class T> __global__ void scal(int n, T alpha, T *x, int incx) {
    const long long i = blockIdx.x * static_cast<long long>(THREADS) + threadIdx.x;
    if (i < n)
        x[i * incx] *= alpha;
}

template <class T> __global__ void copy(int n, const T *x, int incx, T *y, int incy) {
    const long long i = blockIdx.x * static_cast<long long>(THREADS) + threadIdx.x;
    if (i < n)
        y[place(i, n, incy)] = x[place(i, n, incx)];
}

template <class T> __global__ void swap(int n, T *x, int incx, T *y, int incy) {
    const long long i = blockIdx.x * static_cast<long long>(THREADS) + threadIdx.x;
    if (i >= n)
        return;
    T *const a = &x[place(i, n, incx)], *const b = &y[place(i, n, incy)];
    const T kept = *a;
    *a = *b, *b = kept;
}

template <class T> __device__ T magnitude(T x) { return x < 0 ? -x : x; }

// What is summed up over a vector or two.
struct products {
    template <class T> static __device__ T of(T x, T y) { return x * y; }
    template <class T> static __device__ T end(T sum) { return sum; }
};
struct squares {
    template <class T> static __device__ T of(T x, T) { return x * x; }
    template <class T> static __device__ T end(T sum) { return sqrt(sum); }
};
struct magnitudes {
    template <class T> static __device__ T of(T x, T) { return magnitude(x); }
    template <class T> static __device__ T end(T sum) { return sum; }
};

// One block: each thread sums every 256th element, then they sum up in a tree.
template <class What, class T> __global__ void sum(int n, const T *x, int incx, const T *y, int incy, T *result) {
    __shared__ T part[THREADS];
    T own = 0;
    for (long long i = threadIdx.x; i < n; i += THREADS)
        own += What::of(x[place(i, n, incx)], y[place(i, n, incy)]);
    part[threadIdx.x] = own;
    for (int half = THREADS / 2; half; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        *result = What::end(part[0]);
}

// The place, from 1 on, of the first element that is largest by magnitude.
template <class T> __global__ void amax(int n, const T *x, int incx, int *result) {
    __shared__ T most[THREADS];
    __shared__ int at[THREADS];
    T own = -1;
    int best = 0;
    for (long long i = threadIdx.x; i < n; i += THREADS)
        if (magnitude(x[i * incx]) > own)
            own = magnitude(x[i * incx]), best = static_cast<int>(i) + 1;
    most[threadIdx.x] = own, at[threadIdx.x] = best;
    for (int half = THREADS / 2; half; half /= 2) {
        __syncthreads();
        const int other = threadIdx.x + half;
        if (threadIdx.x < half && (most[other] > most[threadIdx.x] ||
                                   (most[other] == most[threadIdx.x] && at[other] && at[other] < at[threadIdx.x])))
            most[threadIdx.x] = most[other], at[threadIdx.x] = at[other];
    }
    if (threadIdx.x == 0)
        *result = at[0];
}

template <class T> __global__ void ger(int m, int n, T alpha, const T *x, int incx, const T *y, int incy, T *a, int lda) {
    const long long i = blockIdx.x * static_cast<long long>(THREADS) + threadIdx.x;
    if (i < m)
        for (int j = 0; j < n; j++)
            a[i + static_cast<long long>(j) * lda] += alpha * x[place(i, m, incx)] * y[place(j, n, incy)];
}

// y = alpha op(A) x + beta y, one thread for each element of y.
template <class T>
__global__ void gemv(bool transposed, int m, int n, T alpha, const T *a, int lda, const T *x, int incx, T beta, T *y, int incy) {
    const long long i = blockIdx.x * static_cast<long long>(THREADS) + threadIdx.x;
    const int rows = transposed ? n : m, columns = transposed ? m : n;
    if (i >= rows)
        return;
    T total = 0;
    for (long long j = 0; j < columns; j++)
        total += (transposed ? a[j + i * lda] : a[i + j * lda]) * x[place(j, columns, incx)];
    T *const out = &y[place(i, rows, incy)];
    *out = alpha * total + (beta == 0 ? 0 : beta * *out); // y may hold anything where beta is 0
}

template <class T> struct matrix {
    const T *data;
    int ld;
    bool transposed;
    long long stride;
};

// C = alpha op(A) op(B) + beta C, in tiles.
template <class T>
__global__ void gemm(int m, int n, int k, T alpha, matrix<T> a, matrix<T> b, T beta, T *c, int ldc, long long stride_c) {
    __shared__ T left[TILE][TILE + 1], right[TILE][TILE + 1];
    const int x = threadIdx.x, y = threadIdx.y;
    const long long row = blockIdx.x * static_cast<long long>(TILE) + x, column = blockIdx.y * static_cast<long long>(TILE) + y;
    const T *const from_a = a.data + blockIdx.z * a.stride, *const from_b = b.data + blockIdx.z * b.stride;
    T total = 0;
    for (int at = 0; at < k; at += TILE) {
        // neighbouring threads read neighbours of a column
        const long long a_row = blockIdx.x * static_cast<long long>(TILE) + (a.transposed ? y : x);
        const long long a_column = at + (a.transposed ? x : y);
        const long long b_row = at + (b.transposed ? y : x);
        const long long b_column = blockIdx.y * static_cast<long long>(TILE) + (b.transposed ? x : y);
        const T a_value = a_row < m && a_column < k
                              ? from_a[a.transposed ? a_column + a_row * a.ld : a_row + a_column * a.ld]
                              : 0;
        const T b_value = b_row < k && b_column < n
                              ? from_b[b.transposed ? b_column + b_row * b.ld : b_row + b_column * b.ld]
                              : 0;
        left[a.transposed ? y : x][a.transposed ? x : y] = a_value;
        right[b.transposed ? y : x][b.transposed ? x : y] = b_value;
        __syncthreads();
        for (int i = 0; i < TILE; i++)
            total += left[x][i] * right[i][y];
        __syncthreads();
    }
    if (row >= m || column >= n)
        return;
    T *const out = &c[row + column * ldc + blockIdx.z * stride_c];
    *out = alpha * total + (beta == 0 ? 0 : beta * *out);
}

// What a reduction gives goes where the caller wants it.
template <class T> cublasStatus_t deliver(cublasContext *handle, const T *device, T *result) {
    const cudaMemcpyKind kind =
        handle->mode == CUBLAS_POINTER_MODE_HOST ? cudaMemcpyDeviceToHost : cudaMemcpyDeviceToDevice;
    return status_of(cudaMemcpy(result, device, sizeof *result, kind));
}

template <class What, class T>
cublasStatus_t run_sum(cublasContext *handle, int n, const T *x, int incx, const T *y, int incy, T *result) {
    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!result)
        return CUBLAS_STATUS_INVALID_VALUE;
    T *const device = static_cast<T *>(handle->result);
    sum<What><<<1, THREADS, 0, handle->stream>>>(n > 0 ? n : 0, x, incx, y, incy, device);
    const cublasStatus_t status = launched();
    return status ? status : deliver(handle, device, result);
}

template <class T>
cublasStatus_t run_gemm(cublasContext *handle, int m, int n, int k, const T *alpha, matrix<T> a, matrix<T> b, const T *beta, T *c,
                        int ldc, long long stride_c, int count) {
    T by = 0, keeps = 0;
    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (m < 0 || n < 0 || k < 0 || count < 0 || ldc < (m > 1 ? m : 1) || a.ld < ((a.transposed ? k : m) > 1 ? (a.transposed ? k : m) : 1) ||
        b.ld < ((b.transposed ? n : k) > 1 ? (b.transposed ? n : k) : 1))
        return CUBLAS_STATUS_INVALID_VALUE;
    cublasStatus_t status = factor(handle, alpha, &by);
    if (!status)
        status = factor(handle, beta, &keeps);
    if (status || !m || !n || !count)
        return status;
    const dim3 grid((m + TILE - 1) / TILE, (n + TILE - 1) / TILE, count), block(TILE, TILE);
    gemm<<<grid, block, 0, handle->stream>>>(m, n, k, by, a, b, keeps, c, ldc, stride_c);
    return launched();
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

cublasStatus_t cublasSetMathMode(cublasHandle_t, cublasMath_t) { return CUBLAS_STATUS_SUCCESS; }

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
    cublasStatus_t cublas##X##gemm_v2(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, \
                                      int k, const T *alpha, const T *a, int lda, const T *b, int ldb, const T *beta, T *c, \
                                      int ldc) {                                                                       \
        return run_gemm(handle, m, n, k, alpha, matrix<T>{a, lda, transa != CUBLAS_OP_N, 0},                           \
                        matrix<T>{b, ldb, transb != CUBLAS_OP_N, 0}, beta, c, ldc, 0, 1);                              \
    }                                                                                                                  \
    cublasStatus_t cublas##X##gemmStridedBatched(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, \
                                                 int m, int n, int k, const T *alpha, const T *a, int lda,             \
                                                 long long int stride_a, const T *b, int ldb, long long int stride_b,  \
                                                 const T *beta, T *c, int ldc, long long int stride_c, int count) {    \
        return run_gemm(handle, m, n, k, alpha, matrix<T>{a, lda, transa != CUBLAS_OP_N, stride_a},                    \
                        matrix<T>{b, ldb, transb != CUBLAS_OP_N, stride_b}, beta, c, ldc, stride_c, count);            \
    }
FUNCTIONS(S, s, float)
FUNCTIONS(D, d, double)

} // extern "C"
