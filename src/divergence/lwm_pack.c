/* SPDX-License-Identifier: Apache-2.0 */
/* Large warps: sub-warps are packed of the threads of an instruction. */
#include "divergence/lwm.h"

#include <string.h>

#include "isa/uniform.h"

/* Whether its outcome is the same for all threads of the large warp. One register for all can hold it only if all have
 * come. */
static bool is_scalar(const struct lwm *lwm, unsigned number, const struct inst *inst) {
    const struct lwm_large *large = &lwm->large[number];
    if (!lwm->params.scalar || !uniform_is_scalar(large->uniform, inst))
        return false;
    bool all_came = true;
    for (unsigned row = 0; row < large->rows; row++)
        all_came &= stack_top(&large->stack)->lanes[row] == lwm->alive[lwm_first_warp(lwm, number) + row];
    return !inst->dst_count || all_came;
}

/* Does the guard hold, which is the same in all threads? */
static bool guard_holds(const struct lwm *lwm, unsigned number, uint32_t pc) {
    const uint32_t *lanes = stack_top(&lwm->large[number].stack)->lanes;
    unsigned row = 0;
    while (!lanes[row])
        row++;
    return lanes[row] & lwm->executor->guard(lwm->executor->self, lwm_first_warp(lwm, number) + row, pc);
}

/* What the sub-warps of the instruction at the top will be made of. */
static void pack(struct lwm *lwm, unsigned number) {
    struct lwm_large *large = &lwm->large[number];
    const struct stack_entry *top = stack_top(&large->stack);
    const struct inst *inst = &lwm->code[top->pc];
    memcpy(large->remaining, top->lanes, large->rows * sizeof *large->remaining);
    large->offered = 0, large->first_row = 0;
    large->by_rows = inst_is_of_warps(inst) || (divergence_is_global(inst) && lwm->params.memory_rows);
    stack_gather_begin(&large->stack, &large->gathered);
    large->packed = true;
    large->once = lwm->params.jump && lwm_is_jump(inst);
    large->scalar = is_scalar(lwm, number, inst);
    if (large->scalar) {
        large->once = true;
        large->holds = inst->guard < 0 || guard_holds(lwm, number, top->pc);
        return;
    }
    if (inst->guard < 0 || !lwm->params.guards || !lwm->executor || inst_is_control(inst) || inst->op == OP_BAR ||
        inst_is_of_warps(inst))
        return;
    uint32_t held[STACK_ROWS];
    unsigned without = 0;
    for (unsigned row = 0; row < large->rows; row++) {
        const uint32_t guard = lwm->executor->guard(lwm->executor->self, lwm_first_warp(lwm, number) + row, top->pc);
        held[row] = large->remaining[row] & guard;
        without += bits_count(large->remaining[row] & ~guard);
    }
    large->once =
        !stack_mask_any(&large->stack, held); /* holds for nobody: the instruction is passed once all the same */
    if (large->once)
        return;
    memcpy(large->remaining, held, large->rows * sizeof *large->remaining);
    lwm->stats.unguarded += without;
}

/* The first row of which all that remain are free. */
static uint32_t take_row(struct lwm_large *large, unsigned warp_size, unsigned first_thread) {
    for (unsigned row = large->first_row; row < large->rows; row++) {
        const uint32_t lanes = large->remaining[row];
        if (!lanes || lanes & large->busy[row])
            continue;
        threads_put_row(large->threads, first_thread + row * warp_size, lanes);
        large->parts[0] = (struct lwm_part){lanes, row}, large->part_count = 1;
        return lanes;
    }
    return 0;
}

/* The first free thread that remains in each column. */
static uint32_t take_columns(struct lwm_large *large, unsigned warp_size, unsigned first_thread) {
    struct lwm_part *part = large->parts;
    uint32_t lanes = 0;
    for (unsigned row = large->first_row; row < large->rows && lanes != UINT32_MAX; row++) {
        const uint32_t here = large->remaining[row] & ~large->busy[row] & ~lanes;
        if (!here)
            continue;
        *part++ = (struct lwm_part){here, row};
        lanes |= here;
    }
    large->part_count = (unsigned)(part - large->parts);
    if (!lanes)
        return 0;
    struct threads_rows rows = threads_first_row(first_thread + large->parts[0].row * warp_size);
    for (const struct lwm_part *one = large->parts + 1; one < part; one++) /* put beside it */
        threads_add_row(&rows, (one->row - large->parts[0].row) * warp_size, one->lanes);
    threads_of_rows(large->threads, &rows);
    return lanes;
}

/* The first free threads that remain, wherever their columns are. */
static uint32_t take_any(const struct lwm *lwm, const struct lwm_large *large, unsigned first_thread,
                         uint16_t *threads) {
    unsigned count = 0;
    for (unsigned row = 0; row < large->rows; row++)
        for (BITS_EACH(lane, large->remaining[row] & ~large->busy[row])) {
            if (count == lwm->width)
                return bits_low(count);
            threads[count++] = (uint16_t)(first_thread + row * lwm->warp_size + lane);
        }
    return bits_low(count);
}

static bool may_begin(const struct lwm_large *large) {
    return large->begun || (large->needs_all ? !large->busy_count : large->completed || !large->busy_count);
}

/* Makes the next sub-warp of the instruction; no lanes: none can issue now. */
static uint32_t find_sub_warp(const struct lwm *lwm, struct lwm_large *large, unsigned first) {
    if (large->by_rows)
        return take_row(large, lwm->warp_size, first);
    if (lwm->params.registers == LWM_REGISTERS_IDEAL)
        return take_any(lwm, large, first, large->threads);
    return take_columns(large, lwm->warp_size, first);
}

bool lwm_offer(void *self, unsigned slot, struct group *out) {
    struct lwm *lwm = self;
    if (slot >= lwm->count || !lwm->large[slot].stack.count || !may_begin(&lwm->large[slot]))
        return false;
    struct lwm_large *large = &lwm->large[slot];
    const uint32_t pc = stack_top(&large->stack)->pc;
    const struct inst *inst = &lwm->code[pc];
    if (!large->packed)
        pack(lwm, slot);
    if (!large->offered)
        large->offered = find_sub_warp(lwm, large, lwm_first_warp(lwm, slot) * lwm->warp_size);
    *out = (struct group){.pc = pc, .lanes = large->offered, .stop_pc = NO_PC, .threads = large->threads};
    if (large->once && lwm_is_jump(inst))
        for (unsigned row = 0; row < large->rows; row++)
            out->also += bits_count(large->remaining[row]);
    out->also -= out->also ? bits_count(out->lanes) : 0;
    return out->lanes != 0;
}
