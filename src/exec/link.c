/* SPDX-License-Identifier: Apache-2.0 */
/* From instructions to steps: the rows of each operand, how each instruction is run. */
#include "base/bits.h"
#include "exec/lanes.h"
#include "exec/linker.h"
#include "isa/matrix.h"

/* Width of an immediate source: what the operation reads there. */
static unsigned source_bytes(const struct inst *inst, unsigned index) {
    const unsigned own = link_register_bytes(inst->type);
    switch ((enum op)inst->op) {
    case OP_CVT:
    case OP_SET: return index < 2 ? link_register_bytes(inst->stype) : 0;
    case OP_SETP:
    case OP_ADDP:
    case OP_CARRY:
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
    case OP_TEX:
    case OP_SULD:
    case OP_SUST:
    case OP_SURED:
    case OP_SUST_TEXEL:
    case OP_IMAGE_QUERY: return index <= IMAGE_SOURCE_SAMPLER ? 8 : index <= IMAGE_SOURCE_LAYER ? 4 : own;
    case OP_LOP3: return inst->type == TYPE_PRED && index < 3 ? 0 : 4;
    case OP_WGMMA: return index == 0 || (index == 2 && inst->layout & LAYOUT_A_SHARED) ? 8 : index == 1 ? 0 : 4;
    case OP_MMA: return inst->type == TYPE_F64 ? 8 : 4; /* also the metadata of sparse ones and their selector */
    case OP_TILE_STORE: return index == 1 ? 4 : own;
    case OP_CP_ASYNC: return inst->mode == MODE_IGNORE && index == 2 ? 0 : 4;
    case OP_MAPA: return index == 1 ? 4 : own;
    case OP_CTARANK: return type_bytes((enum type)inst->stype);
    case OP_MBARRIER: return inst->mode == MODE_TEST_WAIT || inst->mode == MODE_TRY_WAIT ? 8 : 4;
    case OP_LDMATRIX:
    case OP_STMATRIX:
    case OP_TILE_LOAD:
    case OP_MOVMATRIX:
    case OP_BRX:
    case OP_BAR_WARP:
    case OP_ELECT:
    case OP_SHFL:
    case OP_REDUX:
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
    if (operand->is_pair)
        address->high = layout->registers[operand->reg + 1];
    if (operand->symbol) {
        address->offset += link_symbol_value(linker, operand->symbol);
        address->in_frame = link_is_in_frame(operand->symbol);
    }
    const struct function *kernel = linker->linked->kernel;
    const bool is_of_kernel = step->function == kernel || step->function->registers_of == kernel;
    if (inst->space == SPACE_PARAM && (address->in_frame || !is_of_kernel))
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
        link_param_row(linker, step->address.offset, step->access_bytes, d->bytes, type_is_signed(inst->type));
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
        if (!rows[i].present || rows[i].bytes != step->access_bytes || rows[i].is_pair)
            return false;
    return true;
}

static bool is_word(const struct row *row, unsigned bytes) {
    return row->present && row->bytes == bytes && !row->is_pair;
}

/* A sample of level 0 at floats, handles in registers of 64 bits, words in and out. */
static bool is_plain_sample(const struct step *step) {
    const struct inst *inst = step->inst;
    const struct row *sources = step->rows + step->dst_count;
    const unsigned dimensions = inst->geometry == GEOMETRY_1D ? 1 : inst->geometry == GEOMETRY_2D ? 2 : 3;
    const bool names_sampler = inst->src[IMAGE_SOURCE_SAMPLER].kind != OPERAND_NONE;
    if (inst->stype != TYPE_F32 || inst->mode == MODE_AT_LEVEL || inst->mode == MODE_BY_STEPS ||
        inst->mode >= MODE_GATHER_R || (inst->geometry != GEOMETRY_3D && dimensions == 3) || step->dst_count > 4)
        return false;
    for (unsigned i = 0; i < dimensions; i++)
        if (!is_word(&sources[IMAGE_SOURCE_X + i], 4))
            return false;
    for (unsigned i = 0; i < step->dst_count; i++)
        if (!is_word(&step->rows[i], 4))
            return false;
    return is_word(&sources[IMAGE_SOURCE_IMAGE], 8) && (!names_sampler || is_word(&sources[IMAGE_SOURCE_SAMPLER], 8));
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
    case OP_TEX: step->plain = is_plain_sample(step); return KIND_IMAGE;
    case OP_SULD:
    case OP_SUST:
    case OP_SURED:
    case OP_SUST_TEXEL:
    case OP_IMAGE_QUERY: return KIND_IMAGE;
    case OP_CP_ASYNC:
    case OP_BULK:
    case OP_TENSORMAP:
    case OP_MBARRIER: return KIND_ASYNC;
    case OP_MAPA:
    case OP_CTARANK: return KIND_CLUSTER;
    case OP_CP_COMMIT:
    case OP_CP_WAIT:
    case OP_PREFETCH:
    case OP_MEMBAR:
    case OP_NANOSLEEP:
    case OP_BRKPT:
    case OP_NOP:
    case OP_PROGRESS:
    case OP_SSY:
    case OP_PBK:
    case OP_PCNT:
    case OP_PRET:
    case OP_BSSY:
    case OP_BSYNC:
    case OP_BREAK:
    case OP_BMOV_BACK:
    case OP_YIELD: return KIND_NOTHING;
    case OP_BAR: return KIND_BARRIER;
    case OP_BAR_WARP:
    case OP_VOTE:
    case OP_MATCH:
    case OP_SHFL:
    case OP_REDUX:
    case OP_ACTIVEMASK:
    case OP_ELECT:
    case OP_TREE_TRAVERSE:
    case OP_LDMATRIX:
    case OP_STMATRIX:
    case OP_TILE_LOAD:
    case OP_TILE_STORE:
    case OP_MOVMATRIX:
    case OP_WGMMA:
    case OP_MMA:
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
        if (inst->src[0].kind == OPERAND_ADDRESS && link_is_in_frame(inst->src[0].symbol) &&
            step->function != linker->linked->kernel) {
            step->address.offset = link_symbol_value(linker, inst->src[0].symbol) + inst->src[0].imm;
            return KIND_LOCAL;
        }
        break;
    default: break;
    }
    return KIND_LANES; /* or scalar, where no lane fits */
}

