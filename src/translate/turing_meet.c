/* SPDX-License-Identifier: Apache-2.0 */
/* Which lanes take part in an operation among the lanes of a warp of sm_75 to sm_90. The instruction takes the active ones; that
 * these are the ones that the program names is what the compiler has proved, tested by a branch, or waited for. Mechanisms
 * that form groups anew part such lanes, and need the names. */
#include "translate/turing.h"

struct turing_meets {
    const struct turing_inst *code;
    uint32_t *
        converging; /* by word: the branch that leads here where its mask is active + 1, 0: none; UINT32_MAX: others do too */
};

static bool is_unguarded(const struct turing_inst *inst) { return inst->guard == TURING_PT && !inst->guard_inverted; }

static bool is_branch_by_mask(const struct turing_inst *inst, unsigned word) {
    return (inst->row == TURING_BRA || inst->row == TURING_BRA_UR) && is_unguarded(inst) &&
           turing_modifier(inst, TURING_WORDS_BRANCH) == (int)word;
}

enum { DIVERGED = 2, CONVERGED = 3 }; /* .DIV, .CONV */

void turing_find_meets(struct translation *t, const struct turing_inst *code, struct arena *scratch) {
    struct turing_meets *meets = ARENA_NEW(scratch, struct turing_meets);
    const uint32_t count = t->kernel->code_count;
    meets->code = code;
    meets->converging = ARENA_ARRAY(scratch, uint32_t, count + 1u);
    t->meets = meets;
    for (uint32_t i = 0; i < count; i++) {
        const struct turing_row *row = turing_row(code[i].row);
        for (unsigned n = 0; row->operands[n].shape; n++) {
            const int64_t to = code[i].operands[n].value / TURING_INST_BYTES;
            if (code[i].operands[n].kind != TURING_TARGET || to < 0 || to >= count)
                continue;
            uint32_t *place = &meets->converging[to];
            *place = !*place && is_branch_by_mask(&code[i], CONVERGED) ? i + 1 : UINT32_MAX;
        }
    }
    for (unsigned i = 0; i < t->kernel->way_count; i++)
        if (t->kernel->ways[i].to / TURING_INST_BYTES < count)
            meets->converging[t->kernel->ways[i].to / TURING_INST_BYTES] = UINT32_MAX;
}

/* The register that an operand is, is written in words from `from` on, up to `to`. */
static bool is_written(const struct turing_inst *code, uint32_t from, uint32_t to,
                       const struct turing_operand *operand) {
    for (uint32_t i = from; i < to; i++) {
        const struct turing_row *row = turing_row(code[i].row);
        for (unsigned n = 0; row->operands[n].shape; n++) {
            const struct turing_operand *other = &code[i].operands[n];
            if (row->operands[n].at == 16 && other->kind == operand->kind && other->reg <= operand->reg &&
                other->reg + 4u > operand->reg)
                return true;
        }
    }
    return false;
}

/* The mask of a branch or of WARPSYNC, as long as nothing writes its register before word `to`; without one all lanes. */
static bool take_mask(struct translation *t, uint32_t from, uint32_t to, struct operand *out) {
    const struct turing_inst *inst = &t->meets->code[from];
    const struct turing_row *row = turing_row(inst->row);
    *out = translate_number(UINT32_MAX);
    for (unsigned n = 0; row->operands[n].shape; n++) {
        const struct turing_operand *operand = &inst->operands[n];
        if (operand->kind == TURING_PREDICATE && operand->reg != TURING_PT)
            return false;
        if (operand->kind == TURING_IMMEDIATE && operand->value)
            *out = translate_number((uint32_t)operand->value);
        if (operand->kind != TURING_REGISTER && operand->kind != TURING_UNIFORM)
            continue;
        const bool is_uniform = operand->kind == TURING_UNIFORM;
        if (operand->reg == (is_uniform ? TURING_URZ : TURING_RZ))
            return operand->inverted; /* all lanes */
        if (operand->inverted || is_written(t->meets->code, from + 1, to, operand))
            return false;
        *out = translate_register((is_uniform ? t->file->uniform : 0) + operand->reg);
    }
    return true;
}

