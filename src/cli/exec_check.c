/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/exec_check.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "result/guest_check.h"

enum status exec_check_read(struct arguments *arguments, struct exec_check *check, struct report *report) {
    static const char *const only[] = {"check-limit", "findings", "sarif", "html", "suppress"};
    check->is_on = arguments_has(arguments, "check") || arguments_has(arguments, "check-only");
    for (unsigned i = 0; !check->is_on && i < sizeof only / sizeof *only; i++)
        if (arguments_has(arguments, only[i]))
            return report_add(report, STATUS_INVALID, "--%s needs --check", only[i]);
    if (!check->is_on)
        return STATUS_OK;
    const char *output = arguments_value(arguments, "findings");
    enum status status = findings_options(arguments, "check-only", "check-limit", &check->options, report);
    if (!status && output && strcmp(output, "-") == 0)
        status = report_add(report, STATUS_INVALID, "--findings: standard output is the program's; name a file");
    if (!status && output)
        status = check_writable(&arguments->arena, "findings", output, report);
    return status ? status : findings_files(arguments, &check->known, report);
}

static void give(const char *name, const char *value) {
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

void exec_check_give(struct arguments *arguments, const struct exec_check *check) {
    const char *kinds = arguments_value(arguments, "check-only");
    give("HEDDLE_CHECK", !check->is_on ? NULL : kinds ? kinds : "all");
    give("HEDDLE_CHECK_LIMIT", check->is_on ? arena_printf(&arguments->arena, "%u", check->options.limit) : NULL);
}

/* ---- after ---- */

/* Documents of all devices of all processes, in the order of processes and devices. */
static enum status gather(struct arguments *arguments, const struct exec_check *check, const char *folder,
                          json_t *document, struct report *report) {
    struct arena *arena = &arguments->arena;
    unsigned count = 0;
    const char **names = file_list(arena, folder, SESSION_CHECK, &count);
    enum status status = STATUS_OK;
    for (unsigned i = 0; i < count; i++) {
        const char *path = arena_printf(arena, "%s/%s%s", folder, names[i], SESSION_CHECK);
        json_t *one = json_load_file(path, 0, NULL);
        if (one)
            document_add(document, one, check->options.limit);
        else
            status = report_add(report, STATUS_SYSTEM,
                                "--check: what a process found could not be read: it was killed while it wrote, or "
                                "there is no room for temporary files (TMPDIR)");
        json_decref(one);
    }
    return status;
}

enum status exec_check_show(struct arguments *arguments, const struct exec_check *check, const char *folder,
                            struct report *report) {
    if (!check->is_on)
        return STATUS_OK;
    json_t *document = document_create(NULL, "program", file_name(arguments->operands[0]));
    const struct findings_order order = {.to = stderr,
                                         .output = arguments_value(arguments, "findings"),
                                         .sarif = arguments_value(arguments, "sarif"),
                                         .html = arguments_value(arguments, "html"),
                                         .known = &check->known};
    enum status status = gather(arguments, check, folder, document, report);
    const enum status shown = findings_show(arguments, document, &order, report);
    json_decref(document);
    return status ? status : shown;
}
