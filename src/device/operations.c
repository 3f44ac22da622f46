/* SPDX-License-Identifier: Apache-2.0 */
#include "device/operations.h"

#include <stddef.h>

/* By type: integers, floating point, f64. */
enum { OF_INTEGERS, OF_FLOATS, OF_DOUBLES, OF_TYPES };
#define LANES(field) offsetof(struct run_stats, lanes_##field)

/* Where lanes of a class are counted; memory has its own counters. */
static const size_t counters[CLASS_MEMORY][OF_TYPES] = {
    [CLASS_ADD] = {LANES(int_add), LANES(fp_add), LANES(dp)},
    [CLASS_MINMAX] = {LANES(int_add), LANES(fp_add), LANES(dp)},
    [CLASS_MUL] = {LANES(int_mul), LANES(fp_mul), LANES(dp)},
    [CLASS_MAD] = {LANES(int_mad), LANES(fp_mad), LANES(dp)},
    [CLASS_DIV] = {LANES(int_div), LANES(fp_div), LANES(dp_div)},
    [CLASS_SPECIAL] = {LANES(sfu), LANES(sfu), LANES(dp_div)},
    [CLASS_LOGIC] = {LANES(logic), LANES(logic), LANES(logic)},
    [CLASS_CVT] = {LANES(logic), LANES(cvt), LANES(cvt)},
    [CLASS_WARP] = {LANES(shuffle), LANES(shuffle), LANES(shuffle)},
    [CLASS_TRAVERSE] = {LANES(int_add), LANES(int_add), LANES(int_add)},
    [CLASS_TENSOR] = {LANES(int_mad), LANES(fp_mad), LANES(dp)},
};

static unsigned type_of(const struct inst *inst, enum op_class class) {
    if (!type_is_float((enum type)inst->type) && !(class == CLASS_CVT && type_is_float((enum type)inst->stype)))
        return OF_INTEGERS;
    return inst->type == TYPE_F64 || inst->stype == TYPE_F64 ? OF_DOUBLES : OF_FLOATS;
}

/* Predicates are no part of the register file. */
static unsigned words_of(const struct function *function, uint32_t reg) {
    const struct function *owner = function->registers_of ? function->registers_of : function;
    const enum type type = (enum type)owner->reg_types[reg];
    return type == TYPE_PRED ? 0 : (type_bytes(type) + 3) / 4;
}

/* A register that is several operands is read once. */
static unsigned words_read(const struct function *function, const struct inst *inst) {
    unsigned words = 0;
    for (unsigned i = 0; i < inst->src_count; i++) {
        const struct operand *source = &inst->src[i];
        bool before = false;
        for (unsigned k = 0; k < i; k++)
            before |= operand_registers(&inst->src[k]) && inst->src[k].reg == source->reg;
        if (operand_registers(source) && !before)
            words += words_of(function, source->reg) * operand_registers(source);
    }
    return words;
}

void operations_add(struct run_stats *stats, const struct function *function, const struct inst *inst,
                    uint64_t threads) {
    const enum op_class class = op_class((enum op)inst->op);
    if (class < CLASS_MEMORY)
        *(uint64_t *)(void *)((char *)stats + counters[class][type_of(inst, class)]) += threads;
    unsigned words = words_read(function, inst);
    for (unsigned i = 0; i < inst->dst_count; i++)
        if (inst->dst[i].kind == OPERAND_REG)
            words += words_of(function, inst->dst[i].reg);
    stats->register_words += threads * words;
}
