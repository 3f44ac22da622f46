/* SPDX-License-Identifier: Apache-2.0 */
/* mov, cvt and the conversions of addresses. */
#include "ptx/words.h"

static unsigned special_bytes(enum special special) {
    return special == SPECIAL_CLOCK64 || special == SPECIAL_GLOBALTIMER ? 8 : 4;
}

/* 16-bit reads of thread and block indices, and 32- and 64-bit ones of the grid's, are as old as PTX. */
static bool special_fits(enum special special, enum type type) {
    unsigned bytes = type_bytes(type);
    if (type_is_float(type) || type == TYPE_PRED)
        return false;
    if (special <= SPECIAL_NCTAID_Z)
        return bytes == 4 || bytes == 2;
    if (special == SPECIAL_GRIDID)
        return bytes == 4 || bytes == 8;
    return bytes == special_bytes(special);
}

static bool lower_special(struct parser *parser, struct statement *statement, struct inst_build *build,
                          const struct raw *raw, enum type type) {
    enum special special = raw->kind == RAW_SPECIAL ? (enum special)raw->reg : SPECIAL_WARPSZ;
    if (!special_fits(special, type))
        return parser_error(parser, raw->token, "special register '%s' does not fit .%s in '%s'", special_name(special),
                            type_name(type), forms_opcode_text(parser, statement));
    build->src[build->inst.src_count++] = (struct operand){.kind = OPERAND_SPECIAL, .reg = special};
    return true;
}

static bool lower_symbol(struct parser *parser, struct statement *statement, struct inst_build *build,
                         const struct raw *raw, enum type type) {
    const struct symbol *symbol = raw->symbol;
    unsigned bytes = type_bytes(type), address_bytes = parser->module->address_bytes;
    bool in_window = symbol->kind == SYMBOL_VARIABLE && symbol->space != SPACE_GLOBAL;
    if (type_is_float(type) || (bytes != address_bytes && !(bytes == 4 && in_window) && bytes != 8))
        return parser_error(parser, raw->token, "the address of '%s' does not fit .%s in '%s'", symbol->name,
                            type_name(type), forms_opcode_text(parser, statement));
    build->src[build->inst.src_count++] =
        (struct operand){.kind = OPERAND_ADDRESS, .symbol = symbol, .imm = (uint64_t)raw->offset};
    return true;
}

static enum type part_type(enum type type, unsigned parts) {
    switch (type_bytes(type) / parts) {
    case 1: return TYPE_B8;
    case 2: return TYPE_B16;
    default: return TYPE_B32;
    }
}

static bool check_parts(struct parser *parser, struct statement *statement, const struct raw *vector, enum type type) {
    bool is_bits = type == TYPE_B16 || type == TYPE_B32 || type == TYPE_B64;
    if (!is_bits)
        return parser_error(parser, vector->token, "packing and unpacking need a type .b16, .b32 or .b64, not .%s",
                            type_name(type));
    unsigned count = vector->count, bytes = type_bytes(type);
    if ((count != 2 && count != 4) || bytes % count != 0 || bytes / count > 4)
        return parser_error(parser, vector->token, "'%s' cannot have %u parts", forms_opcode_text(parser, statement),
                            count);
    return true;
}

static bool lower_unpack(struct parser *parser, struct statement *statement, struct inst_build *build) {
    const struct raw *vector = &statement->operands[0];
    enum type type = (enum type)build->inst.type;
    if (!check_parts(parser, statement, vector, type))
        return false;
    for (unsigned i = 0; i < vector->count; i++) {
        const struct raw *part = &statement->parts[vector->first + i];
        if (part->kind == RAW_SINK)
            build->dst[build->inst.dst_count++] = (struct operand){.kind = OPERAND_NONE};
        else if (!lower_destination(parser, statement, build, part, part_type(type, vector->count), false))
            return false;
    }
    return lower_source(parser, statement, build, &statement->operands[1], type, false);
}

static bool lower_pack(struct parser *parser, struct statement *statement, struct inst_build *build) {
    const struct raw *vector = &statement->operands[1];
    enum type type = (enum type)build->inst.type;
    if (!check_parts(parser, statement, vector, type) ||
        !lower_destination(parser, statement, build, &statement->operands[0], type, false))
        return false;
    for (unsigned i = 0; i < vector->count; i++)
        if (!lower_source(parser, statement, build, &statement->parts[vector->first + i],
                          part_type(type, vector->count), false))
            return false;
    return true;
}

