// SPDX-License-Identifier: Apache-2.0
// link: -lcublas
// What heddle cc has of cuBLAS, against loops on the host: steps that are not 1, both signs, transposed or not, sizes beside the tiles.
#include "check.h"
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

int main() {
    cublasHandle_t handle;
    EXPECT(cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS);
    vectors<float>(handle);
    vectors<double>(handle);
    matrices<float>(handle);
    matrices<double>(handle);
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
