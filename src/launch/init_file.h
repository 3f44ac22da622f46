/* SPDX-License-Identifier: Apache-2.0 */
/* A first launch file for a kernel, guessed from its signature, with words on what to change. */
#ifndef HEDDLE_LAUNCH_INIT_FILE_H
#define HEDDLE_LAUNCH_INIT_FILE_H

#include "launch/bind.h"

/* `module_path` is written as `module:`. `compiled` NULL: the module came as PTX, which names no types and no
 * arguments. The text lives in the arena. */
const char *init_file_text(const struct module *module, const struct compiled *compiled, const struct function *kernel,
                           const char *module_path, struct arena *arena);

#endif
