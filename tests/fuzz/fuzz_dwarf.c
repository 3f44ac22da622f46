/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a table of lines: it is read or refused, and what is read names files that are there. */
#include <stdlib.h>

#include "base/dwarf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena arena = {0};
    struct dwarf_lines lines;
    const struct dwarf_input input = {.lines = {data, size}, .strings = {data, size}, .line_strings = {data, size}};
    size_t at = 0;
    const char *wrong = dwarf_read_lines(&input, &arena, &lines, &at);
    if (at > size)
        abort();
    for (unsigned i = 0; !wrong && i < lines.row_count; i++)
        if (lines.rows[i].file >= lines.file_count || lines.rows[i].origin > size)
            abort();
    arena_free(&arena);
    return 0;
}
