/* SPDX-License-Identifier: Apache-2.0 */
/* From instructions to steps: who is reachable, where each register lives, what each operand's row is. */
#include <string.h>

#include "base/bits.h"
#include "exec/lanes.h"
#include "isa/analysis.h"

enum { ROW_ALIGNMENT = 64 };

struct linker {
    struct arena *arena;
    struct linked *linked;
    uint64_t image_address;
    uint32_t frame_used;
    struct {
        uint8_t *items;
        unsigned count, capacity;
    } uniform;
    struct {
        struct constant {
            uint64_t value;
            uint8_t bytes;
            uint32_t offset;
        } * items;
        unsigned count, capacity;
    } constants;
    struct {
        struct param_row *items;
        unsigned count, capacity;
    } params;
    struct {
        struct zero_range *items;
        unsigned count, capacity;
    } zeros;
    struct row carry;
};

static struct row frame_row(struct linker *linker, unsigned bytes) {
    const struct row row = {.base = BASE_FRAME, .bytes = (uint8_t)bytes, .present = true, .offset = linker->frame_used};
    linker->frame_used += bytes ? bytes * LANES_MAX : (uint32_t)sizeof(uint32_t);
    return row;
}

static struct row uniform_row(struct linker *linker, unsigned bytes) {
    const struct row row = {
        .base = BASE_UNIFORM, .bytes = (uint8_t)bytes, .present = true, .offset = linker->uniform.count};
    const unsigned size = (unsigned)bits_round_up(bytes ? bytes * LANES_MAX : sizeof(uint32_t), ROW_ALIGNMENT);
    for (unsigned i = 0; i < size; i++)
        *ARENA_PUSH(linker->arena, &linker->uniform) = 0;
    return row;
}

static void spread(uint8_t *row, unsigned bytes, uint64_t value) {
    for (unsigned lane = 0; lane < LANES_MAX; lane++)
        memcpy(row + (size_t)lane * bytes, &value, bytes);
}

static struct row constant_row(struct linker *linker, uint64_t value, unsigned bytes) {
    for (unsigned i = 0; i < linker->constants.count; i++) {
        const struct constant *known = &linker->constants.items[i];
        if (known->value == value && known->bytes == bytes)
            return (
                struct row){.base = BASE_UNIFORM, .bytes = (uint8_t)bytes, .present = true, .offset = known->offset};
    }
    const struct row row = uniform_row(linker, bytes);
    if (bytes)
        spread(linker->uniform.items + row.offset, bytes, value);
    else
        memset(linker->uniform.items + row.offset, value ? 0xff : 0, sizeof(uint32_t));
    struct constant *constant = ARENA_PUSH(linker->arena, &linker->constants);
    *constant = (struct constant){value, (uint8_t)bytes, row.offset};
    return row;
}

/* ---- who can be called ---- */

static bool is_address_taken_candidate(const struct function *function) {
    return function->is_defined && !function->is_entry;
}

/* Marks in `reached` what calls of `function` can enter, itself not included. Returns whether it calls at all. */
static void mark_callees(const struct module *module, const struct function *function, bool *reached, bool *indirect) {
    for (uint32_t pc = function->first_pc; pc < function->end_pc; pc++) {
        const struct inst *inst = &module->code[pc];
        if (inst->op != OP_CALL)
            continue;
        if (inst->call->callee) {
            if (inst->call->callee->is_defined)
                reached[inst->call->callee->index] = true;
            continue;
        }
        *indirect = true;
        for (unsigned i = 0; i < module->function_count; i++)
            if (is_address_taken_candidate(module->functions[i]))
                reached[i] = true;
    }
}

