// SPDX-License-Identifier: Apache-2.0
// link: -lcublas blas_old.cpp
// What heddle cc has of cuBLAS, against loops on the host: steps that are not 1, both signs, transposed or not, sizes beside the tiles,
// the types of elements. Numbers are such that sums are exact; where a half is rounded, the host rounds the same sum.
#include "check.h"
#include <algorithm>
#include <cstring>
#include <cublas_v2.h>
#include <vector>

template <class T> struct blas;
template <> struct blas<float> {
    static constexpr auto axpy = cublasSaxpy;
    static constexpr auto scal = cublasSscal;
    static constexpr auto copy = cublasScopy;
    static constexpr auto swap = cublasSswap;
    static constexpr auto dot = cublasSdot;
    static constexpr auto nrm2 = cublasSnrm2;
    static constexpr auto asum = cublasSasum;
    static constexpr auto amax = cublasIsamax;
    static constexpr auto ger = cublasSger;
    static constexpr auto gemv = cublasSgemv;
    static constexpr auto gemm = cublasSgemm;
    static constexpr auto batched = cublasSgemmStridedBatched;
    static constexpr auto listed = cublasSgemmBatched;
    static constexpr auto geam = cublasSgeam;
    static constexpr auto getrf = cublasSgetrfBatched;
};
template <> struct blas<double> {
    static constexpr auto axpy = cublasDaxpy;
    static constexpr auto scal = cublasDscal;
    static constexpr auto copy = cublasDcopy;
    static constexpr auto swap = cublasDswap;
    static constexpr auto dot = cublasDdot;
    static constexpr auto nrm2 = cublasDnrm2;
    static constexpr auto asum = cublasDasum;
    static constexpr auto amax = cublasIdamax;
    static constexpr auto ger = cublasDger;
    static constexpr auto gemv = cublasDgemv;
    static constexpr auto gemm = cublasDgemm;
    static constexpr auto batched = cublasDgemmStridedBatched;
    static constexpr auto listed = cublasDgemmBatched;
    static constexpr auto geam = cublasDgeam;
    static constexpr auto getrf = cublasDgetrfBatched;
};

static unsigned seed = 1;
static double number() { // small multiples of 1/8: sums of products are exact in float too
    seed = seed * 1664525u + 1013904223u;
    return static_cast<int>(seed >> 24) % 17 / 8.0 - 1;
}

template <class T> struct Values : Managed<T> {
    size_t count;
    explicit Values(size_t n) : Managed<T>(n), count(n) {
        for (size_t i = 0; i < n; i++)
            this->data[i] = static_cast<T>(number());
    }
    std::vector<T> kept() const { return std::vector<T>(this->data, this->data + count); }
};

static long long place(long long i, int n, int step) { return step > 0 ? i * step : (i - n + 1) * step; }