bool lower_mov(struct parser *parser, struct statement *statement, struct inst_build *build) {
    enum type type = (enum type)build->inst.type;
    if (!lower_count(parser, statement, 2, 2))
        return false;
    const struct raw *source = &statement->operands[1];
    if (statement->operands[0].kind == RAW_VECTOR)
        return lower_unpack(parser, statement, build);
    if (source->kind == RAW_VECTOR)
        return lower_pack(parser, statement, build);
    if (!lower_destination(parser, statement, build, &statement->operands[0], type, false))
        return false;
    if (source->kind == RAW_SPECIAL)
        return lower_special(parser, statement, build, source, type);
    if (source->is_warp_size && special_fits(SPECIAL_WARPSZ, type) && source->token[1].kind == ';')
        return lower_special(parser, statement, build, source, type);
    if (source->kind == RAW_SYMBOL)
        return lower_symbol(parser, statement, build, source, type);
    return lower_source(parser, statement, build, source, type, false);
}

enum cvt_rounding { CVT_NONE, CVT_FLOAT, CVT_INTEGRAL, CVT_INTEGRAL_OR_NONE, CVT_NEVER };

/* Which rounding a conversion must or may have. */
static enum cvt_rounding cvt_rule(enum type to, enum type from) {
    bool to_float = type_is_float(to), from_float = type_is_float(from);
    if (from == TYPE_F16X2 || from == TYPE_BF16X2 || from == TYPE_TF32)
        return CVT_NEVER;
    if (to == TYPE_F16X2 || to == TYPE_BF16X2 || to == TYPE_TF32)
        return from == TYPE_F32 ? CVT_FLOAT : CVT_NEVER;
    if (!to_float)
        return from_float ? CVT_INTEGRAL : CVT_NONE;
    if (!from_float)
        return CVT_FLOAT;
    if (to == from)
        return CVT_INTEGRAL_OR_NONE;
    return type_bytes(to) > type_bytes(from) ? CVT_NONE : CVT_FLOAT;
}

/* True when every value of one integer type is one of the other, so that there is nothing to saturate. */
static bool holds(enum type to, enum type from) {
    if (type_is_signed(to) == type_is_signed(from))
        return type_bytes(to) >= type_bytes(from);
    return type_is_signed(to) && type_bytes(to) > type_bytes(from);
}

static bool check_cvt_flags(struct parser *parser, struct statement *statement, const struct inst *inst) {
    enum type to = (enum type)inst->type, from = (enum type)inst->stype;
    bool packed = to == TYPE_F16X2 || to == TYPE_BF16X2 || to == TYPE_TF32;
    bool small = packed || to == TYPE_F16 || to == TYPE_BF16;
    bool integers = !type_is_float(to) && !type_is_float(from);
    if (inst->rounding == ROUND_RNA && to != TYPE_TF32)
        return lower_error(parser, statement, ": .rna is for .tf32");
    if (packed && (inst->rounding == ROUND_RM || inst->rounding == ROUND_RP))
        return lower_error(parser, statement, " takes only .rn or .rz");
    if ((inst->flags & FLAG_FTZ) && (packed || (to != TYPE_F32 && from != TYPE_F32)))
        return lower_error(parser, statement, " takes no .ftz");
    if ((inst->flags & FLAG_RELU) && !(small && from == TYPE_F32))
        return lower_error(parser, statement, " takes no .relu");
    if ((inst->flags & FLAG_SAT) && (packed || to == TYPE_BF16 || from == TYPE_BF16 || (integers && holds(to, from))))
        return lower_error(parser, statement, " takes no .sat");
    return true;
}

