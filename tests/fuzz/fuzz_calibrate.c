/* SPDX-License-Identifier: Apache-2.0 */
/* Measurements of heddle calibrate, and the machine that is made of them. */
#include "machine/machine.h"
#include "study/calibrate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena arena = {0};
    struct report report = {0};
    struct calibrate_values values;
    struct machine base = {0}, made = {0};
    size_t length;
    char *text = arena_copy(&arena, data, size);
    if (machine_open_text(&base, "base", "sm.count: 4\n", 12, &report) == STATUS_OK &&
        calibrate_parse(&arena, "fuzz", text, size, &values, &report) == STATUS_OK) {
        const char *file = calibrate_machine(&arena, &base, &values, &values, &length);
        if (machine_open_text(&made, "made", file, length, &report) == STATUS_OK)
            machine_check(&made, &report);
    }
    machine_close(&made);
    machine_close(&base);
    report_free(&report);
    arena_free(&arena);
    return 0;
}
