// SPDX-License-Identifier: Apache-2.0
// link: -lcufft
// What heddle cc has of cuFFT, against sums over all points on the host in double: sizes with and without small factors, complex and
// real, float and double, one to three dimensions, batches, strides, in place.
// Theory: the relative error of a transform of n points, in the norm of squares, is below a small factor times eps log2 n. The factor
// here is 1, of eps as the distance from 1 to the next number; a prime factor p that is summed up adds its sum's share, sqrt(p) eps.
#include "check.h"
#include <complex>
#include <cufft.h>
#include <limits>
#include <vector>

using Number = std::complex<double>;
using Signal = std::vector<Number>;

template <class T> struct fft;
template <> struct fft<float> {
    using complex = cufftComplex;
    static constexpr auto both = CUFFT_C2C, forward = CUFFT_R2C, backward = CUFFT_C2R;
    static constexpr auto run = cufftExecC2C;
    static constexpr auto run_forward = cufftExecR2C;
    static constexpr auto run_backward = cufftExecC2R;
};
template <> struct fft<double> {
    using complex = cufftDoubleComplex;
    static constexpr auto both = CUFFT_Z2Z, forward = CUFFT_D2Z, backward = CUFFT_Z2D;
    static constexpr auto run = cufftExecZ2Z;
    static constexpr auto run_forward = cufftExecD2Z;
    static constexpr auto run_backward = cufftExecZ2D;
};

static unsigned seed = 1;
static double number() { // a float, so that both types have the same
    seed = seed * 1664525u + 1013904223u;
    return static_cast<int>(seed >> 8) % 20001 / 16384.0 - 0.5;
}
static Signal signal(size_t count, bool is_real = false) {
    Signal x(count);
    for (auto &value : x)
        value = is_real ? Number(number()) : Number(number(), number());
    return x;
}

static double largest_factor(int n) {
    int most = 1;
    for (int factor = 2; n > 1; factor++)
        for (; n % factor == 0; n /= factor)
            most = factor;
    return most;
}
template <class T> static double tolerance(std::initializer_list<int> sizes) {
    double steps = 1;
    for (const int n : sizes)
        steps += std::log2(n) + (largest_factor(n) > 5 ? std::sqrt(largest_factor(n)) : 0);
    return std::numeric_limits<T>::epsilon() * steps;
}

// Sums along one dimension of an array: n points, `inner` apart.
static Signal sums(const Signal &x, int n, size_t inner, int sign = -1) {
    Signal roots(n), result(x.size());
    for (int i = 0; i < n; i++)
        roots[i] = std::polar(1.0, sign * 2 * std::acos(-1.0) * i / n);
    for (size_t at = 0; at < x.size(); at++) {
        const size_t first = at / (inner * n) * inner * n + at % inner, k = at / inner % n;
        for (size_t i = 0; i < static_cast<size_t>(n); i++)
            result[at] += x[first + i * inner] * roots[i * k % n];
    }
    return result;
}

static double squares(const Signal &x) {
    double sum = 0;
    for (const auto &value : x)
        sum += std::norm(value);
    return sum;
}
static double distance(Signal x, const Signal &expected) { // relative
    for (size_t i = 0; i < x.size(); i++)
        x[i] -= expected[i];
    return std::sqrt(squares(x) / squares(expected));
}

template <class T> struct Points : Managed<typename fft<T>::complex> {
    size_t count;
    explicit Points(size_t n) : Managed<typename fft<T>::complex>(n), count(n) {}
    explicit Points(const Signal &x) : Points(x.size()) {
        for (size_t i = 0; i < count; i++)
            this->data[i] = {static_cast<T>(x[i].real()), static_cast<T>(x[i].imag())};
    }
    T *reals() { return &this->data->x; }
    Signal values() const {
        Signal x(count);
        CHECK(cudaDeviceSynchronize());
        for (size_t i = 0; i < count; i++)
            x[i] = Number(this->data[i].x, this->data[i].y);
        return x;
    }
};

static double worst; // of errors, as a part of what is allowed
static bool within(double error, double limit) {
    worst = std::max(worst, error / limit);
    return error <= limit;
}

template <class T> static void one_dimension(int n, int batch) {
    const Signal x = signal(static_cast<size_t>(n) * batch), expected = sums(x, n, 1);
    Points<T> in(x), out(x.size());
    const double limit = tolerance<T>({n});
    cufftHandle plan;
    EXPECT(cufftPlan1d(&plan, n, fft<T>::both, batch) == CUFFT_SUCCESS);
    EXPECT(fft<T>::run(plan, in.data, out.data, CUFFT_FORWARD) == CUFFT_SUCCESS);
    const Signal spectrum = out.values();
    EXPECT(within(distance(spectrum, expected), limit));
    EXPECT(within(std::fabs(squares(spectrum) / (n * squares(x)) - 1), 2 * limit)); // Parseval
    EXPECT(in.values() == x);
    EXPECT(fft<T>::run(plan, out.data, out.data, CUFFT_INVERSE) == CUFFT_SUCCESS); // in place
    Signal back = out.values();
    for (auto &value : back)
        value /= n;
    EXPECT(within(distance(back, x), 2 * limit));
    EXPECT(cufftDestroy(plan) == CUFFT_SUCCESS);
}

