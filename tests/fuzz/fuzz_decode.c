/* SPDX-License-Identifier: Apache-2.0 */
/* Any 64 bits are an instruction with exactly this encoding, whose text reads back as the same, or none: of Fermi, and of Tesla,
 * where they may be 32. So are any 128 bits of sm_75 to sm_90, but for the text, which is only written. */
#include "native_text.h"
#include "sass/turing.h"

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

static void decode_wide(struct turing_word word, uint32_t at) {
    static const unsigned sms[] = {75, 80, 86, 89, 90};
    for (unsigned i = 0; i < sizeof sms / sizeof *sms; i++) {
        struct turing_inst inst;
        struct turing_word again;
        char text[256], reason[160];
        struct text_line line = {.text = text, .size = sizeof text}, why = {.text = reason, .size = sizeof reason};
        if (!turing_decode(word, sms[i], at, &inst, &why)) {
            if (!why.length)
                abort();
            continue;
        }
        turing_print(&inst, &line);
        turing_print_control(&inst.control, &line);
        if (!turing_encode(&inst, sms[i], &again, NULL) || again.low != word.low || again.high != word.high)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    for (uint32_t at = 0; at + 8 <= size && at < 256; at += 8) {
        uint64_t encoding;
        memcpy(&encoding, data + at, sizeof encoding);
        decode(NATIVE_FERMI, encoding, at);
        decode(NATIVE_TESLA, encoding, at);
    }
    for (uint32_t at = 0; at + 16 <= size && at < 256; at += 16) {
        struct turing_word word;
        memcpy(&word, data + at, sizeof word);
        decode_wide(word, at);
    }
    return 0;
}