template <class T> static void vectors(cublasHandle_t handle) {
    using B = blas<T>;
    const int n = 300;
    const T alpha = T(1.5);
    const int steps[][2] = {{1, 1}, {2, 3}, {-1, 2}, {3, -2}};
    for (auto &step : steps) {
        Values<T> x(3 * n), y(3 * n);
        const auto x0 = x.kept(), y0 = y.kept();
        T dot = 0, expected = 0;
        EXPECT(B::axpy(handle, n, &alpha, x.data, step[0], y.data, step[1]) == CUBLAS_STATUS_SUCCESS);
        EXPECT(B::dot(handle, n, x.data, step[0], y.data, step[1], &dot) == CUBLAS_STATUS_SUCCESS);
        for (int i = 0; i < n; i++) {
            const T value = alpha * x0[place(i, n, step[0])] + y0[place(i, n, step[1])];
            EXPECT(y[place(i, n, step[1])] == value);
            expected += x0[place(i, n, step[0])] * value;
        }
        EXPECT(dot == expected);
        EXPECT(B::swap(handle, n, x.data, step[0], y.data, step[1]) == CUBLAS_STATUS_SUCCESS);
        CHECK(cudaDeviceSynchronize());
        EXPECT(y[place(7, n, step[1])] == x0[place(7, n, step[0])]);
        EXPECT(B::copy(handle, n, x.data, step[0], y.data, step[1]) == CUBLAS_STATUS_SUCCESS);
        CHECK(cudaDeviceSynchronize());
        EXPECT(y[place(9, n, step[1])] == x[place(9, n, step[0])]);
    }
    Values<T> x(2 * n);
    const auto x0 = x.kept();
    T sum = 0, norm = 0, expected = 0, squares = 0;
    x[2 * 77] = -9, x[2 * 200] = 9;
    int largest = 0;
    EXPECT(B::amax(handle, n, x.data, 2, &largest) == CUBLAS_STATUS_SUCCESS && largest == 78);
    x[2 * 77] = x0[2 * 77], x[2 * 200] = x0[2 * 200];
    EXPECT(B::asum(handle, n, x.data, 2, &sum) == CUBLAS_STATUS_SUCCESS);
    EXPECT(B::nrm2(handle, n, x.data, 2, &norm) == CUBLAS_STATUS_SUCCESS);
    for (int i = 0; i < n; i++)
        expected += std::fabs(x0[2 * i]), squares += x0[2 * i] * x0[2 * i];
    EXPECT(sum == expected && std::fabs(norm - std::sqrt(squares)) <= 1e-6 * norm);
    Managed<T> device(2); // factors and results on the device
    device[0] = 2;
    EXPECT(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE) == CUBLAS_STATUS_SUCCESS);
    EXPECT(B::scal(handle, n, device.data, x.data, 2) == CUBLAS_STATUS_SUCCESS);
    EXPECT(B::asum(handle, n, x.data, 2, device.data + 1) == CUBLAS_STATUS_SUCCESS);
    CHECK(cudaDeviceSynchronize());
    EXPECT(device[1] == 2 * expected && x[1] == x0[1] && x[2] == 2 * x0[2]);
    EXPECT(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST) == CUBLAS_STATUS_SUCCESS);
}

template <class T> static void matrices(cublasHandle_t handle) {
    using B = blas<T>;
    const int m = 19, n = 33, k = 17, ld = 40, count = 2;
    const T alpha = T(0.5), beta = T(-2), nothing = 0;
    for (int how = 0; how < 4; how++) {
        const auto left = how & 1 ? CUBLAS_OP_T : CUBLAS_OP_N, right = how & 2 ? CUBLAS_OP_T : CUBLAS_OP_N;
        Values<T> a(ld * ld * count), b(ld * ld * count), c(ld * ld * count);
        const auto c0 = c.kept();
        EXPECT(B::batched(handle, left, right, m, n, k, &alpha, a.data, ld, ld * ld, b.data, ld, ld * ld, &beta, c.data, ld,
                          ld * ld, count) == CUBLAS_STATUS_SUCCESS);
        CHECK(cudaDeviceSynchronize());
        for (int z = 0; z < count; z++)
            for (int j = 0; j < ld; j++)
                for (int i = 0; i < ld; i++) {
                    const size_t at = i + j * ld + z * ld * ld;
                    T sum = 0;
                    for (int l = 0; l < k; l++)
                        sum += a[z * ld * ld + (how & 1 ? l + i * ld : i + l * ld)] *
                               b[z * ld * ld + (how & 2 ? j + l * ld : l + j * ld)];
                    EXPECT(c[at] == (i < m && j < n ? alpha * sum + beta * c0[at] : c0[at]));
                }
        c[0] = T(NAN); // is not looked at where beta is 0
        EXPECT(B::gemm(handle, left, right, m, n, k, &alpha, a.data, ld, b.data, ld, &nothing, c.data, ld) == 0);
        CHECK(cudaDeviceSynchronize());
        EXPECT(c[0] == c[0]);
        EXPECT(B::gemm(handle, left, right, m, n, k, &alpha, a.data, 1, b.data, ld, &beta, c.data, ld) ==
               CUBLAS_STATUS_INVALID_VALUE);
        Values<T> x(2 * ld), y(2 * ld);
        const auto y0 = y.kept();
        EXPECT(B::gemv(handle, left, m, n, &alpha, a.data, ld, x.data, 2, &beta, y.data, 1) == CUBLAS_STATUS_SUCCESS);
        CHECK(cudaDeviceSynchronize());
        for (int i = 0; i < (how & 1 ? n : m); i++) {
            T sum = 0;
            for (int j = 0; j < (how & 1 ? m : n); j++)
                sum += (how & 1 ? a[j + i * ld] : a[i + j * ld]) * x[2 * j];
            EXPECT(y[i] == alpha * sum + beta * y0[i]);
        }
        const auto a0 = a.kept();
        EXPECT(B::ger(handle, m, n, &alpha, x.data, 1, y.data, 1, a.data, ld) == CUBLAS_STATUS_SUCCESS);
        CHECK(cudaDeviceSynchronize());
        EXPECT(a[3 + 5 * ld] == a0[3 + 5 * ld] + alpha * x[3] * y[5]);
    }
}

