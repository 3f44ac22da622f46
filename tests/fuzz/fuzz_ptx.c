/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes are either a module or a report; never a crash, a leak or a hang. */
#include "ptx/ptx.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct report report = {0};
    struct module *module = NULL;
    enum status status = ptx_load("fuzz.ptx", (const char *)data, size, &module, &report);
    if ((status == STATUS_OK) != (module != NULL) || (status != STATUS_OK && report.messages == 0))
        abort();
    if (module) {
        char text[256];
        for (uint32_t pc = 0; pc < module->code_count; pc++) {
            inst_text(module, &module->code[pc], text, sizeof text);
            const struct inst *inst = &module->code[pc];
            if (inst->op == OP_BRA && inst->target >= module->code_count)
                abort();
            if (!module_function_at(module, pc))
                abort();
        }
        module_free(module);
    }
    report_free(&report);
    return 0;
}
