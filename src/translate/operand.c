/* SPDX-License-Identifier: Apache-2.0 */
/* Operands and single operations of the internal form. */
#include <stdio.h>
#include <string.h>

#include "base/bits.h"
#include "isa/address.h"
#include "translate/turing.h"

uint32_t translate_address(const struct translation *t) { return t->turing ? t->turing->address : t->inst->address; }

static uint32_t line(const struct translation *t) {
    if (!t->turing)
        return t->inst->line;
    return t->kernel->lines ? t->kernel->lines[t->turing->address / TURING_INST_BYTES] : 0;
}

static struct native_place source_place(const struct translation *t) {
    const bool is_known = t->turing && t->kernel->places;
    return is_known ? t->kernel->places[t->turing->address / TURING_INST_BYTES] : (struct native_place){0};
}

const char *translate_text(const struct translation *t, char *buffer, unsigned size) {
    if (!t->turing)
        return native_inst_text(t->program, t->inst, buffer, size);
    struct text_line text = {.text = buffer, .size = size};
    turing_print(t->turing, &text);
    return buffer;
}

enum status translate_refuse(struct translation *t, const char *format, ...) {
    char message[256], text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    t->failed = true;
    return report_add(t->report, STATUS_INVALID, "%s:%u: error: unsupported: %s\n  /*%04x*/ %s", t->program->name,
                      (unsigned)line(t), message, (unsigned)translate_address(t), translate_text(t, text, sizeof text));
}

void translate_put_text(struct translation *t) {
    char text[256], whole[sizeof text + 16];
    struct text_line line = {.text = whole, .size = sizeof whole};
    while (t->texts.count + 1 < t->code.count)
        *ARENA_PUSH(&t->module->arena, &t->texts) = NULL;
    text_append_address(&line, translate_address(t));
    text_append(&line, translate_text(t, text, sizeof text));
    *ARENA_PUSH(&t->module->arena, &t->texts) = arena_strdup(&t->module->arena, whole);
    if (!t->turing)
        return;
    struct text_line control = {.text = text, .size = sizeof text};
    turing_print_control(&t->turing->control, &control);
    while (t->controls.count + 1 < t->code.count)
        *ARENA_PUSH(&t->module->arena, &t->controls) = NULL;
    *ARENA_PUSH(&t->module->arena, &t->controls) = arena_strdup(&t->module->arena, text);
    const struct inst_timing timing = turing_timing(t->turing);
    while (t->timing.count < t->code.count)
        *ARENA_PUSH(&t->module->arena, &t->timing) = timing;
}

struct operand translate_register(unsigned number) {
    return (struct operand){.kind = OPERAND_REG, .reg = number};
}

struct operand translate_pair(unsigned number) {
    return (struct operand){.kind = OPERAND_REG, .reg = number, .is_pair = true};
}

struct operand translate_number(uint64_t value) {
    return (struct operand){.kind = OPERAND_IMM, .imm = value};
}

/* What one instruction may take of a kind. */
static bool runs_out(struct translation *t, uint32_t used, uint32_t end) {
    return used >= end && translate_refuse(t, "it has too many parts") != STATUS_OK;
}

struct operand translate_scratch(struct translation *t) {
    if (runs_out(t, t->file->scratch + t->scratch, t->file->counted ? t->file->counted : t->file->wide))
        return translate_register(t->file->scratch);
    return translate_register(t->file->scratch + t->scratch++);
}
struct operand translate_wide(struct translation *t) {
    if (runs_out(t, t->file->wide + 2 * t->wide, t->file->test))
        return translate_pair(t->file->wide);
    return translate_pair(t->file->wide + 2 * t->wide++);
}
struct operand translate_test(struct translation *t) {
    if (runs_out(t, t->file->test + t->test, t->file->agreed ? t->file->agreed : t->file->count))
        return translate_register(t->file->test);
    return translate_register(t->file->test + t->test++);
}

