/* SPDX-License-Identifier: Apache-2.0 */
/* From a PTX module to a native program. */
#ifndef HEDDLE_LOWER_LOWER_H
#define HEDDLE_LOWER_LOWER_H

#include "sass/native.h"

struct lowering {
    enum native_isa isa;
    uint32_t registers;  /* of a thread at most; 0: all that the instruction set has */
    bool wide_addresses; /* addresses may have more than 32 bits: Fermi uses 64-bit pointers whole */
    unsigned sm;         /* of NATIVE_TURING: 75 to 89 */
};

/* Is it one of the variables of the program, which are the module's in its order? */
bool native_is_variable(const struct symbol *symbol);
/* The module's kernels, all or the one named, with what they call in place. The module must be analysed. What the
 * instruction set has no instruction for, and no sequence, is refused by name, file and line. */
enum status native_lower(const struct module *module, const char *kernel, const struct lowering *lowering,
                         struct native_program *out, struct report *report);

#endif
