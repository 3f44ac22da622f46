/* SPDX-License-Identifier: Apache-2.0 */
/* What heddle run --predict-threads prints. */
#ifndef HEDDLE_CLI_PREDICTION_H
#define HEDDLE_CLI_PREDICTION_H

#include <stdio.h>

#include "base/arena.h"
#include "base/meter.h"

/* `messages` between the parts, of the whole run. */
void prediction_print(const struct meter *meter, uint64_t messages, struct arena *arena, FILE *to);

#endif
