/* SPDX-License-Identifier: Apache-2.0 */
/* Host side of the Gaussian blur: a random black and white image, blurred on the host by rows and then by columns. */
#include "workload.h"
#include <string.h>

enum { TILE = 32 };

static const struct { int32_t width, height; } sizes[SIZE_COUNT] = {{512, 32}, {2048, 128}, {2048, 2048}};

/* Rows of width + 2 pixels, the border around the inner ones; the border of the result stays as it was. */
static void blur_rows_then_columns(struct workload *w, const uint8_t *image, uint8_t *out, int32_t width,
                                   int32_t height) {
    const int32_t pitch = width + 2;
    uint32_t *rows = WORKLOAD_NEW(w, uint32_t, (size_t)pitch * ((size_t)height + 2));
    for (int32_t y = 0; y < height + 2; y++)
        for (int32_t x = 1; x <= width; x++) {
            const uint8_t *at = image + y * pitch + x;
            rows[y * pitch + x] = at[-1] + 2u * at[0] + at[1];
        }
    for (int32_t y = 1; y <= height; y++)
        for (int32_t x = 1; x <= width; x++) {
            const uint32_t *at = rows + y * pitch + x;
            out[y * pitch + x] = (uint8_t)((at[-pitch] + 2 * at[0] + at[pitch] + 8) / 16);
        }
}

static void gaussian(struct workload *w) {
    const int32_t width = sizes[w->size].width, height = sizes[w->size].height, pitch = width + 2;
    const size_t pixels = (size_t)pitch * ((size_t)height + 2);
    uint8_t *image = WORKLOAD_NEW(w, uint8_t, pixels), *got = WORKLOAD_NEW(w, uint8_t, pixels),
            *expected = WORKLOAD_NEW(w, uint8_t, pixels);
    struct random r = {3};
    for (size_t i = 0; i < pixels; i++)
        image[i] = random_below(&r, 2) ? 255 : 0;
    cl_mem from = workload_buffer(w, pixels, image), to = workload_buffer(w, pixels, expected);
    const size_t global[] = {(size_t)width, (size_t)height / TILE}, local[] = {TILE, 1};
    workload_launch(w, "blur", 2, global, local, ARGUMENT(from), ARGUMENT(to), ARGUMENT(pitch));
    workload_read(w, to, pixels, got);
    blur_rows_then_columns(w, image, expected, width, height);
    workload_expect(w, memcmp(got, expected, pixels) == 0, "blurred by rows and columns on the host");
}

int main(int argc, char **argv) { return workload_main(argc, argv, "gaussian", NULL, gaussian); }
