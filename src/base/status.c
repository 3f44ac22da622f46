/* SPDX-License-Identifier: Apache-2.0 */
#include "base/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Hostile input can be wrong in every line; nobody reads more than this. */
enum { MESSAGES_MAX = 2000 };
static const size_t TEXT_MAX = 1 << 20;

static bool reserve(struct report *report, size_t more) {
    size_t need = report->length + more + 1;
    if (need <= report->capacity)
        return true;
    size_t capacity = report->capacity ? report->capacity : 256;
    while (capacity < need)
        capacity *= 2;
    char *text = realloc(report->text, capacity);
    if (!text)
        return false;
    report->text = text;
    report->capacity = capacity;
    return true;
}

enum status report_add_va(struct report *report, enum status code, const char *format, va_list args) {
    if (!report || report->truncated)
        return code;
    va_list measure;
    va_copy(measure, args);
    int formatted = vsnprintf(NULL, 0, format, measure);
    va_end(measure);
    size_t length = formatted > 0 ? (size_t)formatted : 0;
    bool fits = report->messages < MESSAGES_MAX && length < TEXT_MAX - report->length;
    if (!fits || !reserve(report, length + 1)) {
        static const char notice[] = "further messages left out\n";
        report->truncated = true;
        if (reserve(report, sizeof notice)) {
            memcpy(report->text + report->length, notice, sizeof notice);
            report->length += sizeof notice - 1;
        }
        return code;
    }
    vsnprintf(report->text + report->length, length + 1, format, args);
    report->length += length;
    if (length == 0 || report->text[report->length - 1] != '\n') {
        report->text[report->length++] = '\n';
        report->text[report->length] = '\0';
    }
    report->messages++;
    return code;
}

enum status report_add(struct report *report, enum status code, const char *format, ...) {
    va_list args;
    va_start(args, format);
    report_add_va(report, code, format, args);
    va_end(args);
    return code;
}

const char *report_text(const struct report *report) { return report && report->text ? report->text : ""; }

void report_free(struct report *report) {
    free(report->text);
    *report = (struct report){0};
}