struct operand translate_room(struct translation *t, enum type type) {
    return type_bytes(type) == 8 ? translate_wide(t) : translate_scratch(t);
}

static bool are_side_by_side(struct operand low, struct operand high) {
    return low.kind == OPERAND_REG && high.kind == OPERAND_REG && high.reg == low.reg + 1;
}

struct operand translate_pack(struct translation *t, struct operand low, struct operand high) {
    if (are_side_by_side(low, high))
        return translate_pair(low.reg);
    const struct operand wide = translate_wide(t);
    translate_move(t, translate_register(wide.reg), low);
    translate_move(t, translate_register(wide.reg + 1), high);
    return wide;
}

/* Half of 64 bits: 0 the lower one. */
static struct operand half_of(struct operand wide, unsigned which) {
    if (wide.kind == OPERAND_REG)
        return translate_register(wide.reg + which);
    if (wide.kind == OPERAND_PARAM)
        wide.imm += 4 * which;
    else if (wide.symbol)
        wide.reg += 32 * which;
    else
        wide.imm = (uint32_t)(which ? wide.imm >> 32 : wide.imm);
    return wide;
}

void translate_unpack(struct translation *t, struct operand wide, struct operand low, struct operand high) {
    const struct operation move = {.op = OP_MOV, .type = TYPE_B64};
    if (are_side_by_side(low, high)) {
        translate_1(t, move, translate_pair(low.reg), wide);
        return;
    }
    if (wide.kind == OPERAND_SPECIAL)
        wide = translate_through(t, OP_MOV, TYPE_B64, wide);
    if (low.kind != OPERAND_NONE)
        translate_move(t, low, half_of(wide, 0));
    if (high.kind != OPERAND_NONE)
        translate_move(t, high, half_of(wide, 1));
    if (low.kind == OPERAND_NONE && high.kind == OPERAND_NONE)
        translate_put(t, &(struct operation){.op = OP_NOP}, NULL, 0, NULL, 0);
}

struct operand translate_through(struct translation *t, enum op op, enum type type, struct operand from) {
    const uint64_t mask = type_bytes(type) == 8 ? UINT64_MAX : UINT32_MAX;
    const bool is_number = from.kind == OPERAND_IMM && !from.symbol && type_bytes(type) >= 4 && !type_is_float(type);
    if (is_number && (op == OP_NOT || op == OP_NEG))
        return translate_number((op == OP_NOT ? ~from.imm : 0 - from.imm) & mask);
    const struct operand out = translate_room(t, type);
    translate_1(t, (struct operation){.op = op, .type = type}, out, from);
    return out;
}

const struct symbol *translate_bank_symbol(const struct translation *t, unsigned number) {
    for (unsigned i = 0; i < t->kernel->bank_count; i++)
        if (t->kernel->banks[i].number == number)
            return t->banks[i];
    return NULL;
}

/* PT, and what is absent, is the constant; *always: it holds. */
struct operand translate_predicate(const struct native_operand *operand, bool *always) {
    const bool constant = operand->kind == NATIVE_NONE || operand->reg == FERMI_PT;
    *always = constant && !operand->inverted;
    if (constant)
        return translate_number(!operand->inverted);
    struct operand out = translate_register(REGISTER_P + operand->reg);
    out.negated = operand->inverted;
    return out;
}

static bool is_zero(const struct translation *t, const struct native_operand *operand) {
    return operand->reg == (t->program->isa == NATIVE_FERMI ? (unsigned)FERMI_RZ : (unsigned)TESLA_ZERO);
}

