/* SPDX-License-Identifier: Apache-2.0 */
/* The arithmetic of tensor units: d = a * b + c of small matrices, in integers only. */
#ifndef HEDDLE_EXEC_TENSOR_H
#define HEDDLE_EXEC_TENSOR_H

#include "isa/matrix.h"

/* How a unit adds up, by architecture; docs/model.md says whose findings these are and how far they go. */
enum tensor_sum { TENSOR_VOLTA, TENSOR_TURING, TENSOR_AMPERE, TENSOR_HOPPER, TENSOR_CHAIN };

/* Elements as bits in the low end; a and d by rows, b by columns, so that a row and a column of k elements each lie side by side. */
struct tensor_tile {
    uint8_t place[MATRIX_PLACES_MAX]; /* of MATRIX_SPARSE: for each element of a, where in k it lies */
    uint64_t a[MATRIX_A_MAX], b[MATRIX_B_MAX], c[MATRIX_C_MAX], d[MATRIX_C_MAX];
};

/* How to do it, besides the form: what the instruction and the machine say. */
struct tensor_rule {
    enum tensor_sum sum;
    bool saturates, is_and; /* is_and: of MATRIX_BITS; else xor */
    enum rounding rounding; /* of f64 */
};

void tensor_multiply(const struct matrix_form *form, const struct tensor_rule *rule, struct tensor_tile *tile);

#endif
