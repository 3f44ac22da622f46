/* SPDX-License-Identifier: Apache-2.0 */
/* Checkpoints: all that outlives a launch on a device, as a file, so that another process goes on from there. Memory is cut into
 * pages that are told by their contents; a page that an earlier file of the folder has is not written again. A file says of which
 * model and machine it is, and is refused on others. docs/checkpoints.md. */
#ifndef HEDDLE_LAUNCH_CHECKPOINT_H
#define HEDDLE_LAUNCH_CHECKPOINT_H

#include "device/device.h"
#include "launch/fill.h"

#define CHECKPOINT_FILE_BYTES_MAX (UINT64_C(64) << 30)

/* A folder that one process writes into. Zero-initialise, and set the folder. */
struct checkpoint_writer {
    const char *folder;
    struct arena arena;
    struct checkpoint_place *table; /* by page: which file has it */
    uint64_t table_size, table_used;
    struct {
        const char **items;
        unsigned count, capacity;
    } names;                          /* of files written */
    uint64_t pages, new_pages, bytes; /* of all files: pages that are not zero, those written, and what files take */
};

struct checkpoint_order {
    struct device *device;
    const struct machine *machine;
    const struct program *next; /* of the launch that comes */
    bool in_time;
    uint64_t launches;  /* that were done before */
    uint64_t file_hash; /* of the launch file's text; 0: there is none */
};
/* Writes FOLDER/NAME. STATUS_INVALID: something on the device cannot be kept. */
enum status checkpoint_write(struct checkpoint_writer *writer, const struct checkpoint_order *order, const char *name,
                             struct report *report);
void checkpoint_writer_free(struct checkpoint_writer *writer);

struct checkpoint_range {
    uint64_t start, bytes;
};

struct checkpoint_digest {
    uint64_t low, high; /* both 0: a page of zeros */
};

/* A file that was read; all lives in the arena. */
struct checkpoint {
    const char *path, *folder;
    const struct file_access *files;
    const uint8_t *data; /* of the file */
    size_t bytes, at;    /* at: behind its head */
    /* its head */
    const char *model, *machine; /* lines KEY=VALUE */
    bool in_time;
    uint64_t launches, file_hash, code_hash;
    struct checkpoint_range *ranges;
    struct checkpoint_digest *pages, *own; /* of the ranges, in their order; those that this file has */
    const char **others;                   /* files that have more of them */
    const uint8_t *state;
    uint32_t range_count, other_count;
    uint64_t page_count, own_count, state_bytes;
};

/* STATUS_INVALID with a report: it cannot be read, or is none. */
enum status checkpoint_open(struct checkpoint *checkpoint, const char *path, const struct file_access *files,
                            struct arena *arena, struct report *report);
/* Puts a device, on which nothing was launched and that has the same allocations, where the checkpoint was made. `cold`: on any
 * machine; caches are empty. */
struct checkpoint_target {
    struct device *device;
    const struct machine *machine;
    const struct program *next;
    bool in_time, cold;
};
enum status checkpoint_restore(const struct checkpoint *checkpoint, const struct checkpoint_target *target,
                               struct report *report);

#endif
