/* SPDX-License-Identifier: Apache-2.0 */
/* Loads, stores, atomics, fences. */
#include "ptx/forms.h"

/* A parameter of a call has neighbours in its frame, which are not what is meant behind its end. Those of kernels are
 * checked against their whole block, when it is known. */
static bool check_parameter(struct parser *parser, struct statement *statement, const struct raw *raw) {
    const struct symbol *symbol = raw->symbol;
    if (!symbol || symbol->space != SPACE_PARAM || !symbol->in_frame || !symbol->bytes || raw->has_register)
        return true;
    const unsigned vector = statement->match.value[SLOT_VECTOR];
    const uint64_t bytes = (vector ? vector : 1) * (uint64_t)type_bytes((enum type)statement->match.types[0]);
    if (bytes <= symbol->bytes && (uint64_t)raw->offset <= symbol->bytes - bytes)
        return true;
    return parser_error(parser, raw->token, "'%s' of %llu bytes at %lld is outside '%s', which has %llu",
                        forms_opcode_text(parser, statement), (unsigned long long)bytes, (long long)raw->offset,
                        symbol->name, (unsigned long long)symbol->bytes);
}

/* The address goes to src[0]; the space it says is checked against the one the variable lives in. */
bool lower_address(struct parser *parser, struct statement *statement, struct inst_build *build,
                   const struct raw *raw) {
    struct inst *inst = &build->inst;
    /* a name without brackets, as in ld.global.u32 r, a[1], is the old way to write an address */
    if (raw->kind != RAW_ADDRESS && raw->kind != RAW_SYMBOL)
        return raw->kind == RAW_NAME ? parser_undeclared(parser, raw->token)
                                     : parser_error(parser, raw->token, "expected an address [...] in '%s'",
                                                    forms_opcode_text(parser, statement));
    const struct symbol *symbol = raw->symbol;
    if (symbol && symbol->kind == SYMBOL_FUNCTION)
        return parser_error(parser, raw->token, "'%s' is a function; its code cannot be read or written", symbol->name);
    if (symbol && inst->space == SPACE_GENERIC)
        inst->space = symbol->space;
    else if (symbol && symbol->space != inst->space)
        return parser_error(parser, raw->token, "'%s' is a .%s variable, but '%s' accesses .%s", symbol->name,
                            space_name((enum space)symbol->space), forms_opcode_text(parser, statement),
                            space_name((enum space)inst->space));
    if (!check_parameter(parser, statement, raw))
        return false;
    if (raw->has_register) {
        struct raw reg = *raw;
        reg.kind = RAW_REGISTER;
        bool is_wide = inst->space == SPACE_GENERIC || inst->space == SPACE_GLOBAL;
        bool fits_long = operand_is_register_of(&reg, TYPE_U64, false);
        bool fits_short = operand_is_register_of(&reg, TYPE_U32, false);
        if (is_wide && parser->module->address_bytes == 8 ? !fits_long : !fits_long && !fits_short)
            return parser_error(parser, raw->token, "register '%.*s' of type .%s cannot hold a%s address",
                                TOKEN_TEXT(parser, raw->token), type_name((enum type)raw->type),
                                is_wide && parser->module->address_bytes == 8 ? " 64-bit" : "n");
    }
    build->src[inst->src_count++] = (struct operand){.kind = OPERAND_ADDRESS,
                                                     .has_reg = raw->has_register,
                                                     .reg = raw->has_register ? raw->reg : 0,
                                                     .imm = (uint64_t)raw->offset,
                                                     .symbol = symbol};
    return true;
}

static bool check_order(struct parser *parser, struct statement *statement, const struct inst *inst) {
    bool ordered = inst->order == ORDER_RELAXED || inst->order == ORDER_ACQUIRE || inst->order == ORDER_RELEASE;
    if (ordered == (inst->scope != SCOPE_NONE))
        return true;
    return lower_error(parser, statement,
                       ordered ? " lacks its scope: .cta, .cluster, .gpu or .sys"
                               : " has a scope, but no memory order");
}

