/* SPDX-License-Identifier: Apache-2.0 */
/* The tables `heddle exec` shows. */
#ifndef HEDDLE_CLI_EXEC_SUMMARY_H
#define HEDDLE_CLI_EXEC_SUMMARY_H

#include <stdio.h>

#include "result/session.h"

void exec_summary_print(const struct session_sum *sum, const char *program, const struct machine *machine,
                        double seconds, unsigned lines, FILE *to);

#endif
