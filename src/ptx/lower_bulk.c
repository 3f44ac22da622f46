/* SPDX-License-Identifier: Apache-2.0 */
/* Bulk copies: cp.async.bulk. */
#include "ptx/words.h"

static bool refuse(struct parser *parser, struct statement *statement, const char *group) {
    return parser_unsupported(parser, statement->mnemonic, forms_opcode_text(parser, statement), group);
}

static bool take_shared(struct opcode_words *words) {
    static const char *const spaces[] = {".shared::cluster", ".shared::cta"};
    return take_one(words, spaces, 2) >= 0;
}

/* An address of shared memory as two sources: a register or a variable, and what is added to it. */
bool lower_shared_pair(struct parser *parser, struct statement *statement, struct inst_build *build,
                       const struct raw *raw) {
    struct inst *inst = &build->inst;
    const uint8_t space = inst->space;
    inst->space = SPACE_SHARED;
    if (!lower_address(parser, statement, build, raw))
        return false;
    inst->space = space;
    const struct operand address = build->src[inst->src_count - 1u];
    struct operand base = {.kind = OPERAND_IMM, .symbol = address.symbol};
    if (address.has_reg)
        base = (struct operand){.kind = OPERAND_REG, .reg = address.reg, .is_pair = address.is_pair};
    build->src[inst->src_count - 1u] = base;
    build->src[inst->src_count++] = (struct operand){.kind = OPERAND_IMM, .imm = address.imm};
    return true;
}

/* Operands behind those that every copy of the form has. */
struct bulk_more {
    bool spreads; /* to all blocks that a mask names */
    bool hints;   /* at a policy of the L2, which changes no result */
};

/* The words behind cp.async.bulk, and whence and whither they copy. */
static bool take_copy(struct statement *statement, struct inst *inst, struct bulk_more *more) {
    struct opcode_words words = words_behind_mnemonic(statement);
    inst->space = SPACE_GLOBAL;
    if (take(&words, ".global")) {
        inst->mode = MODE_BULK_STORE;
        if (!take(&words, ".shared::cta") || !take(&words, ".bulk_group"))
            return false;
    } else {
        if (!take_shared(&words))
            return false;
        inst->mode = MODE_BULK_LOAD;
        if (!take(&words, ".global")) {
            inst->mode = MODE_BULK_SHARED, inst->space = SPACE_SHARED;
            if (!take(&words, ".shared::cta"))
                return false;
        }
        if (!take(&words, ".mbarrier::complete_tx::bytes"))
            return false;
        more->spreads = inst->mode == MODE_BULK_LOAD && take(&words, ".multicast::cluster");
    }
    more->hints = inst->mode != MODE_BULK_SHARED && take(&words, ".L2::cache_hint");
    return is_over(&words);
}

/* src[0] the address in inst->space, src[1] and src[2] that of shared memory, bytes, src[4] and src[5] the barrier of loads, src[6] the
 * blocks that get the bytes. */
bool lower_bulk(struct parser *parser, struct statement *statement, struct inst_build *build) {
    struct inst *inst = &build->inst;
    const struct raw *raw = statement->operands;
    struct bulk_more more = {false, false};
    struct inst_build ignored = {.inst = {0}};
    if (!take_copy(statement, inst, &more))
        return refuse(parser, statement, "asynchronous copies");
    const bool loads = inst->mode == MODE_BULK_LOAD, completes = inst->mode != MODE_BULK_STORE;
    const unsigned operands = completes ? 4 : 3, all = operands + more.spreads + more.hints;
    inst->type = inst->stype = TYPE_B64;
    return lower_count(parser, statement, all, all) && lower_address(parser, statement, build, &raw[loads ? 1 : 0]) &&
           lower_shared_pair(parser, statement, build, &raw[loads ? 0 : 1]) &&
           lower_source(parser, statement, build, &raw[2], TYPE_U32, false) &&
           (!completes || lower_shared_pair(parser, statement, build, &raw[3])) &&
           (!more.spreads || lower_source(parser, statement, build, &raw[4], TYPE_B16, false)) &&
           (!more.hints || lower_source(parser, statement, &ignored, &raw[all - 1], TYPE_B64, false));
}

/* ---- what changes shared memory of the cluster, and tells a barrier there ---- */

/* Types: those that PTX has it of, and those whose denormals are said to be kept. */
struct reduction {
    const char *text, *types, *kept;
    enum atom atom;
};
enum { REDUCTIONS = 8 };

