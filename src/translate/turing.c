/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel of sm_75 to sm_90 in the internal form: its register file, its functions, its instructions one by one, and where
 * jumps lead. A function's registers are the kernel's; who calls puts the return address where the callee looks for it. */
#include "translate/turing.h"

#include <string.h>

enum { SCRATCHES = 16, WIDES = 12, TESTS = 8, PREDICATES = 7, UNIFORMS = 63, ABI_REGISTERS = 22 };

struct turing_kernel {
    struct translation *t;
    struct turing_inst *code; /* by word */
    uint32_t *starts;         /* words at which functions begin, ascending */
    unsigned start_count;
    uint32_t *function_of; /* by word: the function that it is in */
    uint32_t *pcs;         /* by word, and of the end */
};

/* ---- registers ---- */

/* R registers up to the highest that a word names, and three behind it, for vectors; of matrices of doubles fifteen. */
static const struct register_file *make_file(const struct turing_kernel *k, struct arena *scratch) {
    uint32_t registers = 1;
    bool is_uniform = false, has_rpc = false;
    for (uint32_t i = 0; i < k->t->kernel->code_count; i++)
        for (unsigned n = 0; n < TURING_OPERANDS_MAX; n++) {
            const struct turing_operand *operand = &k->code[i].operands[n];
            const bool has_register =
                operand->kind == TURING_REGISTER || operand->kind == TURING_MEMORY || operand->kind == TURING_CONSTANT;
            const uint32_t behind = operand->reg + (k->code[i].row == TURING_DMMA ? 13u : 1u);
            if (has_register && operand->reg != TURING_RZ && behind > registers)
                registers = behind;
            has_rpc |= turing_row(k->code[i].row)->meaning == TURING_MEANS_RPCMOV;
            is_uniform |= operand->kind == TURING_UNIFORM || operand->kind == TURING_UPREDICATE || operand->uniform;
        }
    if (k->t->kernel->link_count && registers < ABI_REGISTERS)
        registers = ABI_REGISTERS;
    registers = registers + 3 < TURING_RZ ? registers + 3 : TURING_RZ;
    struct register_file *file = ARENA_NEW(scratch, struct register_file);
    file->predicate = registers;
    file->uniform = file->predicate + PREDICATES;
    file->upredicate = file->uniform + (is_uniform ? UNIFORMS : 0);
    file->rpc = file->upredicate + (is_uniform ? PREDICATES : 0);
    file->scratch = file->rpc + (has_rpc ? 2 : 0);
    file->counted = file->scratch + SCRATCHES;
    file->wide = file->counted + 1;
    file->test = file->wide + 2 * WIDES;
    file->agreed = file->test + TESTS;
    file->count = file->agreed + 1;
    const struct file_range ranges[] = {{"R", 0, TYPE_B32},
                                        {"P", file->predicate, TYPE_PRED},
                                        {"UR", file->uniform, TYPE_B32},
                                        {"UP", file->upredicate, TYPE_PRED},
                                        {"Rpc", file->rpc, TYPE_B32},
                                        {"scratch", file->scratch, TYPE_B32},
                                        {"wide", file->wide, TYPE_B32},
                                        {"test", file->test, TYPE_PRED}};
    memcpy(file->ranges, ranges, sizeof ranges);
    file->range_count = sizeof ranges / sizeof *ranges;
    return file;
}

/* ---- functions ---- */

/* The word that a branch or a call leads to; NO_PC: it has no fixed target. */
static uint32_t target_of(const struct turing_inst *inst) {
    const struct turing_row *row = turing_row(inst->row);
    for (unsigned n = 0; row->operands[n].shape; n++)
        if ((row->operands[n].shape == TURING_SHAPE_TARGET && inst->operands[n].kind == TURING_TARGET) ||
            (row->operands[n].shape == TURING_SHAPE_ABSOLUTE && inst->operands[n].value))
            return inst->operands[n].value < 0 || inst->operands[n].value % TURING_INST_BYTES
                       ? NO_PC
                       : (uint32_t)(inst->operands[n].value / TURING_INST_BYTES);
    return NO_PC;
}

