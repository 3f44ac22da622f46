/* SPDX-License-Identifier: Apache-2.0 */
/* What the executor cannot do, said before anything runs. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bits.h"
#include "exec/exec.h"
#include "exec/step.h"
#include "simt/barrier.h"

/* ---- functions that the executor provides ---- */

static bool is_wide(const struct symbol *symbol, unsigned bytes, unsigned address_bytes) {
    return symbol->bytes == (bytes == INTRINSIC_POINTER ? address_bytes : bytes);
}

/* Does the call hand over what the executor will read, and take what it will write? */
static bool has_form(const struct intrinsic_form *form, const struct call *call, unsigned address_bytes) {
    unsigned count = 0;
    for (; count < INTRINSIC_PARAMETERS && form->params[count]; count++)
        if (count == call->argument_count || !is_wide(call->arguments[count], form->params[count], address_bytes))
            return false;
    if (call->argument_count != count || call->return_count > (form->returned ? 1u : 0u))
        return false;
    return !call->return_count || is_wide(call->returns[0], form->returned, address_bytes);
}

static void describe(const struct intrinsic_form *form, unsigned address_bytes, char *out, size_t size) {
    size_t at = (size_t)snprintf(out, size, "it takes (");
    for (unsigned i = 0; i < INTRINSIC_PARAMETERS && form->params[i] && at < size; i++)
        at += (size_t)snprintf(out + at, size - at, "%s.b%u", i ? ", " : "",
                               8 * (form->params[i] == INTRINSIC_POINTER ? address_bytes : form->params[i]));
    if (at < size)
        snprintf(out + at, size - at, form->returned ? ") and returns .b%u" : ") and returns nothing",
                 8 * (form->returned == INTRINSIC_POINTER ? address_bytes : form->returned));
}

/* A function of CUDA's runtime on the device, which nothing here defines. What nvcc links with every program that is compiled in
 * parts has many calls of them that no kernel comes to. */
static bool is_device_runtime(const struct inst *inst) {
    static const char *const begins[] = {"cnp", "__cuda_syscall_", "__cudaCDP2", "cuda"};
    if (inst->op != OP_CALL || !inst->call->callee || inst->call->callee->is_defined || intrinsic_form_of(inst))
        return false;
    for (unsigned i = 0; i < sizeof begins / sizeof *begins; i++)
        if (strncmp(inst->call->callee->name, begins[i], strlen(begins[i])) == 0)
            return true;
    return false;
}

/* ---- instructions ---- */

/* Why the instruction cannot be run; NULL: it can. `out` is room for the words. */
static const char *unsupported(const struct module *module, const struct inst *inst, char *out, size_t size) {
    const struct intrinsic_form *form = intrinsic_form_of(inst);
    if (inst->type == TYPE_B128 && inst->op != OP_CP_ASYNC)
        return "128-bit values";
    if (inst->op == OP_ISSPACEP && inst->space != SPACE_GLOBAL && inst->space != SPACE_SHARED &&
        inst->space != SPACE_LOCAL)
        return "a test for this state space";
    if (inst->op == OP_REDUX && type_is_float(inst->type))
        return "floating-point redux";
    if (form && !has_form(form, inst->call, module->address_bytes)) {
        describe(form, module->address_bytes, out, size);
        return out;
    }
    if (inst->op == OP_CALL && inst->call->callee && !inst->call->callee->is_defined && !form &&
        !is_device_runtime(inst))
        return "a call of a function that the module does not define";
    if (inst->op == OP_BAR && inst->src_count > 1 && inst->src[1].kind == OPERAND_IMM &&
        !barrier_counts_warps(inst->src[1].imm)) {
        snprintf(out, size, "a barrier of %" PRIu64 " threads: they are counted by warps, in multiples of %d",
                 inst->src[1].imm, LANES_MAX);
        return out;
    }
    return NULL;
}

/* ---- kernels that launch kernels ---- */

/* The first call of a function, by PC, that leads to CUDA's runtime on the device; NO_PC: none does. */
static uint32_t launching_call(const struct module *module, const struct function *function, const bool *launches) {
    for (uint32_t pc = function->first_pc; function->is_defined && pc < function->end_pc; pc++) {
        const struct inst *inst = &module->code[pc];
        if (is_device_runtime(inst) ||
            (inst->op == OP_CALL && inst->call->callee && launches[inst->call->callee->index]))
            return pc;
    }
    return NO_PC;
}

static enum status check_launching(const struct module *module, struct report *report) {
    struct arena arena = {0};
    enum status status = STATUS_OK;
    bool *launches = ARENA_ARRAY(&arena, bool, module->function_count + 1u);
    for (bool changed = true; changed;) {
        changed = false;
        for (unsigned i = 0; i < module->function_count; i++)
            if (!launches[i] && launching_call(module, module->functions[i], launches) != NO_PC)
                launches[i] = changed = true;
    }
    for (unsigned i = 0; i < module->function_count; i++) {
        if (!launches[i] || !module->functions[i]->is_entry)
            continue;
        const struct inst *inst = &module->code[launching_call(module, module->functions[i], launches)];
        status = report_add(report, STATUS_INVALID,
                            "%s:%u:%u: error: unsupported: kernel '%s' calls '%s': CUDA's runtime on the device "
                            "(dynamic parallelism) is not built",
                            module->name, (unsigned)inst->text_line, (unsigned)inst->text_column,
                            module->functions[i]->name, inst->call->callee->name);
    }
    arena_free(&arena);
    return status;
}

enum status exec_check(const struct module *module, struct report *report) {
    enum status status = check_launching(module, report);
    char text[128];
    for (uint32_t pc = 0; pc < module->code_count; pc++) {
        const struct inst *inst = &module->code[pc];
        const char *what = unsupported(module, inst, text, sizeof text);
        if (!what)
            continue;
        const bool named = inst->op == OP_CALL && inst->call->callee;
        status = report_add(report, STATUS_INVALID, "%s:%u:%u: error: unsupported: %s (%s)", module->name,
                            (unsigned)inst->text_line, (unsigned)inst->text_column,
                            named ? inst->call->callee->name : op_name(inst->op), what);
    }
    return status;
}

/* ---- launches ---- */

enum status exec_check_local(const struct linked *linked, const struct exec_launch *launch, uint64_t capacity_bytes,
                             struct report *report) {
    const uint64_t bytes = linked->local_bytes + (linked->has_recursion ? launch->stack_bytes : 0);
    const uint64_t threads = (uint64_t)exec_warps_of(launch) * LANES_MAX;
    if (bytes > WINDOW_BYTES)
        return report_add(report, STATUS_INVALID,
                          "kernel '%s' needs %" PRIu64 " bytes of local memory per thread; a thread has %" PRIu64
                          " at most",
                          linked->kernel->name, bytes, WINDOW_BYTES);
    if (bytes > capacity_bytes / threads)
        return report_add(report, STATUS_INVALID,
                          "kernel '%s' needs %" PRIu64 " bytes of local memory per thread; a block of %" PRIu64
                          " threads would need more than the device has (memory.capacity_bytes)",
                          linked->kernel->name, bytes, threads);
    return STATUS_OK;
}
