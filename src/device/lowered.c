/* SPDX-License-Identifier: Apache-2.0 */
#include "device/lowered.h"

#include <string.h>

#include "compile/fatbin.h"
#include "isa/address.h"
#include "lower/lower.h"
#include "machine/machine.h"
#include "sass/cubin.h"
#include "translate/load.h"

enum { NATIVE_SM = 86 }; /* what isa: native is made for */

unsigned isa_sm(enum isa_choice isa) {
    switch (isa) {
    case ISA_SM_75: return 75;
    case ISA_SM_80: return 80;
    case ISA_SM_86: return 86;
    case ISA_SM_89: return 89;
    case ISA_SM_90: return 90;
    case ISA_PTX:
    case ISA_FERMI:
    case ISA_TESLA:
    case ISA_NATIVE: break;
    }
    return 0;
}

const char *isa_name(enum isa_choice isa) {
    static const char *const names[] = {[ISA_PTX] = "ptx",       [ISA_FERMI] = "fermi", [ISA_TESLA] = "tesla",
                                        [ISA_NATIVE] = "native", [ISA_SM_75] = "sm_75", [ISA_SM_80] = "sm_80",
                                        [ISA_SM_86] = "sm_86",   [ISA_SM_89] = "sm_89", [ISA_SM_90] = "sm_90"};
    return names[isa];
}

bool isa_runs(enum isa_choice isa, unsigned code) {
    enum { FERMI_FIRST = 20, FERMI_LAST = 29 };
    if (isa == ISA_PTX)
        return true;
    if (isa == ISA_TESLA || isa == ISA_FERMI)
        return isa == ISA_TESLA ? code < FERMI_FIRST : code >= FERMI_FIRST && code <= FERMI_LAST;
    return sm_runs(isa == ISA_NATIVE ? (unsigned)NATIVE_SM : isa_sm(isa), code);
}

unsigned lowered_address_bits(const struct machine *machine, enum isa_choice isa) {
    if (isa == ISA_NATIVE)
        return 64;
    if (isa == ISA_PTX)
        return machine->address_bits;
    if (isa_sm(isa))
        return 64;
    return machine->memory_capacity_bytes <= ADDRESS_32_BYTES ? 32 : 64;
}

struct lowered_options lowered_options_of(const struct machine *machine, uint64_t image_address) {
    return (struct lowered_options){.isa = (enum isa_choice)machine->isa,
                                    .registers = machine->max_registers_per_thread,
                                    .image_address = image_address,
                                    .wide_addresses = machine->memory_capacity_bytes > ADDRESS_32_BYTES};
}

static enum status lower(const struct module *module, const struct lowered_options *options, struct native_program *out,
                         struct report *report) {
    const bool is_native = options->isa == ISA_NATIVE;
    const struct lowering lowering = {.isa = is_native                   ? NATIVE_TURING
                                             : options->isa == ISA_TESLA ? NATIVE_TESLA
                                                                         : NATIVE_FERMI,
                                      .registers = options->registers,
                                      .wide_addresses = options->wide_addresses || is_native,
                                      .sm = NATIVE_SM};
    return native_lower(module, options->kernel, &lowering, out, report);
}

enum status lowered_text(const struct module *module, const struct lowered_options *options, struct arena *arena,
                         const char **out, struct report *report) {
    struct native_program program = {.arena = {0}};
    const enum status status = lower(module, options, &program, report);
    if (status == STATUS_OK)
        *out = native_print(&program, false, arena);
    native_free(&program);
    return status;
}

enum status lowered_listing(const struct module *module, struct arena *arena, const char **out, struct report *report) {
    struct native_program program;
    const enum status status = native_parse(module->name, module->text, &program, report);
    if (status == STATUS_OK) {
        *out = native_print(&program, true, arena);
        native_free(&program);
    }
    return status;
}

/* Where what registers do not hold begins in local memory: no file says it. */
static void keep_spills(struct module *module, const struct native_program *program) {
    for (unsigned i = 0; i < program->kernel_count; i++)
        for (unsigned k = 0; k < module->function_count; k++)
            if (strcmp(module->functions[k]->name, program->kernels[i].name) == 0)
                module->functions[k]->spills_from = program->kernels[i].spills_from;
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
            function->required_cluster[k] = source->required_cluster[k];
        }
        function->max_cluster_blocks = source->max_cluster_blocks, function->needs_cluster = source->needs_cluster;
        function->min_nctapersm = source->min_nctapersm, function->max_nreg = source->max_nreg;
    }
    module->text = from->text;
    module->address_bytes = from->address_bytes;
}

/* Where the module's variables lie, in the order of the program's. */
static void resolve(struct native_program *program, const struct module *module, uint64_t image_address) {
    uint64_t *addresses = ARENA_ARRAY(&program->arena, uint64_t, module->variable_count + 1u);
    unsigned count = 0;
    for (unsigned i = 0; i < module->variable_count; i++)
        if (native_is_variable(module->variables[i]))
            addresses[count++] = image_address + module->variables[i]->offset;
    native_resolve(program, addresses);
}

/* Tesla has no encoding of what only later GPUs have, special registers for the most part: such code runs as it is. */
static bool is_encoded(const struct native_program *program) {
    for (unsigned i = 0; program->isa == NATIVE_TESLA && i < program->kernel_count; i++)
        if (!native_is_encoded(program->isa, &program->kernels[i]))
            return false;
    return true;
}

/* Code goes the way that code goes to a GPU, through the file that the assembler writes and the driver reads. What
 * variables hold is in memory already, and lines of the source have no place in the file: they are kept beside it. */
static enum status through_file(struct native_program *program, struct report *report) {
    struct native_program read = {.arena = {0}};
    uint8_t *bytes;
    size_t length;
    for (unsigned i = 0; i < program->variable_count; i++)
        program->variables[i].init_bytes = program->variables[i].link_count = 0;
    enum status status = cubin_write(program, &program->arena, &bytes, &length, report);
    if (status == STATUS_OK)
        status = cubin_read(program->name, bytes, length, &read, report);
    if (status != STATUS_OK)
        return status;
    for (unsigned i = 0; i < read.kernel_count; i++) {
        read.kernels[i].line = program->kernels[i].line;
        read.kernels[i].spills_from = program->kernels[i].spills_from;
        for (uint32_t k = 0; k < read.kernels[i].code_count; k++)
            read.kernels[i].code[k].line = program->kernels[i].code[k].line;
    }
    native_free(program);
    *program = read;
    return STATUS_OK;
}

enum status lowered_load(const struct module *module, const struct lowered_options *options, struct module **out,
                         struct report *report) {
    struct native_program program = {.arena = {0}};
    enum status status = lower(module, options, &program, report);
    if (status == STATUS_OK && program.kernel_count && program.isa != NATIVE_TURING && is_encoded(&program))
        status = through_file(&program, report);
    if (status == STATUS_OK) {
        resolve(&program, module, options->image_address);
        status = native_translate(&program, out, report);
    }
    if (status == STATUS_OK) {
        (*out)->name = arena_strdup(&(*out)->arena, module->name);
        keep_interface(*out, module);
        keep_spills(*out, &program);
    }
    native_free(&program);
    return status;
}

enum status lowered_file(const struct module *module, const struct lowered_options *options, struct arena *arena,
                         uint8_t **bytes, size_t *length, struct report *report) {
    struct native_program program = {.arena = {0}};
    enum status status = module->mnemonics ? native_parse(module->name, module->text, &program, report)
                                           : lower(module, options, &program, report);
    if (status == STATUS_OK)
        status = cubin_write(&program, arena, bytes, length, report);
    native_free(&program);
    return status;
}
