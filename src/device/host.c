/* SPDX-License-Identifier: Apache-2.0 */
#include "device/host.h"

#include <string.h>

#include "base/bits.h"
#include "base/memory.h"
#include "device/lowered.h"
#include "device/state.h"
#include "exec/kernel_heap.h"

/* The device's address of what the host sees there; 0: it is memory of the host alone. */
static uint64_t address_of(const struct memory *memory, const uint8_t *data) {
    const uintptr_t at = (uintptr_t)data - (uintptr_t)memory->host;
    return at < memory->used_bytes ? GLOBAL_BASE + at : 0;
}

static void tell_moved(const struct memory *memory, const uint8_t *to, const uint8_t *from, uint64_t bytes) {
    const struct memory_listener *listener = memory->listener;
    const uint64_t to_address = address_of(memory, to), from_address = address_of(memory, from);
    if (to_address && from_address)
        listener->copied(listener->self, to_address, from_address, bytes);
    else if (to_address)
        listener->written(listener->self, to_address, bytes);
}

void host_filled(struct device *device, const uint8_t *data, uint64_t bytes) {
    const struct memory_listener *listener = device->memory.listener;
    if (listener)
        listener->written(listener->self, address_of(&device->memory, data), bytes);
}

uint64_t host_move(struct device *device, const struct box *box) {
    for (size_t z = 0; z < box->slices; z++)
        for (size_t y = 0; y < box->rows; y++) {
            const size_t to = z * box->to.slice + y * box->to.row;
            const uint8_t *from = box->from.data + z * box->from.slice + y * box->from.row;
            memmove(box->to.data + to, from, box->bytes);
            if (box->written)
                device_copied_in(device, box->written + to, box->bytes);
            if (device->memory.listener)
                tell_moved(&device->memory, box->to.data + to, from, box->bytes);
        }
    return (uint64_t)box->bytes * box->rows * box->slices;
}

static uint64_t dram_channels(const struct dram_params *dram) {
    return dram->chip_mask ? UINT64_C(1) << bits_count64(dram->chip_mask) : dram->chips;
}

uint64_t host_l2_bytes(const struct machine *machine) {
    return machine->gpu.l2_enabled ? machine->l2.size_bytes * machine->gpu.slices * dram_channels(&machine->dram) : 0;
}

/* All channels at their best. */
static double dram_bytes_per_second(const struct machine *machine) {
    const struct dram_params *dram = &machine->dram;
    const double clock_bytes =
        dram->model == DRAM_BANKS ? (double)dram->burst_bytes / dram->burst_clocks : (double)dram->bytes_per_clock;
    return clock_bytes * (double)dram_channels(dram) * (double)machine->gpu.dram_khz * 1000;
}

uint64_t host_move_ns(const struct device *device, uint64_t bytes) {
    return 1 + (uint64_t)((double)bytes * 1e9 / dram_bytes_per_second(device->machine));
}

uint64_t host_launch_ns(const struct device *device, const struct launch_result *result) {
    const struct machine *machine = device->machine;
    const uint64_t cycles =
        result->timed ? result->timed->cycles : result->stats.warp_instructions / machine->sm_count + 1;
    return (uint64_t)((double)cycles * 1e6 / (double)machine->gpu.sm_khz) + 1;
}

bool host_unify(struct device *device) {
    enum { LEAST_BYTES = 64 << 20 };
    struct memory *memory = &device->memory;
    uint64_t bytes = memory->capacity_bytes;
    void *at = NULL;
    while (!(at = memory_reserve_at(GLOBAL_BASE, bytes)) && bytes > LEAST_BYTES)
        bytes /= 2;
    if (!at)
        return false;
    memory_release(memory->host, memory->capacity_bytes);
    memory->host = at;
    memory->is_cut |= bytes < memory->capacity_bytes;
    memory->capacity_bytes = bytes;
    return true;
}

