/* SPDX-License-Identifier: Apache-2.0 */
/* Random operands; nothing of src/ is in the way of what is tested. */
#ifndef HEDDLE_TESTS_RANDOM_BITS_H
#define HEDDLE_TESTS_RANDOM_BITS_H

#include <stdint.h>

static uint64_t random_state = 1;

static uint64_t random_bits(void) { /* splitmix64 */
    uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

#endif