static bool check_cvt(struct parser *parser, struct statement *statement, const struct inst *inst) {
    enum type to = (enum type)inst->type, from = (enum type)inst->stype;
    bool integral = inst->rounding >= ROUND_RNI, rounds = inst->rounding != ROUND_DEFAULT;
    switch (cvt_rule(to, from)) {
    case CVT_NEVER: return lower_error(parser, statement, " is no conversion");
    case CVT_NONE:
        if (rounds)
            return lower_error(parser, statement, " is exact and takes no rounding");
        break;
    case CVT_FLOAT:
        if (!rounds || integral)
            return lower_error(parser, statement, " needs a rounding such as .rn");
        break;
    case CVT_INTEGRAL:
        if (!integral)
            return lower_error(parser, statement, " needs a rounding to integer such as .rzi");
        break;
    case CVT_INTEGRAL_OR_NONE:
        if (rounds && !integral)
            return lower_error(parser, statement, " takes only a rounding to integer such as .rni");
        break;
    }
    return check_cvt_flags(parser, statement, inst);
}

static bool lower_cvt_operands(struct parser *parser, struct statement *statement, struct inst_build *build) {
    const enum type to = (enum type)build->inst.type, from = (enum type)build->inst.stype;
    const unsigned sources = to == TYPE_F16X2 || to == TYPE_BF16X2 ? 2 : 1;
    if (!lower_count(parser, statement, sources + 1, sources + 1) ||
        !lower_destination(parser, statement, build, &statement->operands[0], to, true))
        return false;
    for (unsigned i = 1; i <= sources; i++) {
        const struct raw *raw = &statement->operands[i];
        if (raw->kind == RAW_SPECIAL && !type_is_float(to) ? !lower_special(parser, statement, build, raw, from)
                                                           : !lower_source(parser, statement, build, raw, from, true))
            return false;
    }
    return true;
}

bool lower_cvt(struct parser *parser, struct statement *statement, struct inst_build *build) {
    return check_cvt(parser, statement, &build->inst) && lower_cvt_operands(parser, statement, build);
}

/* cvt.{rn,rz}{.relu}.satfinite.f16.f32 and others of 16 bits; cvt.rna.satfinite.tf32.f32. The words behind .relu and .satfinite. */
static bool lower_cvt_finite(struct parser *parser, struct statement *statement, struct inst_build *build,
                             struct opcode_words *words) {
    static const char *const texts[] = {".f16", ".bf16", ".f16x2", ".bf16x2", ".tf32"};
    static const enum type types[] = {TYPE_F16, TYPE_BF16, TYPE_F16X2, TYPE_BF16X2, TYPE_TF32};
    struct inst *inst = &build->inst;
    const char *mnemonic = statement->match.form->mnemonic;
    const int to = take_one(words, texts, sizeof texts / sizeof *texts);
    const bool is_away = strstr(mnemonic, ".rna") != NULL;
    if (to < 0 || !take(words, ".f32") || !is_over(words) || is_away != (types[to] == TYPE_TF32) ||
        (is_away && inst->flags & FLAG_RELU))
        return parser_unsupported(parser, statement->mnemonic, forms_opcode_text(parser, statement),
                                  "saturation to finite");
    inst->type = (uint8_t)types[to], inst->stype = TYPE_F32, inst->mode = MODE_FINITE;
    inst->flags &= (uint16_t)~FLAG_SAT; /* which is to the range from 0 to 1 */
    inst->rounding = is_away ? ROUND_RNA : strstr(mnemonic, ".rz") ? ROUND_RZ : ROUND_RN;
    return lower_cvt_operands(parser, statement, build);
}

