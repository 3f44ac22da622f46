/* SPDX-License-Identifier: Apache-2.0 */
#include "isa/matrix.h"

static const struct matrix_form forms[] = {
#define MMA(m, n, k, d, a, b, c, options) {m, n, k, MATRIX_##d, MATRIX_##a, MATRIX_##b, MATRIX_##c, options},
#include "isa/matrix.def"
#undef MMA
};

static const struct {
    const char *name;
    uint8_t bits;
} elements[MATRIX_COUNT] = {
    [MATRIX_F16] = {"f16", 16}, [MATRIX_BF16] = {"bf16", 16}, [MATRIX_TF32] = {"tf32", 32}, [MATRIX_F32] = {"f32", 32},
    [MATRIX_F64] = {"f64", 64}, [MATRIX_E4M3] = {"e4m3", 8},  [MATRIX_E5M2] = {"e5m2", 8},  [MATRIX_S8] = {"s8", 8},
    [MATRIX_U8] = {"u8", 8},    [MATRIX_S4] = {"s4", 4},      [MATRIX_U4] = {"u4", 4},      [MATRIX_B1] = {"b1", 1},
    [MATRIX_S32] = {"s32", 32},
};

unsigned matrix_form_count(void) { return sizeof forms / sizeof *forms; }
const struct matrix_form *matrix_form(unsigned index) { return &forms[index]; }
const char *matrix_element_name(enum matrix_element element) { return elements[element].name; }
unsigned matrix_element_bits(enum matrix_element element) { return elements[element].bits; }

enum matrix_element matrix_element_of(const struct matrix_form *form, enum matrix_part part) {
    const uint8_t of[] = {[PART_D] = form->d, [PART_A] = form->a, [PART_B] = form->b, [PART_C] = form->c};
    return (enum matrix_element)of[part];
}

unsigned matrix_per_register(const struct matrix_form *form, enum matrix_part part) {
    const unsigned bits = matrix_element_bits(matrix_element_of(form, part));
    return bits == 64 ? 1 : 32 / bits;
}

unsigned matrix_depth(const struct matrix_form *form) { return form->options & MATRIX_SPARSE ? form->k / 2 : form->k; }

/* [PTX ISA, sparse mma; who holds which bits: recalled, and as CUTLASS orders metadata] */
struct matrix_sparsity matrix_sparsity(const struct matrix_form *form) {
    const unsigned bits = matrix_element_bits((enum matrix_element)form->a);
    const unsigned group = bits == 32 ? 2 : bits == 4 ? 8 : 4;
    const unsigned metadata = form->k / group * 4 * form->m; /* bits */
    return (struct matrix_sparsity){.group = group, .threads = metadata / (LANES_MAX / 4 * 32), .by_rows = bits < 16};
}

unsigned matrix_rows(const struct matrix_form *form, enum matrix_part part) {
    return part == PART_B ? form->k : form->m;
}

unsigned matrix_columns(const struct matrix_form *form, enum matrix_part part) {
    return part == PART_A ? matrix_depth(form) : form->n;
}

unsigned matrix_distinct(const struct matrix_form *form, enum matrix_part part) {
    const unsigned lanes = form->options & MATRIX_QUADS ? LANES_MAX / MATRIX_QUAD_COUNT : LANES_MAX;
    return matrix_rows(form, part) * matrix_columns(form, part) / (lanes * matrix_per_register(form, part));
}

unsigned matrix_registers(const struct matrix_form *form, enum matrix_part part) {
    enum { WMMA_HALVES = 8 };
    const bool is_fixed = form->options & MATRIX_WMMA && form->a == MATRIX_F16 && (part == PART_A || part == PART_B);
    return is_fixed ? WMMA_HALVES : matrix_distinct(form, part);
}

unsigned matrix_group_registers(const struct matrix_form *form, unsigned columns) {
    return matrix_registers(form, PART_D) * columns;
}

/* Blocks of 8 rows (of b: columns), a row for every four lanes, whose registers lie side by side. */
struct matrix_place matrix_place(const struct matrix_form *form, enum matrix_part part, unsigned lane, unsigned reg) {
    const unsigned each = matrix_per_register(form, part), group = lane / 4, within = lane % 4;
    if (part == PART_A) {
        const unsigned blocks = form->m / 8u;
        return (struct matrix_place){group + 8 * (reg % blocks), (reg / blocks * 4 + within) * each};
    }
    if (part == PART_B) {
        const unsigned blocks = form->k / (4 * each);
        return (struct matrix_place){(reg % blocks * 4 + within) * each, group + 8 * (reg / blocks)};
    }
    /* two neighbours of a row to a lane, in one register or in two */
    const unsigned blocks = form->m / 8u, pair = reg * each / 2;
    return (struct matrix_place){group + 8 * (pair % blocks), 8 * (pair / blocks) + 2 * within + reg * each % 2};
}

struct matrix_place matrix_place_in_quad(const struct matrix_form *form, enum matrix_part part, unsigned layout,
                                         unsigned lane, unsigned i) {
    const unsigned own = lane % 4, upper = lane < 16 ? 0 : 4;
    if (part == PART_A)
        return layout & LAYOUT_A_COLUMNS ? (struct matrix_place){i + upper, own}
                                         : (struct matrix_place){own + upper, i};
    if (part == PART_B)
        return layout & LAYOUT_B_ROWS ? (struct matrix_place){own, i + upper} : (struct matrix_place){i, own + upper};
    if (matrix_element_of(form, part) == MATRIX_F16)
        return (struct matrix_place){own + upper, i};
    return (struct matrix_place){(lane & 1) + (i & 2) + upper, (i & 4) + (lane & 2) + (i & 1)};
}
