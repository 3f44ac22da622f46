/* SPDX-License-Identifier: Apache-2.0 */
/* Launches of other people's programs kept as launch files (launch/record.h): which, where, and how much. */
#ifndef HEDDLE_RESULT_GUEST_RECORD_H
#define HEDDLE_RESULT_GUEST_RECORD_H

#include "launch/record.h"
#include "result/session_log.h"

/* What `heddle exec` asks for; each is an environment variable of guest_record.c. */
struct record_settings {
    const char *folder;      /* all that are chosen are kept there; NULL: none is */
    const char *longest;     /* the one that took longest, or that stopped, is kept there; NULL: none is */
    const char *checkpoints; /* checkpoints are kept there, of every so many launches; NULL: none are */
    const char *kernel;      /* only launches of this kernel; NULL: of all */
    uint64_t launch;         /* only the launch of this number in its process, 1 the first; 0: all */
    uint64_t bytes;          /* that a process may write */
};

struct guest_records;      /* of the process */
struct guest_record_under; /* a launch under way */

/* NULL: nobody asked for any. */
struct guest_records *guest_records_create(struct arena *arena);

/* Before a launch and after it; what cannot be kept is told by a remark in the log. The first gives NULL where it is not kept, and takes NULL records.
 * `stopped`: what the device said; NULL: it ended as it should. */
struct guest_record_under *guest_record_begin(struct guest_records *records, struct device *device,
                                              const struct session_entry *entry, const struct launch *launch,
                                              struct session_log *log);
void guest_record_end(struct guest_record_under *under, const char *stopped, uint64_t ns);

#endif
