/* Works around errors of LLVM's NVPTX back end by rewriting the IR it is given. */
#ifndef HEDDLE_DEVICE_COMPILE_REPAIR_H
#define HEDDLE_DEVICE_COMPILE_REPAIR_H

#include "base/arena.h"

/* The IR, in text form, with what LLVM 19 gets wrong said otherwise; `ir` itself when there is nothing of the kind. */
const char *repair_ir(struct arena *arena, const char *ir);

#endif
