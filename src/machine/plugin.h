/* SPDX-License-Identifier: Apache-2.0 */
/* Plug-ins: shared libraries with mechanisms, schedulers, predictors and replacement policies (include/heddle-plugin.h). They
 * stay loaded as long as the process lives, and are chosen by name as our own are. */
#ifndef HEDDLE_MACHINE_PLUGIN_H
#define HEDDLE_MACHINE_PLUGIN_H

#include "base/arena.h"
#include "base/status.h"

#define PLUGIN_VARIABLE "HEDDLE_PLUGINS" /* of the environment: paths, one on a line */

struct plugin_file {
    const char *path;            /* absolute */
    const char *hash;            /* of the file: 32 hexadecimal digits */
    const char *const *provides; /* "divergence.mechanism=mine", NULL-terminated */
};

/* Names of parts: a letter from a to z, then letters, digits and '-'; fewer than 64 of them. */
bool plugin_is_name(const char *name);
/* Loads it, unless a file of the same content is loaded. STATUS_INVALID, with nothing added: the file is none, was built for
 * another interface, lacks what its kind needs, or has a name that is taken. Before machines are opened that use it, and not
 * while another thread opens one. */
enum status plugin_load(const char *path, struct report *report);
/* Those that the environment names. */
enum status plugin_load_environment(struct report *report);
/* Those loaded, in the order of loading; NULL behind the last. */
const struct plugin_file *plugin_at(unsigned number);
/* Their paths as the environment names them, for processes that this one starts; NULL: none are loaded. */
const char *plugin_paths(struct arena *arena);

#endif
