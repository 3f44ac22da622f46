/* SPDX-License-Identifier: Apache-2.0 */
/* The traces of Accel-Sim's tracer (accel-sim-framework, dev 73f9fac; tests/reference/traces/README.md): a list of kernels, and for each a
 * text with a header and what every warp issued. */
#ifndef HEDDLE_TRACE_ACCEL_H
#define HEDDLE_TRACE_ACCEL_H

#include <stdio.h>

#include "base/arena.h"
#include "base/status.h"
#include "trace/file.h"
#include "trace/listing.h"
#include "trace/scan.h"

/* ---- one kernel, read ---- */

struct accel_header {
    const char *name;
    uint32_t grid[3], block[3];
    uint32_t shared_bytes, registers;
    unsigned sm, version; /* of the tracer */
    bool has_lines;       /* of source, before each instruction */
    uint64_t shared_base, local_base;
};

/* One issue of a warp. Addresses are those of the lanes in `lanes`. */
struct accel_inst {
    uint32_t lanes; /* active, and their guard holds */
    unsigned bytes; /* of an access; 0: it has none */
    struct traced_inst inst;
    uint64_t address[LANES_MAX];
};

enum accel_event { ACCEL_BLOCK, ACCEL_WARP, ACCEL_INST, ACCEL_BLOCK_END, ACCEL_END, ACCEL_BAD };

struct accel_reader {
    const char *path;
    struct scan scan;
    struct accel_header header;
    struct report *report;
    bool in_block;
    uint32_t warp;      /* of ACCEL_WARP, */
    uint64_t remaining; /* instructions that it has still */
    struct accel_inst inst;
};

/* The text, which lives in the arena; its header is read. STATUS_INVALID with file and line. */
enum status accel_open(struct accel_reader *reader, const char *path, struct arena *arena, struct report *report);
/* The same of a text that is there. */
enum status accel_open_text(struct accel_reader *reader, const char *path, struct scan_word text, struct arena *arena,
                            struct report *report);
/* What comes next; ACCEL_BAD: the report says what is wrong. */
enum accel_event accel_next(struct accel_reader *reader);
/* ACCEL_BAD, with what is wrong in the reader's line. */
enum accel_event accel_fail(const struct accel_reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- from there, and to there ---- */

struct accel_import {
    const char *from; /* a kernelslist.g, or the folder that it is in */
    const char *name; /* of what is written: NAME.yaml, NAME.traced, NAME.trace */
    struct arena *arena;
    /* out */
    const char *launch_file, *listing;
    size_t listing_bytes;
    struct trace_writer trace;
    unsigned kernels, launches, copies, ignored; /* lines of the list: that copy to the GPU, that are of no use here */
    uint64_t blocks, warps, instructions;
};
enum status accel_import(struct accel_import *import, struct report *report);
/* The same of one kernel's text alone; `from` names it. */
enum status accel_import_text(struct accel_import *import, struct scan_word text, struct report *report);

/* ---- and back ---- */

/* A launch of native code that was recorded with every issue (struct trace_writer). */
struct accel_launch {
    const struct module *module;
    const struct function *kernel;
    const struct recording *recording;
    uint32_t grid[3], block[3], shared_bytes;
    unsigned number; /* from 1 */
};
/* Its text. STATUS_INVALID: what of it the format cannot say. */
enum status accel_write(const struct accel_launch *launch, FILE *to, struct report *report);

#endif