/* Everything that `from` can call, however deep. */
static bool *reach(struct linker *linker, const struct function *from) {
    const struct module *module = linker->linked->module;
    bool *reached = ARENA_ARRAY(linker->arena, bool, module->function_count);
    bool *done = ARENA_ARRAY(linker->arena, bool, module->function_count);
    mark_callees(module, from, reached, &linker->linked->has_recursion);
    for (bool changed = true; changed;) {
        changed = false;
        for (unsigned i = 0; i < module->function_count; i++) {
            if (!reached[i] || done[i])
                continue;
            done[i] = changed = true;
            mark_callees(module, module->functions[i], reached, &linker->linked->has_recursion);
        }
    }
    return reached;
}

/* Bytes of local memory and depth of calls below every function; only without recursion, so that this ends. */
static void measure_calls(struct linker *linker, uint64_t *bytes, uint32_t *depth) {
    const struct module *module = linker->linked->module;
    for (bool changed = true; changed;) {
        changed = false;
        for (unsigned i = 0; i < module->function_count; i++) {
            const struct function *function = module->functions[i];
            if (!linker->linked->layouts[i].reachable)
                continue;
            uint64_t below = 0;
            uint32_t deeper = 0;
            for (uint32_t pc = function->first_pc; pc < function->end_pc; pc++) {
                const struct inst *inst = &module->code[pc];
                if (inst->op != OP_CALL || !inst->call->callee || !inst->call->callee->is_defined)
                    continue;
                const unsigned callee = inst->call->callee->index;
                if (bytes[callee] > below)
                    below = bytes[callee];
                if (depth[callee] + 1 > deeper)
                    deeper = depth[callee] + 1;
            }
            const uint64_t total = below + linked_frame_size(linker->linked, function);
            changed |= total != bytes[i] || deeper != depth[i];
            bytes[i] = total, depth[i] = deeper;
        }
    }
}

static void find_functions(struct linker *linker) {
    struct linked *linked = linker->linked;
    const struct module *module = linked->module;
    linked->layouts = ARENA_ARRAY(linker->arena, struct function_layout, module->function_count);
    const bool *reached = reach(linker, linked->kernel);
    for (unsigned i = 0; i < module->function_count; i++) {
        linked->layouts[i].reachable = reached[i] || module->functions[i] == linked->kernel;
        linked->has_calls |= reached[i];
        if (!reached[i])
            continue;
        linked->layouts[i].is_recursive = reach(linker, module->functions[i])[i] && !module->functions[i]->registers_of;
        linked->has_recursion |= linked->layouts[i].is_recursive;
    }
    linked->local_align = 16;
    for (unsigned i = 0; i < module->function_count; i++)
        if (linked->layouts[i].reachable && module->functions[i]->local_align > linked->local_align)
            linked->local_align = module->functions[i]->local_align;
    linked->local_bytes = linked_frame_size(linked, linked->kernel);
    if (!linked->has_calls || linked->has_recursion)
        return;
    uint64_t *bytes = ARENA_ARRAY(linker->arena, uint64_t, module->function_count);
    uint32_t *depth = ARENA_ARRAY(linker->arena, uint32_t, module->function_count);
    measure_calls(linker, bytes, depth);
    linked->local_bytes = bytes[linked->kernel->index];
    linked->call_depth = depth[linked->kernel->index];
}

/* ---- registers ---- */

static void zero_at_start(struct linker *linker, const struct row *row) {
    struct zero_range *range = ARENA_PUSH(linker->arena, &linker->zeros);
    *range = (struct zero_range){row->offset, row->bytes ? row->bytes * LANES_MAX : (uint32_t)sizeof(uint32_t)};
}

static unsigned register_bytes(enum type type) {
    if (type == TYPE_PRED)
        return 0;
    return type_bytes(type) < 2 ? 2 : type_bytes(type);
}

/* Rows by width, widest first, so that each is aligned; predicates last. A register that may be read before it is
 * written starts at zero. */
