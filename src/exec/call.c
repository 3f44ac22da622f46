/* SPDX-License-Identifier: Apache-2.0 */
/* Calls: a frame of local memory per activation, return addresses per thread.
 *
 * Every function has its own registers in the warp's frame, so a call moves none. A function that can be entered
 * again before it returned saves the registers of the suspended activation first, as a compiler would spill them. */
#include <string.h>

#include "base/bits.h"
#include "exec/state.h"

static uint8_t *thread_local_memory(const struct exec *exec, unsigned thread) {
    return exec->local + (size_t)exec->local_bytes * thread;
}

static const struct function *callee_of(struct exec *exec, unsigned warp, unsigned lane, const struct step *step) {
    if (step->inst->call->callee)
        return step->inst->call->callee;
    const uint64_t address = exec_read(exec, warp, &step->rows[step->dst_count], lane);
    const struct module *module = exec->linked->module;
    const bool is_native = step->inst->call->behind != 0;
    for (unsigned i = 0; i < module->function_count; i++) {
        const struct function *function = module->functions[i];
        if (function->is_defined && exec->linked->layouts[i].reachable && !function->is_entry &&
            (is_native ? function->address : CODE_ADDRESS(function->first_pc)) == address)
            return function;
    }
    exec_fail(exec, warp, lane, step, "call through 0x%llx, which is not the address of a function",
              (unsigned long long)address);
    return NULL;
}

static bool save_registers(struct exec *exec, unsigned warp, unsigned lane, const struct function *function,
                           uint32_t *bytes) {
    const unsigned thread = 32 * warp + lane;
    const struct row *registers = exec->linked->layouts[function->index].registers;
    *bytes = function->reg_count * (uint32_t)sizeof(uint64_t);
    if (*bytes > exec->save_limit - exec->save_used[thread])
        return false;
    uint8_t *to = exec->saves + (size_t)exec->save_limit * thread + exec->save_used[thread];
    for (uint32_t i = 0; i < function->reg_count; i++) {
        const uint64_t value = exec_read(exec, warp, &registers[i], lane);
        memcpy(to + i * sizeof value, &value, sizeof value);
    }
    exec->save_used[thread] += *bytes;
    return true;
}

static void restore_registers(struct exec *exec, unsigned warp, unsigned lane, const struct function *function,
                              uint32_t bytes) {
    const unsigned thread = 32 * warp + lane;
    const struct row *registers = exec->linked->layouts[function->index].registers;
    exec->save_used[thread] -= bytes;
    const uint8_t *from = exec->saves + (size_t)exec->save_limit * thread + exec->save_used[thread];
    for (uint32_t i = 0; i < function->reg_count; i++) {
        uint64_t value;
        memcpy(&value, from + i * sizeof value, sizeof value);
        exec_write(exec, warp, &registers[i], lane, value);
    }
}

static bool call_lane(struct exec *exec, unsigned warp, unsigned lane, const struct step *step, struct executed *out) {
    const struct call *call = step->inst->call;
    const struct function *callee = callee_of(exec, warp, lane, step);
    if (!callee)
        return false;
    if (!callee->is_defined) /* exec_check knows of all that kernels come to without pointers */
        return exec_fail(exec, warp, lane, step, "call of '%s', which nothing defines", callee->name);
    if (call->argument_count != callee->param_count || call->return_count != callee->return_count)
        return exec_fail(exec, warp, lane, step, "call of '%s' with %u arguments and %u results; it has %u and %u",
                         callee->name, call->argument_count, call->return_count, callee->param_count,
                         callee->return_count);
    const unsigned thread = 32 * warp + lane;
    const struct linked *linked = exec->linked;
    const uint32_t from = exec->frame_pointers[thread];
    const uint64_t to = (uint64_t)from + linked_frame_size(linked, step->function);
    const uint64_t end = to + linked_frame_size(linked, callee);
    uint32_t saved = 0;
    if (exec->depths[thread] == exec->depth_limit || end > exec->local_bytes ||
        (linked->layouts[callee->index].is_recursive && !save_registers(exec, warp, lane, callee, &saved)))
        return exec_fail(exec, warp, lane, step, "call stack full at depth %u, calling '%s'; raise local.stack_bytes",
                         (unsigned)exec->depths[thread], callee->name);
    uint8_t *memory = thread_local_memory(exec, thread);
    for (unsigned i = 0; i < call->argument_count; i++) {
        const uint64_t bytes =
            callee->params[i]->bytes < call->arguments[i]->bytes ? callee->params[i]->bytes : call->arguments[i]->bytes;
        memcpy(memory + to + callee->params[i]->offset, memory + from + call->arguments[i]->offset, bytes);
    }
    if (end > exec->local_touched)
        exec->local_touched = (uint32_t)end;
    exec->activations[(size_t)exec->depth_limit * thread + exec->depths[thread]++] =
        (struct activation){(uint32_t)(step - linked->steps), from, saved};
    exec->frame_pointers[thread] = (uint32_t)to;
    out->next[lane] = callee->first_pc;
    return true;
}

bool exec_call_step(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes, struct executed *out) {
    for (BITS_EACH(lane, lanes))
        if (!call_lane(exec, warp, lane, step, out))
            return false;
    return true;
}

/* Native code says where it returns to: behind the call, or the stack has been spoilt. */
static bool check_return(struct exec *exec, unsigned warp, unsigned lane, const struct step *step,
                         const struct call *call) {
    const uint64_t to = exec_read(exec, warp, &step->rows[0], lane);
    return to == call->behind || exec_fail(exec, warp, lane, step, "return to 0x%llx, not to 0x%x behind the call",
                                           (unsigned long long)to, (unsigned)call->behind);
}

bool exec_return_step(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes, struct executed *out) {
    for (BITS_EACH(lane, lanes)) {
        const unsigned thread = 32 * warp + lane;
        if (!exec->depths[thread]) /* native code may run on into another function */
            return exec_fail(exec, warp, lane, step, "return from '%s', which nothing has called",
                             step->function->name);
        const struct activation *activation =
            &exec->activations[(size_t)exec->depth_limit * thread + --exec->depths[thread]];
        const struct function *callee = step->function;
        const struct call *call = exec->linked->steps[activation->call_pc].inst->call;
        if (step->src_count && !check_return(exec, warp, lane, step, call))
            return false;
        uint8_t *memory = thread_local_memory(exec, thread);
        const uint32_t from = exec->frame_pointers[thread], to = activation->frame_pointer;
        for (unsigned i = 0; i < callee->return_count; i++) {
            const uint64_t bytes = callee->returns[i]->bytes < call->returns[i]->bytes ? callee->returns[i]->bytes
                                                                                       : call->returns[i]->bytes;
            memcpy(memory + to + call->returns[i]->offset, memory + from + callee->returns[i]->offset, bytes);
        }
        if (activation->saved_bytes)
            restore_registers(exec, warp, lane, callee, activation->saved_bytes);
        exec->frame_pointers[thread] = to;
        out->next[lane] = activation->call_pc + 1;
    }
    return true;
}