static bool is_memory(enum op op) {
    return op == OP_LD || op == OP_ST || op == OP_ATOM || op == OP_RED || op == OP_COND_ACC || op == OP_LD_SNOOP ||
           op == OP_ST_SNOOP || op == OP_LDMATRIX || op == OP_STMATRIX || op == OP_CP_ASYNC || op == OP_MBARRIER ||
           op == OP_TILE_LOAD || op == OP_TILE_STORE || op == OP_BULK || op == OP_TENSORMAP;
}

static bool depends_on_order(const struct inst *inst) {
    if (inst->op == OP_ATOM || inst->op == OP_RED || inst->op == OP_SURED)
        return inst->space != SPACE_SHARED;
    if (inst->op == OP_BULK && inst->atom != ATOM_NONE && inst->space != SPACE_SHARED)
        return true;
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

/* The address of shared memory: a row and what is added to it. */
static void link_copy(struct linker *linker, const struct function_layout *layout, struct step *step,
                      struct row *rows) {
    const struct operand *to = &step->inst->src[1];
    rows[1] = to->has_reg ? layout->registers[to->reg] : (struct row){.present = false};
    step->target = (uint32_t)(to->imm + (to->symbol ? link_symbol_value(linker, to->symbol) : 0));
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
    else if (step->inst->op == OP_LOP3 && step->inst->type == TYPE_PRED)
        step->run = exec_logic_words;
    else
        step->run = lanes_select(linker->linked->lanes, step->inst, step->rows);
    if (!step->run)
        step->kind = KIND_SCALAR;
}

/* An operand is a pair: constants of 8 bytes are then laid out as pairs too. */
static bool has_pairs(const struct inst *inst) {
    bool has = false;
    for (unsigned i = 0; i < inst->dst_count; i++)
        has |= inst->dst[i].is_pair;
    for (unsigned i = 0; i < inst->src_count; i++)
        has |= inst->src[i].is_pair && inst->src[i].kind == OPERAND_REG;
    return has;
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
                          .intrinsic = (uint8_t)intrinsic_of(inst)};
    linked->prints |= step->intrinsic == INTRINSIC_PRINTF;
    linked->has_heap |= intrinsic_is_of_heap(step->intrinsic);
    linked->in_order |= depends_on_order(inst) || linked->prints || linked->has_heap;
    linked->has_locks |= inst->mode == MODE_LOCK || inst->mode == MODE_UNLOCK;
    if (inst->guard >= 0) {
        step->guarded = true;
        step->guard_offset = layout->registers[inst->guard].offset;
        step->guard_flip = inst->guard_negated ? UINT32_MAX : 0;
    }
    /* room for the four rows that lane functions may look at */
    const unsigned count = inst->dst_count + inst->src_count;
    const bool in_pairs = has_pairs(inst);
    struct row *rows = ARENA_ARRAY(linker->arena, struct row, count + 4u);
    for (unsigned i = 0; i < inst->dst_count; i++)
        rows[i] = link_operand_row(linker, layout, &inst->dst[i], 0, in_pairs);
    for (unsigned i = 0; i < inst->src_count; i++) {
        const bool clock = inst->src[i].kind == OPERAND_SPECIAL && is_clock(inst->src[i].reg);
        if (clock || (is_memory(inst->op) && i == 0) || inst->op == OP_PREFETCH)
            continue;
        rows[inst->dst_count + i] = link_operand_row(linker, layout, &inst->src[i], source_bytes(inst, i), in_pairs);
    }
    if (inst->op == OP_CP_ASYNC)
        link_copy(linker, layout, step, rows);
    step->rows = rows;
    for (unsigned i = 0; i < 4 && i < count; i++)
        step->base[i] = rows[i].base, step->offset[i] = rows[i].offset;
    if (is_memory(inst->op)) {
        step->access_bytes = (uint8_t)type_bytes(inst->type);
        link_address(linker, layout, step);
    }
    if (inst_is_of_images(inst)) {
        step->access_bytes = (uint8_t)type_bytes(inst->type);
        step->address.space = SPACE_GLOBAL;
        linked->has_images = true;
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
                fits = given && rows[k].bytes == entry->bytes[k] && (!rows[k].negated || k == 3) &&
                       rows[k].is_pair == (entry->is_pair && rows[k].bytes == 8);
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
    link_functions(arena, linked);
    linker.carry = link_frame_row(&linker, 0);
    link_zero_at_start(&linker, &linker.carry);
    for (unsigned i = 0; i < module->function_count; i++)
        if (linked->layouts[i].reachable && !module->functions[i]->registers_of)
            link_registers(&linker, module->functions[i]);
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
