/* SPDX-License-Identifier: Apache-2.0 */
/* Host side of hotspot: a die of 16 mm with a processor's units on it. The host steps in double precision, by flows between
 * neighbouring cells instead of sums at cells. */
#include "workload.h"

enum { BLOCK = 256 };

static const double side = 0.016, thickness = 0.0005, heat_capacity = 1.75e6, conductivity = 100, air = 80;

struct unit {
    uint32_t left, top, right, bottom; /* 64ths of the die */
    double watts;
};

/* Caches are large and cool, the integer core is small and hot. */
static const struct unit units[] = {
    {0, 40, 64, 64, 6},   {0, 0, 20, 40, 3},    {44, 0, 64, 40, 3},  {20, 0, 32, 14, 5},  {32, 0, 44, 14, 6},
    {20, 14, 28, 24, 4},  {28, 14, 36, 20, 9},  {36, 14, 44, 24, 5}, {28, 20, 36, 24, 3}, {20, 24, 44, 30, 4},
    {20, 30, 30, 40, 11}, {30, 30, 38, 40, 12}, {38, 30, 44, 40, 4},
};

static void make_chip(uint32_t n, float *power, float *temperature) {
    struct random r = {8};
    for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
        const struct unit *unit = &units[u];
        const uint32_t left = unit->left * n / 64, right = unit->right * n / 64;
        const uint32_t top = unit->top * n / 64, bottom = unit->bottom * n / 64;
        const double watts = unit->watts / ((double)(right - left) * (double)(bottom - top));
        for (uint32_t row = top; row < bottom; row++)
            for (uint32_t column = left; column < right; column++) {
                power[row * n + column] = (float)(watts * (0.75 + 0.5 * (double)random_unit(&r)));
                temperature[row * n + column] = (float)(air + unit->watts + 2 * (double)random_unit(&r));
            }
    }
}

/* What the power of a cell, and a difference of one degree to a neighbour or to the air, add to its temperature in a step. The
 * step is a quarter of the longest that is stable. */
struct rates {
    float power, across, down, above;
};

static struct rates make_rates(uint32_t n) {
    const double edge = side / n, capacity = 0.5 * heat_capacity * thickness * edge * edge;
    const double to_neighbour = conductivity * thickness, to_air = conductivity * edge * edge / thickness;
    const double seconds = 0.25 * capacity / (4 * to_neighbour + to_air);
    return (struct rates){(float)(seconds / capacity), (float)(seconds / capacity * to_neighbour),
                          (float)(seconds / capacity * to_neighbour), (float)(seconds / capacity * to_air)};
}

/* Heat flows between the cells of a pair. */
static void step(const struct rates *rates, uint32_t n, const float *power, const double *from, double *to) {
    for (uint32_t i = 0; i < n * n; i++)
        to[i] = from[i] + (double)rates->power * (double)power[i] + (double)rates->above * (air - from[i]);
    for (uint32_t row = 0; row < n; row++)
        for (uint32_t column = 0; column < n; column++) {
            const uint32_t i = row * n + column;
            if (column + 1 < n) {
                const double flow = (double)rates->across * (from[i] - from[i + 1]);
                to[i] -= flow;
                to[i + 1] += flow;
            }
            if (row + 1 < n) {
                const double flow = (double)rates->down * (from[i] - from[i + n]);
                to[i] -= flow;
                to[i + n] += flow;
            }
        }
}

static void hotspot(struct workload *w) {
    const uint32_t n = (uint32_t[]){64, 512, 512}[w->size], steps = (uint32_t[]){8, 8, 12}[w->size], cells = n * n;
    const struct rates rates = make_rates(n);
    const float surroundings = (float)air;
    float *power = WORKLOAD_NEW(w, float, cells), *got = WORKLOAD_NEW(w, float, cells);
    float *expected = WORKLOAD_NEW(w, float, cells);
    double *now = WORKLOAD_NEW(w, double, cells), *then = WORKLOAD_NEW(w, double, cells);
    make_chip(n, power, got);
    for (uint32_t i = 0; i < cells; i++)
        now[i] = (double)got[i];
    cl_mem watts = workload_buffer(w, cells * sizeof *power, power);
    cl_mem from = workload_buffer(w, cells * sizeof *got, got), to = workload_buffer(w, cells * sizeof *got, NULL);
    const size_t threads = w->size == SIZE_TEST ? 512 : 1024;
    const size_t block = workload_warp_block(w, "hotspot_step", BLOCK, threads);
    for (uint32_t i = 0; i < steps; i++) {
        workload_launch(w, "hotspot_step", 1, &threads, &block, ARGUMENT(from), ARGUMENT(watts), ARGUMENT(to),
                        ARGUMENT(n), ARGUMENT(n), ARGUMENT(rates.power), ARGUMENT(rates.across), ARGUMENT(rates.down),
                        ARGUMENT(rates.above), ARGUMENT(surroundings));
        const cl_mem swapped = from;
        from = to;
        to = swapped;
        step(&rates, n, power, now, then);
        double *const later = then;
        then = now;
        now = later;
    }
    workload_read(w, from, cells * sizeof *got, got);
    for (uint32_t i = 0; i < cells; i++)
        expected[i] = (float)now[i];
    /* A step rounds to half a unit in the last place of about 90 degrees, 2^-18, and passes older errors on undiminished. */
    workload_close_f32(w, "temperature", got, expected, cells, steps * 0x1p-23);
}

int main(int argc, char **argv) { return workload_main(argc, argv, "hotspot", NULL, hotspot); }