// Sums of two matrices; decompositions, whose product must be the matrix with its rows in the new order.
template <class T> static void sums_and_factors(cublasHandle_t handle) {
    using B = blas<T>;
    const int m = 19, n = 33, ld = 40, count = 3, size = 18;
    const T alpha = T(0.5), beta = T(-2), nothing = 0;
    for (int how = 0; how < 4; how++) {
        const auto left = how & 1 ? CUBLAS_OP_T : CUBLAS_OP_N, right = how & 2 ? CUBLAS_OP_T : CUBLAS_OP_N;
        Values<T> a(ld * ld), b(ld * ld), c(ld * ld);
        const auto c0 = c.kept();
        EXPECT(B::geam(handle, left, right, m, n, &alpha, a.data, ld, &beta, b.data, ld, c.data, ld) == CUBLAS_STATUS_SUCCESS);
        CHECK(cudaDeviceSynchronize());
        for (int j = 0; j < ld; j++)
            for (int i = 0; i < ld; i++)
                EXPECT(c[i + j * ld] == (i < m && j < n ? alpha * a[how & 1 ? j + i * ld : i + j * ld] +
                                                              beta * b[how & 2 ? j + i * ld : i + j * ld]
                                                        : c0[i + j * ld]));
        EXPECT(B::geam(handle, left, right, m, n, &alpha, a.data, ld, &nothing, nullptr, ld, c.data, ld) == CUBLAS_STATUS_SUCCESS);
        CHECK(cudaDeviceSynchronize());
        EXPECT(c[3 + 5 * ld] == alpha * a[how & 1 ? 5 + 3 * ld : 3 + 5 * ld]);
    }
    EXPECT(B::geam(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, &alpha, nullptr, m - 1, &beta, nullptr, ld, nullptr, ld) ==
           CUBLAS_STATUS_INVALID_VALUE);
    Values<T> a(ld * ld * count);
    for (int i = 0; i < size; i++) // the last one is singular: its column 4 is 0
        a[2 * ld * ld + i + 4 * ld] = 0;
    const auto a0 = a.kept();
    Managed<T *> list(count);
    Managed<int> pivots(size * count), info(count);
    for (int i = 0; i < count; i++)
        list[i] = a.data + i * ld * ld;
    EXPECT(B::getrf(handle, size, list.data, ld, pivots.data, info.data, count) == CUBLAS_STATUS_SUCCESS);
    CHECK(cudaDeviceSynchronize());
    EXPECT(info[0] == 0 && info[1] == 0 && info[2] == 5);
    for (int z = 0; z < 2; z++) {
        std::vector<T> rows(a0.begin() + z * ld * ld, a0.begin() + (z + 1) * ld * ld);
        for (int i = 0; i < size; i++)
            for (int j = 0; j < size && pivots[z * size + i] != i + 1; j++)
                std::swap(rows[i + j * ld], rows[pivots[z * size + i] - 1 + j * ld]);
        for (int i = 0; i < size; i++)
            for (int j = 0; j < size; j++) {
                double sum = 0;
                for (int k = 0; k <= std::min(i, j); k++)
                    sum += (k == i ? 1.0 : double(a[z * ld * ld + i + k * ld])) * a[z * ld * ld + k + j * ld];
                EXPECT(std::fabs(sum - rows[i + j * ld]) < size * size * (sizeof(T) == 4 ? 6e-8 : 1.2e-16) * 4);
                EXPECT(i <= j || std::fabs(double(a[z * ld * ld + i + j * ld])) <= 1);
            }
    }
}

