/* What kernels print: kept as records, put in order when the launch ends. */
#ifndef HEDDLE_EXEC_PRINT_H
#define HEDDLE_EXEC_PRINT_H

#include "base/arena.h"
#include "exec/state.h"

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
};

/* The records of another, which must outlive these. */
void output_add(struct exec_output *output, const struct exec_output *more);
/* Sorts by block, thread, sequence. */
void output_sort(struct exec_output *output);

#endif
