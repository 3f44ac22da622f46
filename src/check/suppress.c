/* SPDX-License-Identifier: Apache-2.0 */
/* Findings that the user knows: a file of patterns, a line each: KIND KERNEL FILE:LINE. */
#include <fnmatch.h>
#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "base/file.h"
#include "check/check.h"
#include "check/document.h"

enum { FIELDS = 3, FILE_BYTES_MAX = 1 << 20 };

static bool is_kind(const char *name) {
    for (unsigned i = 0; i < FINDING_KINDS; i++)
        if (strcmp(name, finding_name((enum finding_kind)i)) == 0)
            return true;
    return strcmp(name, "*") == 0;
}

enum status suppressions_read(const char *path, struct arena *arena, struct suppressions *out, struct report *report) {
    char *text = NULL, *save = NULL;
    size_t length = 0;
    unsigned number = 0;
    const enum status status = file_read(path, FILE_BYTES_MAX, arena, &text, &length, report);
    if (status)
        return status;
    text = arena_strndup(arena, text, length);
    for (char *line = text, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        number++;
        line[strcspn(line, "#")] = '\0';
        const char *fields[FIELDS] = {NULL};
        unsigned count = 0;
        for (char *field = strtok_r(line, " \t\r", &save); field; field = strtok_r(NULL, " \t\r", &save))
            if (count++ < FIELDS)
                fields[count - 1] = field;
        if (!count)
            continue;
        if (count != FIELDS)
            return report_add(report, STATUS_INVALID,
                              "%s:%u: a line has a kind, a kernel and FILE:LINE, each a pattern", path, number);
        if (!is_kind(fields[0]))
            return report_add(report, STATUS_INVALID, "%s:%u: '%s' is not a kind of finding", path, number, fields[0]);
        *ARENA_PUSH(arena, out) = (struct suppression){fields[0], fields[1], fields[2]};
    }
    return STATUS_OK;
}

/* A file is meant by its last name too. */
static bool is_place(const json_t *finding, const char *side, const char *pattern, struct arena *arena) {
    const json_t *access = json_object_get(finding, side);
    const char *file = json_string_value(json_object_get(access, "file"));
    if (!file)
        return strcmp(pattern, "*") == 0;
    const long long line = json_integer_value(json_object_get(access, "line"));
    return fnmatch(pattern, arena_printf(arena, "%s:%lld", file, line), 0) == 0 ||
           fnmatch(pattern, arena_printf(arena, "%s:%lld", file_name(file), line), 0) == 0;
}

static bool is_suppressed(const json_t *finding, const struct suppressions *rules, struct arena *arena) {
    const char *kind = json_string_value(json_object_get(finding, "kind")),
               *kernel = json_string_value(json_object_get(finding, "kernel"));
    for (unsigned i = 0; i < rules->count; i++) {
        const struct suppression *rule = &rules->items[i];
        if (fnmatch(rule->kind, kind, 0) == 0 && fnmatch(rule->kernel, kernel ? kernel : "", 0) == 0 &&
            (is_place(finding, "at", rule->place, arena) || is_place(finding, "other", rule->place, arena)))
            return true;
    }
    return false;
}

void document_suppress(json_t *document, const struct suppressions *rules, struct arena *arena) {
    json_t *list = json_object_get(document, "findings"), *kept = json_array(), *finding;
    const bool was_wrong = document_is_wrong(document),
               has_more = json_integer_value(json_object_get(document, "dropped")) != 0;
    json_int_t errors = 0;
    size_t i;
    json_array_foreach (list, i, finding) {
        if (is_suppressed(finding, rules, arena))
            continue;
        json_array_append(kept, finding);
        errors += strcmp(json_string_value(json_object_get(finding, "level")), "error") == 0;
    }
    json_object_set_new(document, "suppressed",
                        json_integer((json_int_t)(json_array_size(list) - json_array_size(kept))));
    json_object_set_new(document, "errors", json_integer(errors));
    json_object_set_new(document, "wrong", json_boolean(errors || (was_wrong && has_more)));
    json_object_set_new(document, "findings", kept);
}
