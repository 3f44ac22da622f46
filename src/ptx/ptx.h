/* SPDX-License-Identifier: Apache-2.0 */
/* PTX text to a module. */
#ifndef HEDDLE_PTX_PTX_H
#define HEDDLE_PTX_PTX_H

#include "base/status.h"
#include "isa/module.h"

/* Loads `length` bytes of PTX text; `name` is what messages call the file. On success *out is a module to be
 * freed with module_free. Otherwise *out is NULL and the report lists every error and every unsupported
 * construct as "name:line:column: error: ...", the source line and a caret under the place. */
enum status ptx_load(const char *name, const char *text, size_t length, struct module **out, struct report *report);

#endif
