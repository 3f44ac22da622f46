/* SPDX-License-Identifier: Apache-2.0 */
#include "device/kept.h"

#include "device/launch.h"
#include "exec/kernel_heap.h"
#include "trace/file.h"

static enum status refused(const struct keep *keep, struct report *report) {
    if (keep->lacks)
        return report_add(report, STATUS_INVALID, "what is between these launches cannot be kept: %s%s%s", keep->lacks,
                          *keep->name ? ": " : "", keep->name);
    return report_add(report, STATUS_INVALID, "what it says of the device cannot be true");
}

static enum status keep_gpu(struct device *device, const struct program *next, struct keep *keep,
                            struct report *report) {
    bool is_there = device->gpu != NULL;
    keep_bool(keep, &is_there);
    if (!is_there)
        return STATUS_OK;
    enum status status = device->gpu ? STATUS_OK : launch_make_gpu(device, report);
    const struct cache_params l1 = machine_l1(device->machine, 0);
    if (status == STATUS_OK)
        status = gpu_keep(device->gpu, next->module, &l1, keep, report);
    return status;
}

enum status device_keep(struct device *device, const struct program *next, bool cold, struct keep *keep,
                        struct report *report) {
    GUARD(device, report);
    keep_u64(keep, &device->launches, INT64_MAX);
    keep_u64(keep, &device->heap_bytes, HEAP_BYTES_MAX);
    enum status status = kernel_heap_keep(&device->memory, keep, report);
    if (status == STATUS_OK && keep->good && !cold) {
        status = keep_gpu(device, next, keep, report);
        keep_check(keep, keep->writes || keep->at == keep->end);
    }
    return status != STATUS_OK ? status : keep->good ? STATUS_OK : refused(keep, report);
}

uint64_t device_code_hash(const struct program *program) { return trace_code_hash(program->module); }

uint64_t device_heap_address(const struct device *device) {
    return device->memory.heap ? kernel_heap_address(device->memory.heap) : 0;
}

const struct machine *device_machine(const struct device *device) { return device->machine; }
