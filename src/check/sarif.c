/* SPDX-License-Identifier: Apache-2.0 */
/* Findings as SARIF 2.1.0 (OASIS), which services that show them beside the lines read. */
#include <ctype.h>
#include <jansson.h>
#include <string.h>

#include "check/check.h"
#include "check/document.h"

static const char *text_of(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

/* A file's name as a URI: relative to the folder at hand, or from the root. */
static json_t *uri_of(const char *path) {
    struct arena arena = {0};
    char *text = arena_alloc(&arena, 3 * strlen(path) + sizeof "file://"), *to = text;
    if (*path == '/')
        to = memcpy(to, "file://", 7), to += 7;
    for (const char *c = path; *c; c++) {
        const unsigned char byte = (unsigned char)*c;
        if (isalnum(byte) || strchr("/._-~", byte))
            *to++ = *c;
        else {
            static const char digits[] = "0123456789ABCDEF";
            *to++ = '%', *to++ = digits[byte / 16], *to++ = digits[byte % 16];
        }
    }
    *to = '\0';
    json_t *out = json_string(text);
    arena_free(&arena);
    return out;
}

static json_t *location(const json_t *access, const char *words) {
    json_int_t line = json_integer_value(json_object_get(access, "line"));
    json_t *physical = json_pack("{s: {s: o}, s: {s: I}}", "artifactLocation", "uri", uri_of(text_of(access, "file")),
                                 "region", "startLine", line > 0 ? line : (json_int_t)1);
    json_t *out = json_pack("{s: o}", "physicalLocation", physical);
    if (words)
        json_object_set_new(out, "message", json_pack("{s: s}", "text", words));
    return out;
}

static enum finding_kind kind_of(const json_t *finding) {
    unsigned kind = 0;
    while (kind + 1 < FINDING_KINDS && strcmp(finding_name((enum finding_kind)kind), text_of(finding, "kind")) != 0)
        kind++;
    return (enum finding_kind)kind;
}

static json_t *result(const json_t *finding, struct arena *arena) {
    const json_t *at = json_object_get(finding, "at"), *other = json_object_get(finding, "other");
    const char *missing = text_of(finding, "missing"), *message = text_of(finding, "message");
    const enum finding_kind kind = kind_of(finding);
    json_t *out = json_object(), *properties = json_object();
    static const char *const kept[] = {"kernel", "launch", "count", "allocation"};
    json_object_set_new(out, "ruleId", json_string(finding_name(kind)));
    json_object_set_new(out, "ruleIndex", json_integer((json_int_t)kind));
    json_object_set(out, "level", json_object_get(finding, "level"));
    json_object_set_new(out, "message",
                        json_pack("{s: s}", "text",
                                  *missing ? arena_printf(arena, "%s; missing: %s", message, missing) : message));
    json_object_set_new(out, "locations", json_array());
    if (at)
        json_array_append_new(json_object_get(out, "locations"), location(at, NULL));
    if (other)
        json_object_set_new(out, "relatedLocations",
                            json_pack("[o]",
                                      location(other, arena_printf(arena, "the other %s", text_of(other, "access")))));
    for (unsigned i = 0; i < sizeof kept / sizeof *kept; i++)
        if (json_object_get(finding, kept[i]))
            json_object_set(properties, kept[i], json_object_get(finding, kept[i]));
    json_object_set_new(out, "properties", properties);
    return out;
}

static json_t *rules(void) {
    json_t *list = json_array();
    for (unsigned i = 0; i < FINDING_KINDS; i++)
        json_array_append_new(list, json_pack("{s: s, s: {s: s}, s: {s: s}}", "id", finding_name((enum finding_kind)i),
                                              "shortDescription", "text", finding_help((enum finding_kind)i), "help",
                                              "text", finding_lesson((enum finding_kind)i)));
    return list;
}

char *document_sarif(const json_t *document, struct arena *arena, size_t *length) {
    json_t *results = json_array(), *finding;
    size_t i;
    json_array_foreach (json_object_get(document, "findings"), i, finding)
        json_array_append_new(results, result(finding, arena));
    json_t *driver = json_pack("{s: s, s: s, s: o}", "name", "heddle", "version", HEDDLE_VERSION, "rules", rules());
    json_t *root = json_pack("{s: s, s: s, s: [{s: {s: o}, s: s, s: o}]}", "$schema",
                             "https://json.schemastore.org/sarif-2.1.0.json", "version", "2.1.0", "runs", "tool",
                             "driver", driver, "columnKind", "utf16CodeUnits", "results", results);
    char *text = document_write(root, arena, length);
    json_decref(root);
    return text;
}
