/* SPDX-License-Identifier: Apache-2.0 */
/* What a buffer holds before the run, or is expected to hold after it: a rule that gives its elements in order. */
#ifndef HEDDLE_LAUNCH_FILL_H
#define HEDDLE_LAUNCH_FILL_H

#include "base/arena.h"
#include "base/rng.h"
#include "launch/element.h"
#include "base/yaml.h"

struct file_contents {
    char *data;
    size_t bytes;
};

/* How files named by a launch file are read; a caller that must not touch the disk gives its own. */
struct file_access {
    void *context;
    enum status (*read)(void *context, const char *path, uint64_t limit_bytes, struct arena *arena,
                        struct file_contents *out, struct report *report);
};
/* Reads from the host's disk. */
extern const struct file_access file_access_host;

enum fill_kind { FILL_ZERO, FILL_VALUE, FILL_INDEX, FILL_RANDOM, FILL_FILE, FILL_VALUES, FILL_XORSHIFT32 };

struct fill {
    enum fill_kind kind;
    const struct yaml_node *at;  /* for messages; NULL for FILL_ZERO */
    struct number value;         /* FILL_VALUE */
    struct number scale, offset; /* FILL_INDEX: (i * scale + offset) mod modulo; modulo 0: none */
    uint64_t modulo;             /* FILL_INDEX, FILL_XORSHIFT32 */
    struct number min, max;      /* FILL_RANDOM */
    uint64_t seed;
    bool has_seed;
    const char *path;            /* FILL_FILE, as written */
    const struct number *values; /* FILL_VALUES */
    uint64_t value_count;
    uint32_t state; /* FILL_XORSHIFT32 */
    uint64_t skip;
};

/* Reads {value: ...}, {index: {...}} and so on; numbers that the element type cannot hold are refused here. */
enum status fill_parse(const struct yaml *yaml, const struct yaml_node *node, enum element element, struct arena *arena,
                       struct fill *out, struct report *report);

/* Yields the elements of a fill from first to last. */
struct fill_cursor {
    /* given to fill_start */
    const struct fill *fill;
    enum element element;
    uint64_t count; /* of all elements; FILL_COUNT_UNKNOWN: as many as the file or list holds, which it then says */
    /* its own */
    uint64_t next;
    struct rng rng;
    uint32_t state;
    wide_integer index;
    const unsigned char *data;
};

struct fill_source {
    const struct yaml *yaml;
    const char *folder; /* where paths start */
    const struct file_access *files;
    uint64_t seed;         /* of a random fill that gives none */
    uint64_t memory_bytes; /* that the machine has: no buffer can be larger */
};

enum { FILL_COUNT_UNKNOWN = 0 };
/* Loads the fill's file into the arena if it has one. */
enum status fill_start(struct fill_cursor *cursor, const struct fill_source *source, struct arena *arena,
                       struct report *report);
/* Writes the next n elements. */
void fill_next(struct fill_cursor *cursor, void *out, uint64_t n);

#endif
