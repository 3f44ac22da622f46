/* SPDX-License-Identifier: Apache-2.0 */
#include "sass/lower.h"

#include <string.h>

#include "sass/machine_flow.h"

static const struct {
    struct lowering_target target;
    uint32_t registers;
    enum status (*select)(const struct body *, struct machine *);
} targets[] = {
    [NATIVE_FERMI] = {{.name = "Fermi",
                       .wide_addresses = true,
                       .has_double = true,
                       .has_fields = true,
                       .has_generic = true,
                       .has_carry = true},
                      FERMI_REGISTERS,
                      select_fermi},
    [NATIVE_TESLA] = {{.name = "Tesla"}, TESLA_REGISTERS, select_tesla},
};

static uint8_t *add_bank(struct native_program *program, struct native_kernel *out, unsigned number, unsigned bytes) {
    struct native_bank *bank = &out->banks[out->bank_count++];
    *bank = (struct native_bank){.number = number, .byte_count = bytes};
    bank->bytes = ARENA_ARRAY(&program->arena, uint8_t, bytes);
    return bank->bytes;
}

/* Addresses of variables, as c[0xe] holds them, and literals. */
static void fill_banks(const struct machine *machine, const struct lowering *lowering, struct native_program *program,
                       struct native_kernel *out) {
    out->banks = ARENA_ARRAY(&program->arena, struct native_bank, 2);
    if (machine->words.count) {
        uint8_t *bytes = add_bank(program, out, 14, 8 * machine->words.count);
        for (unsigned i = 0; i < machine->words.count; i++) {
            const struct machine_word *word = &machine->words.items[i];
            const uint64_t address = lowering->image_address + word->symbol->offset + (uint64_t)word->addend;
            memcpy(bytes + 8 * (size_t)i, &address, 8);
        }
    }
    if (machine->literals.count)
        memcpy(add_bank(program, out, machine->isa == NATIVE_TESLA ? TESLA_LITERALS : FERMI_LITERALS,
                        4 * machine->literals.count),
               machine->literals.items, 4 * (size_t)machine->literals.count);
}

static enum status lower_kernel(const struct module *module, const struct function *kernel,
                                const struct lowering *lowering, struct native_program *program,
                                struct native_kernel *out, struct report *report) {
    struct body *flat, *legal;
    struct lowering_target *target = ARENA_NEW(&program->arena, struct lowering_target);
    *target = targets[lowering->isa].target;
    target->wide_addresses = target->wide_addresses && lowering->wide_addresses;
    enum status status = flatten(module, kernel, &program->arena, &flat, report);
    if (status == STATUS_OK)
        status = legalise(flat, target, &legal, report);
    if (status != STATUS_OK)
        return status;
    const uint32_t all = targets[lowering->isa].registers;
    struct machine machine = {.arena = &program->arena,
                              .body = legal,
                              .isa = lowering->isa,
                              .isa_name = targets[lowering->isa].target.name,
                              .local_bytes = legal->local_bytes,
                              .shared_bytes = kernel->shared_bytes,
                              .register_limit =
                                  lowering->registers && lowering->registers < all ? lowering->registers : all,
                              .report = report};
    *out = (struct native_kernel){.name = arena_strdup(&program->arena, kernel->name),
                                  .param_bytes = kernel->param_bytes,
                                  .line = kernel->text_line};
    status = targets[lowering->isa].select(legal, &machine);
    if (status != STATUS_OK)
        return status;
    for (uint32_t b = 0; b < machine.blocks.count; b++)
        machine.blocks.items[b].home = NO_UNIT;
    flow_clean(&machine);
    if (lowering->isa == NATIVE_FERMI)
        uniform_loads(&machine);
    predicate_hammocks(&machine);
    shape(&machine);
    status = allocate(&machine, &out->register_count);
    if (status != STATUS_OK)
        return status;
    layout(&machine, out);
    out->local_bytes = machine.local_bytes;
    out->shared_bytes = machine.shared_bytes;
    fill_banks(&machine, lowering, program, out);
    out->params = ARENA_ARRAY(&program->arena, struct native_param, kernel->param_count + 1);
    out->param_count = kernel->param_count;
    for (unsigned i = 0; i < kernel->param_count; i++)
        out->params[i] = (struct native_param){(uint32_t)kernel->params[i]->offset, (uint32_t)kernel->params[i]->bytes};
    return STATUS_OK;
}

enum status native_lower(const struct module *module, const char *kernel, const struct lowering *lowering,
                         struct native_program *out, struct report *report) {
    const struct arena kept = out->arena;
    *out = (struct native_program){.arena = kept, .isa = lowering->isa, .text = ""};
    out->name = arena_strdup(&out->arena, module->name);
    out->kernels = ARENA_ARRAY(&out->arena, struct native_kernel, module->function_count + 1);
    enum status status = STATUS_OK;
    for (unsigned i = 0; i < module->function_count; i++) {
        const struct function *function = module->functions[i];
        if (!function->is_entry || !function->is_defined || (kernel && strcmp(kernel, function->name) != 0))
            continue;
        const enum status one = lower_kernel(module, function, lowering, out, &out->kernels[out->kernel_count], report);
        out->kernel_count += one == STATUS_OK;
        status = one != STATUS_OK ? one : status;
    }
    return status;
}
