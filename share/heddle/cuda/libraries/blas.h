// SPDX-License-Identifier: Apache-2.0
// What cublas.cu and cublasLt.cu share: the types of elements, and the product of matrices over all of them.
#pragma once
#include "../cublas_v2.h"
#include "../cuda_bf16.h"

namespace {

// ---- elements ----

// An element as it is in sums: halves of both kinds are floats there, bytes are ints.
__host__ __device__ inline float wide(float x) { return x; }
__host__ __device__ inline double wide(double x) { return x; }
__host__ __device__ inline float wide(_Float16 x) { return static_cast<float>(x); }
__host__ __device__ inline int wide(signed char x) { return x; }
__host__ __device__ inline int wide(int x) { return x; }
__host__ __device__ inline float wide(__nv_bfloat16 x) { return static_cast<float>(x); }
template <class T> using widened = decltype(wide(T()));

inline cublasStatus_t status_of(cudaError_t error) {
    return error == cudaSuccess                ? CUBLAS_STATUS_SUCCESS
           : error == cudaErrorMemoryAllocation ? CUBLAS_STATUS_ALLOC_FAILED
                                               : CUBLAS_STATUS_EXECUTION_FAILED;
}

inline cublasStatus_t launched() { return status_of(cudaGetLastError()); }

template <class T> cublasStatus_t fetch(bool is_on_device, const void *from, double *to) {
    T value;
    const cudaError_t error =
        is_on_device ? cudaMemcpy(&value, from, sizeof value, cudaMemcpyDeviceToHost) : (value = *static_cast<const T *>(from), cudaSuccess);
    *to = static_cast<double>(wide(value));
    return status_of(error);
}

// A factor of any type; doubles hold all of them.
inline cublasStatus_t factor_of(cudaDataType type, bool is_on_device, const void *from, double *to) {
    if (!from)
        return CUBLAS_STATUS_INVALID_VALUE;
    switch (type) {
    case CUDA_R_32F: return fetch<float>(is_on_device, from, to);
    case CUDA_R_64F: return fetch<double>(is_on_device, from, to);
    case CUDA_R_16F: return fetch<_Float16>(is_on_device, from, to);
    case CUDA_R_16BF: return fetch<__nv_bfloat16>(is_on_device, from, to);
    case CUDA_R_32I: return fetch<int>(is_on_device, from, to);
    default: return CUBLAS_STATUS_NOT_SUPPORTED;
    }
}

// The type of factors that goes with a type of computation; false: the type is not known.
inline bool scale_of(cublasComputeType_t compute, cudaDataType *scale) {
    switch (compute) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC: *scale = CUDA_R_16F; return true;
    case CUBLAS_COMPUTE_32F:
    case CUBLAS_COMPUTE_32F_PEDANTIC:
    case CUBLAS_COMPUTE_32F_FAST_16F:
    case CUBLAS_COMPUTE_32F_FAST_16BF:
    case CUBLAS_COMPUTE_32F_FAST_TF32: *scale = CUDA_R_32F; return true;
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC: *scale = CUDA_R_64F; return true;
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC: *scale = CUDA_R_32I; return true;
    default: return false;
    }
}

// ---- products of matrices ----

enum { TILE = 16 };
enum activation { AS_IT_IS, RELU, GELU };

struct gemm_matrix {
    const void *data; // where is_list: of pointers, one for each matrix of the batch
    cudaDataType type;
    long long ld, stride;
    bool is_transposed, is_list;
    template <class T> __device__ const T *of(long long batch) const {
        return is_list ? static_cast<const T *const *>(data)[batch] : static_cast<const T *>(data) + batch * stride;
    }
};

// D = f(alpha op(A) op(B) + beta C + bias), where bias has an element for each row.
struct gemm_call {
    long long m, n, k;
    int count;
    double alpha, beta;
    gemm_matrix a, b, c, d;
    const void *bias;
    long long bias_stride;
    activation function;
    cudaStream_t stream;
};

__device__ inline float activated(activation function, float x) {
    if (function == RELU)
        return x > 0 ? x : 0;
    if (function == GELU) // by the hyperbolic tangent
        return 0.5f * x * (1 + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)));
    return x;
}
__device__ inline double activated(activation function, double x) { return function == RELU && !(x > 0) ? 0 : x; }
__device__ inline int activated(activation, int x) { return x; }

