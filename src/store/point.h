/* SPDX-License-Identifier: Apache-2.0 */
/* A point is one run: a program (a workload of the suite, or a launch file), a machine, in time or functional. Its key is
 * the hash of everything its result depends on. */
#ifndef HEDDLE_STORE_POINT_H
#define HEDDLE_STORE_POINT_H

#include <jansson.h>

#include "machine/machine.h"
#include "store/store.h"

struct point_file {
    const char *name; /* as the program calls it, never a path of the host */
    char hash[STORE_KEY_BYTES];
};

/* What is run. */
struct point_program {
    const char *label; /* as the user names it: a workload, or a launch file */
    bool is_launch;
    bool loaded;
    const char *path; /* the launch file, or the workload's host program */
    const char *kernel_path;
    uint64_t test_instructions; /* warp instructions of a workload at size test; 0: not known */
    const char *compiler;       /* of workloads; launch files have their PTX among the files */
    struct {
        struct point_file *items;
        unsigned count, capacity;
    } files; /* all that the program reads */
};

/* Where programs are: the command line knows. Both fail with a message. */
struct point_finder {
    enum status (*workload)(struct arena *arena, const char *name, const char **program, const char **kernel,
                            struct report *report);
    uint64_t (*test_instructions)(const char *workload);
    enum status (*launch)(struct arena *arena, const char *typed, const char **path, struct report *report);
};

struct point {
    const struct point_program *program;
    const char *size; /* of workloads */
    bool functional;
    uint64_t seed;
    const char *gpu; /* as machine_open takes it */
    const char *const *keys, *const *values;
    unsigned setting_count;
    char key[STORE_KEY_BYTES];
};

/* Reads and hashes all files of the program, and compiles the module of a launch file. Once. */
enum status point_program_load(struct point_program *program, struct arena *arena, struct report *report);
/* All that the machine adds to the key: every key and value that can change a result. */
const char *point_machine_text(const struct machine *machine, struct arena *arena);
/* The same for one machine after another that differs in a few keys: a line for each key. */
struct point_lines {
    struct arena *arena;
    char *text;     /* all of them */
    size_t *begins; /* by index of the key's parameter */
    size_t capacity;
    unsigned count;
};
void point_lines_make(struct point_lines *lines, const struct machine *machine, struct arena *arena);
/* The key has another value now. That of divergence.mechanism says which lines there are: make them anew. */
void point_lines_change(struct point_lines *lines, const struct machine *machine,
                        const struct param_description *param);
/* The text that the key is the hash of. */
const char *point_text(const struct point *point, const char *machine_text, struct arena *arena);
void point_set_key(struct point *point, const char *machine_text, struct arena *scratch);
/* The machine of the point, checked for its mode. */
enum status point_machine(const struct point *point, struct machine *machine, struct report *report);
/* The same on a machine that is open: for one point after another with the same gpu and keys. */
enum status point_set_machine(const struct point *point, struct machine *machine, struct report *report);
/* Of workloads: "test", "medium", "paper", NULL. */
extern const char *const point_sizes[];
bool point_is_size(const char *text);
/* For the result's member "point". */
json_t *point_json(const struct point *point);
/* The command line that runs it, NULL at its end; the result goes to a file. */
const char *const *point_command(const struct point *point, const char *result_path, struct arena *arena);

#endif
