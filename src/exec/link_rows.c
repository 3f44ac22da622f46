/* SPDX-License-Identifier: Apache-2.0 */
/* Where the values of a kernel live: rows of its registers, of constants, parameters and special registers. */
#include <string.h>

#include "base/bits.h"
#include "exec/linker.h"
#include "isa/address.h"
#include "isa/analysis.h"

struct row link_frame_row(struct linker *linker, unsigned bytes) {
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

static void spread(uint8_t *row, unsigned bytes, bool is_pair, uint64_t value) {
    if (is_pair) {
        spread(row, 4, false, (uint32_t)value);
        spread(row + 4 * LANES_MAX, 4, false, value >> 32);
        return;
    }
    for (unsigned lane = 0; lane < LANES_MAX; lane++)
        memcpy(row + (size_t)lane * bytes, &value, bytes);
}

static struct row constant_row(struct linker *linker, uint64_t value, unsigned bytes, bool is_pair) {
    for (unsigned i = 0; i < linker->constants.count; i++) {
        const struct known_constant *known = &linker->constants.items[i];
        if (known->value == value && known->bytes == bytes && known->is_pair == is_pair)
            return (struct row){.base = BASE_UNIFORM,
                                .bytes = (uint8_t)bytes,
                                .is_pair = is_pair,
                                .present = true,
                                .offset = known->offset};
    }
    struct row row = uniform_row(linker, bytes);
    row.is_pair = is_pair;
    if (bytes)
        spread(linker->uniform.items + row.offset, bytes, is_pair, value);
    else
        memset(linker->uniform.items + row.offset, value ? 0xff : 0, sizeof(uint32_t));
    struct known_constant *constant = ARENA_PUSH(linker->arena, &linker->constants);
    *constant = (struct known_constant){value, (uint8_t)bytes, is_pair, row.offset};
    return row;
}

void link_zero_at_start(struct linker *linker, const struct row *row) {
    const uint32_t bytes = row->bytes ? row->bytes * LANES_MAX : (uint32_t)sizeof(uint32_t);
    struct zero_range *last = linker->zeros.count ? &linker->zeros.items[linker->zeros.count - 1] : NULL;
    if (last && last->offset + last->bytes == row->offset)
        last->bytes += bytes; /* most do: predicates lie together */
    else
        *ARENA_PUSH(linker->arena, &linker->zeros) = (struct zero_range){row->offset, bytes};
}

unsigned link_register_bytes(enum type type) {
    if (type == TYPE_PRED)
        return 0;
    return type_bytes(type) < 2 ? 2 : type_bytes(type);
}

static void name_registers(uint8_t *named, const struct operand *operands, unsigned count) {
    for (unsigned i = 0; i < count; i++)
        for (unsigned n = 0; n < operand_registers(&operands[i]); n++)
            named[operands[i].reg + n] = 1;
}

/* A byte for each register of the kernel: whether its code, or that of functions that have its registers, names it. Native code has
 * hundreds that it does not. */
static const uint8_t *named_registers(struct linker *linker, const struct function *kernel) {
    const struct module *module = linker->linked->module;
    uint8_t *named = ARENA_ARRAY(linker->arena, uint8_t, kernel->reg_count + 1u);
    for (unsigned i = 0; i < module->function_count; i++) {
        const struct function *function = module->functions[i];
        if (!linker->linked->layouts[i].reachable || (function != kernel && function->registers_of != kernel))
            continue;
        for (uint32_t pc = function->first_pc; pc < function->end_pc; pc++) {
            const struct inst *inst = &module->code[pc];
            if (inst->guard >= 0)
                named[inst->guard] = 1;
            name_registers(named, inst->dst, inst->dst_count);
            name_registers(named, inst->src, inst->src_count);
        }
    }
    return named;
}

/* Rows by width, widest first, so that each is aligned; predicates last. A register that may be read before it is
 * written starts at zero. What a kernel does not name has no row; functions have them all, because they may be saved. */
void link_registers(struct linker *linker, const struct function *function) {
    const uint8_t *named = function == linker->linked->kernel ? named_registers(linker, function) : NULL;
    struct row *rows = ARENA_ARRAY(linker->arena, struct row, function->reg_count);
    static const unsigned widths[] = {8, 4, 2, 0};
    const uint64_t *live = function->cfg ? function->cfg->unwritten : NULL;
    linker->frame_used = (uint32_t)bits_round_up(linker->frame_used, ROW_ALIGNMENT);
    for (unsigned w = 0; w < 4; w++)
        for (uint32_t r = 0; r < function->reg_count; r++) {
            if (link_register_bytes(function->reg_types[r]) != widths[w] || (named && !named[r]))
                continue;
            rows[r] = link_frame_row(linker, widths[w]);
            if (!live || widths[w] == 0 || (live[r / 64] >> (r % 64) & 1))
                link_zero_at_start(linker, &rows[r]);
        }
    linker->linked->layouts[function->index].registers = rows;
}

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
    case SPECIAL_CLUSTERID_X:
    case SPECIAL_CLUSTERID_Y:
    case SPECIAL_CLUSTERID_Z:
    case SPECIAL_CLUSTER_CTAID_X:
    case SPECIAL_CLUSTER_CTAID_Y:
    case SPECIAL_CLUSTER_CTAID_Z:
    case SPECIAL_CLUSTER_CTARANK:
    case SPECIAL_WARPID:
    case SPECIAL_SMID:
        linker->frame_used = (uint32_t)bits_round_up(linker->frame_used, ROW_ALIGNMENT);
        *row = link_frame_row(linker, 4);
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

uint64_t link_symbol_value(const struct linker *linker, const struct symbol *symbol) {
    if (symbol->kind == SYMBOL_FUNCTION)
        return CODE_ADDRESS(symbol->function->first_pc);
    if (symbol->space == SPACE_GLOBAL || symbol->space == SPACE_CONST)
        return linker->image_address + symbol->offset;
    if (symbol->space == SPACE_SHARED && symbol->bytes == 0)
        return bits_round_up(linker->linked->shared_bytes, 16);
    return symbol->offset;
}

bool link_is_in_frame(const struct symbol *symbol) {
    return symbol && symbol->kind == SYMBOL_VARIABLE && (symbol->space == SPACE_LOCAL || symbol->in_frame);
}

struct row link_param_row(struct linker *linker, uint64_t offset, unsigned param_bytes, unsigned bytes,
                          bool is_signed) {
    const struct row row = uniform_row(linker, bytes);
    struct param_row *param = ARENA_PUSH(linker->arena, &linker->params);
    *param = (struct param_row){.row_offset = row.offset,
                                .param_offset = (uint32_t)offset,
                                .param_bytes = (uint8_t)param_bytes,
                                .row_bytes = (uint8_t)bytes,
                                .is_signed = is_signed};
    return row;
}

/* Operands that take the same value take the same row. */
static struct row param_operand(struct linker *linker, uint64_t offset, unsigned bytes, bool is_pair) {
    for (unsigned i = 0; i < linker->params.count; i++) {
        const struct param_row *known = &linker->params.items[i];
        if (known->param_offset == offset && known->param_bytes == bytes && known->row_bytes == bytes &&
            known->is_pair == is_pair)
            return (struct row){.base = BASE_UNIFORM,
                                .bytes = (uint8_t)bytes,
                                .is_pair = is_pair,
                                .present = true,
                                .offset = known->row_offset};
    }
    struct row row = link_param_row(linker, offset, bytes, bytes, false);
    row.is_pair = linker->params.items[linker->params.count - 1].is_pair = is_pair;
    return row;
}

struct row link_operand_row(struct linker *linker, const struct function_layout *layout, const struct operand *operand,
                            unsigned bytes, bool in_pairs) {
    struct row row = {.present = false};
    const bool is_pair = in_pairs && bytes == 8;
    switch ((enum operand_kind)operand->kind) {
    case OPERAND_NONE: return row;
    case OPERAND_REG:
        row = layout->registers[operand->reg];
        row.negated = operand->negated;
        if (operand->is_pair)
            row.bytes = 8, row.is_pair = true;
        return row;
    case OPERAND_IMM:
        return constant_row(linker,
                            operand->symbol
                                ? (link_symbol_value(linker, operand->symbol) + operand->imm) >> operand->reg
                                : operand->imm,
                            bytes, is_pair);
    case OPERAND_SPECIAL: return special_row(linker, operand->reg);
    case OPERAND_PARAM: return param_operand(linker, operand->imm, bytes, is_pair);
    case OPERAND_ADDRESS:
        if (operand->has_reg && !operand->symbol)
            return layout->registers[operand->reg];
        return constant_row(linker, link_symbol_value(linker, operand->symbol) + operand->imm, bytes, is_pair);
    }
    return row;
}