template <class T> static float as_float(T x) { return static_cast<float>(x); }
struct Brain { // bfloat16 by its bits, apart from cuda_bf16.h, which the library uses
    unsigned short bits;
    Brain() = default;
    Brain(double value) {
        const float x = static_cast<float>(value);
        unsigned all;
        memcpy(&all, &x, sizeof all);
        const unsigned rest = all & 0xffff, up = rest > 0x8000 || (rest == 0x8000 && (all >> 16 & 1));
        bits = static_cast<unsigned short>((all >> 16) + up);
    }
    operator float() const {
        const unsigned all = unsigned(bits) << 16;
        float x;
        memcpy(&x, &all, sizeof x);
        return x;
    }
};

// Products of all types that cublasGemmEx has, in batches.
template <class In, class Out, class Scale>
static void types(cublasHandle_t handle, cudaDataType in, cudaDataType out, cublasComputeType_t compute, double scale) {
    const int m = 17, n = 9, k = 21, ld = 24, count = 2, size = ld * ld;
    Managed<In> a(size * count), b(size * count);
    Managed<Out> c(size * count);
    std::vector<Out> c0(size * count);
    for (int i = 0; i < size * count; i++)
        a[i] = In(number() * scale), b[i] = In(number() * scale), c0[i] = c[i] = Out(number() * scale);
    const Scale alpha = Scale(2), beta = Scale(-1);
    EXPECT(cublasGemmStridedBatchedEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, m, n, k, &alpha, a.data, in, ld, size, b.data, in, ld, size, &beta,
                                      c.data, out, ld, size, count, compute, CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_SUCCESS);
    CHECK(cudaDeviceSynchronize());
    for (int z = 0; z < count; z++)
        for (int i = 0; i < m; i++)
            for (int j = 0; j < n; j++) {
                const int at = z * size + i + j * ld;
                double sum = 0;
                for (int l = 0; l < k; l++)
                    sum += double(as_float(a[z * size + l + i * ld])) * as_float(b[z * size + l + j * ld]);
                EXPECT(as_float(c[at]) == as_float(Out(2 * sum - as_float(c0[at]))));
            }
    EXPECT(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &alpha, a.data, in, ld, b.data, in, ld, &beta, c.data, CUDA_C_32F, ld,
                        compute, CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_NOT_SUPPORTED);
}

