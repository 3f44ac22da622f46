/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/listing.h"

#include <string.h>

enum { KERNELS_MAX = 4096, MNEMONICS_MAX = 1024, TEXT_BYTES_MAX = 64 << 20 };

void traced_print(const struct traced_inst *inst, unsigned sm, struct text_line *line) {
    text_put(line, "%04llx %s%s%s ", (unsigned long long)traced_byte(sm, inst->index), inst->is_guarded ? "@" : "",
             inst->goes_elsewhere ? ">" : "", inst->is_guarded || inst->goes_elsewhere ? "" : ".");
    if (inst->destination == TRACED_NO_REGISTER)
        text_put(line, "- %s", inst->mnemonic);
    else
        text_put(line, "R%u %s", inst->destination, inst->mnemonic);
    for (unsigned i = 0; i < inst->source_count; i++)
        text_put(line, " R%u", inst->sources[i]);
}

/* ---- reading ---- */

struct traced_kernel {
    const char *name;
    unsigned sm, registers;
    uint32_t line, first; /* where it begins in the text, and among the instructions */
    uint32_t count;       /* of the latter */
};

struct loading {
    const char *name, *text;
    size_t length;
    struct scan scan;
    struct module *module;
    struct report *report;
    struct {
        struct traced_kernel *items;
        unsigned count, capacity;
    } kernels;
    struct {
        struct traced_inst *items;
        unsigned count, capacity;
    } insts;
    struct {
        uint32_t *items;
        unsigned count, capacity;
    } lines; /* of insts */
};

static bool fail(const struct loading *l, const char *what) {
    report_add(l->report, STATUS_INVALID, "%s:%u: error: %s", l->name, (unsigned)l->scan.line, what);
    return false;
}

static bool read_kernel(struct loading *l, struct arena *scratch) {
    uint64_t sm, registers;
    if (!scan_take(&l->scan, 10, 1000, &sm) || !traced_runs((unsigned)sm) || !scan_take(&l->scan, 10, 255, &registers))
        return fail(l, "'kernel' has an architecture, registers (at most 255) and a name behind it");
    const struct scan_word name = scan_rest(&l->scan);
    if (!name.length || memchr(name.text, '\0', name.length))
        return fail(l, "a kernel without a name");
    if (l->kernels.count == KERNELS_MAX)
        return fail(l, "more than 4096 kernels");
    *ARENA_PUSH(scratch, &l->kernels) =
        (struct traced_kernel){.name = arena_strndup(&l->module->arena, name.text, name.length),
                               .sm = (unsigned)sm,
                               .registers = (unsigned)registers,
                               .line = l->scan.line,
                               .first = l->insts.count};
    return true;
}

/* What is wrong with the line; NULL: nothing. */
static const char *scan_inst(struct scan *line, unsigned sm, struct traced_inst *out) {
    uint64_t at;
    unsigned reg;
    *out = (struct traced_inst){.destination = TRACED_NO_REGISTER};
    out->index = scan_take(line, 16, UINT32_MAX, &at) ? traced_index(sm, at) : NO_PC;
    if (out->index >= TRACED_INDEX_MAX)
        return "no instruction is at this place";
    const struct scan_word flags = scan_word(line), destination = scan_word(line), opcode = scan_word(line);
    out->is_guarded = flags.length && flags.text[0] == '@';
    out->goes_elsewhere = flags.length && flags.text[flags.length - 1] == '>';
    if (!scan_is(flags, ".") && flags.length != (size_t)out->is_guarded + out->goes_elsewhere)
        return "the second word is '.', '@', '>' or '@>'";
    if (scan_register(destination, &reg))
        out->destination = (uint16_t)reg;
    else if (!scan_is(destination, "-"))
        return "the third word is a register or '-'";
    if (!opcode.length || opcode.length >= TRACED_OPCODE_BYTES || memchr(opcode.text, '\0', opcode.length))
        return "an opcode has 1 to 63 letters";
    memcpy(out->mnemonic, opcode.text, opcode.length);
    for (struct scan_word word = scan_word(line); word.length; word = scan_word(line)) {
        if (out->source_count == TRACED_SOURCES || !scan_register(word, &reg))
            return "behind the opcode stand at most four registers";
        out->sources[out->source_count++] = (uint8_t)reg;
    }
    return NULL;
}

bool traced_scan(struct scan *line, unsigned sm, struct traced_inst *out) { return !scan_inst(line, sm, out); }

