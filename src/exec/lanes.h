/* SPDX-License-Identifier: Apache-2.0 */
/* The lane code of one instruction-set level: lanes.c is compiled once per level and chosen when a device is made. */
#ifndef HEDDLE_EXEC_LANES_H
#define HEDDLE_EXEC_LANES_H

#include "base/cpu.h"
#include "exec/state.h"

/* What a lane function serves, for the linker's choice. */
struct lane_entry {
    lane_function *run;
    uint64_t types, source_types; /* bit per enum type; source_types 0: not a conversion */
    uint16_t op, flags;
    uint8_t mode, compare, rounding;
    uint8_t bytes[4]; /* of rows d, a, b, c; 0: predicate word; 255: absent */
    bool is_pair;     /* rows of 8 bytes are pairs of rows */
};

struct lanes {
    const char *name;
    const struct lane_entry *entries;
    unsigned count;
    void (*run)(struct exec *exec, unsigned warp, const struct group *group, uint32_t alive, uint32_t limit,
                struct executed *out);
    /* `step` of the executor that a struct core is. */
    void (*step_core)(void *core, unsigned warp, const struct group *group, uint32_t alive, uint64_t cycle,
                      struct executed *out, struct access *access);
};

#define LEVEL(name, is_there, is_automatic) extern const struct lanes lanes_##name;
CPU_LEVELS(LEVEL)
#undef LEVEL

/* The lane function for the instruction with these rows, NULL: none. */
lane_function *lanes_select(const struct lanes *lanes, const struct inst *inst, const struct row *rows);

#endif
