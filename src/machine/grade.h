/* SPDX-License-Identifier: Apache-2.0 */
/* How good the source of a value of a machine is: the first word of its origin (docs/adding-a-gpu.md). */
#ifndef HEDDLE_MACHINE_GRADE_H
#define HEDDLE_MACHINE_GRADE_H

#include "machine/machine.h"

enum machine_grade {
    GRADE_MEASURED,
    GRADE_VENDOR,
    GRADE_DERIVED,
    GRADE_ASSUMED,
    GRADE_INHERITED, /* has the value of a machine it builds on, or the key's default: an assumption too */
    GRADE_NONE,      /* its file grades nothing, or the command line says so */
    GRADE_COUNT
};

extern const char *const machine_grade_names[GRADE_COUNT];

/* Of a machine whose file grades values, and of keys that describe it: not those of the host, of limits and of what is recorded. */
enum machine_grade machine_grade(const struct machine *machine, const struct param_description *param);
bool machine_is_of_hardware(const struct param_description *param);

#endif