static bool read_inst(struct loading *l, struct arena *scratch) {
    struct traced_kernel *kernel = &l->kernels.items[l->kernels.count - 1];
    struct traced_inst inst;
    const char *why = scan_inst(&l->scan, kernel->sm, &inst);
    if (why)
        return fail(l, why);
    if (kernel->count && l->insts.items[l->insts.count - 1].index >= inst.index)
        return fail(l, "instructions stand in the order of their places");
    kernel->count++;
    *ARENA_PUSH(scratch, &l->insts) = inst;
    *ARENA_PUSH(scratch, &l->lines) = l->scan.line;
    return true;
}

static bool read_all(struct loading *l, struct arena *scratch) {
    if (!scan_line(&l->scan) || !scan_is(scan_rest(&l->scan), TRACED_MAGIC))
        return fail(l, "not a listing of a trace of this version of Heddle ('heddle trace import' writes one)");
    while (scan_line(&l->scan)) {
        struct scan line = l->scan;
        const struct scan_word word = scan_word(&line);
        if (!word.length)
            continue;
        const bool is_kernel = scan_is(word, "kernel");
        if (!is_kernel && !l->kernels.count)
            return fail(l, "an instruction before the first 'kernel'");
        if (is_kernel)
            l->scan.at = line.at;
        if (!(is_kernel ? read_kernel(l, scratch) : read_inst(l, scratch)))
            return false;
    }
    return l->kernels.count ? true : fail(l, "no kernel");
}

/* ---- the module ---- */

static struct operand reg_operand(unsigned reg, const struct function *function) {
    if (reg == TRACED_RZ || reg + 1 >= function->reg_count)
        return (struct operand){.kind = OPERAND_IMM};
    return (struct operand){.kind = OPERAND_REG, .reg = reg};
}

/* A value of 64 bits; the last register has none behind it. */
static struct operand wide_operand(unsigned reg, const struct function *function) {
    struct operand operand = reg_operand(reg, function);
    operand.is_pair = operand.kind == OPERAND_REG && reg + 2 < function->reg_count;
    return operand;
}

static void give_destinations(struct inst *inst, const struct traced_inst *from, unsigned count,
                              const struct function *function, struct arena *arena) {
    inst->dst = ARENA_ARRAY(arena, struct operand, count);
    inst->dst_count = (uint8_t)count;
    for (unsigned i = 0; i < count && from->destination < TRACED_RZ; i++) {
        const struct operand operand = inst->type == TYPE_F64 ? wide_operand(from->destination, function)
                                                              : reg_operand(from->destination + i, function);
        inst->dst[i] = operand.kind == OPERAND_REG ? operand : (struct operand){0};
    }
}

/* Sources of what computes; what the trace does not have, predicates and constants, stands as 0. */
static void give_plain(struct inst *inst, const struct traced_inst *from, const struct function *function,
                       struct arena *arena) {
    static const uint8_t counts[OP_COUNT] = {[OP_ADD] = 2, [OP_MUL] = 2, [OP_MAD] = 3, [OP_MIN] = 2,  [OP_PRMT] = 3,
                                             [OP_FMA] = 3, [OP_EX2] = 1, [OP_CVT] = 1, [OP_REDUX] = 2};
    give_destinations(inst, from, 1, function, arena);
    const unsigned named = from->source_count > 3 ? 3 : from->source_count; /* no operation has more */
    if (inst->op == OP_ADD && named > 2)
        inst->op = OP_SHADD, inst->type = TYPE_U32;
    inst->mode = inst->op == OP_MAD || inst->op == OP_MUL ? (type_is_float((enum type)inst->type) ? MODE_NONE : MODE_LO)
                                                          : inst->mode;
    const bool is_wide = inst->op == OP_MAD && strstr(from->mnemonic, ".WIDE");
    if (is_wide) { /* 64 bits come out and are added */
        inst->mode = MODE_WIDE;
        if (inst->dst[0].kind == OPERAND_REG)
            inst->dst[0] = wide_operand(from->destination, function);
    }
    inst->rounding = inst->op == OP_FMA ? ROUND_RN : ROUND_DEFAULT;
    inst->atom = inst->op == OP_REDUX ? ATOM_ADD : ATOM_NONE;
    const unsigned count = inst->op == OP_SHADD ? 3 : counts[inst->op];
    inst->src = ARENA_ARRAY(arena, struct operand, count);
    inst->src_count = (uint8_t)count;
    for (unsigned i = 0; i < count; i++) {
        inst->src[i] = (struct operand){.kind = OPERAND_IMM};
        if (i < named)
            inst->src[i] = inst->type == TYPE_F64 || (is_wide && i == 2) ? wide_operand(from->sources[i], function)
                                                                         : reg_operand(from->sources[i], function);
    }
}

