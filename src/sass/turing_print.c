/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions of sm_75 to sm_90 as text, in the manner of public listings. */
#include "sass/turing_coder.h"

#include <string.h>

static void put_number(struct text_line *line, int64_t value) {
    if (value < 0)
        text_append(line, "-");
    text_append(line, "0x");
    text_append_number(line, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, 16);
}

static void put_numbered(struct text_line *line, const char *letter, unsigned number, const char *named) {
    text_append(line, named ? named : letter);
    if (!named)
        text_append_number(line, number, 10);
}

static void put_register(struct text_line *line, unsigned reg) {
    put_numbered(line, "R", reg, reg == TURING_RZ ? "RZ" : NULL);
}

static void put_uniform(struct text_line *line, unsigned reg) {
    put_numbered(line, "UR", reg, reg == TURING_URZ ? "URZ" : NULL);
}

static void put_predicate(struct text_line *line, unsigned reg, bool inverted, bool uniform) {
    text_append(line, inverted ? "!" : "");
    text_append(line, uniform ? "U" : "");
    put_numbered(line, "P", reg, reg == TURING_PT ? "PT" : NULL);
}

/* ---- immediates ---- */

/* Numbers as such; what is none as its bits. */
static void put_float(struct text_line *line, uint64_t bits, bool is_double) {
    char buffer[TEXT_F64_BYTES];
    double value;
    if (is_double) {
        const uint64_t whole = bits << 32;
        memcpy(&value, &whole, sizeof value);
    } else {
        float narrow;
        const uint32_t half = (uint32_t)bits;
        memcpy(&narrow, &half, sizeof narrow);
        value = (double)narrow;
    }
    const bool is_special = is_double ? (bits >> 20 & 0x7ff) == 0x7ff : (bits >> 23 & 0xff) == 0xff;
    const uint64_t mantissa = is_double ? bits & 0xfffff : bits & 0x7fffff;
    if (!is_special)
        text_append(line, text_from_f64(value, buffer));
    else if (!mantissa)
        text_put(line, "%cINF", bits >> 31 ? '-' : '+');
    else
        text_put(line, "0x%08llx", (unsigned long long)bits);
}

static void put_swizzle(struct text_line *line, unsigned bits) {
    static const char signs[4][3] = {"PP", "PN", "NP", "ZP"};
    for (unsigned i = 0; i < 4; i++)
        text_append(line, signs[bits >> (6 - 2 * i) & 3]);
}

static void put_immediate(struct text_line *line, const struct turing_place *place, int64_t value) {
    const bool is_flexible = place->shape >= TURING_SHAPE_A && place->shape <= TURING_SHAPE_BC;
    const uint64_t bits = (uint64_t)value;
    if (place->shape == TURING_SHAPE_SWIZZLE)
        put_swizzle(line, (unsigned)bits);
    else if (is_flexible && (place->type == TURING_TYPE_F || place->type == TURING_TYPE_FH))
        put_float(line, bits, false);
    else if (is_flexible && place->type == TURING_TYPE_D)
        put_float(line, bits, true);
    else if (is_flexible && place->type == TURING_TYPE_H)
        text_put(line, "0x%04x, 0x%04x", (unsigned)(bits >> 16), (unsigned)(bits & 0xffff));
    else
        put_number(line, value);
}

/* ---- memory ---- */

static void put_constant(struct text_line *line, const struct turing_operand *operand) {
    if (operand->bindless) {
        text_append(line, "cx[");
        put_uniform(line, operand->ureg);
        text_append(line, "][");
    } else {
        text_append(line, "c[");
        put_number(line, operand->bank);
        text_append(line, "][");
    }
    const bool has_register = operand->reg != TURING_RZ, has_uniform = operand->uniform && !operand->bindless;
    if (has_register)
        put_register(line, operand->reg);
    if (has_uniform)
        put_uniform(line, operand->ureg);
    if ((has_register || has_uniform) && operand->value)
        text_append(line, "+");
    if ((!has_register && !has_uniform) || operand->value)
        put_number(line, operand->value);
    text_append(line, "]");
}

/* Parts of an address with + between them. */
static void put_sum(struct text_line *line, bool *is_first) {
    if (!*is_first)
        text_append(line, "+");
    *is_first = false;
}

static void put_parts(struct text_line *line, const struct turing_operand *operand, bool has_register, bool has_uniform,
                      const char *behind) {
    bool is_first = true;
    if (has_register) {
        put_sum(line, &is_first);
        put_register(line, operand->reg);
        text_append(line, behind);
    }
    if (has_uniform) {
        put_sum(line, &is_first);
        put_uniform(line, operand->ureg);
    }
    if (operand->value || is_first) {
        put_sum(line, &is_first);
        put_number(line, operand->value);
    }
    text_append(line, "]");
}

