/* SPDX-License-Identifier: Apache-2.0 */
/* Which of a power of two of sets (or banks, or slices) a number falls in. */
#ifndef HEDDLE_MEM_SET_INDEX_H
#define HEDDLE_MEM_SET_INDEX_H

#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"

/* All but linear are XORs of bits, and over any aligned run of as many numbers as there are sets name each set once.
 * xor: the bits above the index folded on once. fermi: measured on that GPU, "A detailed GPU cache model based on reuse
 * distance theory", Nugteren, HPCA 2014; 32 or 64 sets. polynomial: remainder by an irreducible polynomial over GF(2),
 * "Pseudo-randomly interleaved memory", Rau, ISCA 1991; up to 65536 sets. */
enum set_function { SET_LINEAR, SET_XOR, SET_FERMI, SET_POLYNOMIAL };

struct set_index {
    enum set_function function;
    uint32_t count, bits;
    const uint16_t *fold; /* polynomial: remainder of v * x^bits */
};

/* `count` is a power of two; refuses one that the function is not known for, naming `name`.set_index. */
enum status set_index_create(struct set_index *index, struct arena *arena, enum set_function function, uint32_t count,
                             const char *name, struct report *report);
/* digit * x^bits modulo the polynomial of that degree, 1 to 16. */
uint32_t set_index_fold(unsigned bits, uint32_t digit);
uint32_t set_index_of(const struct set_index *index, uint64_t number);

#endif
