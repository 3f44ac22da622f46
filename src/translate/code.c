/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel of Fermi or Tesla in the internal form: its functions, its instructions one by one, and where jumps lead. */
#include <string.h>

#include "base/bits.h"
#include "translate/translate.h"

static const struct register_file file = {
    .ranges = {{"R", REGISTER_R, TYPE_B32},
               {"P", REGISTER_P, TYPE_PRED},
               {"A", REGISTER_A, TYPE_B32},
               {"C", REGISTER_C, TYPE_B32},
               {"scratch", REGISTER_SCRATCH, TYPE_B32},
               {"wide", REGISTER_WIDE, TYPE_B32},
               {"test", REGISTER_TEST, TYPE_PRED}},
    .range_count = 7,
    .scratch = REGISTER_SCRATCH,
    .wide = REGISTER_WIDE,
    .test = REGISTER_TEST,
    .count = REGISTER_COUNT,
};

/* Where functions of the kernel begin: at its first instruction and at what is called, ascending. */
static unsigned find_starts(struct translation *t, uint32_t *starts, struct arena *scratch) {
    const struct native_kernel *kernel = t->kernel;
    uint8_t *begins = ARENA_ARRAY(scratch, uint8_t, kernel->code_count + 1u);
    unsigned count = 0;
    enum op token;
    begins[0] = 1;
    for (uint32_t i = 0; i < kernel->code_count; i++) {
        if (native_control(t->program->isa, &kernel->code[i], &token) != CONTROL_CALL)
            continue;
        const uint32_t to = native_at(kernel, kernel->code[i].operands[0].value);
        t->inst = &kernel->code[i];
        if (to == NO_PC || to == 0)
            translate_refuse(t, "no function begins at its target");
        else
            begins[to] = 1;
    }
    for (uint32_t i = 0; i < kernel->code_count; i++)
        if (begins[i])
            starts[count++] = i;
    return count;
}

/* ---- instructions ---- */

/* What a condition code of Tesla is asked, as a predicate. */
static void test_code(struct translation *t) {
    static const uint8_t compares[] = {CMP_LT, CMP_EQ, CMP_LE, CMP_GT, CMP_NE, CMP_GE};
    const unsigned test = t->inst->guard_test;
    unsigned which = test - MODIFIER_LT;
    if (test >= MODIFIER_LTU && test <= MODIFIER_GEU)
        which = test - MODIFIER_LTU;
    else if (test > MODIFIER_GE) {
        translate_refuse(t, "a condition code asked for %s", native_modifier_text(test));
        return;
    }
    const struct operand holds = translate_test(t), code = translate_register(REGISTER_C + t->inst->guard_reg);
    translate_2(t, (struct operation){.op = OP_SETP, .type = TYPE_S32, .compare = compares[which]}, holds, code,
                translate_number(0));
    t->guard = (int32_t)holds.reg;
}

/* A kernel of Tesla begins with its thread's number in R0: x in the lower 16 bits, y in ten, z in six. */
static void begin_tesla(struct translation *t) {
    const struct operation shift = {.op = OP_SHADD, .type = TYPE_B32};
    const struct operand above = translate_scratch(t), number = translate_register(0);
    const struct operand x = {.kind = OPERAND_SPECIAL, .reg = SPECIAL_TID_X};
    const struct operand y = {.kind = OPERAND_SPECIAL, .reg = SPECIAL_TID_Y};
    const struct operand z = {.kind = OPERAND_SPECIAL, .reg = SPECIAL_TID_Z};
    translate_3(t, shift, above, z, y, translate_number(10));
    translate_3(t, shift, number, above, x, translate_number(16));
    for (uint32_t pc = t->first; pc < t->code.count; pc++)
        t->code.items[pc].flags |= FLAG_PART;
}

static void begin_inst(struct translation *t, uint32_t i) {
    t->inst = &t->kernel->code[i];
    t->first = t->code.count;
    t->guard = -1, t->guard_negated = false;
    t->scratch = t->wide = t->test = 0;
}

/* A guard that never holds leaves nothing but the instruction itself. */
static bool never(const struct native_inst *inst) {
    return inst->guard == GUARD_PREDICATE && inst->guard_reg == FERMI_PT && inst->guard_inverted;
}

static void put_inst(struct translation *t, uint32_t i) {
    begin_inst(t, i);
    const struct native_inst *inst = t->inst;
    if (inst->guard == GUARD_PREDICATE && inst->guard_reg != FERMI_PT)
        t->guard = REGISTER_P + inst->guard_reg, t->guard_negated = inst->guard_inverted;
    if (inst->guard == GUARD_CODE)
        test_code(t);
    enum op token;
    const enum native_control control = native_control(t->program->isa, inst, &token);
    if (never(inst) && control == CONTROL_NONE) {
        translate_put(t, &(struct operation){.op = OP_NOP}, NULL, 0, NULL, 0);
        return;
    }
    if (never(inst) || (inst->pops && control != CONTROL_NONE)) {
        translate_refuse(t, never(inst) ? "control flow under a guard that never holds" : ".S on control flow");
        return;
    }
    if (t->program->isa == NATIVE_FERMI)
        translate_fermi(t);
    else
        translate_tesla(t);
    if (t->failed || t->code.count == t->first)
        return;
    if (inst->ends && inst->guard != GUARD_NONE)
        translate_refuse(t, "the end of the thread in an instruction with a condition");
    if (inst->ends)
        translate_put(t, &(struct operation){.op = OP_EXIT}, NULL, 0, NULL, 0);
    if (inst->pops && t->code.items[t->code.count - 1].op == OP_BAR)
        translate_put(t, &(struct operation){.op = OP_NOP}, NULL, 0, NULL, 0);
    if (inst->pops)
        t->code.items[t->code.count - 1].flags |= FLAG_POP;
    for (uint32_t pc = t->first; pc + 1 < t->code.count; pc++)
        t->code.items[pc].flags |= FLAG_PART;
}

