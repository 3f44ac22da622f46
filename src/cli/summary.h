/* The table `heddle run` shows. */
#ifndef HEDDLE_CLI_SUMMARY_H
#define HEDDLE_CLI_SUMMARY_H

#include "device/run.h"
#include <stdio.h>

/* Launches, the `lines` source lines with most work, checks, what to try next. */
void summary_print(struct run *run, double seconds, unsigned lines, FILE *to);

#endif
