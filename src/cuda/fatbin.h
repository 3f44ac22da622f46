/* SPDX-License-Identifier: Apache-2.0 */
/* Fat binaries: what nvcc puts into a program for its kernels, PTX and native code for several architectures, each as it is or
 * compressed. */
#ifndef HEDDLE_CUDA_FATBIN_H
#define HEDDLE_CUDA_FATBIN_H

#include "base/arena.h"
#include "base/status.h"
#include <stdint.h>

struct fatbin {
    const char *ptx; /* ends with a NUL; is_native: a cubin */
    size_t bytes;
    unsigned arch; /* 75: PTX for sm_75 */
    bool is_native;
};

/* What the device runs: PTX; or, where `sm` is not 0, native code of it, which PTX can become too. */
struct fatbin_wish {
    unsigned sm;
    bool ptx_only; /* native code that is there is still to be linked */
};

/* How much a fat binary takes by its own account; 0: it is none. */
size_t fatbin_bytes(const void *data);
/* The architecture of the PTX that fatbin_read would give; 0: it would give none. */
unsigned fatbin_arch(const void *data, size_t bytes);
/* The PTX that suits best: of those for architectures up to FATBIN_ARCH the highest, else the lowest; in the arena. Where native code is wished
 * for: that of the same major and the highest minor up to it, else PTX for the highest architecture up to it. Whatever is wrong is reported,
 * as native code is that has no PTX beside it. */
enum { FATBIN_ARCH = 75 };
enum status fatbin_read(const void *data, size_t bytes, const struct fatbin_wish *wish, struct arena *arena,
                        struct fatbin *out, struct report *report);
/* Whether a GPU of `sm` runs native code of `arch`. */
bool fatbin_runs(unsigned sm, unsigned arch);

#endif
