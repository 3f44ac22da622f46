/* SPDX-License-Identifier: Apache-2.0 */
#include "machine/grade.h"

#include <string.h>

const char *const machine_grade_names[GRADE_COUNT] = {"measured", "vendor", "derived", "assumed", "inherited", "none"};

bool machine_is_of_hardware(const struct param_description *param) {
    static const char *const others[] = {"host.", "limits.", "series."};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strncmp(param->key, others[i], strlen(others[i])) == 0)
            return false;
    return true;
}

enum machine_grade machine_grade(const struct machine *machine, const struct param_description *param) {
    const char *origin = machine_origin(machine, param);
    const size_t length = strcspn(origin, ":"), name = strlen(machine->name);
    if (strcmp(origin, "default") == 0)
        return GRADE_INHERITED;
    if (origin[length] != ':' || origin[length + 1] != ' ')
        return GRADE_NONE;
    const bool own = (length == name && strncmp(origin, machine->name, name) == 0) || strncmp(origin, "dram/", 5) == 0;
    if (!own)
        return GRADE_INHERITED;
    for (unsigned grade = GRADE_MEASURED; grade <= GRADE_ASSUMED; grade++) {
        const size_t size = strlen(machine_grade_names[grade]);
        if (strncmp(origin + length + 2, machine_grade_names[grade], size) == 0 && origin[length + 2 + size] == ':')
            return (enum machine_grade)grade;
    }
    return GRADE_NONE;
}
