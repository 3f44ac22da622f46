/* SPDX-License-Identifier: Apache-2.0 */
/* heddle-plugin.h: parts of the simulated GPU from outside Heddle's tree. A plug-in is a shared library with divergence
 * mechanisms, warp schedulers, branch predictors or replacement policies of caches, written as those in the tree are:
 *
 *   #include <heddle-plugin.h>
 *   static const struct divergence_ops mine = {.name = "mine", ...};
 *   HEDDLE_PLUGIN(.mechanisms = (const struct divergence_ops *const[]){&mine, NULL});
 *
 *   cc -shared -fPIC mine.c -o mine.so $(pkg-config --cflags heddle-plugin)
 *   heddle run kernel.yaml --plugin ./mine.so --divergence mine
 *
 * The interfaces are divergence/divergence.h, sm/scheduler/scheduler.h, sm/predictor/predictor.h and
 * mem/replacement/replacement.h, beside this file; docs/plugins.md shows how to begin. Names are of a plug-in's own: what
 * Heddle has already is refused.
 *
 * Stability: version 0 promises none. A plug-in carries the hash of the headers that it was built with, and a Heddle with
 * others refuses it. A plug-in is code that runs inside the program: load only what you trust. */
#ifndef HEDDLE_PLUGIN_H
#define HEDDLE_PLUGIN_H

#include "base/rng.h"
#include "divergence/divergence.h"
#include "heddle-plugin-abi.h"
#include "mem/replacement/replacement.h"
#include "simt/formed.h"
#include "simt/stack.h"
#include "simt/threads.h"
#include "sm/predictor/predictor.h"
#include "sm/scheduler/scheduler.h"

/* What the program does for plug-ins. */
struct plugin_host {
#define FUNCTION(type, name, parameters, arguments) type(*name) parameters;
#define PROCEDURE(name, parameters, arguments) void(*name) parameters;
#include "machine/plugin_functions.def"
#undef FUNCTION
#undef PROCEDURE
};

/* What a plug-in has, lists with NULL behind the last; NULL: none. */
struct plugin {
    const char *abi; /* stays first in every version */
    const struct plugin_host **host;
    const struct divergence_ops *const *mechanisms;
    const struct scheduler_ops *const *schedulers;
    const struct predictor_ops *const *predictors;
    const struct replacement_ops *const *replacements;
};

#ifndef HEDDLE_PLUGIN_HOST /* the program itself has what follows */

/* In every file of a plug-in, once in the library, and seen by nobody else. */
#define PLUGIN_COPY __attribute__((weak, visibility("hidden")))

PLUGIN_COPY const struct plugin_host *heddle_host;

#define FUNCTION(type, name, parameters, arguments)                                                                    \
    PLUGIN_COPY type name parameters { return heddle_host->name arguments; }
#define PROCEDURE(name, parameters, arguments)                                                                         \
    PLUGIN_COPY void name parameters { heddle_host->name arguments; }
#include "machine/plugin_functions.def"
#undef FUNCTION
#undef PROCEDURE

PLUGIN_COPY enum status report_add(struct report *report, enum status code, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    code = heddle_host->report_add_va(report, code, format, arguments);
    va_end(arguments);
    return code;
}

PLUGIN_COPY char *arena_printf(struct arena *arena, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char *text = heddle_host->arena_printf_va(arena, format, arguments);
    va_end(arguments);
    return text;
}

/* Once in the library; ends in a semicolon. */
#define HEDDLE_PLUGIN(...)                                                                                             \
    __attribute__((visibility("default")))                                                                             \
    const struct plugin heddle_plugin = {.abi = HEDDLE_PLUGIN_ABI, .host = &heddle_host, __VA_ARGS__}

#endif
#endif
