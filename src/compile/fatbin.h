/* SPDX-License-Identifier: Apache-2.0 */
/* Fat binaries: what nvcc puts into a program for its kernels, PTX and native code for several architectures, each as it is or
 * compressed. Their form is that of nvcc 11 to 13; little-endian. */
#ifndef HEDDLE_COMPILE_FATBIN_H
#define HEDDLE_COMPILE_FATBIN_H

#include "base/arena.h"
#include "base/status.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fatbin_header {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t bytes; /* of all entries */
};

struct fatbin_entry {
    uint16_t kind, version;
    uint32_t header_bytes;
    uint64_t bytes; /* of what follows the header, with padding */
    uint32_t packed_bytes, unused;
    uint16_t minor, major;
    uint32_t arch, name_offset, name_bytes;
    uint64_t flags, unused_too;
    uint64_t raw_bytes; /* of what was compressed */
};

#define FATBIN_MAGIC UINT32_C(0xba55ed50)
enum { FATBIN_PTX = 1, FATBIN_CUBIN = 2, FATBIN_LZ4 = 0x2000, FATBIN_ZSTD = 0x8000 };

/* ---- written ---- */

/* A fat binary of one PTX text, as it is, in the arena. arch: 75 for sm_75. */
char *fatbin_write(struct arena *arena, const char *ptx, unsigned arch, size_t *bytes);

/* ---- read ---- */

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
/* Whether a GPU of `sm` runs native code of `code`: of the same major and the same or a lower minor number. */
static inline bool sm_runs(unsigned sm, unsigned code) { return code / 10 == sm / 10 && code <= sm; }

/* ---- several of them, compiled to be linked (nvcc -rdc=true), become one module ---- */

/* Puts the PTX of one more file behind what is there, `number` of them (0: nothing yet), as one text in the arena. */
enum status fatbin_add(struct fatbin *out, unsigned number, const struct fatbin *next, struct arena *arena,
                       struct report *report);
/* The PTX of all of them, up to the NULL behind the last, as one text in the arena; of a single one its native code where that is wished for. */
enum status fatbin_join(const void *const *fatbins, const struct fatbin_wish *wish, struct arena *arena,
                        struct fatbin *out, struct report *report);

#endif
