// SPDX-License-Identifier: Apache-2.0
// thrust and cub, where the user has CCCL's headers: vectors on the device, sort, reduce, transform, scan, sums of blocks and of all.
#include "../check.h"
#include <algorithm>
#include <cub/cub.cuh>
#include <numeric>
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <vector>

enum { COUNT = 3000, THREADS = 128 };

struct Square {
    __host__ __device__ int operator()(int x) const { return x * x; }
};
struct Sum {
    __host__ __device__ int operator()(int a, int b) const { return a + b; }
};
struct Larger {
    __host__ __device__ int operator()(int a, int b) const { return a < b ? b : a; }
};
struct IsLarger { // thrust does not know it, and compares instead of sorting by digits
    __host__ __device__ bool operator()(int a, int b) const { return a > b; }
};

__global__ void sum_of_block(const int *in, int *out) {
    typedef cub::BlockReduce<int, THREADS> Reduce;
    typedef cub::BlockScan<int, THREADS> Scan;
    __shared__ union {
        typename Reduce::TempStorage reduce;
        typename Scan::TempStorage scan;
    } memory;
    const int own = in[threadIdx.x], sum = Reduce(memory.reduce).Sum(own);
    if (threadIdx.x == 0)
        out[THREADS] = sum;
    __syncthreads();
    Scan(memory.scan).ExclusiveSum(own, out[threadIdx.x]);
}

static std::vector<int> some() {
    std::vector<int> values(COUNT);
    unsigned seed = 7;
    for (int &value : values)
        seed = seed * 1664525u + 1013904223u, value = (int)(seed >> 20) - 2000;
    return values;
}

static void with_thrust(const std::vector<int> &values) {
    thrust::device_vector<int> data(values.begin(), values.end()), squares(COUNT), places(COUNT);
    EXPECT(thrust::reduce(data.begin(), data.end()) == std::accumulate(values.begin(), values.end(), 0));
    EXPECT(thrust::reduce(data.begin(), data.end(), -100000, Larger()) == *std::max_element(values.begin(), values.end()));
    thrust::transform(data.begin(), data.end(), squares.begin(), Square());
    std::vector<int> expected(COUNT);
    std::transform(values.begin(), values.end(), expected.begin(), Square());
    thrust::host_vector<int> seen = squares;
    EXPECT(std::equal(expected.begin(), expected.end(), seen.begin()));
    EXPECT(thrust::transform_reduce(data.begin(), data.end(), Square(), 0, Sum()) ==
           std::accumulate(expected.begin(), expected.end(), 0));
    thrust::inclusive_scan(data.begin(), data.end(), squares.begin());
    std::partial_sum(values.begin(), values.end(), expected.begin());
    seen = squares;
    EXPECT(std::equal(expected.begin(), expected.end(), seen.begin()));
    thrust::sequence(places.begin(), places.end());
    thrust::stable_sort_by_key(data.begin(), data.end(), places.begin());
    std::iota(expected.begin(), expected.end(), 0);
    std::stable_sort(expected.begin(), expected.end(), [&](int a, int b) { return values[a] < values[b]; });
    seen = places;
    EXPECT(std::equal(expected.begin(), expected.end(), seen.begin()));
    EXPECT(data[0] == values[expected[0]] && data[COUNT - 1] == values[expected[COUNT - 1]]);
    thrust::sort(places.begin(), places.end(), IsLarger());
    EXPECT(places[0] == COUNT - 1 && places[COUNT - 1] == 0 && places[1000] == COUNT - 1001);
}

static void with_cub(const std::vector<int> &values) {
    Managed<int> in(COUNT), out(COUNT);
    std::copy(values.begin(), values.end(), in.data);
    void *room = nullptr;
    size_t bytes = 0;
    CHECK(cub::DeviceReduce::Sum(room, bytes, in.data, out.data, (int)COUNT));
    CHECK(cudaMalloc(&room, bytes));
    CHECK(cub::DeviceReduce::Sum(room, bytes, in.data, out.data, (int)COUNT));
    CHECK(cudaDeviceSynchronize());
    EXPECT(out[0] == std::accumulate(values.begin(), values.end(), 0));
    CHECK(cudaFree(room));
    room = nullptr;
    CHECK(cub::DeviceScan::ExclusiveSum(room, bytes, in.data, out.data, (int)COUNT));
    CHECK(cudaMalloc(&room, bytes));
    CHECK(cub::DeviceScan::ExclusiveSum(room, bytes, in.data, out.data, (int)COUNT));
    CHECK(cudaDeviceSynchronize());
    for (int i = 0, sum = 0; i < COUNT; sum += values[i++])
        EXPECT(out[i] == sum);
    CHECK(cudaFree(room));
    sum_of_block<<<1, THREADS>>>(in.data, out.data);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0, sum = 0; i <= THREADS; sum += values[i++])
        EXPECT(out[i] == sum);
}

int main() {
    const std::vector<int> values = some();
    with_thrust(values);
    with_cub(values);
    return finish();
}
