/* SPDX-License-Identifier: Apache-2.0 */
/* The host threads of a launch. Parts of the machine, which run on their own within an epoch, are spread over them: each
 * thread has every n-th, and takes over what others have not begun when it is through with its own. Who runs a part is
 * felt in no result: what SMs count together is counted on each thread apart, and added up. */
#ifndef HEDDLE_GPU_CREW_H
#define HEDDLE_GPU_CREW_H

#include <stdalign.h>
#include <stdatomic.h>

#include "base/team.h"
#include "gpu/clusters.h"
#include "gpu/net.h"
#include "gpu/partition.h"

struct crew_parts {
    struct net *nets[2];
    struct clusters *clusters; /* a part, of several blocks; NULL: there are none */
    struct sm *const *sms;
    uint32_t sm_count; /* that have been made */
    struct partition *const *partitions;
    uint32_t partition_count;
};

/* From one to before the other: in cycles, and in ticks of the parts' clocks. */
struct crew_epoch {
    uint64_t from, to, net_from, net_to, l2_from, l2_to;
};

struct crew_thread {
    alignas(64) atomic_uint next; /* of its parts: others take over from here too */
    unsigned count;
    alignas(64) struct sm_inst_stats *instructions; /* per PC and one more */
    jmp_buf escape;
    bool failed, faulted; /* the host was out of memory; a simulated thread faulted */
    uint64_t busy_ns;
    struct sm_histograms histograms;
};

struct crew {
    unsigned size; /* 1: everything runs on the calling thread, and nothing below is used but its counters */
    struct crew_thread *threads;
    struct arena *arena;
    struct crew_parts parts;
    struct crew_epoch epoch; /* under way */
    void (*meanwhile)(void *self);
    void *self;
    uint64_t busy_ns; /* what the last epoch took on all threads together */
    alignas(64) atomic_uint next_word;
};

void crew_create(struct crew *crew, struct arena *arena, unsigned size, uint32_t code_count);
/* An epoch of all parts, then links are exchanged, while the calling thread does `meanwhile` (NULL: nothing). True:
 * a simulated thread faulted. */
bool crew_run(struct crew *crew, struct team *team, const struct crew_parts *parts, const struct crew_epoch *epoch,
              void (*meanwhile)(void *self), void *self);

#endif
