/* SPDX-License-Identifier: Apache-2.0 */
/* A liquid for molecular dynamics: particles at packing fraction 0.2 in a periodic cube, numbered along a curve through
 * the cube, and sorted into bins as wide as they can see. */
#ifndef SUITE_LIQUID_H
#define SUITE_LIQUID_H

#include "workload.h"

enum { BIN_ROOM = 64 }; /* particles that a bin can hold */
#define NO_PARTICLE UINT32_MAX

struct liquid {
    uint32_t count;
    float edge;                /* of the cube, in diameters of a particle */
    float cutoff, list_cutoff; /* forces reach this far; lists too, and a little further */
    cl_float4 *positions;      /* neighbours have numbers near each other, as after a sort of HOOMD's */
    uint32_t bins_per_edge;
    float bin_edge;
    uint32_t slots;  /* particles of the fullest bin */
    cl_float4 *bins; /* [slot * bins + bin]: position, and as bits of the fourth the number; NO_PARTICLE: empty */
};

struct liquid liquid_make(struct workload *w);
/* The squared distance to the nearest of the periodic images, and the way there. */
double liquid_distance(const struct liquid *liquid, uint32_t from, uint32_t to, double way[3]);
/* A workload: its kernel `forces` adds up Lennard-Jones forces by lists, compared with those of all pairs. Neighbour k of all
 * particles comes before neighbour k + 1 of any, or all neighbours of a particle before those of the next. */
void liquid_forces(struct workload *w, bool lists_interleave);

#endif
