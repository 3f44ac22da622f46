/* SPDX-License-Identifier: Apache-2.0 */
#include "result/guest_check.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "check/check.h"
#include "check/document.h"
#include "isa/source.h"
#include "launch/bind.h"

struct guest_check {
    struct arena arena;
    struct check_options options;
    const char *path;
    struct device *device;
    struct check *check; /* of the device that there is; NULL: none */
    uint32_t warp_size;
    json_t *gone;      /* what was found on devices that have gone */
    uint64_t written;  /* check_met of what the file holds */
    unsigned findings; /* and how many findings */
    bool is_watched;   /* the launch under way */
    bool said;         /* that a launch is not watched */
};

struct guest_check *guest_check_create(const char *path, bool is_opencl) {
    const char *kinds = getenv("HEDDLE_CHECK"), *limit = getenv("HEDDLE_CHECK_LIMIT"), *wrong;
    uint64_t number = CHECK_LIMIT_DEFAULT;
    size_t length;
    if (!kinds || !*kinds)
        return NULL;
    struct arena arena = {0};
    struct guest_check *check = ARENA_NEW(&arena, struct guest_check);
    check->path = arena_strdup(&arena, path);
    check->arena = arena;
    check->options.all_must_come = is_opencl;
    if (!check_read_kinds(kinds, &check->options, &wrong, &length)) /* "all" */
        check_read_kinds(NULL, &check->options, &wrong, &length);
    if (limit && text_to_u64(limit, &number) && number > CHECK_LIMIT_MAX)
        number = CHECK_LIMIT_MAX;
    check->options.limit = (unsigned)number;
    check->gone = document_create(NULL, "program", program_invocation_short_name);
    return check;
}

/* ---- the file ---- */

/* The text with the place of an access called as the user sees it, from the folder at hand. */
static void rename_file(json_t *finding, const char *side, struct arena *arena) {
    json_t *access = json_object_get(finding, side);
    const char *path = json_string_value(json_object_get(access, "file")),
               *text = json_string_value(json_object_get(finding, "message")), *found;
    if (!path || *path != '/')
        return;
    const char *here = source_name_here(arena, path);
    if (text && (found = strstr(text, path)))
        json_object_set_new(finding, "message",
                            json_string(arena_printf(arena, "%.*s%s%s", (int)(found - text), text, here,
                                                     found + strlen(path))));
    json_object_set_new(access, "file", json_string(here));
}

static json_t *document_here(struct guest_check *check) {
    struct arena arena = {0};
    json_t *all = json_deep_copy(check->gone), *finding;
    size_t i;
    if (check->check) {
        json_t *now = document_create(check->check, "program", program_invocation_short_name);
        json_array_foreach (json_object_get(now, "findings"), i, finding) {
            const char *kernel = json_string_value(json_object_get(finding, "kernel"));
            rename_file(finding, "other", &arena);
            rename_file(finding, "at", &arena);
            if (kernel)
                json_object_set_new(finding, "kernel", json_string(bind_source_name(&arena, kernel)));
        }
        document_add(all, now, check->options.limit);
        json_decref(now);
    }
    arena_free(&arena);
    return all;
}

/* At the end all is written; before that, what is new, for the process may be killed. */
static void write_file(struct guest_check *check, bool is_end) {
    unsigned findings = 0;
    if (!check->check || check_met(check->check) == check->written)
        return;
    check_findings(check->check, &findings);
    if (!is_end && findings == check->findings)
        return;
    struct arena arena = {0};
    struct report report = {0};
    json_t *document = document_here(check);
    size_t length;
    const char *text = document_write(document, &arena, &length);
    file_write(check->path, text, length, &report); /* who waits for the program sees that it is not there */
    json_decref(document);
    report_free(&report);
    arena_free(&arena);
    check->findings = findings;
    check->written = check_met(check->check);
}

/* ---- devices ---- */

void guest_check_device(struct guest_check *check, struct device *device, uint32_t warp_size) {
    if (!check)
        return;
    check->check = check_create(&check->options);
    check->device = device;
    check->warp_size = warp_size;
    check->written = 0;
    check->findings = 0;
    device_listen(device, check_listener(check->check));
}

void guest_check_device_end(struct guest_check *check) {
    if (!check || !check->check)
        return;
    write_file(check, true);
    json_t *all = document_here(check); /* its modules go with the device */
    json_decref(check->gone);
    check->gone = all;
    check->options.launches = check_launches(check->check);
    device_listen(check->device, NULL);
    check_free(check->check);
    check->check = NULL;
}

void guest_check_leaks(struct guest_check *check) {
    if (!check || !check->check)
        return;
    check_leaks(check->check);
    write_file(check, true);
}

void guest_check_free(struct guest_check *check) {
    if (!check)
        return;
    guest_check_device_end(check);
    json_decref(check->gone);
    struct arena arena = check->arena;
    arena_free(&arena);
}

void guest_check_allocated(struct guest_check *check, const struct host_range *range, bool is_written) {
    if (check && check->check)
        check_allocated(check->check, range->start, range->bytes, range->name, is_written);
}

void guest_check_freed(struct guest_check *check, uint64_t start) {
    if (check && check->check)
        check_freed(check->check, start);
}

/* ---- launches ---- */

void guest_check_begin(struct guest_check *check, struct launch *launch, struct session_log *log) {
    if (!check || !check->check)
        return;
    const char *why = check_refusal(program_module(launch->program), launch->grid, launch->block, check->warp_size);
    check->is_watched = !why;
    if (!why) {
        check_begin(check->check);
        launch->in_time = false;
        launch->checker = check_watch(check->check);
        return;
    }
    check_unwatched(check->check);
    if (!check->said)
        session_log_remark(log, arena_printf(&check->arena,
                                             "heddle exec: --check: kernel '%s' %s; it is not checked, and what nobody "
                                             "wrote is not told from here on\n",
                                             launch->kernel->name, why));
    check->said = true;
}

void guest_check_end(struct guest_check *check, const struct launch *launch, enum status status,
                     const struct report *report) {
    if (!check || !check->check)
        return;
    if (check->is_watched && status == STATUS_STOPPED)
        check_stopped(check->check, program_module(launch->program), launch->kernel->name, report_text(report));
    write_file(check, false);
}