static void set_ways(struct translation *t, const struct native_inst *native, struct inst *inst, const uint32_t *pcs) {
    uint32_t *targets = ARENA_ARRAY(&t->module->arena, uint32_t, t->kernel->way_count), to;
    inst->targets = targets;
    for (unsigned at = 0; native_way(t->kernel, native->address, &at, &to);)
        targets[inst->target_count++] = pcs[to == NO_PC ? 0 : to];
}

/* Targets are instructions of the kernel until all have their PCs. */
static void set_targets(struct translation *t, const uint32_t *targets, const uint32_t *pcs,
                        struct function *const *functions, const uint32_t *starts, unsigned start_count) {
    for (uint32_t i = 0; i < t->kernel->code_count; i++) {
        struct inst *inst = &t->code.items[pcs[i + 1] - 1];
        enum op token;
        const enum native_control control = native_control(t->program->isa, &t->kernel->code[i], &token);
        if (control == CONTROL_RETURN && targets[i] != NO_PC)
            inst->op = OP_RETP;
        if (control == CONTROL_CALL) {
            const uint32_t to = native_at(t->kernel, t->kernel->code[i].operands[0].value);
            unsigned f = 0;
            while (f < start_count && starts[f] != to)
                f++;
            struct call *call = ARENA_NEW(&t->module->arena, struct call);
            call->callee = call->prototype = functions[f];
            inst->call = call;
        }
        if (control == CONTROL_INDIRECT)
            set_ways(t, &t->kernel->code[i], inst, pcs);
        /* one that no thread reaches leads to itself: behind it the function may end */
        const bool leads = inst_jumps(inst) || inst->op >= OP_SSY;
        if (leads)
            inst->target = targets[i] != NO_PC ? pcs[targets[i]] : pcs[i];
    }
}

/* Which functions call themselves, in the end: one return address per call is kept, but no registers. */
static bool calls_itself(const struct translation *t, struct function *const *functions, unsigned count) {
    bool reach[64][64] = {{false}};
    for (unsigned f = 0; f < count; f++)
        for (uint32_t pc = functions[f]->first_pc; pc < functions[f]->end_pc; pc++)
            if (t->code.items[pc].op == OP_CALL)
                reach[f][t->code.items[pc].call->callee->index - functions[0]->index] = true;
    for (unsigned k = 0; k < count; k++)
        for (unsigned i = 0; i < count; i++)
            for (unsigned j = 0; j < count; j++)
                reach[i][j] |= reach[i][k] && reach[k][j];
    for (unsigned f = 0; f < count; f++)
        if (reach[f][f])
            return true;
    return false;
}

void translate_code(struct translation *t, unsigned *function_count, struct arena *scratch) {
    enum { FUNCTIONS_MAX = 64 };
    const struct native_kernel *kernel = t->kernel;
    t->file = &file;
    t->inst = kernel->code;
    uint32_t *starts = ARENA_ARRAY(scratch, uint32_t, kernel->code_count + 1u);
    uint32_t *pcs = ARENA_ARRAY(scratch, uint32_t, kernel->code_count + 1u);
    uint32_t *targets = ARENA_ARRAY(scratch, uint32_t, kernel->code_count);
    const unsigned count = find_starts(t, starts, scratch);
    if (count > FUNCTIONS_MAX)
        translate_refuse(t, "more than %d functions in a kernel", FUNCTIONS_MAX);
    if (!t->failed)
        native_flow(t, starts, count, targets, scratch);
    if (t->failed)
        return;
    struct function *functions[FUNCTIONS_MAX];
    translate_give_banks(t);
    unsigned f = 0;
    for (uint32_t i = 0; i < kernel->code_count; i++) {
        if (f < count && starts[f] == i) {
            const char *name = arena_strdup(&t->module->arena, kernel->name);
            if (f)
                name = arena_printf(&t->module->arena, "%s.%04x", name, (unsigned)kernel->code[i].address);
            functions[f] = translate_add_function(t, (*function_count)++, name, f ? functions[0] : NULL);
            functions[f]->first_pc = t->code.count;
            if (f)
                functions[f - 1]->end_pc = t->code.count;
            f++;
            begin_inst(t, i);
            if (i == 0 && t->program->isa == NATIVE_TESLA)
                begin_tesla(t);
        }
        pcs[i] = t->code.count;
        put_inst(t, i);
        if (t->failed && t->code.count == pcs[i]) /* so that every instruction has a place, and more are looked at */
            translate_put(t, &(struct operation){.op = OP_NOP}, NULL, 0, NULL, 0);
        translate_put_text(t);
    }
    pcs[kernel->code_count] = functions[count - 1]->end_pc = t->code.count;
    if (t->failed)
        return;
    translate_give_params(t, functions[0]);
    functions[0]->local_bytes = kernel->local_bytes;
    memcpy(functions[0]->max_ntid, kernel->max_threads, sizeof kernel->max_threads);
    memcpy(functions[0]->required_ntid, kernel->required_threads, sizeof kernel->required_threads);
    const uint32_t params = t->program->isa == NATIVE_TESLA ? TESLA_PARAM_BASE + functions[0]->param_bytes : 0;
    for (unsigned i = 0; i < count; i++)
        functions[i]->shared_bytes = kernel->shared_bytes + params;
    set_targets(t, targets, pcs, functions, starts, count);
    if (calls_itself(t, functions, count))
        translate_refuse(t, "a function that calls itself");
}
