/* SPDX-License-Identifier: Apache-2.0 */
/* Lennard-Jones forces from a list for each particle. */
#include "liquid.h"

static void lennardjones_lists(struct workload *w) { liquid_forces(w, false); }

int main(int argc, char **argv) { return workload_main(argc, argv, "lennardjones_lists", NULL, lennardjones_lists); }
