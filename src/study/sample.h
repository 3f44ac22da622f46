/* SPDX-License-Identifier: Apache-2.0 */
/* Sampling of launches: which launches of a program to time so that the cycles of all are known within an error, and what follows from
 * those that were. docs/sampling.md.
 *
 * Launches that are alike make a group: the same kernel, block and shared memory, then split while what they did differs too much
 * (blocks, instructions by class, divergence, footprint), as Sieve does with the coefficient of variation of instruction counts. The
 * first launch of a kernel on each SM, and small groups, are timed in any case. Of each other group some are drawn by chance; how many, as
 * STEM+ROOT decides, by what they deviate. */
#ifndef HEDDLE_STUDY_SAMPLE_H
#define HEDDLE_STUDY_SAMPLE_H

#include "base/arena.h"
#include "base/status.h"
#include "emulate/run_stats.h"
#include "isa/module.h"
#include "result/sample.h"

struct sample_request {
    double error; /* of the cycles of all launches, the half-width of their interval; 0: every launch is timed */
    uint64_t seed;
    uint32_t sms; /* of the machine; 0 counts as 1 */
    bool rotates; /* a launch begins where the one before ended (launch.rotates); else on the first SM */
};
/* "error=1%", where 0 <= error < 100. */
enum status sample_read(const char *text, struct sample_request *out, struct report *report);

/* What the functional run says of a launch. */
struct sample_launch {
    const char *kernel;
    uint32_t block[3], shared_bytes;
    struct run_stats stats;
    uint64_t footprint_bytes;
};

/* STATUS_INVALID: the code reads a clock, so that what it does depends on time. */
enum status sample_check_module(const struct module *module, struct report *report);

struct sample;
/* `launches` are the caller's, and stay. */
struct sample *sample_create(struct arena *arena, const struct sample_launch *launches, uint32_t count,
                             const struct sample_request *request);
/* Every launch is to be timed: there is nothing to sample. */
bool sample_is_whole(const struct sample *sample);
/* Another round begins: sample_wants says what it times, none of which was timed before; sample_end is behind the last of them. False: the interval
 * is as narrow as was asked for, and there is none. */
bool sample_next(struct sample *sample);
bool sample_wants(const struct sample *sample, uint32_t launch);
uint32_t sample_end(const struct sample *sample);
/* Of a launch that is wanted. STATUS_STOPPED: in time it issued other instructions than without, so it depends on time or on the order
 * of threads. */
enum status sample_timed(struct sample *sample, uint32_t launch, uint64_t cycles, const struct run_stats *stats,
                         struct report *report);
/* In the arena of sample_create. */
const struct result_sample *sample_result(struct sample *sample);

#endif
