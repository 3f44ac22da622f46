// SPDX-License-Identifier: Apache-2.0
// cuFFT as far as cufft.h has it. `heddle cc -lcufft` compiles it into the program.
// A length is split into factors 4, 2, 3, 5 and other primes, with a pass over memory for each (Stockham's order, which needs no
// reversal of bits). A pass for another prime p sums p terms for each point. Real transforms are complex ones with a step before and
// after. Roots of one are computed in long double and rounded once.
#include "../cufft.h"
#include <cmath>
#include <mutex>
#include <vector>

namespace {

enum { THREADS = 256, BLOCK_OF_SUM = 16 };

template <class T> struct complex_of;
template <> struct complex_of<float> { using type = float2; };
template <> struct complex_of<double> { using type = double2; };
template <class T> using complex = typename complex_of<T>::type;

template <class C> __device__ C add(C a, C b) { return {a.x + b.x, a.y + b.y}; }
template <class C> __device__ C subtract(C a, C b) { return {a.x - b.x, a.y - b.y}; }
template <class C> __device__ C multiply(C a, C b) { return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; }
template <class C> __device__ C root(const C *roots, unsigned i, bool is_inverse) {
    const C value = roots[i];
    return {value.x, is_inverse ? -value.y : value.y};
}

// ---- where elements lie ----

// Points of a side of the transform: counts of its last two dimensions, and how far apart neighbours are.
struct layout {
    long long points[3];          // of each dimension, the last one fastest
    long long pitch[2], stride;   // pitch: elements of dimensions 1 and 2 as they lie
    long long distance;           // from one transform of the batch to the next
    __host__ __device__ long long all() const { return points[0] * points[1] * points[2]; }
    bool is_plain() const { // one element behind the other
        return stride == 1 && pitch[0] == points[1] && pitch[1] == points[2] && distance == all();
    }
    __device__ long long at(long long batch, long long x, long long y, long long z) const {
        return batch * distance + ((x * pitch[0] + y) * pitch[1] + z) * stride;
    }
    __device__ long long of(long long i) const {
        const long long z = i % points[2], y = i / points[2] % points[1], x = i / points[2] / points[1] % points[0];
        return at(i / all(), x, y, z);
    }
};

__device__ long long thread() { return blockIdx.x * static_cast<long long>(THREADS) + threadIdx.x; }

template <class C> __global__ void gather(long long count, layout from, const C *in, C *out) {
    if (thread() < count)
        out[thread()] = in[from.of(thread())];
}

template <class C> __global__ void scatter(long long count, layout to, const C *in, C *out) {
    if (thread() < count)
        out[to.of(thread())] = in[thread()];
}

template <class T> __global__ void gather_real(long long count, layout from, const T *in, complex<T> *out) {
    if (thread() < count)
        out[thread()] = {in[from.of(thread())], 0};
}

template <class T> __global__ void scatter_real(long long count, layout to, const complex<T> *in, T *out) {
    if (thread() < count)
        out[to.of(thread())] = in[thread()].x;
}

// The other half of a real signal's spectrum is the conjugate of this one, with all dimensions backwards.
template <class C> __global__ void gather_half(long long count, layout whole, layout from, const C *in, C *out) {
    const long long i = thread();
    if (i >= count)
        return;
    const long long *const n = whole.points, z = i % n[2], y = i / n[2] % n[1], x = i / n[2] / n[1] % n[0], batch = i / whole.all();
    if (z < from.points[2]) {
        out[i] = in[from.at(batch, x, y, z)];
        return;
    }
    const C value = in[from.at(batch, x ? n[0] - x : 0, y ? n[1] - y : 0, n[2] - z)];
    out[i] = {value.x, -value.y};
}

template <class C> __global__ void scatter_half(long long count, layout whole, layout to, const C *in, C *out) {
    const long long i = thread();
    if (i >= count)
        return;
    const long long *const n = to.points, z = i % n[2], y = i / n[2] % n[1], x = i / n[2] / n[1] % n[0], batch = i / to.all();
    out[to.at(batch, x, y, z)] = in[((batch * n[0] + x) * n[1] + y) * whole.points[2] + z];
}

// ---- passes ----

// Transforms of `n` points, `inner` elements apart. Before a pass, the transform of length `length` of points r, r + n / length, ...
// has its value k at k * (n / length) + r; after it the same holds for length * factor.
struct pass {
    long long threads;
    unsigned n, inner, length, factor;
    bool is_inverse;
};

// Transforms of P points, in registers; of the roots every `step`th is one of P.
template <int P, class C> __device__ void small_transform(C (&a)[P], const C *roots, unsigned step, bool is_inverse) {
    if constexpr (P == 2) {
        const C other = a[1];
        a[1] = subtract(a[0], other), a[0] = add(a[0], other);
    } else if constexpr (P == 4) {
        const C even = add(a[0], a[2]), odd = add(a[1], a[3]), left = subtract(a[0], a[2]), across = subtract(a[1], a[3]);
        const C turned = is_inverse ? C{-across.y, across.x} : C{across.y, -across.x}; // by a quarter
        a[0] = add(even, odd), a[2] = subtract(even, odd);
        a[1] = add(left, turned), a[3] = subtract(left, turned);
    } else {
        C result[P];
#pragma unroll
        for (int k = 0; k < P; k++) {
            result[k] = a[0];
#pragma unroll
            for (int v = 1; v < P; v++)
                result[k] = add(result[k], multiply(a[v], root(roots, v * k % P * step, is_inverse)));
        }
#pragma unroll
        for (int k = 0; k < P; k++)
            a[k] = result[k];
    }
}

// A thread for each transform of P points.
template <int P, class C> __global__ void transform(pass p, const C *roots, const C *from, C *to) {
    const long long i = thread();
    if (i >= p.threads)
        return;
    const unsigned groups = p.n / (p.length * P), inside = static_cast<unsigned>(i % p.inner);
    const unsigned j = static_cast<unsigned>(i / p.inner % (p.n / P)), r = j % groups, k = j / groups;
    const long long base = i / p.inner / (p.n / P) * p.n * p.inner + inside, inner = p.inner;
    C a[P];
#pragma unroll
    for (unsigned v = 0; v < P; v++) {
        a[v] = from[base + (k * P * groups + r + v * groups) * inner];
        if (v && k)
            a[v] = multiply(a[v], root(roots, v * k * groups, p.is_inverse));
    }
    small_transform<P>(a, roots, p.n / P, p.is_inverse);
#pragma unroll
    for (unsigned v = 0; v < P; v++)
        to[base + ((k + v * p.length) * groups + r) * inner] = a[v];
}

// Any factor: a thread for each point that results. Sums are summed in blocks, so that rounding does not grow with the factor.
template <class C> __global__ void transform_any(pass p, const C *roots, const C *from, C *to) {
    const long long i = thread();
    if (i >= p.threads)
        return;
    const unsigned longer = p.length * p.factor, groups = p.n / longer, inside = static_cast<unsigned>(i % p.inner);
    const unsigned j = static_cast<unsigned>(i / p.inner % p.n), r = j % groups, k = j / groups;
    const long long base = i / p.inner / p.n * p.n * p.inner + inside, inner = p.inner;
    unsigned turn = 0; // v * k modulo the longer length
    C sum{}, part{};
    for (unsigned v = 0; v < p.factor; v++) {
        const C value = from[base + (k % p.length * p.factor * groups + r + v * groups) * inner];
        part = add(part, multiply(value, root(roots, turn * groups, p.is_inverse)));
        if (v % BLOCK_OF_SUM == BLOCK_OF_SUM - 1)
            sum = add(sum, part), part = C{};
        turn = turn >= longer - k ? turn - (longer - k) : turn + k;
    }
    to[base + static_cast<long long>(j) * inner] = add(sum, part);
}

// ---- plans ----

struct plan {
    cufftType type;
    int rank, points[3], batch; // points are those of the last dimensions, those before have 1
    bool is_ready, is_given[2]; // of both sides: whether the caller said how elements lie
    layout given[2];
    cudaStream_t stream;
    void *roots[3], *work[2];
    size_t bytes;
};

std::mutex lock;
std::vector<plan *> plans; // a handle is a place, from 1 on

plan *find(cufftHandle handle) {
    const std::lock_guard<std::mutex> held(lock);
    return handle >= 1 && static_cast<size_t>(handle) <= plans.size() ? plans[handle - 1] : nullptr;
}

bool is_double(cufftType type) { return type == CUFFT_Z2Z || type == CUFFT_D2Z || type == CUFFT_Z2D; }
bool is_forward_real(cufftType type) { return type == CUFFT_R2C || type == CUFFT_D2Z; }
bool is_backward_real(cufftType type) { return type == CUFFT_C2R || type == CUFFT_Z2D; }

void release(plan *p) {
    for (void *memory : p->roots)
        cudaFree(memory);
    for (void *memory : p->work)
        cudaFree(memory);
    for (void *&memory : p->roots)
        memory = nullptr;
    p->work[0] = p->work[1] = nullptr, p->bytes = 0, p->is_ready = false;
}

unsigned next_factor(unsigned n) {
    if (n % 4 == 0)
        return 4;
    for (unsigned factor = 2; factor <= n / factor; factor++)
        if (n % factor == 0)
            return factor;
    return n;
}

template <class T> cudaError_t make_roots(int n, void **out) {
    std::vector<complex<T>> values(n);
    const long double turn = 2 * std::acos(-1.0L) / n;
    for (int i = 0; i < n; i++)
        values[i] = {static_cast<T>(std::cos(turn * i)), static_cast<T>(-std::sin(turn * i))};
    const cudaError_t error = cudaMalloc(out, n * sizeof(complex<T>));
    return error ? error : cudaMemcpy(*out, values.data(), n * sizeof(complex<T>), cudaMemcpyHostToDevice);
}

// How elements of a side lie where the caller did not say: one behind the other; in place, real rows have room for the complex ones.
layout basic(const plan *p, bool is_real, bool is_half, bool is_in_place) {
    const long long n[3] = {p->points[0], p->points[1], p->points[2]}, half = n[2] / 2 + 1;
    const long long pitch = is_real && is_in_place ? 2 * half : is_half ? half : n[2];
    return {{n[0], n[1], is_half ? half : n[2]}, {n[1], pitch}, 1, n[0] * n[1] * pitch};
}

layout given(const plan *p, const int *embed, int stride, int distance, bool is_half) {
    layout l = basic(p, false, is_half, false);
    l.pitch[1] = embed[p->rank - 1], l.pitch[0] = p->rank > 1 ? embed[p->rank - 2] : 1;
    l.stride = stride, l.distance = distance;
    return l;
}

cufftResult prepare(plan *p) {
    const size_t element = is_double(p->type) ? sizeof(double2) : sizeof(float2);
    const size_t bytes = element * p->points[0] * p->points[1] * p->points[2] * p->batch;
    cudaError_t error = cudaSuccess;
    for (int i = 0; i < 3 && !error; i++)
        error = is_double(p->type) ? make_roots<double>(p->points[i], &p->roots[i]) : make_roots<float>(p->points[i], &p->roots[i]);
    for (void *&memory : p->work)
        if (!error)
            error = cudaMalloc(&memory, bytes);
    if (error) {
        release(p);
        return error == cudaErrorMemoryAllocation ? CUFFT_ALLOC_FAILED : CUFFT_SETUP_FAILED;
    }
    p->bytes = 2 * bytes, p->is_ready = true;
    return CUFFT_SUCCESS;
}

// ---- a transform ----

template <class C> void run_pass(const pass &p, const C *roots, const C *from, C *to, cudaStream_t stream) {
    const unsigned blocks = static_cast<unsigned>((p.threads + THREADS - 1) / THREADS);
    switch (p.factor) {
    case 2: transform<2><<<blocks, THREADS, 0, stream>>>(p, roots, from, to); break;
    case 3: transform<3><<<blocks, THREADS, 0, stream>>>(p, roots, from, to); break;
    case 4: transform<4><<<blocks, THREADS, 0, stream>>>(p, roots, from, to); break;
    case 5: transform<5><<<blocks, THREADS, 0, stream>>>(p, roots, from, to); break;
    default: transform_any<<<blocks, THREADS, 0, stream>>>(p, roots, from, to);
    }
}

// All dimensions, from one buffer into the other; returns where the result is, which is `from` where all have one point.
template <class C> const C *run_passes(const plan *p, bool is_inverse, const C *from, long long count) {
    C *const work[2] = {static_cast<C *>(p->work[0]), static_cast<C *>(p->work[1])};
    unsigned inner = 1;
    for (int dimension = 2; dimension >= 0; dimension--) {
        const unsigned n = p->points[dimension];
        for (unsigned length = 1; length < n;) {
            const unsigned factor = next_factor(n / length);
            const long long threads = factor <= 5 ? count / factor : count;
            C *const to = from == work[0] ? work[1] : work[0];
            run_pass({threads, n, inner, length, factor, is_inverse}, static_cast<C *>(p->roots[dimension]), from, to, p->stream);
            from = to, length *= factor;
        }
        inner *= n;
    }
    return from;
}

template <class T> cufftResult run(cufftHandle handle, cufftType type, const void *in, void *out, int direction) {
    using C = complex<T>;
    const plan *const p = find(handle);
    if (!p || !p->is_ready || p->type != type)
        return CUFFT_INVALID_PLAN;
    if (!in || !out || (direction != CUFFT_FORWARD && direction != CUFFT_INVERSE))
        return CUFFT_INVALID_VALUE;
    const bool forward_real = is_forward_real(type), backward_real = is_backward_real(type);
    const layout whole = basic(p, false, false, false);
    const layout from = p->is_given[0] ? p->given[0] : basic(p, forward_real, backward_real, in == out);
    const layout to = p->is_given[1] ? p->given[1] : basic(p, backward_real, forward_real, in == out);
    const long long count = whole.all() * p->batch, ends = to.all() * p->batch;
    const unsigned blocks = static_cast<unsigned>((count + THREADS - 1) / THREADS);
    C *const work = static_cast<C *>(p->work[0]);
    const bool is_read_in_place = !forward_real && !backward_real && from.is_plain();
    if (forward_real)
        gather_real<T><<<blocks, THREADS, 0, p->stream>>>(count, from, static_cast<const T *>(in), work);
    else if (backward_real)
        gather_half<<<blocks, THREADS, 0, p->stream>>>(count, whole, from, static_cast<const C *>(in), work);
    else if (!is_read_in_place)
        gather<<<blocks, THREADS, 0, p->stream>>>(count, from, static_cast<const C *>(in), work);
    const C *const first = is_read_in_place ? static_cast<const C *>(in) : work;
    const C *const result = run_passes<C>(p, direction == CUFFT_INVERSE, first, count);
    if (backward_real)
        scatter_real<T><<<blocks, THREADS, 0, p->stream>>>(count, to, result, static_cast<T *>(out));
    else if (forward_real)
        scatter_half<<<static_cast<unsigned>((ends + THREADS - 1) / THREADS), THREADS, 0, p->stream>>>(ends, whole, to, result,
                                                                                                     static_cast<C *>(out));
    else
        scatter<<<blocks, THREADS, 0, p->stream>>>(count, to, result, static_cast<C *>(out));
    return cudaGetLastError() ? CUFFT_EXEC_FAILED : CUFFT_SUCCESS;
}

// A plan in one step: what cannot be made leaves no handle.
template <class Make> cufftResult plan_at_once(cufftHandle *handle, Make make) {
    const cufftResult created = cufftCreate(handle);
    if (created)
        return created;
    const cufftResult made = make(*handle);
    if (made) {
        cufftDestroy(*handle);
        *handle = 0;
    }
    return made;
}

} // namespace

