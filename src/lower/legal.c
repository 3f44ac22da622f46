/* SPDX-License-Identifier: Apache-2.0 */
/* From types of PTX to 32-bit words and predicates. 64-bit values are two words; 8- and 16-bit values lie in the low part
 * of a word whose upper part may hold anything, and are extended where that matters. */
#include "lower/legal.h"

#include <string.h>

enum status legal_refuse(struct legal *l, const struct inst *inst, const char *what) {
    if (strcmp(what, op_name((enum op)inst->op)) == 0)
        what = arena_printf(l->to->arena, "%s.%s", what, type_name((enum type)inst->type));
    return body_refuse(l->to, inst, l->target->name, what, l->report);
}

/* ---- operands ---- */

bool legal_is_wide(const struct legal *l, const struct operand *operand) {
    const bool has_register = operand->kind == OPERAND_REG || (operand->kind == OPERAND_ADDRESS && operand->has_reg);
    return has_register && type_bytes((enum type)l->from->registers.items[operand->reg]) == 8;
}

/* The address of a variable as a value: in shared memory its place, else a word that the program is given. */
static struct operand symbol_word(struct legal *l, const struct operand *operand, bool high) {
    const struct operand d = operand_register(body_register(l->to, TYPE_B32));
    struct inst *inst = build_inst(&l->at, OP_MOV, TYPE_B32, 1, 1);
    inst->dst[0] = d;
    inst->src[0] = *operand;
    inst->mode = high ? MODE_HI : MODE_NONE;
    return d;
}

static bool is_window_address(const struct operand *operand) {
    const struct symbol *symbol = operand->symbol;
    return !symbol ||
           (symbol->kind == SYMBOL_VARIABLE && symbol->space != SPACE_GLOBAL && symbol->space != SPACE_CONST);
}

struct operand legal_low(struct legal *l, const struct operand *operand) {
    struct operand value = {.kind = OPERAND_NONE};
    switch ((enum operand_kind)operand->kind) {
    case OPERAND_REG: value = operand_register(l->first[operand->reg]), value.negated = operand->negated; break;
    case OPERAND_IMM: value = constant((uint32_t)operand->imm); break;
    case OPERAND_SPECIAL: {
        value = operand_register(body_register(l->to, TYPE_B32));
        build_to(&l->at, value, OP_MOV, TYPE_B32, (struct operand[3]){*operand});
        if (l->target->has_warps && (operand->reg == SPECIAL_WARPID || operand->reg == SPECIAL_NWARPID))
            value = build2(&l->at, OP_SHR, TYPE_U32, value, constant(8)); /* where the special register has it */
        break;
    }
    case OPERAND_ADDRESS:
        if (operand->has_reg && !operand->symbol)
            value = operand_register(l->first[operand->reg]);
        else if (!operand->symbol)
            value = constant((uint32_t)operand->imm);
        else
            value = symbol_word(l, operand, false);
        break;
    default: break;
    }
    return value;
}

struct wide legal_wide(struct legal *l, const struct operand *operand) {
    if (operand->kind == OPERAND_IMM)
        return (struct wide){constant((uint32_t)operand->imm), constant((uint32_t)(operand->imm >> 32))};
    struct wide value = {legal_low(l, operand), constant(0)};
    if (legal_is_wide(l, operand))
        value.hi = operand_register(value.lo.reg + 1);
    else if (operand->kind == OPERAND_ADDRESS && !is_window_address(operand))
        value.hi = symbol_word(l, operand, true);
    return value;
}

struct operand legal_narrow(struct legal *l, const struct operand *operand, enum type type) {
    const unsigned bits = 8 * type_bytes(type);
    const bool is_signed = type_is_signed(type);
    if (bits >= 32)
        return legal_low(l, operand);
    if (operand->kind == OPERAND_IMM) {
        const uint32_t low = (uint32_t)operand->imm & ((1u << bits) - 1), top = 1u << (bits - 1);
        return constant(is_signed ? (low ^ top) - top : low);
    }
    const struct operand value = legal_low(l, operand);
    if (bits == 16 && operand->kind == OPERAND_REG && l->clean[operand->reg] & (is_signed ? CLEAN_SIGN : CLEAN_ZERO))
        return value;
    if (!is_signed)
        return build2(&l->at, OP_AND, TYPE_B32, value, constant((1u << bits) - 1));
    return build_convert(&l->at, TYPE_S32, bits == 8 ? TYPE_S8 : TYPE_S16, ROUND_DEFAULT, value);
}