static void place_registers(struct linker *linker, const struct function *function) {
    struct row *rows = ARENA_ARRAY(linker->arena, struct row, function->reg_count);
    static const unsigned widths[] = {8, 4, 2, 0};
    const uint64_t *live = function->cfg ? function->cfg->unwritten : NULL;
    linker->frame_used = (uint32_t)bits_round_up(linker->frame_used, ROW_ALIGNMENT);
    for (unsigned w = 0; w < 4; w++)
        for (uint32_t r = 0; r < function->reg_count; r++) {
            if (register_bytes(function->reg_types[r]) != widths[w])
                continue;
            rows[r] = frame_row(linker, widths[w]);
            if (!live || widths[w] == 0 || (live[r / 64] >> (r % 64) & 1))
                zero_at_start(linker, &rows[r]);
        }
    linker->linked->layouts[function->index].registers = rows;
}

/* ---- operands ---- */

/* What the block or the lane decides is a row of the frame or a constant; what the launch decides is filled in later. */
static struct row special_row(struct linker *linker, enum special special) {
    struct row *row = &linker->linked->specials[special];
    if (row->present)
        return *row;
    switch (special) {
    case SPECIAL_TID_X:
    case SPECIAL_TID_Y:
    case SPECIAL_TID_Z:
    case SPECIAL_CTAID_X:
    case SPECIAL_CTAID_Y:
    case SPECIAL_CTAID_Z:
    case SPECIAL_WARPID:
    case SPECIAL_SMID:
        linker->frame_used = (uint32_t)bits_round_up(linker->frame_used, ROW_ALIGNMENT);
        *row = frame_row(linker, 4);
        break;
    case SPECIAL_GRIDID: *row = uniform_row(linker, 8); break;
    default: *row = uniform_row(linker, 4); break;
    }
    if (special >= SPECIAL_LANEMASK_EQ && special <= SPECIAL_LANEMASK_GT)
        for (unsigned lane = 0; lane < LANES_MAX; lane++) {
            const uint32_t bit = UINT32_C(1) << lane, below = bit - 1;
            const uint32_t masks[] = {bit, below | bit, below, ~below, ~(below | bit)};
            memcpy(linker->uniform.items + row->offset + 4u * lane, &masks[special - SPECIAL_LANEMASK_EQ], 4);
        }
    for (uint32_t lane = 0; special == SPECIAL_LANEID && lane < LANES_MAX; lane++)
        memcpy(linker->uniform.items + row->offset + 4u * lane, &lane, 4);
    return *row;
}

/* The address a symbol stands for; frame symbols relative to the thread's frame. */
static uint64_t symbol_value(const struct linker *linker, const struct symbol *symbol) {
    if (symbol->kind == SYMBOL_FUNCTION)
        return CODE_ADDRESS(symbol->function->first_pc);
    if (symbol->space == SPACE_GLOBAL || symbol->space == SPACE_CONST)
        return linker->image_address + symbol->offset;
    if (symbol->space == SPACE_SHARED && symbol->bytes == 0)
        return bits_round_up(linker->linked->shared_bytes, 16);
    return symbol->offset;
}

/* A variable in the thread's frame of local memory. */
static bool is_frame_symbol(const struct symbol *symbol) {
    return symbol && symbol->kind == SYMBOL_VARIABLE && (symbol->space == SPACE_LOCAL || symbol->in_frame);
}

/* A value of the parameter block as a row that the launch fills. */
static struct row param_row(struct linker *linker, uint64_t offset, unsigned param_bytes, unsigned bytes,
                            bool is_signed) {
    const struct row row = uniform_row(linker, bytes);
    struct param_row *param = ARENA_PUSH(linker->arena, &linker->params);
    *param = (struct param_row){row.offset, (uint32_t)offset, (uint8_t)param_bytes, (uint8_t)bytes, is_signed};
    return row;
}

