/* SPDX-License-Identifier: Apache-2.0 */
/* A native program as a module: functions, registers, parameters, constants, and where jumps lead. */
#include "translate/translate.h"

#include <string.h>

#include "base/bits.h"
#include "translate/load.h"
#include "translate/turing.h"

/* ---- registers ---- */

static void give_registers(const struct translation *t, struct function *function) {
    struct arena *arena = &t->module->arena;
    const struct register_file *file = t->file;
    uint8_t *types = ARENA_ARRAY(arena, uint8_t, file->count);
    function->reg_names = ARENA_ARRAY(arena, const char *, file->count);
    for (uint32_t i = 0, range = 0; i < file->count; i++) {
        while (range + 1 < file->range_count && file->ranges[range + 1].first <= i)
            range++;
        types[i] = (uint8_t)file->ranges[range].type;
        function->reg_names[i] =
            arena_printf(arena, "%s%u", file->ranges[range].name, (unsigned)(i - file->ranges[range].first));
    }
    function->reg_types = types;
    function->reg_count = file->count;
}

/* ---- functions ---- */

void translate_give_params(struct translation *t, struct function *function) {
    struct arena *arena = &t->module->arena;
    const struct native_kernel *kernel = t->kernel;
    const bool said = kernel->param_count != 0;
    const unsigned count = said ? kernel->param_count : (kernel->param_bytes + 3) / 4;
    /* code of sm_75 on reads whole words */
    const bool in_words = !said || t->program->isa == NATIVE_TURING;
    function->param_bytes = in_words ? (uint32_t)bits_round_up(kernel->param_bytes, 4) : kernel->param_bytes;
    function->params = ARENA_ARRAY(arena, const struct symbol *, count);
    function->param_count = count;
    for (unsigned i = 0; i < count; i++) {
        struct symbol *param = ARENA_NEW(arena, struct symbol);
        param->bytes = said ? kernel->params[i].bytes : 4;
        param->offset = said ? kernel->params[i].offset : 4 * i;
        param->type = param->bytes == 8   ? TYPE_B64
                      : param->bytes == 4 ? TYPE_B32
                      : param->bytes == 2 ? TYPE_B16
                                          : TYPE_B8;
        param->name = arena_printf(arena, "%s.%u", kernel->name, i);
        param->space = SPACE_PARAM, param->vector = 1, param->function = function;
        param->align = param->bytes == 8 ? 8 : 4;
        param->text_line = kernel->line;
        function->params[i] = param;
    }
}

struct function *translate_add_function(struct translation *t, unsigned index, const char *name,
                                        const struct function *kernel) {
    struct arena *arena = &t->module->arena;
    struct function *function = ARENA_NEW(arena, struct function);
    function->name = name;
    function->index = index;
    function->is_defined = true, function->is_entry = !kernel;
    function->linkage = LINKAGE_VISIBLE;
    function->text_line = t->kernel->line;
    function->registers_of = kernel;
    give_registers(t, function);
    struct symbol *symbol = ARENA_NEW(arena, struct symbol);
    *symbol = (struct symbol){.name = name, .kind = SYMBOL_FUNCTION, .function = function, .vector = 1};
    function->symbol = symbol;
    function->local_align = 16;
    t->module->functions[index] = function;
    return function;
}

/* ---- constants ---- */

static void place(struct module *module, struct symbol *symbol) {
    symbol->offset = bits_round_up(module->image_bytes, NATIVE_VARIABLE_ALIGN);
    module->image_bytes = symbol->offset + symbol->bytes;
    module->image_align = NATIVE_VARIABLE_ALIGN;
    module->variables[module->variable_count++] = symbol;
}

