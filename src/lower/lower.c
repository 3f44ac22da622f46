/* SPDX-License-Identifier: Apache-2.0 */
#include "lower/lower.h"

#include <string.h>

#include "lower/machine_flow.h"

static const struct {
    struct lowering_target target;
    uint32_t registers;
    enum status (*select)(const struct body *, struct machine_kernel *);
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
    [NATIVE_TURING] = {{.name = "sm_75 to sm_89",
                        .wide_addresses = true,
                        .has_double = true,
                        .has_fields = true,
                        .has_generic = true,
                        .has_carry = true,
                        .has_pairs = true,
                        .has_logic3 = true,
                        .has_warps = true,
                        .has_half = true},
                       TURING_RZ,
                       select_turing},
};

static uint8_t *add_bank(struct native_program *program, struct native_kernel *out, unsigned number, unsigned bytes) {
    struct native_bank *bank = &out->banks[out->bank_count++];
    *bank = (struct native_bank){.number = number, .byte_count = bytes};
    bank->bytes = ARENA_ARRAY(&program->arena, uint8_t, bytes);
    return bank->bytes;
}

static uint32_t number_of(const struct module *module, const struct symbol *symbol) {
    uint32_t number = 0;
    for (unsigned i = 0; i < module->variable_count && module->variables[i] != symbol; i++)
        number += native_is_variable(module->variables[i]);
    return number;
}

/* Addresses of variables, as c[0xe] or c[0x4] holds them, and literals. */
static void fill_banks(const struct machine_kernel *machine, const struct module *module,
                       struct native_program *program, struct native_kernel *out) {
    out->banks = ARENA_ARRAY(&program->arena, struct native_bank, 2);
    out->links = ARENA_ARRAY(&program->arena, struct native_link, machine->words.count);
    const unsigned addresses = machine->isa == NATIVE_TURING ? TURING_ADDRESSES : FERMI_ADDRESSES;
    if (machine->words.count)
        add_bank(program, out, addresses, 8 * machine->words.count);
    for (unsigned i = 0; i < machine->words.count; i++) {
        const struct machine_word *word = &machine->words.items[i];
        out->links[out->link_count++] = (struct native_link){.bank = addresses,
                                                             .offset = 8 * i,
                                                             .bytes = 8,
                                                             .variable = number_of(module, word->symbol),
                                                             .addend = word->addend};
    }
    if (machine->literals.count)
        memcpy(add_bank(program, out, machine->isa == NATIVE_TESLA ? TESLA_LITERALS : FERMI_LITERALS,
                        4 * machine->literals.count),
               machine->literals.items, 4 * (size_t)machine->literals.count);
    native_sort_banks(out);
}

bool native_is_variable(const struct symbol *symbol) {
    return symbol->kind == SYMBOL_VARIABLE && symbol_is_placed(symbol);
}

static bool has_variable(const struct native_program *program, const char *name) {
    for (unsigned i = 0; i < program->variable_count; i++)
        if (strcmp(program->variables[i].name, name) == 0)
            return true;
    return false;
}

/* Two functions may have variables of one name. */
static const char *name_of(struct native_program *program, const char *name) {
    const char *made = arena_strdup(&program->arena, name);
    for (unsigned same = 1; has_variable(program, made); same++)
        made = arena_printf(&program->arena, "%s$%u", name, same);
    return made;
}

static void lower_variables(const struct module *module, struct native_program *out) {
    out->variables = ARENA_ARRAY(&out->arena, struct native_variable, module->variable_count + 1u);
    for (unsigned i = 0; i < module->variable_count; i++) {
        const struct symbol *symbol = module->variables[i];
        if (!native_is_variable(symbol))
            continue;
        struct native_variable *variable = &out->variables[out->variable_count];
        variable->name = name_of(out, symbol->name);
        variable->byte_count = symbol->bytes;
        variable->init = symbol->init_bytes ? arena_copy(&out->arena, symbol->init, symbol->init_bytes) : NULL;
        variable->init_bytes = symbol->init_bytes;
        while (variable->init_bytes && !variable->init[variable->init_bytes - 1])
            variable->init_bytes--;
        variable->links = ARENA_ARRAY(&out->arena, struct native_link, symbol->relocation_count + 1u);
        for (unsigned k = 0; k < symbol->relocation_count; k++) {
            const struct relocation *relocation = &symbol->relocations[k];
            const bool told = relocation->bytes >= 4 && native_is_variable(relocation->symbol);
            variable->links[variable->link_count++] =
                (struct native_link){.offset = relocation->offset,
                                     .bytes = relocation->bytes,
                                     .variable = told ? number_of(module, relocation->symbol) : NATIVE_NO_VARIABLE,
                                     .addend = relocation->addend};
        }
        out->variable_count++;
    }
}

