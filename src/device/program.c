/* SPDX-License-Identifier: Apache-2.0 */
/* Programs on a device: modules are loaded, lowered where the machine has its own code, and their variables placed. */
#include <string.h>

#include "base/bits.h"
#include "device/host.h"
#include "device/load.h"
#include "device/lowered.h"
#include "device/state.h"
#include "isa/analysis.h"

static uint64_t symbol_address(const struct program *program, const struct symbol *symbol) {
    if (symbol->kind == SYMBOL_FUNCTION)
        return CODE_ADDRESS(symbol->function->first_pc);
    if (symbol->space == SPACE_SHARED)
        return symbol->offset;
    return program->image_address + symbol->offset;
}

/* Its first value, and the addresses in it. */
static void fill(const struct program *program, const struct symbol *symbol, uint8_t *memory) {
    if (symbol->init_bytes)
        memcpy(memory, symbol->init, symbol->init_bytes);
    for (unsigned k = 0; k < symbol->relocation_count; k++) {
        const struct relocation *relocation = &symbol->relocations[k];
        uint64_t value = symbol_address(program, relocation->symbol) + (uint64_t)relocation->addend;
        if (relocation->generic && relocation->symbol->space == SPACE_SHARED)
            value += SHARED_WINDOW;
        memcpy(memory + relocation->offset, &value, relocation->bytes < 8 ? relocation->bytes : 8);
    }
}

bool program_lies_elsewhere(const struct program *program, const struct symbol *symbol) {
    return symbol->space == SPACE_GLOBAL && symbol->bytes && symbol->offset >= program_source(program)->image_bytes;
}

void program_initial(const struct program *program, uint8_t *image) {
    const struct module *module = program_source(program);
    for (unsigned i = 0; i < module->variable_count; i++) {
        const struct symbol *symbol = module->variables[i];
        if (symbol_is_placed(symbol) && !program_lies_elsewhere(program, symbol))
            fill(program, symbol, image + symbol->offset);
    }
}

enum { CONSTANT_BYTES = 16 }; /* of the widest load */

static uint64_t variable_bytes(const struct symbol *symbol) {
    return bits_round_up(symbol->bytes, symbol->align ? symbol->align : 1);
}

uint64_t program_global_bytes(const struct program *program) {
    const struct module *module = program->source ? program->source : program->module;
    uint64_t bytes = 0;
    for (unsigned i = 0; i < module->variable_count; i++)
        if (module->variables[i]->space == SPACE_GLOBAL)
            bytes += variable_bytes(module->variables[i]);
    return bytes;
}

/* Every variable is an allocation of its own: what leaves one is seen. It ends at a multiple of its alignment, which compilers
 * count on: three bytes aligned to four are loaded as a word. Those of .const end where the widest load that begins in them
 * does, if no other begins there: libclc's table for large arguments of sin(double) is read so. Those of code for sm_75 on are a bank, one allocation: its
 * compilers load several at once. */
static void split_image(struct device *device, const struct program *program) {
    const struct module *module = program->module;
    struct allocation *parts = ARENA_ARRAY(&device->arena, struct allocation, module->variable_count);
    unsigned count = 0;
    bool after_constant = false;
    for (unsigned i = 0; i < module->variable_count; i++) {
        const struct symbol *symbol = module->variables[i];
        if (!symbol_is_placed(symbol))
            continue;
        const uint64_t start = program->image_address + symbol->offset;
        if (start - device->memory.shared.start < device->memory.shared.end - device->memory.shared.start)
            continue;
        const uint64_t end = start + variable_bytes(symbol);
        const bool is_of_bank = module->mnemonics && module->sm >= 75 && symbol->space == SPACE_CONST;
        if (is_of_bank && after_constant && start <= parts[count - 1].end) {
            parts[count - 1].end = bits_round_up(end, CONSTANT_BYTES);
            continue;
        }
        after_constant = is_of_bank;
        if (count && parts[count - 1].end > start)
            parts[count - 1].end = start;
        parts[count++] = (struct allocation){
            .start = start,
            .end = symbol->space == SPACE_CONST ? bits_round_up(end, CONSTANT_BYTES) : end,
            .is_reference = symbol->is_reference,
            .name = is_of_bank ? arena_printf(&device->arena, "constant bank of %s", module->name)
                               : arena_printf(&device->arena, "variable %s of %s", symbol->name, module->name)};
    }
    const uint64_t image_end = program->image_address + bits_round_up(module->image_bytes, CONSTANT_BYTES);
    if (count && parts[count - 1].end > image_end)
        parts[count - 1].end = image_end;
    memory_split(&device->memory, program->image_address, parts, count);
}