bool translate_find_link(struct translation *t, unsigned bank, int64_t offset, unsigned bytes, struct operand *out) {
    for (unsigned i = 0; i < t->kernel->link_count; i++) {
        const struct native_link *link = &t->kernel->links[i];
        const int64_t within = offset - (int64_t)link->offset;
        if (link->bank != bank || within <= -(int64_t)bytes || within >= (int64_t)link->bytes)
            continue;
        const uint32_t external = link->variable == NATIVE_NO_VARIABLE ? translate_external(link->symbol) : 0;
        if (link->variable == NATIVE_NO_VARIABLE && !external)
            translate_refuse(t, "the address of '%s'", link->symbol ? link->symbol : "");
        else if ((within != 0 && within != 4) || within + bytes > link->bytes || bytes < 4)
            translate_refuse(t, "a part of the address at c[0x%x][0x%x]", bank, (unsigned)offset);
        *out = translate_number(!external ? (uint64_t)link->addend : within ? 0 : external);
        if (link->variable != NATIVE_NO_VARIABLE)
            out->symbol = t->variables[link->variable];
        out->reg = !external && within == 4 ? 32 : 0;
        return true;
    }
    return false;
}

/* Links in code are the last. */
bool translate_find_code_link(struct translation *t, struct operand *out) {
    for (unsigned i = t->kernel->link_count; i-- > 0 && t->kernel->links[i].bank >= NATIVE_CODE;) {
        const struct native_link *link = &t->kernel->links[i];
        if (link->offset != translate_address(t))
            continue;
        const uint32_t external = link->variable == NATIVE_NO_VARIABLE ? translate_external(link->symbol) : 0;
        const bool is_high = link->bank == NATIVE_CODE_HIGH;
        if (link->variable == NATIVE_NO_VARIABLE && !external)
            translate_refuse(t, "the address of '%s'", link->symbol ? link->symbol : "");
        *out = translate_number(!external ? (uint64_t)link->addend : is_high ? 0 : external);
        if (link->variable != NATIVE_NO_VARIABLE)
            out->symbol = t->variables[link->variable];
        out->reg = !external && is_high ? 32 : 0;
        return true;
    }
    return false;
}

static struct operand refuse_constant(struct translation *t, const struct native_operand *operand) {
    translate_refuse(t, "nothing is known of c[0x%x][0x%x]", operand->bank, (unsigned)operand->value);
    return translate_number(0);
}

/* c[0x0]: where shared memory begins among generic addresses, sizes, then parameters; c[0x1][0x100]: where the stack in local memory begins, which grows down; others as the
 * listing has them. */
static struct operand fermi_constant(struct translation *t, const struct native_operand *operand, unsigned bytes) {
    const int64_t offset = operand->value;
    uint64_t value;
    if (operand->reg != FERMI_RZ)
        return refuse_constant(t, operand);
    const uint64_t param = (uint64_t)offset - FERMI_PARAM_BASE;
    if (operand->bank == 0 && range_within(param, bytes, t->kernel->param_bytes))
        return (struct operand){.kind = OPERAND_PARAM, .imm = param};
    if (operand->bank == 0 && bytes == 4 && offset % 4 == 0 && offset >= FERMI_SIZES_BASE &&
        offset < FERMI_PARAM_BASE) {
        const unsigned which = (unsigned)(offset - FERMI_SIZES_BASE) / 4;
        return (struct operand){.kind = OPERAND_SPECIAL,
                                .reg = which < 3 ? SPECIAL_NTID_X + which : SPECIAL_NCTAID_X + which - 3};
    }
    if (operand->bank == 0 && offset == 0 && bytes == 4)
        return translate_number(SHARED_WINDOW);
    if (operand->bank == 1 && offset == 0x100)
        return translate_number(t->kernel->local_bytes);
    struct operand address;
    if (operand->bank > 1 && translate_find_link(t, operand->bank, offset, bytes, &address))
        return address;
    if (operand->bank > 1 && native_bank_bytes(t->kernel, operand->bank, offset, bytes, &value))
        return translate_number(value);
    return refuse_constant(t, operand);
}

