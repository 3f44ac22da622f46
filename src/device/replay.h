/* SPDX-License-Identifier: Apache-2.0 */
/* A launch in time whose warps do what they did in another, in the same order each: its blocks need not wait for what the
 * first waited for. `recording` stands in for the executors of the first, `replay` for those of the second. */
#ifndef HEDDLE_DEVICE_REPLAY_H
#define HEDDLE_DEVICE_REPLAY_H

#include "base/arena.h"
#include "base/status.h"
#include "simt/executor.h"
#include "isa/module.h"

struct recording;

/* Of a launch of `blocks` blocks of `warps` warps each, on `sms` SMs whose executors these are. `progress` grows with every
 * store and atomic that is replayed. */
struct recording *recording_create(struct arena *arena, const struct executor *executors, uint32_t sms, uint64_t blocks,
                                   unsigned warps, uint64_t *progress);
/* Executors that keep what those of the launch do. Barriers are kept as instructions that wait for nobody. */
struct executor recording_executor(struct recording *recording, uint32_t sm);
/* STATUS_SYSTEM with a report: there was more to keep than a host holds. */
enum status recording_check(const struct recording *recording, struct report *report);
/* Executors that do it again. */
struct executor replay_executor(struct recording *recording, uint32_t sm);

#endif
