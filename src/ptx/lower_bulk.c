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

/* The words behind cp.async.bulk, and whence and whither they copy. */
static bool take_copy(struct statement *statement, struct inst *inst) {
    struct opcode_words words = words_behind_mnemonic(statement);
    inst->space = SPACE_GLOBAL;
    if (take(&words, ".global")) {
        inst->mode = MODE_BULK_STORE;
        return take(&words, ".shared::cta") && take(&words, ".bulk_group") && is_over(&words);
    }
    if (!take_shared(&words))
        return false;
    inst->mode = MODE_BULK_LOAD;
    if (!take(&words, ".global")) {
        inst->mode = MODE_BULK_SHARED, inst->space = SPACE_SHARED;
        if (!take(&words, ".shared::cta"))
            return false;
    }
    return take(&words, ".mbarrier::complete_tx::bytes") && is_over(&words);
}

/* src[0] the address in inst->space, src[1] and src[2] that of shared memory, bytes, src[4] and src[5] the barrier of loads. */
bool lower_bulk(struct parser *parser, struct statement *statement, struct inst_build *build) {
    struct inst *inst = &build->inst;
    const struct raw *raw = statement->operands;
    if (!take_copy(statement, inst))
        return refuse(parser, statement, "asynchronous copies");
    const bool loads = inst->mode == MODE_BULK_LOAD, completes = inst->mode != MODE_BULK_STORE;
    const unsigned operands = completes ? 4 : 3;
    inst->type = inst->stype = TYPE_B64;
    return lower_count(parser, statement, operands, operands) &&
           lower_address(parser, statement, build, &raw[loads ? 1 : 0]) &&
           lower_shared_pair(parser, statement, build, &raw[loads ? 0 : 1]) &&
           lower_source(parser, statement, build, &raw[2], TYPE_U32, false) &&
           (!completes || lower_shared_pair(parser, statement, build, &raw[3]));
}

bool lower_bulk_unsupported(struct parser *parser, struct statement *statement, struct inst_build *build) {
    (void)build;
    return refuse(parser, statement, "asynchronous copies");
}

bool lower_bulk_prefetch(struct parser *parser, struct statement *statement, struct inst_build *build) {
    struct inst_build ignored = {.inst = {0}};
    const struct opcode_words words = words_behind_mnemonic(statement);
    build->inst.space = SPACE_GLOBAL;
    if (!is_over(&words))
        return refuse(parser, statement, "asynchronous copies");
    return lower_count(parser, statement, 2, 2) && lower_address(parser, statement, build, &statement->operands[0]) &&
           lower_source(parser, statement, &ignored, &statement->operands[1], TYPE_U32, false);
}
