/* 3 x 3 Gaussian blur. A work-group is a warp with a tile of 32 x 32 pixels, a thread a row of the tile: neighbouring threads
 * read addresses a row of the image apart. Rows follow each other without a gap, a row more before the first and behind the last:
 * left of a row's first pixel lies the last of the row before, and no thread asks where it is. */
#define TILE 32

constant int weights[3][3] = {{1, 2, 1}, {2, 4, 2}, {1, 2, 1}};

kernel void blur(global const uchar *image, global uchar *blurred, int width) {
    const int y = get_group_id(1) * TILE + get_local_id(0), left = get_group_id(0) * TILE;
    for (int x = left; x < left + TILE; x++) {
        int sum = 8;
#pragma unroll 1
        for (int dy = 0; dy < 3; dy++)
#pragma unroll 1
            for (int dx = 0; dx < 3; dx++)
                sum += weights[dy][dx] * image[(y + dy) * width + x + dx];
        blurred[(y + 1) * width + x + 1] = sum / 16;
    }
}
// SPDX-License-Identifier: Apache-2.0