/* What stands before it, without a branch between, says who is there. */
static bool mask_before(struct translation *t, struct operand *out) {
    const uint32_t here = t->turing->address / TURING_INST_BYTES;
    for (uint32_t i = here;; i--) {
        const uint32_t from = t->meets->converging[i];
        if (from)
            return from != UINT32_MAX && take_mask(t, from - 1, from - 1, out) &&
                   (out->kind == OPERAND_IMM ||
                    !is_written(t->meets->code, i, here, &t->meets->code[from - 1].operands[1]));
        if (i == 0)
            return false;
        const struct turing_inst *before = &t->meets->code[i - 1];
        const struct turing_row *row = turing_row(before->row);
        const bool waits = row->meaning == TURING_MEANS_WARPSYNC;
        if ((waits && is_unguarded(before)) || is_branch_by_mask(before, DIVERGED)) {
            const bool is_taken = take_mask(t, i - 1, here, out);
            if (!is_taken && waits && turing_modifier(before, TURING_WORDS_EXCLUSIVE) > 0)
                translate_refuse(t, "behind WARPSYNC.EXCLUSIVE of another mask");
            return is_taken;
        }
        if (row->unit == TURING_UNIT_BRANCH && row->meaning != TURING_MEANS_BSSY && row->meaning != TURING_MEANS_YIELD)
            return false;
    }
}

/* As the file says: operations that a program gives a mask are listed, with the register that holds it. */
static const struct native_meeting *listed(const struct translation *t, uint32_t address) {
    for (unsigned i = 0; i < t->kernel->meeting_count; i++)
        if (t->kernel->meetings[i].address == address)
            return &t->kernel->meetings[i];
    return NULL;
}

static bool mask_listed(const struct translation *t, struct operand *out) {
    const struct native_meeting *meeting = listed(t, t->turing->address);
    if (!meeting)
        return false;
    *out = translate_number(UINT32_MAX);
    if (meeting->reg != NATIVE_NO_REGISTER)
        *out = translate_register((meeting->is_uniform ? t->file->uniform : 0) + meeting->reg);
    return meeting->reg == NATIVE_NO_REGISTER ||
           (meeting->is_uniform ? meeting->reg < TURING_URZ && t->file->uniform < t->file->upredicate
                                : meeting->reg < t->file->predicate);
}

/* No branch parts it from a listed operation that all lanes have: it has them, too. sm_75 asks so for all active lanes. */
static bool has_all_beside(const struct translation *t) {
    const uint32_t here = t->turing->address / TURING_INST_BYTES, count = t->kernel->code_count;
    for (unsigned down = 0; down < 2; down++)
        for (uint32_t i = here; down ? i > 0 && !t->meets->converging[i] : i + 1 < count;) {
            i = down ? i - 1 : i + 1;
            if (!down && t->meets->converging[i])
                break;
            const struct native_meeting *meeting = listed(t, i * TURING_INST_BYTES);
            if (turing_row(t->meets->code[i].row)->unit == TURING_UNIT_BRANCH &&
                turing_row(t->meets->code[i].row)->meaning != TURING_MEANS_BSSY)
                break;
            if (meeting)
                return meeting->reg == NATIVE_NO_REGISTER;
        }
    return false;
}

struct inst *turing_put_meeting(struct translation *t, struct operation operation, const struct operand *targets,
                                unsigned target_count, struct operand *sources, unsigned source_count) {
    bool is_named = mask_before(t, &sources[source_count]) || mask_listed(t, &sources[source_count]);
    if (!is_named && operation.op == OP_VOTE && has_all_beside(t)) {
        sources[source_count] = translate_number(UINT32_MAX);
        is_named = true;
    }
    if (is_named) {
        operation.flags |= FLAG_SYNC;
        source_count++;
    }
    return translate_put(t, &operation, targets, target_count, sources, source_count);
}
