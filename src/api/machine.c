/* SPDX-License-Identifier: Apache-2.0 */
/* Machines of the library: a configuration and keys set on top. */
#include <string.h>

#include "api/api.h"
#include "machine/plugin.h"

static void set_lines(struct heddle_text *out, const char *const *names) {
    struct arena arena = {0};
    const char *text = "";
    for (; *names; names++)
        text = arena_printf(&arena, "%s%s\n", text, *names);
    api_text_set(out, text, strlen(text));
    arena_free(&arena);
}

enum heddle_status heddle_machine_names(struct heddle_text *out, struct heddle_text *errors) {
    struct arena arena = {0};
    const char *const *names = machine_list(&arena);
    const bool found = names[0];
    if (found)
        set_lines(out, names);
    arena_free(&arena);
    return found ? HEDDLE_OK
                 : api_refuse(errors, "the folder with the shipped machines is not found; set HEDDLE_CONFIGS to it");
}

enum heddle_status heddle_mechanism_names(struct heddle_text *out, struct heddle_text *errors) {
    (void)errors;
    struct arena arena = {0};
    const char *text = "";
    for (unsigned i = 0; divergence_at(i); i++)
        text = arena_printf(&arena, "%s%s\n", text, divergence_at(i)->name);
    api_text_set(out, text, strlen(text));
    arena_free(&arena);
    return HEDDLE_OK;
}

enum heddle_status heddle_plugin_load(const char *path, struct heddle_text *errors) {
    if (!path)
        return api_no_handle(errors, __func__, "path");
    struct report report = {0};
    return api_end(plugin_load(path, &report), &report, errors);
}

enum heddle_status heddle_machine_open(const char *gpu, struct heddle_machine **out, struct heddle_text *errors) {
    if (!out)
        return api_no_handle(errors, __func__, "place for the machine");
    struct report report = {0};
    struct arena arena = {0};
    struct heddle_machine *machine = ARENA_NEW(&arena, struct heddle_machine);
    machine->arena = arena;
    const enum status status = machine_open(&machine->machine, gpu, &report);
    if (status)
        heddle_machine_close(machine);
    else
        *out = machine;
    return api_end(status, &report, errors);
}

void heddle_machine_close(struct heddle_machine *machine) {
    if (!machine)
        return;
    machine_close(&machine->machine);
    struct arena arena = machine->arena; /* holds the machine itself */
    arena_free(&arena);
}

enum heddle_status heddle_machine_set(struct heddle_machine *machine, const char *setting, struct heddle_text *errors) {
    if (!machine || !setting)
        return api_no_handle(errors, __func__, machine ? "setting" : "machine");
    struct report report = {0};
    return api_end(machine_set(&machine->machine, setting, MACHINE_SET_BY_API, &report), &report, errors);
}

enum status api_mode_check(const struct machine *machine, enum heddle_mode mode, struct report *report) {
    const char *reason = mode == HEDDLE_FUNCTIONAL ? machine_needs_time(machine) : NULL;
    return reason ? report_add(report, STATUS_INVALID,
                               "divergence.mechanism=%s needs time: %s; launches cannot be functional",
                               machine->divergence_mechanism, reason)
                  : STATUS_OK;
}

enum heddle_status heddle_machine_check(struct heddle_machine *machine, enum heddle_mode mode,
                                        struct heddle_text *errors) {
    if (!machine)
        return api_no_handle(errors, __func__, "machine");
    if (!api_is_mode(mode))
        return api_refuse(errors, "%s: %d is no mode", __func__, (int)mode);
    struct report report = {0};
    enum status status = machine_check(&machine->machine, &report);
    if (!status)
        status = mode == HEDDLE_IN_TIME ? machine_check_timed(&machine->machine, &report)
                                        : api_mode_check(&machine->machine, mode, &report);
    return api_end(status, &report, errors);
}

enum heddle_status heddle_machine_keys(struct heddle_machine *machine, struct heddle_text *out,
                                       struct heddle_text *errors) {
    if (!machine)
        return api_no_handle(errors, __func__, "machine");
    struct arena arena = {0};
    const struct param_set *params = &machine->machine.params;
    json_t *keys = json_object();
    for (const struct param_description *param = params->table; param->key; param++) {
        json_t *entry = json_object();
        json_object_set_new(entry, "value", result_text(&arena, machine_value(&machine->machine, param)));
        json_object_set_new(entry, "unit", json_string(param->unit));
        json_object_set_new(entry, "origin", result_text(&arena, machine_origin(&machine->machine, param)));
        json_object_set_new(entry, "accepts", json_string(param_range(param, &arena)));
        json_object_set_new(entry, "help", json_string(param->help));
        json_object_set_new(keys, param->key, entry);
    }
    const bool made = api_text_set_json(out, keys);
    arena_free(&arena);
    return made ? HEDDLE_OK : api_refuse(errors, "the list of keys could not be made: no memory");
}

enum status api_machine_copy(const struct machine *from, struct machine *to, struct report *report) {
    static const char nothing[] = "{}";
    enum status status = machine_open_text(to, "", nothing, strlen(nothing), report);
    if (status)
        return status;
    to->name = arena_strdup(&to->arena, from->name);
    to->about = arena_strdup(&to->arena, from->about);
    to->file = from->file ? arena_strdup(&to->arena, from->file) : NULL;
    for (const struct param_description *param = from->params.table; param->key && !status; param++)
        status = param_assign(&to->params, param->key, param_text(&from->params, param),
                              param_origin(&from->params, param), "copy", report);
    return status;
}
