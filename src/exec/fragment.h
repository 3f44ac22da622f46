/* SPDX-License-Identifier: Apache-2.0 */
/* Matrices between the registers of a warp, host arrays and memory. */
#ifndef HEDDLE_EXEC_FRAGMENT_H
#define HEDDLE_EXEC_FRAGMENT_H

#include "exec/state.h"
#include "isa/matrix.h"

/* The registers of one part of a product. */
struct fragment {
    struct exec *exec;
    unsigned warp;
    const struct matrix_form *form;
    const struct row *rows;
    enum matrix_part part;
};

/* Where an element is in its array: by rows, b by columns. */
unsigned fragment_index(const struct matrix_form *form, enum matrix_part part, struct matrix_place place);
void fragment_read(const struct fragment *from, uint64_t *tile);
void fragment_write(const struct fragment *to, const uint64_t *tile);

/* wmma.load and wmma.store. The matrix is as many pieces of its rows (or columns) as a warp has lanes, all of the same size; each lane
 * accesses one. */
struct tile_pieces {
    uint64_t address[LANES_MAX];
    uint32_t bytes, access_bytes; /* of a piece; of the accesses that it consists of, each aligned to its size */
};

/* False: lanes name different matrices. */
bool fragment_pieces(struct exec *exec, unsigned warp, const struct step *step, struct tile_pieces *pieces);
bool fragment_move(struct exec *exec, unsigned warp, const struct step *step);

#endif
