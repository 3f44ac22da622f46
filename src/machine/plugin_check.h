/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a plug-in has what its parts need, before any of them is added. */
#ifndef HEDDLE_MACHINE_PLUGIN_CHECK_H
#define HEDDLE_MACHINE_PLUGIN_CHECK_H

#include "base/status.h"

struct plugin;

/* Adds its parts to *parts, those of all plug-ins, of which there are ADDED_MAX at most. STATUS_INVALID with every part that lacks something or has a name that is taken. */
enum status plugin_check(const struct plugin *plugin, const char *path, unsigned *parts, struct report *report);

#endif
