/* SPDX-License-Identifier: Apache-2.0 */
/* What cache operators, hints and orders of PTX and native code mean to the L1 and the L2: bits for every instruction, made by
 * decode.c, read by the load/store unit. */
#ifndef HEDDLE_SM_OPERATORS_H
#define HEDDLE_SM_OPERATORS_H

#include "isa/inst.h"
#include "sm/state.h"

enum memory_operator {
    OPERATOR_ROW = 1,          /* another load of the same DRAM row follows soon */
    OPERATOR_PAST_L1 = 2,      /* not looked up in the L1, and not kept there */
    OPERATOR_DROP = 4,         /* what the L1 has of it is stale */
    OPERATOR_DROP_ALL = 8,     /* all that the L1 has is */
    OPERATOR_NO_ALLOCATE = 16, /* looked up, but not brought into the L1 */
    OPERATOR_FIRST = 32,       /* the first line of its set to leave the L1 */
    OPERATOR_L2_FIRST = 64     /* the same in the L2 */
};

/* Loads that must see what other SMs have stored. */
static inline bool operators_sees_others(const struct inst *inst) {
    if (inst->order == ORDER_VOLATILE)
        return true;
    return (inst->order == ORDER_RELAXED || inst->order == ORDER_ACQUIRE) &&
           (inst->scope == SCOPE_CLUSTER || inst->scope == SCOPE_GPU || inst->scope == SCOPE_SYS);
}

static inline unsigned operators_of_load(const struct inst *inst) {
    unsigned bits = 0;
    switch ((enum cache_hint)inst->cache) {
    case CACHE_CG: bits = OPERATOR_PAST_L1; break;
    case CACHE_CV: bits = OPERATOR_PAST_L1 | OPERATOR_DROP; break;
    case CACHE_CS:
    case CACHE_LU:
    case CACHE_L1_FIRST: bits = OPERATOR_FIRST; break;
    case CACHE_NO_ALLOCATE:
    case CACHE_NO_ALLOCATE_FIRST: bits = OPERATOR_NO_ALLOCATE; break;
    default: break;
    }
    if (operators_sees_others(inst))
        bits = OPERATOR_PAST_L1 | OPERATOR_DROP | (inst->order == ORDER_ACQUIRE ? OPERATOR_DROP_ALL : 0);
    return bits;
}

static inline bool operators_leaves_l2_first(const struct inst *inst) {
    return inst->cache == CACHE_CS || inst->cache == CACHE_L2_FIRST || inst->cache == CACHE_NO_ALLOCATE_FIRST;
}

/* Bits of enum memory_operator. */
static inline uint8_t operators_of(const struct inst *inst, const struct sm_params *params) {
    unsigned bits = inst->cache == CACHE_ROW ? OPERATOR_ROW : 0;
    if (params->l1_operators && (inst->op == OP_LD || inst->op == OP_CP_ASYNC))
        bits |= operators_of_load(inst);
    if (params->l2_operators && (inst->op == OP_LD || inst->op == OP_ST) && operators_leaves_l2_first(inst))
        bits |= OPERATOR_L2_FIRST;
    return (uint8_t)bits;
}

/* Do operators, or loads that the scheduler sends past the L1, need more of an access than looking it up? */
static inline bool operators_or_bypass(const struct sm *sm, const struct queued *entry) {
    return SETS(sm)->bypass || entry->operators > OPERATOR_ROW;
}

#endif
