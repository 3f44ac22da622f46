/* SPDX-License-Identifier: Apache-2.0 */
/* Files of device code that were compiled to be linked (nvcc -rdc=true) become one module: their PTX one after another. */
#ifndef HEDDLE_CUDA_JOIN_H
#define HEDDLE_CUDA_JOIN_H

#include "cuda/fatbin.h"

/* Puts the PTX of one more file behind what is there, `number` of them (0: nothing yet), as one text in the arena. */
enum status join_add(struct fatbin *out, unsigned number, const struct fatbin *next, struct arena *arena,
                     struct report *report);
/* The PTX of all of them, up to the NULL behind the last, as one text in the arena; of a single one its native code where that is wished for. */
enum status join_fatbins(const void *const *fatbins, const struct fatbin_wish *wish, struct arena *arena,
                         struct fatbin *out, struct report *report);

#endif
