/* 3 x 3 Gaussian blur. A work-group is a warp with a tile of 32 x 32 pixels, a thread a row of the tile: neighbouring threads
 * read addresses a row of the image apart. Pixels beyond the edge are those of the edge. */
#define TILE 32

kernel void blur(global const float *image, global float *blurred, int width, int height) {
    const int y = get_group_id(1) * TILE + get_local_id(0), left = get_group_id(0) * TILE;
    global const float *above = image + max(y - 1, 0) * width;
    global const float *here = image + y * width;
    global const float *below = image + min(y + 1, height - 1) * width;
    for (int x = left; x < left + TILE; x++) {
        const int west = max(x - 1, 0), east = min(x + 1, width - 1);
        blurred[y * width + x] =
            (above[west] + 2 * above[x] + above[east] + 2 * (here[west] + 2 * here[x] + here[east]) + below[west] +
             2 * below[x] + below[east]) * 0.0625f;
    }
}
