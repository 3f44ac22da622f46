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
static bool lower_shared_pair(struct parser *parser, struct statement *statement, struct inst_build *build,
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

bool lower_bulk_unsupported(struct parser *parser, struct statement *statement, struct inst_build *build) {
    (void)build;
    return refuse(parser, statement, "asynchronous copies");
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
