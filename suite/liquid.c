/* SPDX-License-Identifier: Apache-2.0 */
#include "liquid.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    uint32_t per_edge; /* particles */
    float cutoff, margin;
} sizes[SIZE_COUNT] = {{8, 1.5f, 0.3f}, {26, 3.0f, 0.8f}, {40, 3.0f, 0.8f}};

static uint32_t bin_of(const struct liquid *l, const cl_float4 *p) {
    uint32_t bin = 0;
    for (int axis = 2; axis >= 0; axis--) {
        uint32_t at = (uint32_t)(p->s[axis] / l->bin_edge);
        if (at >= l->bins_per_edge)
            at = l->bins_per_edge - 1;
        bin = bin * l->bins_per_edge + at;
    }
    return bin;
}

/* Bits of a number, two places apart. */
static uint32_t spread(uint32_t bits) {
    uint32_t apart = 0;
    for (unsigned bit = 0; bit < 10; bit++)
        apart |= (bits >> bit & 1) << 3 * bit;
    return apart;
}

struct numbered {
    uint32_t along, at; /* the curve; the lattice */
};

static int order(const void *a, const void *b) {
    const struct numbered *x = a, *y = b;
    return x->along < y->along ? -1 : x->along > y->along;
}

/* On a lattice, each moved at random by up to a seventh of its way to the next: no two overlap much. Their numbers are in
 * Morton's order. */
static cl_float4 *place(struct workload *w, const struct liquid *l, uint32_t per_edge) {
    cl_float4 *positions = WORKLOAD_NEW(w, cl_float4, l->count);
    struct numbered *numbers = WORKLOAD_NEW(w, struct numbered, l->count);
    const float step = l->edge / (float)per_edge;
    struct random r = {5};
    for (uint32_t i = 0; i < l->count; i++)
        numbers[i] = (struct numbered){.along = spread(i % per_edge) | spread(i / per_edge % per_edge) << 1 |
                                                spread(i / per_edge / per_edge) << 2,
                                       .at = i};
    qsort(numbers, l->count, sizeof *numbers, order);
    for (uint32_t i = 0; i < l->count; i++) {
        const uint32_t number = numbers[i].at;
        const uint32_t at[3] = {number % per_edge, number / per_edge % per_edge, number / per_edge / per_edge};
        for (unsigned axis = 0; axis < 3; axis++)
            positions[i].s[axis] = ((float)at[axis] + 0.5f + (random_unit(&r) - 0.5f) / 3.5f) * step;
    }
    return positions;
}

struct liquid liquid_make(struct workload *w) {
    const uint32_t per_edge = sizes[w->size].per_edge;
    struct liquid l = {.count = per_edge * per_edge * per_edge,
                       .edge = 1.37820f * (float)per_edge, /* pi / 6 of a cube's share is 0.2 */
                       .cutoff = sizes[w->size].cutoff,
                       .list_cutoff = sizes[w->size].cutoff + sizes[w->size].margin};
    l.bins_per_edge = (uint32_t)(l.edge / l.list_cutoff);
    l.bin_edge = l.edge / (float)l.bins_per_edge;
    const uint32_t bin_count = l.bins_per_edge * l.bins_per_edge * l.bins_per_edge;
    const uint32_t empty = NO_PARTICLE;
    uint32_t *counts = WORKLOAD_NEW(w, uint32_t, bin_count);
    l.bins = WORKLOAD_NEW(w, cl_float4, (size_t)bin_count * BIN_ROOM);
    for (size_t i = 0; i < (size_t)bin_count * BIN_ROOM; i++)
        memcpy(&l.bins[i].s[3], &empty, sizeof empty);
    l.positions = place(w, &l, per_edge);
    for (uint32_t i = 0; i < l.count; i++) {
        const uint32_t bin = bin_of(&l, &l.positions[i]), slot = counts[bin]++;
        if (slot >= BIN_ROOM) {
            fprintf(stderr, "bin %u has too many particles\n", (unsigned)bin);
            exit(2);
        }
        l.bins[slot * bin_count + bin] = l.positions[i];
        memcpy(&l.bins[slot * bin_count + bin].s[3], &i, sizeof i);
        l.slots = slot >= l.slots ? slot + 1 : l.slots;
    }
    return l;
}

double liquid_distance(const struct liquid *liquid, uint32_t from, uint32_t to, double way[3]) {
    double sum = 0;
    for (unsigned axis = 0; axis < 3; axis++) {
        way[axis] = (double)liquid->positions[to].s[axis] - (double)liquid->positions[from].s[axis];
        way[axis] -= (double)liquid->edge * rint(way[axis] / (double)liquid->edge);
        sum += way[axis] * way[axis];
    }
    return sum;
}
