/* SPDX-License-Identifier: Apache-2.0 */
/* A launch file carried out on a device: load, fill, launch, check, dump. */
#ifndef HEDDLE_LAUNCH_RUN_H
#define HEDDLE_LAUNCH_RUN_H

#include "launch/bind.h"
#include "launch/check.h"
#include "machine/machine.h"
#include "isa/source.h"

struct result_sample; /* result/sample.h */

struct run_options {
    uint64_t seed; /* of random fills that give none: buffer k of the file uses seed + k */
    const struct file_access *files;
    bool cold;                                                            /* of a checkpoint only memory */
    bool in_time;                                                         /* launches run on the machine in time */
    bool (*watch)(void *watcher, const struct launch_progress *progress); /* as in struct launch */
    void *watcher;
    struct trace_writer *trace_to; /* as in struct launch */
    struct trace_reader *trace_from;
    struct meter *meter; /* the same: of all launches */
};

/* Zero-initialise, then run_open. */
struct run {
    struct arena arena;
    const struct launch_file *file;
    const struct machine *machine;
    struct run_options options;
    struct device *device;
    struct program *program;
    const struct module *module;
    struct compiled compiled;
    bool is_compiled;     /* from a source; compiled says what the compiler knew */
    uint64_t module_hash; /* xxHash64 of the PTX that was loaded */
    uint64_t source_hash; /* xxHash64 of the file that `module:` names */
    struct bind_buffer *buffers;
    struct launch *launches;
    struct launch_result *results; /* of the launches done so far; per instruction all in the kernel's first */
    unsigned done;
    struct check_result *checks;
    bool checked, failed; /* all checks were made; one was not passed */
    struct sources sources;
    const struct result_sample *sample; /* result/sample.h; NULL: every launch ran as options say */
};

/* Loads the module, places and fills the buffers, checks the arguments of every launch. */
enum status run_open(struct run *run, const struct launch_file *file, const struct machine *machine,
                     const struct run_options *options, struct report *report);
/* Runs the next launch. */
enum status run_next(struct run *run, struct report *report);
/* The launch done last gives its counters per instruction to the first of the same kernel, so that the memory of a run
 * does not grow with its launches times its code. */
void run_fold(struct run *run);
/* Makes every check. STATUS_WRONG with the first mismatches in the report when one fails. */
enum status run_check(struct run *run, struct report *report);
/* Writes a buffer out; NumPy's format when the path ends in .npy, else the raw bytes. */
enum status run_dump(struct run *run, unsigned buffer, const char *path, struct report *report);
void run_close(struct run *run);

struct run_module {
    const char *text; /* what can be loaded */
    size_t length;
    bool is_compiled; /* from a source; compiled says what the compiler knew */
    struct compiled compiled;
    uint64_t source_hash; /* xxHash64 of the file that `module:` names */
};
/* The module of a launch file alone, as run_open would load it: compiled where it is a source, with addresses of so many bits
 * (64, 32: OpenCL C only). */
enum status run_load_text(const struct launch_file *file, unsigned address_bits, struct arena *arena,
                          struct run_module *out, struct report *report);

#endif