bool host_share(struct device *device, uint64_t address, uint64_t bytes) {
    struct memory *memory = &device->memory;
    if (memory->host != (uint8_t *)(uintptr_t)GLOBAL_BASE || memory->shared.end || !bytes)
        return memory->shared.start == address && memory->shared.end == address + bytes;
    memory->shared = (struct allocation){
        .start = address, .end = address + bytes, .limit = address + bytes, .name = "managed variables"};
    return true;
}

enum status host_load(struct device *device, const struct module_text *text, const struct variable_place *places,
                      unsigned count, struct program **out, struct report *report) {
    device->places = places, device->place_count = count;
    const enum status status = device_load(device, text->name, text->text, text->length, out, report);
    device->place_count = 0;
    return status;
}

uint64_t host_first_address(void) { return GLOBAL_BASE; }

bool host_is_address(const struct device *device, uint64_t address) {
    return address >= GLOBAL_BASE && address - GLOBAL_BASE < device->memory.capacity_bytes;
}

uint64_t host_capacity_bytes(const struct device *device) { return device->memory.capacity_bytes; }

uint64_t host_used_bytes(const struct device *device) {
    return device->memory.used_bytes - device->memory.freed_bytes - device->memory.kept_bytes;
}

uint64_t host_heap_bytes(const struct device *device) {
    return device->memory.heap  ? kernel_heap_bytes(device->memory.heap)
           : device->heap_bytes ? device->heap_bytes
                                : device->machine->heap_bytes;
}

bool host_has_heap(const struct device *device) { return device->memory.heap != NULL; }

bool host_set_heap(struct device *device, uint64_t bytes) {
    if (device->memory.heap || bytes > device->memory.capacity_bytes || bytes > HEAP_BYTES_MAX)
        return false;
    device->heap_bytes = bytes < HEAP_BYTES_MIN ? HEAP_BYTES_MIN : bytes;
    return true;
}

bool host_allocation(const struct device *device, uint64_t address, uint64_t *start, uint64_t *bytes) {
    const struct allocation *found = memory_find(&device->memory, address);
    if (found)
        *start = found->start, *bytes = found->end - found->start;
    return found != NULL;
}

unsigned host_allocation_count(const struct device *device) { return device->memory.allocations.count; }

struct host_range host_allocation_at(const struct device *device, unsigned index) {
    const struct allocation *found = &device->memory.allocations.items[index];
    return (struct host_range){found->start, found->end - found->start, found->name};
}

uint32_t host_blocks_per_sm(const struct device *device, const struct function *kernel, uint32_t threads,
                            uint32_t dynamic_shared_bytes) {
    const struct occupancy_limits limits = machine_occupancy_limits(device->machine);
    const struct occupancy_kernel one = {.threads_per_block = threads,
                                         .registers_per_thread = kernel->live_registers,
                                         .shared_bytes =
                                             (uint32_t)bits_round_up(kernel->shared_bytes, 16) + dynamic_shared_bytes};
    return occupancy_compute(&limits, &one).blocks;
}

bool host_has_images(const struct machine *machine, bool in_time) {
    const struct divergence_ops *mechanism = divergence_find(machine->divergence_mechanism);
    return machine->isa == ISA_PTX && mechanism && !(in_time && (mechanism->forming || mechanism->slipping));
}

enum host_stop host_stop_of(const struct report *report) {
    static const struct {
        const char *says; /* in emulate/reports.c, exec/access.c, gpu/gpu.c and where instructions fail */
        enum host_stop stop;
    } words[] = {{" makes no progress", STOP_LIMIT},   {" was stopped after ", STOP_LIMIT},
                 {"' stopped: trap\n", STOP_TRAP},     {"' stopped: assertion failed", STOP_ASSERT},
                 {" is misaligned\n", STOP_ALIGNMENT}, {" address 0x", STOP_ADDRESS}};
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(report_text(report), words[i].says))
            return words[i].stop;
    return STOP_OTHER;
}
