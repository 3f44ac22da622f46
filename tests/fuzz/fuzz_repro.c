/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer over experiment files: any bytes are read or refused with a message. Nothing is read from the disk. */
#include <stdlib.h>

#include "repro/experiment.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena arena = {0};
    struct report report = {0};
    struct experiment experiment = {.arena = &arena, .size = "test"};
    if (experiment_parse(&experiment, "F1.yaml", (const char *)data, size, &report) != STATUS_OK && !report.messages)
        abort(); /* refused without a word */
    report_free(&report);
    arena_free(&arena);
    return 0;
}
