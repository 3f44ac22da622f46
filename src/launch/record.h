/* SPDX-License-Identifier: Apache-2.0 */
/* A launch that stands on a device written down: a folder with a launch file, the module, and what memory holds, every allocation
 * at its own address, so that pointers in it stay pointers. */
#ifndef HEDDLE_LAUNCH_RECORD_H
#define HEDDLE_LAUNCH_RECORD_H

#include "device/host.h"
#include "launch/launch_file.h"

struct checkpoint_writer; /* launch/checkpoint.h */

struct record_order {
    struct device *device;
    const struct launch *launch;
    const char *folder; /* takes it; there, and empty */
    const char *about;  /* comments in front of the launch file, each line with its # and its end */
    /* Memory goes there, with what caches hold, and not beside the launch file; NULL: there is no such folder. */
    struct checkpoint_writer *checkpoints;
    const char *checkpoint; /* the name of its file in that folder, which has `folder` in it */
    uint64_t launches;      /* that were done before */
    const char *source; /* text of the file that the module's positions name first; "": it is looked for on the disk */
};

struct record_buffer {
    const char *name;
    struct host_range range;
    bool is_zero;
    uint64_t hash; /* of what it held before the launch */
};

/* Zero-initialise. */
struct launch_record {
    struct arena arena;
    struct record_order order;
    struct {
        struct record_buffer *items;
        unsigned count, capacity;
    } buffers;
    const uint8_t *initial; /* the module's variables as they were loaded */
    const char *text;       /* of the launch file */
};

/* Looks at the device: how many bytes it would write. STATUS_INVALID: no launch file can say this launch. */
enum status record_begin(struct launch_record *record, const struct record_order *order, uint64_t *bytes,
                         struct report *report);
/* Writes all of it. The launch has not begun. */
enum status record_write(struct launch_record *record, struct report *report);
/* The launch has ended: the launch file expects what the buffers hold that it changed, or, where it stopped, has the words as a
 * comment. */
enum status record_end(struct launch_record *record, const char *stopped, struct report *report);
void record_free(struct launch_record *record);

/* The module's text with the names of files that lie elsewhere without their folders, and the sources that are at hand, each under
 * the name that it has there, beside it. */
enum status record_module(const struct record_order *order, struct arena *arena, const char *path,
                          struct report *report);

#endif
