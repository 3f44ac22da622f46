/* SPDX-License-Identifier: Apache-2.0 */
/* A sweep file: programs, machines and keys whose combinations are points. docs/sweeps.md. Points are told by numbers:
 * places in the product of all axes, the last axis changing fastest; what is excluded leaves a gap. So one point can be
 * found without making the others, whoever asks for it. */
#ifndef HEDDLE_STORE_SWEEP_H
#define HEDDLE_STORE_SWEEP_H

#include "base/yaml.h"
#include "store/point.h"

/* Columns that every sweep has; keys of the machine follow. */
enum { COLUMN_PROGRAM, COLUMN_SIZE, COLUMN_SEED, COLUMN_FUNCTIONAL, COLUMN_GPU, COLUMN_VARIANT, COLUMN_KEYS };
enum { SWEEP_POINTS_MAX = 10000000, SWEEP_FILE_LIMIT_BYTES = 16 << 20 };

/* Columns that change together. */
struct sweep_axis {
    unsigned first_column, column_count, value_count;
    const char **values; /* [value][column] */
};

/* Points that have one of the values in every column named. */
struct sweep_exclusion {
    struct sweep_match {
        unsigned column, value_count;
        const char **values;
    } * items;
    unsigned count, capacity;
};

/* What a sweep is known by: a file, or one of a list of them in a file. */
struct sweep_source {
    const char *path;
    unsigned part;    /* of the file's list `run`, from 1; 0: the file is the sweep */
    const char *size; /* of workloads, in place of the sweep's own; NULL: that */
};

struct sweep {
    struct arena *arena;
    struct sweep_source source;
    struct yaml yaml; /* its root is the sweep's */
    const char *folder, *name;
    char hash[STORE_KEY_BYTES]; /* of the file's text */
    struct {
        const char **items;
        unsigned count, capacity;
    } columns;
    struct {
        struct sweep_axis *items;
        unsigned count, capacity;
    } axes;
    struct {
        struct sweep_exclusion *items;
        unsigned count, capacity;
    } exclusions;
    struct {
        struct sweep_program {
            struct point_program program;
            const struct yaml_node *at;
        } * items;
        unsigned count, capacity;
    } programs;        /* in the order of the first axis */
    uint64_t numbers;  /* of the product: points are below it */
    uint64_t machines; /* numbers that differ by a multiple of this have one machine and mode */
};

/* Everything lives in the arena; the text is kept. All errors are reported. Reads no other file. */
enum status sweep_parse(struct arena *arena, const struct sweep_source *source, const char *text, size_t length,
                        struct sweep *out, struct report *report);
/* The same of a file that is read. */
enum status sweep_read(struct arena *arena, const struct sweep_source *source, const struct yaml *file,
                       struct sweep *out, struct report *report);
/* Where the programs are, before points are asked for. */
enum status sweep_find_programs(struct sweep *sweep, const struct point_finder *finder, struct report *report);

/* The value of a column at a number; NULL: its variant leaves the key as the machine has it. */
const char *sweep_value(const struct sweep *sweep, uint64_t number, unsigned column);
/* Whether a column has more than one value. */
bool sweep_varies(const struct sweep *sweep, unsigned column);
bool sweep_is_excluded(const struct sweep *sweep, uint64_t number);
/* What tells the point from others: "bfs, gpu=gtx480, l1.size_bytes=16384". */
const char *sweep_label(const struct sweep *sweep, uint64_t number, struct arena *arena);
/* Everything of the point but its key; point_program_load and point_set_key do the rest. */
void sweep_point(const struct sweep *sweep, uint64_t number, struct arena *arena, struct point *out);

#endif
