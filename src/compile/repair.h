/* SPDX-License-Identifier: Apache-2.0 */
/* Works around errors and limits of LLVM's NVPTX back end by rewriting the IR it is given. */
#ifndef HEDDLE_COMPILE_REPAIR_H
#define HEDDLE_COMPILE_REPAIR_H

#include <stddef.h>

#include "base/arena.h"

/* The IR, in text form, with what LLVM 19 gets wrong, or clang cannot say, said otherwise; `ir` itself when there is nothing of the kind. */
const char *repair_ir(struct arena *arena, const char *ir);

/* ---- its parts ---- */

struct repair_text {
    char *items;
    unsigned count, capacity;
};
void repair_text_add(struct arena *arena, struct repair_text *text, const char *more, size_t length);
/* Vectors of two bytes that calls pass and return (repair_pairs.c). */
const char *repair_pairs(struct arena *arena, const char *ir);
/* Kernels that are called (repair_kernels.c). */
const char *repair_kernel_calls(struct arena *arena, const char *ir);

#endif
