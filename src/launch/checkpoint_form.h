/* SPDX-License-Identifier: Apache-2.0 */
/* The form of a checkpoint file, for those who write and read it: MAGIC, a frame with the head, and frames with the pages that are
 * its own. A frame is its bytes unpacked and packed and the hash of those that are packed, 8 bytes each, and
 * zstd. The head has the numbers of base/keep.h. */
#ifndef HEDDLE_LAUNCH_CHECKPOINT_FORM_H
#define HEDDLE_LAUNCH_CHECKPOINT_FORM_H

#include "base/keep.h"
#include "launch/checkpoint.h"
#include "machine/machine.h"

#define CHECKPOINT_MAGIC "heddle checkpoint 1\n"
#define CHECKPOINT_HEAD_BYTES_MAX (UINT64_C(1) << 30)

enum { CHECKPOINT_PAGE_BYTES = 4096, CHECKPOINT_GROUP_PAGES = 256, CHECKPOINT_FRAME_BYTES = 24 };

/* The head, both ways; the arena holds what is read. */
void checkpoint_keep_head(struct checkpoint *head, struct keep *keep, struct arena *arena);
/* Lines KEY=VALUE of all that can change a result. */
const char *checkpoint_machine(const struct machine *machine, struct arena *arena);
struct checkpoint_digest checkpoint_digest(const void *page);
uint64_t checkpoint_frame_hash(const void *packed, size_t bytes);
/* Allocations with bytes. */
struct checkpoint_range *checkpoint_ranges(const struct device *device, uint32_t *count, struct arena *arena);

static inline uint64_t checkpoint_pages_of(uint64_t bytes) {
    return bytes / CHECKPOINT_PAGE_BYTES + (bytes % CHECKPOINT_PAGE_BYTES != 0);
}

static inline bool checkpoint_is_zero(struct checkpoint_digest digest) { return !digest.low && !digest.high; }

static inline int checkpoint_compare(struct checkpoint_digest a, struct checkpoint_digest b) {
    if (a.high != b.high)
        return a.high < b.high ? -1 : 1;
    return a.low == b.low ? 0 : a.low < b.low ? -1 : 1;
}

#endif