static bool touches(const struct inst *inst, uint32_t reg) {
    for (unsigned i = 0; i < inst->dst_count; i++)
        if (inst->dst[i].kind == OPERAND_REG && inst->dst[i].reg == reg)
            return true;
    for (unsigned i = 0; i < inst->src_count; i++)
        if ((inst->src[i].kind == OPERAND_REG || inst->src[i].kind == OPERAND_ADDRESS) && inst->src[i].reg == reg)
            return true;
    return inst->guard == (int32_t)reg;
}

/* The instruction that made `value`, if it may write `reg` instead: made for this PTX instruction, read by nobody but us,
 * and nothing behind it needs what `reg` held. */
static struct inst *maker_of(struct legal *l, struct operand value, uint32_t reg) {
    struct body_block *block = &l->to->blocks.items[l->at.block];
    const unsigned start = l->start_block == l->at.block ? l->start : 0;
    for (unsigned i = block->code.count; i-- > start;) {
        struct inst *inst = &block->code.items[i];
        for (unsigned k = 0; k < inst->dst_count; k++)
            if (inst->dst[k].reg == value.reg)
                return inst->dst_count == 1 && inst->dst[k].kind == OPERAND_REG ? inst : NULL;
        if (touches(inst, reg) || touches(inst, value.reg))
            return NULL;
    }
    return NULL;
}

static void put_word(struct legal *l, uint32_t reg, struct operand value) {
    struct inst *maker = NULL;
    if (value.kind == OPERAND_REG && !value.negated && value.reg == reg)
        return;
    /* registers of `from` come first: anything behind them was made here, and once */
    if (value.kind == OPERAND_REG && !value.negated && value.reg >= l->first[l->from->registers.count])
        maker = maker_of(l, value, reg);
    if (maker)
        maker->dst[0].reg = reg;
    else
        build_move(&l->at, operand_register(reg), value);
}

void legal_put(struct legal *l, const struct operand *d, struct operand value) {
    if (d->kind == OPERAND_REG)
        put_word(l, l->first[d->reg], value);
}

/* The instruction that made both words, if it may write `lo` and the next instead: it is the last one, made for this PTX
 * instruction. */
static struct inst *pair_maker(struct legal *l, struct wide value) {
    struct body_block *block = &l->to->blocks.items[l->at.block];
    const unsigned start = l->start_block == l->at.block ? l->start : 0;
    const uint32_t own = l->first[l->from->registers.count]; /* anything from there on was made here, and once */
    if (!l->target->has_pairs || block->code.count <= start || value.lo.kind != OPERAND_REG ||
        value.hi.kind != OPERAND_REG || value.lo.reg < own || value.hi.reg < own)
        return NULL;
    struct inst *inst = &block->code.items[block->code.count - 1];
    return inst->dst_count == 2 && inst->dst[0].reg == value.lo.reg && inst->dst[1].reg == value.hi.reg ? inst : NULL;
}

/* Both words are made before one is written: the sources may be the destination. */
void legal_put_wide(struct legal *l, const struct operand *d, struct wide value) {
    if (d->kind != OPERAND_REG)
        return;
    const uint32_t lo = l->first[d->reg];
    struct inst *maker = pair_maker(l, value);
    if (maker && type_bytes((enum type)l->from->registers.items[d->reg]) == 8) {
        maker->dst[0].reg = lo, maker->dst[1].reg = lo + 1;
        return;
    }
    if (type_bytes((enum type)l->from->registers.items[d->reg]) != 8) {
        put_word(l, lo, value.lo);
        return;
    }
    if (value.hi.kind == OPERAND_REG && (value.hi.reg == lo || value.hi.reg == value.lo.reg)) {
        const struct operand held = operand_register(body_register(l->to, TYPE_B32));
        build_move(&l->at, held, value.hi);
        value.hi = held;
    }
    put_word(l, lo, value.lo);
    put_word(l, lo + 1, value.hi);
}