// In tiles: neighbouring threads read neighbours of a column.
template <class In, class Out> __global__ void gemm(gemm_call call, widened<Out> alpha, widened<Out> beta, long long first) {
    using S = widened<Out>;
    __shared__ S left[TILE][TILE + 1], right[TILE][TILE + 1];
    const int x = threadIdx.x, y = threadIdx.y;
    const long long batch = first + blockIdx.z, top = blockIdx.x * static_cast<long long>(TILE),
                    side = blockIdx.y * static_cast<long long>(TILE), row = top + x, column = side + y;
    const bool a_turned = call.a.is_transposed, b_turned = call.b.is_transposed;
    const In *const from_a = call.a.of<In>(batch), *const from_b = call.b.of<In>(batch);
    S total = 0;
    for (long long at = 0; at < call.k; at += TILE) {
        const long long a_row = top + (a_turned ? y : x), a_column = at + (a_turned ? x : y);
        const long long b_row = at + (b_turned ? y : x), b_column = side + (b_turned ? x : y);
        const S a_value = a_row < call.m && a_column < call.k
                              ? wide(from_a[a_turned ? a_column + a_row * call.a.ld : a_row + a_column * call.a.ld])
                              : 0;
        const S b_value = b_row < call.k && b_column < call.n
                              ? wide(from_b[b_turned ? b_column + b_row * call.b.ld : b_row + b_column * call.b.ld])
                              : 0;
        left[a_turned ? y : x][a_turned ? x : y] = a_value;
        right[b_turned ? y : x][b_turned ? x : y] = b_value;
        __syncthreads();
        for (int i = 0; i < TILE; i++)
            total += left[x][i] * right[i][y];
        __syncthreads();
    }
    if (row >= call.m || column >= call.n)
        return;
    total *= alpha;
    if (beta != 0) // C may hold anything where beta is 0
        total += beta * wide(call.c.of<Out>(batch)[row + column * call.c.ld]);
    if (call.bias)
        total += wide(static_cast<const Out *>(call.bias)[row + batch * call.bias_stride]);
    const_cast<Out *>(call.d.of<Out>(batch))[row + column * call.d.ld] = static_cast<Out>(activated(call.function, total));
}

template <class In, class Out> cublasStatus_t gemm_launch(const gemm_call &call) {
    enum { MOST = 65535 }; // blocks in the third dimension of a grid
    for (int first = 0; first < call.count; first += MOST) {
        const int count = call.count - first < MOST ? call.count - first : MOST;
        const dim3 grid(static_cast<unsigned>((call.m + TILE - 1) / TILE), static_cast<unsigned>((call.n + TILE - 1) / TILE), count);
        gemm<In, Out><<<grid, dim3(TILE, TILE), 0, call.stream>>>(call, static_cast<widened<Out>>(call.alpha),
                                                                 static_cast<widened<Out>>(call.beta), first);
        const cublasStatus_t status = launched();
        if (status)
            return status;
    }
    return CUBLAS_STATUS_SUCCESS;
}

inline bool fits(const gemm_matrix &matrix, long long rows, long long columns) {
    const long long least = matrix.is_transposed ? columns : rows;
    return matrix.ld >= (least > 1 ? least : 1);
}

// Which product of types a call is; nullptr: none that is built.
inline cublasStatus_t (*gemm_of(const gemm_call &call))(const gemm_call &) {
    if (call.a.type != call.b.type || call.c.type != call.d.type)
        return nullptr;
    const cudaDataType in = call.a.type, out = call.d.type;
    return in == CUDA_R_32F && out == CUDA_R_32F     ? gemm_launch<float, float>
           : in == CUDA_R_64F && out == CUDA_R_64F   ? gemm_launch<double, double>
           : in == CUDA_R_16F && out == CUDA_R_16F   ? gemm_launch<_Float16, _Float16>
           : in == CUDA_R_16F && out == CUDA_R_32F   ? gemm_launch<_Float16, float>
           : in == CUDA_R_16BF && out == CUDA_R_16BF ? gemm_launch<__nv_bfloat16, __nv_bfloat16>
           : in == CUDA_R_16BF && out == CUDA_R_32F  ? gemm_launch<__nv_bfloat16, float>
           : in == CUDA_R_8I && out == CUDA_R_32I    ? gemm_launch<signed char, int>
                                                     : nullptr;
}

inline cublasStatus_t gemm_run(const gemm_call &call) {
    const auto run = gemm_of(call);
    if (call.m < 0 || call.n < 0 || call.k < 0 || call.count < 0 || !fits(call.a, call.m, call.k) || !fits(call.b, call.k, call.n) ||
        !fits(call.c, call.m, call.n) || !fits(call.d, call.m, call.n))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (!run)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    return call.m && call.n ? run(call) : CUBLAS_STATUS_SUCCESS;
}

} // namespace
