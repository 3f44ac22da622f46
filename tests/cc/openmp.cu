// SPDX-License-Identifier: Apache-2.0
// link: -Xcompiler -fopenmp
// Host code with OpenMP: threads that are really several, each with a number of its own, a reduction, and a lock.
#include "check.h"
#include <omp.h>

__global__ void squares(int *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = i * i;
}

int main()
{
    enum { COUNT = 1000, THREADS = 4 };
    Managed<int> out(COUNT);
    squares<<<(COUNT + 127) / 128, 128>>>(out.data, COUNT);
    CHECK(cudaDeviceSynchronize());
    long long sum = 0, locked = 0;
    int threads = 0, seen[THREADS] = {};
    omp_lock_t lock;
    omp_init_lock(&lock);
    omp_set_dynamic(0);
    omp_set_num_threads(THREADS);
#pragma omp parallel reduction(+ : sum)
    {
        const int own = omp_get_thread_num();
#pragma omp single
        threads = omp_get_num_threads();
#pragma omp for schedule(static)
        for (int i = 0; i < COUNT; i++) {
            sum += out[i];
            seen[own]++;
            omp_set_lock(&lock);
            locked += out[i];
            omp_unset_lock(&lock);
        }
    }
    omp_destroy_lock(&lock);
    EXPECT(threads == THREADS);
    for (int i = 0; i < THREADS; i++)
        EXPECT(seen[i] == COUNT / THREADS);
    EXPECT(sum == (COUNT - 1LL) * COUNT * (2 * COUNT - 1) / 6 && locked == sum);
    return finish();
}
