/* Host side of the Gaussian blur: a random black and white image, blurred on the host by rows and then by columns. */
#include "workload.h"
#include <string.h>

enum { TILE = 32 };

static const struct { int32_t width, height; } sizes[SIZE_COUNT] = {{512, 32}, {2048, 128}, {2048, 2048}};

static int32_t inside(int32_t at, int32_t count) { return at < 0 ? 0 : at < count ? at : count - 1; }

static void blur_rows_then_columns(struct workload *w, const uint8_t *image, uint8_t *out, int32_t width,
                                   int32_t height) {
    uint32_t *rows = WORKLOAD_NEW(w, uint32_t, (size_t)width * (size_t)height);
    for (int32_t y = 0; y < height; y++)
        for (int32_t x = 0; x < width; x++) {
            const uint8_t *row = image + (size_t)y * (size_t)width;
            rows[y * width + x] = row[inside(x - 1, width)] + 2u * row[x] + row[inside(x + 1, width)];
        }
    for (int32_t y = 0; y < height; y++)
        for (int32_t x = 0; x < width; x++) {
            const uint32_t sum = rows[inside(y - 1, height) * width + x] + 2 * rows[y * width + x] +
                                 rows[inside(y + 1, height) * width + x];
            out[y * width + x] = (uint8_t)((sum + 8) / 16);
        }
}

static void gaussian(struct workload *w) {
    const int32_t width = sizes[w->size].width, height = sizes[w->size].height;
    const size_t pixels = (size_t)width * (size_t)height;
    uint8_t *image = WORKLOAD_NEW(w, uint8_t, pixels), *got = WORKLOAD_NEW(w, uint8_t, pixels),
            *expected = WORKLOAD_NEW(w, uint8_t, pixels);
    struct random r = {3};
    for (size_t i = 0; i < pixels; i++)
        image[i] = random_below(&r, 2) ? 255 : 0;
    cl_mem from = workload_buffer(w, pixels, image), to = workload_buffer(w, pixels, NULL);
    const size_t global[] = {(size_t)width, (size_t)height / TILE}, local[] = {TILE, 1};
    workload_launch(w, "blur", 2, global, local, ARGUMENT(from), ARGUMENT(to), ARGUMENT(width), ARGUMENT(height));
    workload_read(w, to, pixels, got);
    blur_rows_then_columns(w, image, expected, width, height);
    workload_expect(w, memcmp(got, expected, pixels) == 0, "blurred by rows and columns on the host");
}

int main(int argc, char **argv) { return workload_main(argc, argv, "gaussian", NULL, gaussian); }
