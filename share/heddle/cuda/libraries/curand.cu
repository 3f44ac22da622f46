// SPDX-License-Identifier: Apache-2.0
// cuRAND's host API as far as curand.h has it: one kernel, in which every thread continues a sequence of its own.
// `heddle cc -lcurand` compiles it into the program. The first states are made on the host.
#include "../curand_kernel.h"
#include <cstdio>
#include <new>

namespace {

enum { SEQUENCES = 4096, THREADS = 256 };

// What each thread does for a result, or for a pair: OUT[i], or OUT[2 i] and OUT[2 i + 1].
struct Word {
    unsigned int *out;
    template <class State> __host__ __device__ void operator()(State *state, size_t i) const { out[i] = curand(state); }
};
struct Uniform {
    float *out;
    template <class State> __host__ __device__ void operator()(State *state, size_t i) const {
        out[i] = curand_uniform(state);
    }
};
struct UniformDouble {
    double *out;
    template <class State> __host__ __device__ void operator()(State *state, size_t i) const {
        out[i] = curand_uniform_double(state);
    }
};
template <class State> __host__ __device__ float2 normal_pair(State *state, float) { return curand_normal2(state); }
template <class State> __host__ __device__ double2 normal_pair(State *state, double) { return curand_normal2_double(state); }
__host__ __device__ float exponential(float x) { return expf(x); }
__host__ __device__ double exponential(double x) { return exp(x); }
template <class T> struct Normal {
    T *out, mean, deviation;
    bool is_log;
    template <class State> __host__ __device__ void operator()(State *state, size_t i) const {
        const auto pair = normal_pair(state, T());
        const T x = mean + deviation * pair.x, y = mean + deviation * pair.y;
        out[2 * i] = is_log ? exponential(x) : x, out[2 * i + 1] = is_log ? exponential(y) : y;
    }
};
struct Poisson {
    unsigned int *out;
    double lambda;
    template <class State> __host__ __device__ void operator()(State *state, size_t i) const {
        out[i] = curand_poisson(state, lambda);
    }
};

// Sequence `number` does those of the results whose turn it is, from the turn `first` on.
template <class State, class Draw>
__host__ __device__ void continue_sequence(State *states, unsigned int number, unsigned int first, size_t count, const Draw &draw) {
    size_t i = (number + SEQUENCES - first) % SEQUENCES;
    if (i >= count)
        return;
    State state = states[number];
    for (; i < count; i += SEQUENCES)
        draw(&state, i);
    states[number] = state;
}
template <class State, class Draw> __global__ void generate(State *states, unsigned int first, size_t count, Draw draw) {
    continue_sequence(states, blockIdx.x * THREADS + threadIdx.x, first, count, draw);
}

void next_sequence(curandStateXORWOW_t *state) { skipahead_sequence(1, state); }
void next_sequence(curandStatePhilox4_32_10_t *state) { skipahead_sequence(1, state); }
void next_sequence(curandStateMRG32k3a_t *state) { skipahead_subsequence(1, state); }

template <class State> void first_states(State *states, unsigned long long seed, unsigned long long offset) {
    State state;
    curand_init(seed, 0, 0, &state);
    for (unsigned int i = 0; i < SEQUENCES; i++, next_sequence(&state)) {
        states[i] = state;
        skipahead((offset + SEQUENCES - 1 - i) / SEQUENCES, &states[i]);
    }
}

} // namespace

struct curandGenerator_st {
    curandRngType_t type;
    bool is_host, is_begun;
    unsigned long long seed, offset;
    unsigned int turn; // whose the next result is
    cudaStream_t stream;
    void *states;
};