static void give_links(struct translation *t, struct symbol *symbol, const struct native_link *links, unsigned count,
                       uint32_t bank) {
    struct relocation *relocations = ARENA_ARRAY(&t->module->arena, struct relocation, count);
    symbol->relocations = relocations;
    for (unsigned i = 0; i < count; i++)
        if (links[i].bank == bank && links[i].variable != NATIVE_NO_VARIABLE)
            relocations[symbol->relocation_count++] = (struct relocation){.offset = links[i].offset,
                                                                          .bytes = links[i].bytes,
                                                                          .symbol = t->variables[links[i].variable],
                                                                          .addend = links[i].addend};
}

/* Places of a bank that hold the addresses of functions that the system provides. */
static void give_externals(const struct native_kernel *kernel, const struct native_bank *bank, uint8_t *bytes) {
    for (unsigned i = 0; i < kernel->link_count; i++) {
        const struct native_link *link = &kernel->links[i];
        const uint64_t address = link->variable == NATIVE_NO_VARIABLE ? translate_external(link->symbol) : 0;
        if (address && link->bank == bank->number && range_within(link->offset, link->bytes, bank->byte_count))
            memcpy(bytes + link->offset, &address, link->bytes < sizeof address ? link->bytes : sizeof address);
    }
}

/* Banks of the listing are variables, for loads that index them. */
void translate_give_banks(struct translation *t) {
    struct arena *arena = &t->module->arena;
    t->banks = ARENA_ARRAY(arena, const struct symbol *, t->kernel->bank_count);
    for (unsigned i = 0; i < t->kernel->bank_count; i++) {
        const struct native_bank *bank = &t->kernel->banks[i];
        if (t->constants && bank->number == TURING_BANK_VARIABLES) {
            t->banks[i] = t->constants;
            continue;
        }
        struct symbol *symbol = ARENA_NEW(arena, struct symbol);
        symbol->name = arena_printf(arena, "%s.c[0x%x]", t->kernel->name, (unsigned)bank->number);
        symbol->space = SPACE_CONST, symbol->type = TYPE_B8, symbol->vector = 1, symbol->align = 256;
        symbol->bytes = symbol->init_bytes = bank->byte_count;
        uint8_t *bytes = arena_copy(arena, bank->bytes, bank->byte_count);
        give_externals(t->kernel, bank, bytes);
        symbol->init = bytes;
        symbol->text_line = t->kernel->line;
        place(t->module, symbol);
        t->banks[i] = symbol;
        give_links(t, symbol, t->kernel->links, t->kernel->link_count, bank->number);
    }
}

static void give_variables(struct translation *t) {
    struct arena *arena = &t->module->arena;
    const struct native_program *program = t->program;
    t->variables = ARENA_ARRAY(arena, struct symbol *, program->variable_count);
    for (unsigned i = 0; i < program->variable_count; i++) {
        const struct native_variable *variable = &program->variables[i];
        struct symbol *symbol = t->variables[i] = ARENA_NEW(arena, struct symbol);
        symbol->name = arena_strdup(arena, variable->name);
        symbol->space = SPACE_GLOBAL, symbol->type = TYPE_B8, symbol->vector = 1, symbol->align = NATIVE_VARIABLE_ALIGN;
        symbol->bytes = variable->byte_count, symbol->init_bytes = variable->init_bytes;
        symbol->is_reference = variable->is_reference;
        symbol->init = arena_copy(arena, variable->init, variable->init_bytes);
        place(t->module, symbol);
    }
    for (unsigned i = 0; i < program->variable_count; i++)
        give_links(t, t->variables[i], program->variables[i].links, program->variables[i].link_count, 0);
}

/* ---- the module ---- */

/* A kernel with an instruction that is not executed can be shown, and others of the file run: the kernel says itself what it is refused for. */
static void put_turing(struct translation *t, struct arena *scratch) {
    struct module *module = t->module;
    struct report refused = {0}, *report = t->report;
    const unsigned first = module->function_count;
    t->report = &refused;
    translate_turing(t, &module->function_count, scratch);
    if (t->failed)
        module->functions[first]->refused = arena_strdup(&module->arena, report_text(&refused));
    report_free(&refused);
    t->report = report;
    t->failed = false;
}

