/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels timed on a GPU, as `calibrate collect` of share/heddle/calibrate prints them. */
#ifndef HEDDLE_STUDY_COLLECT_ROWS_H
#define HEDDLE_STUDY_COLLECT_ROWS_H

#include "base/arena.h"
#include "base/status.h"

struct collected_row {
    const char *gpu, *program, *arguments, *kernel, *source;
    double microseconds, spread, clock_mhz;
};
struct collected_rows {
    struct collected_row *items;
    unsigned count, capacity;
};
/* Rows of GPU,PROGRAM,ARGUMENTS,KERNEL,MICROSECONDS,SPREAD,CLOCK_MHZ,SOURCE below a heading. */
enum status collected_parse(struct arena *arena, const char *name, const char *text, size_t length,
                            struct collected_rows *out, struct report *report);
/* The row of the same program, arguments and kernel; NULL: there is none. */
const struct collected_row *collected_find(const struct collected_rows *rows, const struct collected_row *like);
/* The rows as the page of hardware has them. */
const char *collected_write(struct arena *arena, const struct collected_rows *rows);

#endif