/* Operands that take the same value take the same row. */
static struct row param_operand(struct linker *linker, uint64_t offset, unsigned bytes) {
    for (unsigned i = 0; i < linker->params.count; i++) {
        const struct param_row *known = &linker->params.items[i];
        if (known->param_offset == offset && known->param_bytes == bytes && known->row_bytes == bytes)
            return (struct row){
                .base = BASE_UNIFORM, .bytes = (uint8_t)bytes, .present = true, .offset = known->row_offset};
    }
    return param_row(linker, offset, bytes, bytes, false);
}

static struct row operand_row(struct linker *linker, const struct function_layout *layout,
                              const struct operand *operand, unsigned bytes) {
    struct row row = {.present = false};
    switch ((enum operand_kind)operand->kind) {
    case OPERAND_NONE: return row;
    case OPERAND_REG:
        row = layout->registers[operand->reg];
        row.negated = operand->negated;
        return row;
    case OPERAND_IMM:
        return constant_row(linker,
                            operand->symbol ? (symbol_value(linker, operand->symbol) + operand->imm) >> operand->reg
                                            : operand->imm,
                            bytes);
    case OPERAND_SPECIAL: return special_row(linker, operand->reg);
    case OPERAND_PARAM: return param_operand(linker, operand->imm, bytes);
    case OPERAND_ADDRESS:
        if (operand->has_reg && !operand->symbol)
            return layout->registers[operand->reg];
        return constant_row(linker, symbol_value(linker, operand->symbol) + operand->imm, bytes);
    }
    return row;
}

/* Width of an immediate source: what the operation reads there. */
static unsigned source_bytes(const struct inst *inst, unsigned index) {
    const unsigned own = register_bytes(inst->type);
    switch ((enum op)inst->op) {
    case OP_CVT:
    case OP_SET: return index < 2 ? register_bytes(inst->stype) : 0;
    case OP_SETP:
    case OP_SELP: return index < 2 ? own : 0;
    case OP_PSETP: return 0;
    case OP_SLCT: return index < 2 ? own : 4;
    case OP_MAD: return inst->mode == MODE_WIDE && index == 2 ? 2 * own : own;
    case OP_SHL:
    case OP_SHR: return index == 1 ? 4 : own;
    case OP_BFE: return index == 0 ? own : 4;
    case OP_BFI: return index < 2 ? own : 4;
    case OP_MOV: return inst->src_count > 1 ? own / inst->src_count : own;
    case OP_BAR: return index == 2 ? 0 : 4;
    case OP_VOTE: return index == 0 ? 0 : 4;
    case OP_MATCH: return index == 0 ? own : 4;
    case OP_TREE_TRAVERSE: return index == 0 ? own : index == 1 ? 0 : 4;
    case OP_COND_ACC: return index == 2 ? own : index == 1 ? 0 : 4;
    case OP_BRX:
    case OP_BAR_WARP:
    case OP_ELECT:
    case OP_SHFL:
    case OP_REDUX:
    case OP_LOP3:
    case OP_PRMT:
    case OP_DP4A:
    case OP_DP2A:
    case OP_CVT_PACK:
    case OP_NANOSLEEP: return 4;
    default: return own;
    }
}

static void link_address(struct linker *linker, const struct function_layout *layout, struct step *step) {
    const struct inst *inst = step->inst;
    const struct operand *operand = &inst->src[0];
    struct address *address = &step->address;
    address->space = inst->space == SPACE_CONST ? SPACE_GLOBAL : inst->space;
    address->offset = operand->imm;
    if (operand->has_reg)
        address->row = layout->registers[operand->reg];
    if (operand->symbol) {
        address->offset += symbol_value(linker, operand->symbol);
        address->in_frame = is_frame_symbol(operand->symbol);
    }
    if (inst->space == SPACE_PARAM && (address->in_frame || step->function != linker->linked->kernel))
        address->space = SPACE_LOCAL;
}

