/* SPDX-License-Identifier: Apache-2.0 */
/* Which line of a full set leaves: one file per policy, chosen by exact name.
 * The cache keeps the lines of a set in an order: a fill makes its line the newest, and with `by_use` a hit does too. Empty lines
 * leave first, lines on their way not at all; neither is the policy's affair. A policy without functions takes the oldest line;
 * one that wants another order keeps its own state by line. */
#ifndef HEDDLE_MEM_REPLACEMENT_REPLACEMENT_H
#define HEDDLE_MEM_REPLACEMENT_REPLACEMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/keep.h"
#include "base/status.h"
#include "cost/own.h"

struct replacement_shape {
    uint32_t sets, ways; /* line i belongs to set i / ways */
    uint64_t seed;
    const void *params; /* values of the policy's own keys */
};

struct replacement_ops {
    const char *name, *help;
    bool by_use;
    /* What follows is all there or all NULL, but for `hit` and `keep`. */
    void *(*create)(struct arena *arena, const struct replacement_shape *shape);
    /* Of the lines of a full set that may leave, the oldest first: the place in the list of the one that does. Asked again while
     * the access is blocked: it changes nothing. */
    uint32_t (*victim)(const void *self, const uint32_t *lines, uint32_t count);
    /* The line holds another address now; `replaces`: one that had to leave for it. */
    void (*filled)(void *self, uint32_t line, bool replaces);
    /* Once for sectors of a line that are looked up together. */
    void (*hit)(void *self, uint32_t line);
    /* Its state, all of it, for a checkpoint (base/keep.h); one with `create` and without this cannot be kept. */
    void (*keep)(void *self, struct keep *keep);
    /* Keys, counters and hardware of its own, of one cache; counters need `create`. own.cost is asked for the caches of an SM. */
    struct own own;
};

/* Our own, then those of plug-ins; NULL: there are not so many. */
const struct replacement_ops *replacement_at(unsigned number);

/* The policy of that exact name; NULL, with those that there are in the report: there is none. key: of the message. */
const struct replacement_ops *replacement_find(const char *name, const char *key, struct report *report);

#endif
