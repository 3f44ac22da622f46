/* SPDX-License-Identifier: Apache-2.0 */
/* What a kernel's source says about its arguments, taken from LLVM IR in text form. */
#ifndef HEDDLE_COMPILE_METADATA_H
#define HEDDLE_COMPILE_METADATA_H

#include "compile/compile.h"

/* The lines of IR that metadata_parse needs, a few hundred bytes that can be kept beside the PTX. */
char *metadata_extract(struct arena *arena, const char *ir);
/* Kernels in the order of the source. IR is trusted no further than its own text: what cannot be read is left out. */
void metadata_parse(struct arena *arena, const char *ir, struct compiled *out);
/* Kernels named by .entry directives, without arguments: for CUDA. */
void metadata_from_ptx(struct arena *arena, const char *ptx, struct compiled *out);

#endif
