/* SPDX-License-Identifier: Apache-2.0 */
/* What control flow of sm_75 to sm_90 is in the internal form: branches, calls, ends, barriers of a warp. */
#include "translate/turing.h"

static void put(struct translation *t, enum op op) {
    translate_put(t, &(struct operation){.op = op}, NULL, 0, NULL, 0);
}

static void control(struct translation *t, enum op op, unsigned predicate) {
    turing_guard_too(t, predicate);
    put(t, op);
}

/* ---- branches ---- */

static struct operand guard_now(const struct translation *t) {
    struct operand guard = t->guard < 0 ? translate_number(1) : translate_register((unsigned)t->guard);
    guard.negated = t->guard_negated;
    return guard;
}

static struct operand take_guard(struct translation *t) {
    const struct operand guard = guard_now(t);
    t->guard = -1, t->guard_negated = false;
    return guard;
}

/* .DIV: the active lanes differ from the mask; .CONV: they are the mask. Without one it has all lanes of a warp. */
static void compare_active(struct translation *t, unsigned mask, enum compare compare) {
    const struct operand guard = take_guard(t), active = translate_scratch(t), holds = translate_test(t);
    const struct operand wanted =
        turing_operand(t, mask)->kind == TURING_NONE ? translate_number(UINT32_MAX) : turing_source(t, mask, TYPE_B32);
    translate_put(t, &(struct operation){.op = OP_ACTIVEMASK, .type = TYPE_B32}, &active, 1, NULL, 0);
    const struct operand sources[3] = {active, wanted, guard};
    const bool is_guarded = guard.kind == OPERAND_REG;
    translate_put(t,
                  &(struct operation){
                      .op = OP_SETP, .type = TYPE_U32, .compare = compare, .boolop = is_guarded ? BOOL_AND : BOOL_NONE},
                  &holds, 1, sources, is_guarded ? 3 : 2);
    t->guard = (int32_t)holds.reg;
}

/* All active lanes go where the guard holds for one. */
static void ask_any(struct translation *t) {
    if (t->guard < 0)
        return;
    const struct operand guard = take_guard(t), any = translate_test(t);
    translate_1(t, (struct operation){.op = OP_VOTE, .type = TYPE_PRED, .mode = MODE_ANY}, any, guard);
    t->guard = (int32_t)any.reg;
}

/* Words behind the dot; .U says that all active lanes go the same way. */
enum { BRANCH_PLAIN, BRANCH_UNIFORM, BRANCH_DIVERGED, BRANCH_CONVERGED };

static void branch(struct translation *t, unsigned predicate, unsigned mask) {
    const unsigned word = turing_word_of(t, TURING_WORDS_BRANCH);
    turing_guard_too(t, predicate);
    if (turing_word_of(t, TURING_WORDS_ANY))
        ask_any(t);
    if (word == BRANCH_DIVERGED || word == BRANCH_CONVERGED)
        compare_active(t, mask, word == BRANCH_DIVERGED ? CMP_NE : CMP_EQ);
    put(t, OP_BRA);
}

static void branch_by_uniform(struct translation *t) {
    turing_guard_too(t, 0);
    turing_guard_too(t, 2);
    if (turing_word_of(t, TURING_WORDS_BRANCH) > BRANCH_UNIFORM)
        translate_refuse(t, "a branch by the active lanes and a uniform predicate");
    put(t, OP_BRA);
}

static void branch_indexed(struct translation *t) {
    const struct turing_inst *inst = t->turing;
    struct operand address = turing_source(t, 1, TYPE_B32);
    const uint32_t base = inst->address + TURING_INST_BYTES + (uint32_t)inst->operands[2].value;
    turing_guard_too(t, 0);
    if (base) {
        const struct operand sum = translate_scratch(t);
        translate_2(t, (struct operation){.op = OP_ADD, .type = TYPE_U32}, sum, address, translate_number(base));
        address = sum;
    }
    translate_branch_to_way(t, address);
}

/* ---- calls ---- */

/* The callee in a register, from the section's start on: the lower word, for no section is longer. */
static void call_indirect(struct translation *t, unsigned n) {
    turing_guard_too(t, 0);
    const struct operand address = turing_source(t, n, TYPE_B32);
    translate_put(t, &(struct operation){.op = OP_CALL, .type = TYPE_U32}, NULL, 0, &address, 1);
}

/* By a number that a linker was to write, or has written. */
static void call_linked(struct translation *t) {
    struct operand address;
    turing_guard_too(t, 0);
    if (turing_operand(t, 1)->value)
        put(t, OP_CALL);
    else if (!translate_find_code_link(t, &address) || address.symbol || !address.imm)
        translate_refuse(t, "a call of what the file does not hold");
    else
        translate_put(t, &(struct operation){.op = OP_CALL, .type = TYPE_U32}, NULL, 0, &address, 1);
}

static void call_relative(struct translation *t) {
    if (turing_operand(t, 2)->value)
        translate_refuse(t, "a call of a register with a distance");
    call_indirect(t, 1);
}

/* Addresses of code, absolute ones too, count from the section's start on. */
static void return_by_register(struct translation *t) {
    if (turing_operand(t, 2)->value)
        translate_refuse(t, "a return to a register with a distance");
    turing_guard_too(t, 0);
    const struct operand address = turing_source(t, 1, TYPE_B32);
    translate_put(t, &(struct operation){.op = OP_RET, .type = TYPE_U32}, NULL, 0, &address, 1);
}