/* A call of what has an address in the code; one that nobody has linked leads to 0. */
static bool is_direct_call(const struct turing_inst *inst) {
    return inst->row == TURING_CALL_REL || inst->row == TURING_CALL_ABS;
}

/* Words that lead to a word beside the one before it, in lists. */
struct ways_back {
    uint32_t *first, *next; /* by word; NO_PC: no more */
};

static bool is_return(const struct turing_inst *inst) {
    const unsigned meaning = turing_row(inst->row)->meaning;
    return meaning == TURING_MEANS_RET || meaning == TURING_MEANS_BRX; /* where those of a table lead may return */
}

/* The next word may be reached from this one. */
static bool goes_on(const struct turing_inst *inst) {
    const unsigned meaning = turing_row(inst->row)->meaning;
    const bool is_guarded = inst->guard != TURING_PT || inst->guard_inverted;
    return is_guarded || (meaning != TURING_MEANS_EXIT && meaning != TURING_MEANS_BRA);
}

static void find_ways_back(const struct turing_kernel *k, struct ways_back *ways) {
    const uint32_t count = k->t->kernel->code_count;
    for (uint32_t i = 0; i < count; i++)
        ways->first[i] = NO_PC;
    for (uint32_t i = 0; i < count; i++) {
        const bool jumps = turing_row(k->code[i].row)->meaning == TURING_MEANS_BRA;
        const uint32_t to = jumps ? target_of(&k->code[i]) : NO_PC;
        if (to < count)
            ways->next[i] = ways->first[to], ways->first[to] = i;
    }
}

/* From which words on a return can be reached. Compilers jump by calls too, to code that ends the threads. */
static const uint8_t *find_returning(const struct turing_kernel *k, struct arena *scratch) {
    const uint32_t count = k->t->kernel->code_count;
    uint8_t *returns = ARENA_ARRAY(scratch, uint8_t, count);
    uint32_t *stack = ARENA_ARRAY(scratch, uint32_t, count), depth = 0;
    struct ways_back ways = {ARENA_ARRAY(scratch, uint32_t, count), ARENA_ARRAY(scratch, uint32_t, count)};
    find_ways_back(k, &ways);
    for (uint32_t i = 0; i < count; i++)
        if (is_return(&k->code[i]))
            returns[i] = 1, stack[depth++] = i;
    while (depth) {
        const uint32_t at = stack[--depth];
        if (at && !returns[at - 1] && goes_on(&k->code[at - 1]))
            returns[at - 1] = 1, stack[depth++] = at - 1;
        for (uint32_t from = ways.first[at]; from != NO_PC; from = ways.next[from])
            if (!returns[from])
                returns[from] = 1, stack[depth++] = from;
    }
    return returns;
}

static unsigned function_at(const struct turing_kernel *k, uint32_t word) { return k->function_of[word]; }

static bool is_start(const struct turing_kernel *k, uint32_t word) { return k->starts[function_at(k, word)] == word; }

/* A call of word `to` is a jump: the file names its functions, and none begins there; or it leads over the jump behind it, as the end of a
 * loop does. */
static bool jumps_by_call(const struct turing_kernel *k, uint32_t from, uint32_t to) {
    const bool leads_over_jump = to == from + 2 && turing_row(k->code[from + 1].row)->meaning == TURING_MEANS_BRA;
    return k->t->kernel->label_count || leads_over_jump;
}

