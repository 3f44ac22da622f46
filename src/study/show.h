/* SPDX-License-Identifier: Apache-2.0 */
/* What a module is, without running it: kernels, control flow with reconvergence points, registers, occupancy. */
#ifndef HEDDLE_STUDY_SHOW_H
#define HEDDLE_STUDY_SHOW_H

#include <stdio.h>

#include "base/status.h"
#include "compile/compile.h"
#include "machine/machine.h"
#include "isa/module.h"

enum show_form { SHOW_SUMMARY, SHOW_LISTING, SHOW_CFG, SHOW_DOT, SHOW_REGISTERS, SHOW_NATIVE };

struct show_options {
    enum show_form form;
    const char *isa;               /* SHOW_NATIVE, which needs a machine: "fermi", "tesla", "native", "sm_86" ... */
    const char *cubin;             /* SHOW_NATIVE: write this file instead; NULL: show */
    const char *kernel;            /* only this kernel or function; NULL: all */
    const struct machine *machine; /* for occupancy; NULL: none is shown */
    uint32_t block_threads;        /* for occupancy; 0: as the launch file or the kernel says, else 256 */
    uint32_t dynamic_shared_bytes; /* beside the kernel's own; a launch file says it itself */
};

bool show_knows_isa(const char *name);
/* `path` is a .ptx, .sass, .cubin, .cl or .cu file, or a launch file (.yaml, .yml). Everything is loaded before the first byte is
 * written to `out`. */
enum status device_show(const char *path, const struct show_options *options, FILE *out, struct report *report);
/* Of a module that is loaded and analysed already; `compiled` and `folder` (where its sources are) may be NULL. */
enum status device_show_module(const struct module *module, const struct compiled *compiled, const char *folder,
                               const struct show_options *options, FILE *out, struct report *report);

#endif
