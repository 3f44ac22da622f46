/* SPDX-License-Identifier: Apache-2.0 */
/* Operands as written to operands of the instruction form: the letters of forms.def. */
#include "ptx/forms.h"

bool lower_error(struct parser *parser, const struct statement *statement, const char *problem) {
    return parser_error(parser, statement->mnemonic, "'%s'%s", forms_opcode_text(parser, statement), problem);
}

bool lower_mismatch(struct parser *parser, struct statement *statement, const struct raw *raw, enum type type) {
    const char *opcode = forms_opcode_text(parser, statement);
    if (raw->kind == RAW_NAME)
        return parser_undeclared(parser, raw->token);
    if (raw->negated)
        return parser_error(parser, raw->token, "'!' is not allowed here in '%s'", opcode);
    if (raw->kind == RAW_REGISTER)
        return parser_error(parser, raw->token, "register '%.*s' of type .%s does not fit .%s in '%s'",
                            TOKEN_TEXT(parser, raw->token), type_name((enum type)raw->type), type_name(type), opcode);
    if (raw->kind == RAW_SPECIAL)
        return parser_error(parser, raw->token, "special register '%s' is not allowed in '%s'; mov it to a register",
                            special_name((enum special)raw->reg), opcode);
    if (raw->kind == RAW_SYMBOL)
        return parser_error(parser, raw->token, "variable '%s' is not allowed in '%s'; mov its address to a register",
                            raw->symbol->name, opcode);
    return parser_error(parser, raw->token, "this operand of '%s' must be a register or constant of type .%s", opcode,
                        type_name(type));
}

bool lower_count(struct parser *parser, struct statement *statement, unsigned least, unsigned most) {
    unsigned count = statement->operand_count;
    if (count >= least && count <= most)
        return true;
    const char *opcode = forms_opcode_text(parser, statement);
    if (least == most)
        return parser_error(parser, statement->mnemonic, "'%s' takes %u operand%s, not %u", opcode, least,
                            least == 1 ? "" : "s", count);
    return parser_error(parser, statement->mnemonic, "'%s' takes %u to %u operands, not %u", opcode, least, most,
                        count);
}

static struct operand reg_operand(const struct raw *raw) {
    return (struct operand){.kind = OPERAND_REG, .negated = raw->negated, .reg = raw->reg};
}

bool lower_destination(struct parser *parser, struct statement *statement, struct inst_build *build,
                       const struct raw *raw, enum type type, bool wider) {
    if (raw->kind == RAW_CONSTANT || raw->negated)
        return parser_error(parser, raw->token, "the destination of '%s' must be a register",
                            forms_opcode_text(parser, statement));
    if (!operand_is_register_of(raw, type, wider))
        return lower_mismatch(parser, statement, raw, type);
    build->dst[build->inst.dst_count++] = reg_operand(raw);
    return true;
}

bool lower_source(struct parser *parser, struct statement *statement, struct inst_build *build, const struct raw *raw,
                  enum type type, bool wider) {
    struct operand *operand = &build->src[build->inst.src_count];
    if (raw->kind == RAW_CONSTANT) {
        *operand = (struct operand){.kind = OPERAND_IMM};
        if (!constant_convert(parser, raw->token, &raw->constant, type, &operand->imm))
            return false;
    } else if (raw->negated || !operand_is_register_of(raw, type, wider)) {
        return lower_mismatch(parser, statement, raw, type);
    } else {
        *operand = reg_operand(raw);
    }
    build->inst.src_count++;
    return true;
}

bool lower_predicate(struct parser *parser, struct statement *statement, struct inst_build *build,
                     const struct raw *raw) {
    struct raw plain = *raw;
    plain.negated = false;
    if (!lower_source(parser, statement, build, &plain, TYPE_PRED, false))
        return false;
    build->src[build->inst.src_count - 1].negated = raw->negated;
    return true;
}

static enum type twice(enum type type) {
    switch (type) {
    case TYPE_U16: return TYPE_U32;
    case TYPE_S16: return TYPE_S32;
    case TYPE_U32: return TYPE_U64;
    default: return TYPE_S64;
    }
}