/* Between selection and layout: control flow, what is not needed, order, registers. */
static enum status give_registers(struct machine_kernel *machine, uint32_t *register_count) {
    const bool is_turing = machine->isa == NATIVE_TURING;
    for (uint32_t b = 0; b < machine->blocks.count; b++)
        machine->blocks.items[b].home = NO_UNIT;
    flow_clean(machine);
    if (is_turing) {
        sweep_turing(machine);
        forward_turing(machine);
        sweep_turing(machine);
    }
    if (machine->isa == NATIVE_FERMI)
        uniform_loads(machine);
    predicate_hammocks(machine);
    if (is_turing) {
        flow_join(machine);
        agree_turing(machine);
    }
    shape(machine);
    if (machine->isa == NATIVE_TESLA)
        fit_tesla(machine);
    return is_turing ? allocate_scheduled(machine, register_count) : allocate(machine, register_count);
}

static enum status lower_within(const struct module *module, const struct function *kernel,
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
    if (lowering->isa == NATIVE_TURING) {
        legal_forward_copies(legal);
        widen_accesses(legal);
    }
    const uint32_t all = targets[lowering->isa].registers;
    struct machine_kernel machine = {.arena = &program->arena,
                                     .body = legal,
                                     .isa = lowering->isa,
                                     .isa_name = targets[lowering->isa].target.name,
                                     .sm = lowering->sm,
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
    status = give_registers(&machine, &out->register_count);
    if (status == STATUS_OK && lowering->isa == NATIVE_TURING)
        status = layout_turing(&machine, out);
    else if (status == STATUS_OK)
        layout(&machine, out);
    if (status != STATUS_OK)
        return status;
    out->local_bytes = machine.local_bytes;
    out->spills_from = legal->local_bytes ? legal->local_bytes : 4; /* as place_spill has it */
    out->shared_bytes = machine.shared_bytes;
    fill_banks(&machine, module, program, out);
    memcpy(out->max_threads, kernel->max_ntid, sizeof out->max_threads);
    memcpy(out->required_threads, kernel->required_ntid, sizeof out->required_threads);
    out->params = ARENA_ARRAY(&program->arena, struct native_param, kernel->param_count + 1);
    out->param_count = kernel->param_count;
    for (unsigned i = 0; i < kernel->param_count; i++)
        out->params[i] = (struct native_param){(uint32_t)kernel->params[i]->offset, (uint32_t)kernel->params[i]->bytes};
    return STATUS_OK;
}

/* A kernel of Tesla with more registers than all instructions reach is made once more with those. */
static enum status lower_kernel(const struct module *module, const struct function *kernel,
                                const struct lowering *lowering, struct native_program *program,
                                struct native_kernel *out, struct report *report) {
    const enum status status = lower_within(module, kernel, lowering, program, out, report);
    if (status != STATUS_OK || lowering->isa != NATIVE_TESLA || out->register_count <= TESLA_NEAR_REGISTERS ||
        native_is_encoded(NATIVE_TESLA, out))
        return status;
    struct lowering fewer = *lowering;
    fewer.registers = TESLA_NEAR_REGISTERS;
    return lower_within(module, kernel, &fewer, program, out, report);
}

enum status native_lower(const struct module *module, const char *kernel, const struct lowering *lowering,
                         struct native_program *out, struct report *report) {
    const struct arena kept = out->arena;
    *out = (struct native_program){.arena = kept, .isa = lowering->isa, .text = ""};
    out->sm = lowering->isa == NATIVE_TURING ? lowering->sm : lowering->isa == NATIVE_TESLA ? 13 : 20;
    out->name = arena_strdup(&out->arena, module->name);
    out->kernels = ARENA_ARRAY(&out->arena, struct native_kernel, module->function_count + 1);
    lower_variables(module, out);
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
