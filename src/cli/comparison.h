/* SPDX-License-Identifier: Apache-2.0 */
/* One table for several runs of the same launch file. */
#ifndef HEDDLE_CLI_COMPARISON_H
#define HEDDLE_CLI_COMPARISON_H

#include "energy/energy.h"
#include "launch/run.h"
#include <stdio.h>

struct variant {
    const char *label;
    const char *outcome; /* "" : as it should be; else "wrong", "stopped", "needs time": did not run */
    const char *reason;  /* why it needs time */
    const char *note;    /* before its cycles are compared; NULL: none */
    struct run_stats stats;
    struct gpu_stats timed; /* without the counts of instructions */
    struct energy energy;
    bool has_energy; /* was asked for, and is known */
    unsigned judged; /* as in struct energy_params, with the error */
    double error;
};

/* `what` the labels are values of. */
void comparison_print(const char *what, const struct variant *variants, unsigned count, bool in_time, FILE *to);

#endif
