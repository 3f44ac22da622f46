/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer over result files of others: any bytes are compared and drawn, or refused with a message. */
#include "result/compare.h"
#include "result/plot_results.h"
#include "memory_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const values[] = {"ipc", "active_lanes", NULL};
    struct arena arena = {0};
    struct report report = {0};
    struct memory_file file;
    struct comparison comparison;
    memory_file_make(&file, data, size);
    const char *const paths[] = {file.path, file.path};
    if (compare_read(&arena, paths, 2, &comparison, &report) == STATUS_OK)
        compare_find(&comparison, "cycles");
    else if (!report.messages)
        abort(); /* refused without a word */
    for (unsigned i = 0; values[i]; i++) {
        const char *const one[] = {values[i], NULL};
        struct plot plot = {0};
        size_t length = 0;
        if (plot_results(&arena, paths, 2, one, &plot, &report) == STATUS_OK)
            plot_svg(&plot, &arena, &length);
    }
    close(file.fd);
    report_free(&report);
    arena_free(&arena);
    return 0;
}
