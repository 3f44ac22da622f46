/* SPDX-License-Identifier: Apache-2.0 */
/* What kernels print: kept as records, put in order when the launch ends. */
#ifndef HEDDLE_EXEC_PRINT_H
#define HEDDLE_EXEC_PRINT_H

#include "base/arena.h"
#include "exec/state.h"

/* Characters of one call; the width and the precision of a conversion. */
enum { PRINT_TEXT_MAX = 8192, PRINT_FIELD_MAX = 1024 };
/* What a call takes of the launch's buffer besides its text. */
enum { PRINT_CALL_BYTES = 32 };

struct print_record {
    uint64_t block;
    uint32_t thread, sequence;
    const char *text;
    uint32_t bytes;
};

struct exec_output {
    struct arena *arena;
    struct print_record *items;
    unsigned count, capacity;
    uint64_t limit_bytes, used_bytes; /* of records and their text */
    uint64_t cut;                     /* calls whose text was not kept, or not all of it */
};

/* The records of another, which must outlive these. */
void output_add(struct exec_output *output, const struct exec_output *more);
/* Sorts by block, thread, sequence, and keeps what fits the limit. */
void output_sort(struct exec_output *output);

#endif
