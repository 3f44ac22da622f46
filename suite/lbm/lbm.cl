/* Lattice Boltzmann method, D3Q19, one time step: a thread has every n-th cell, n being the number of threads; it reads
 * the 19 distributions of the cell, relaxes them towards equilibrium, and writes each to the neighbour it flows to. An
 * obstacle sends everything back where it came from; in the driven cells the velocity is given. In both grids a cell is
 * its distributions and its kind side by side, as in 470.lbm. */
#define Q 19
#define ENTRIES 20
#define OMEGA 1.95f

enum { FLUID, OBSTACLE, DRIVEN };

/* Directions 2 i + 1 and 2 i + 2 are opposite. */
constant int way[Q][3] = {{0, 0, 0},  {0, 1, 0},   {0, -1, 0},  {1, 0, 0},  {-1, 0, 0}, {0, 0, 1},   {0, 0, -1},
                          {1, 1, 0},  {-1, -1, 0}, {-1, 1, 0},  {1, -1, 0}, {0, 1, 1},  {0, -1, -1}, {0, 1, -1},
                          {0, -1, 1}, {1, 0, 1},   {-1, 0, -1}, {1, 0, -1}, {-1, 0, 1}};

uint wrap(uint at, int step, uint size) {
    if (step > 0)
        return at + 1 == size ? 0 : at + 1;
    if (step < 0)
        return at == 0 ? size - 1 : at - 1;
    return at;
}

void bounce(float *f) {
#pragma unroll
    for (int i = 1; i < Q; i += 2) {
        const float back = f[i];
        f[i] = f[i + 1];
        f[i + 1] = back;
    }
}

void collide(float *f, bool driven) {
    float density = 0, ux = 0, uy = 0, uz = 0;
#pragma unroll
    for (int i = 0; i < Q; i++) {
        density += f[i];
        ux += way[i][0] * f[i];
        uy += way[i][1] * f[i];
        uz += way[i][2] * f[i];
    }
    ux /= density;
    uy /= density;
    uz /= density;
    if (driven) {
        ux = 0.005f;
        uy = 0.002f;
        uz = 0;
    }
    const float square = 1.5f * (ux * ux + uy * uy + uz * uz);
#pragma unroll
    for (int i = 0; i < Q; i++) {
        const float along = way[i][0] * ux + way[i][1] * uy + way[i][2] * uz;
        const float weight = i == 0 ? 1.0f / 3 : i < 7 ? 1.0f / 18 : 1.0f / 36;
        f[i] = (1 - OMEGA) * f[i] + OMEGA * weight * density * (1 + along * (3 + 4.5f * along) - square);
    }
}

kernel void lbm_step(global const float *in, global float *out, uint nx, uint ny, uint nz) {
    const uint cells = nx * ny * nz;
    for (uint cell = get_global_id(0); cell < cells; cell += get_global_size(0)) {
        const uint x = cell % nx, y = cell / nx % ny, z = cell / nx / ny;
        const int kind = (int)in[cell * ENTRIES + Q];
        float f[Q];
#pragma unroll
        for (int i = 0; i < Q; i++)
            f[i] = in[cell * ENTRIES + i];
        if (kind == OBSTACLE)
            bounce(f);
        else
            collide(f, kind == DRIVEN);
#pragma unroll
        for (int i = 0; i < Q; i++)
            out[((wrap(z, way[i][2], nz) * ny + wrap(y, way[i][1], ny)) * nx + wrap(x, way[i][0], nx)) * ENTRIES + i] =
                f[i];
    }
}
// SPDX-License-Identifier: Apache-2.0