static void give_access(struct inst *inst, const struct traced_inst *from, const struct traced_opcode *opcode,
                        const struct function *function, struct arena *arena) {
    const bool loads = opcode->shape == TRACED_LOAD;
    const unsigned values = loads ? 0 : opcode->shape == TRACED_STORE ? opcode->registers : 1;
    /* a store without a register in its address has only what is stored */
    const bool has_address = from->source_count > (loads ? 0 : 1);
    inst->space = opcode->space;
    if (opcode->shape == TRACED_ATOMIC && from->destination >= TRACED_RZ)
        inst->op = OP_RED;
    inst->atom = opcode->shape == TRACED_ATOMIC ? ATOM_ADD : ATOM_NONE;
    inst->scope = opcode->shape == TRACED_ATOMIC ? SCOPE_GPU : SCOPE_NONE;
    inst->order = opcode->shape == TRACED_ATOMIC ? ORDER_RELAXED : ORDER_WEAK;
    give_destinations(inst, from, loads ? opcode->registers : inst->op == OP_ATOM ? 1 : 0, function, arena);
    inst->src = ARENA_ARRAY(arena, struct operand, values + 1);
    inst->src_count = (uint8_t)(values + 1);
    inst->src[0] = (struct operand){.kind = OPERAND_ADDRESS};
    const struct operand address = has_address ? wide_operand(from->sources[0], function) : (struct operand){0};
    if (address.kind == OPERAND_REG)
        inst->src[0].has_reg = true, inst->src[0].reg = address.reg,
        inst->src[0].is_pair = address.is_pair && opcode->wide_address;
    const unsigned data = from->source_count ? from->sources[has_address ? 1 : 0] : TRACED_RZ;
    for (unsigned i = 0; i < values; i++)
        inst->src[1 + i] = reg_operand(data == TRACED_RZ ? data : data + i, function);
}

static void give_form(struct inst *inst, const struct traced_inst *from, const struct traced_opcode *opcode,
                      const struct function *function, struct arena *arena) {
    const bool is_jump = opcode->shape == TRACED_JUMP && (opcode->is_branch || from->goes_elsewhere);
    inst->op = opcode->shape == TRACED_JUMP && !is_jump ? OP_NOP : opcode->op;
    inst->type = opcode->type, inst->stype = opcode->stype;
    const bool pops = from->goes_elsewhere && opcode->shape != TRACED_JUMP && opcode->shape != TRACED_END;
    if (is_jump || pops || opcode->shape == TRACED_END || from->is_guarded)
        inst->guard = (int32_t)function->reg_count - 1;
    switch (opcode->shape) {
    case TRACED_PLAIN: give_plain(inst, from, function, arena); break;
    case TRACED_LOAD:
    case TRACED_STORE:
    case TRACED_ATOMIC: give_access(inst, from, opcode, function, arena); break;
    case TRACED_BARRIER:
        inst->mode = MODE_SYNC, inst->flags = FLAG_ALIGNED;
        inst->src = ARENA_ARRAY(arena, struct operand, 1);
        inst->src[0] = (struct operand){.kind = OPERAND_IMM};
        inst->src_count = 1;
        break;
    case TRACED_FENCE:
        inst->scope = strstr(from->mnemonic, "CTA") ? SCOPE_CTA : SCOPE_GPU, inst->order = ORDER_ACQ_REL;
        break;
    default: break;
    }
    inst->flags |= pops ? FLAG_POP : 0;
}

/* One register for each that is named, and one that guards have: nobody writes it. */
static void give_registers(struct function *function, const struct loading *l, const struct traced_kernel *kernel) {
    struct arena *arena = &l->module->arena;
    unsigned most = kernel->registers;
    for (uint32_t i = kernel->first; i < kernel->first + kernel->count; i++) {
        const struct traced_inst *inst = &l->insts.items[i];
        for (unsigned k = 0; k < inst->source_count; k++)
            most = inst->sources[k] != TRACED_RZ && inst->sources[k] >= most ? inst->sources[k] + 1u : most;
        most = inst->destination < TRACED_RZ && inst->destination >= most ? inst->destination + 1u : most;
    }
    uint8_t *types = ARENA_ARRAY(arena, uint8_t, most + 1);
    function->reg_names = ARENA_ARRAY(arena, const char *, most + 1);
    for (unsigned i = 0; i < most; i++)
        types[i] = TYPE_B32, function->reg_names[i] = arena_printf(arena, "R%u", i);
    types[most] = TYPE_PRED, function->reg_names[most] = "P";
    function->reg_types = types, function->reg_count = most + 1;
    function->given_registers = kernel->registers ? kernel->registers : most;
}