/* A kernel parameter read at a fixed place is a row that the launch fills. */
static bool link_param_load(struct linker *linker, struct step *step) {
    const struct inst *inst = step->inst;
    if (inst->op != OP_LD || step->address.space != SPACE_PARAM || step->address.row.present || inst->dst_count != 1)
        return false;
    const struct row *d = &step->rows[0];
    if (!d->present || !range_within(step->address.offset, step->access_bytes, linker->linked->kernel->param_bytes) ||
        step->address.offset % step->access_bytes)
        return false;
    const struct row row =
        param_row(linker, step->address.offset, step->access_bytes, d->bytes, type_is_signed(inst->type));
    const struct inst move = {.op = OP_MOV,
                              .type = d->bytes == 8   ? TYPE_B64
                                      : d->bytes == 4 ? TYPE_B32
                                                      : TYPE_B16,
                              .dst_count = 1,
                              .src_count = 1};
    struct row rows[4] = {*d, row};
    step->run = lanes_select(linker->linked->lanes, &move, rows);
    step->kind = KIND_LANES;
    step->base[1] = BASE_UNIFORM, step->offset[1] = row.offset;
    return true;
}

static bool is_clock(enum special special) { return special >= SPECIAL_CLOCK && special <= SPECIAL_GLOBALTIMER_HI; }

/* Whole registers go in or out: the access is as wide as every row. */
static bool is_plain_access(const struct step *step, const struct row *rows, unsigned count) {
    if (step->access_bytes < 2 || step->address.in_frame)
        return false;
    for (unsigned i = 0; i < count; i++)
        if (!rows[i].present || rows[i].bytes != step->access_bytes)
            return false;
    return true;
}

static enum kind link_kind(struct linker *linker, struct step *step) {
    const struct inst *inst = step->inst;
    switch ((enum op)inst->op) {
    case OP_LD:
        step->plain = is_plain_access(step, step->rows, step->dst_count);
        return inst->mode == MODE_LOCK ? KIND_ATOMIC : KIND_LOAD;
    case OP_ST:
        step->plain = is_plain_access(step, step->rows + 1, step->src_count - 1u);
        return inst->mode == MODE_UNLOCK ? KIND_ATOMIC : KIND_STORE;
    case OP_ATOM:
    case OP_RED: return KIND_ATOMIC;
    case OP_LD_SNOOP:
    case OP_ST_SNOOP: return KIND_SNOOP;
    case OP_PREFETCH:
    case OP_MEMBAR:
    case OP_NANOSLEEP:
    case OP_BRKPT:
    case OP_NOP:
    case OP_PROGRESS:
    case OP_SSY:
    case OP_PBK:
    case OP_PCNT:
    case OP_PRET: return KIND_NOTHING;
    case OP_BAR: return KIND_BARRIER;
    case OP_BAR_WARP:
    case OP_VOTE:
    case OP_MATCH:
    case OP_SHFL:
    case OP_REDUX:
    case OP_ACTIVEMASK:
    case OP_ELECT:
    case OP_TREE_TRAVERSE:
    case OP_COND_ACC: return KIND_WARP;
    case OP_BRA: return inst->mode == MODE_UNANIMOUS ? KIND_BRANCH_UNANIMOUS : KIND_BRANCH;
    case OP_BRK:
    case OP_CONT:
    case OP_RETP: return KIND_BRANCH;
    case OP_BRX: return KIND_BRANCH_INDEXED;
    case OP_CALL: return KIND_CALL;
    case OP_RET: return step->function == linker->linked->kernel ? KIND_EXIT : KIND_RETURN;
    case OP_EXIT: return KIND_EXIT;
    case OP_TRAP: return KIND_TRAP;
    case OP_MOV:
        if (inst->dst_count > 1 || inst->src_count > 1)
            return KIND_MOVE;
        if (inst->src[0].kind == OPERAND_SPECIAL && is_clock(inst->src[0].reg))
            return KIND_CLOCK;
        if (inst->src[0].kind == OPERAND_ADDRESS && is_frame_symbol(inst->src[0].symbol) &&
            step->function != linker->linked->kernel) {
            step->address.offset = symbol_value(linker, inst->src[0].symbol) + inst->src[0].imm;
            return KIND_LOCAL;
        }
        break;
    default: break;
    }
    return KIND_LANES; /* or scalar, where no lane fits */
}

