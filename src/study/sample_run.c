/* SPDX-License-Identifier: Apache-2.0 */
#include "study/sample_run.h"

#include "device/host.h"
#include "result/result.h"

enum status sample_run_check_machine(const struct machine *machine, struct sample_request *request,
                                     struct report *report) {
    request->sms = machine->sm_count, request->rotates = machine->gpu.launch_rotates;
    const char *needs = machine_needs_time(machine), *cannot = host_cannot_warm(machine);
    if (needs)
        return report_add(report, STATUS_INVALID,
                          "--sample runs most launches without time, and divergence.mechanism=%s needs it: %s",
                          machine->divergence_mechanism, needs);
    if (cannot)
        return report_add(report, STATUS_INVALID,
                          "--sample: with %s caches of the SMs keep data from launch to launch, and launches without "
                          "time do not bring any there; run all launches in time",
                          cannot);
    return STATUS_OK;
}

void sample_run_count(struct run *run) {
    for (unsigned i = 0; i < run->file->launch_count; i++)
        run->launches[i].footprint = FOOTPRINT_COUNTED;
}

struct sample *sample_run_profile(const struct run *run, struct arena *arena, const struct sample_request *request) {
    struct sample_launch *launches = ARENA_ARRAY(arena, struct sample_launch, run->done);
    for (unsigned i = 0; i < run->done; i++) {
        const struct launch *launch = &run->launches[i];
        launches[i] = (struct sample_launch){.kernel = arena_strdup(arena, launch->kernel->name),
                                             .block = {launch->block[0], launch->block[1], launch->block[2]},
                                             .shared_bytes = launch->dynamic_shared_bytes,
                                             .stats = run->results[i].stats,
                                             .footprint_bytes = run->results[i].footprint_bytes};
    }
    return sample_create(arena, launches, run->done, request);
}

enum status sample_run_round(struct sample *sample, struct run *run, struct report *report) {
    enum status status = STATUS_OK;
    while (!status && run->done < sample_end(sample)) {
        const unsigned i = run->done;
        const bool wanted = sample_wants(sample, i);
        run->launches[i].in_time = wanted;
        run->launches[i].footprint = wanted ? FOOTPRINT_NONE : FOOTPRINT_WARMS;
        status = run_next(run, report);
        if (!status && wanted)
            status = sample_timed(sample, i, run->results[i].timed->cycles, &run->results[i].stats, report);
    }
    return status;
}

enum status sample_run_whole(struct sample *sample, const struct run *run, struct report *report) {
    enum status status = STATUS_OK;
    sample_next(sample);
    for (unsigned i = 0; i < run->done && !status; i++)
        status = sample_timed(sample, i, run->results[i].timed->cycles, &run->results[i].stats, report);
    return status;
}
