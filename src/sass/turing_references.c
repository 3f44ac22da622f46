/* SPDX-License-Identifier: Apache-2.0 */
/* Operands of sm_75 to sm_90 in memory, both ways: constants and addresses. */
#include "sass/turing_coder.h"

enum { BIT_UNIFORM = 91, OFFSET_16 = 38, BANK = 54 };

const struct turing_address *turing_address(unsigned id) {
    static const struct turing_address addresses[] = {
#define ADDRESS(id, ...) [TURING_ADDRESS_##id] = {__VA_ARGS__},
#include "sass/turing_words.def"
    };
    return &addresses[id];
}

/* c[bank][R + offset] of LDC: without a register the offset has no sign. */
static void code_indexed(struct turing_coder *coder, struct turing_operand *operand) {
    turing_is(coder, operand, TURING_CONSTANT);
    turing_byte(coder, BANK, 5, &operand->bank);
    turing_byte(coder, 24, 8, &operand->reg);
    if (operand->reg == TURING_RZ)
        turing_unsigned(coder, OFFSET_16, 16, &operand->value);
    else
        turing_signed(coder, OFFSET_16, 16, &operand->value);
}

/* c[bank][offset] or cx[UR][offset] of ULDC; c[bank][UR + offset] */
static void code_uniform(struct turing_coder *coder, const struct turing_place *place, struct turing_operand *operand) {
    const bool is_indexed = place->shape == TURING_SHAPE_CONSTANT_UNIFORM;
    turing_is(coder, operand, TURING_CONSTANT);
    if (!is_indexed)
        turing_flag(coder, BIT_UNIFORM, &operand->bindless);
    operand->uniform = is_indexed || operand->bindless;
    if (operand->uniform)
        turing_byte(coder, 24, 6, &operand->ureg);
    if (!operand->bindless)
        turing_byte(coder, BANK, 5, &operand->bank);
    if (is_indexed)
        turing_signed(coder, OFFSET_16, 16, &operand->value);
    else
        turing_unsigned(coder, OFFSET_16, 16, &operand->value);
    operand->reg = TURING_RZ;
}

static void code_memory(struct turing_coder *coder, const struct turing_place *place, struct turing_operand *operand) {
    const struct turing_address *address = turing_address(place->type);
    turing_is(coder, operand, TURING_MEMORY);
    if (place->type == TURING_ADDRESS_UNIFORM) {
        turing_byte(coder, 24, 6, &operand->ureg);
        operand->uniform = true, operand->reg = TURING_RZ;
    } else {
        turing_byte(coder, 24, 8, &operand->reg);
    }
    if (address->uniform && coder->inst->form != 1) {
        turing_flag(coder, BIT_UNIFORM, &operand->uniform);
        if (operand->uniform) {
            turing_byte(coder, address->uniform, 6, &operand->ureg);
            if (address->wide)
                turing_flag(coder, address->wide, &operand->wide);
            if (address->descriptor && coder->arch != TURING_SM_75)
                turing_flag(coder, address->descriptor, &operand->descriptor);
            if (operand->descriptor && address->hint)
                turing_flag(coder, address->hint, &operand->hint);
        }
    }
    if (address->is_long && !operand->uniform)
        turing_signed(coder, 32, 32, &operand->value);
    else if (address->offset_bits)
        turing_signed(coder, address->offset, address->offset_bits, &operand->value);
    if (address->scaled)
        turing_byte(coder, 78, 2, &operand->select);
}

/* LDGSTS: from global to shared memory. Form 6 has a uniform register in the shared address, and a descriptor in the one
 * behind it; form 7 in the global one. */
static void code_async(struct turing_coder *coder, const struct turing_place *place, struct turing_operand *operand) {
    const bool is_shared = place->shape == TURING_SHAPE_ASYNC_SHARED,
               has_register = is_shared == (coder->inst->form == 6);
    turing_is(coder, operand, TURING_MEMORY);
    turing_byte(coder, is_shared ? 16 : 24, 8, &operand->reg);
    if (is_shared)
        turing_signed(coder, 44, 20, &operand->value);
    else
        turing_signed(coder, 32, 12, &operand->value);
    if (has_register) {
        turing_flag(coder, BIT_UNIFORM, &operand->uniform);
        turing_byte(coder, 64, 6, &operand->ureg);
    }
    if (is_shared)
        return;
    turing_flag(coder, 70, &operand->wide);
    turing_flag(coder, 76, &operand->descriptor);
    if (!has_register && operand->descriptor) {
        uint8_t shared = (uint8_t)(operand->ureg - 1);
        turing_byte(coder, 64, 6, &shared);
        operand->ureg = (uint8_t)(shared + 1);
    }
}

void turing_reference(struct turing_coder *coder, const struct turing_place *place, struct turing_operand *operand) {
    switch ((enum turing_shape)place->shape) {
    case TURING_SHAPE_CONSTANT:
    case TURING_SHAPE_CONSTANT_UNIFORM: code_uniform(coder, place, operand); break;
    case TURING_SHAPE_CONSTANT_INDEXED: code_indexed(coder, operand); break;
    case TURING_SHAPE_MEMORY: code_memory(coder, place, operand); break;
    default: code_async(coder, place, operand); break;
    }
}
