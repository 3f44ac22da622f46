/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/findings.h"

#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/html.h"

enum status findings_options(struct arguments *arguments, const char *only, const char *limit,
                             struct check_options *out, struct report *report) {
    const char *wrong = NULL;
    size_t length = 0;
    uint64_t number = 0;
    if (!check_read_kinds(arguments_value(arguments, only), out, &wrong, &length))
        return report_add(report, STATUS_INVALID, "--%s takes " CHECK_KINDS ", separated by commas, not '%.*s'", only,
                          (int)length, wrong);
    const enum status status =
        arguments_number(arguments, limit, CHECK_LIMIT_DEFAULT, CHECK_LIMIT_MAX, &number, report);
    out->limit = (unsigned)number;
    return status;
}

enum status findings_files(struct arguments *arguments, struct suppressions *known, struct report *report) {
    const char *sarif = arguments_value(arguments, "sarif"), *suppress = arguments_value(arguments, "suppress");
    enum status status = sarif ? check_writable(&arguments->arena, "sarif", sarif, report) : STATUS_OK;
    const char *html = arguments_value(arguments, "html");
    if (!status && html)
        status = check_writable(&arguments->arena, "html", html, report);
    return !status && suppress ? suppressions_read(suppress, &arguments->arena, known, report) : status;
}

static void place_file(json_t *place, const char *folder, struct arena *arena) {
    const char *file = json_string_value(json_object_get(place, "file"));
    const char *there = file ? file_join(arena, folder, file) : NULL;
    if (there && *file != '/' && access(file, R_OK) != 0 && access(there, R_OK) == 0)
        json_object_set_new(place, "file", json_string(there));
}

/* Names of files that are seen from the folder of the launch file become names from the folder at hand. */
static void place_files(const json_t *document, const char *folder, struct arena *arena) {
    json_t *finding, *event;
    size_t i, n;
    json_array_foreach (json_object_get(document, "findings"), i, finding) {
        for (unsigned k = 0; k < 2; k++) {
            json_t *side = json_object_get(finding, k ? "other" : "at");
            place_file(side, folder, arena);
            json_array_foreach (json_object_get(side, "path"), n, event)
                place_file(event, folder, arena);
        }
    }
}

static json_t *placed_copy(struct arguments *arguments, const json_t *document, const struct findings_order *order) {
    json_t *copy = json_deep_copy(document);
    if (order->folder)
        place_files(copy, order->folder, &arguments->arena);
    return copy;
}

static enum status write_sarif(struct arguments *arguments, const json_t *document, const struct findings_order *order,
                               struct report *report) {
    size_t length;
    json_t *copy = placed_copy(arguments, document, order);
    const char *text = document_sarif(copy, &arguments->arena, &length);
    json_decref(copy);
    return write_output(order->sarif, text, length, "the findings", report);
}

/* The text of the file that a place names, once; a page has room for small ones. */
static void add_source(json_t *files, const json_t *place, struct arena *arena) {
    enum { SOURCE_LIMIT_BYTES = 1 << 20 };
    const char *file = json_string_value(json_object_get(place, "file"));
    struct report ignored = {0};
    char *text = NULL;
    size_t length = 0;
    if (!file || json_object_get(files, file))
        return;
    json_t *source = NULL;
    if (!file_read(file, SOURCE_LIMIT_BYTES, arena, &text, &length, &ignored))
        source = json_stringn(text, length); /* NULL: it is no UTF-8 */
    report_free(&ignored);
    json_object_set_new(files, file, source ? source : json_string(""));
}

static enum status write_html(struct arguments *arguments, const json_t *document, const struct findings_order *order,
                              struct report *report) {
    json_t *copy = placed_copy(arguments, document, order), *files = json_object(), *finding, *event;
    size_t i, n;
    json_array_foreach (json_object_get(copy, "findings"), i, finding) {
        for (unsigned k = 0; k < 2; k++) {
            const json_t *side = json_object_get(finding, k ? "other" : "at");
            add_source(files, side, &arguments->arena);
            json_array_foreach (json_object_get(side, "path"), n, event)
                add_source(files, event, &arguments->arena);
        }
    }
    json_t *root = json_pack("{s: o, s: o}", "document", copy, "files", files);
    const enum status status = html_write("check.html", "/*FINDINGS*/", root, order->html, &arguments->arena, report);
    json_decref(root);
    return status;
}

static void show(const json_t *document, FILE *to) {
    struct arena arena = {0};
    for (size_t i = 0; i < document_count(document); i++) {
        print_text(to, document_finding(document, i, &arena));
        arena_reset(&arena);
    }
    print_text(to, document_total(document, &arena));
    arena_free(&arena);
}

enum status findings_show(struct arguments *arguments, json_t *document, const struct findings_order *order,
                          struct report *report) {
    enum status status = STATUS_OK;
    if (order->known)
        document_suppress(document, order->known, &arguments->arena);
    if (order->to)
        show(document, order->to);
    if (order->output) {
        size_t length;
        const char *text = document_write(document, &arguments->arena, &length);
        status = write_output(order->output, text, length, "the findings", report);
    }
    if (!status && order->sarif)
        status = write_sarif(arguments, document, order, report);
    if (!status && order->html)
        status = write_html(arguments, document, order, report);
    return !status && document_is_wrong(document) ? STATUS_WRONG : status;
}