/* The registers of a load or values of a store: as many as the vector says. */
static bool check_vector(struct parser *parser, struct statement *statement, const struct raw *raw, unsigned *count) {
    unsigned wanted = statement->match.value[SLOT_VECTOR];
    *count = raw->kind == RAW_VECTOR ? raw->count : 1;
    bool is_vector = raw->kind == RAW_VECTOR;
    /* {r} may stand for r */
    if (wanted == 0 ? *count != 1 : !is_vector || *count != wanted)
        return parser_error(parser, raw->token, "'%s' moves %u value%s, but %u are given",
                            forms_opcode_text(parser, statement), wanted ? wanted : 1, wanted ? "s" : "", *count);
    unsigned bytes = *count * type_bytes((enum type)statement->match.types[0]);
    if (bytes > (wanted == 8 ? 32u : 16u))
        return parser_error(parser, statement->mnemonic, "'%s' would move %u bytes at once",
                            forms_opcode_text(parser, statement), bytes);
    return true;
}

static const struct raw *vector_part(const struct statement *statement, const struct raw *raw, unsigned i) {
    return raw->kind == RAW_VECTOR ? &statement->parts[raw->first + i] : raw;
}

bool lower_ld(struct parser *parser, struct statement *statement, struct inst_build *build) {
    struct inst *inst = &build->inst;
    unsigned count;
    if (!lower_count(parser, statement, 2, 2) || !check_order(parser, statement, inst))
        return false;
    if (statement->match.groups >> GROUP_NC & 1 && (inst->cache == CACHE_DEFAULT || inst->cache == CACHE_CA))
        inst->cache = CACHE_NC;
    const struct raw *values = &statement->operands[0];
    if (!check_vector(parser, statement, values, &count))
        return false;
    for (unsigned i = 0; i < count; i++) {
        const struct raw *part = vector_part(statement, values, i);
        if (part->kind == RAW_SINK && values->kind == RAW_VECTOR)
            build->dst[inst->dst_count++] = (struct operand){.kind = OPERAND_NONE};
        else if (!lower_destination(parser, statement, build, part, (enum type)inst->type, true))
            return false;
    }
    return lower_address(parser, statement, build, &statement->operands[1]);
}

bool lower_st(struct parser *parser, struct statement *statement, struct inst_build *build) {
    struct inst *inst = &build->inst;
    unsigned count;
    if (!lower_count(parser, statement, 2, 2) || !check_order(parser, statement, inst) ||
        !lower_address(parser, statement, build, &statement->operands[0]))
        return false;
    const struct symbol *symbol = build->src[0].symbol;
    if (symbol && symbol->space == SPACE_CONST)
        return parser_error(parser, statement->operands[0].token, "'%s' is a .const variable and cannot be written",
                            symbol->name);
    if (inst->space == SPACE_PARAM && (symbol ? !symbol->in_frame : parser->function->is_entry))
        return parser_error(parser, statement->operands[0].token, "kernel parameter '%s' cannot be written",
                            symbol ? symbol->name : "[register]");
    const struct raw *values = &statement->operands[1];
    if (!check_vector(parser, statement, values, &count))
        return false;
    for (unsigned i = 0; i < count; i++)
        if (!lower_source(parser, statement, build, vector_part(statement, values, i), (enum type)inst->type, true))
            return false;
    return true;
}

/* d, [base], predicate, value, member mask */
bool lower_cond_acc(struct parser *parser, struct statement *statement, struct inst_build *build) {
    struct inst *inst = &build->inst;
    const struct raw *raw = statement->operands;
    if (!lower_count(parser, statement, 5, 5) ||
        !lower_destination(parser, statement, build, &raw[0], TYPE_B32, false) ||
        !lower_address(parser, statement, build, &raw[1]))
        return false;
    if (inst->space != SPACE_GENERIC && inst->space != SPACE_GLOBAL && inst->space != SPACE_SHARED)
        return parser_error(parser, raw[1].token, "cond_acc works on .global and .shared memory");
    return lower_predicate(parser, statement, build, &raw[2]) &&
           lower_source(parser, statement, build, &raw[3], (enum type)inst->type, true) &&
           lower_source(parser, statement, build, &raw[4], TYPE_U32, false);
}

