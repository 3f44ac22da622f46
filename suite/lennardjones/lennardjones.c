/* SPDX-License-Identifier: Apache-2.0 */
/* Lennard-Jones forces from lists that interleave. */
#include "liquid.h"

static void lennardjones(struct workload *w) { liquid_forces(w, true); }

int main(int argc, char **argv) { return workload_main(argc, argv, "lennardjones", NULL, lennardjones); }
