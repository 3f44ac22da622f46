/* SPDX-License-Identifier: Apache-2.0 */
/* Clusters of blocks; and what changes nothing here but takes its turn of issue. */
#include "ptx/words.h"

static bool refuse(struct parser *parser, struct statement *statement, const char *group) {
    return parser_unsupported(parser, statement->mnemonic, forms_opcode_text(parser, statement), group);
}

/* ---- clusters ---- */

enum { CLUSTER_BARRIER = 16 }; /* behind those that programs number: simt/barrier.h */

/* Threads arrive, go on, and wait later for those of all blocks of the cluster. */
static bool lower_cluster_barrier(struct parser *parser, struct statement *statement, struct inst_build *build,
                                  bool waits) {
    static const char *const orders[] = {".release", ".relaxed", ".acquire"};
    struct inst *inst = &build->inst;
    struct opcode_words words = words_behind_mnemonic(statement);
    const int order = take_one(&words, orders, 3);
    inst->mode = waits ? MODE_WAIT : MODE_ARRIVE;
    if (take(&words, ".aligned"))
        inst->flags |= FLAG_ALIGNED;
    if (!is_over(&words) || (order >= 0 && waits != (order == 2)))
        return refuse(parser, statement, "clusters");
    inst->scope = SCOPE_CLUSTER;
    if (!waits)
        inst->order = order == 1 ? ORDER_RELAXED : ORDER_RELEASE;
    build->src[inst->src_count++] = (struct operand){.kind = OPERAND_IMM, .imm = CLUSTER_BARRIER};
    build->src[inst->src_count++] = (struct operand){.kind = OPERAND_NONE};
    return lower_count(parser, statement, 0, 0);
}

bool lower_cluster_arrive(struct parser *parser, struct statement *statement, struct inst_build *build) {
    return lower_cluster_barrier(parser, statement, build, false);
}
bool lower_cluster_wait(struct parser *parser, struct statement *statement, struct inst_build *build) {
    return lower_cluster_barrier(parser, statement, build, true);
}

/* An address of shared memory: a variable where the instruction says that it takes such, or a register. */
static bool lower_shared_address(struct parser *parser, struct statement *statement, struct inst_build *build,
                                 const struct raw *raw, enum type type) {
    if (raw->kind != RAW_SYMBOL || build->inst.space != SPACE_SHARED)
        return lower_source(parser, statement, build, raw, type, false);
    if (raw->symbol->kind != SYMBOL_VARIABLE || raw->symbol->space != SPACE_SHARED)
        return parser_error(parser, raw->token, "'%s' is not a .shared variable", raw->symbol->name);
    build->src[build->inst.src_count++] =
        (struct operand){.kind = OPERAND_ADDRESS, .symbol = raw->symbol, .imm = (uint64_t)raw->offset};
    return true;
}

/* The space, which is generic where none is written, and the width of addresses. */
static bool take_width(struct statement *statement, struct inst *inst, enum type *type) {
    struct opcode_words words = words_behind_mnemonic(statement);
    inst->space = take(&words, ".shared::cluster") ? SPACE_SHARED : SPACE_GENERIC;
    *type = take(&words, ".u32") ? TYPE_U32 : TYPE_U64;
    return (*type == TYPE_U32 || take(&words, ".u64")) && is_over(&words);
}

/* mapa d, a, b: the address a in block b of the cluster. */
bool lower_mapa(struct parser *parser, struct statement *statement, struct inst_build *build) {
    const struct raw *raw = statement->operands;
    enum type type;
    if (!take_width(statement, &build->inst, &type))
        return refuse(parser, statement, "clusters");
    build->inst.type = build->inst.stype = (uint8_t)type;
    return lower_count(parser, statement, 3, 3) && lower_destination(parser, statement, build, &raw[0], type, false) &&
           lower_shared_address(parser, statement, build, &raw[1], type) &&
           lower_source(parser, statement, build, &raw[2], TYPE_U32, false);
}

/* getctarank d, a: which block's memory it is. */
bool lower_ctarank(struct parser *parser, struct statement *statement, struct inst_build *build) {
    const struct raw *raw = statement->operands;
    enum type type;
    if (!take_width(statement, &build->inst, &type))
        return refuse(parser, statement, "clusters");
    build->inst.type = TYPE_U32, build->inst.stype = (uint8_t)type;
    return lower_count(parser, statement, 2, 2) &&
           lower_destination(parser, statement, build, &raw[0], TYPE_U32, false) &&
           lower_shared_address(parser, statement, build, &raw[1], type);
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

/* What is ordered is less here than what a fence of the cluster orders: it is one. */
bool lower_fence_restricted(struct parser *parser, struct statement *statement, struct inst_build *build) {
    struct opcode_words words = words_behind_mnemonic(statement);
    const bool acquires = strstr(statement->match.form->mnemonic, ".acquire") != NULL;
    build->inst.order = acquires ? ORDER_ACQUIRE : ORDER_RELEASE, build->inst.scope = SCOPE_CLUSTER;
    if (!take(&words, ".cluster") || !is_over(&words))
        return refuse(parser, statement, "clusters");
    return lower_count(parser, statement, 0, 0);
}
