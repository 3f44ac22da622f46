// C = A * B for n x n matrices, in tiles: each block of 16 x 16 threads computes one tile of C.
//
// Every element of A and B is needed by n threads. A block loads one tile of each into shared memory (OpenCL calls it
// local), all its threads use it, then comes the next pair: global memory is read n / 16 times instead of n times.
// The barriers make sure that a tile is complete before it is used, and used before it is replaced.

#define TILE 16

__kernel __attribute__((reqd_work_group_size(TILE, TILE, 1)))
void matmul(__global float *C, __global const float *A, __global const float *B, int n) {
    __local float a_tile[TILE][TILE], b_tile[TILE][TILE];
    int tx = get_local_id(0), ty = get_local_id(1);
    int column = get_group_id(0) * TILE + tx, row = get_group_id(1) * TILE + ty;
    float sum = 0;
    for (int t = 0; t < n; t += TILE) {
        a_tile[ty][tx] = A[row * n + t + tx];
        b_tile[ty][tx] = B[(t + ty) * n + column];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < TILE; k++)
            sum += a_tile[ty][k] * b_tile[k][tx];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    C[row * n + column] = sum;
}
// SPDX-License-Identifier: Apache-2.0
