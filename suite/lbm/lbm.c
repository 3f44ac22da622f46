/* SPDX-License-Identifier: Apache-2.0 */
/* Host side of the lattice Boltzmann method: flow through a bed of spheres, driven in one layer, periodic in all
 * directions. Computed once more in double precision, cells gathering from their neighbours. */
#include "workload.h"

#include <string.h>

enum { Q = 19, ENTRIES = 20, FLUID = 0, OBSTACLE = 1, DRIVEN = 2 };

struct box {
    cl_uint nx, ny, nz;
};

static const int way[Q][3] = {{0, 0, 0},  {0, 1, 0},   {0, -1, 0},  {1, 0, 0},  {-1, 0, 0}, {0, 0, 1},   {0, 0, -1},
                              {1, 1, 0},  {-1, -1, 0}, {-1, 1, 0},  {1, -1, 0}, {0, 1, 1},  {0, -1, -1}, {0, 1, -1},
                              {0, -1, 1}, {1, 0, 1},   {-1, 0, -1}, {1, 0, -1}, {-1, 0, 1}};

/* Spheres of radius 3 to 6 at random until a third of the cells is solid; the layer z = 0 stays free and drives. */
static void make_bed(uint8_t *kind, struct box b) {
    const size_t cells = (size_t)b.nx * b.ny * b.nz;
    struct random r = {41};
    for (size_t solid = 0; solid < cells / 3;) {
        const uint32_t radius = 3 + random_below(&r, 4), cx = random_below(&r, b.nx), cy = random_below(&r, b.ny);
        const uint32_t cz = random_below(&r, b.nz);
        for (uint32_t z = 1; z < b.nz; z++)
            for (uint32_t y = 0; y < b.ny; y++)
                for (uint32_t x = 0; x < b.nx; x++) {
                    uint8_t *cell = &kind[((size_t)z * b.ny + y) * b.nx + x];
                    const uint32_t dx = x - cx, dy = y - cy, dz = z - cz;
                    if (*cell == FLUID && dx * dx + dy * dy + dz * dz <= radius * radius) {
                        *cell = OBSTACLE;
                        solid++;
                    }
                }
    }
    memset(kind, DRIVEN, (size_t)b.nx * b.ny);
}

static double weight(int i) { return i == 0 ? 1.0 / 3 : i < 7 ? 1.0 / 18 : 1.0 / 36; }

/* What flows out of a cell: a pair of opposite directions at a time, as the part that both share and the part in which
 * they differ. */
static void collide(double *f, uint8_t kind) {
    const double omega = 1.95;
    double density = f[0], u[3] = {0};
    for (int i = 1; i < Q; i += 2) {
        density += f[i] + f[i + 1];
        for (int axis = 0; axis < 3; axis++)
            u[axis] += way[i][axis] * (f[i] - f[i + 1]);
    }
    for (int axis = 0; axis < 3; axis++)
        u[axis] = kind == DRIVEN ? (double[]){0.005, 0.002, 0}[axis] : u[axis] / density;
    const double rest = density * (1 - 1.5 * (u[0] * u[0] + u[1] * u[1] + u[2] * u[2]));
    if (kind != OBSTACLE)
        f[0] += omega * (weight(0) * rest - f[0]);
    for (int i = 1; i < Q; i += 2) {
        const double along = way[i][0] * u[0] + way[i][1] * u[1] + way[i][2] * u[2];
        const double even = weight(i) * (rest + 4.5 * density * along * along), odd = weight(i) * 3 * density * along;
        const double toward = f[i], away = f[i + 1];
        if (kind == OBSTACLE) {
            f[i] = away;
            f[i + 1] = toward;
        } else {
            f[i] += omega * (even + odd - toward);
            f[i + 1] += omega * (even - odd - away);
        }
    }
}

static void step(double *now, double *next, const uint8_t *kind, struct box b) {
    const size_t cells = (size_t)b.nx * b.ny * b.nz;
    const int size[3] = {(int)b.nx, (int)b.ny, (int)b.nz};
    for (size_t cell = 0; cell < cells; cell++) /* in `now` the distributions of a cell are neighbours */
        collide(now + cell * Q, kind[cell]);
    for (int z = 0; z < size[2]; z++)
        for (int y = 0; y < size[1]; y++)
            for (int x = 0; x < size[0]; x++)
                for (int i = 0; i < Q; i++) {
                    const int fx = (x - way[i][0] + size[0]) % size[0], fy = (y - way[i][1] + size[1]) % size[1];
                    const int fz = (z - way[i][2] + size[2]) % size[2];
                    const size_t from = ((size_t)fz * b.ny + (size_t)fy) * b.nx + (size_t)fx;
                    const size_t to = ((size_t)z * b.ny + (size_t)y) * b.nx + (size_t)x;
                    next[to * Q + (size_t)i] = now[from * Q + (size_t)i];
                }
}

static void lbm(struct workload *w) {
    const struct box b = (struct box[]){{16, 8, 8}, {32, 32, 48}, {100, 100, 130}}[w->size];
    const unsigned steps = (unsigned[]){2, 2, 20}[w->size];
    const size_t cells = (size_t)b.nx * b.ny * b.nz, count = cells * ENTRIES, bytes = count * sizeof(float);
    uint8_t *kind = WORKLOAD_NEW(w, uint8_t, cells);
    float *grid = WORKLOAD_NEW(w, float, count), *expected = WORKLOAD_NEW(w, float, count);
    double *wide[2] = {WORKLOAD_NEW(w, double, count), WORKLOAD_NEW(w, double, count)};
    make_bed(kind, b);
    for (size_t cell = 0; cell < cells; cell++) {
        for (size_t i = 0; i < Q; i++)
            grid[cell * ENTRIES + i] = (float)(wide[0][cell * Q + i] = weight((int)i));
        grid[cell * ENTRIES + Q] = kind[cell];
    }
    cl_mem in = workload_buffer(w, bytes, grid), out = workload_buffer(w, bytes, grid);
    const size_t block = workload_block(w, cells < 12288 ? 128 : 768),
                 threads = workload_round_up(cells < 12288 ? cells : 12288, block);
    for (unsigned i = 0; i < steps; i++) {
        workload_launch(w, "lbm_step", 1, &threads, &block, ARGUMENT(in), ARGUMENT(out), ARGUMENT(b.nx), ARGUMENT(b.ny),
                        ARGUMENT(b.nz));
        step(wide[i % 2], wide[(i + 1) % 2], kind, b);
        cl_mem swap = in;
        in = out;
        out = swap;
    }
    workload_read(w, in, bytes, grid);
    for (size_t cell = 0; cell < cells; cell++) {
        for (size_t i = 0; i < Q; i++)
            expected[cell * ENTRIES + i] = (float)wide[steps % 2][cell * Q + i];
        expected[cell * ENTRIES + Q] = kind[cell];
    }
    /* Distributions are below 0.4; a step rounds each some ten times by at most 2^-26, and relaxation does not let that
     * grow. */
    workload_close_f32(w, "distribution", grid, expected, count, 1e-6);
}

int main(int argc, char **argv) { return workload_main(argc, argv, "lbm", NULL, lbm); }
