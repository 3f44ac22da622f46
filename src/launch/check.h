/* SPDX-License-Identifier: Apache-2.0 */
/* What a buffer holds against what was expected. */
#ifndef HEDDLE_LAUNCH_CHECK_H
#define HEDDLE_LAUNCH_CHECK_H

#include "launch/launch_file.h"

enum { CHECK_MISMATCHES_SHOWN = 8, CHECK_TEXT_BYTES = 40 };

struct check_mismatch {
    uint64_t index;
    char got[CHECK_TEXT_BYTES], expected[CHECK_TEXT_BYTES];
};

struct check_result {
    bool passed;
    uint64_t compared, mismatches;                       /* elements; hash and sum: one comparison */
    struct check_mismatch first[CHECK_MISMATCHES_SHOWN]; /* index counts from the buffer's start */
    unsigned shown;
};

/* A buffer after the run, or a part of it. */
struct check_contents {
    const struct launch_buffer *buffer;
    const unsigned char *data;
    uint64_t count; /* elements */
};

/* STATUS_OK whether it passed or not; anything else: the check could not be made. */
enum status check_buffer(const struct launch_check *check, const struct check_contents *contents,
                         const struct fill_source *source, struct check_result *out, struct report *report);

#endif
