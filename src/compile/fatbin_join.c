/* SPDX-License-Identifier: Apache-2.0 */
/* PTX of several fat binaries as one text. */
#include "compile/fatbin.h"

#include <string.h>

#include "compile/parts.h"

enum status fatbin_add(struct fatbin *out, unsigned number, const struct fatbin *next, struct arena *arena,
                       struct report *report) {
    enum { FILES_MAX = 999 };
    if (number >= FILES_MAX)
        return report_add(report, STATUS_INVALID, "more than %d files of device code are linked", FILES_MAX);
    if (number == 0) {
        *out = *next;
        return STATUS_OK;
    }
    char *text = parts_append(arena, out->ptx, next->ptx, number);
    *out = (struct fatbin){.ptx = text, .bytes = strlen(text), .arch = next->arch > out->arch ? next->arch : out->arch};
    return STATUS_OK;
}

enum status fatbin_join(const void *const *fatbins, const struct fatbin_wish *wish, struct arena *arena,
                        struct fatbin *out, struct report *report) {
    enum status status = STATUS_OK;
    struct fatbin_wish each = *wish;
    each.ptx_only |= fatbins[0] && fatbins[1];
    for (unsigned i = 0; !status && fatbins[i]; i++) {
        struct fatbin next = {0};
        status = fatbin_read(fatbins[i], fatbin_bytes(fatbins[i]), &each, arena, &next, report);
        if (!status)
            status = fatbin_add(out, i, &next, arena, report);
    }
    return status;
}
