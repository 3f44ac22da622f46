/* SPDX-License-Identifier: Apache-2.0 */
/* Any 64 bits are an instruction with exactly this encoding, whose text reads back as the same, or none: of Fermi, and of Tesla,
 * where they may be 32. */
#include "native_text.h"

#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void decode(enum native_isa isa, uint64_t encoding, uint32_t at) {
    const struct native_program of = {.isa = isa};
    uint64_t again;
    struct native_inst inst;
    char text[256], line[512];
    if (!native_decode(isa, encoding, at, &inst))
        return;
    if (inst.bytes == 4)
        encoding &= UINT32_MAX;
    if (!native_encode(isa, &inst, &again) || again != encoding)
        abort();
    native_inst_text(&of, &inst, text, sizeof text);
    char digits[24];
    snprintf(digits, sizeof digits, inst.bytes == 4 ? "%08x" : "%08x%08x", (unsigned)encoding,
             (unsigned)(encoding >> 32));
    snprintf(line, sizeof line, "code for sm_%u\nFunction : k\n/*%04x*/ /*0x%s*/ %s\n", isa == NATIVE_FERMI ? 20 : 13,
             (unsigned)at, digits, text);
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    for (uint32_t at = 0; at + 8 <= size && at < 256; at += 8) {
        uint64_t encoding;
        memcpy(&encoding, data + at, sizeof encoding);
        decode(NATIVE_FERMI, encoding, at);
        decode(NATIVE_TESLA, encoding, at);
    }
    return 0;
}
