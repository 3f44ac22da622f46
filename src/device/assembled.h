/* SPDX-License-Identifier: Apache-2.0 */
/* PTX that runs as native code of sm_75 to sm_90, made by NVIDIA's assembler where the host has it. */
#ifndef HEDDLE_DEVICE_ASSEMBLED_H
#define HEDDLE_DEVICE_ASSEMBLED_H

#include "compile/compile.h"
#include "device/device.h"

struct machine;

/* The native code of PTX for the machine's `isa`, which is one of sm_75 to sm_90. */
enum status assembled_file(const struct compile_source *ptx, const struct machine *machine, struct arena *arena,
                           struct assembled *out, struct report *report);
/* The same as a module that can be run. Its text is the PTX, and kernels take what the PTX says that they take. */
enum status assembled_load(const struct device_module *order, const struct machine *machine, struct module **out,
                           struct report *report);

#endif