static void put_descriptor(struct text_line *line, const struct turing_operand *operand) {
    text_append(line, "desc[");
    put_uniform(line, operand->ureg);
    text_append(line, operand->hint ? ".hint][" : "][");
}

static void put_memory(struct text_line *line, const struct turing_place *place, const struct turing_operand *operand) {
    static const char *const scales[] = {"", ".X4", ".X8", ".X16"};
    const struct turing_address *address = turing_address(place->type);
    const char *behind = "";
    if (address->scaled)
        behind = scales[operand->select & 3];
    else if (address->wide && operand->uniform)
        behind = operand->wide ? ".64" : ".U32";
    if (operand->descriptor)
        put_descriptor(line, operand);
    else
        text_append(line, "[");
    const bool has_uniform = operand->uniform && !operand->descriptor;
    const bool drops = has_uniform || (address->drops_zero && operand->value);
    put_parts(line, operand, operand->reg != TURING_RZ || !drops, has_uniform, behind);
}

static void put_async(struct text_line *line, const struct turing_place *place, const struct turing_operand *operand) {
    const bool is_shared = place->shape == TURING_SHAPE_ASYNC_SHARED;
    if (operand->descriptor)
        put_descriptor(line, operand);
    else
        text_append(line, "[");
    const bool has_uniform = !operand->descriptor && operand->uniform && (is_shared || operand->ureg != TURING_URZ);
    put_parts(line, operand, operand->reg != TURING_RZ || !is_shared || !has_uniform, has_uniform,
              is_shared       ? ""
              : operand->wide ? ".64"
                              : ".U32");
}

/* ---- operands ---- */

unsigned turing_reuse(const struct turing_inst *inst, unsigned operand) {
    const struct turing_row *row = turing_row(inst->row);
    switch ((enum turing_unit)row->unit) {
    case TURING_UNIT_TEX:
    case TURING_UNIT_MIO:
    case TURING_UNIT_MEM:
    case TURING_UNIT_BRANCH:
    case TURING_UNIT_XU_WIDE: return 0;
    case TURING_UNIT_XU:
        if (inst->row != TURING_FCHK)
            return 0;
        break;
    default: break;
    }
    if (inst->operands[operand].kind != TURING_REGISTER)
        return 0;
    const struct turing_place *place = &row->operands[operand];
    switch ((enum turing_shape)place->shape) {
    case TURING_SHAPE_A: return 1;
    case TURING_SHAPE_B: return 2;
    case TURING_SHAPE_C:
    case TURING_SHAPE_BC: return 4;
    case TURING_SHAPE_REGISTER:
    case TURING_SHAPE_MATRIX:
    case TURING_SHAPE_BYTE: return place->at == 24 ? 1 : place->at == 32 ? 2 : place->at == 64 ? 4 : 0;
    case TURING_SHAPE_META: return 8;
    default: return 0;
    }
}

const char *turing_selected(const struct turing_inst *inst, const struct turing_place *place,
                            const struct turing_operand *operand) {
    static const char *const bytes[] = {"", ".B1", ".B2", ".B3"}, *const halves[] = {"", ".H1", ".H2", ".H3"};
    static const char *const pairs[] = {"", ".F32", ".H0_H0", ".H1_H1"};
    switch ((enum turing_shape)place->shape) {
    case TURING_SHAPE_MATRIX: return operand->select ? ".COL" : ".ROW";
    case TURING_SHAPE_META: return operand->select ? ".reuse" : "";
    case TURING_SHAPE_BYTE: return bytes[operand->select & 3];
    case TURING_SHAPE_A:
    case TURING_SHAPE_B:
    case TURING_SHAPE_C:
    case TURING_SHAPE_BC: break;
    default: return "";
    }
    switch ((enum turing_type)place->type) {
    case TURING_TYPE_FH: return halves[operand->select & 3];
    case TURING_TYPE_H: return pairs[operand->select & 3];
    case TURING_TYPE_S: return (turing_modifier(inst, TURING_WORDS_INTEGER) > 1 ? halves : bytes)[operand->select & 3];
    default: return "";
    }
}

