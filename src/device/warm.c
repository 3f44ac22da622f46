/* SPDX-License-Identifier: Apache-2.0 */
#include "device/warm.h"

#include "base/bits.h"
#include "base/memory.h"
#include "device/host.h"
#include "exec/footprint.h"
#include "gpu/warm.h"

_Static_assert(WARM_SECTOR_BYTES == 1 << SECTOR_SHIFT, "a footprint has a bit for every sector of the L2");

const char *host_cannot_warm(const struct machine *machine) { return gpu_cannot_warm(&machine->gpu); }

static size_t bitmap_bytes(uint64_t memory_bytes) { return bits_round_up(memory_bytes >> SECTOR_SHIFT, 64) / 8; }

static size_t words_used(const struct device *device) {
    const uint64_t used = bits_round_up(device->memory.used_bytes, UINT64_C(64) << SECTOR_SHIFT);
    return bitmap_bytes(used) / sizeof(uint64_t);
}

static uint64_t *create_bitmap(const struct device *device) {
    const size_t bytes = bitmap_bytes(device->memory.capacity_bytes);
    uint64_t *bitmap = memory_reserve(bytes);
    if (bitmap && !memory_commit(bitmap, bytes)) {
        memory_release(bitmap, bytes);
        bitmap = NULL;
    }
    return bitmap;
}

enum status warm_begin(struct device *device, const struct launch *launch, struct report *report) {
    if (device->memory.shared.end)
        return report_add(report, STATUS_INVALID,
                          "kernel '%s': memory that host and device share cannot be watched for what a launch touches",
                          launch->kernel->name);
    if (!device->footprint) {
        struct footprint *made = ARENA_NEW(&device->arena, struct footprint);
        *made = (struct footprint){create_bitmap(device), create_bitmap(device)};
        device->footprint = made;
    }
    if (!device->footprint->loaded || !device->footprint->stored)
        return report_add(report, STATUS_SYSTEM, "the host has no room to note what a launch touches");
    device->memory.footprint = device->footprint;
    return STATUS_OK;
}

static uint64_t count_sectors(const struct footprint *footprint, size_t words) {
    uint64_t sectors = 0;
    for (size_t i = 0; i < words; i++)
        sectors += bits_count64(footprint->loaded[i] | footprint->stored[i]);
    return sectors;
}

static void warm_data(struct gpu *gpu, const struct footprint *footprint, size_t words) {
    enum { PIECE_SECTORS = WARM_PIECE_BYTES / WARM_SECTOR_BYTES, PIECES = 64 / PIECE_SECTORS };
    for (size_t i = 0; i < words; i++) {
        const uint64_t touched = footprint->loaded[i] | footprint->stored[i], stored = footprint->stored[i];
        for (unsigned piece = 0; touched && piece < PIECES; piece++) {
            const unsigned shift = piece * PIECE_SECTORS;
            const uint32_t mask = (1u << PIECE_SECTORS) - 1, sectors = (uint32_t)(touched >> shift) & mask;
            const uint64_t address = GLOBAL_BASE + (i * PIECES + piece) * WARM_PIECE_BYTES;
            if (sectors)
                gpu_warm_data(gpu, address, sectors, (uint32_t)(stored >> shift) & mask);
        }
    }
}

static enum status warm_code(struct device *device, const struct launch *launch, const struct launch_result *result,
                             struct report *report) {
    const struct module *module = program_module(launch->program);
    uint32_t *pcs = ARENA_ARRAY(&device->launch_arena, uint32_t, module->code_count), count = 0;
    for (uint32_t pc = 0; pc < module->code_count; pc++)
        if (result->instructions[pc].issues)
            pcs[count++] = pc;
    const struct gpu_issued issued = {module, (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2], pcs, count,
                                      launch->kernel->param_bytes};
    return gpu_warm_code(device->gpu, &issued, report);
}

enum status warm_end(struct device *device, const struct launch *launch, struct launch_result *result,
                     struct report *report) {
    struct footprint *footprint = device->footprint;
    const size_t words = words_used(device);
    enum status status = STATUS_OK;
    device->memory.footprint = NULL;
    result->footprint_bytes = count_sectors(footprint, words) << SECTOR_SHIFT;
    if (launch->footprint == FOOTPRINT_WARMS) {
        status = device->gpu ? STATUS_OK : launch_start_gpu(device, report);
        if (!status)
            warm_data(device->gpu, footprint, words);
        if (!status)
            status = warm_code(device, launch, result, report);
    }
    memory_clear(footprint->loaded, words * sizeof(uint64_t));
    memory_clear(footprint->stored, words * sizeof(uint64_t));
    return status;
}

void warm_destroy(struct device *device) {
    const size_t bytes = bitmap_bytes(device->memory.capacity_bytes);
    if (device->footprint && device->footprint->loaded)
        memory_release(device->footprint->loaded, bytes);
    if (device->footprint && device->footprint->stored)
        memory_release(device->footprint->stored, bytes);
}
