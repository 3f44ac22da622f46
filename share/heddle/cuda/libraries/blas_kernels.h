// SPDX-License-Identifier: Apache-2.0
// Kernels of cublas.cu other than products of matrices: one for each function, plain. Sums are in a fixed order.
#pragma once
#include "blas.h"

namespace {

enum { THREADS = 256 };

inline unsigned blocks_of(long long n) { return static_cast<unsigned>((n + THREADS - 1) / THREADS); }

// Where element i of a vector is: with a negative step the last is first.
__host__ __device__ inline long long place(long long i, int n, int step) {
    return step >= 0 ? i * step : (i - n + 1) * static_cast<long long>(step);
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
template <class What, class T, class R> __global__ void sum(int n, const T *x, int incx, const T *y, int incy, R *result) {
    __shared__ widened<T> part[THREADS];
    widened<T> own = 0;
    for (long long i = threadIdx.x; i < n; i += THREADS)
        own += What::of(wide(x[place(i, n, incx)]), wide(y[place(i, n, incy)]));
    part[threadIdx.x] = own;
    for (int half = THREADS / 2; half; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        *result = static_cast<R>(What::end(part[0]));
}

// Of what the threads of a block found, the largest, of equals the first; threads with nothing have -1. All threads get its place.
template <class T> __device__ int first_of_largest(T own, int place_of_own) {
    __shared__ T most[THREADS];
    __shared__ int at[THREADS];
    most[threadIdx.x] = own, at[threadIdx.x] = place_of_own;
    for (int half = THREADS / 2; half; half /= 2) {
        __syncthreads();
        const int other = threadIdx.x + half;
        if (threadIdx.x < half &&
            (most[other] > most[threadIdx.x] || (most[other] == most[threadIdx.x] && at[other] < at[threadIdx.x])))
            most[threadIdx.x] = most[other], at[threadIdx.x] = at[other];
    }
    __syncthreads();
    return at[0];
}

// The place, from 1 on, of the first element that is largest by magnitude.
template <class T> __global__ void amax(int n, const T *x, int incx, int *result) {
    T own = -1;
    int best = 0;
    for (long long i = threadIdx.x; i < n; i += THREADS)
        if (magnitude(x[i * incx]) > own)
            own = magnitude(x[i * incx]), best = static_cast<int>(i) + 1;
    best = first_of_largest(own, best);
    if (threadIdx.x == 0)
        *result = best;
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

// C = alpha op(A) + beta op(B): a thread for each element. What has the factor 0 is not read.
template <class T>
__global__ void geam(bool a_turned, bool b_turned, int m, int n, T alpha, const T *a, int lda, T beta, const T *b, int ldb, T *c, int ldc) {
    const long long i = blockIdx.x * static_cast<long long>(THREADS) + threadIdx.x, row = i % m, column = i / m;
    if (column >= n)
        return;
    const T left = alpha == 0 ? 0 : alpha * a[a_turned ? column + row * lda : row + column * lda];
    const T right = beta == 0 ? 0 : beta * b[b_turned ? column + row * ldb : row + column * ldb];
    c[row + column * ldc] = left + right;
}

// A = P L U in place, a block for each matrix, column after column. Without a place for P rows stay where they are.
template <class T> __global__ void getrf(int n, T *const *list, int lda, int *pivots, int *info) {
    T *const a = list[blockIdx.x];
    int singular = 0;
    for (int j = 0; j < n; j++) {
        T *const column = a + static_cast<long long>(j) * lda;
        int pivot = j;
        if (pivots) {
            T own = -1;
            int best = n;
            for (int i = j + threadIdx.x; i < n; i += THREADS)
                if (magnitude(column[i]) > own)
                    own = magnitude(column[i]), best = i;
            best = first_of_largest(own, best);
            pivot = best < n ? best : j; // none: all are no numbers
            if (threadIdx.x == 0)
                pivots[static_cast<long long>(blockIdx.x) * n + j] = pivot + 1;
        }
        __syncthreads();
        for (int k = threadIdx.x; k < n && pivot != j; k += THREADS) {
            T *const x = &a[j + static_cast<long long>(k) * lda], *const y = &a[pivot + static_cast<long long>(k) * lda];
            const T kept = *x;
            *x = *y, *y = kept;
        }
        __syncthreads();
        const T divisor = column[j];
        if (divisor == 0) {
            singular = singular ? singular : j + 1;
            continue;
        }
        for (int i = j + 1 + threadIdx.x; i < n; i += THREADS)
            column[i] /= divisor;
        __syncthreads();
        const int left = n - j - 1;
        for (long long i = threadIdx.x; i < static_cast<long long>(left) * left; i += THREADS) {
            T *const other = column + (i / left + 1) * lda;
            other[j + 1 + i % left] -= column[j + 1 + i % left] * other[j];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0)
        info[blockIdx.x] = singular;
}

} // namespace
