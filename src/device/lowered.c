/* SPDX-License-Identifier: Apache-2.0 */
#include "device/lowered.h"

#include "device/machine.h"
#include "isa/address.h"
#include "sass/lower.h"

unsigned lowered_address_bits(const struct machine *machine, enum isa_choice isa) {
    return isa != ISA_PTX && machine->memory_capacity_bytes <= UINT32_MAX - GLOBAL_BASE ? 32 : 64;
}

struct lowered_options lowered_options_of(const struct machine *machine, uint64_t image_address) {
    return (struct lowered_options){.isa = (enum isa_choice)machine->isa,
                                    .registers = machine->max_registers_per_thread,
                                    .image_address = image_address,
                                    .wide_addresses = machine->memory_capacity_bytes > UINT32_MAX - GLOBAL_BASE};
}

static enum status lower(const struct module *module, const char *kernel, const struct lowered_options *options,
                         struct native_program *out, struct report *report) {
    const struct lowering lowering = {.isa = options->isa == ISA_TESLA ? NATIVE_TESLA : NATIVE_FERMI,
                                      .registers = options->registers,
                                      .image_address = options->image_address,
                                      .wide_addresses = options->wide_addresses};
    return native_lower(module, kernel, &lowering, out, report);
}

enum status lowered_text(const struct module *module, const char *kernel, const struct lowered_options *options,
                         struct arena *arena, const char **out, struct report *report) {
    struct native_program program = {.arena = {0}};
    const enum status status = lower(module, kernel, options, &program, report);
    if (status == STATUS_OK)
        *out = native_print(&program, false, arena);
    native_free(&program);
    return status;
}

/* Kernels are called and launched as those they were made from. */
static void keep_interface(struct module *module, const struct module *from) {
    for (unsigned i = 0; i < module->function_count; i++) {
        struct function *function = module->functions[i];
        const struct function *source = module_find(from, function->name);
        if (!function->is_entry || !source)
            continue;
        function->params = source->params, function->param_count = source->param_count;
        function->param_bytes = source->param_bytes;
        for (unsigned k = 0; k < 3; k++) {
            function->required_ntid[k] = source->required_ntid[k];
            function->max_ntid[k] = source->max_ntid[k];
        }
        function->min_nctapersm = source->min_nctapersm, function->max_nreg = source->max_nreg;
    }
    module->text = from->text;
    module->address_bytes = from->address_bytes;
}

enum status lowered_load(const struct module *module, const struct lowered_options *options, struct module **out,
                         struct report *report) {
    struct native_program program = {.arena = {0}};
    enum status status = lower(module, NULL, options, &program, report);
    if (status == STATUS_OK)
        status = native_translate(&program, out, report);
    if (status == STATUS_OK) {
        (*out)->name = arena_strdup(&(*out)->arena, module->name);
        keep_interface(*out, module);
    }
    native_free(&program);
    return status;
}
