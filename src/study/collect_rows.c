/* SPDX-License-Identifier: Apache-2.0 */
#include "study/collect_rows.h"

#include <string.h>

#include "study/rows.h"

enum { COLUMNS = 8 };

enum status collected_parse(struct arena *arena, const char *name, const char *text, size_t length,
                            struct collected_rows *out, struct report *report) {
    struct rows rows = {.name = name, .at = text, .end = text + length};
    const char *fields[COLUMNS];
    *out = (struct collected_rows){0};
    for (bool found = true; found;) {
        const enum status status = rows_next(&rows, arena, fields, COLUMNS, &found, report);
        if (status)
            return status;
        struct collected_row row = {.gpu = fields[0]};
        if (!found)
            break;
        if (!rows_number(fields[4], &row.microseconds) || !rows_number(fields[5], &row.spread) ||
            !rows_number(fields[6], &row.clock_mhz) || !(row.microseconds > 0) || !(row.clock_mhz > 0))
            return report_add(
                report, STATUS_INVALID,
                "%s:%u: '%s', '%s' and '%s' must be numbers: microseconds, their spread and a clock in MHz", name,
                rows.line, fields[4], fields[5], fields[6]);
        row.gpu = rows_plain(arena, fields[0]), row.program = rows_plain(arena, fields[1]);
        row.arguments = rows_plain(arena, fields[2]), row.kernel = rows_plain(arena, fields[3]);
        row.source = rows_plain(arena, fields[7]);
        if (collected_find(out, &row))
            return report_add(report, STATUS_INVALID, "%s:%u: %s of %s %s is given twice", name, rows.line, row.kernel,
                              row.program, row.arguments);
        *ARENA_PUSH(arena, out) = row;
    }
    return out->count ? STATUS_OK : report_add(report, STATUS_INVALID, "%s: no rows of kernels", name);
}

const struct collected_row *collected_find(const struct collected_rows *rows, const struct collected_row *like) {
    for (unsigned i = 0; i < rows->count; i++) {
        const struct collected_row *row = &rows->items[i];
        if (strcmp(row->program, like->program) == 0 && strcmp(row->arguments, like->arguments) == 0 &&
            strcmp(row->kernel, like->kernel) == 0)
            return row;
    }
    return NULL;
}

const char *collected_write(struct arena *arena, const struct collected_rows *rows) {
    const char *text = "gpu,program,arguments,kernel,cycles,microseconds,clock_mhz,source\n";
    for (unsigned i = 0; i < rows->count; i++) {
        const struct collected_row *row = &rows->items[i];
        text = arena_printf(arena, "%s\"%s\",\"%s\",\"%s\",\"%s\",%.0f,%.6g,%.6g,\"%s, spread %.1f %%\"\n", text,
                            row->gpu, row->program, row->arguments, row->kernel, row->microseconds * row->clock_mhz,
                            row->microseconds, row->clock_mhz, row->source, 100 * row->spread);
    }
    return text;
}
