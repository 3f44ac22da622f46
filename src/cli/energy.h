/* SPDX-License-Identifier: Apache-2.0 */
/* Energy for tables: what runs took, by parts of the machine, and how far it may be from a card's. */
#ifndef HEDDLE_CLI_ENERGY_H
#define HEDDLE_CLI_ENERGY_H

#include <stdio.h>

#include "result/timed.h"

#define OPTION_ENERGY                                                                                                  \
    { "energy", 0, NULL, "in time: show the energy of the run by what took it, and its error (docs/energy.md)" }

enum energy_part {
    PART_ISSUE,
    PART_REGISTERS,
    PART_LANES,
    PART_SM_MEMORY,
    PART_L2,
    PART_DRAM,
    PART_STATIC,
    ENERGY_PARTS
};
extern const char *const energy_part_names[ENERGY_PARTS];
/* In nanojoules; all parts add up to the total. */
double energy_part(const struct energy *energy, enum energy_part part);
/* STATUS_INVALID with a report: the machine has no energies. */
enum status energy_check(const struct machine *machine, struct report *report);
/* A table of the parts, the mean power, and the error. */
void energy_print(const struct machine *machine, const struct gpu_stats *timed, const struct run_stats *stats,
                  struct arena *arena, FILE *to);
/* What is known of the error, by the number of kernels that were held against a card. of: whose energy, NULL: nobody asks. */
void energy_print_error(const char *of, unsigned judged, double error, FILE *to);

#endif