static void put_value(struct text_line *line, const struct turing_place *place, const struct turing_operand *operand) {
    switch ((enum turing_kind)operand->kind) {
    case TURING_NONE: break;
    case TURING_REGISTER: put_register(line, operand->reg); break;
    case TURING_UNIFORM: put_uniform(line, operand->reg); break;
    case TURING_PREDICATE:
    case TURING_UPREDICATE:
        put_predicate(line, operand->reg, operand->inverted, operand->kind == TURING_UPREDICATE);
        break;
    case TURING_PREDICATES: text_append(line, "PR"); break;
    case TURING_IMMEDIATE: put_immediate(line, place, operand->value); break;
    case TURING_NAMED: {
        const char *name = turing_words_text(place->type, (unsigned)operand->value);
        text_append(line, name ? name : "?");
        break;
    }
    case TURING_BARRIER: text_put(line, "B%u", operand->reg); break;
    case TURING_TARGET:
    case TURING_DISTANCE: put_number(line, operand->value); break;
    case TURING_DEPENDENCY:
        text_put(line, "SB%u, 0x%x", operand->reg, (unsigned)operand->value);
        for (unsigned i = 6, found = 0; i-- > 0;)
            if (operand->select >> i & 1)
                text_put(line, "%s%u", found++ ? "," : ", {", i);
        text_append(line, operand->select ? "}" : "");
        break;
    case TURING_CONSTANT: put_constant(line, operand); break;
    case TURING_MEMORY:
        if (place->shape == TURING_SHAPE_MEMORY)
            put_memory(line, place, operand);
        else
            put_async(line, place, operand);
        break;
    }
}

static void put_operand(struct text_line *line, const struct turing_inst *inst, unsigned index) {
    const struct turing_row *row = turing_row(inst->row);
    const struct turing_place *place = &row->operands[index];
    const struct turing_operand *operand = &inst->operands[index];
    const bool is_predicate = operand->kind == TURING_PREDICATE || operand->kind == TURING_UPREDICATE;
    const bool is_reused = (inst->control.reuse & turing_reuse(inst, index)) != 0;
    if (operand->kind == TURING_PREDICATES && row->unit == TURING_UNIT_UNIFORM)
        text_append(line, "U");
    text_append(line, operand->negated ? "-" : "");
    text_append(line, operand->inverted && !is_predicate ? "~" : "");
    text_append(line, operand->absolute ? "|" : "");
    put_value(line, place, operand);
    text_append(line, operand->absolute ? "|" : "");
    text_append(line, is_reused ? ".reuse" : "");
    text_append(line, turing_selected(inst, place, operand));
    if (place->shape == TURING_SHAPE_META && operand->kind == TURING_REGISTER)
        text_put(line, ", 0x%x", (unsigned)operand->value);
}

/* CCTL of a whole cache has no address, though its place is there. */
static bool is_whole_cache(const struct turing_inst *inst) {
    const int what = turing_modifier(inst, TURING_WORDS_CACHE_CONTROL);
    return what >= 4 && what != 5 && what <= 8 && inst->operands[0].reg == TURING_RZ && !inst->operands[0].value;
}

bool turing_is_printed(const struct turing_inst *inst, unsigned operand) {
    return inst->operands[operand].kind != TURING_NONE && !inst->operands[operand].hidden && !is_whole_cache(inst);
}

static void put_words(struct text_line *line, const struct turing_inst *inst) {
    const struct turing_field *fields = turing_row(inst->row)->modifiers;
    for (unsigned i = 0; fields[i].words; i++) {
        const char *text = turing_words_text(fields[i].words, inst->modifiers[i]);
        if (inst->modifiers[i] == TURING_NO_WORD || !text || !*text)
            continue;
        text_append(line, fields[i].joined ? "" : ".");
        text_append(line, text);
    }
}

void turing_print(const struct turing_inst *inst, struct text_line *line) {
    const struct turing_row *row = turing_row(inst->row);
    if (inst->guard != TURING_PT || inst->guard_inverted) {
        text_append(line, "@");
        put_predicate(line, inst->guard, inst->guard_inverted, row->unit == TURING_UNIT_UNIFORM);
        text_append(line, " ");
    }
    text_append(line, row->mnemonic);
    put_words(line, inst);
    bool is_first = true;
    for (unsigned i = 0; row->operands[i].shape; i++) {
        if (!turing_is_printed(inst, i))
            continue;
        text_append(line, is_first ? " " : ", ");
        put_operand(line, inst, i);
        is_first = false;
    }
}

void turing_print_control(const struct turing_control *control, struct text_line *line) {
    char text[] = "[B------:R-:W-:Y:S00]";
    enum { WAITS = 2, READS = 10, WRITES = 13, YIELDS = 15, STALL = 18 };
    for (unsigned i = 0; i < 6; i++)
        text[WAITS + i] = control->wait_mask >> i & 1 ? (char)('0' + i) : '-';
    if (control->read_barrier != TURING_NO_BARRIER)
        text[READS] = (char)('0' + control->read_barrier);
    if (control->write_barrier != TURING_NO_BARRIER)
        text[WRITES] = (char)('0' + control->write_barrier);
    text[YIELDS] = control->stays ? '-' : 'Y';
    text[STALL] = (char)('0' + control->stall / 10);
    text[STALL + 1] = (char)('0' + control->stall % 10);
    text_append(line, text);
}