namespace {

curandStatus_t status_of(cudaError_t error) {
    return error == cudaSuccess                  ? CURAND_STATUS_SUCCESS
           : error == cudaErrorMemoryAllocation ? CURAND_STATUS_ALLOCATION_FAILED
                                                : CURAND_STATUS_LAUNCH_FAILURE;
}

template <class State> curandStatus_t begin(curandGenerator_st *g) {
    const size_t bytes = SEQUENCES * sizeof(State);
    State *states = static_cast<State *>(g->states), *made = states;
    if (!states && g->is_host)
        g->states = states = made = new (std::nothrow) State[SEQUENCES];
    if (!g->is_host) {
        if (!states && cudaMalloc(&g->states, bytes) != cudaSuccess)
            return CURAND_STATUS_ALLOCATION_FAILED;
        made = new (std::nothrow) State[SEQUENCES];
    }
    if (!made)
        return CURAND_STATUS_ALLOCATION_FAILED;
    first_states(made, g->seed, g->offset);
    g->turn = static_cast<unsigned int>(g->offset % SEQUENCES);
    g->is_begun = true;
    if (g->is_host)
        return CURAND_STATUS_SUCCESS;
    const curandStatus_t status = status_of(cudaMemcpy(g->states, made, bytes, cudaMemcpyHostToDevice));
    delete[] made;
    return status;
}

template <class State, class Draw> curandStatus_t run(curandGenerator_st *g, size_t count, const Draw &draw) {
    if (!g->is_begun) {
        const curandStatus_t status = begin<State>(g);
        if (status != CURAND_STATUS_SUCCESS)
            return status;
    }
    if (!count)
        return CURAND_STATUS_SUCCESS;
    State *states = static_cast<State *>(g->states);
    const unsigned int first = g->turn;
    g->turn = static_cast<unsigned int>((first + count) % SEQUENCES);
    if (g->is_host) {
        for (unsigned int i = 0; i < SEQUENCES; i++)
            continue_sequence(states, i, first, count, draw);
        return CURAND_STATUS_SUCCESS;
    }
    generate<<<SEQUENCES / THREADS, THREADS, 0, g->stream>>>(states, first, count, draw);
    return status_of(cudaGetLastError());
}

template <class Draw> curandStatus_t run_any(curandGenerator_st *g, size_t count, const Draw &draw) {
    if (!g)
        return CURAND_STATUS_NOT_INITIALIZED;
    switch (g->type) {
    case CURAND_RNG_PSEUDO_PHILOX4_32_10: return run<curandStatePhilox4_32_10_t>(g, count, draw);
    case CURAND_RNG_PSEUDO_MRG32K3A: return run<curandStateMRG32k3a_t>(g, count, draw);
    default: return run<curandStateXORWOW_t>(g, count, draw);
    }
}

template <class Draw> curandStatus_t run_pairs(curandGenerator_st *g, size_t count, const Draw &draw) {
    return count % 2 ? CURAND_STATUS_LENGTH_NOT_MULTIPLE : run_any(g, count / 2, draw);
}

curandStatus_t create(curandGenerator_t *out, curandRngType_t type, bool is_host) {
    if (!out)
        return CURAND_STATUS_NOT_INITIALIZED;
    if (type == CURAND_RNG_PSEUDO_DEFAULT)
        type = CURAND_RNG_PSEUDO_XORWOW;
    if (type != CURAND_RNG_PSEUDO_XORWOW && type != CURAND_RNG_PSEUDO_MRG32K3A && type != CURAND_RNG_PSEUDO_PHILOX4_32_10) {
        fprintf(stderr, "heddle: cuRAND's generator %d is not built; there are XORWOW, MRG32k3a and Philox4_32_10\n", type);
        return CURAND_STATUS_TYPE_ERROR;
    }
    *out = new (std::nothrow) curandGenerator_st{type, is_host, false, 0, 0, 0, nullptr, nullptr};
    return *out ? CURAND_STATUS_SUCCESS : CURAND_STATUS_ALLOCATION_FAILED;
}

} // namespace

