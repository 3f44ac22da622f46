/* SPDX-License-Identifier: Apache-2.0 */
/* A native program as a module: functions, registers, parameters, constants, and where jumps lead. */
#include "sass/translate.h"

#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include "base/bits.h"
#include "sass/parse.h"

enum { TEXT_BYTES_MAX = 64 << 20 };

/* ---- registers ---- */

static enum type register_type(unsigned number) {
    if ((number >= REGISTER_P && number < REGISTER_A) || number >= REGISTER_TEST)
        return TYPE_PRED;
    return number >= REGISTER_WIDE ? TYPE_B64 : TYPE_B32;
}

static const char *register_name(struct arena *arena, unsigned number) {
    static const struct {
        unsigned first;
        const char *name;
    } ranges[] = {{REGISTER_TEST, "test"}, {REGISTER_WIDE, "wide"}, {REGISTER_SCRATCH, "scratch"},
                  {REGISTER_C, "C"},       {REGISTER_A, "A"},       {REGISTER_P, "P"},
                  {REGISTER_R, "R"}};
    unsigned i = 0;
    while (number < ranges[i].first)
        i++;
    return arena_printf(arena, "%s%u", ranges[i].name, number - ranges[i].first);
}

static void give_registers(struct arena *arena, struct function *function) {
    uint8_t *types = ARENA_ARRAY(arena, uint8_t, REGISTER_COUNT);
    function->reg_names = ARENA_ARRAY(arena, const char *, REGISTER_COUNT);
    for (unsigned i = 0; i < REGISTER_COUNT; i++) {
        types[i] = (uint8_t)register_type(i);
        function->reg_names[i] = register_name(arena, i);
    }
    function->reg_types = types;
    function->reg_count = REGISTER_COUNT;
}

/* ---- functions ---- */