static bool is_memory(enum op op) {
    return op == OP_LD || op == OP_ST || op == OP_ATOM || op == OP_RED || op == OP_COND_ACC || op == OP_LD_SNOOP ||
           op == OP_ST_SNOOP;
}

static bool depends_on_order(const struct inst *inst) {
    if (inst->op == OP_ATOM || inst->op == OP_RED)
        return inst->space != SPACE_SHARED;
    if (is_memory(inst->op))
        return inst->order != ORDER_WEAK && inst->space != SPACE_SHARED;
    return inst->src_count && inst->src[0].kind == OPERAND_SPECIAL && is_clock(inst->src[0].reg);
}

/* The rest of it is a load or store of one element, whose rows stand as theirs do, and behind them that of who missed. */
static void link_snoop(struct step *step, struct row *rows) {
    if (step->inst->op == OP_ST_SNOOP) {
        const struct row missed = rows[0];
        rows[0] = rows[1], rows[1] = rows[2], rows[2] = missed;
    }
    step->dst_count--;
}

/* The kind, and the lane function where there is one. */
static void link_run(struct linker *linker, struct step *step) {
    if (link_param_load(linker, step))
        return;
    step->kind = (uint8_t)link_kind(linker, step);
    if (step->kind != KIND_LANES)
        return;
    if (step->inst->op == OP_PSETP && step->inst->dst_count == 1)
        step->run = exec_combine_words;
    else
        step->run = lanes_select(linker->linked->lanes, step->inst, step->rows);
    if (!step->run)
        step->kind = KIND_SCALAR;
}

static void link_step(struct linker *linker, const struct function *function, uint32_t pc) {
    struct linked *linked = linker->linked;
    const struct function_layout *layout = &linked->layouts[function->index];
    const struct inst *inst = &linked->module->code[pc];
    struct step *step = &linked->steps[pc];
    *step = (struct step){.inst = inst,
                          .function = function,
                          .dst_count = inst->dst_count,
                          .src_count = inst->src_count,
                          .target = inst->target,
                          .carry = linker->carry,
                          .intrinsic = (uint8_t)exec_intrinsic(inst)};
    linked->prints |= step->intrinsic == INTRINSIC_PRINTF;
    linked->in_order |= depends_on_order(inst) || linked->prints;
    linked->has_locks |= inst->mode == MODE_LOCK || inst->mode == MODE_UNLOCK;
    if (inst->guard >= 0) {
        step->guarded = true;
        step->guard_offset = layout->registers[inst->guard].offset;
        step->guard_flip = inst->guard_negated ? UINT32_MAX : 0;
    }
    /* room for the four rows that lane functions may look at */
    const unsigned count = inst->dst_count + inst->src_count;
    struct row *rows = ARENA_ARRAY(linker->arena, struct row, count + 4u);
    for (unsigned i = 0; i < inst->dst_count; i++)
        rows[i] = operand_row(linker, layout, &inst->dst[i], 0);
    for (unsigned i = 0; i < inst->src_count; i++) {
        const bool clock = inst->src[i].kind == OPERAND_SPECIAL && is_clock(inst->src[i].reg);
        if (clock || (is_memory(inst->op) && i == 0) || inst->op == OP_PREFETCH)
            continue;
        rows[inst->dst_count + i] = operand_row(linker, layout, &inst->src[i], source_bytes(inst, i));
    }
    step->rows = rows;
    for (unsigned i = 0; i < 4 && i < count; i++)
        step->base[i] = rows[i].base, step->offset[i] = rows[i].offset;
    if (is_memory(inst->op)) {
        step->access_bytes = (uint8_t)type_bytes(inst->type);
        link_address(linker, layout, step);
    }
    if (inst->op == OP_LD_SNOOP || inst->op == OP_ST_SNOOP)
        link_snoop(step, rows);
    link_run(linker, step);
    if (inst->flags & FLAG_POP)
        step->inner = step->kind, step->kind = KIND_POP;
}

