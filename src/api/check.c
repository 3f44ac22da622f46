/* SPDX-License-Identifier: Apache-2.0 */
/* What is wrong with kernels: launch files and devices that are watched. */
#include "api/api.h"
#include "base/file.h"
#include "check/document.h"
#include "launch/run.h"
#include "result/checked_run.h"

static enum status read_kinds(const char *kinds, unsigned limit, struct check_options *out, struct report *report) {
    const char *wrong = NULL;
    size_t length = 0;
    if (!check_read_kinds(kinds, out, &wrong, &length))
        return report_add(report, STATUS_INVALID,
                          "kinds of a check are " CHECK_KINDS ", separated by commas, not '%.*s'", (int)length, wrong);
    if (limit > CHECK_LIMIT_MAX)
        return report_add(report, STATUS_INVALID, "a check keeps at most %d findings, not %u", CHECK_LIMIT_MAX, limit);
    out->limit = limit;
    return STATUS_OK;
}

/* The document of what was found; WRONG: there is an error. */
static enum status tell(const struct check *check, const char *what, const char *name, struct heddle_text *out) {
    struct arena arena = {0};
    json_t *document = document_create(check, what, name);
    document_suppress(document, &(struct suppressions){0}, &arena); /* as the program's: nothing is left out */
    const bool is_wrong = document_is_wrong(document);
    size_t bytes = 0;
    const char *text = document_write(document, &arena, &bytes);
    if (out)
        api_text_set(out, text, bytes);
    json_decref(document);
    arena_free(&arena);
    return is_wrong ? STATUS_WRONG : STATUS_OK;
}

static enum status check_run(struct run *run, const struct check_options *kinds, struct heddle_text *out,
                             struct report *report) {
    enum status status = checked_run_can(run, report);
    if (status)
        return status;
    struct check *check = checked_run_create(run->file, kinds);
    status = checked_run(run, check, report);
    if (!status)
        status = tell(check, "launch", run->file->name, out);
    check_free(check);
    return status;
}

enum heddle_status heddle_check_file(struct heddle_machine *machine, const char *path, const char *kinds,
                                     unsigned limit, uint64_t seed, struct heddle_text *out,
                                     struct heddle_text *errors) {
    if (!machine || !path)
        return api_no_handle(errors, __func__, machine ? "path" : "machine");
    struct report report = {0};
    struct arena arena = {0};
    struct launch_file file;
    struct check_options check = {0};
    const struct run_options options = {.seed = seed, .files = &file_access_host};
    enum status status = read_kinds(kinds, limit, &check, &report);
    if (!status)
        status = machine_check(&machine->machine, &report);
    if (!status)
        status = api_mode_check(&machine->machine, HEDDLE_FUNCTIONAL, &report);
    if (!status)
        status = launch_file_read(&arena, path, &file, &report);
    if (!status) {
        struct run run = {0};
        status = run_open(&run, &file, &machine->machine, &options, &report);
        if (!status)
            status = check_run(&run, &check, out, &report);
        run_close(&run);
    }
    arena_free(&arena);
    return api_end(status, &report, errors);
}

/* ---- devices ---- */

enum heddle_status heddle_device_check(struct heddle_device *device, const char *kinds, unsigned limit,
                                       struct heddle_text *errors) {
    if (!device)
        return api_no_handle(errors, __func__, "device");
    struct report report = {0};
    struct check_options options = {0};
    const enum status status = read_kinds(kinds, limit, &options, &report);
    if (!status) {
        if (device->check)
            check_free(device->check);
        device->check = check_create(&options);
    }
    return api_end(status, &report, errors);
}

enum heddle_status heddle_device_findings(struct heddle_device *device, struct heddle_text *out,
                                          struct heddle_text *errors) {
    if (!device)
        return api_no_handle(errors, __func__, "device");
    if (!device->check)
        return api_refuse(errors, "nothing is checked: heddle_device_check was not called");
    struct report report = {0};
    return api_end(tell(device->check, "program", "library", out), &report, errors);
}

enum status api_check_begin(struct heddle_kernel *kernel, struct launch *launch, struct report *report) {
    const struct heddle_module *module = kernel->module;
    struct check *check = module->device->check;
    if (!check || launch->in_time)
        return STATUS_OK;
    const char *why = check_refusal(module->module, launch->grid, launch->block, module->device->machine.warp_size);
    if (why)
        return report_add(report, STATUS_INVALID, "%s: it cannot be checked: kernel '%s' %s", module->name,
                          kernel->function->name, why);
    check_all_must_come(check, file_ends_in(module->name, ".cl"));
    check_begin(check);
    launch->checker = check_watch(check);
    return STATUS_OK;
}

void api_check_end(struct heddle_kernel *kernel, const struct launch *launch, enum status status, const char *text) {
    struct check *check = kernel->module->device->check;
    if (!check)
        return;
    if (!launch->checker)
        check_unwatched(check);
    else if (status == STATUS_STOPPED)
        check_stopped(check, kernel->module->module, kernel->function->name, text);
}
