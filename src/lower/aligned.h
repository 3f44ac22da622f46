/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of the low bits of the registers of a legal body: from variables' places, pointers' alignments and arithmetic. */
#ifndef HEDDLE_LOWER_ALIGNED_H
#define HEDDLE_LOWER_ALIGNED_H

#include "lower/body.h"

enum { ALIGNED_BITS = 4 }; /* 16 bytes are the widest access */

/* A word whose lowest `bits` bits are those of `rest`. */
struct low_bits {
    uint8_t bits, rest;
};

/* By register of the body: what holds wherever it is read. */
struct low_bits *aligned_find(const struct body *body, struct arena *arena);

#endif