lane_function *lanes_select(const struct lanes *lanes, const struct inst *inst, const struct row *rows) {
    if (inst->dst_count != 1 || !rows[0].present)
        return NULL;
    for (unsigned i = 0; i < lanes->count; i++) {
        const struct lane_entry *entry = &lanes->entries[i];
        if (entry->op != inst->op || !(entry->types >> inst->type & 1) || entry->mode != inst->mode ||
            entry->compare != inst->compare)
            continue;
        const uint16_t neutral = FLAG_NOFTZ | FLAG_UNI | FLAG_ALIGNED | FLAG_POP | FLAG_PART;
        if ((inst->flags & ~neutral) != entry->flags)
            continue;
        if (entry->source_types && !(entry->source_types >> inst->stype & 1))
            continue;
        const bool default_rounding = inst->rounding == ROUND_DEFAULT || inst->rounding == ROUND_RN;
        if (entry->rounding == ROUND_DEFAULT || entry->rounding == ROUND_RN ? !default_rounding
                                                                            : entry->rounding != inst->rounding)
            continue;
        bool fits = true;
        for (unsigned k = 0; k < 4 && fits; k++) {
            const bool given = k < 1u + inst->src_count && rows[k].present;
            if (entry->bytes[k] == 255)
                fits = k >= 1u + inst->src_count;
            else if (k == 3 && inst->op == OP_SETP)
                fits = !given || rows[k].bytes == 0;
            else if (inst->type == TYPE_PRED)
                fits = k == 2 || (given && rows[k].bytes == 0 && !rows[k].negated);
            else
                fits = given && rows[k].bytes == entry->bytes[k] && (!rows[k].negated || k == 3);
        }
        if (fits)
            return entry->run;
    }
    return NULL;
}

struct linked *exec_link(struct arena *arena, const struct module *module, const struct function *kernel,
                         const struct lanes *lanes, uint64_t image_address) {
    struct linked *linked = ARENA_NEW(arena, struct linked);
    *linked = (struct linked){.module = module, .kernel = kernel, .lanes = lanes, .shared_bytes = kernel->shared_bytes};
    struct linker linker = {.arena = arena, .linked = linked, .image_address = image_address};
    linked->steps = ARENA_ARRAY(arena, struct step, module->code_count);
    find_functions(&linker);
    linker.carry = frame_row(&linker, 0);
    zero_at_start(&linker, &linker.carry);
    for (unsigned i = 0; i < module->function_count; i++)
        if (linked->layouts[i].reachable && !module->functions[i]->registers_of)
            place_registers(&linker, module->functions[i]);
    for (unsigned i = 0; i < module->function_count; i++)
        if (module->functions[i]->registers_of)
            linked->layouts[i].registers = linked->layouts[module->functions[i]->registers_of->index].registers;
    for (unsigned i = 0; i < module->function_count; i++) {
        const struct function *function = module->functions[i];
        if (!linked->layouts[i].reachable)
            continue;
        for (uint32_t pc = function->first_pc; pc < function->end_pc; pc++)
            link_step(&linker, function, pc);
    }
    linked->frame_bytes = (uint32_t)bits_round_up(linker.frame_used, ROW_ALIGNMENT);
    linked->uniform = linker.uniform.items;
    linked->uniform_bytes = linker.uniform.count;
    linked->param_rows = linker.params.items, linked->param_row_count = linker.params.count;
    linked->zeros = linker.zeros.items, linked->zero_count = linker.zeros.count;
    return linked;
}
