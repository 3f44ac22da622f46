/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer over what programs load by CUDA's driver API: any bytes are PTX, a fat binary or refused; two of them are linked. */
#include <stdlib.h>
#include <string.h>

#include "compile/fatbin.h"
#include "driver/read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena arena = {0};
    struct report report = {0};
    struct fatbin one = {0}, all = {0};
    enum { SMALL = 1 << 20, RAW_AT = 16 + 56, ROOM = 100 };
    uint64_t raw = 0;
    char log[ROOM];
    const int keys[] = {5, 6};
    void *values[] = {log, (void *)(uintptr_t)(size % ROOM)};
    if (size >= RAW_AT + 8)
        memcpy(&raw, data + RAW_AT, 8);
    if (size < MODULE_BYTES_MIN || raw >= SMALL) /* what claims to be large is only large */
        return 0;
    const struct fatbin_wish wish = {.sm = size % 2 ? 86 : 0, .ptx_only = size % 4 > 1};
    if (module_read(data, size, &wish, &arena, &one, &report) == cudaSuccess && !one.is_native) {
        if (strlen(one.ptx) != one.bytes)
            abort();
        for (unsigned i = 0; i < 3; i++)
            if (fatbin_add(&all, i, &one, &arena, &report) || strlen(all.ptx) != all.bytes)
                abort();
    }
    module_tell(&(struct jit_options){2, keys, values}, report_text(&report));
    report_free(&report);
    arena_free(&arena);
    return 0;
}
