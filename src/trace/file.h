/* SPDX-License-Identifier: Apache-2.0 */
/* Traces in files: what the warps of every launch of a run did, packed. */
#ifndef HEDDLE_TRACE_FILE_H
#define HEDDLE_TRACE_FILE_H

#include "trace/recording.h"

/* The mechanism of what was recorded on a GPU: its warps are replayed as they went. */
#define TRACE_OF_HARDWARE "hardware"

/* What a launch must be to be the one that was recorded. */
struct trace_launch {
    const char *kernel, *mechanism;
    uint64_t code_hash; /* of the instructions, trace_code_hash */
    uint64_t blocks;
    uint32_t block_threads, warp_size;
};

uint64_t trace_code_hash(const struct module *module);

/* A file that grows by launches, in memory until it is written. Zero-initialise with an arena. */
struct trace_writer {
    struct arena *arena;
    uint8_t *items;
    unsigned count, capacity;
    unsigned launches;
    uint64_t raw_bytes; /* before they were packed */
    bool keeps_all;     /* every issue, for whoever reads the trace without the code; such a trace is not for replays */
};
/* STATUS_SYSTEM: the host has no memory, or the file would be larger than 4 GiB. */
enum status trace_add(struct trace_writer *writer, const struct trace_launch *launch, const struct recording *recording,
                      struct report *report);
enum status trace_write(const struct trace_writer *writer, const char *path, struct report *report);

/* A file that is read launch by launch. */
struct trace_reader {
    const char *name; /* of the file, for messages */
    const uint8_t *data;
    size_t bytes, at;
    unsigned launches; /* read so far */
    uint64_t hash;     /* xxHash64 of the file */
};
/* STATUS_INVALID with a report: it cannot be read, or is no trace. */
enum status trace_open(struct trace_reader *reader, const char *path, struct arena *arena, struct report *report);
/* Back to the first launch. */
void trace_rewind(struct trace_reader *reader);
/* The next launch, which must be this one: of `module`, into the arena. STATUS_INVALID with what differs, or where the file is
 * damaged. */
enum status trace_next(struct trace_reader *reader, const struct trace_launch *launch, const struct module *module,
                       struct arena *arena, struct recording **out, struct report *report);
/* The next launch, whichever it is: `found` says. Its recording has no module, and is not to be replayed. */
enum status trace_look(struct trace_reader *reader, struct trace_launch *found, struct arena *arena,
                       struct recording **out, struct report *report);
/* No launch is left. */
bool trace_at_end(const struct trace_reader *reader);

#endif