template <class T> static void real(int n, int batch) {
    const Signal x = signal(static_cast<size_t>(n) * batch, true), expected = sums(x, n, 1);
    const int half = n / 2 + 1;
    Points<T> out(static_cast<size_t>(half) * batch);
    Managed<T> in(x.size());
    for (size_t i = 0; i < x.size(); i++)
        in[i] = static_cast<T>(x[i].real());
    cufftHandle forward, backward;
    EXPECT(cufftPlan1d(&forward, n, fft<T>::forward, batch) == CUFFT_SUCCESS);
    EXPECT(cufftPlan1d(&backward, n, fft<T>::backward, batch) == CUFFT_SUCCESS);
    EXPECT(fft<T>::run_forward(forward, in.data, out.data) == CUFFT_SUCCESS);
    Signal first;
    for (int b = 0; b < batch; b++)
        first.insert(first.end(), expected.begin() + b * n, expected.begin() + b * n + half);
    EXPECT(within(distance(out.values(), first), tolerance<T>({n})));
    EXPECT(fft<T>::run_backward(backward, out.data, in.data) == CUFFT_SUCCESS);
    CHECK(cudaDeviceSynchronize());
    Signal back(x.size());
    for (size_t i = 0; i < x.size(); i++)
        back[i] = in[i] / static_cast<double>(n);
    EXPECT(within(distance(back, x), 2 * tolerance<T>({n})));
    EXPECT(cufftDestroy(forward) == CUFFT_SUCCESS && cufftDestroy(backward) == CUFFT_SUCCESS);
}

template <class T> static void more_dimensions(int nx, int ny, int nz) {
    const Signal x = signal(static_cast<size_t>(nx) * ny * nz);
    const Signal expected = sums(sums(sums(x, nz, 1), ny, nz), nx, static_cast<size_t>(nz) * ny);
    const double limit = tolerance<T>({nx, ny, nz});
    Points<T> in(x), out(x.size());
    cufftHandle plan;
    EXPECT((nx == 1 ? cufftPlan2d(&plan, ny, nz, fft<T>::both) : cufftPlan3d(&plan, nx, ny, nz, fft<T>::both)) == CUFFT_SUCCESS);
    EXPECT(fft<T>::run(plan, in.data, out.data, CUFFT_FORWARD) == CUFFT_SUCCESS);
    EXPECT(within(distance(out.values(), expected), limit));
    EXPECT(cufftDestroy(plan) == CUFFT_SUCCESS);
    // Real, and in place: rows of reals have the room of the complex ones.
    const size_t half = nz / 2 + 1, rows = static_cast<size_t>(nx) * ny;
    Signal parts = x, firsts;
    for (auto &value : parts)
        value = value.real();
    const Signal spectrum = sums(sums(sums(parts, nz, 1), ny, nz), nx, static_cast<size_t>(nz) * ny);
    Points<T> both(rows * half);
    for (size_t row = 0; row < rows; row++)
        for (int z = 0; z < nz; z++)
            both.reals()[row * 2 * half + z] = static_cast<T>(parts[row * nz + z].real());
    for (size_t row = 0; row < rows; row++)
        firsts.insert(firsts.end(), spectrum.begin() + row * nz, spectrum.begin() + row * nz + half);
    cufftHandle forward, backward;
    int n[] = {nx, ny, nz};
    EXPECT(cufftPlanMany(&forward, 3, n, nullptr, 1, 0, nullptr, 1, 0, fft<T>::forward, 1) == CUFFT_SUCCESS);
    EXPECT(cufftPlan3d(&backward, nx, ny, nz, fft<T>::backward) == CUFFT_SUCCESS);
    EXPECT(fft<T>::run_forward(forward, both.reals(), both.data) == CUFFT_SUCCESS);
    EXPECT(within(distance(both.values(), firsts), limit));
    EXPECT(fft<T>::run_backward(backward, both.data, both.reals()) == CUFFT_SUCCESS);
    CHECK(cudaDeviceSynchronize());
    Signal back;
    for (size_t row = 0; row < rows; row++)
        for (int z = 0; z < nz; z++)
            back.push_back(both.reals()[row * 2 * half + z] / static_cast<double>(parts.size()));
    EXPECT(within(distance(back, parts), 2 * limit));
    EXPECT(cufftDestroy(forward) == CUFFT_SUCCESS && cufftDestroy(backward) == CUFFT_SUCCESS);
}