/* Variables that lie elsewhere: their offsets lead there. */
static void place_elsewhere(const struct device *device, const struct program *program) {
    const struct module *module = program->module;
    for (unsigned i = 0; i < module->variable_count; i++)
        for (unsigned k = 0; k < device->place_count; k++)
            if (module->variables[i]->space == SPACE_GLOBAL &&
                strcmp(module->variables[i]->name, device->places[k].name) == 0)
                ((struct symbol *)(uintptr_t)module->variables[i])->offset =
                    device->places[k].address - program->image_address;
}

static void fill_elsewhere(struct device *device, const struct program *program) {
    const struct module *module = program->module;
    for (unsigned i = 0; i < module->variable_count; i++)
        if (program_lies_elsewhere(program, module->variables[i]))
            fill(program, module->variables[i],
                 memory_host(&device->memory, symbol_address(program, module->variables[i])));
}

/* At the address, or, where that is 0, wherever there is room. */
static enum status place_image(struct device *device, struct program *program, uint64_t address,
                               struct report *report) {
    const uint64_t bytes = program->module->image_bytes;
    if (!bytes)
        return address ? report_add(report, STATUS_INVALID, "%s has no variables to place", program->module->name)
                       : STATUS_OK;
    const char *name = arena_printf(&device->arena, "variables of %s", program->module->name);
    program->image_address = address;
    if (address % 256) /* what any variable may be aligned to */
        return report_add(report, STATUS_INVALID, "variables begin at a multiple of 256, not at 0x%llx",
                          (unsigned long long)address);
    const enum status status = address ? memory_allocate_at(&device->memory, name, bytes, address, report)
                                       : memory_allocate(&device->memory, name, bytes, &program->image_address, report);
    if (status == STATUS_OK) {
        place_elsewhere(device, program);
        program_initial(program, memory_host(&device->memory, program->image_address));
        fill_elsewhere(device, program);
        split_image(device, program);
    }
    return status;
}

/* Native code in the place of PTX; the module that it was made from stays, for its variables and its text. */
static enum status lower_program(struct device *device, struct program *program, struct report *report) {
    struct module *native = NULL;
    const struct lowered_options options = lowered_options_of(device->machine, program->image_address);
    enum status status = lowered_load(program->module, &options, &native, report);
    if (status != STATUS_OK)
        return status;
    program->source = program->module;
    program->module = native;
    program->linked = ARENA_ARRAY(&device->arena, struct linked *, native->function_count);
    status = exec_check(native, report);
    return status == STATUS_OK ? analyse(native, report) : status;
}

enum status device_load(struct device *device, const char *name, const char *text, size_t length, struct program **out,
                        struct report *report) {
    return device_load_at(device, &(struct device_module){.name = name, .text = text, .length = length}, out, report);
}

enum status device_load_at(struct device *device, struct device_module *order, struct program **out,
                           struct report *report) {
    GUARD(device, report);
    struct module *module = NULL;
    enum status status = load_for(order, device->machine, &module, report);
    if (status != STATUS_OK)
        return status;
    const enum isa_choice isa = (enum isa_choice)device->machine->isa;
    if (load_is_native(order->name) && !isa_runs(isa, module->sm)) {
        status = report_add(report, STATUS_INVALID, "%s: error: native code for sm_%u, which isa: %s does not run",
                            order->name, module->sm, isa_name(isa));
        module_free(module);
        return status;
    }
    struct program *program = ARENA_NEW(&device->arena, struct program);
    program->module = module;
    program->linked = ARENA_ARRAY(&device->arena, struct linked *, module->function_count);
    program->next = device->programs;
    device->programs = program; /* from here on device_destroy frees the module */
    status = place_image(device, program, order->variables_at, report);
    order->is_misplaced = status && order->variables_at;
    if (status == STATUS_OK && device->machine->isa != ISA_PTX && !module->mnemonics)
        status = lower_program(device, program, report);
    if (status == STATUS_OK)
        *out = program;
    return status;
}

const struct module *program_module(const struct program *program) { return program->module; }

const struct module *program_source(const struct program *program) {
    return program->source ? program->source : program->module;
}

uint64_t program_image(const struct program *program) { return program->image_address; }