static void give_params(struct translation *t, struct function *function) {
    struct arena *arena = &t->module->arena;
    const struct native_kernel *kernel = t->kernel;
    const bool said = kernel->param_count != 0;
    const unsigned count = said ? kernel->param_count : (kernel->param_bytes + 3) / 4;
    function->param_bytes = said ? kernel->param_bytes : 4 * count;
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

static struct function *add_function(struct translation *t, unsigned index, const char *name,
                                     const struct function *kernel) {
    struct arena *arena = &t->module->arena;
    struct function *function = ARENA_NEW(arena, struct function);
    function->name = name;
    function->index = index;
    function->is_defined = true, function->is_entry = !kernel;
    function->linkage = LINKAGE_VISIBLE;
    function->text_line = t->kernel->line;
    function->registers_of = kernel;
    give_registers(arena, function);
    struct symbol *symbol = ARENA_NEW(arena, struct symbol);
    *symbol = (struct symbol){.name = name, .kind = SYMBOL_FUNCTION, .function = function, .vector = 1};
    function->symbol = symbol;
    function->local_align = 16;
    t->module->functions[index] = function;
    return function;
}

/* Where functions of the kernel begin: at its first instruction and at what is called, ascending. */
static unsigned find_starts(struct translation *t, uint32_t *starts) {
    const struct native_kernel *kernel = t->kernel;
    unsigned count = 1;
    enum op token;
    starts[0] = 0;
    for (uint32_t i = 0; i < kernel->code_count; i++) {
        if (native_control(t->program->isa, &kernel->code[i], &token) != CONTROL_CALL)
            continue;
        const uint32_t to = native_at(kernel, kernel->code[i].operands[0].value);
        t->inst = &kernel->code[i];
        if (to == NO_PC || to == 0) {
            translate_refuse(t, "no function begins at its target");
            continue;
        }
        unsigned at = count;
        while (at > 0 && starts[at - 1] > to)
            at--;
        if (starts[at ? at - 1 : 0] == to)
            continue;
        memmove(starts + at + 1, starts + at, (count - at) * sizeof *starts);
        starts[at] = to;
        count++;
    }
    return count;
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
        if (links[i].bank == bank)
            relocations[symbol->relocation_count++] = (struct relocation){.offset = links[i].offset,
                                                                          .bytes = links[i].bytes,
                                                                          .symbol = t->variables[links[i].variable],
                                                                          .addend = links[i].addend};
}

/* Banks of the listing are variables, for loads that index them. */
static void give_banks(struct translation *t) {
    struct arena *arena = &t->module->arena;
    t->banks = ARENA_ARRAY(arena, const struct symbol *, t->kernel->bank_count);
    for (unsigned i = 0; i < t->kernel->bank_count; i++) {
        const struct native_bank *bank = &t->kernel->banks[i];
        struct symbol *symbol = ARENA_NEW(arena, struct symbol);
        symbol->name = arena_printf(arena, "%s.c[0x%x]", t->kernel->name, (unsigned)bank->number);
        symbol->space = SPACE_CONST, symbol->type = TYPE_B8, symbol->vector = 1, symbol->align = 256;
        symbol->bytes = symbol->init_bytes = bank->byte_count;
        symbol->init = arena_copy(arena, bank->bytes, bank->byte_count);
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
        symbol->init = arena_copy(arena, variable->init, variable->init_bytes);
        place(t->module, symbol);
    }
    for (unsigned i = 0; i < program->variable_count; i++)
        give_links(t, t->variables[i], program->variables[i].links, program->variables[i].link_count, 0);
}

/* ---- instructions ---- */

/* What a condition code of Tesla is asked, as a predicate. */
static void test_code(struct translation *t) {
    static const uint8_t compares[] = {CMP_LT, CMP_EQ, CMP_LE, CMP_GT, CMP_NE, CMP_GE};
    const unsigned test = t->inst->guard_test;
    unsigned which = test - MODIFIER_LT;
    if (test >= MODIFIER_LTU && test <= MODIFIER_GEU)
        which = test - MODIFIER_LTU;
    else if (test > MODIFIER_GE) {
        translate_refuse(t, "a condition code asked for %s", native_modifier_text(test));
        return;
    }
    const struct operand holds = translate_test(t), code = translate_register(REGISTER_C + t->inst->guard_reg);
    translate_2(t, (struct operation){.op = OP_SETP, .type = TYPE_S32, .compare = compares[which]}, holds, code,
                translate_number(0));
    t->guard = (int32_t)holds.reg;
}

/* A kernel of Tesla begins with its thread's number in R0: x in the lower 16 bits, y in ten, z in six. */
static void begin_tesla(struct translation *t) {
    const struct operation shift = {.op = OP_SHADD, .type = TYPE_B32};
    const struct operand above = translate_scratch(t), number = translate_register(0);
    const struct operand x = {.kind = OPERAND_SPECIAL, .reg = SPECIAL_TID_X};
    const struct operand y = {.kind = OPERAND_SPECIAL, .reg = SPECIAL_TID_Y};
    const struct operand z = {.kind = OPERAND_SPECIAL, .reg = SPECIAL_TID_Z};
    translate_3(t, shift, above, z, y, translate_number(10));
    translate_3(t, shift, number, above, x, translate_number(16));
    for (uint32_t pc = t->first; pc < t->code.count; pc++)
        t->code.items[pc].flags |= FLAG_PART;
}

static void begin_inst(struct translation *t, uint32_t i) {
    t->inst = &t->kernel->code[i];
    t->first = t->code.count;
    t->guard = -1, t->guard_negated = false;
    t->scratch = t->wide = t->test = 0;
}

/* A guard that never holds leaves nothing but the instruction itself. */
static bool never(const struct native_inst *inst) {
    return inst->guard == GUARD_PREDICATE && inst->guard_reg == FERMI_PT && inst->guard_inverted;
}

static void put_inst(struct translation *t, uint32_t i) {
    begin_inst(t, i);
    const struct native_inst *inst = t->inst;
    if (inst->guard == GUARD_PREDICATE && inst->guard_reg != FERMI_PT)
        t->guard = REGISTER_P + inst->guard_reg, t->guard_negated = inst->guard_inverted;
    if (inst->guard == GUARD_CODE)
        test_code(t);
    enum op token;
    const enum native_control control = native_control(t->program->isa, inst, &token);
    if (never(inst) && control == CONTROL_NONE) {
        translate_put(t, &(struct operation){.op = OP_NOP}, NULL, 0, NULL, 0);
        return;
    }
    if (never(inst) || (inst->pops && control != CONTROL_NONE)) {
        translate_refuse(t, never(inst) ? "control flow under a guard that never holds" : ".S on control flow");
        return;
    }
    if (t->program->isa == NATIVE_FERMI)
        translate_fermi(t);
    else
        translate_tesla(t);
    if (t->failed || t->code.count == t->first)
        return;
    if (inst->ends && inst->guard != GUARD_NONE)
        translate_refuse(t, "the end of the thread in an instruction with a condition");
    if (inst->ends)
        translate_put(t, &(struct operation){.op = OP_EXIT}, NULL, 0, NULL, 0);
    if (inst->pops && t->code.items[t->code.count - 1].op == OP_BAR)
        translate_put(t, &(struct operation){.op = OP_NOP}, NULL, 0, NULL, 0);
    if (inst->pops)
        t->code.items[t->code.count - 1].flags |= FLAG_POP;
    for (uint32_t pc = t->first; pc + 1 < t->code.count; pc++)
        t->code.items[pc].flags |= FLAG_PART;
}

/* What listings show of the instructions added since: the native one at the last of its parts. */
static void put_texts(struct translation *t) {
    char text[192];
    while (t->texts.count + 1 < t->code.count)
        *ARENA_PUSH(&t->module->arena, &t->texts) = NULL;
    native_inst_text(t->program, t->inst, text, sizeof text);
    *ARENA_PUSH(&t->module->arena, &t->texts) =
        arena_printf(&t->module->arena, "/*%04x*/ %s", (unsigned)t->inst->address, text);
}

static void set_ways(struct translation *t, const struct native_inst *native, struct inst *inst, const uint32_t *pcs) {
    uint32_t *targets = ARENA_ARRAY(&t->module->arena, uint32_t, t->kernel->way_count), to;
    inst->targets = targets;
    for (unsigned at = 0; native_way(t->kernel, native->address, &at, &to);)
        targets[inst->target_count++] = pcs[to == NO_PC ? 0 : to];
}

/* Targets are instructions of the kernel until all have their PCs. */
static void set_targets(struct translation *t, const uint32_t *targets, const uint32_t *pcs,
                        struct function *const *functions, const uint32_t *starts, unsigned start_count) {
    for (uint32_t i = 0; i < t->kernel->code_count; i++) {
        struct inst *inst = &t->code.items[pcs[i + 1] - 1];
        enum op token;
        const enum native_control control = native_control(t->program->isa, &t->kernel->code[i], &token);
        if (control == CONTROL_RETURN && targets[i] != NO_PC)
            inst->op = OP_RETP;
        if (control == CONTROL_CALL) {
            const uint32_t to = native_at(t->kernel, t->kernel->code[i].operands[0].value);
            unsigned f = 0;
            while (f < start_count && starts[f] != to)
                f++;
            struct call *call = ARENA_NEW(&t->module->arena, struct call);
            call->callee = call->prototype = functions[f];
            inst->call = call;
        }
        if (control == CONTROL_INDIRECT)
            set_ways(t, &t->kernel->code[i], inst, pcs);
        /* one that no thread reaches leads to itself: behind it the function may end */
        const bool leads = inst_jumps(inst) || inst->op >= OP_SSY;
        if (leads)
            inst->target = targets[i] != NO_PC ? pcs[targets[i]] : pcs[i];
    }
}

/* Which functions call themselves, in the end: one return address per call is kept, but no registers. */
static bool calls_itself(const struct translation *t, struct function *const *functions, unsigned count) {
    bool reach[64][64] = {{false}};
    for (unsigned f = 0; f < count; f++)
        for (uint32_t pc = functions[f]->first_pc; pc < functions[f]->end_pc; pc++)
            if (t->code.items[pc].op == OP_CALL)
                reach[f][t->code.items[pc].call->callee->index - functions[0]->index] = true;
    for (unsigned k = 0; k < count; k++)
        for (unsigned i = 0; i < count; i++)
            for (unsigned j = 0; j < count; j++)
                reach[i][j] |= reach[i][k] && reach[k][j];
    for (unsigned f = 0; f < count; f++)
        if (reach[f][f])
            return true;
    return false;
}

static void put_kernel(struct translation *t, unsigned *function_count, struct arena *scratch) {
    enum { FUNCTIONS_MAX = 64 };
    const struct native_kernel *kernel = t->kernel;
    uint32_t *starts = ARENA_ARRAY(scratch, uint32_t, kernel->code_count + 1u);
    uint32_t *pcs = ARENA_ARRAY(scratch, uint32_t, kernel->code_count + 1u);
    uint32_t *targets = ARENA_ARRAY(scratch, uint32_t, kernel->code_count);
    const unsigned count = find_starts(t, starts);
    if (count > FUNCTIONS_MAX)
        translate_refuse(t, "more than %d functions in a kernel", FUNCTIONS_MAX);
    if (!t->failed)
        native_flow(t, starts, count, targets, scratch);
    if (t->failed)
        return;
    struct function *functions[FUNCTIONS_MAX];
    give_banks(t);
    unsigned f = 0;
    for (uint32_t i = 0; i < kernel->code_count; i++) {
        if (f < count && starts[f] == i) {
            const char *name = arena_strdup(&t->module->arena, kernel->name);
            if (f)
                name = arena_printf(&t->module->arena, "%s.%04x", name, (unsigned)kernel->code[i].address);
            functions[f] = add_function(t, (*function_count)++, name, f ? functions[0] : NULL);
            functions[f]->first_pc = t->code.count;
            if (f)
                functions[f - 1]->end_pc = t->code.count;
            f++;
            begin_inst(t, i);
            if (i == 0 && t->program->isa == NATIVE_TESLA)
                begin_tesla(t);
        }
        pcs[i] = t->code.count;
        put_inst(t, i);
        if (t->failed && t->code.count == pcs[i]) /* so that every instruction has a place, and more are looked at */
            translate_put(t, &(struct operation){.op = OP_NOP}, NULL, 0, NULL, 0);
        put_texts(t);
    }
    pcs[kernel->code_count] = functions[count - 1]->end_pc = t->code.count;
    if (t->failed)
        return;
    give_params(t, functions[0]);
    functions[0]->local_bytes = kernel->local_bytes;
    memcpy(functions[0]->max_ntid, kernel->max_threads, sizeof kernel->max_threads);
    memcpy(functions[0]->required_ntid, kernel->required_threads, sizeof kernel->required_threads);
    const uint32_t params = t->program->isa == NATIVE_TESLA ? TESLA_PARAM_BASE + functions[0]->param_bytes : 0;
    for (unsigned i = 0; i < count; i++)
        functions[i]->shared_bytes = kernel->shared_bytes + params;
    set_targets(t, targets, pcs, functions, starts, count);
    if (calls_itself(t, functions, count))
        translate_refuse(t, "a function that calls itself");
}

/* ---- the module ---- */

static void put_program(struct translation *t, struct arena *scratch) {
    const struct native_program *program = t->program;
    struct module *module = t->module;
    struct arena *arena = &module->arena;
    unsigned functions = 0, banks = 0;
    for (unsigned i = 0; i < program->kernel_count; i++) {
        functions += program->kernels[i].code_count; /* at most so many */
        banks += program->kernels[i].bank_count;
    }
    module->name = arena_strdup(arena, program->name);
    module->text = arena_strdup(arena, program->text ? program->text : "");
    module->sm = program->sm;
    module->address_bytes = 4;
    module->functions = ARENA_ARRAY(arena, struct function *, functions);
    module->variables = ARENA_ARRAY(arena, const struct symbol *, (size_t)banks + program->variable_count);
    module->files = ARENA_ARRAY(arena, const char *, 1);
    module->files[0] = "";
    module->file_count = 1;
    module->mnemonic_count = native_row_count(program->isa) + 1;
    module->mnemonics = ARENA_ARRAY(arena, const char *, module->mnemonic_count);
    for (unsigned i = 1; i < module->mnemonic_count; i++)
        module->mnemonics[i] = native_form(program->isa, i - 1)->mnemonic;
    give_variables(t);
    for (unsigned i = 0; i < program->kernel_count; i++) {
        t->kernel = &program->kernels[i];
        t->inst = t->kernel->code;
        put_kernel(t, &module->function_count, scratch);
    }
    module->code = t->code.items, module->code_count = t->code.count;
    module->texts = ARENA_ARRAY(arena, const char *, module->code_count);
    for (uint32_t pc = 0; pc < module->code_count; pc++)
        module->texts[pc] = t->texts.items[pc];
}

enum status native_load_by(native_reader *read, const char *name, const char *bytes, size_t length, struct module **out,
                           struct report *report) {
    *out = NULL;
    struct native_program program = {0};
    jmp_buf escape;
    if (setjmp(escape) != 0) {
        program.arena.escape = NULL;
        native_free(&program);
        return report_add(report, STATUS_SYSTEM, "%s: error: out of memory while loading", name);
    }
    program.arena.escape = &escape;
    enum status status = read(name, bytes, length, &program, report);
    if (status == STATUS_OK)
        status = native_translate(&program, out, report);
    native_free(&program);
    return status;
}

static enum status read_text(const char *name, const char *text, size_t length, struct native_program *out,
                             struct report *report) {
    return parse_program(name, arena_strndup(&out->arena, text, length), out, report);
}

enum status native_load(const char *name, const char *text, size_t length, struct module **out, struct report *report) {
    *out = NULL;
    if (length > TEXT_BYTES_MAX || memchr(text, '\0', length))
        return report_add(report, STATUS_INVALID, "%s: error: %s", name,
                          length > TEXT_BYTES_MAX ? "the text is larger than the limit of 64 MiB"
                                                  : "the text has a byte of value 0");
    return native_load_by(read_text, name, text, length, out, report);
}

static bool build(void *context, struct module *module, struct arena *scratch, struct report *report) {
    const struct native_program *const *program = context;
    struct translation *t = ARENA_NEW(scratch, struct translation);
    t->program = *program, t->module = module, t->report = report;
    put_program(t, scratch);
    return !t->failed;
}

enum status native_translate(const struct native_program *program, struct module **out, struct report *report) {
    if (program->isa == NATIVE_TURING)
        return report_add(report, STATUS_INVALID,
                          "%s: error: unsupported: native code of sm_%u is not executed yet; 'heddle show' lists it",
                          program->name, program->sm);
    return module_make(program->name, build, &program, out, report);
}
