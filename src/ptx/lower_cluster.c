/* SPDX-License-Identifier: Apache-2.0 */
/* Clusters of one block, which every launch has that names no other; and what changes nothing here but takes its turn of issue. */
#include "ptx/words.h"

static bool refuse(struct parser *parser, struct statement *statement, const char *group) {
    return parser_unsupported(parser, statement->mnemonic, forms_opcode_text(parser, statement), group);
}

/* ---- clusters ---- */

enum { CLUSTER_BARRIER = 16 }; /* behind those that programs number: simt/barrier.h */

/* arrive orders as a fence and does not wait; wait is a barrier of the block, so that who arrives and never waits holds the others up. */
bool lower_cluster_barrier(struct parser *parser, struct statement *statement, struct inst_build *build) {
    static const char *const orders[] = {".release", ".relaxed", ".acquire"};
    struct inst *inst = &build->inst;
    struct opcode_words words = words_behind_mnemonic(statement);
    const int order = take_one(&words, orders, 3);
    const bool waits = inst->op == OP_BAR;
    if (take(&words, ".aligned"))
        inst->flags |= FLAG_ALIGNED;
    if (!is_over(&words) || (order >= 0 && waits != (order == 2)))
        return refuse(parser, statement, "clusters");
    if (waits) {
        inst->mode = MODE_SYNC, inst->scope = SCOPE_CLUSTER;
        build->src[inst->src_count++] = (struct operand){.kind = OPERAND_IMM, .imm = CLUSTER_BARRIER};
        build->src[inst->src_count++] = (struct operand){.kind = OPERAND_NONE};
    } else if (order == 1)
        inst->op = OP_NOP;
    else
        inst->order = ORDER_RELEASE, inst->scope = SCOPE_CTA;
    return lower_count(parser, statement, 0, 0);
}

/* mapa d, a, b: the address a in block b of the cluster, of which there is one. */
bool lower_mapa(struct parser *parser, struct statement *statement, struct inst_build *build) {
    struct inst *inst = &build->inst;
    const struct raw *raw = statement->operands;
    struct inst_build ignored = {.inst = {0}};
    struct opcode_words words = words_behind_mnemonic(statement);
    const bool in_shared = take(&words, ".shared::cluster");
    inst->type = take(&words, ".u32") ? TYPE_U32 : TYPE_U64;
    if ((inst->type == TYPE_U64 && !take(&words, ".u64")) || !is_over(&words))
        return refuse(parser, statement, "clusters");
    inst->stype = inst->type;
    if (!lower_count(parser, statement, 3, 3) ||
        !lower_destination(parser, statement, build, &raw[0], (enum type)inst->type, false) ||
        !lower_source(parser, statement, &ignored, &raw[2], TYPE_U32, false))
        return false;
    if (raw[1].kind != RAW_SYMBOL || !in_shared)
        return lower_source(parser, statement, build, &raw[1], (enum type)inst->type, false);
    if (raw[1].symbol->kind != SYMBOL_VARIABLE || raw[1].symbol->space != SPACE_SHARED)
        return parser_error(parser, raw[1].token, "'%s' is not a .shared variable", raw[1].symbol->name);
    build->src[inst->src_count++] =
        (struct operand){.kind = OPERAND_ADDRESS, .symbol = raw[1].symbol, .imm = (uint64_t)raw[1].offset};
    return true;
}

/* getctarank d, a: which block's memory it is; ever that of rank 0. */
bool lower_ctarank(struct parser *parser, struct statement *statement, struct inst_build *build) {
    struct inst *inst = &build->inst;
    const struct raw *raw = statement->operands;
    struct inst_build ignored = {.inst = {0}};
    struct opcode_words words = words_behind_mnemonic(statement);
    (void)take(&words, ".shared::cluster");
    const bool is_long = take(&words, ".u64");
    if ((!is_long && !take(&words, ".u32")) || !is_over(&words))
        return refuse(parser, statement, "clusters");
    inst->type = inst->stype = TYPE_U32;
    build->src[inst->src_count++] = (struct operand){.kind = OPERAND_IMM, .imm = 0};
    return lower_count(parser, statement, 2, 2) &&
           lower_destination(parser, statement, build, &raw[0], TYPE_U32, false) &&
           (raw[1].kind == RAW_SYMBOL ||
            lower_source(parser, statement, &ignored, &raw[1], is_long ? TYPE_U64 : TYPE_U32, false));
}

/* ---- what takes a turn of issue ---- */

/* Registers of a warp are not moved between warps here: its occupancy is what the kernel began with. */
bool lower_setmaxnreg(struct parser *parser, struct statement *statement, struct inst_build *build) {
    static const char *const actions[] = {".inc", ".dec"};
    struct opcode_words words = words_behind_mnemonic(statement);
    const struct raw *raw = statement->operands;
    (void)build;
    if (take_one(&words, actions, 2) < 0 || !take(&words, ".sync") || !take(&words, ".aligned") ||
        !take(&words, ".u32") || !is_over(&words))
        return refuse(parser, statement, "register reallocation");
    if (!lower_count(parser, statement, 1, 1))
        return false;
    if (raw->kind != RAW_CONSTANT || raw->constant.is_float || raw->constant.bits < 24 || raw->constant.bits > 256 ||
        raw->constant.bits % 8)
        return parser_error(parser, raw->token, "'%s' takes a constant from 24 to 256 that is a multiple of 8",
                            forms_opcode_text(parser, statement));
    return true;
}

/* Launches of a stream go one after another here, so that what a kernel waits for is done and nobody waits for it. */
bool lower_griddepcontrol(struct parser *parser, struct statement *statement, struct inst_build *build) {
    static const char *const actions[] = {".launch_dependents", ".wait"};
    struct opcode_words words = words_behind_mnemonic(statement);
    (void)build;
    if (take_one(&words, actions, 2) < 0 || !is_over(&words))
        return refuse(parser, statement, "dependent launches");
    return lower_count(parser, statement, 0, 0);
}

/* Accesses of all proxies are those of one memory here, in the order of issue: a fence as others. */
bool lower_fence_proxy(struct parser *parser, struct statement *statement, struct inst_build *build) {
    static const char *const spaces[] = {".global", ".shared::cta", ".shared::cluster"};
    struct inst *inst = &build->inst;
    struct opcode_words words = words_behind_mnemonic(statement);
    inst->order = ORDER_ACQ_REL, inst->scope = SCOPE_CTA;
    if (take(&words, ".alias"))
        inst->scope = SCOPE_SYS;
    else if (!take(&words, ".async"))
        return refuse(parser, statement, "asynchronous copies");
    else if (take_one(&words, spaces, 3) <= 0) /* of global memory too */
        inst->scope = SCOPE_GPU;
    if (!is_over(&words))
        return refuse(parser, statement, "asynchronous copies");
    return lower_count(parser, statement, 0, 0);
}

bool lower_fence_barriers(struct parser *parser, struct statement *statement, struct inst_build *build) {
    struct opcode_words words = words_behind_mnemonic(statement);
    build->inst.order = ORDER_RELEASE, build->inst.scope = SCOPE_CTA;
    if (!take(&words, ".release") || !take(&words, ".cluster") || !is_over(&words))
        return refuse(parser, statement, "clusters");
    return lower_count(parser, statement, 0, 0);
}
