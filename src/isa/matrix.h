/* SPDX-License-Identifier: Apache-2.0 */
/* Matrices that the lanes of a warp hold together: which products there are, and which lane has which element. */
#ifndef HEDDLE_ISA_MATRIX_H
#define HEDDLE_ISA_MATRIX_H

#include "isa/inst.h"

/* clang-format off */
enum matrix_element {
    MATRIX_F16, MATRIX_BF16, MATRIX_TF32, MATRIX_F32, MATRIX_F64,
    MATRIX_E4M3, MATRIX_E5M2, MATRIX_S8, MATRIX_U8, MATRIX_S4, MATRIX_U4, MATRIX_B1, MATRIX_S32,
    MATRIX_COUNT
};
/* clang-format on */

enum matrix_option {
    MATRIX_SAT = 1,
    MATRIX_BITS = 2,
    MATRIX_ROUNDS = 4,
    MATRIX_QUADS = 8,
    MATRIX_WMMA = 16,
    MATRIX_SPARSE = 32,
    MATRIX_GROUP = 64
};

/* Elements of a, of b, of c and d at most. */
enum {
    MATRIX_A_MAX = 16 * 256,
    MATRIX_B_MAX = 8 * 256,
    MATRIX_C_MAX = 16 * 16,
    MATRIX_PLACES_MAX = 16 * 64,
    MATRIX_QUAD_COUNT = 4
};

/* A row of matrix.def. */
struct matrix_form {
    uint16_t m, n, k;
    uint8_t d, a, b, c; /* enum matrix_element */
    uint8_t options;    /* enum matrix_option */
};

enum matrix_part { PART_D, PART_A, PART_B, PART_C };

/* Bits of inst->layout: what does not lie as it does by default; of wmma.load and wmma.store, the matrix in memory, by columns,
 * and behind them which part (enum matrix_part). */
enum { LAYOUT_A_COLUMNS = 1, LAYOUT_B_ROWS = 2, LAYOUT_COLUMNS = 1, LAYOUT_PART_SHIFT = 2 };
/* And of wgmma: a is in shared memory, elements are taken times -1, and neighbours in memory are of the same k. */
enum { LAYOUT_A_SHARED = 1, LAYOUT_NEGATES_A = 2, LAYOUT_NEGATES_B = 4, LAYOUT_A_MN = 8, LAYOUT_B_MN = 16 };

/* Of MATRIX_SPARSE: a has half of the elements of each group of k, whose places the metadata name in four bits a group. */
struct matrix_sparsity {
    unsigned group;   /* elements of k in one */
    unsigned threads; /* of every four lanes that hold metadata: all the selector does not name are ignored */
    bool
        by_rows; /* a thread's 32 bits are of one row; else the lower half is of row l / 4, the upper one of that plus 8 */
};

struct matrix_place {
    unsigned row, column;
};

unsigned matrix_form_count(void);
const struct matrix_form *matrix_form(unsigned index); /* that of inst->matrix */
const char *matrix_element_name(enum matrix_element element);
unsigned matrix_element_bits(enum matrix_element element);
enum matrix_element matrix_element_of(const struct matrix_form *form, enum matrix_part part);
/* Elements of a in a row: k, or half of it where a is sparse. */
unsigned matrix_depth(const struct matrix_form *form);
struct matrix_sparsity matrix_sparsity(const struct matrix_form *form);
unsigned matrix_rows(const struct matrix_form *form, enum matrix_part part);
unsigned matrix_columns(const struct matrix_form *form, enum matrix_part part);
/* Registers of a lane that hold its part: of 64 bits for f64, else of 32. */
unsigned matrix_registers(const struct matrix_form *form, enum matrix_part part);
/* Of wgmma: those of d, for so many times eight columns. */
unsigned matrix_group_registers(const struct matrix_form *form, unsigned columns);
/* So many of them differ; the others hold the same again: a and b of wmma of f16 always take 8. */
unsigned matrix_distinct(const struct matrix_form *form, enum matrix_part part);
unsigned matrix_per_register(const struct matrix_form *form, enum matrix_part part);
/* Where the first element of a lane's register lies; further ones of the register follow in the same row of a, c, d and in the same column
 * of b. Not of MATRIX_QUADS. [PTX ISA, matrix fragments for mma] Fragments of wmma are ours, for PTX leaves them open: those of mma, of tiles
 * of eight rows (b: columns), one behind the other. */
struct matrix_place matrix_place(const struct matrix_form *form, enum matrix_part part, unsigned lane, unsigned reg);
/* Of MATRIX_QUADS: the i-th element of the lane's part, in the matrix of its quad pair, which is (lane % 16) / 4. */
struct matrix_place matrix_place_in_quad(const struct matrix_form *form, enum matrix_part part, unsigned layout,
                                         unsigned lane, unsigned i);

#endif
