/* SPDX-License-Identifier: Apache-2.0 */
/* Text of any language that is loaded as it is, and native code as a file, to a module. */
#ifndef HEDDLE_DEVICE_LOAD_H
#define HEDDLE_DEVICE_LOAD_H

#include "base/arena.h"
#include "base/status.h"
#include "isa/module.h"
#include <stdint.h>

/* Does it need no compiler, by the name of its file: .ptx, .sass, .cubin? */
bool load_is_text(const char *name);
/* Native code, by the same: .sass, .cubin. Whatever is not is PTX to load_text. */
bool load_is_native(const char *name);
/* The name under which a module's text can be loaded again: that of a cubin is its listing. */
const char *load_text_name(struct arena *arena, const char *name);
/* A module that can be run, its control flow known: as ptx_load, native code where the name ends in .sass or .cubin, and refused where the
 * executor has no meaning for an instruction. */
enum status load_text(const char *name, const char *text, size_t length, struct module **out, struct report *report);
/* The same of a cubin that was made of PTX of that name. */
enum status load_assembled(const char *name, const uint8_t *bytes, size_t length, struct module **out,
                           struct report *report);

/* The listing of a cubin, in the arena, of one kernel or, NULL, all; NULL: the report says why not. */
const char *load_listing(const char *name, const uint8_t *bytes, size_t length, const char *kernel, struct arena *arena,
                         struct report *report);

#endif
