/* SPDX-License-Identifier: Apache-2.0 */
/* All experiments in one picture: what was published, ours beside it in tolerances, and both marks, by document. */
#ifndef HEDDLE_REPRO_OVERVIEW_H
#define HEDDLE_REPRO_OVERVIEW_H

#include "repro/experiment.h"

/* The document, in the arena. Studies are left out. */
char *overview_svg(const struct experiment *experiments, unsigned count, struct arena *arena, size_t *length);

#endif