/* d, missed, [address]; missed, [address], value */
bool lower_snoop(struct parser *parser, struct statement *statement, struct inst_build *build) {
    const struct inst *inst = &build->inst;
    const bool loads = inst->op == OP_LD_SNOOP;
    const struct raw *raw = statement->operands;
    const enum type type = (enum type)inst->type;
    if (!lower_count(parser, statement, 3, 3) ||
        (loads && !lower_destination(parser, statement, build, &raw[0], type, true)) ||
        !lower_destination(parser, statement, build, &raw[loads], TYPE_PRED, false) ||
        !lower_address(parser, statement, build, &raw[1 + loads]))
        return false;
    if (inst->space != SPACE_GLOBAL)
        return parser_error(parser, raw[1 + loads].token, "%s works on .global memory", op_name((enum op)inst->op));
    return loads || lower_source(parser, statement, build, &raw[2], type, true);
}

bool lower_prefetch(struct parser *parser, struct statement *statement, struct inst_build *build) {
    return lower_count(parser, statement, 1, 1) && lower_address(parser, statement, build, &statement->operands[0]);
}

#define T(type) (UINT32_C(1) << TYPE_##type)
static uint32_t atom_types(enum atom atom) {
    switch (atom) {
    case ATOM_ADD: return T(U32) | T(S32) | T(U64) | T(F32) | T(F64) | T(F16) | T(F16X2) | T(BF16) | T(BF16X2);
    case ATOM_MIN:
    case ATOM_MAX: return T(U32) | T(S32) | T(U64) | T(S64);
    case ATOM_INC:
    case ATOM_DEC: return T(U32);
    case ATOM_CAS: return T(B16) | T(B32) | T(B64);
    default: return T(B32) | T(B64);
    }
}

static bool check_atom(struct parser *parser, struct statement *statement, const struct inst *inst) {
    enum type type = (enum type)inst->type;
    if ((atom_types((enum atom)inst->atom) >> type & 1) == 0)
        return parser_error(parser, statement->mnemonic, "type .%s is not allowed in '%s'", type_name(type),
                            forms_opcode_text(parser, statement));
    bool half = type == TYPE_F16 || type == TYPE_F16X2 || type == TYPE_BF16 || type == TYPE_BF16X2;
    if (half != ((inst->flags & FLAG_NOFTZ) != 0))
        return lower_error(parser, statement, half ? " needs .noftz" : ": .noftz is for 16-bit floating point");
    if (inst->op == OP_RED && (inst->order == ORDER_ACQUIRE || inst->order == ORDER_ACQ_REL))
        return lower_error(parser, statement, ": a reduction returns nothing to acquire");
    return true;
}

bool lower_atom(struct parser *parser, struct statement *statement, struct inst_build *build) {
    struct inst *inst = &build->inst;
    enum type type = (enum type)inst->type;
    unsigned first = inst->op == OP_ATOM, values = inst->atom == ATOM_CAS ? 2 : 1, count = first + 1 + values;
    if (!check_atom(parser, statement, inst) || !lower_count(parser, statement, count, count))
        return false;
    if ((statement->match.slots >> SLOT_ORDER & 1) == 0)
        inst->order = ORDER_RELAXED;
    if (inst->scope == SCOPE_NONE)
        inst->scope = SCOPE_GPU;
    const struct raw *raw = statement->operands;
    if (first) {
        if (raw->kind == RAW_SINK)
            build->dst[inst->dst_count++] = (struct operand){.kind = OPERAND_NONE};
        else if (!lower_destination(parser, statement, build, raw, type, false))
            return false;
        raw++;
    }
    if (!lower_address(parser, statement, build, raw++))
        return false;
    if (inst->space != SPACE_GENERIC && inst->space != SPACE_GLOBAL && inst->space != SPACE_SHARED)
        return parser_error(parser, raw[-1].token, "atomics work on .global and .shared memory");
    for (unsigned i = 0; i < values; i++)
        if (!lower_source(parser, statement, build, raw++, type, false))
            return false;
    return true;
}

bool lower_membar(struct parser *parser, struct statement *statement, struct inst_build *build) {
    struct inst *inst = &build->inst;
    bool is_fence = statement->mnemonic->name->text[0] == 'f';
    bool ordered = (statement->match.slots >> SLOT_ORDER & 1) != 0;
    if (!ordered)
        inst->order = is_fence ? ORDER_ACQ_REL : ORDER_SC;
    if (statement->match.groups >> GROUP_PROXY & 1) {
        /* membar.proxy.alias: both words, in this order */
        if (statement->word_count != 2)
            return lower_error(parser, statement, " is not a known fence");
        inst->scope = SCOPE_SYS;
    }
    return lower_count(parser, statement, 0, 0);
}
