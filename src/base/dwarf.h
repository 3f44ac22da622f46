/* SPDX-License-Identifier: Apache-2.0 */
/* Line programs of DWARF, versions 2 to 5: which line of which file an instruction comes from. What an address means, and where
 * relocations put it, is known to whoever asks. */
#ifndef HEDDLE_BASE_DWARF_H
#define HEDDLE_BASE_DWARF_H

#include "base/arena.h"
#include <stdbool.h>
#include <stdint.h>

struct dwarf_bytes {
    const uint8_t *bytes; /* NULL: none */
    size_t length;
};

struct dwarf_input {
    struct dwarf_bytes lines;                 /* .debug_line */
    struct dwarf_bytes strings, line_strings; /* .debug_str, .debug_line_str, which version 5 may name */
};

/* From `address` on, up to the next row of the sequence, code comes from this line; a row that ends a sequence has no code. */
struct dwarf_row {
    uint64_t address;
    size_t origin; /* where in the lines the sequence has its first address: relocations name that place */
    uint32_t file; /* in files; 0: none */
    uint32_t line, column;
    bool ends;
};

struct dwarf_lines {
    const char **
        files; /* the first is none; of the first unit, if not of version 5, they have the numbers that it gives them */
    unsigned file_count;
    struct dwarf_row *rows; /* sequence after sequence */
    unsigned row_count;
};

/* NULL: all was read, into the arena; else what is wrong, and *at is the byte. */
const char *dwarf_read_lines(const struct dwarf_input *input, struct arena *arena, struct dwarf_lines *out, size_t *at);

#endif
