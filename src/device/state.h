/* SPDX-License-Identifier: Apache-2.0 */
/* A device and the programs on it, for the files of this room. */
#ifndef HEDDLE_DEVICE_STATE_H
#define HEDDLE_DEVICE_STATE_H

#include <setjmp.h>

#include "device/device.h"
#include "emulate/parallel.h"
#include "machine/machine.h"

struct variable_place; /* device/host.h */

struct program {
    struct module *module;
    struct module *source; /* what `module` was lowered from, or NULL */
    uint64_t image_address;
    struct linked **linked; /* per function, when first launched */
    struct program *next;
};

struct device {
    struct arena arena;
    jmp_buf escape; /* out of memory inside a call of this API */
    const struct machine *machine;
    const struct divergence_ops *mechanism;
    const struct lanes *lanes;
    struct memory memory;
    struct program *programs;
    struct gpu *gpu; /* made for the first launch in time */
    struct gpu_config gpu_config;
    struct parallel *parallel; /* made for the first functional launch on several host threads */
    struct arena launch_arena; /* of one launch after the other */
    struct arena *sm_arenas;   /* where SMs run on several host threads: of each SM, the same */
    uint64_t launches;
    const struct variable_place *places; /* of the module that is being loaded */
    unsigned place_count;
    uint64_t heap_bytes;         /* that programs asked for; 0: what the machine says */
    struct footprint *footprint; /* made for the first launch of which it is wanted (device/warm.h) */
    bool stopped;                /* a launch stopped in the middle: memory is not to be trusted */
};

/* Of device_written, what concerns the L2. */
void device_copied_in(struct device *device, uint64_t address, uint64_t bytes);

/* Runs the rest of the function with `device->arena` guarded: when the host is out of memory it returns. */
#define GUARD(device, report)                                                                                          \
    do {                                                                                                               \
        (device)->arena.escape = &(device)->escape;                                                                    \
        if (setjmp((device)->escape))                                                                                  \
            return report_add(report, STATUS_SYSTEM, "the host is out of memory");                                     \
    } while (0)

#endif