/* Votes, barriers and fences go as they are. */
static enum status legal_copy(struct legal *l, const struct inst *inst) {
    struct inst *made = build_inst(&l->at, (enum op)inst->op, (enum type)inst->type, inst->dst_count, inst->src_count);
    const struct inst plain = *made;
    *made = *inst;
    made->dst = plain.dst, made->src = plain.src, made->guard = plain.guard, made->guard_negated = plain.guard_negated;
    struct operand sources[8];
    const unsigned place = l->to->blocks.items[l->at.block].code.count - 1;
    for (unsigned i = 0; i < inst->src_count && i < 8; i++)
        sources[i] = inst->src[i].kind == OPERAND_NONE ? absent : legal_low(l, &inst->src[i]);
    struct body_block *block = &l->to->blocks.items[l->at.block];
    if (block->code.count != place + 1)
        return legal_refuse(l, inst, "an operand of this kind here");
    made = &block->code.items[place];
    for (unsigned i = 0; i < inst->dst_count; i++)
        made->dst[i] = inst->dst[i].kind == OPERAND_REG ? operand_register(l->first[inst->dst[i].reg]) : absent;
    for (unsigned i = 0; i < inst->src_count; i++)
        made->src[i] = sources[i];
    return STATUS_OK;
}

/* match.b64: the value is two words. */
static enum status legal_match_wide(struct legal *l, const struct inst *inst) {
    const struct wide a = legal_wide(l, &inst->src[0]);
    const struct operand mask = inst->src_count > 1 ? legal_low(l, &inst->src[1]) : constant(UINT32_MAX);
    struct inst *made = build_inst(&l->at, OP_MATCH, TYPE_B64, inst->dst_count, 3);
    made->mode = inst->mode, made->flags = inst->flags;
    made->src[0] = a.lo, made->src[1] = a.hi, made->src[2] = mask;
    for (unsigned i = 0; i < inst->dst_count; i++)
        made->dst[i] = inst->dst[i].kind == OPERAND_REG ? operand_register(l->first[inst->dst[i].reg]) : absent;
    return STATUS_OK;
}

/* A register of clusters, which none of the targets has; NULL: none. */
static const char *cluster_special(const struct inst *inst) {
    for (unsigned i = 0; i < inst->src_count; i++)
        if (inst->src[i].kind == OPERAND_SPECIAL && inst->src[i].reg >= SPECIAL_CLUSTERID_X)
            return special_name((enum special)inst->src[i].reg);
    return NULL;
}

static enum status legal_inst(struct legal *l, const struct inst *inst) {
    const enum type type = (enum type)inst->type;
    switch ((enum op)inst->op) {
    case OP_NOP:
    case OP_PROGRESS:
    case OP_BRKPT:
    case OP_PREFETCH:
    case OP_NANOSLEEP: return STATUS_OK;
    case OP_SETP:
    case OP_SET: return legal_setp(l, inst);
    case OP_CVT:
        if (inst->type == TYPE_E4M3X2 || inst->type == TYPE_E5M2X2 || inst->stype == TYPE_E4M3X2 ||
            inst->stype == TYPE_E5M2X2)
            return legal_refuse(l, inst, "8-bit floating point");
        if (inst->mode == MODE_FINITE)
            return legal_refuse(l, inst, "saturation to finite");
        return legal_convert(l, inst);
    case OP_CVTA:
    case OP_CVT_PACK:
    case OP_ISSPACEP: return legal_convert(l, inst);
    case OP_LD:
    case OP_ST:
    case OP_ATOM:
    case OP_RED: return legal_access(l, inst);
    case OP_BAR:
        if (inst->scope == SCOPE_CLUSTER)
            return legal_refuse(l, inst, "barrier.cluster");
        return legal_copy(l, inst);
    case OP_VOTE:
    case OP_MEMBAR: return legal_copy(l, inst);
    case OP_SLCT: return legal_slct(l, inst);
    case OP_MUL24:
    case OP_MAD24: return legal_mul24(l, inst);
    case OP_SHFL:
    case OP_MATCH:
    case OP_REDUX:
    case OP_ACTIVEMASK:
    case OP_BAR_WARP:
        if (l->target->has_warps && type_bytes(type) <= 4 && !(inst->op == OP_REDUX && type == TYPE_F32))
            return legal_copy(l, inst);
        if (l->target->has_warps && inst->op == OP_MATCH)
            return legal_match_wide(l, inst);
        return legal_refuse(l, inst, op_name((enum op)inst->op));
    case OP_ELECT:
    case OP_TREE_TRAVERSE:
    case OP_COND_ACC:
    case OP_CP_ASYNC:
    case OP_CP_COMMIT:
    case OP_CP_WAIT:
    case OP_MBARRIER:
    case OP_LDMATRIX:
    case OP_BULK:
    case OP_TENSORMAP:
    case OP_MAPA:
    case OP_CTARANK:
    case OP_STMATRIX:
    case OP_TILE_LOAD:
    case OP_TILE_STORE:
    case OP_MOVMATRIX:
    case OP_WGMMA:
    case OP_MMA:
    case OP_LD_SNOOP:
    case OP_ST_SNOOP:
    case OP_TEX:
    case OP_SULD:
    case OP_SUST:
    case OP_SURED:
    case OP_SUST_TEXEL:
    case OP_IMAGE_QUERY: return legal_refuse(l, inst, op_name((enum op)inst->op));
    default: break;
    }
    if (type == TYPE_PRED)
        return legal_predicate(l, inst);
    if (inst->op == OP_MOV)
        return legal_move(l, inst);
    if (type_is_float(type) && inst->op == OP_SELP && type_bytes(type) == 8)
        return legal_wide_inst(l, inst);
    if (type_is_float(type) && inst->op != OP_SELP)
        return legal_float(l, inst);
    if (type_bytes(type) == 8)
        return legal_wide_inst(l, inst);
    if (type_bytes(type) > 8)
        return legal_refuse(l, inst, type_name(type));
    if (inst->op == OP_MUL || inst->op == OP_MAD)
        return legal_multiply(l, inst);
    return legal_integer(l, inst);
}

