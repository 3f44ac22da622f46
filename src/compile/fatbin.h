/* SPDX-License-Identifier: Apache-2.0 */
/* The form of fat binaries: what a CUDA program carries for its kernels. As nvcc 11 to 13 write them; little-endian. */
#ifndef HEDDLE_COMPILE_FATBIN_H
#define HEDDLE_COMPILE_FATBIN_H

#include "base/arena.h"
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

/* A fat binary of one PTX text, as it is, in the arena. arch: 75 for sm_75. */
char *fatbin_write(struct arena *arena, const char *ptx, unsigned arch, size_t *bytes);

#endif