static void find_starts(struct turing_kernel *k, struct arena *scratch) {
    const struct native_kernel *kernel = k->t->kernel;
    const uint8_t *returns = find_returning(k, scratch);
    uint8_t *begins = ARENA_ARRAY(scratch, uint8_t, kernel->code_count);
    begins[0] = 1;
    for (unsigned i = 0; i < kernel->label_count; i++)
        begins[kernel->labels[i].address / TURING_INST_BYTES] = 1;
    for (uint32_t i = 0; i < kernel->code_count; i++) {
        const uint32_t to = is_direct_call(&k->code[i]) ? target_of(&k->code[i]) : NO_PC;
        if (to < kernel->code_count && returns[to] && !jumps_by_call(k, i, to))
            begins[to] = 1;
    }
    k->function_of = ARENA_ARRAY(scratch, uint32_t, kernel->code_count);
    for (uint32_t i = 0; i < kernel->code_count; i++) {
        if (begins[i])
            k->starts[k->start_count++] = i;
        k->function_of[i] = k->start_count - 1;
    }
}

/* How deep calls go is not known where a function comes to call itself, or one in a register is called: the file then says
 * nothing of the stack, and it is as large as local.stack_bytes is without a setting. */
static uint32_t stack_bytes(const struct turing_kernel *k, struct arena *scratch) {
    enum { DEPTH_MAX = 64, STACK_BYTES = 16384 };
    const struct native_kernel *kernel = k->t->kernel;
    uint32_t *levels = ARENA_ARRAY(scratch, uint32_t, k->start_count);
    bool is_deep = false, changes = true;
    for (unsigned round = 0; changes && !is_deep; round++) {
        changes = false;
        for (uint32_t i = 0, f = 0; i < kernel->code_count; i++) {
            f += f + 1 < k->start_count && k->starts[f + 1] == i;
            is_deep |= k->code[i].row == TURING_CALL_REL_R || round == DEPTH_MAX;
            const uint32_t to = is_direct_call(&k->code[i]) ? target_of(&k->code[i]) : NO_PC;
            const uint32_t level = to < kernel->code_count ? levels[function_at(k, to)] + 1 : 0;
            changes |= level > levels[f];
            levels[f] = level > levels[f] ? level : levels[f];
        }
    }
    return kernel->local_bytes + (is_deep ? STACK_BYTES : 0);
}

/* The first label of each word is the name of the function that begins there. */
static const char **find_names(const struct turing_kernel *k, struct arena *scratch) {
    const struct native_kernel *kernel = k->t->kernel;
    const char **names = ARENA_ARRAY(scratch, const char *, kernel->code_count);
    for (unsigned i = kernel->label_count; i-- > 0;)
        names[kernel->labels[i].address / TURING_INST_BYTES] = kernel->labels[i].name;
    return names;
}

static const char *function_name(const struct turing_kernel *k, uint32_t word, const char *label) {
    const struct native_kernel *kernel = k->t->kernel;
    struct arena *arena = &k->t->module->arena;
    if (label || !word)
        return arena_strdup(arena, label ? label : kernel->name);
    return arena_printf(arena, "%s.%04x", kernel->name, (unsigned)(word * TURING_INST_BYTES));
}

/* ---- instructions ---- */

/* What is refused does nothing: the kernel is shown, and not run. */
static void drop(struct inst *inst) {
    inst->op = OP_NOP;
    inst->flags = 0;
    inst->dst_count = inst->src_count = 0;
    inst->targets = NULL, inst->target_count = 0;
    inst->guard = -1;
}