/* ---- the body ---- */

/* What an instruction leaves in the upper half of a 16-bit register. */
static unsigned clean_of(const struct inst *inst) {
    if (inst->guard >= 0)
        return 0;
    switch ((enum op)inst->op) {
    case OP_LD:
        if (inst->space == SPACE_PARAM)
            return 0;
        return inst->type == TYPE_U8 || inst->type == TYPE_B8     ? CLEAN_ZERO | CLEAN_SIGN
               : inst->type == TYPE_U16 || inst->type == TYPE_B16 ? CLEAN_ZERO
               : inst->type == TYPE_S16 || inst->type == TYPE_S8  ? CLEAN_SIGN
                                                                  : 0;
    case OP_AND: return inst->src[1].kind == OPERAND_IMM && !(inst->src[1].imm & 0x8000) ? CLEAN_ZERO | CLEAN_SIGN : 0;
    default: return 0;
    }
}

static void find_clean(struct legal *l) {
    const struct body *from = l->from;
    memset(l->clean, CLEAN_ZERO | CLEAN_SIGN, from->registers.count);
    for (uint32_t b = 0; b < from->blocks.count; b++)
        for (unsigned i = 0; i < from->blocks.items[b].code.count; i++) {
            const struct inst *inst = &from->blocks.items[b].code.items[i];
            const unsigned clean = clean_of(inst);
            for (unsigned k = 0; k < inst->dst_count; k++)
                if (inst->dst[k].kind == OPERAND_REG)
                    l->clean[inst->dst[k].reg] &= (uint8_t)clean;
        }
}

static bool keeps_guard(const struct legal *l, const struct inst *inst) {
    switch ((enum op)inst->op) {
    case OP_LD:
    case OP_ST: return inst->space != SPACE_GENERIC || l->target->has_generic;
    case OP_ATOM:
    case OP_RED: return (inst->space == SPACE_GLOBAL || l->target->has_generic) && !legal_atomic_loops(l, inst);
    case OP_MOV:
    case OP_BAR: return true;
    case OP_ADD:
    case OP_SUB: return (inst->flags & (FLAG_CARRY_IN | FLAG_CARRY_OUT)) != 0; /* the carry comes from before */
    default: return false;
    }
}

/* One instruction; with a guard that its sequence cannot carry, behind a branch. */
static enum status legal_guarded(struct legal *l, const struct inst *inst) {
    struct inst *at = ARENA_NEW(l->to->arena, struct inst); /* the ends of blocks keep it */
    if (cluster_special(inst))
        return legal_refuse(l, inst, cluster_special(inst));
    *at = *inst;
    l->at.at = at;
    l->start_block = l->at.block;
    l->start = l->to->blocks.items[l->at.block].code.count;
    if (inst->guard < 0)
        return legal_inst(l, inst);
    struct operand guard = operand_register(l->first[inst->guard]);
    guard.negated = inst->guard_negated;
    if (keeps_guard(l, inst)) {
        at->guard = (int32_t)guard.reg;
        return legal_inst(l, inst);
    }
    at->guard = -1;
    const uint32_t inside = body_block_new(l->to), behind = body_block_new(l->to);
    build_branch(&l->at, operand_not(guard), behind, inside);
    const enum status status = legal_inst(l, inst);
    build_jump(&l->at, behind);
    return status;
}

