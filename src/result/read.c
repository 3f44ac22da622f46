/* SPDX-License-Identifier: Apache-2.0 */
#include "result/read.h"

#include <string.h>

#include "base/file.h"
#include "result/result.h"
#include "result/layout.h"

enum { FILE_LIMIT_BYTES = 1 << 30 };

enum status result_load(struct arena *arena, const char *path, json_t **out, struct report *report) {
    char *text = NULL;
    size_t length = 0;
    const enum status status = file_read_input(path, FILE_LIMIT_BYTES, arena, &text, &length, report);
    if (status)
        return status;
    if (result_check_seal(text, length) == RESULT_ALTERED)
        return report_add(
            report, STATUS_INVALID,
            "%s: damaged or altered since it was written: it does not have the checksum that stands at its "
            "end",
            path);
    json_error_t error;
    *out = json_loadb(text, length, 0, &error);
    if (!*out)
        return report_add(report, STATUS_INVALID,
                          "%s:%d:%d: not a result file: %s; 'heddle run LAUNCH -o FILE.json' writes one", path,
                          error.line, error.column, error.text);
    return STATUS_OK;
}

const char *result_schema(const json_t *document) {
    const char *schema = json_string_value(json_object_get(document, "schema"));
    return schema ? schema : "";
}

enum status result_check(const char *path, const json_t *document, struct report *report) {
    if (strcmp(result_schema(document), RESULT_SCHEMA) != 0)
        return report_add(report, STATUS_INVALID,
                          "%s: not a result file of this version: its schema is '%s', not '%s'; 'heddle run LAUNCH -o "
                          "FILE.json' writes one",
                          path, result_schema(document), RESULT_SCHEMA);
    if (!json_is_object(json_object_get(document, "total")) || !json_is_object(json_object_get(document, "machine")) ||
        !json_is_string(json_object_get(document, "mode")))
        return report_add(report, STATUS_INVALID, "%s: 'total', 'machine' or 'mode' is missing", path);
    return STATUS_OK;
}

enum status result_read(struct arena *arena, const char *path, json_t **out, struct report *report) {
    const enum status status = result_load(arena, path, out, report);
    return status ? status : result_check(path, *out, report);
}

static void visit_object(json_t *object, const char *prefix, struct arena *arena, result_counter_visitor *visit,
                         void *context) {
    const char *key;
    json_t *value;
    json_object_foreach (object, key, value) {
        const char *name = arena_printf(arena, "%s%s%s", prefix, *prefix ? "." : "", key);
        if (json_is_object(value))
            visit_object(value, name, arena, visit, context);
        else if (json_is_number(value))
            visit(context, name, value);
    }
}

void result_counters(json_t *object, struct arena *arena, result_counter_visitor *visit, void *context) {
    visit_object(object, "", arena, visit, context);
}