static void load_address(struct translation *t) {
    const bool is_given = t->turing->row == TURING_LEPC_90;
    const uint64_t address = is_given ? (uint64_t)turing_operand(t, 1)->value : t->turing->address;
    turing_put_pair(t, translate_number(address), 0);
}

/* Two words that keep a return address, or what a compiler has no other room for. */
static void move_return_address(struct translation *t) {
    const bool writes = t->turing->row == TURING_RPCMOV_WRITE;
    const struct operand word = translate_register(t->file->rpc + (turing_operand(t, !writes)->value ? 1 : 0));
    if (writes)
        translate_move(t, word, turing_source(t, 1, TYPE_B32));
    else
        translate_move(t, turing_target(t, 0), word);
}

/* ---- barriers of the warp ---- */

static void with_barrier(struct translation *t, enum op op, unsigned barrier, unsigned predicate) {
    const struct operand number = translate_number(turing_operand(t, barrier)->reg);
    turing_guard_too(t, predicate);
    translate_put(t, &(struct operation){.op = op, .type = TYPE_U32}, NULL, 0, &number, 1);
}

static void move_barrier(struct translation *t) {
    const bool is_read = t->turing->row == TURING_BMOV_TO_REGISTER;
    const struct operand number = translate_number(turing_operand(t, is_read)->reg), target = turing_target(t, 0);
    if (is_read) {
        translate_put(t, &(struct operation){.op = OP_BMOV, .type = TYPE_U32}, &target, 1, &number, 1);
        return;
    }
    const struct operand sources[2] = {number, turing_source(t, 1, TYPE_B32)};
    const struct operation back = {.op = OP_BMOV_BACK, .type = TYPE_U32, .flags = FLAG_SYNC};
    translate_put(t, &back, NULL, 0, sources, 2);
}

/* Without a mask, as the immediate one of sm_90 is, it waits for all lanes that have not ended. .EXCLUSIVE: behind it they are alone, which
 * only operations among lanes see, and these take its mask (turing_meet.c). */
static void warp_sync(struct translation *t, unsigned mask) {
    turing_guard_too(t, 0);
    const struct turing_operand *named = turing_operand(t, mask);
    const bool is_whole =
        named->kind == TURING_NONE || (t->program->sm >= 90 && named->kind == TURING_IMMEDIATE && !named->value);
    const struct operand lanes = is_whole ? translate_number(UINT32_MAX) : turing_source(t, mask, TYPE_B32);
    if (lanes.kind == OPERAND_IMM && !lanes.imm)
        put(t, OP_NOP);
    else
        translate_put(t, &(struct operation){.op = OP_BAR_WARP, .flags = FLAG_SYNC}, NULL, 0, &lanes, 1);
}

static void sleep_some(struct translation *t) {
    turing_guard_too(t, 0);
    const struct operand time = turing_source(t, 1, TYPE_U32);
    translate_put(t, &(struct operation){.op = OP_NANOSLEEP, .type = TYPE_U32}, NULL, 0, &time, 1);
}

bool turing_control_flow(struct translation *t) {
    switch ((enum turing_row_id)t->turing->row) {
    case TURING_NOP:
    case TURING_PMTRIG:
    case TURING_PREEXIT: /* grids that depend on another one start when it has ended */
    case TURING_ACQBULK:
    case TURING_ENDCOLLECTIVE: put(t, OP_NOP); break;
    case TURING_EXIT: control(t, OP_EXIT, 0); break;
    case TURING_BRA:
    case TURING_BRA_UR: branch(t, 0, 1); break;
    case TURING_BRA_UP: branch_by_uniform(t); break;
    case TURING_BRX:
    case TURING_BRXU: branch_indexed(t); break;
    case TURING_CALL_REL: control(t, OP_CALL, 0); break;
    case TURING_CALL_REL_R: call_relative(t); break;
    case TURING_CALL_ABS_R: call_indirect(t, 1); break;
    case TURING_CALL_ABS: call_linked(t); break;
    case TURING_RET: return_by_register(t); break;
    case TURING_LEPC:
    case TURING_LEPC_90: load_address(t); break;
    case TURING_RPCMOV_WRITE:
    case TURING_RPCMOV_READ: move_return_address(t); break;
    case TURING_BSSY: with_barrier(t, OP_BSSY, 0, 1); break;
    case TURING_BSYNC: with_barrier(t, OP_BSYNC, 0, 1); break;
    case TURING_BREAK: with_barrier(t, OP_BREAK, 1, 0); break;
    case TURING_BMOV_TO_REGISTER:
    case TURING_BMOV_FROM_REGISTER: move_barrier(t); break;
    case TURING_WARPSYNC_R_90:
    case TURING_WARPSYNC_R:
    case TURING_WARPSYNC: warp_sync(t, 1); break;
    case TURING_WARPSYNC_90: warp_sync(t, 2); break;
    case TURING_YIELD: control(t, OP_YIELD, 0); break;
    case TURING_BPT: put(t, OP_TRAP); break;
    case TURING_NANOSLEEP_R:
    case TURING_NANOSLEEP: sleep_some(t); break;
    default: return false;
    }
    return true;
}
