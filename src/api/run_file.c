/* SPDX-License-Identifier: Apache-2.0 */
/* A whole launch file run by the library. */
#include "api/api.h"
#include "base/team.h"
#include "result/result.h"

/* A run that was opened: all launches, the checks, the document. */
static enum status carry_out(struct run *run, struct arena *arena, struct heddle_text *out, struct report *report) {
    const double start = team_clock_seconds();
    enum status status = STATUS_OK;
    while (!status && run->done < run->file->launch_count)
        status = run_next(run, report);
    const double seconds = team_clock_seconds() - start;
    const bool complete = !status;
    if (complete)
        status = run_check(run, report);
    if (!out || (status && status != STATUS_WRONG && status != STATUS_STOPPED))
        return status;
    size_t bytes = 0;
    const char *text = result_write(run, complete, seconds, arena, &bytes, report);
    if (text)
        api_text_set(out, text, bytes);
    return status ? status : text ? STATUS_OK : STATUS_SYSTEM;
}

enum heddle_status heddle_run_file(struct heddle_machine *machine, const char *path, enum heddle_mode mode,
                                   uint64_t seed, heddle_watch *watch, void *user, struct heddle_text *out,
                                   struct heddle_text *errors) {
    if (!machine || !path)
        return api_no_handle(errors, __func__, machine ? "path" : "machine");
    if (!api_is_mode(mode))
        return api_refuse(errors, "%s: %d is no mode", __func__, (int)mode);
    struct report report = {0};
    struct arena arena = {0};
    struct launch_file file;
    struct run run = {0};
    struct api_watcher watcher = {watch, user};
    const struct run_options options = {.seed = seed,
                                        .files = &file_access_host,
                                        .in_time = mode == HEDDLE_IN_TIME,
                                        .watch = watch ? api_watch : NULL,
                                        .watcher = &watcher};
    enum status status = machine_check(&machine->machine, &report);
    if (!status)
        status = api_mode_check(&machine->machine, mode, &report);
    if (!status)
        status = launch_file_read(&arena, path, &file, &report);
    if (!status) {
        status = run_open(&run, &file, &machine->machine, &options, &report);
        if (!status)
            status = carry_out(&run, &arena, out, &report);
        run_close(&run);
    }
    arena_free(&arena);
    return api_end(status, &report, errors);
}
