/* SPDX-License-Identifier: Apache-2.0 */
/* Text of any language that is loaded as it is, and native code as a file, to a module. */
#ifndef HEDDLE_DEVICE_LOAD_H
#define HEDDLE_DEVICE_LOAD_H

#include "base/arena.h"
#include "base/status.h"
#include "device/device.h"
#include "isa/module.h"
#include <stdint.h>

/* How names of modules end, for users. */
#define LOAD_ENDINGS ".cl (OpenCL C), .ptx, .sass, .cubin, .fatbin, .cu (CUDA) or .traced (of a foreign trace)"
/* A module, by the name of its file. */
bool load_is_module(const char *name);
/* One that needs no compiler: neither .cl nor .cu. */
bool load_is_text(const char *name);
/* One that is no text: .cubin, .fatbin. */
bool load_is_binary(const char *name);
/* Native code, by the same: .sass, .cubin. Whatever is not is PTX to load_text. */
bool load_is_native(const char *name);
/* The name under which a module's text can be loaded again: that of a cubin is its listing. */
const char *load_text_name(struct arena *arena, const char *name);
/* A module that can be run, its control flow known: as ptx_load, native code where the name ends in .sass or .cubin, and refused where the
 * executor has no meaning for an instruction. */
enum status load_text(const char *name, const char *text, size_t length, struct module **out, struct report *report);
/* The same as the machine runs it: of a fat binary what suits it, and PTX as what ptxas makes of it where its `isa` says so. NULL: as PTX. */
enum status load_for(const struct device_module *order, const struct machine *machine, struct module **out,
                     struct report *report);
/* load_text of a cubin that was made of PTX of that name. */
enum status load_assembled(const char *name, const uint8_t *bytes, size_t length, struct module **out,
                           struct report *report);

/* The listing of a cubin, in the arena, of one kernel or, NULL, all; NULL: the report says why not. */
const char *load_listing(const char *name, const uint8_t *bytes, size_t length, const char *kernel, struct arena *arena,
                         struct report *report);

#endif
