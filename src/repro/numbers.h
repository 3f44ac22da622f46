/* SPDX-License-Identifier: Apache-2.0 */
/* Every number, check and mark of experiments as CSV: what a later model is held against. */
#ifndef HEDDLE_REPRO_NUMBERS_H
#define HEDDLE_REPRO_NUMBERS_H

#include "repro/experiment.h"

/* The columns id, size, kind (mark, check or number), item, ours, interval, outcome; behind a line that names the model. */
enum status numbers_write(const struct experiment *experiments, unsigned count, const char *path, struct arena *arena,
                          struct report *report);

#endif
