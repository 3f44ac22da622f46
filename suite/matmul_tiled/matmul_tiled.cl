/* Matrix product by tiles: a work-group makes a tile of the result from a row of tiles and a column of tiles, each pair of
 * which it brings into local memory. The width of all matrices is known to the compiler. */
#define TILE 16
#define WIDTH 16 /* a multiple of TILE */

kernel __attribute__((reqd_work_group_size(TILE, TILE, 1))) void matmul_tiled(global const float *a,
                                                                              global const float *b, global float *c) {
    local float tile_a[TILE][TILE], tile_b[TILE][TILE];
    const int x = get_local_id(0), y = get_local_id(1);
    const int begin = WIDTH * TILE * get_group_id(1), end = begin + WIDTH;
    float sum = 0;
    for (int left = begin, right = TILE * get_group_id(0); left < end; left += TILE, right += TILE * WIDTH) {
        tile_a[y][x] = a[left + WIDTH * y + x];
        tile_b[y][x] = b[right + WIDTH * y + x];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < TILE; k++)
            sum += tile_a[y][k] * tile_b[k][x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[begin + TILE * get_group_id(0) + WIDTH * y + x] = sum;
}
// SPDX-License-Identifier: Apache-2.0
