/* SPDX-License-Identifier: Apache-2.0 */
/* Host side of the Gaussian blur: a random black and white image, blurred on the host by rows and then by columns. */
#include "workload.h"
#include <string.h>

enum { TILE = 32 };

static const struct { int32_t width, height; } sizes[SIZE_COUNT] = {{512, 32}, {2048, 128}, {2048, 2048}};

/* Of an image of `width` pixels a row, with a row before the first and one behind the last, a pixel before all and one behind:
 * neighbours to the left and right are those in memory. What is not inside stays as it was. */
static void blur_rows_then_columns(struct workload *w, const uint8_t *image, uint8_t *out, int32_t width,
                                   int32_t height) {
    const int32_t pixels = width * (height + 2);
    uint32_t *rows = WORKLOAD_NEW(w, uint32_t, (size_t)pixels);
    for (int32_t i = 0; i < pixels; i++)
        rows[i] = image[i] + 2u * image[i + 1] + image[i + 2];
    for (int32_t i = width; i < pixels - width; i++)
        out[i + 1] = (uint8_t)((rows[i - width] + 2 * rows[i] + rows[i + width] + 8) / 16);
}

static void gaussian(struct workload *w) {
    const int32_t width = sizes[w->size].width, height = sizes[w->size].height;
    const size_t pixels = (size_t)width * ((size_t)height + 2) + 2;
    uint8_t *image = WORKLOAD_NEW(w, uint8_t, pixels), *got = WORKLOAD_NEW(w, uint8_t, pixels),
            *expected = WORKLOAD_NEW(w, uint8_t, pixels);
    struct random r = {3};
    for (size_t i = 0; i < pixels; i++)
        image[i] = random_below(&r, 2) ? 255 : 0;
    cl_mem from = workload_buffer(w, pixels, image), to = workload_buffer(w, pixels, expected);
    const size_t global[] = {(size_t)width, (size_t)height / TILE}, local[] = {TILE, 1};
    workload_launch(w, "blur", 2, global, local, ARGUMENT(from), ARGUMENT(to), ARGUMENT(width));
    workload_read(w, to, pixels, got);
    blur_rows_then_columns(w, image, expected, width, height);
    workload_expect(w, memcmp(got, expected, pixels) == 0, "blurred by rows and columns on the host");
}

int main(int argc, char **argv) { return workload_main(argc, argv, "gaussian", NULL, gaussian); }
