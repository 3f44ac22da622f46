/* SPDX-License-Identifier: Apache-2.0 */
/* What a launch goes through, for the files of this room: it is checked, run functionally or in time, and ended. */
#ifndef HEDDLE_DEVICE_LAUNCH_H
#define HEDDLE_DEVICE_LAUNCH_H

#include "device/state.h"
#include "emulate/emulate.h"

/* STATUS_INVALID with a report: the machine has no such grids or blocks, or less shared memory. */
enum status launch_check_sizes(const struct device *device, const struct launch *launch, struct report *report);
/* The same: the program sees warps of another size, or the mechanism does not run it. */
enum status launch_check_program(const struct device *device, const struct launch *launch, const struct linked *linked,
                                 struct report *report);

/* Of each block. */
uint32_t launch_shared_bytes(const struct launch *launch);
/* Blocks an SM holds at a time, at least one. */
uint32_t launch_blocks_per_sm(const struct device *device, const struct launch *launch);

/* device->gpu, for the first launch that needs it: its L2 holds what the host has copied. */
enum status launch_start_gpu(struct device *device, struct report *report);
/* Runs it on the machine in time. `emulation`: the same launch as a functional run, to whose counts, output and stats goes what
 * is counted and printed. */
enum status launch_run_in_time(struct device *device, const struct launch *launch, struct arena *arena,
                               const struct emulation *emulation, struct launch_result *result, struct report *report);

/* The machine in time, with nothing in its caches. */
enum status launch_make_gpu(struct device *device, struct report *report);

/* `end` every arena that belongs to one launch after the other: arena_reset or arena_free. */
void launch_end(struct device *device, void (*end)(struct arena *));

#endif
