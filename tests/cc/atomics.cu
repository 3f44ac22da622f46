// SPDX-License-Identifier: Apache-2.0
// Atomics of every type; loads and stores with a cache operator.
#include "check.h"

template <class T> __global__ void integers(T *p)
{
    const T i = (T)threadIdx.x;
    atomicAdd(p, i), atomicSub(p + 1, i), atomicMax(p + 2, i), atomicMin(p + 3, i);
    atomicAnd(p + 4, (T) ~((T)1 << i % 8)), atomicOr(p + 5, (T)1 << i % 16), atomicXor(p + 6, (T)1 << i % 4);
    T old = p[7], assumed;
    do {
        assumed = old;
        old = atomicCAS(p + 7, assumed, assumed + 2);
    } while (old != assumed);
    atomicExch(p + 8, (T)99);
}

template <class T> static void test_integers()
{
    Managed<T> p(9);
    for (int i = 0; i < 9; i++)
        p[i] = i == 3 ? 1000 : i == 4 ? 255 : 0;
    p[1] = 5000;
    integers<<<1, 64>>>(p.data);
    CHECK(cudaDeviceSynchronize());
    EXPECT(p[0] == 2016 && p[1] == 5000 - 2016 && p[2] == 63 && p[3] == 0);
    EXPECT(p[4] == 0 && p[5] == 65535 && p[6] == 0 && p[7] == 128 && p[8] == 99);
}

/* Of block scope: one block, so that nothing else sees them. */
template <class T> __global__ void of_block(T *p)
{
    const T i = (T)threadIdx.x;
    atomicAdd_block(p, i), atomicSub_block(p + 1, i), atomicMax_block(p + 2, i), atomicMin_block(p + 3, (T)(0 - i));
    atomicAnd_block(p + 4, (T) ~((T)1 << i % 8)), atomicOr_block(p + 5, (T)1 << i % 16), atomicXor_block(p + 6, (T)1 << i % 4);
    T old = p[7], assumed;
    do {
        assumed = old;
        old = atomicCAS_block(p + 7, assumed, assumed + 2);
    } while (old != assumed);
    atomicExch_block(p + 8, (T)99);
}

template <class T> static void test_of_block(bool is_signed)
{
    Managed<T> p(9);
    for (int i = 0; i < 9; i++)
        p[i] = i == 3 ? 1000 : i == 4 ? 255 : 0;
    p[1] = 5000;
    of_block<<<1, 64>>>(p.data);
    CHECK(cudaDeviceSynchronize());
    EXPECT(p[0] == 2016 && p[1] == 5000 - 2016 && p[2] == 63 && p[3] == (is_signed ? (T)-63 : 0));
    EXPECT(p[4] == 0 && p[5] == 65535 && p[6] == 0 && p[7] == 128 && p[8] == 99);
}

__global__ void others_of_block(float *f, double *d, unsigned *u)
{
    atomicAdd_block(f, 0.5f), atomicAdd_block(d, 0.25);
    atomicInc_block(u, 9), atomicDec_block(u + 1, 5);
    if (threadIdx.x == 0)
        atomicExch_block(f + 1, 7.0f);
}

static void test_others_of_block()
{
    Managed<float> f(2);
    Managed<double> d(1);
    Managed<unsigned> u(2);
    f[0] = f[1] = 0, d[0] = 0, u[0] = 0, u[1] = 5;
    others_of_block<<<1, 32>>>(f.data, d.data, u.data);
    CHECK(cudaDeviceSynchronize());
    EXPECT(f[0] == 16 && f[1] == 7 && d[0] == 8 && u[0] == 32 % 10 && u[1] == 3);
}

__global__ void others(float *f, double *d, unsigned *u, const float4 *in)
{
    atomicAdd(f, 0.5f), atomicAdd(d, 0.25);
    atomicInc(u, 9), atomicDec(u + 1, 5);
    if (threadIdx.x == 0) {
        atomicExch(f + 1, 7.0f);
        f[2] = __ldg(&in->y) + __ldcg(&in->z) + __ldcs(&in->w) + __ldcv(&in->x);
        __stcg(f + 3, __ldg(in).x);
    }
}

int main()
{
    test_integers<int>(), test_integers<unsigned>(), test_integers<long long>(), test_integers<unsigned long long>();
    test_of_block<int>(true), test_of_block<unsigned>(false), test_of_block<long long>(true), test_of_block<unsigned long long>(false);
    test_others_of_block();
    Managed<float> f(4);
    Managed<double> d(1);
    Managed<unsigned> u(2);
    Managed<float4> in(1);
    f[0] = f[1] = f[2] = f[3] = 0, d[0] = 0, u[0] = 0, u[1] = 3;
    in[0] = make_float4(1, 2, 3, 4);
    others<<<2, 32>>>(f.data, d.data, u.data, in.data);
    CHECK(cudaDeviceSynchronize());
    EXPECT(f[0] == 32 && f[1] == 7 && f[2] == 10 && f[3] == 1 && d[0] == 16);
    EXPECT(u[0] == 64 % 10);
    unsigned down = 3;
    for (int i = 0; i < 64; i++)
        down = down == 0 || down > 5 ? 5 : down - 1;
    EXPECT(u[1] == down);
    return finish();
}