static enum status legal_block(struct legal *l, uint32_t b) {
    const struct body_block *block = &l->from->blocks.items[b];
    l->at.block = l->block_of[b];
    for (unsigned i = 0; i < block->code.count; i++) {
        const enum status status = legal_guarded(l, &block->code.items[i]);
        if (status)
            return status;
    }
    struct body_block *made = &l->to->blocks.items[l->at.block];
    made->end = block->end;
    made->at = block->at;
    made->next = l->block_of[block->next];
    made->taken = l->block_of[block->taken];
    if (block->end == END_BRANCH)
        made->predicate = l->first[block->predicate], made->negated = block->negated;
    return STATUS_OK;
}

static void give_register(struct legal *l, uint32_t r) {
    const enum type type = (enum type)l->from->registers.items[r];
    l->first[r] = body_register(l->to, type == TYPE_PRED ? TYPE_PRED : TYPE_B32);
    if (type_bytes(type) == 8)
        body_register(l->to, TYPE_B32);
}

/* Elements of a vector get words that follow each other, if none has one yet. */
static void give_vector(struct legal *l, const struct operand *operands, unsigned count, unsigned bytes) {
    for (unsigned i = 0; i < count; i++) {
        if (operands[i].kind != OPERAND_REG || l->first[operands[i].reg] != UINT32_MAX ||
            type_bytes((enum type)l->from->registers.items[operands[i].reg]) != bytes)
            return;
        for (unsigned k = 0; k < i; k++)
            if (operands[k].reg == operands[i].reg)
                return;
    }
    for (unsigned i = 0; i < count; i++)
        give_register(l, operands[i].reg);
}

static void give_registers(struct legal *l) {
    const struct body *from = l->from;
    for (uint32_t r = 0; r <= from->registers.count; r++)
        l->first[r] = UINT32_MAX;
    for (unsigned pass = 0; pass < 2 && l->target->has_pairs; pass++)
        for (uint32_t b = 0; b < from->blocks.count; b++)
            for (unsigned i = 0; i < from->blocks.items[b].code.count; i++) {
                const struct inst *inst = &from->blocks.items[b].code.items[i];
                const unsigned bytes = type_bytes((enum type)inst->type);
                if (pass == 0 && inst->op == OP_LD && inst->dst_count > 1 && bytes >= 4)
                    give_vector(l, inst->dst, inst->dst_count, bytes);
                if (pass == 1 && inst->op == OP_ST && inst->src_count > 2 && bytes >= 4)
                    give_vector(l, &inst->src[1], inst->src_count - 1u, bytes);
            }
    for (uint32_t r = 0; r < from->registers.count; r++)
        if (l->first[r] == UINT32_MAX)
            give_register(l, r);
}

enum status legalise(const struct body *body, const struct lowering_target *target, struct body **out,
                     struct report *report) {
    struct body *to = ARENA_NEW(body->arena, struct body);
    *to = (struct body){.arena = body->arena,
                        .module = body->module,
                        .kernel = body->kernel,
                        .local_bytes = body->local_bytes,
                        .target = target};
    struct legal l = {.from = body,
                      .to = to,
                      .at = {.body = to},
                      .target = target,
                      .wide_addresses = target->wide_addresses && body->module->address_bytes == 8,
                      .report = report};
    l.first = ARENA_ARRAY(body->arena, uint32_t, body->registers.count + 1);
    l.clean = ARENA_ARRAY(body->arena, uint8_t, body->registers.count + 1);
    l.block_of = ARENA_ARRAY(body->arena, uint32_t, body->blocks.count);
    give_registers(&l);
    l.first[body->registers.count] = to->registers.count;
    for (uint32_t b = 0; b < body->blocks.count; b++)
        l.block_of[b] = body_block_new(to);
    find_clean(&l);
    for (uint32_t b = 0; b < body->blocks.count; b++) {
        const enum status status = legal_block(&l, b);
        if (status)
            return status;
    }
    body_clean(to);
    *out = to;
    return STATUS_OK;
}
