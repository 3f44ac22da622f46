// SPDX-License-Identifier: Apache-2.0
// Tensor maps as CUDA programs have them: the driver's function is found through the runtime, and the map is a parameter of the kernel. A matrix is
// transposed by boxes of 32 rows of 128 bytes, which lie swizzled in shared memory.
// link: -arch=sm_90a
#include <cstdint>
#include <cuda.h>
#include <cudaTypedefs.h>

#include "check.h"

enum { COLUMNS = 72, ROWS = 50, SIDE = 32 };

__global__ void transpose(const __grid_constant__ CUtensorMap map, float *out)
{
    alignas(1024) __shared__ float tile[SIDE * SIDE];
    __shared__ uint64_t barrier;
    const uint32_t place = (uint32_t)__cvta_generic_to_shared(tile), bar = (uint32_t)__cvta_generic_to_shared(&barrier);
    const int x = SIDE * blockIdx.x, y = SIDE * blockIdx.y;
    if (threadIdx.x == 0) {
        asm volatile("prefetch.tensormap [%0];" ::"l"(&map));
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar));
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"((int)sizeof tile));
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(place),
                     "l"(&map), "r"(x), "r"(y), "r"(bar)
                     : "memory");
    }
    __syncthreads();
    asm volatile("{.reg .pred p; W: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0; @!p bra W;}" ::"r"(bar) : "memory");
    const int row = threadIdx.x, wide = SIDE * gridDim.y;
    for (int column = 0; column < SIDE; column++)
        out[(x + column) * wide + y + row] = tile[SIDE * row + ((column / 4 ^ row % 8) * 4 + column % 4)];
}

int main()
{
    void *found = nullptr;
    cudaDriverEntryPointQueryResult how;
    const dim3 grid((COLUMNS + SIDE - 1) / SIDE, (ROWS + SIDE - 1) / SIDE);
    const int wide = SIDE * grid.y, high = SIDE * grid.x;
    Managed<float> in(COLUMNS * ROWS), out(wide * high);
    for (int i = 0; i < COLUMNS * ROWS; i++)
        in[i] = 0.5f * i + 1;
    CHECK(cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &found, cudaEnableDefault, &how));
    EXPECT(how == cudaDriverEntryPointSuccess && found);
    const auto encode = (PFN_cuTensorMapEncodeTiled_v12000)found;
    CUtensorMap map;
    const cuuint64_t size[] = {COLUMNS, ROWS}, stride[] = {COLUMNS * sizeof(float)};
    const cuuint32_t box[] = {SIDE, SIDE}, step[] = {1, 1};
    EXPECT(encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, in.data, size, stride, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE,
                  CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS);
    transpose<<<grid, SIDE>>>(map, out.data);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    for (int column = 0; column < high; column++)
        for (int row = 0; row < wide; row++)
            EXPECT(out[column * wide + row] == (column < COLUMNS && row < ROWS ? in[row * COLUMNS + column] : 0));
    return finish();
}