/* red.async: of values in registers. */
static const struct reduction of_values[REDUCTIONS] = {{".add", ".u32.s32.u64.s64", "", ATOM_ADD},
                                                       {".min", ".u32.s32", "", ATOM_MIN},
                                                       {".max", ".u32.s32", "", ATOM_MAX},
                                                       {".inc", ".u32", "", ATOM_INC},
                                                       {".dec", ".u32", "", ATOM_DEC},
                                                       {".and", ".b32", "", ATOM_AND},
                                                       {".or", ".b32", "", ATOM_OR},
                                                       {".xor", ".b32", "", ATOM_XOR}};
/* cp.reduce.async.bulk to shared memory of the cluster, and to global memory. */
static const struct reduction of_shared[REDUCTIONS] = {
    {".add", ".u32.s32.u64", "", ATOM_ADD}, {".min", ".u32.s32", "", ATOM_MIN}, {".max", ".u32.s32", "", ATOM_MAX},
    {".inc", ".u32", "", ATOM_INC},         {".dec", ".u32", "", ATOM_DEC},     {".and", ".b32", "", ATOM_AND},
    {".or", ".b32", "", ATOM_OR},           {".xor", ".b32", "", ATOM_XOR}};
static const struct reduction of_global[REDUCTIONS] = {{".add", ".u32.s32.u64.f32.f64", ".f16.bf16", ATOM_ADD},
                                                       {".min", ".u32.s32.u64.s64.f16.bf16", "", ATOM_MIN},
                                                       {".max", ".u32.s32.u64.s64.f16.bf16", "", ATOM_MAX},
                                                       {".inc", ".u32", "", ATOM_INC},
                                                       {".dec", ".u32", "", ATOM_DEC},
                                                       {".and", ".b32.b64", "", ATOM_AND},
                                                       {".or", ".b32.b64", "", ATOM_OR},
                                                       {".xor", ".b32.b64", "", ATOM_XOR}};

/* What is done, and the type of what it is done to. */
static bool take_reduction(struct opcode_words *words, const struct reduction all[REDUCTIONS], enum atom *atom,
                           enum type *type) {
    static const char *const texts[] = {".u32", ".s32", ".u64", ".s64", ".b32",
                                        ".b64", ".f32", ".f64", ".f16", ".bf16"};
    static const enum type types[] = {TYPE_U32, TYPE_S32, TYPE_U64, TYPE_S64, TYPE_B32,
                                      TYPE_B64, TYPE_F32, TYPE_F64, TYPE_F16, TYPE_BF16};
    for (size_t i = 0; i < REDUCTIONS; i++) {
        if (!take(words, all[i].text))
            continue;
        const char *allowed = take(words, ".noftz") ? all[i].kept : all[i].types;
        const int which = take_one(words, texts, sizeof texts / sizeof *texts);
        if (which < 0 || !strstr(allowed, texts[which]))
            return false;
        *atom = all[i].atom, *type = types[which];
        return true;
    }
    return false;
}

/* [global], [shared], bytes */
static bool lower_global_reduce(struct parser *parser, struct statement *statement, struct inst_build *build,
                                struct opcode_words *words) {
    struct inst *inst = &build->inst;
    const struct raw *raw = statement->operands;
    enum atom atom = ATOM_NONE;
    enum type type = TYPE_NONE;
    if (!take(words, ".shared::cta") || !take(words, ".bulk_group"))
        return refuse(parser, statement, "asynchronous copies");
    const bool hints = take(words, ".L2::cache_hint");
    struct inst_build ignored = {.inst = {0}};
    if (!take_reduction(words, of_global, &atom, &type) || !is_over(words))
        return refuse(parser, statement, "asynchronous copies");
    inst->mode = MODE_BULK_STORE, inst->space = SPACE_GLOBAL;
    inst->type = TYPE_B64, inst->stype = (uint8_t)type, inst->atom = (uint8_t)atom;
    return lower_count(parser, statement, 3u + hints, 3u + hints) && lower_address(parser, statement, build, &raw[0]) &&
           lower_shared_pair(parser, statement, build, &raw[1]) &&
           lower_source(parser, statement, build, &raw[2], TYPE_U32, false) &&
           (!hints || lower_source(parser, statement, &ignored, &raw[3], TYPE_B64, false));
}

