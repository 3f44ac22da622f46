/* SPDX-License-Identifier: Apache-2.0 */
#include "result/checked_run.h"

#include "base/file.h"

struct check *checked_run_create(const struct launch_file *file, const struct check_options *options) {
    struct check_options own = *options;
    own.all_must_come = file_ends_in(file->module, ".cl");
    return check_create(&own);
}

enum status checked_run_can(const struct run *run, struct report *report) {
    for (unsigned i = 0; i < run->file->launch_count; i++) {
        const struct launch *launch = &run->launches[i];
        const char *why = check_refusal(run->module, launch->grid, launch->block, run->machine->warp_size);
        if (why)
            return report_add(report, STATUS_INVALID, "%s: heddle check does not take it: kernel '%s' %s",
                              run->file->name, launch->kernel->name, why);
    }
    return STATUS_OK;
}

enum status checked_run(struct run *run, struct check *check, struct report *report) {
    return checked_run_by(run, check, check_watch(check), report);
}

enum status checked_run_by(struct run *run, struct check *check, const struct exec_watch *watch,
                           struct report *report) {
    while (run->done < run->file->launch_count) {
        const unsigned number = run->done;
        struct report inner = {0};
        check_begin(check);
        run->launches[number].checker = watch;
        const enum status status = run_next(run, &inner);
        if (status == STATUS_STOPPED)
            check_stopped(check, run->module, run->launches[number].kernel->name, report_text(&inner));
        else if (status)
            report_add(report, status, "%s", report_text(&inner));
        report_free(&inner);
        if (status)
            return status == STATUS_STOPPED ? STATUS_OK : status;
    }
    return STATUS_OK;
}
