/* SPDX-License-Identifier: Apache-2.0 */
/* A launch file: a module, buffers, launches in order, and what is expected afterwards. docs/launch-files.md.
 * Parsing reads no other file and needs no module; what depends on those is checked by launch/bind.h and run.h. */
#ifndef HEDDLE_LAUNCH_LAUNCH_FILE_H
#define HEDDLE_LAUNCH_LAUNCH_FILE_H

#include "launch/fill.h"

struct launch_buffer {
    const char *name;
    const struct yaml_node *at;
    enum element element;
    uint64_t count; /* elements; FILL_COUNT_UNKNOWN: as many as its fill holds */
    struct fill fill;
    uint64_t address; /* where it lies; 0: wherever there is room */
};

/* What a variable of the module holds in place of its initial value. */
struct launch_variable {
    const char *name;
    const struct yaml_node *at;
    enum element element;
    struct fill fill;
};

enum launch_arg_kind { LAUNCH_ARG_BUFFER, LAUNCH_ARG_VALUES, LAUNCH_ARG_LOCAL, LAUNCH_ARG_BYTES, LAUNCH_ARG_TENSOR };

struct launch_arg {
    enum launch_arg_kind kind;
    const struct yaml_node *at;
    unsigned buffer;      /* BUFFER, TENSOR: index in the file's buffers */
    uint64_t offset;      /* BUFFER: first element */
    enum element element; /* VALUES: one number, or the components of a vector */
    const void *bytes;    /* VALUES, BYTES: what is passed; TENSOR: a tensor map without its address */
    uint64_t byte_count;  /* and LOCAL: size of the shared memory */
};

struct launch_step {
    const char *kernel;
    const struct yaml_node *at, *kernel_at, *args_at;
    uint32_t grid[3], block[3], cluster[3], global_offset[3]; /* cluster: of blocks; 0: as the kernel says */
    uint32_t dimensions;                                      /* the longest of grid and block */
    uint32_t dynamic_shared_bytes;
    bool has_workspace; /* blocks may wait for each other */
    unsigned workspace; /* the buffer where they meet */
    struct launch_arg *args;
    unsigned arg_count;
};

enum launch_check_kind { LAUNCH_CHECK_EQUALS, LAUNCH_CHECK_HASH, LAUNCH_CHECK_SUM };

struct launch_check {
    enum launch_check_kind kind;
    const struct yaml_node *at;
    unsigned buffer;
    uint64_t first, count; /* elements looked at; count 0: to the end */
    struct fill equals;
    uint64_t hash;
    struct number sum;
    double tolerance; /* |a - b| <= tolerance * max(1, |b|) */
};

/* How a source is compiled. */
struct launch_build {
    const char **defines, **includes, **options;
    unsigned define_count, include_count, option_count;
    const char *standard; /* NULL: the compiler's default */
};

struct launch_file {
    struct yaml yaml;
    const char *name;   /* as given by the user */
    const char *folder; /* where its paths start, "" for the current one */
    const char *module;
    const struct yaml_node *module_at;
    struct launch_build build;
    uint64_t variables_at; /* where the module's variables lie; 0: wherever there is room */
    const struct yaml_node *variables_at_node;
    struct launch_variable *variables;
    unsigned variable_count;
    struct launch_buffer *buffers;
    unsigned buffer_count;
    struct launch_step *launches;
    unsigned launch_count;
    struct launch_check *checks;
    unsigned check_count;
    uint64_t text_hash;                    /* xxHash64 of the file */
    const char *checkpoint;                /* memory and caches are as there; NULL: fills say what memory holds */
    const struct yaml_node *checkpoint_at; /* NULL: the file does not name it */
    bool cold;                             /* of the checkpoint only memory */
    bool is_part;                          /* these launches are some of the file, `before` of them left out in front */
    unsigned before;
};

enum { LAUNCH_FILE_LIMIT_BYTES = 16 << 20, LAUNCH_BUFFERS_MAX = 4096 };

/* Everything lives in the arena; `text` is kept. All errors of the file are reported, not only the first. */
enum status launch_file_parse(struct arena *arena, const char *name, const char *text, size_t length,
                              struct launch_file *out, struct report *report);
/* The same of a file, which may also be a part of another (`part_of`): that file's launches from one number on. */
enum status launch_file_read(struct arena *arena, const char *path, struct launch_file *out, struct report *report);
/* Leaves launches out in front, and all behind `count` of the others; checks are of the end of the whole. */
void launch_file_cut(struct launch_file *file, unsigned before, unsigned count);
/* Goes on from a checkpoint of this file. STATUS_INVALID: it is of another. */
enum status launch_file_from(struct launch_file *file, const char *path, const struct file_access *files,
                             struct arena *arena, struct report *report);
/* Refuses a result, a sweep and a machine by what they are. */
enum status launch_file_refuse_other(const struct yaml *yaml, struct report *report);
/* Of launch_file_parse: `checkpoint` and `caches`. */
enum status launch_file_parse_checkpoint(struct launch_file *file, const struct yaml *yaml, struct arena *arena,
                                         struct report *report);
/* Index of the buffer of that name, buffer_count when there is none. */
unsigned launch_file_buffer(const struct launch_file *file, const char *name);

#endif