static uint16_t name_of(struct loading *l, const char *mnemonic) {
    struct module *module = l->module;
    for (unsigned i = 1; i < module->mnemonic_count; i++)
        if (strcmp(module->mnemonics[i], mnemonic) == 0)
            return (uint16_t)i;
    if (module->mnemonic_count == MNEMONICS_MAX)
        return 0;
    module->mnemonics[module->mnemonic_count] = arena_strdup(&module->arena, mnemonic);
    return (uint16_t)module->mnemonic_count++;
}

static uint32_t last_index(const struct loading *l, const struct traced_kernel *kernel) {
    return kernel->count ? l->insts.items[kernel->first + kernel->count - 1].index : 0;
}

/* What nobody saw is there, as instructions that do nothing; the last ends the kernel. */
static bool add_kernel(struct loading *l, unsigned number, uint32_t first_pc) {
    const struct traced_kernel *kernel = &l->kernels.items[number];
    struct module *module = l->module;
    struct function *function = ARENA_NEW(&module->arena, struct function);
    const uint32_t count = last_index(l, kernel) + 2;
    *function = (struct function){.name = kernel->name,
                                  .index = number,
                                  .is_entry = true,
                                  .is_defined = true,
                                  .linkage = LINKAGE_VISIBLE,
                                  .first_pc = first_pc,
                                  .end_pc = first_pc + count,
                                  .text_line = kernel->line};
    give_registers(function, l, kernel);
    module->functions[number] = function;
    for (uint32_t i = 0; i < count; i++)
        module->code[first_pc + i] = (struct inst){
            .op = i + 1 < count ? OP_NOP : OP_EXIT, .guard = -1, .target = first_pc + i + 1, .text_line = kernel->line};
    for (uint32_t i = kernel->first; i < kernel->first + kernel->count; i++) {
        const struct traced_inst *from = &l->insts.items[i];
        struct inst *inst = &module->code[first_pc + from->index];
        struct traced_opcode opcode;
        l->scan.line = l->lines.items[i];
        const char *why = traced_opcode(from->mnemonic, kernel->sm, &opcode);
        if (why) {
            report_add(l->report, STATUS_INVALID, "%s:%u: error: '%s': %s", l->name, (unsigned)l->scan.line,
                       from->mnemonic, why);
            return false;
        }
        give_form(inst, from, &opcode, function, &module->arena);
        inst->text_line = l->scan.line, inst->text_column = 1;
        inst->mnemonic = name_of(l, from->mnemonic);
        if (!inst->mnemonic)
            return fail(l, "more than 1023 different opcodes");
    }
    return true;
}

static bool has_name(const struct loading *l, unsigned before) {
    for (unsigned i = 0; i < before; i++)
        if (strcmp(l->kernels.items[i].name, l->kernels.items[before].name) == 0)
            return true;
    return false;
}

static bool build(void *context, struct module *module, struct arena *scratch, struct report *report) {
    struct loading *l = context;
    l->module = module, l->report = report;
    module->name = arena_strdup(&module->arena, l->name);
    if (l->length > TEXT_BYTES_MAX)
        return fail(l, "the text is larger than the limit of 64 MiB");
    if (memchr(l->text, '\0', l->length))
        return fail(l, "the text has a byte of value 0");
    module->text = arena_strndup(&module->arena, l->text, l->length);
    l->scan = (struct scan){.next = module->text, .end = module->text + l->length};
    if (!read_all(l, scratch))
        return false;
    uint64_t count = 0;
    for (unsigned i = 0; i < l->kernels.count; i++)
        count += last_index(l, &l->kernels.items[i]) + 2;
    if (count > 16u * TRACED_INDEX_MAX)
        return fail(l, "the kernels have more than 16 million instructions");
    module->code = ARENA_ARRAY(&module->arena, struct inst, count);
    module->code_count = (uint32_t)count;
    module->functions = ARENA_ARRAY(&module->arena, struct function *, l->kernels.count);
    module->function_count = l->kernels.count;
    module->mnemonics = ARENA_ARRAY(&module->arena, const char *, MNEMONICS_MAX);
    module->mnemonics[0] = "", module->mnemonic_count = 1;
    module->files = ARENA_ARRAY(&module->arena, const char *, 1);
    module->files[0] = "", module->file_count = 1;
    module->address_bytes = 8, module->sm = l->kernels.items[0].sm, module->is_traced = true;
    uint32_t first_pc = 0;
    for (unsigned i = 0; i < l->kernels.count; i++) {
        if (has_name(l, i))
            return fail(l, "two kernels of one name");
        if (!add_kernel(l, i, first_pc))
            return false;
        first_pc = module->functions[i]->end_pc;
    }
    return true;
}

enum status traced_load(const char *name, const char *text, size_t length, struct module **out, struct report *report) {
    struct loading loading = {.name = name, .text = text, .length = length};
    return module_make(name, build, &loading, out, report);
}