// Columns of a matrix: transforms side by side; and rows of a wider one.
template <class T> static void strides() {
    int n = 12, batch = 5, embed[2] = {12, 9}, sizes[2] = {3, 4};
    const Signal x = signal(static_cast<size_t>(n) * batch), expected = sums(x, n, batch);
    Points<T> in(x), out(x.size());
    cufftHandle plan;
    EXPECT(cufftPlanMany(&plan, 1, &n, embed, batch, 1, embed, batch, 1, fft<T>::both, batch) == CUFFT_SUCCESS);
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    EXPECT(cufftSetStream(plan, stream) == CUFFT_SUCCESS);
    EXPECT(fft<T>::run(plan, in.data, out.data, CUFFT_FORWARD) == CUFFT_SUCCESS);
    CHECK(cudaStreamSynchronize(stream));
    EXPECT(within(distance(out.values(), expected), tolerance<T>({n})));
    EXPECT(cufftDestroy(plan) == CUFFT_SUCCESS);
    CHECK(cudaStreamDestroy(stream));
    // 3 by 4 points, every second of rows of 9, two of them 60 apart; the result is dense.
    const Signal wide = signal(120);
    Signal dense, result;
    for (int b = 0; b < 2; b++)
        for (int row = 0; row < 3; row++)
            for (int column = 0; column < 4; column++)
                dense.push_back(wide[b * 60 + (row * 9 + column) * 2]);
    Points<T> from(wide), to(24);
    EXPECT(cufftPlanMany(&plan, 2, sizes, embed, 2, 60, sizes, 1, 12, fft<T>::both, 2) == CUFFT_SUCCESS);
    EXPECT(fft<T>::run(plan, from.data, to.data, CUFFT_INVERSE) == CUFFT_SUCCESS);
    EXPECT(within(distance(to.values(), sums(sums(dense, 4, 1, 1), 3, 4, 1)), tolerance<T>({3, 4})));
    EXPECT(cufftDestroy(plan) == CUFFT_SUCCESS);
}

static void refusals() {
    cufftHandle plan, other;
    size_t bytes = 0;
    int n[4] = {2, 2, 2, 2};
    Managed<cufftComplex> data(4);
    EXPECT(cufftPlan1d(&plan, 0, CUFFT_C2C, 1) == CUFFT_INVALID_SIZE);
    EXPECT(cufftPlan1d(&plan, 4, CUFFT_C2C, 0) == CUFFT_INVALID_SIZE);
    EXPECT(cufftPlan1d(&plan, 4, static_cast<cufftType>(1), 1) == CUFFT_INVALID_TYPE);
    EXPECT(cufftPlanMany(&plan, 4, n, nullptr, 1, 0, nullptr, 1, 0, CUFFT_C2C, 1) == CUFFT_NOT_SUPPORTED);
    EXPECT(cufftCreate(&plan) == CUFFT_SUCCESS);
    EXPECT(cufftExecC2C(plan, data.data, data.data, CUFFT_FORWARD) == CUFFT_INVALID_PLAN); // nothing is in it
    EXPECT(cufftMakePlan1d(plan, 4, CUFFT_C2C, 1, &bytes) == CUFFT_SUCCESS && bytes >= 4 * sizeof(cufftComplex));
    EXPECT(cufftPlan1d(&other, 4, CUFFT_C2C, 1) == CUFFT_SUCCESS && other != plan);
    EXPECT(cufftExecR2C(plan, &data.data->x, data.data) == CUFFT_INVALID_PLAN);
    EXPECT(cufftExecC2C(plan, data.data, data.data, 0) == CUFFT_INVALID_VALUE);
    EXPECT(cufftExecC2C(plan, nullptr, data.data, CUFFT_FORWARD) == CUFFT_INVALID_VALUE);
    EXPECT(cufftDestroy(plan) == CUFFT_SUCCESS && cufftDestroy(other) == CUFFT_SUCCESS);
    EXPECT(cufftDestroy(plan) == CUFFT_INVALID_PLAN && cufftDestroy(99) == CUFFT_INVALID_PLAN);
}

template <class T> static void all() {
    for (const int n : {100, 127, 128, 1024})
        one_dimension<T>(n, 1);
    for (const int n : {1, 2, 7, 30, 64})
        real<T>(n, 2);
    more_dimensions<T>(1, 6, 10);
    more_dimensions<T>(4, 3, 5);
    strides<T>();
}

int main() {
    for (int n = 1; n <= 64; n++)
        n % 2 ? one_dimension<float>(n, 2) : one_dimension<double>(n, 2);
    for (int n = 1; n <= 16; n++)
        n % 2 ? one_dimension<double>(n, 1) : one_dimension<float>(n, 1);
    all<float>();
    all<double>();
    refusals();
    printf("the largest error is %.2f of what is allowed\n", worst);
    return finish();
}
