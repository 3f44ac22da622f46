/* SPDX-License-Identifier: Apache-2.0 */
#include "check/document.h"

#include <jansson.h>

#include "check/check.h"

static json_t *triple(uint32_t x, uint32_t y, uint32_t z) { return json_pack("[i, i, i]", (int)x, (int)y, (int)z); }

/* Names of others may hold anything; what is no UTF-8 becomes '?'. */
static json_t *text_json(const char *text) {
    json_t *out = json_string(text);
    if (out)
        return out;
    struct arena arena = {0};
    char *plain = arena_strdup(&arena, text);
    for (char *c = plain; *c; c++)
        *c = (unsigned char)*c < 0x80 ? *c : '?';
    out = json_string(plain);
    arena_free(&arena);
    return out;
}

static const char *verb(const struct finding_access *access) {
    return access->is_atomic ? "atomic" : access->is_write ? "store" : "load";
}

static json_t *access_json(const struct finding *finding, const struct finding_access *access, bool has_thread) {
    const struct module *module = finding->module;
    const struct inst *inst = &module->code[access->pc];
    const uint32_t *grid = finding->grid, *block = finding->block;
    json_t *out = json_object();
    const bool has_source = inst->line && inst->file < module->file_count && *module->files[inst->file];
    json_object_set_new(out, "file", text_json(has_source ? module->files[inst->file] : module->name));
    json_object_set_new(out, "line", json_integer(has_source ? inst->line : inst->text_line));
    json_object_set_new(out, "pc", json_integer(access->pc));
    if (finding->has_other)
        json_object_set_new(out, "access", json_string(verb(access)));
    if (!has_thread)
        return out;
    json_object_set_new(out, "block",
                        triple((uint32_t)(access->block % grid[0]), (uint32_t)(access->block / grid[0] % grid[1]),
                               (uint32_t)(access->block / grid[0] / grid[1])));
    json_object_set_new(out, "thread",
                        triple(access->thread % block[0], access->thread / block[0] % block[1],
                               access->thread / block[0] / block[1]));
    return out;
}

static json_t *finding_json(const struct finding *finding) {
    json_t *out = json_object();
    json_object_set_new(out, "kind", json_string(finding_name(finding->kind)));
    json_object_set_new(out, "level", json_string(finding->is_note ? "note" : "error"));
    if (finding->module) {
        json_object_set_new(out, "module", text_json(finding->module->name));
        json_object_set_new(out, "kernel", text_json(finding->kernel));
        json_object_set_new(out, "launch", json_integer((json_int_t)finding->launch));
    }
    json_object_set_new(out, "message", text_json(finding->message));
    if (finding->missing && !finding->is_note)
        json_object_set_new(out, "missing", json_string(finding->missing));
    if (finding->allocation)
        json_object_set_new(out, "allocation", text_json(finding->allocation));
    json_object_set_new(out, "count", json_integer((json_int_t)finding->count));
    if (finding->at.pc != NO_PC)
        json_object_set_new(out, "at", access_json(finding, &finding->at, finding->has_thread));
    if (finding->has_other)
        json_object_set_new(out, "other", access_json(finding, &finding->other, true));
    return out;
}

json_t *document_create(const struct check *check, const char *what, const char *name) {
    unsigned count = 0;
    const struct finding *findings = check ? check_findings(check, &count) : NULL;
    json_t *root = json_object(), *list = json_array();
    json_object_set_new(root, "schema", json_string(CHECK_SCHEMA));
    json_object_set_new(root, "heddle", json_string(HEDDLE_VERSION));
    json_object_set_new(root, what, text_json(name));
    json_object_set_new(root, "errors", json_integer(check ? check_errors(check) : 0));
    json_object_set_new(root, "wrong", json_boolean(check && check_is_wrong(check)));
    json_object_set_new(root, "dropped", json_integer(check ? (json_int_t)check_dropped(check) : 0));
    for (unsigned i = 0; i < count; i++)
        json_array_append_new(list, finding_json(&findings[i]));
    json_object_set_new(root, "findings", list);
    return root;
}

static void count_up(json_t *document, const char *key, json_int_t by) {
    json_object_set_new(document, key, json_integer(json_integer_value(json_object_get(document, key)) + by));
}

void document_add(json_t *document, const json_t *other, unsigned limit) {
    json_t *list = json_object_get(document, "findings"), *finding;
    size_t i;
    json_array_foreach (json_object_get(other, "findings"), i, finding) {
        const char *level = json_string_value(json_object_get(finding, "level"));
        if (json_array_size(list) >= limit) {
            count_up(document, "dropped", 1);
            continue;
        }
        json_array_append(list, finding);
        count_up(document, "errors", level && *level == 'e');
    }
    count_up(document, "dropped", json_integer_value(json_object_get(other, "dropped")));
    if (document_is_wrong(other))
        json_object_set_new(document, "wrong", json_true());
}

bool document_is_wrong(const json_t *document) { return json_is_true(json_object_get(document, "wrong")); }

size_t document_count(const json_t *document) { return json_array_size(json_object_get(document, "findings")); }

char *document_write(const json_t *document, struct arena *arena, size_t *length) {
    *length = json_dumpb(document, NULL, 0, JSON_INDENT(2));
    char *text = arena_alloc(arena, *length + 2);
    json_dumpb(document, text, *length, JSON_INDENT(2));
    text[(*length)++] = '\n';
    return text;
}
