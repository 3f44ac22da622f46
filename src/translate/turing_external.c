/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that code of sm_75 to sm_90 calls and the system provides: vprintf, malloc and the like. A kernel that holds the
 * address of one has a function of its own that hands the arguments over, from the registers of the ABI. */
#include <string.h>

#include "isa/intrinsic.h"
#include "translate/turing.h"

/* No section is so long: its addresses are none of code. */
#define FIRST_ADDRESS UINT32_C(0xffff0000)

enum { FIRST_ARGUMENT = 4, RETURN_ADDRESS = 20 };

uint32_t translate_external(const char *name) {
    const struct intrinsic_form *form = name ? intrinsic_form_named(name) : NULL;
    return form ? FIRST_ADDRESS + TURING_INST_BYTES * (uint32_t)intrinsic_form_number(form) : 0;
}

static unsigned bytes_of(const struct translation *t, uint8_t bytes) {
    return bytes == INTRINSIC_POINTER ? t->module->address_bytes : bytes;
}

static const struct symbol *add_variable(struct translation *t, struct function *function, const char *name,
                                         unsigned bytes) {
    struct symbol *symbol = ARENA_NEW(&t->module->arena, struct symbol);
    *symbol = (struct symbol){.name = name,
                              .space = SPACE_PARAM,
                              .type = bytes == 8 ? TYPE_B64 : TYPE_B32,
                              .align = bytes,
                              .bytes = bytes,
                              .vector = 1,
                              .offset = function->local_bytes,
                              .in_frame = true,
                              .function = function};
    function->local_bytes += 8;
    return symbol;
}

/* OpenCL's formats are constants: what is less than the size of their bank is a place in it. CUDA's are addresses, far beyond. */
static void find_format(struct translation *t) {
    const struct operand format = translate_pair(FIRST_ARGUMENT), is_place = translate_test(t);
    const struct operand bank = {.kind = OPERAND_IMM, .symbol = t->constants};
    translate_2(t, (struct operation){.op = OP_SETP, .type = TYPE_U64, .compare = CMP_LT}, is_place, format,
                translate_number(t->constants->bytes));
    t->guard = (int32_t)is_place.reg;
    translate_2(t, (struct operation){.op = OP_ADD, .type = TYPE_U64}, format, format, bank);
    t->guard = -1;
}

/* An argument is in a register, or in a pair that begins at an even one. */
static void put_arguments(struct translation *t, struct function *function, const struct intrinsic_form *form,
                          struct call *call) {
    unsigned reg = FIRST_ARGUMENT;
    call->arguments = ARENA_ARRAY(&t->module->arena, const struct symbol *, INTRINSIC_PARAMETERS);
    for (unsigned i = 0; i < INTRINSIC_PARAMETERS && form->params[i]; i++) {
        const unsigned bytes = bytes_of(t, form->params[i]);
        const struct symbol *symbol = add_variable(t, function, "argument", bytes);
        reg += reg % (bytes / 4);
        const struct operand sources[3] = {{.kind = OPERAND_ADDRESS, .symbol = symbol},
                                           translate_register(reg),
                                           translate_register(reg + 1)};
        translate_put(t, &(struct operation){.op = OP_ST, .type = TYPE_B32}, NULL, 0, sources, 1 + bytes / 4)->space =
            SPACE_PARAM;
        reg += bytes / 4;
        call->arguments[call->argument_count++] = symbol;
    }
}

static void put_result(struct translation *t, const struct symbol *symbol) {
    const struct operand from = {.kind = OPERAND_ADDRESS, .symbol = symbol};
    const struct operand words[2] = {translate_register(FIRST_ARGUMENT), translate_register(FIRST_ARGUMENT + 1)};
    translate_put(t, &(struct operation){.op = OP_LD, .type = TYPE_B32}, words, (unsigned)symbol->bytes / 4, &from, 1)
        ->space = SPACE_PARAM;
}

static const struct function *add_undefined(struct translation *t, unsigned *function_count, const char *name) {
    struct function *function = ARENA_NEW(&t->module->arena, struct function);
    function->name = arena_strdup(&t->module->arena, name);
    function->index = (*function_count)++;
    t->module->functions[function->index] = function;
    return function;
}

static void add(struct translation *t, unsigned *function_count, const struct function *kernel,
                const struct intrinsic_form *form) {
    struct arena *arena = &t->module->arena;
    struct function *function =
        translate_add_function(t, (*function_count)++, arena_printf(arena, "%s.%s", kernel->name, form->name), kernel);
    struct call *call = ARENA_NEW(arena, struct call);
    function->first_pc = t->code.count;
    function->address = translate_external(form->name);
    function->shared_bytes = kernel->shared_bytes;
    t->guard = -1, t->guard_negated = false;
    t->scratch = t->wide = t->test = 0;
    call->callee = call->prototype = add_undefined(t, function_count, form->name);
    if (t->constants && form->intrinsic == INTRINSIC_PRINTF)
        find_format(t);
    put_arguments(t, function, form, call);
    if (form->returned) {
        call->returns = ARENA_ARRAY(arena, const struct symbol *, 1);
        call->returns[call->return_count++] = add_variable(t, function, "result", bytes_of(t, form->returned));
    }
    translate_put(t, &(struct operation){.op = OP_CALL}, NULL, 0, NULL, 0)->call = call;
    if (form->returned)
        put_result(t, call->returns[0]);
    const struct operand back = translate_register(RETURN_ADDRESS);
    translate_put(t, &(struct operation){.op = OP_RET, .type = TYPE_U32}, NULL, 0, &back, 1);
    function->end_pc = t->code.count;
    while (t->texts.count < t->code.count)
        *ARENA_PUSH(arena, &t->texts) = NULL;
}

void turing_add_externals(struct translation *t, unsigned *function_count, const struct function *kernel) {
    const struct intrinsic_form *form;
    for (unsigned n = 0; (form = intrinsic_form_at(n)) != NULL; n++) {
        bool is_named = false;
        for (unsigned i = 0; i < t->kernel->link_count; i++)
            is_named |= t->kernel->links[i].symbol && strcmp(t->kernel->links[i].symbol, form->name) == 0;
        if (is_named)
            add(t, function_count, kernel, form);
    }
}