/* d|p, where '_' stands for a result nobody wants. A lone d is a pair with a sink. */
static bool lower_pair(struct parser *parser, struct statement *statement, struct inst_build *build,
                       const struct raw *raw, enum type type, bool must) {
    const struct raw *parts[2] = {raw, NULL};
    if (raw->kind == RAW_PAIR) {
        parts[0] = &statement->parts[raw->first];
        parts[1] = &statement->parts[raw->first + 1];
    } else if (must) {
        return parser_error(parser, raw->token, "'%s' needs a pair of destinations d|p",
                            forms_opcode_text(parser, statement));
    }
    for (unsigned i = 0; i < 2 && parts[i]; i++) {
        enum type wanted = i == 0 ? type : TYPE_PRED;
        if (parts[i]->kind == RAW_SINK)
            build->dst[build->inst.dst_count++] = (struct operand){.kind = OPERAND_NONE};
        else if (!lower_destination(parser, statement, build, parts[i], wanted, false))
            return false;
    }
    return true;
}

static bool lower_small_constant(struct parser *parser, struct statement *statement, struct inst_build *build,
                                 const struct raw *raw) {
    if (raw->kind != RAW_CONSTANT || raw->constant.is_float || raw->constant.bits > 255)
        return parser_error(parser, raw->token, "this operand of '%s' must be a constant from 0 to 255",
                            forms_opcode_text(parser, statement));
    build->src[build->inst.src_count++] = (struct operand){.kind = OPERAND_IMM, .imm = raw->constant.bits};
    return true;
}

static bool lower_letter(struct parser *parser, struct statement *statement, struct inst_build *build, char letter,
                         const struct raw *raw) {
    enum type type = (enum type)build->inst.type, second = (enum type)build->inst.stype;
    switch (letter) {
    case 'd': return lower_destination(parser, statement, build, raw, type, false);
    case 'D': return lower_destination(parser, statement, build, raw, twice(type), false);
    case 'r': return lower_destination(parser, statement, build, raw, TYPE_B32, false);
    case 'p': return lower_destination(parser, statement, build, raw, TYPE_PRED, false);
    case 'P': return lower_pair(parser, statement, build, raw, TYPE_PRED, false);
    case 'x': return lower_pair(parser, statement, build, raw, TYPE_B32, false);
    case 'X': return lower_pair(parser, statement, build, raw, TYPE_B32, true);
    case 't': return lower_source(parser, statement, build, raw, type, false);
    case 's': return lower_source(parser, statement, build, raw, second, false);
    case 'w': return lower_source(parser, statement, build, raw, twice(type), false);
    case 'u': return lower_source(parser, statement, build, raw, TYPE_U32, false);
    case 'q': return lower_predicate(parser, statement, build, raw);
    case 'b': return lower_predicate(parser, statement, build, raw);
    default: return lower_small_constant(parser, statement, build, raw);
    }
}

/* Words whose value is not yet what the instruction form holds. */
static bool finish_modes(struct parser *parser, struct statement *statement, struct inst_build *build) {
    struct inst *inst = &build->inst;
    const struct match *match = &statement->match;
    bool wraps = match->value[SLOT_WRAP] == MODE_WRAP;
    if (inst->op == OP_SHF)
        inst->mode = inst->mode == MODE_LEFT_CLAMP ? (wraps ? MODE_LEFT_WRAP : MODE_LEFT_CLAMP)
                                                   : (wraps ? MODE_RIGHT_WRAP : MODE_RIGHT_CLAMP);
    else if (inst->op == OP_BMSK || inst->op == OP_SZEXT)
        inst->mode = (uint8_t)match->value[SLOT_WRAP];
    if (inst->op == OP_MIN || inst->op == OP_MAX) {
        bool xorsign = (inst->flags & FLAG_XORSIGN) != 0, absolute = (inst->flags & FLAG_ABS) != 0;
        if (xorsign != absolute)
            return lower_error(parser, statement, ": .xorsign and .abs go together");
    }
    return true;
}

bool lower_plain(struct parser *parser, struct statement *statement, struct inst_build *build) {
    const char *letters = statement->match.form->operands;
    bool combines = (statement->match.slots >> SLOT_BOOL & 1) != 0;
    unsigned count = 0;
    for (const char *letter = letters; *letter; letter++)
        count += *letter != 'b' || combines;
    if (!lower_count(parser, statement, count, count) || !finish_modes(parser, statement, build))
        return false;
    const struct raw *raw = statement->operands;
    for (const char *letter = letters; *letter; letter++) {
        if (*letter == 'b' && !combines)
            continue;
        if (!lower_letter(parser, statement, build, *letter, raw++))
            return false;
    }
    return true;
}
