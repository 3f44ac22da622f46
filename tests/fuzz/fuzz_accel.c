/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a kernel of a foreign trace, or as a listing of one: both are read to their end or refused with a message, and what is
 * imported is replayed to its end. */
#include "device/device.h"
#include "machine/machine.h"
#include "trace/accel.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char settings[] = "base: gtx480\nsm.count: 1\nlimits.max_cycles: 20000\nmemory.capacity_bytes: 1 MiB\n";
static struct machine machine;

static void read_listing(const uint8_t *data, size_t size) {
    struct report report = {0};
    struct module *module = NULL;
    const enum status status = traced_load("fuzz.traced", (const char *)data, size, &module, &report);
    if (status ? !report.messages : !module->code_count)
        abort();
    if (!status)
        module_free(module);
    report_free(&report);
}

/* Launches of as much as one SM does in no time. */
static void replay(struct accel_import *import) {
    struct report report = {0};
    struct device *device = NULL;
    struct program *program = NULL;
    struct trace_reader reader = {.name = "fuzz.trace", .data = import->trace.items, .bytes = import->trace.count};
    struct trace_reader look = reader;
    struct trace_launch found;
    struct recording *recording = NULL;
    if (device_create(&device, &machine, &report) ||
        device_load(device, "fuzz.traced", import->listing, import->listing_bytes, &program, &report) ||
        trace_look(&look, &found, import->arena, &recording, &report)) {
        fputs(report_text(&report), stderr);
        abort();
    }
    struct launch_result result;
    const struct launch launch = {.program = program,
                                  .kernel = module_find(program_module(program), found.kernel),
                                  .grid = {(uint32_t)found.blocks, 1, 1},
                                  .block = {found.block_threads, 1, 1},
                                  .work_dim = 1,
                                  .in_time = true,
                                  .trace_from = &reader};
    if (device_launch(device, &launch, &result, &report) && !report.messages)
        abort();
    launch_result_free(&result);
    device_destroy(device);
    report_free(&report);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct report report = {0};
    struct arena arena = {0};
    if (!machine.arena.blocks && machine_open_text(&machine, "fuzz.yaml", settings, sizeof settings - 1, &report))
        abort();
    if (size > 16384)
        return 0;
    read_listing(data, size);
    struct accel_import import = {.from = "fuzz.traceg", .name = "fuzz", .arena = &arena};
    const enum status status = accel_import_text(&import, (struct scan_word){(const char *)data, size}, &report);
    if (status && !report.messages)
        abort();
    if (!status && import.blocks < 64)
        replay(&import);
    arena_free(&arena);
    report_free(&report);
    return 0;
}