static void other_types(cublasHandle_t handle) {
    types<float, float, float>(handle, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32, 1);
    types<double, double, double>(handle, CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F, 1);
    types<__half, __half, float>(handle, CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F, 1.125); // is rounded
    types<__half, __half, __half>(handle, CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_16F, 1);
    types<__half, float, float>(handle, CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F, 1);
    types<Brain, Brain, float>(handle, CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F, 1); // is rounded
    types<Brain, float, float>(handle, CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F, 1);
    types<signed char, int, int>(handle, CUDA_R_8I, CUDA_R_32I, CUBLAS_COMPUTE_32I, 64);
    Managed<__half> x(8), y(8), product(1);
    const __half one(1.0f), nothing(0.0f);
    for (int i = 0; i < 8; i++)
        x[i] = __half(i), y[i] = __half(i + 0.5f);
    EXPECT(cublasDotEx(handle, 4, x.data, CUDA_R_16F, 2, y.data, CUDA_R_16F, 1, product.data, CUDA_R_16F, CUDA_R_32F) == 0);
    EXPECT(float(product[0]) == 2 * 1.5f + 4 * 2.5f + 6 * 3.5f);
    EXPECT(cublasHgemm(handle, CUBLAS_OP_N, CUBLAS_OP_T, 2, 2, 1, &one, x.data + 1, 2, y.data + 1, 2, &nothing, x.data + 4, 2) == 0);
    CHECK(cudaDeviceSynchronize());
    EXPECT(float(x[4]) == 1.5f && float(x[5]) == 3 && float(x[6]) == 2.5f && float(x[7]) == 5);
    float alpha = 1;
    EXPECT(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &alpha, x.data, CUDA_R_64F, 1, y.data, CUDA_R_64F, 1, &alpha, x.data,
                        CUDA_R_64F, 1, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_NOT_SUPPORTED);
}

// The same product by lists of addresses as by a stride.
template <class T> static void lists(cublasHandle_t handle) {
    using B = blas<T>;
    const int m = 5, n = 7, k = 18, ld = 20, count = 3, size = ld * ld;
    const T alpha = T(1.5), beta = T(1);
    Values<T> a(size * count), b(size * count), c(size * count);
    Managed<T> expected(size * count);
    Managed<const T *> from_a(count), from_b(count);
    Managed<T *> to(count);
    for (int i = 0; i < size * count; i++)
        expected[i] = c[i];
    for (int i = 0; i < count; i++) // in another order
        from_a[i] = a.data + (2 - i) * size, from_b[i] = b.data + (2 - i) * size, to[i] = c.data + (2 - i) * size;
    EXPECT(B::batched(handle, CUBLAS_OP_N, CUBLAS_OP_T, m, n, k, &alpha, a.data, ld, size, b.data, ld, size, &beta, expected.data, ld, size,
                      count) == CUBLAS_STATUS_SUCCESS);
    EXPECT(B::listed(handle, CUBLAS_OP_N, CUBLAS_OP_T, m, n, k, &alpha, from_a.data, ld, from_b.data, ld, &beta, to.data, ld, count) ==
           CUBLAS_STATUS_SUCCESS);
    CHECK(cudaDeviceSynchronize());
    int others = 0;
    for (int i = 0; i < size * count; i++)
        others += c[i] != expected[i];
    EXPECT(others == 0);
}

bool old_functions(); // blas_old.cpp

int main() {
    cublasHandle_t handle;
    EXPECT(cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS);
    vectors<float>(handle);
    vectors<double>(handle);
    matrices<float>(handle);
    matrices<double>(handle);
    sums_and_factors<float>(handle);
    sums_and_factors<double>(handle);
    lists<float>(handle);
    lists<double>(handle);
    other_types(handle);
    EXPECT(old_functions());
    const double host[6] = {1, 2, 3, 4, 5, 6};
    double back[6] = {};
    Managed<double> device(12);
    EXPECT(cublasSetMatrix(2, 3, sizeof(double), host, 2, device.data, 4) == CUBLAS_STATUS_SUCCESS);
    EXPECT(cublasGetMatrix(2, 3, sizeof(double), device.data, 4, back, 2) == CUBLAS_STATUS_SUCCESS);
    EXPECT(device[5] == 4 && back[5] == 6);
    EXPECT(cublasSetVector(3, sizeof(double), host, 2, device.data, 1) == CUBLAS_STATUS_SUCCESS);
    EXPECT(cublasGetVector(3, sizeof(double), device.data, 1, back, 1) == CUBLAS_STATUS_SUCCESS && back[2] == 5);
    EXPECT(cublasDestroy(handle) == CUBLAS_STATUS_SUCCESS);
    return finish();
}
