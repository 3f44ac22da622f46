/* SPDX-License-Identifier: Apache-2.0 */
/* Host side of Lennard-Jones forces: lists by the host, forces by the host from all pairs, in double precision. */
#include "liquid.h"
#include <math.h>
#include <string.h>

enum { BLOCK = 32, LIST_ROOM = 192 };

/* All near ones, in the order of their numbers. Both sides of a pair at once. */
static void make_lists(const struct liquid *l, uint32_t *counts, uint32_t *lists, uint32_t pitch) {
    const double cutoff = (double)l->list_cutoff * (double)l->list_cutoff;
    double way[3];
    for (uint32_t i = 0; i < l->count; i++)
        for (uint32_t j = i + 1; j < l->count; j++)
            if (liquid_distance(l, i, j, way) < cutoff) {
                lists[counts[i]++ * pitch + i] = j;
                lists[counts[j]++ * pitch + j] = i;
            }
}

/* Puts each particle's list behind that of the one before, and for its count where it begins. */
static void put_behind_each_other(struct workload *w, uint32_t count, uint32_t *counts, uint32_t *lists,
                                  uint32_t pitch) {
    uint32_t *apart = WORKLOAD_NEW(w, uint32_t, (size_t)pitch * LIST_ROOM);
    memcpy(apart, lists, (size_t)pitch * LIST_ROOM * sizeof *apart);
    uint32_t at = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t first = at;
        for (uint32_t k = 0; k < counts[i]; k++)
            lists[at++] = apart[k * pitch + i];
        counts[i] = first;
    }
    counts[count] = at;
}

/* Newton's third law: a pair is computed once, which the kernel cannot do. size: of all terms of a sum together. */
static void sum_pairs(const struct liquid *l, double (*sums)[4], double (*size)[4]) {
    const double cutoff = (double)l->cutoff * (double)l->cutoff;
    for (uint32_t i = 0; i < l->count; i++)
        for (uint32_t j = i + 1; j < l->count; j++) {
            double way[3];
            const double squared = liquid_distance(l, i, j, way);
            if (squared >= cutoff)
                continue;
            const double sixth = pow(squared, -3), factor = (48 * sixth * sixth - 24 * sixth) / squared;
            for (unsigned axis = 0; axis < 3; axis++) {
                const double force = factor * way[axis];
                sums[j][axis] += force, sums[i][axis] -= force;
                size[j][axis] += fabs(force), size[i][axis] += fabs(force);
            }
            const double energy = 4 * (sixth * sixth - sixth), terms = 4 * (sixth * sixth + sixth);
            sums[i][3] += energy, sums[j][3] += energy;
            size[i][3] += terms, size[j][3] += terms;
        }
}

void liquid_forces(struct workload *w, bool lists_interleave) {
    const struct liquid l = liquid_make(w);
    const uint32_t pitch = WORKLOAD_PITCH(l.count, sizeof(uint32_t));
    const size_t room = (size_t)pitch * LIST_ROOM;
    uint32_t *counts = WORKLOAD_NEW(w, uint32_t, l.count + 1), *lists = WORKLOAD_NEW(w, uint32_t, room);
    cl_float4 *got = WORKLOAD_NEW(w, cl_float4, l.count);
    double(*sums)[4] = workload_alloc(w, l.count, sizeof *sums), (*size)[4] = workload_alloc(w, l.count, sizeof *size);
    const float cutoff_squared = l.cutoff * l.cutoff;
    make_lists(&l, counts, lists, pitch);
    if (!lists_interleave)
        put_behind_each_other(w, l.count, counts, lists, pitch);
    cl_mem positions = workload_buffer(w, l.count * sizeof *l.positions, l.positions);
    cl_mem list_counts = workload_buffer(w, (l.count + 1) * sizeof *counts, counts);
    cl_mem list_entries = workload_buffer(w, room * sizeof *lists, lists);
    cl_mem result = workload_buffer(w, l.count * sizeof *got, NULL);
    const size_t global = workload_round_up(l.count, BLOCK), local = BLOCK;
    workload_launch(w, "forces", 1, &global, &local, ARGUMENT(positions), ARGUMENT(list_counts), ARGUMENT(list_entries),
                    ARGUMENT(l.count), ARGUMENT(pitch), ARGUMENT(l.edge), ARGUMENT(cutoff_squared), ARGUMENT(result));
    workload_read(w, result, l.count * sizeof *got, got);
    sum_pairs(&l, sums, size);
    /* Rounded positions are off by 2^-24 of the edge, which r^-13 makes larger; a pair at the cutoff counts or not. */
    const double at_cutoff = 24 * pow((double)l.cutoff, -7);
    bool right = true;
    for (uint32_t i = 0; i < l.count; i++)
        for (unsigned k = 0; k < 4; k++)
            right &= fabs((double)got[i].s[k] - sums[i][k]) <= 1e-4 * size[i][k] + at_cutoff;
    workload_expect(w, right, "forces and energies are those of all pairs");
}
