/* SPDX-License-Identifier: Apache-2.0 */
/* Launches of a launch file sampled (study/sample.h): their profile, and a round of the sample. */
#ifndef HEDDLE_STUDY_SAMPLE_RUN_H
#define HEDDLE_STUDY_SAMPLE_RUN_H

#include "launch/run.h"
#include "study/sample.h"

/* STATUS_INVALID: launches on this machine cannot be sampled. The request knows its SMs from then on. */
enum status sample_run_check_machine(const struct machine *machine, struct sample_request *request,
                                     struct report *report);
/* A run that was opened without time counts what its launches touch. */
void sample_run_count(struct run *run);
/* Of a run whose launches are done; what the sample needs of them is copied to the arena. */
struct sample *sample_run_profile(const struct run *run, struct arena *arena, const struct sample_request *request);
/* The launches of the round that the sample asks for, in time, on a run that was opened in time; those between without it, and what they
 * leave in caches is there. */
enum status sample_run_round(struct sample *sample, struct run *run, struct report *report);
/* The sample has every launch of a run that was wholly in time. */
enum status sample_run_whole(struct sample *sample, const struct run *run, struct report *report);

#endif
