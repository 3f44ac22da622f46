/* Host side of the Gaussian blur: a random black and white image, blurred on the host by rows and then by columns. Pixels are
 * 0 or 255 and weights are powers of two, so that every sum is exact in any order. */
#include "workload.h"

enum { TILE = 32 };

static const struct { int32_t width, height; } sizes[SIZE_COUNT] = {{256, 64}, {1024, 512}, {2048, 2048}};

static int32_t inside(int32_t at, int32_t count) { return at < 0 ? 0 : at < count ? at : count - 1; }

static void blur_rows_then_columns(struct workload *w, const float *image, float *out, int32_t width, int32_t height) {
    float *rows = WORKLOAD_NEW(w, float, (size_t)width *(size_t)height);
    for (int32_t y = 0; y < height; y++)
        for (int32_t x = 0; x < width; x++) {
            const float *row = image + (size_t)y * (size_t)width;
            rows[y * width + x] = row[inside(x - 1, width)] + 2 * row[x] + row[inside(x + 1, width)];
        }
    for (int32_t y = 0; y < height; y++)
        for (int32_t x = 0; x < width; x++)
            out[y * width + x] = (rows[inside(y - 1, height) * width + x] + 2 * rows[y * width + x] +
                                  rows[inside(y + 1, height) * width + x]) /
                                 16;
}

static void gaussian(struct workload *w) {
    const int32_t width = sizes[w->size].width, height = sizes[w->size].height;
    const size_t pixels = (size_t)width * (size_t)height;
    float *image = WORKLOAD_NEW(w, float, pixels), *got = WORKLOAD_NEW(w, float, pixels),
          *expected = WORKLOAD_NEW(w, float, pixels);
    struct random r = {3};
    for (size_t i = 0; i < pixels; i++)
        image[i] = random_below(&r, 2) ? 255 : 0;
    cl_mem from = workload_buffer(w, pixels * sizeof *image, image);
    cl_mem to = workload_buffer(w, pixels * sizeof *image, NULL);
    const size_t global[] = {(size_t)width, (size_t)height / TILE}, local[] = {TILE, 1};
    workload_launch(w, "blur", 2, global, local, ARGUMENT(from), ARGUMENT(to), ARGUMENT(width), ARGUMENT(height));
    workload_read(w, to, pixels * sizeof *got, got);
    blur_rows_then_columns(w, image, expected, width, height);
    workload_close_f32(w, "blurred", got, expected, pixels, 0);
}

int main(int argc, char **argv) { return workload_main(argc, argv, "gaussian", NULL, gaussian); }