static void put_inst(struct translation *t, const struct turing_inst *inst) {
    const bool has_failed = t->failed;
    t->failed = false;
    t->turing = inst;
    t->first = t->code.count;
    t->guard = -1, t->guard_negated = false;
    t->scratch = t->wide = t->test = 0;
    const bool is_guarded = inst->guard != TURING_PT;
    if (is_guarded) {
        const bool is_uniform = turing_row(inst->row)->unit == TURING_UNIT_UNIFORM;
        t->guard = (int32_t)((is_uniform ? t->file->upredicate : t->file->predicate) + inst->guard);
        t->guard_negated = inst->guard_inverted;
    }
    if (!is_guarded && inst->guard_inverted) /* it never holds */
        translate_put(t, &(struct operation){.op = OP_NOP}, NULL, 0, NULL, 0);
    else if (!turing_integer(t) && !turing_float(t) && !turing_half(t) && !turing_convert(t) && !turing_memory(t) &&
             !turing_atomic(t) && !turing_barrier(t) && !turing_warp(t) && !turing_matrix(t) && !turing_texture(t) &&
             !turing_surface(t) && !turing_control_flow(t))
        translate_refuse(t, "it is not executed yet");
    if (t->failed) { /* it keeps its place, and more are looked at */
        t->code.count = t->first;
        drop(translate_put(t, &(struct operation){.op = OP_NOP}, NULL, 0, NULL, 0));
    }
    t->failed |= has_failed;
    for (uint32_t pc = t->first; pc + 1 < t->code.count; pc++)
        t->code.items[pc].flags |= FLAG_PART;
    translate_put_text(t);
}

/* to NO_PC: through a register. */
static void set_call(const struct turing_kernel *k, struct inst *inst, uint32_t to, struct function **functions) {
    struct call *call = ARENA_NEW(&k->t->module->arena, struct call);
    if (to != NO_PC)
        call->callee = call->prototype = functions[function_at(k, to)];
    call->behind = k->t->turing->address + TURING_INST_BYTES;
    inst->call = call;
}

/* An instruction of the function that the one under way is in; else it is refused. */
static bool is_inside(const struct turing_kernel *k, uint32_t word, uint32_t to) {
    if (to >= k->t->kernel->code_count)
        translate_refuse(k->t, "it leads out of the section");
    else if (function_at(k, to) != function_at(k, word))
        translate_refuse(k->t, "it leads into another function");
    return !k->t->failed;
}

static void set_ways(const struct turing_kernel *k, uint32_t word, struct inst *inst) {
    const struct native_kernel *kernel = k->t->kernel;
    uint32_t *targets = ARENA_ARRAY(&k->t->module->arena, uint32_t, kernel->way_count);
    inst->targets = targets;
    for (unsigned i = 0; i < kernel->way_count; i++) {
        const uint32_t to = kernel->ways[i].to;
        if (kernel->ways[i].from == k->code[word].address &&
            is_inside(k, word, to % TURING_INST_BYTES ? NO_PC : to / TURING_INST_BYTES))
            targets[inst->target_count++] = k->pcs[to / TURING_INST_BYTES];
    }
}

static void set_target(const struct turing_kernel *k, uint32_t word, struct function **functions) {
    struct translation *t = k->t;
    struct inst *inst = &t->code.items[k->pcs[word + 1] - 1];
    const uint32_t to = target_of(&k->code[word]);
    const bool has_failed = t->failed;
    t->failed = false;
    t->turing = &k->code[word];
    if (inst->op == OP_CALL && !inst->src_count && to < t->kernel->code_count && !is_start(k, to))
        inst->op = OP_BRA;
    if (inst->op == OP_RET && !function_at(k, word) && !t->kernel->is_function)
        translate_refuse(t, "it returns from no function");
    else if (inst->op == OP_BRX)
        set_ways(k, word, inst);
    else if (inst->op == OP_CALL && inst->src_count)
        set_call(k, inst, NO_PC, functions);
    else if (inst->op == OP_CALL && to < t->kernel->code_count)
        set_call(k, inst, to, functions);
    else if (inst->op == OP_CALL)
        translate_refuse(t, "it leads out of the section");
    else if ((inst_jumps(inst) || inst->op == OP_BSSY) && is_inside(k, word, to))
        inst->target = k->pcs[to];
    if (t->failed)
        drop(inst);
    t->failed |= has_failed;
}

