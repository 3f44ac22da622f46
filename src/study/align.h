/* SPDX-License-Identifier: Apache-2.0 */
/* Sequences laid side by side so that what is equal in them falls together as often as can be. */
#ifndef HEDDLE_STUDY_ALIGN_H
#define HEDDLE_STUDY_ALIGN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

/* Symbols, each with a weight: what it costs to do it, alone or together. */
struct sequence {
    const uint32_t *symbols;
    uint32_t count;
};

uint64_t sequence_weight(const struct sequence *sequence, const uint32_t *weights);
/* Needleman and Wunsch's alignment where only equal symbols fall together: the lightest sequence, in the arena, that both
 * can be had from by leaving symbols out. weights by symbol. */
struct sequence align_pair(struct arena *arena, const struct sequence *a, const struct sequence *b,
                           const uint32_t *weights);
/* The weight of the lightest that comes of aligning two of them, then two of what there is, until one is left, over all
 * ways to choose the two; with up to four sequences. */
enum { ALIGN_SEQUENCES_MAX = 4 };
uint64_t align_all(const struct sequence *sequences, unsigned count, const uint32_t *weights);

#endif
