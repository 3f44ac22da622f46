/* SPDX-License-Identifier: Apache-2.0 */
/* What a trace holds, launch by launch, without the module it is of. */
#ifndef HEDDLE_TRACE_INFO_H
#define HEDDLE_TRACE_INFO_H

#include "trace/file.h"

struct trace_info {
    struct trace_launch launch;
    uint64_t warps, issues; /* what a native instruction is made of counts each */
    uint64_t accesses;      /* issues that access memory, */
    uint64_t shared, local; /* of these in shared and local memory */
    uint64_t sectors;       /* of 32 bytes that were accessed in global memory, each once */
};

/* The next launch; what it takes meanwhile is in the arena. STATUS_INVALID where it is damaged. */
enum status trace_info_next(struct trace_reader *reader, struct arena *arena, struct trace_info *out,
                            struct report *report);

#endif