extern "C" {

cufftResult cufftCreate(cufftHandle *handle) {
    if (!handle)
        return CUFFT_INVALID_VALUE;
    const std::lock_guard<std::mutex> held(lock);
    plans.push_back(new plan());
    *handle = static_cast<cufftHandle>(plans.size());
    return CUFFT_SUCCESS;
}

cufftResult cufftDestroy(cufftHandle handle) {
    plan *const p = find(handle);
    if (!p)
        return CUFFT_INVALID_PLAN;
    const std::lock_guard<std::mutex> held(lock);
    release(p);
    delete p;
    plans[handle - 1] = nullptr;
    return CUFFT_SUCCESS;
}

cufftResult cufftMakePlanMany(cufftHandle handle, int rank, int *n, int *inembed, int istride, int idist, int *onembed, int ostride,
                              int odist, cufftType type, int batch, size_t *work_bytes) {
    plan *const p = find(handle);
    if (!p || p->is_ready)
        return CUFFT_INVALID_PLAN;
    if (rank < 1 || rank > 3 || !n || batch < 1)
        return rank < 1 || !n ? CUFFT_INVALID_VALUE : rank > 3 ? CUFFT_NOT_SUPPORTED : CUFFT_INVALID_SIZE;
    if (type != CUFFT_C2C && type != CUFFT_Z2Z && !is_forward_real(type) && !is_backward_real(type))
        return CUFFT_INVALID_TYPE;
    p->type = type, p->rank = rank, p->batch = batch;
    p->points[0] = p->points[1] = 1;
    for (int i = 0; i < rank; i++) {
        if (n[i] < 1)
            return CUFFT_INVALID_SIZE;
        p->points[3 - rank + i] = n[i];
    }
    p->is_given[0] = inembed, p->is_given[1] = onembed;
    if (inembed)
        p->given[0] = given(p, inembed, istride, idist, is_backward_real(type));
    if (onembed)
        p->given[1] = given(p, onembed, ostride, odist, is_forward_real(type));
    const cufftResult result = prepare(p);
    if (work_bytes)
        *work_bytes = p->bytes;
    return result;
}

cufftResult cufftMakePlan1d(cufftHandle handle, int nx, cufftType type, int batch, size_t *work_bytes) {
    return cufftMakePlanMany(handle, 1, &nx, nullptr, 1, 0, nullptr, 1, 0, type, batch, work_bytes);
}

cufftResult cufftMakePlan2d(cufftHandle handle, int nx, int ny, cufftType type, size_t *work_bytes) {
    int n[] = {nx, ny};
    return cufftMakePlanMany(handle, 2, n, nullptr, 1, 0, nullptr, 1, 0, type, 1, work_bytes);
}

cufftResult cufftMakePlan3d(cufftHandle handle, int nx, int ny, int nz, cufftType type, size_t *work_bytes) {
    int n[] = {nx, ny, nz};
    return cufftMakePlanMany(handle, 3, n, nullptr, 1, 0, nullptr, 1, 0, type, 1, work_bytes);
}

cufftResult cufftPlan1d(cufftHandle *handle, int nx, cufftType type, int batch) {
    return plan_at_once(handle, [=](cufftHandle made) { return cufftMakePlan1d(made, nx, type, batch, nullptr); });
}

cufftResult cufftPlan2d(cufftHandle *handle, int nx, int ny, cufftType type) {
    return plan_at_once(handle, [=](cufftHandle made) { return cufftMakePlan2d(made, nx, ny, type, nullptr); });
}

cufftResult cufftPlan3d(cufftHandle *handle, int nx, int ny, int nz, cufftType type) {
    return plan_at_once(handle, [=](cufftHandle made) { return cufftMakePlan3d(made, nx, ny, nz, type, nullptr); });
}

cufftResult cufftPlanMany(cufftHandle *handle, int rank, int *n, int *inembed, int istride, int idist, int *onembed, int ostride,
                          int odist, cufftType type, int batch) {
    return plan_at_once(handle, [=](cufftHandle made) {
        return cufftMakePlanMany(made, rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch, nullptr);
    });
}

cufftResult cufftGetSize(cufftHandle handle, size_t *work_bytes) {
    const plan *const p = find(handle);
    if (!p || !work_bytes)
        return p ? CUFFT_INVALID_VALUE : CUFFT_INVALID_PLAN;
    *work_bytes = p->bytes;
    return CUFFT_SUCCESS;
}

cufftResult cufftGetVersion(int *version) {
    if (!version)
        return CUFFT_INVALID_VALUE;
    *version = 11000;
    return CUFFT_SUCCESS;
}

cufftResult cufftSetStream(cufftHandle handle, cudaStream_t stream) {
    plan *const p = find(handle);
    if (!p)
        return CUFFT_INVALID_PLAN;
    p->stream = stream;
    return CUFFT_SUCCESS;
}

cufftResult cufftExecC2C(cufftHandle plan, cufftComplex *in, cufftComplex *out, int direction) {
    return run<float>(plan, CUFFT_C2C, in, out, direction);
}
cufftResult cufftExecR2C(cufftHandle plan, cufftReal *in, cufftComplex *out) {
    return run<float>(plan, CUFFT_R2C, in, out, CUFFT_FORWARD);
}
cufftResult cufftExecC2R(cufftHandle plan, cufftComplex *in, cufftReal *out) {
    return run<float>(plan, CUFFT_C2R, in, out, CUFFT_INVERSE);
}
cufftResult cufftExecZ2Z(cufftHandle plan, cufftDoubleComplex *in, cufftDoubleComplex *out, int direction) {
    return run<double>(plan, CUFFT_Z2Z, in, out, direction);
}
cufftResult cufftExecD2Z(cufftHandle plan, cufftDoubleReal *in, cufftDoubleComplex *out) {
    return run<double>(plan, CUFFT_D2Z, in, out, CUFFT_FORWARD);
}
cufftResult cufftExecZ2D(cufftHandle plan, cufftDoubleComplex *in, cufftDoubleReal *out) {
    return run<double>(plan, CUFFT_Z2D, in, out, CUFFT_INVERSE);
}

} // extern "C"