static void put_functions(struct turing_kernel *k, struct function **functions, unsigned *function_count,
                          struct arena *scratch) {
    struct translation *t = k->t;
    const uint32_t count = t->kernel->code_count;
    const char **names = find_names(k, scratch);
    for (uint32_t i = 0, f = 0; i < count; i++) {
        t->turing = &k->code[i];
        if (f < k->start_count && k->starts[f] == i) {
            functions[f] =
                translate_add_function(t, (*function_count)++, function_name(k, i, names[i]), f ? functions[0] : NULL);
            functions[f]->first_pc = t->code.count;
            functions[f]->address = k->code[i].address;
            if (f)
                functions[f - 1]->end_pc = t->code.count;
            f++;
        }
        k->pcs[i] = t->code.count;
        put_inst(t, &k->code[i]);
    }
    k->pcs[count] = functions[k->start_count - 1]->end_pc = t->code.count;
    for (uint32_t i = 0; i < count; i++)
        set_target(k, i, functions);
}

static bool never_goes_on(const struct inst *inst) {
    const bool leaves =
        inst->op == OP_BRA || inst->op == OP_BRX || inst->op == OP_RET || inst->op == OP_EXIT || inst->op == OP_TRAP;
    return leaves && inst->guard < 0;
}

/* Nothing stands behind the section for threads to run. What compilers put behind their last jump, nothing leads to. */
static void refuse_open_end(const struct turing_kernel *k, struct arena *scratch) {
    struct translation *t = k->t;
    const uint32_t start = k->starts[k->start_count - 1], count = t->kernel->code_count;
    uint8_t *is_target = ARENA_ARRAY(scratch, uint8_t, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t to = target_of(&k->code[i]);
        if (to < count)
            is_target[to] = 1;
    }
    for (unsigned i = 0; i < t->kernel->way_count; i++)
        if (t->kernel->ways[i].to / TURING_INST_BYTES < count)
            is_target[t->kernel->ways[i].to / TURING_INST_BYTES] = 1;
    for (uint32_t i = count; i-- > start;) {
        if (never_goes_on(&t->code.items[k->pcs[i + 1] - 1]))
            return;
        if (i == start || is_target[i]) {
            t->turing = &k->code[count - 1];
            translate_refuse(t, "threads that run on behind it leave the code");
            return;
        }
    }
}

void translate_turing(struct translation *t, unsigned *function_count, struct arena *scratch) {
    const struct native_kernel *kernel = t->kernel;
    struct turing_kernel k = {.t = t};
    k.code = ARENA_ARRAY(scratch, struct turing_inst, kernel->code_count);
    k.starts = ARENA_ARRAY(scratch, uint32_t, kernel->code_count + 1u);
    k.pcs = ARENA_ARRAY(scratch, uint32_t, kernel->code_count + 1u);
    for (uint32_t i = 0; i < kernel->code_count; i++)
        turing_decode(kernel->words[i], t->program->sm, i * TURING_INST_BYTES, &k.code[i], NULL);
    t->turing = k.code;
    t->file = make_file(&k, scratch);
    find_starts(&k, scratch);
    turing_find_meets(t, k.code, scratch);
    struct function **functions = ARENA_ARRAY(scratch, struct function *, k.start_count);
    translate_give_banks(t);
    t->local_bytes = stack_bytes(&k, scratch);
    put_functions(&k, functions, function_count, scratch);
    refuse_open_end(&k, scratch);
    translate_give_params(t, functions[0]);
    functions[0]->local_bytes = t->local_bytes;
    functions[0]->shared_base = t->program->sm < 90 ? 0 : TURING_SYSTEM_SHARED_90;
    memcpy(functions[0]->max_ntid, kernel->max_threads, sizeof kernel->max_threads);
    memcpy(functions[0]->required_ntid, kernel->required_threads, sizeof kernel->required_threads);
    for (unsigned i = 0; i < k.start_count; i++) {
        functions[i]->shared_bytes = kernel->shared_bytes;
        functions[i]->given_registers = kernel->register_count;
    }
    functions[0]->is_entry = !kernel->is_function;
    turing_add_externals(t, function_count, functions[0]);
}