/* Tesla counts a bank in elements as wide as the operation takes them. */
static struct operand tesla_constant(struct translation *t, const struct native_operand *operand, unsigned bytes) {
    uint64_t value;
    struct operand address;
    if (translate_find_link(t, operand->bank, operand->value * bytes, bytes, &address))
        return address;
    if (native_bank_bytes(t->kernel, operand->bank, operand->value * bytes, bytes, &value))
        return translate_number(value);
    if (operand->bank == TESLA_ENVIRONMENT && bytes == 4 && operand->value >= 0 &&
        operand->value <= SPECIAL_ENVREG_LAST - SPECIAL_ENVREG0)
        return (struct operand){.kind = OPERAND_SPECIAL, .reg = SPECIAL_ENVREG0 + (unsigned)operand->value};
    return refuse_constant(t, operand);
}

/* A half of a register, as 32 bits of its type's sign. */
static struct operand take_half(struct translation *t, const struct native_operand *operand, enum type type) {
    const struct operand out = translate_scratch(t), whole = translate_register(operand->reg);
    const bool is_signed = type_is_signed(type);
    const struct operation extract = {.op = OP_BFE, .type = is_signed ? TYPE_S32 : TYPE_U32};
    translate_3(t, extract, out, whole, translate_number(operand->half == HALF_HIGH ? 16 : 0), translate_number(16));
    return out;
}

/* g[A + k]: the parameters of a kernel are the same for all its threads, the rest is loaded by a part. */
static struct operand take_shared(struct translation *t, const struct native_operand *operand, enum type type) {
    const enum type width = operand->width ? translate_type(operand->width) : TYPE_B32;
    const unsigned bytes = type_bytes(width);
    const int64_t place = operand->value * bytes;
    const bool direct = operand->reg == NATIVE_NO_ADDRESS;
    (void)type;
    const uint64_t param = (uint64_t)place - TESLA_PARAM_BASE;
    if (direct && bytes == 4 && range_within(param, bytes, t->kernel->param_bytes))
        return (struct operand){.kind = OPERAND_PARAM, .imm = param};
    static const uint8_t sizes[] = {SPECIAL_NTID_X,   SPECIAL_NTID_Y,  SPECIAL_NTID_Z, SPECIAL_NCTAID_X,
                                    SPECIAL_NCTAID_Y, SPECIAL_CTAID_X, SPECIAL_CTAID_Y};
    if (direct && bytes == 2 && place >= 2 && place < TESLA_PARAM_BASE)
        return (struct operand){.kind = OPERAND_SPECIAL, .reg = sizes[place / 2 - 1]};
    if (direct && place < TESLA_PARAM_BASE) {
        translate_refuse(t, "nothing is known of g[0x%x] but halves 1 to 7", (unsigned)operand->value);
        return translate_number(0);
    }
    const struct operand out = translate_scratch(t);
    struct operand address = {.kind = OPERAND_ADDRESS, .imm = (uint64_t)place};
    if (!direct)
        address.has_reg = true, address.reg = REGISTER_A + operand->reg;
    translate_1(t, (struct operation){.op = OP_LD, .type = width}, out, address)->space = SPACE_SHARED;
    return out;
}

struct operand translate_plain(struct translation *t, unsigned n, enum type type) {
    const struct native_operand *operand = &t->inst->operands[n];
    const unsigned bytes = type_bytes(type) < 2 ? 4 : type_bytes(type);
    const bool tesla = t->program->isa == NATIVE_TESLA;
    struct operand address;
    switch ((enum native_kind)operand->kind) {
    case NATIVE_REG:
        if (is_zero(t, operand))
            return translate_number(0);
        if (operand->half != HALF_NONE)
            return take_half(t, operand, type);
        return bytes == 8 ? translate_pack(t, translate_register(operand->reg), translate_register(operand->reg + 1u))
                          : translate_register(operand->reg);
    case NATIVE_IMMEDIATE:
        if (translate_find_code_link(t, &address))
            return address;
        return translate_number(bytes == 8 ? (uint64_t)operand->value : (uint32_t)operand->value);
    case NATIVE_CONSTANT:
        return tesla ? tesla_constant(t, operand, bytes) : fermi_constant(t, operand, bytes < 4 ? 4 : bytes);
    case NATIVE_SHARED: return take_shared(t, operand, type);
    case NATIVE_SPECIAL: return (struct operand){.kind = OPERAND_SPECIAL, .reg = operand->reg};
    case NATIVE_ADDRESS: return translate_register(REGISTER_A + operand->reg);
    default: translate_refuse(t, "operand %u", n + 1); return translate_number(0);
    }
}

