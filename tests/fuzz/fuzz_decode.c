/* SPDX-License-Identifier: Apache-2.0 */
/* Any 64 bits are an instruction with exactly this encoding, whose text reads back as the same, or none. */
#include "native_text.h"

#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const struct native_program fermi = {.isa = NATIVE_FERMI};
    for (uint32_t at = 0; at + 8 <= size && at < 256; at += 8) {
        uint64_t encoding, again;
        struct native_inst inst;
        char text[256], line[512];
        memcpy(&encoding, data + at, sizeof encoding);
        if (!native_decode(encoding, at, &inst))
            continue;
        if (!native_encode(&inst, &again) || again != encoding)
            abort();
        native_inst_text(&fermi, &inst, text, sizeof text);
        snprintf(line, sizeof line, "Function : k\n/*%04x*/ /*0x%08x%08x*/ %s\n", (unsigned)at, (unsigned)encoding,
                 (unsigned)(encoding >> 32), text);
        struct native_program program;
        struct report report = {0};
        /* a target before the kernel has no text that could be read */
        const bool outside = inst.operands[0].kind == NATIVE_TARGET && inst.operands[0].value < 0;
        if (native_parse("fuzz.sass", line, &program, &report) == STATUS_OK)
            native_free(&program);
        else if (!outside)
            abort();
        report_free(&report);
    }
    return 0;
}