/* A function that a kernel has a copy of. */
static bool is_copied(const struct native_kernel *const *kernels, unsigned count, unsigned number) {
    for (unsigned i = 0; i < count && kernels[number]->is_function; i++)
        for (unsigned n = 0; n < kernels[i]->label_count && i != number && !kernels[i]->is_function; n++)
            if (strcmp(kernels[i]->labels[n].name, kernels[number]->name) == 0)
                return true;
    return false;
}

static void put_program(struct translation *t, struct arena *scratch) {
    const struct native_program *program = t->program;
    struct module *module = t->module;
    struct arena *arena = &module->arena;
    const bool is_turing = program->isa == NATIVE_TURING;
    unsigned functions = 0, banks = 0;
    const struct native_kernel **kernels = ARENA_ARRAY(scratch, const struct native_kernel *, program->kernel_count);
    for (unsigned i = 0; i < program->kernel_count; i++) {
        kernels[i] = is_turing ? turing_link(t, &program->kernels[i], scratch) : &program->kernels[i];
        functions += kernels[i]->code_count + 2 * kernels[i]->link_count; /* at most so many */
        banks += kernels[i]->bank_count;
    }
    module->name = arena_strdup(arena, program->name);
    module->text = arena_strdup(arena, program->text ? program->text : "");
    module->sm = program->sm;
    module->address_bytes = program->isa == NATIVE_TURING ? 8 : 4;
    module->functions = ARENA_ARRAY(arena, struct function *, functions);
    module->variables = ARENA_ARRAY(arena, const struct symbol *,
                                    (size_t)banks + program->variable_count + 2u * program->constant_count + 1);
    module->file_count = program->file_count ? program->file_count : 1;
    module->files = ARENA_ARRAY(arena, const char *, module->file_count);
    module->files[0] = "";
    for (unsigned i = 1; i < module->file_count; i++)
        module->files[i] = arena_strdup(arena, program->files[i]);
    module->mnemonic_count = (is_turing ? (unsigned)TURING_ROWS : native_row_count(program->isa)) + 1;
    module->mnemonics = ARENA_ARRAY(arena, const char *, module->mnemonic_count);
    for (unsigned i = 1; i < module->mnemonic_count; i++)
        module->mnemonics[i] = is_turing ? turing_row(i - 1)->mnemonic : native_form(program->isa, i - 1)->mnemonic;
    give_variables(t);
    if (is_turing)
        turing_give_constants(t);
    for (unsigned i = 0; i < program->kernel_count; i++) {
        t->kernel = kernels[i];
        if (is_turing && is_copied(kernels, program->kernel_count, i))
            continue;
        if (is_turing)
            put_turing(t, scratch);
        else
            translate_code(t, &module->function_count, scratch);
    }
    module->code = t->code.items, module->code_count = t->code.count;
    module->texts = ARENA_ARRAY(arena, const char *, module->code_count);
    for (uint32_t pc = 0; pc < module->code_count; pc++)
        module->texts[pc] = t->texts.items[pc];
    if (!is_turing)
        return;
    module->controls = ARENA_ARRAY(arena, const char *, module->code_count);
    for (uint32_t pc = 0; pc < t->controls.count; pc++)
        module->controls[pc] = t->controls.items[pc];
    if (turing_says_time(t->timing.items, t->timing.count) && t->timing.count == module->code_count)
        module->timing = t->timing.items;
}

static bool build(void *context, struct module *module, struct arena *scratch, struct report *report) {
    const struct native_program *const *program = context;
    struct translation *t = ARENA_NEW(scratch, struct translation);
    t->program = *program, t->module = module, t->report = report;
    put_program(t, scratch);
    return !t->failed;
}

enum status native_translate(const struct native_program *program, struct module **out, struct report *report) {
    return module_make(program->name, build, &program, out, report);
}