/* cvt.rn.satfinite{.relu}.e4m3x2.f32 d, a, b; cvt.rn.satfinite{.relu}.e4m3x2.f16x2 d, a; cvt.rn{.relu}.f16x2.e4m3x2 d, a */
bool lower_cvt_eighths(struct parser *parser, struct statement *statement, struct inst_build *build) {
    static const char *const eighths[] = {".e4m3x2", ".e5m2x2"};
    struct inst *inst = &build->inst;
    struct opcode_words words = words_behind_mnemonic(statement);
    const struct raw *raw = statement->operands;
    inst->rounding = ROUND_RN;
    if (is_over(&words)) { /* the mnemonic has all of them */
        const bool is_e5m2 = strstr(statement->match.form->mnemonic, eighths[1]) != NULL;
        inst->type = TYPE_F16X2, inst->stype = is_e5m2 ? TYPE_E5M2X2 : TYPE_E4M3X2;
        return lower_count(parser, statement, 2, 2) &&
               lower_destination(parser, statement, build, &raw[0], TYPE_B32, false) &&
               lower_source(parser, statement, build, &raw[1], TYPE_B16, false);
    }
    if (take(&words, ".relu"))
        inst->flags |= FLAG_RELU;
    const bool is_near = strncmp(statement->match.form->mnemonic, "cvt.rn.", strlen("cvt.rn.")) == 0;
    const int to = is_near ? take_one(&words, eighths, 2) : -1;
    if (to < 0)
        return lower_cvt_finite(parser, statement, build, &words);
    const bool from_half = take(&words, ".f16x2");
    if ((!from_half && !take(&words, ".f32")) || !is_over(&words))
        return parser_unsupported(parser, statement->mnemonic, forms_opcode_text(parser, statement),
                                  "saturation to finite");
    inst->type = to ? TYPE_E5M2X2 : TYPE_E4M3X2, inst->stype = from_half ? TYPE_F16X2 : TYPE_F32;
    const unsigned sources = from_half ? 1 : 2;
    if (!lower_count(parser, statement, sources + 1, sources + 1) ||
        !lower_destination(parser, statement, build, &raw[0], TYPE_B16, false))
        return false;
    for (unsigned i = 1; i <= sources; i++)
        if (!lower_source(parser, statement, build, &raw[i], from_half ? TYPE_B32 : TYPE_F32, false))
            return false;
    return true;
}

/* cvt.pack.sat.u16.s32 d, a, b; cvt.pack.sat.u8.s32.b32 d, a, b, c */
bool lower_cvt_pack(struct parser *parser, struct statement *statement, struct inst_build *build) {
    struct inst *inst = &build->inst;
    enum type packed = (enum type)inst->type;
    bool appends = statement->match.type_count == 3;
    if ((type_bytes(packed) == 1) != appends)
        return parser_error(parser, statement->mnemonic, "'%s': 8-bit parts are packed with .b32, 16-bit ones without",
                            forms_opcode_text(parser, statement));
    inst->type = TYPE_S32;
    inst->stype = (uint8_t)packed;
    return lower_count(parser, statement, appends ? 4 : 3, appends ? 4 : 3) &&
           lower_destination(parser, statement, build, &statement->operands[0], TYPE_B32, false) &&
           lower_source(parser, statement, build, &statement->operands[1], TYPE_S32, false) &&
           lower_source(parser, statement, build, &statement->operands[2], TYPE_S32, false) &&
           (!appends || lower_source(parser, statement, build, &statement->operands[3], TYPE_B32, false));
}

bool lower_cvta(struct parser *parser, struct statement *statement, struct inst_build *build) {
    enum type type = (enum type)build->inst.type;
    if (!lower_count(parser, statement, 2, 2) ||
        !lower_destination(parser, statement, build, &statement->operands[0], type, false))
        return false;
    const struct raw *source = &statement->operands[1];
    if (source->kind != RAW_SYMBOL)
        return lower_source(parser, statement, build, source, type, false);
    if (source->symbol->kind == SYMBOL_FUNCTION || source->symbol->space != build->inst.space)
        return parser_error(parser, source->token, "'%s' is not a .%s variable", source->symbol->name,
                            space_name((enum space)build->inst.space));
    return lower_symbol(parser, statement, build, source, type);
}

bool lower_isspacep(struct parser *parser, struct statement *statement, struct inst_build *build) {
    if (!lower_count(parser, statement, 2, 2) ||
        !lower_destination(parser, statement, build, &statement->operands[0], TYPE_PRED, false))
        return false;
    const struct raw *source = &statement->operands[1];
    bool is_long =
        source->kind == RAW_REGISTER ? type_bytes((enum type)source->type) == 8 : parser->module->address_bytes == 8;
    build->inst.type = is_long ? TYPE_U64 : TYPE_U32;
    build->inst.stype = build->inst.type;
    if (strstr(forms_opcode_text(parser, statement), "::cluster")) /* the memory of other blocks too */
        build->inst.scope = SCOPE_CLUSTER;
    return lower_source(parser, statement, build, source, (enum type)build->inst.type, false);
}
