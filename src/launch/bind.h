/* SPDX-License-Identifier: Apache-2.0 */
/* A launch of a launch file joined with the kernel it names: arguments checked against the signature and laid out. */
#ifndef HEDDLE_LAUNCH_BIND_H
#define HEDDLE_LAUNCH_BIND_H

#include "compile/compile.h"
#include "device/device.h"
#include "launch/launch_file.h"

/* The kernel of that exact name, else the only one whose name means it in the source (_Z5saxpyPfS_fi: saxpy).
 * NULL: none, or several. */
const struct function *bind_find_kernel(const struct module *module, const char *name);
/* The name as the source has it: "saxpy" of "_Z5saxpyPfS_fi", the name itself when it is not mangled. */
const char *bind_source_name(struct arena *arena, const char *name);
/* "saxpy(global float *y, global const float *x, float a, int n)"; types only when the source is not at hand. */
const char *bind_signature(struct arena *arena, const struct function *kernel, const struct compile_kernel *source);

/* Where buffers are, in the order of the launch file. */
struct bind_buffer {
    uint64_t address, count; /* elements */
};

/* What a launch is joined with. */
struct bind_parts {
    const struct module *module;
    const struct compiled *compiled; /* what the compiler said of it; NULL: nothing */
    const struct bind_buffer *buffers;
};

/* Fills everything of *out but the program. All arguments that do not fit are reported. */
enum status bind_launch(const struct launch_file *file, unsigned index, const struct bind_parts *parts,
                        struct arena *arena, struct launch *out, struct report *report);

#endif
