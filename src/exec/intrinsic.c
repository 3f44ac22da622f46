/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of what the executor provides; of these malloc and free, whose heap is memory's: in time they are performed there, as atomics
 * are, and what they return arrives with the reply. */
#include <inttypes.h>
#include <string.h>

#include "exec/core.h"
#include "exec/kernel_heap.h"

static uint8_t *frame_of(const struct exec *exec, unsigned thread) {
    return exec->local + (size_t)exec->local_bytes * thread + exec_frame_pointer(exec, thread);
}

uint64_t exec_argument(const struct exec *exec, unsigned thread, const struct call *call, unsigned index) {
    uint64_t value = 0;
    const struct symbol *symbol = call->arguments[index];
    memcpy(&value, frame_of(exec, thread) + symbol->offset, symbol->bytes < 8 ? symbol->bytes : 8);
    return value;
}

/* ---- the heap ---- */

/* What a thread asks for. */
struct kernel_heap_call {
    uint64_t first, alignment; /* bytes, or the address to free */
};

static struct kernel_heap_call read_call(const struct exec *exec, unsigned thread, const struct step *step) {
    const struct call *call = step->inst->call;
    const bool is_aligned = step->intrinsic == INTRINSIC_ALIGNED_MALLOC;
    return (struct kernel_heap_call){exec_argument(exec, thread, call, 0),
                                     is_aligned ? exec_argument(exec, thread, call, 1) : 1};
}

static bool is_freeable(const struct kernel_heap *heap, uint64_t address) {
    uint64_t start, end;
    return !address || (kernel_heap_find(heap, address, &start, &end) && start == address);
}

static bool fail_free(struct exec *exec, unsigned warp, unsigned lane, const struct step *step, uint64_t address) {
    return exec_fail(exec, warp, lane, step, "free of 0x%" PRIx64 ", which malloc did not give out or was freed before",
                     address);
}

/* What malloc returns, in the place that the caller has for it. */
static void put_result(uint8_t *frame, const struct call *call, uint64_t value) {
    if (call->return_count)
        memcpy(frame + call->returns[0]->offset, &value, call->returns[0]->bytes < 8 ? call->returns[0]->bytes : 8);
}

static bool heap_step(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes) {
    struct kernel_heap *heap = exec->memory->heap;
    for (BITS_EACH(lane, lanes)) {
        const unsigned thread = LANES_MAX * warp + lane;
        const struct kernel_heap_call asked = read_call(exec, thread, step);
        exec->counts->progress++;
        if (step->intrinsic != INTRINSIC_FREE)
            put_result(frame_of(exec, thread), step->inst->call,
                       kernel_heap_allocate(heap, asked.first, asked.alignment));
        else if (asked.first && !kernel_heap_free(heap, asked.first))
            return fail_free(exec, warp, lane, step, asked.first);
    }
    return true;
}

/* Operands are bound now. What is freed must be there now: whoever freed it in this round is found out when it is performed. */
static bool timed_heap_step(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes) {
    struct core *core = exec->core;
    struct access *access = core->access;
    const uint32_t number = core_take_ticket(core);
    if (number == NO_TICKET)
        return exec_fail(exec, warp, bits_first(lanes), step, "more atomics in flight than the model holds");
    struct ticket *ticket = &core->tickets.items[number];
    const unsigned first_thread = (exec->place * core->warps_per_place + warp) * LANES_MAX;
    *access =
        (struct access){.kind = ACCESS_ATOMIC, .space = SPACE_GLOBAL, .bytes = 8, .lanes = lanes, .ticket = number};
    ticket->step = step, ticket->lanes = lanes;
    for (BITS_EACH(lane, lanes)) {
        const unsigned thread = LANES_MAX * warp + lane;
        const struct kernel_heap_call asked = read_call(exec, thread, step);
        if (step->intrinsic == INTRINSIC_FREE && !is_freeable(exec->memory->heap, asked.first))
            return fail_free(exec, warp, lane, step, asked.first);
        access->address[lane] = kernel_heap_address(exec->memory->heap);
        ticket->thread[lane] = (uint16_t)(first_thread + lane);
        ticket->address[lane] = (uint64_t)(frame_of(exec, thread) - exec->local);
        ticket->b[lane] = asked.first, ticket->c[lane] = asked.alignment;
    }
    return true;
}

static void note_fault(struct core *core, const struct ticket *ticket, unsigned lane) {
    struct kernel_heap_fault *fault = kernel_heap_fault(core->memory->heap);
    const struct core_warp *home = &core->warps[ticket->thread[lane] / LANES_MAX];
    if (!fault->found)
        *fault = (struct kernel_heap_fault){.found = true,
                                            .pc = (uint32_t)(ticket->step - core->linked->steps),
                                            .thread = home->exec->launch->warp_size * home->number +
                                                      ticket->thread[lane] % LANES_MAX,
                                            .block = home->exec->block,
                                            .address = ticket->b[lane]};
}

void core_perform_heap(struct core *core, struct ticket *ticket, uint32_t lanes) {
    struct kernel_heap *heap = core->memory->heap;
    for (BITS_EACH(lane, lanes)) {
        core->counts->progress++;
        if (ticket->step->intrinsic != INTRINSIC_FREE)
            ticket->old[lane] = kernel_heap_allocate(heap, ticket->b[lane], ticket->c[lane]);
        else if (ticket->b[lane] && !kernel_heap_free(heap, ticket->b[lane]))
            note_fault(core, ticket, lane);
    }
}

void core_finish_heap(struct core *core, const struct ticket *ticket) {
    for (BITS_EACH(lane, ticket->step->intrinsic == INTRINSIC_FREE ? 0 : ticket->lanes)) {
        const struct core_warp *home = &core->warps[ticket->thread[lane] / LANES_MAX];
        put_result(home->exec->local + ticket->address[lane], ticket->step->inst->call, ticket->old[lane]);
    }
}

/* ---- all of them ---- */

bool exec_intrinsic_step(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes) {
    if (!intrinsic_is_of_heap(step->intrinsic))
        return exec_print_step(exec, warp, step, lanes);
    return exec->core ? timed_heap_step(exec, warp, step, lanes) : heap_step(exec, warp, step, lanes);
}
