/* SPDX-License-Identifier: Apache-2.0 */
/* Devices of the library, and the result of all their launches. */
#include <string.h>

#include "api/api.h"

static void begin_sessions(struct heddle_device *device) {
    for (unsigned mode = 0; mode < API_MODES; mode++) {
        device->sessions[mode] = (struct session){.machine = &device->machine, .in_time = mode == HEDDLE_IN_TIME};
        device->seconds[mode] = 0;
    }
}

enum heddle_status heddle_device_open(struct heddle_machine *machine, struct heddle_device **out,
                                      struct heddle_text *errors) {
    if (!machine || !out)
        return api_no_handle(errors, __func__, machine ? "place for the device" : "machine");
    struct report report = {0};
    struct arena arena = {0};
    enum status status = machine_check(&machine->machine, &report);
    if (status)
        return api_end(status, &report, errors);
    struct heddle_device *device = ARENA_NEW(&arena, struct heddle_device);
    device->arena = arena;
    begin_sessions(device);
    status = api_machine_copy(&machine->machine, &device->machine, &report);
    if (!status)
        status = device_create(&device->device, &device->machine, &report);
    if (status)
        heddle_device_close(device);
    else
        *out = device;
    return api_end(status, &report, errors);
}

static void end_sessions(struct heddle_device *device) {
    for (unsigned mode = 0; mode < API_MODES; mode++)
        session_close(&device->sessions[mode]);
    for (struct heddle_module *module = device->modules; module; module = module->next)
        memset(module->kept, 0, sizeof module->kept);
}

void heddle_device_close(struct heddle_device *device) {
    if (!device)
        return;
    end_sessions(device);
    if (device->check)
        check_free(device->check);
    device_destroy(device->device);
    machine_close(&device->machine);
    struct arena arena = device->arena; /* holds the device itself */
    arena_free(&arena);
}

enum heddle_status heddle_device_watch(struct heddle_device *device, heddle_watch *watch, void *user,
                                       struct heddle_text *errors) {
    if (!device)
        return api_no_handle(errors, __func__, "device");
    device->watch = watch;
    device->user = user;
    return HEDDLE_OK;
}

enum heddle_status heddle_device_forget(struct heddle_device *device, struct heddle_text *errors) {
    if (!device)
        return api_no_handle(errors, __func__, "device");
    end_sessions(device);
    begin_sessions(device);
    return HEDDLE_OK;
}

/* What the modules that were launched are called together. */
static const char *program_name(const struct session *session, struct arena *arena) {
    const char *names = NULL;
    for (const struct session_module *module = session->modules; module; module = module->next)
        names = names ? arena_printf(arena, "%s, %s", names, module->source_name) : module->source_name;
    return names ? names : "";
}

enum heddle_status heddle_device_result(struct heddle_device *device, enum heddle_mode mode, struct heddle_text *out,
                                        struct heddle_text *errors) {
    if (!device)
        return api_no_handle(errors, __func__, "device");
    if (!api_is_mode(mode))
        return api_refuse(errors, "%s: %d is no mode", __func__, (int)mode);
    struct arena arena = {0};
    struct session *session = &device->sessions[mode];
    struct session_sum sum;
    session->host_threads = device_host_threads(device->device);
    session_sum_up(session, program_name(session, &arena), device->seconds[mode], &arena, &sum);
    const bool made = api_text_set_json(out, sum.document);
    arena_free(&arena);
    return made ? HEDDLE_OK : api_refuse(errors, "the result could not be made: no memory, or it is larger than 1 GiB");
}
