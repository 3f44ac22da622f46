/* SPDX-License-Identifier: Apache-2.0 */
/* A listing is a module or a report; what was read is written, read again and written the same. */
#ifndef HEDDLE_TESTS_NATIVE_TEXT_H
#define HEDDLE_TESTS_NATIVE_TEXT_H

#include <stdlib.h>
#include <string.h>

#include "isa/analysis.h"
#include "sass/native.h"
#include "translate/load.h"

/* What came of loading: a module or a report, jumps that lead into it, and an analysis that says why where it fails. */
static inline void fuzz_module(enum status status, struct module *module, struct report *report) {
    if ((status == STATUS_OK) != (module != NULL) || (status != STATUS_OK && report->messages == 0))
        abort();
    if (module) {
        char line[256];
        for (uint32_t pc = 0; pc < module->code_count; pc++) {
            inst_text(module, &module->code[pc], line, sizeof line);
            if (inst_jumps(&module->code[pc]) && module->code[pc].target >= module->code_count)
                abort();
        }
        if (analyse(module, report) != STATUS_OK && report->messages == 0)
            abort();
        module_free(module);
    }
    report_free(report);
}

static inline void fuzz_listing(const char *text, size_t length) {
    struct report report = {0};
    struct module *module = NULL;
    const enum status status = native_load("fuzz.sass", text, length, &module, &report);
    fuzz_module(status, module, &report);
}

static inline void fuzz_print(const char *text) {
    struct report report = {0};
    struct native_program first, second;
    struct arena arena = {0};
    if (native_parse("fuzz.sass", text, &first, &report) == STATUS_OK) {
        const char *printed = native_print(&first, true, &arena);
        if (native_parse("again.sass", printed, &second, &report) != STATUS_OK)
            abort();
        if (strcmp(native_print(&second, true, &arena), printed) != 0)
            abort();
        native_free(&second);
        native_free(&first);
    }
    arena_free(&arena);
    report_free(&report);
}

/* The bytes as text behind a header, NUL-terminated. */
static inline void fuzz_text(const char *header, const uint8_t *data, size_t size) {
    const size_t start = strlen(header);
    char *text = malloc(start + size + 1);
    if (!text)
        return;
    memcpy(text, header, start);
    memcpy(text + start, data, size);
    text[start + size] = '\0';
    fuzz_listing(text, start + size);
    fuzz_print(text);
    free(text);
}

#endif