struct operand translate_source(struct translation *t, unsigned n, enum type type) {
    const struct native_operand *operand = &t->inst->operands[n];
    struct operand out = translate_plain(t, n, type);
    if (operand->absolute)
        out = translate_through(t, OP_ABS, type, out);
    if (operand->negated)
        out = translate_through(t, OP_NEG, type, out);
    if (operand->inverted)
        out = translate_through(t, OP_NOT, TYPE_B32, out);
    return out;
}

struct operand translate_target(const struct translation *t, unsigned n) {
    const struct native_operand *operand = &t->inst->operands[n];
    if (operand->kind == NATIVE_ADDRESS)
        return translate_register(REGISTER_A + operand->reg);
    if (operand->kind != NATIVE_REG || is_zero(t, operand))
        return (struct operand){.kind = OPERAND_NONE};
    return translate_register(operand->reg);
}

/* ---- operations ---- */

struct inst *translate_put(struct translation *t, const struct operation *operation, const struct operand *targets,
                           unsigned target_count, const struct operand *sources, unsigned source_count) {
    struct arena *arena = &t->module->arena;
    struct inst *inst = ARENA_PUSH(arena, &t->code);
    const struct native_place from = source_place(t);
    *inst = (struct inst){.op = (uint16_t)operation->op,
                          .flags = (uint16_t)operation->flags,
                          .type = (uint8_t)operation->type,
                          .stype = (uint8_t)(operation->stype ? operation->stype : operation->type),
                          .rounding = (uint8_t)operation->rounding,
                          .compare = (uint8_t)operation->compare,
                          .boolop = (uint8_t)operation->boolop,
                          .mode = (uint8_t)operation->mode,
                          .dst_count = (uint8_t)target_count,
                          .src_count = (uint8_t)source_count,
                          .guard = t->guard,
                          .guard_negated = t->guard_negated,
                          .reconverge = NO_PC,
                          .target = NO_PC,
                          .text_line = line(t),
                          .text_column = 1,
                          .file = from.file,
                          .line = from.line,
                          .column = from.column,
                          .mnemonic = (uint16_t)((t->turing ? t->turing->row : t->inst->row) + 1)};
    inst->dst = arena_copy(arena, targets, target_count * sizeof *targets);
    inst->src = arena_copy(arena, sources, source_count * sizeof *sources);
    return inst;
}

struct inst *translate_1(struct translation *t, struct operation operation, struct operand d, struct operand a) {
    return translate_put(t, &operation, &d, 1, &a, 1);
}

struct inst *translate_2(struct translation *t, struct operation operation, struct operand d, struct operand a,
                         struct operand b) {
    return translate_put(t, &operation, &d, 1, (const struct operand[]){a, b}, 2);
}

struct inst *translate_3(struct translation *t, struct operation operation, struct operand d, struct operand a,
                         struct operand b, struct operand c) {
    return translate_put(t, &operation, &d, 1, (const struct operand[]){a, b, c}, 3);
}

void translate_move(struct translation *t, struct operand d, struct operand a) {
    translate_1(t, (struct operation){.op = OP_MOV, .type = TYPE_B32}, d, a);
}

struct operand translate_begin_pair(struct translation *t) {
    return translate_wide(t);
}

void translate_end_pair(struct translation *t, struct operand pair, const struct native_operand *target) {
    struct operand halves[2] = {{.kind = OPERAND_NONE}, {.kind = OPERAND_NONE}};
    if (!is_zero(t, target))
        halves[0] = translate_register(target->reg), halves[1] = translate_register(target->reg + 1u);
    translate_unpack(t, pair, halves[0], halves[1]);
}

