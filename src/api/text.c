/* SPDX-License-Identifier: Apache-2.0 */
/* Texts, and what all calls share. */
#include <stdarg.h>
#include <string.h>

#include "api/api.h"
#include "result/layout.h"

const char *heddle_version(void) { return HEDDLE_VERSION; }

struct heddle_text *heddle_text_create(void) {
    struct arena arena = {0};
    struct heddle_text *text = ARENA_NEW(&arena, struct heddle_text);
    text->arena = arena;
    text->data = "";
    return text;
}

const char *heddle_text_get(const struct heddle_text *text) { return text ? text->data : ""; }

size_t heddle_text_bytes(const struct heddle_text *text) { return text ? text->bytes : 0; }

void heddle_text_free(struct heddle_text *text) {
    if (!text)
        return;
    arena_free(&text->content);
    struct arena arena = text->arena; /* holds the text itself */
    arena_free(&arena);
}

void api_text_set(struct heddle_text *text, const char *data, size_t bytes) {
    if (!text)
        return;
    arena_free(&text->content);
    text->data = arena_strndup(&text->content, data, bytes);
    text->bytes = bytes;
}

bool api_text_set_json(struct heddle_text *text, json_t *document) {
    struct arena arena = {0};
    size_t bytes = 0;
    const char *data = result_layout(document, &arena, &bytes);
    json_decref(document);
    if (data)
        api_text_set(text, data, bytes);
    arena_free(&arena);
    return data;
}

enum heddle_status api_end(enum status status, struct report *report, struct heddle_text *errors) {
    if (status)
        api_text_set(errors, report_text(report), strlen(report_text(report)));
    report_free(report);
    return status == STATUS_SYSTEM ? HEDDLE_REFUSED : (enum heddle_status)status;
}

enum heddle_status api_refuse(struct heddle_text *errors, const char *format, ...) {
    struct report report = {0};
    va_list args;
    va_start(args, format);
    report_add_va(&report, STATUS_INVALID, format, args);
    va_end(args);
    return api_end(STATUS_INVALID, &report, errors);
}

enum heddle_status api_no_handle(struct heddle_text *errors, const char *function, const char *what) {
    return api_refuse(errors, "%s: the %s is NULL", function, what);
}

bool api_is_mode(enum heddle_mode mode) { return mode == HEDDLE_IN_TIME || mode == HEDDLE_FUNCTIONAL; }

bool api_watch(void *watcher, const struct launch_progress *progress) {
    const struct api_watcher *to = watcher;
    return to->watch(to->user, progress->cycles, progress->blocks_done, progress->blocks,
                     progress->warp_instructions) == 0;
}
