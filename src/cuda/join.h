/* SPDX-License-Identifier: Apache-2.0 */
/* Files of device code that were compiled to be linked (nvcc -rdc=true) become one module: their PTX one after another. */
#ifndef HEDDLE_CUDA_JOIN_H
#define HEDDLE_CUDA_JOIN_H

#include "cuda/fatbin.h"

/* The PTX of all of them, up to the NULL behind the last, as one text in the arena. */
enum status join_fatbins(const void *const *fatbins, struct arena *arena, struct fatbin *out, struct report *report);

#endif