void translate_branch_to_way(struct translation *t, struct operand address) {
    const struct operand index = translate_scratch(t), here = translate_test(t);
    uint32_t number = 0;
    translate_move(t, index, translate_number(UINT32_MAX));
    for (unsigned i = 0; i < t->kernel->way_count; i++) {
        if (t->kernel->ways[i].from != translate_address(t))
            continue;
        translate_2(t, (struct operation){.op = OP_SETP, .type = TYPE_U32, .compare = CMP_EQ}, here, address,
                    translate_number(t->kernel->ways[i].to));
        translate_3(t, (struct operation){.op = OP_SELP, .type = TYPE_B32}, index, translate_number(number++), index,
                    here);
    }
    if (!number)
        translate_refuse(t, "the file does not say where it may lead");
    translate_put(t, &(struct operation){.op = OP_BRX, .type = TYPE_U32}, NULL, 0, &index, 1);
}

/* ---- words ---- */

enum compare translate_compare(enum native_modifier word) {
    static const uint8_t compares[] = {CMP_LT,  CMP_EQ,  CMP_LE,  CMP_GT,  CMP_NE,  CMP_GE,  CMP_NUM,
                                       CMP_NAN, CMP_LTU, CMP_EQU, CMP_LEU, CMP_GTU, CMP_NEU, CMP_GEU};
    return word >= MODIFIER_LT && word <= MODIFIER_GEU ? compares[word - MODIFIER_LT] : CMP_NONE;
}

enum boolop translate_boolop(enum native_modifier word) {
    return word == MODIFIER_AND   ? BOOL_AND
           : word == MODIFIER_OR  ? BOOL_OR
           : word == MODIFIER_XOR ? BOOL_XOR
                                  : BOOL_NONE;
}

enum rounding translate_rounding(enum native_modifier word) {
    switch (word) {
    case MODIFIER_RM: return ROUND_RM;
    case MODIFIER_RP: return ROUND_RP;
    case MODIFIER_RZ: return ROUND_RZ;
    case MODIFIER_ROUND: return ROUND_RNI;
    case MODIFIER_FLOOR: return ROUND_RMI;
    case MODIFIER_CEIL: return ROUND_RPI;
    case MODIFIER_TRUNC: return ROUND_RZI;
    default: return ROUND_DEFAULT;
    }
}

enum type translate_type(enum native_modifier word) {
    switch (word) {
    case MODIFIER_U8: return TYPE_U8;
    case MODIFIER_S8: return TYPE_S8;
    case MODIFIER_U16: return TYPE_U16;
    case MODIFIER_S16: return TYPE_S16;
    case MODIFIER_U32: return TYPE_U32;
    case MODIFIER_S32: return TYPE_S32;
    case MODIFIER_U64: return TYPE_U64;
    case MODIFIER_S64: return TYPE_S64;
    case MODIFIER_F16: return TYPE_F16;
    case MODIFIER_F32:
    case MODIFIER_F32_FTZ_RN: return TYPE_F32;
    case MODIFIER_F64: return TYPE_F64;
    default: return TYPE_NONE;
    }
}

enum type translate_type_or(enum native_modifier word, enum type otherwise) {
    return word ? translate_type(word) : otherwise;
}

enum atom translate_atom(enum native_modifier word) {
    switch (word) {
    case MODIFIER_ADD: return ATOM_ADD;
    case MODIFIER_MIN: return ATOM_MIN;
    case MODIFIER_MAX: return ATOM_MAX;
    case MODIFIER_INC: return ATOM_INC;
    case MODIFIER_DEC: return ATOM_DEC;
    case MODIFIER_AND: return ATOM_AND;
    case MODIFIER_OR: return ATOM_OR;
    case MODIFIER_XOR: return ATOM_XOR;
    case MODIFIER_EXCH: return ATOM_EXCH;
    case MODIFIER_CAS: return ATOM_CAS;
    default: return ATOM_NONE;
    }
}
