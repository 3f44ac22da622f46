/* SPDX-License-Identifier: Apache-2.0 */
/* PTX that programs hand over in memory or in files, as it is or in a fat binary. */
#ifndef HEDDLE_DRIVER_READ_H
#define HEDDLE_DRIVER_READ_H

#include "cuda/cuda.h"
#include "compile/fatbin.h"

enum { MODULE_BYTES_MIN = 64, MODULE_BYTES_MAX = 1 << 30 };

/* Options of compilers, as cuModuleLoadDataEx is told of them. */
struct jit_options {
    unsigned count;
    const int *keys;
    void **values;
};

/* `bytes` is MODULE_BYTES_MIN at least, or 0: as much as it says itself, or up to its NUL. Native code is refused where none
 * is wished for. The PTX is in the arena or in what was handed over. */
enum cuda_error module_read(const void *data, size_t bytes, const struct fatbin_wish *wish, struct arena *arena,
                            struct fatbin *out, struct report *report);
/* Writes what went wrong where the program wants to read it; "" where nothing did. */
void module_tell(const struct jit_options *options, const char *text);

#endif
