/* SPDX-License-Identifier: Apache-2.0 */
#include "device/warm.h"
#include "device/device.h"

#include "base/bits.h"
#include "device/launch.h"
#include "device/lowered.h"
#include "exec/exec.h"
#include "exec/kernel_heap.h"
#include "image/image.h"

static enum status device_setup(struct device *device, struct report *report) {
    static const char *const levels[] = {"auto", "v1", "v3", "v4", "neon"};
    const struct machine *machine = device->machine;
    device->lanes = lanes_find(levels[machine->host_lanes]);
    if (!device->lanes)
        return report_add(report, STATUS_INVALID, "host.lanes=%s: this CPU does not run that level; use auto",
                          levels[machine->host_lanes]);
    device->mechanism = divergence_find(machine->divergence_mechanism);
    if (!device->mechanism)
        return machine_check(machine, report); /* which says what there is */
    return memory_create(&device->memory, &device->arena, machine->memory_capacity_bytes, machine->guard_bytes, report);
}

enum status device_create(struct device **out, const struct machine *machine, struct report *report) {
    struct arena arena = {0};
    struct device *device = ARENA_NEW(&arena, struct device);
    device->arena = arena;
    device->machine = machine;
    const enum status status = device_setup(device, report);
    if (status == STATUS_OK)
        *out = device;
    else
        device_destroy(device);
    return status;
}

void device_destroy(struct device *device) {
    if (!device)
        return;
    gpu_destroy(device->gpu);
    parallel_destroy(device->parallel);
    launch_end(device, arena_free);
    for (struct program *program = device->programs; program; program = program->next) {
        module_free(program->module);
        if (program->source)
            module_free(program->source);
    }
    kernel_heap_destroy(&device->memory);
    warm_destroy(device);
    memory_destroy(&device->memory);
    struct arena arena = device->arena; /* holds the device itself */
    arena_free(&arena);
}

const char *device_lanes(const struct device *device) { return lanes_name(device->lanes); }

unsigned device_host_threads(const struct device *device) {
    if (device->gpu)
        return gpu_host_threads(device->gpu);
    return device->parallel ? parallel_threads(device->parallel) : 1;
}

uint64_t device_parallel_launches(const struct device *device) {
    return device->parallel ? parallel_launches(device->parallel) : 0;
}

static enum status check_address(const struct device *device, const char *name, uint64_t end, struct report *report) {
    if (device->machine->isa == ISA_TESLA && end > UINT32_MAX)
        return report_add(report, STATUS_INVALID, "'%s' lies beyond 4 GiB, which isa: tesla has no addresses for",
                          name);
    return STATUS_OK;
}

enum status device_alloc(struct device *device, const char *name, uint64_t bytes, uint64_t *address,
                         struct report *report) {
    GUARD(device, report);
    const enum status status = memory_allocate(&device->memory, name, bytes, address, report);
    return status ? status : check_address(device, name, *address + bytes, report);
}

enum status device_alloc_at(struct device *device, const char *name, uint64_t bytes, uint64_t address,
                            struct report *report) {
    GUARD(device, report);
    const enum status status = memory_allocate_at(&device->memory, name, bytes, address, report);
    return status ? status : check_address(device, name, address + bytes, report);
}

void device_free(struct device *device, uint64_t address) { memory_free(&device->memory, address); }

/* Of an image that the creator leaves to the machine. Texels that do not divide a half of a sector, and images of a row, lie row by row. */
static uint8_t rows_of_groups(const struct machine *machine, const struct image_view *view) {
    static const uint8_t rows[] = {0, 4, 8}; /* as texture.gob_rows says */
    const unsigned texel = image_texel_bytes((enum image_channels)view->channels, (enum image_element)view->element);
    return view->row_bytes % 4 || 16 % texel ? 0 : rows[machine->sm.texture_gob_rows];
}

enum status device_image(struct device *device, const struct image_view *view, uint64_t *handle,
                         struct report *report) {
    GUARD(device, report);
    struct memory *memory = &device->memory;
    unsigned i = 0;
    while (i < memory->images.count && memory->images.items[i].width)
        i++;
    if (i == memory->images.count)
        (void)ARENA_PUSH(&device->arena, &memory->images);
    memory->images.items[i] = *view;
    if (view->gob_rows)
        memory->images.items[i].gob_rows = rows_of_groups(device->machine, view);
    *handle = i + 1;
    return STATUS_OK;
}

void device_image_end(struct device *device, uint64_t handle) {
    if (handle && handle <= device->memory.images.count)
        device->memory.images.items[handle - 1] = (struct image_view){0};
}

void device_copied_in(struct device *device, uint64_t address, uint64_t bytes) {
    if (device->gpu) /* one that is made later finds every allocation written */
        gpu_host_copied(device->gpu, address, bytes);
}

void device_written(struct device *device, uint64_t address, uint64_t bytes) {
    const struct memory_listener *listener = device->memory.listener;
    device_copied_in(device, address, bytes);
    if (listener)
        listener->written(listener->self, address, bytes);
}

void device_listen(struct device *device, const struct memory_listener *listener) {
    device->memory.listener = listener;
}

void *device_memory(struct device *device, uint64_t address, uint64_t bytes) {
    const struct allocation *found = memory_find(&device->memory, address);
    if (found && range_within(address - found->start, bytes, found->end - found->start))
        return memory_host(&device->memory, address);
    return NULL;
}
