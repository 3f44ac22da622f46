/* SPDX-License-Identifier: Apache-2.0 */
/* Floating point of 8 bits: e4m3, which has no infinity and one NaN of each sign, and e5m2, which is the upper half of f16. */
#ifndef HEDDLE_EXEC_EIGHTH_H
#define HEDDLE_EXEC_EIGHTH_H

#include <stdbool.h>
#include <stdint.h>

uint32_t eighth_to_single(bool is_e5m2, uint8_t bits);
/* To nearest even; what is too large, infinities too, becomes the largest finite value (.satfinite). NaN: 0x7f. */
uint8_t eighth_of_single(bool is_e5m2, uint32_t single);

#endif
