/* SPDX-License-Identifier: Apache-2.0 */
/* What heddle run and heddle exec show of a sample. */
#ifndef HEDDLE_CLI_RUN_SAMPLE_H
#define HEDDLE_CLI_RUN_SAMPLE_H

#include "cli/commands.h"
#include "result/sample.h"

#define OPTION_SAMPLE                                                                                                  \
    { "sample", 0, "error=N%", "estimate the cycles of all launches within N % from the few that are timed" }

void sample_print(const struct result_sample *sample, FILE *to);

#endif
