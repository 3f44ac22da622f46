/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a cubin: a module or a report; what was read is written, read again and the same. Words of sm_75 to sm_90 that
 * were read are encoded as they were. */
#include "native_text.h"
#include "sass/cubin.h"
#include "translate/load.h"
#include "sass/turing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void load(const uint8_t *data, size_t size) {
    struct report report = {0};
    struct module *module = NULL;
    const enum status status = cubin_load("fuzz.cubin", (const char *)data, size, &module, &report);
    fuzz_module(status, module, &report);
}

static void encode_again(const struct native_program *program) {
    for (unsigned i = 0; program->isa == NATIVE_TURING && i < program->kernel_count; i++)
        for (uint32_t k = 0; k < program->kernels[i].code_count; k++) {
            const struct turing_word word = program->kernels[i].words[k];
            struct turing_word again;
            struct turing_inst inst;
            if (!turing_decode(word, program->sm, k * TURING_INST_BYTES, &inst, NULL) ||
                !turing_encode(&inst, program->sm, &again, NULL) || word.low != again.low || word.high != again.high)
                abort();
        }
}

static void write_again(const uint8_t *data, size_t size) {
    struct report report = {0};
    struct native_program first = {0}, second = {0};
    struct arena arena = {0};
    uint8_t *bytes;
    size_t length;
    if (cubin_read("fuzz.cubin", data, size, &first, &report) == STATUS_OK) {
        const char *printed = native_print(&first, true, &arena);
        encode_again(&first);
        if (cubin_write(&first, &arena, &bytes, &length, &report) == STATUS_OK) {
            if (cubin_read("again.cubin", bytes, length, &second, &report) != STATUS_OK)
                abort();
            if (strcmp(native_print(&second, true, &arena), printed) != 0)
                abort();
            native_free(&second);
        }
        native_free(&first);
    }
    arena_free(&arena);
    report_free(&report);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    load(data, size);
    write_again(data, size);
    return 0;
}
