/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer over binaries of OpenCL programs: any bytes are one or none, and what is one can be written again. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "opencl/program.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEADER_BYTES = 128, SUM_AT = 16 };

static void read_one(const uint8_t *data, size_t size) {
    struct build build = {.options = "", .log = ""};
    if (binary_read(data, size, &build)) {
        size_t bytes = 0;
        if (!binary_write(&build, build.source, build.source_bytes, &bytes) || bytes != size)
            abort();
    }
    arena_free(&build.arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    read_one(data, size);
    if (size < HEADER_BYTES)
        return 0;
    /* once more with the right checksum, which else ends nearly every try */
    uint8_t *copy = malloc(size);
    char sum[17];
    memcpy(copy, data, size);
    snprintf(sum, sizeof sum, "%016" PRIx64, XXH64(data + HEADER_BYTES, size - HEADER_BYTES, 0));
    memcpy(copy + SUM_AT, sum, 16);
    read_one(copy, size);
    free(copy);
    return 0;
}
