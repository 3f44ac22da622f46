// SPDX-License-Identifier: Apache-2.0
// link: -lcurand -lcublas
// cuRAND's host API, in a program with two such libraries: results are those of the generators in kernels, whatever calls they come by,
// and the same on the host.
#include "check.h"
#include <cublas_v2.h>
#include <cstring>
#include <curand.h>
#include <curand_kernel.h>
#include <vector>

#define RAND(call) EXPECT((call) == CURAND_STATUS_SUCCESS)
enum { SEQUENCES = 4096, COUNT = 6000, FIRST = 4500 };

template <class State> static void check(curandRngType_t type, unsigned long long offset) {
    curandGenerator_t generator, host;
    Managed<unsigned> words(COUNT);
    Managed<float> uniform(COUNT), normal(COUNT);
    std::vector<unsigned> own(COUNT);
    std::vector<float> own_uniform(COUNT);
    RAND(curandCreateGenerator(&generator, type));
    RAND(curandCreateGeneratorHost(&host, type));
    for (curandGenerator_t g : {generator, host}) {
        RAND(curandSetPseudoRandomGeneratorSeed(g, 42));
        RAND(curandSetGeneratorOffset(g, offset));
        RAND(curandSetGeneratorOrdering(g, CURAND_ORDERING_PSEUDO_DEFAULT));
    }
    RAND(curandGenerate(generator, words.data, FIRST));
    RAND(curandGenerate(generator, words.data + FIRST, COUNT - FIRST));
    RAND(curandGenerateUniform(generator, uniform.data, COUNT));
    RAND(curandGenerateNormal(generator, normal.data, COUNT, 3, 2));
    CHECK(cudaDeviceSynchronize());
    RAND(curandGenerate(host, own.data(), COUNT));
    RAND(curandGenerateUniform(host, own_uniform.data(), COUNT));
    EXPECT(memcmp(words.data, own.data(), COUNT * sizeof(unsigned)) == 0);
    EXPECT(memcmp(uniform.data, own_uniform.data(), COUNT * sizeof(float)) == 0);
    for (int i = 0; i < COUNT; i += 997) { // number i / 4096 of sequence i % 4096
        State state;
        curand_init(42, (offset + i) % SEQUENCES, (offset + i) / SEQUENCES, &state);
        EXPECT(words[i] == curand(&state));
    }
    double sum = 0, squares = 0;
    for (int i = 0; i < COUNT; i++)
        sum += normal[i] - 3, squares += (normal[i] - 3) * (normal[i] - 3);
    EXPECT(std::fabs(sum / COUNT) < 5 * 2 / std::sqrt(COUNT) && std::fabs(squares / COUNT - 4) < 5 * 4 * std::sqrt(2.0 / COUNT));
    RAND(curandDestroyGenerator(generator));
    RAND(curandDestroyGenerator(host));
}

int main() {
    check<curandState>(CURAND_RNG_PSEUDO_DEFAULT, 0);
    check<curandStatePhilox4_32_10_t>(CURAND_RNG_PSEUDO_PHILOX4_32_10, 5000);
    check<curandStateMRG32k3a_t>(CURAND_RNG_PSEUDO_MRG32K3A, 3);
    curandGenerator_t generator;
    Managed<double> values(1000), total(1);
    Managed<unsigned> counts(1000);
    RAND(curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_PHILOX4_32_10));
    EXPECT(curandGenerateNormalDouble(generator, values.data, 999, 0, 1) == CURAND_STATUS_LENGTH_NOT_MULTIPLE);
    RAND(curandGenerateUniformDouble(generator, values.data, 1000));
    cublasHandle_t handle;
    EXPECT(cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS);
    double sum = 0, expected = 0;
    EXPECT(cublasDasum(handle, 1000, values.data, 1, &sum) == CUBLAS_STATUS_SUCCESS);
    for (int i = 0; i < 1000; i++)
        expected += values[i];
    EXPECT(std::fabs(sum - expected) < 1e-9 && std::fabs(sum - 500) < 5 * std::sqrt(1000 / 12.0));
    RAND(curandGenerateLogNormalDouble(generator, values.data, 1000, 1, 0.5));
    RAND(curandGeneratePoisson(generator, counts.data, 1000, 30));
    CHECK(cudaDeviceSynchronize());
    double logs = 0, poisson = 0;
    for (int i = 0; i < 1000; i++)
        logs += std::log(values[i]) - 1, poisson += counts[i] - 30.0;
    EXPECT(std::fabs(logs) < 5 * 0.5 * std::sqrt(1000.0) && std::fabs(poisson) < 5 * std::sqrt(30 * 1000.0));
    EXPECT(curandCreateGenerator(&generator, CURAND_RNG_QUASI_SOBOL32) == CURAND_STATUS_TYPE_ERROR);
    EXPECT(curandSetGeneratorOffset(nullptr, 0) == CURAND_STATUS_NOT_INITIALIZED);
    EXPECT(cublasDestroy(handle) == CUBLAS_STATUS_SUCCESS);
    return finish();
}
