/* SPDX-License-Identifier: Apache-2.0 */
#include "isa/intrinsic.h"

#include <string.h>

#include "isa/module.h"

#define POINTER INTRINSIC_POINTER

static const struct intrinsic_form forms[] = {
    {"vprintf", INTRINSIC_PRINTF, {POINTER, POINTER}, 4},
    {"printf", INTRINSIC_PRINTF, {POINTER, POINTER}, 4},
    {"__assertfail", INTRINSIC_ASSERT, {POINTER, POINTER, 4, POINTER, POINTER}, 0},
    {"malloc", INTRINSIC_MALLOC, {POINTER}, POINTER},
    {"__cuda_syscall_aligned_malloc", INTRINSIC_ALIGNED_MALLOC, {POINTER, POINTER}, POINTER},
    {"free", INTRINSIC_FREE, {POINTER}, 0},
};

const struct intrinsic_form *intrinsic_form_at(unsigned number) {
    return number < sizeof forms / sizeof forms[0] ? &forms[number] : NULL;
}

const struct intrinsic_form *intrinsic_form_named(const char *name) {
    for (unsigned i = 0; i < sizeof forms / sizeof forms[0]; i++)
        if (strcmp(name, forms[i].name) == 0)
            return &forms[i];
    return NULL;
}

unsigned intrinsic_form_number(const struct intrinsic_form *form) { return (unsigned)(form - forms); }

const struct intrinsic_form *intrinsic_form_of(const struct inst *inst) {
    if (inst->op != OP_CALL || !inst->call || !inst->call->callee || inst->call->callee->is_defined)
        return NULL;
    return intrinsic_form_named(inst->call->callee->name);
}

enum intrinsic intrinsic_of(const struct inst *inst) {
    const struct intrinsic_form *form = intrinsic_form_of(inst);
    return form ? form->intrinsic : INTRINSIC_NONE;
}
