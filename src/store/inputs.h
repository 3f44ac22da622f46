/* SPDX-License-Identifier: Apache-2.0 */
/* The files that sweeps read, as their own folder has them: laid out elsewhere in the same places they are found by the same
 * names. What comes with Heddle (workloads, shipped machines) is left out. */
#ifndef HEDDLE_STORE_INPUTS_H
#define HEDDLE_STORE_INPUTS_H

#include "store/sweep.h"

struct input {
    const char *from; /* where it is */
    const char *to;   /* where those that read it look for it: a path from the root, without dots */
};

struct inputs {
    struct arena *arena;
    struct input *items;
    unsigned count, capacity;
    size_t common; /* after inputs_settle: bytes of `to` that all have in common, up to and with a '/' */
};

/* A file that the user named. Other files may be named relative to it. */
enum status inputs_add(struct inputs *inputs, const char *path, struct report *report);
/* What the sweep's programs and machines read. A name from the root is refused, for it means nothing on another computer. */
enum status inputs_add_sweep(struct inputs *inputs, const struct sweep *sweep, struct report *report);
/* A launch file with its module, what that includes, and data; `wanted` is how it was named, `from` where it is. */
enum status inputs_add_launch(struct inputs *inputs, const char *wanted, const char *from, struct report *report);
/* The machine as a study names it, from its folder; a shipped one is left out. */
enum status inputs_add_machine(struct inputs *inputs, const char *folder, const char *gpu, struct report *report);
/* All are there. */
void inputs_settle(struct inputs *inputs);
/* Where an input lies from the common folder, by the path that it was added with; NULL: it is none. */
const char *inputs_place(const struct inputs *inputs, const char *path);

#endif
