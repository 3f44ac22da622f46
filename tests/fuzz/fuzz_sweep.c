/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer over sweep files: any bytes are read or refused with a message, and points can be asked for. Nothing is read
 * from the disk. */
#include <stdlib.h>

#include "store/sweep.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena arena = {0};
    struct report report = {0};
    struct sweep sweep;
    const struct sweep_source source = {"fuzz.yaml", 0, NULL};
    if (sweep_parse(&arena, &source, (const char *)data, size, &sweep, &report) == STATUS_OK) {
        const uint64_t step = sweep.numbers / 64 + 1;
        for (uint64_t number = 0; number < sweep.numbers; number += step) {
            struct point point;
            sweep_is_excluded(&sweep, number);
            sweep_label(&sweep, number, &arena);
            sweep_point(&sweep, number, &arena, &point);
        }
    } else if (!report.messages) {
        abort(); /* refused without a word */
    }
    report_free(&report);
    arena_free(&arena);
    return 0;
}
