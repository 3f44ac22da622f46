/* SPDX-License-Identifier: Apache-2.0 */
/* Where a launch file's buffers and variables lie on the device, and what they hold before the first launch. */
#ifndef HEDDLE_LAUNCH_PLACE_H
#define HEDDLE_LAUNCH_PLACE_H

#include "launch/run.h"

/* What will be written where, files read. */
struct place_fills {
    struct fill_cursor *buffers, *variables;
    void **places; /* of the variables */
};

/* Sizes and places of all, those with an address of their own first; run->buffers is set. The program is loaded. */
enum status place_all(struct run *run, struct place_fills *fills, struct report *report);
/* Contents. */
void place_fill(struct run *run, struct place_fills *fills);

/* What a fill of this buffer may read, and its seed. */
struct fill_source place_source(const struct run *run, unsigned buffer);
/* A buffer that was placed. */
void *place_data(const struct run *run, unsigned buffer);

#endif