extern "C" {

curandStatus_t curandCreateGenerator(curandGenerator_t *generator, curandRngType_t type) { return create(generator, type, false); }
curandStatus_t curandCreateGeneratorHost(curandGenerator_t *generator, curandRngType_t type) { return create(generator, type, true); }

curandStatus_t curandDestroyGenerator(curandGenerator_t g) {
    if (!g)
        return CURAND_STATUS_NOT_INITIALIZED;
    if (!g->is_host)
        cudaFree(g->states);
    else if (g->type == CURAND_RNG_PSEUDO_XORWOW)
        delete[] static_cast<curandStateXORWOW_t *>(g->states);
    else if (g->type == CURAND_RNG_PSEUDO_MRG32K3A)
        delete[] static_cast<curandStateMRG32k3a_t *>(g->states);
    else
        delete[] static_cast<curandStatePhilox4_32_10_t *>(g->states);
    delete g;
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandGetVersion(int *version) {
    if (!version)
        return CURAND_STATUS_OUT_OF_RANGE;
    *version = CURAND_VERSION;
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandSetStream(curandGenerator_t g, cudaStream_t stream) {
    if (!g)
        return CURAND_STATUS_NOT_INITIALIZED;
    g->stream = stream;
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t g, unsigned long long seed) {
    if (!g)
        return CURAND_STATUS_NOT_INITIALIZED;
    g->seed = seed;
    g->is_begun = false;
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandSetGeneratorOffset(curandGenerator_t g, unsigned long long offset) {
    if (!g)
        return CURAND_STATUS_NOT_INITIALIZED;
    g->offset = offset;
    g->is_begun = false;
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandSetGeneratorOrdering(curandGenerator_t g, curandOrdering_t order) {
    if (!g)
        return CURAND_STATUS_NOT_INITIALIZED;
    return order >= CURAND_ORDERING_PSEUDO_BEST && order <= CURAND_ORDERING_PSEUDO_DYNAMIC ? CURAND_STATUS_SUCCESS
                                                                                          : CURAND_STATUS_OUT_OF_RANGE;
}

curandStatus_t curandGenerateSeeds(curandGenerator_t g) { return run_any(g, 0, Word{nullptr}); }

curandStatus_t curandSetQuasiRandomGeneratorDimensions(curandGenerator_t g, unsigned int) {
    return g ? CURAND_STATUS_TYPE_ERROR : CURAND_STATUS_NOT_INITIALIZED;
}
curandStatus_t curandGenerateLongLong(curandGenerator_t g, unsigned long long *, size_t) {
    return g ? CURAND_STATUS_TYPE_ERROR : CURAND_STATUS_NOT_INITIALIZED;
}

curandStatus_t curandGenerate(curandGenerator_t g, unsigned int *out, size_t count) { return run_any(g, count, Word{out}); }
curandStatus_t curandGenerateUniform(curandGenerator_t g, float *out, size_t count) { return run_any(g, count, Uniform{out}); }
curandStatus_t curandGenerateUniformDouble(curandGenerator_t g, double *out, size_t count) {
    return run_any(g, count, UniformDouble{out});
}
curandStatus_t curandGenerateNormal(curandGenerator_t g, float *out, size_t count, float mean, float deviation) {
    return run_pairs(g, count, Normal<float>{out, mean, deviation, false});
}
curandStatus_t curandGenerateNormalDouble(curandGenerator_t g, double *out, size_t count, double mean, double deviation) {
    return run_pairs(g, count, Normal<double>{out, mean, deviation, false});
}
curandStatus_t curandGenerateLogNormal(curandGenerator_t g, float *out, size_t count, float mean, float deviation) {
    return run_pairs(g, count, Normal<float>{out, mean, deviation, true});
}
curandStatus_t curandGenerateLogNormalDouble(curandGenerator_t g, double *out, size_t count, double mean, double deviation) {
    return run_pairs(g, count, Normal<double>{out, mean, deviation, true});
}
curandStatus_t curandGeneratePoisson(curandGenerator_t g, unsigned int *out, size_t count, double lambda) {
    return lambda > 0 ? run_any(g, count, Poisson{out, lambda}) : CURAND_STATUS_OUT_OF_RANGE;
}

} // extern "C"