bool lower_bulk_reduce(struct parser *parser, struct statement *statement, struct inst_build *build) {
    struct opcode_words words = words_behind_mnemonic(statement);
    struct inst *inst = &build->inst;
    const struct raw *raw = statement->operands;
    enum atom atom;
    enum type type;
    if (!take(&words, ".async") || !take(&words, ".bulk"))
        return refuse(parser, statement, "asynchronous copies");
    if (take(&words, ".global"))
        return lower_global_reduce(parser, statement, build, &words);
    if (!take(&words, ".shared::cluster") || !take(&words, ".shared::cta") ||
        !take(&words, ".mbarrier::complete_tx::bytes") || !take_reduction(&words, of_shared, &atom, &type) ||
        !is_over(&words))
        return refuse(parser, statement, "asynchronous copies");
    inst->mode = MODE_BULK_SHARED, inst->space = SPACE_SHARED;
    inst->type = TYPE_B64, inst->stype = (uint8_t)type, inst->atom = (uint8_t)atom;
    return lower_count(parser, statement, 4, 4) && lower_address(parser, statement, build, &raw[0]) &&
           lower_shared_pair(parser, statement, build, &raw[1]) &&
           lower_source(parser, statement, build, &raw[2], TYPE_U32, false) &&
           lower_shared_pair(parser, statement, build, &raw[3]);
}

/* Both the address and the barrier's are generic where no space is written. */
static bool take_cluster(struct opcode_words *words, struct inst *inst) {
    inst->space = take(words, ".shared::cluster") ? SPACE_SHARED : SPACE_GENERIC;
    return take(words, ".mbarrier::complete_tx::bytes");
}

/* src[0] the address, src[1] and src[2] the barrier, and the values. */
static bool lower_values(struct parser *parser, struct statement *statement, struct inst_build *build, enum type type,
                         unsigned count) {
    struct inst *inst = &build->inst;
    const struct raw *raw = statement->operands;
    inst->mode = MODE_BULK_VALUES;
    inst->type = inst->stype = (uint8_t)type;
    if (inst->space == SPACE_GENERIC && !(raw[0].has_register && raw[2].has_register))
        return lower_error(parser, statement, " has generic addresses, which are in registers");
    if (!lower_count(parser, statement, 3, 3) || !lower_address(parser, statement, build, &raw[0]) ||
        !lower_shared_pair(parser, statement, build, &raw[2]))
        return false;
    if ((raw[1].kind == RAW_VECTOR ? raw[1].count : 1) != count)
        return parser_error(parser, raw[1].token, "'%s' takes %u values", forms_opcode_text(parser, statement), count);
    for (unsigned i = 0; i < count; i++) {
        const struct raw *value = raw[1].kind == RAW_VECTOR ? &statement->parts[raw[1].first + i] : &raw[1];
        if (!lower_source(parser, statement, build, value, type, false))
            return false;
    }
    return true;
}

bool lower_async_store(struct parser *parser, struct statement *statement, struct inst_build *build) {
    static const char *const texts[] = {".b32", ".b64", ".u32", ".u64", ".s32", ".s64", ".f32", ".f64"};
    static const enum type types[] = {TYPE_B32, TYPE_B64, TYPE_U32, TYPE_U64, TYPE_S32, TYPE_S64, TYPE_F32, TYPE_F64};
    struct opcode_words words = words_behind_mnemonic(statement);
    if (!take(&words, ".weak"))
        (void)take(&words, ".cluster");
    if (!take_cluster(&words, &build->inst))
        return refuse(parser, statement, "asynchronous copies");
    const unsigned count = take(&words, ".v4") ? 4 : take(&words, ".v2") ? 2 : 1;
    const int which = take_one(&words, texts, sizeof texts / sizeof *texts);
    if (which < 0 || !is_over(&words) || (count == 4 && type_bytes(types[which]) == 8))
        return refuse(parser, statement, "asynchronous copies");
    return lower_values(parser, statement, build, types[which], count);
}

bool lower_async_red(struct parser *parser, struct statement *statement, struct inst_build *build) {
    struct opcode_words words = words_behind_mnemonic(statement);
    enum atom atom;
    enum type type;
    if (!take(&words, ".relaxed") || !take(&words, ".cluster") || !take_cluster(&words, &build->inst) ||
        !take_reduction(&words, of_values, &atom, &type) || !is_over(&words))
        return refuse(parser, statement, "asynchronous copies");
    build->inst.atom = (uint8_t)atom;
    return lower_values(parser, statement, build, type, 1);
}

bool lower_bulk_prefetch(struct parser *parser, struct statement *statement, struct inst_build *build) {
    struct inst_build ignored = {.inst = {0}};
    struct opcode_words words = words_behind_mnemonic(statement);
    const bool hints = take(&words, ".L2::cache_hint");
    build->inst.space = SPACE_GLOBAL;
    if (!is_over(&words))
        return refuse(parser, statement, "asynchronous copies");
    return lower_count(parser, statement, 2u + hints, 2u + hints) &&
           lower_address(parser, statement, build, &statement->operands[0]) &&
           lower_source(parser, statement, &ignored, &statement->operands[1], TYPE_U32, false) &&
           (!hints || lower_source(parser, statement, &ignored, &statement->operands[2], TYPE_B64, false));
}
