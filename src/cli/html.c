/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/html.h"

#include <string.h>

#include "base/file.h"
#include "cli/commands.h"
#include "compile/compile.h"

enum { FRAME_LIMIT_BYTES = 1 << 20 };

static int put(const char *data, size_t length, void *to) {
    for (const char *end = data + length; data < end;) {
        const char *next = memchr(data, '<', (size_t)(end - data));
        fwrite(data, 1, (size_t)((next ? next : end) - data), to);
        if (next)
            fputs("\\u003c", to);
        data = next ? next + 1 : end;
    }
    return 0;
}

void html_put_json(FILE *to, const json_t *data) {
    json_dump_callback(data, put, to, JSON_COMPACT | JSON_REAL_PRECISION(17));
}

void html_put_attribute(FILE *to, const char *text) {
    for (; *text; text++)
        switch (*text) {
        case '&': fputs("&amp;", to); break;
        case '"': fputs("&quot;", to); break;
        case '<': fputs("&lt;", to); break;
        default: fputc(*text, to);
        }
}

enum status html_write(const char *name, const char *place, const json_t *data, const char *path, struct arena *arena,
                       struct report *report) {
    struct compile_tools tools = {0};
    char *frame = NULL;
    size_t length = 0;
    compile_find_tools(arena, &tools);
    if (!tools.share)
        return report_add(report, STATUS_SYSTEM,
                          "the page was not found; set HEDDLE_SHARE to the folder share/heddle of the source tree");
    const enum status status =
        file_read(file_join(arena, tools.share, name), FRAME_LIMIT_BYTES, arena, &frame, &length, report);
    const char *at = status ? NULL : strstr(frame, place);
    if (!at)
        return status ? status : report_add(report, STATUS_SYSTEM, "%s/%s has no %s", tools.share, name, place);
    struct output page;
    output_begin(&page);
    if (page.to) {
        fwrite(frame, 1, (size_t)(at - frame), page.to);
        html_put_json(page.to, data);
        fputs(at + strlen(place), page.to);
    }
    return output_end(&page, STATUS_OK, path, "the page", report);
}
