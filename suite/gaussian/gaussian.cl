/* 3 x 3 Gaussian blur. A work-group is a warp with a tile of 32 x 32 pixels, a thread a row of the tile: neighbouring threads
 * read addresses a row of the image apart. Pixels beyond the edge are those of the edge. */
#define TILE 32

kernel void blur(global const uchar *image, global uchar *blurred, int width, int height) {
    const int y = get_group_id(1) * TILE + get_local_id(0), left = get_group_id(0) * TILE;
    for (int x = left; x < left + TILE; x++) {
        int sum = 8;
#pragma unroll 1
        for (int dy = -1; dy <= 1; dy++) {
            global const uchar *row = image + clamp(y + dy, 0, height - 1) * width;
#pragma unroll 1
            for (int dx = -1; dx <= 1; dx++)
                sum += row[clamp(x + dx, 0, width - 1)] << (2 - abs(dx) - abs(dy));
        }
        blurred[y * width + x] = sum / 16;
    }
}
