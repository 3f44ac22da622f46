/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer over CUDA's fat binaries: any bytes are one or none, and PTX that comes out of one ends where it says. */
#include <stdlib.h>
#include <string.h>

#include "compile/fatbin.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena arena = {0};
    struct report report = {0};
    struct fatbin out = {0};
    enum { SMALL = 1 << 20, HEADER = 16, RAW_AT = 16 + 56 };
    uint64_t raw = 0;
    if (size >= RAW_AT + 8)
        memcpy(&raw, data + RAW_AT, 8);
    if (raw < SMALL) { /* what claims to be large is only large */
        static const struct fatbin_wish wishes[] = {{0, false}, {86, false}, {86, true}};
        for (unsigned i = 0; i < sizeof wishes / sizeof *wishes; i++)
            if (fatbin_read(data, size, &wishes[i], &arena, &out, &report) == STATUS_OK &&
                (out.is_native ? !wishes[i].sm || wishes[i].ptx_only : strlen(out.ptx) != out.bytes))
                abort();
    }
    if (size >= HEADER)
        fatbin_bytes(data);
    report_free(&report);
    arena_free(&arena);
    return 0;
}
