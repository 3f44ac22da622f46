/* SPDX-License-Identifier: Apache-2.0 */
/* sm.pipeline control-bits: dependences. Native code has six counters a warp, which its instructions count up, are counted down for, and wait
 * for; other code has a record of every register. */
#include "sm/ready.h"
#include "sm/subcore.h"

/* ---- what a warp waits for ---- */

static struct hold_back goes(void) { return (struct hold_back){WAIT_TURN, 0, false}; }

/* Counters that an instruction waits for. Those counted up by the instruction before are not seen in the cycle behind it, but by DEPBAR,
 * which compilers put right behind LDGDEPBAR. */
static struct hold_back find_counters(const struct subcore_warp *warp, const struct inst_timing *said, uint64_t cycle) {
    const bool is_fresh = cycle < warp->fresh_until;
    unsigned waits = 0;
    for (unsigned rest = said->wait_mask; rest; rest &= rest - 1) {
        const unsigned i = bits_first(rest);
        waits |= (unsigned)(warp->counters[i] > (is_fresh ? warp->fresh[i] : 0)) << i;
    }
    if (said->least_counter != TIMING_NO_COUNTER) {
        const unsigned i = said->least_counter;
        waits |= (unsigned)(warp->counters[i] > said->least_value) << i;
    }
    if (!waits)
        return goes();
    return (struct hold_back){waits & warp->by_memory ? WAIT_MEMORY : WAIT_REGISTER, NO_CYCLE, false};
}

/* The same by registers: what is read or written has been written, and has been read. */
static struct hold_back find_registers(const struct subcores *all, const struct subcore_warp *warp,
                                       const struct subcore_inst *inst, uint64_t cycle) {
    const uint32_t *list = &all->code->registers[inst->first];
    uint64_t until = 0;
    for (unsigned i = 0; i < inst->reads; i++) {
        const struct subcore_register *reg = &warp->registers[list[i] & ~READ_AS_GUARD];
        if (reg->writers)
            return (struct hold_back){reg->by_memory ? WAIT_MEMORY : WAIT_REGISTER, NO_CYCLE, false};
        if (!reg->written)
            continue;
        const unsigned reader = list[i] & READ_AS_GUARD ? (unsigned)BY_GUARD : inst->reads_as;
        const uint32_t distance = all->code->distances[reg->written & ((1u << WRITTEN_CLASS_BITS) - 1)][reader];
        const uint32_t since =
            ((uint32_t)cycle - (reg->written >> WRITTEN_CLASS_BITS)) & (UINT32_MAX >> WRITTEN_CLASS_BITS);
        if (since < distance && cycle + distance - since > until)
            until = cycle + distance - since;
    }
    for (unsigned i = inst->reads; i < (unsigned)inst->reads + inst->writes; i++) {
        const struct subcore_register *reg = &warp->registers[list[i]];
        if (reg->writers || reg->readers)
            return (struct hold_back){reg->writers && reg->by_memory ? WAIT_MEMORY : WAIT_REGISTER, NO_CYCLE, false};
    }
    return until ? (struct hold_back){WAIT_REGISTER, until, false} : goes();
}

struct hold_back subcore_find_hold(struct sm *sm, unsigned w, const struct subcore_inst *inst, uint64_t cycle) {
    const struct subcores *all = subcores_of(sm);
    const struct subcore_warp *warp = &all->warps[w];
    if (!warp->buffered)
        return (struct hold_back){WAIT_FETCH, NO_CYCLE, false};
    /* what only time brings; the rest is looked at as it will be then */
    struct hold_back first = goes();
    uint64_t from = cycle;
    if (warp->there_from[warp->head] > from)
        first.wait = WAIT_FETCH, first.until = from = warp->there_from[warp->head];
    if (warp->issue_from > from)
        first.wait = WAIT_REGISTER, first.until = from = warp->issue_from;
    if (inst->order != ORDER_NONE && inst->order != ORDER_PROGRESS) {
        const struct timed timed = {.order = inst->order, .parameter = sm->timed[SETS(sm)->warps[w].pc].parameter};
        if (sm_waits_for_order(sm, w, &timed))
            return (struct hold_back){WAIT_MEMORY, NO_CYCLE, false};
    }
    const struct hold_back back =
        all->code->has_control ? find_counters(warp, &inst->said, from) : find_registers(all, warp, inst, from);
    if (back.wait != WAIT_TURN)
        return back;
    if (first.wait != WAIT_TURN || !inst->constant)
        return first;
    const uint64_t there = subcore_find_constant(sm, w, inst->constant - 1, cycle);
    return there ? (struct hold_back){WAIT_MEMORY, there, true} : back;
}

/* ---- what has been issued ---- */

static void count_up(struct subcore_warp *warp, unsigned counter, bool by_memory, uint64_t seen_from) {
    if (counter == TIMING_NO_COUNTER)
        return;
    warp->counters[counter]++;
    warp->fresh[counter]++;
    warp->fresh_until = seen_from;
    warp->by_memory = (uint8_t)((warp->by_memory & ~(1u << counter)) | (unsigned)by_memory << counter);
}

/* An instruction, or a part of it, that takes its time: its counters, or its registers until they are read and written. */
void subcore_depend(struct sm *sm, unsigned w, const struct subcore_inst *inst) {
    struct subcores *all = subcores_of(sm);
    struct subcore_warp *warp = &all->warps[w];
    const bool by_memory = inst->kind == KIND_MEMORY;
    if (all->code->has_control) {
        count_up(warp, inst->said.write_counter, by_memory, sm->now + LATCHES);
        count_up(warp, inst->said.read_counter, by_memory, sm->now + LATCHES);
        return;
    }
    const uint32_t *list = &all->code->registers[inst->first];
    for (unsigned i = 0; i < inst->reads; i++)
        warp->registers[list[i] & ~READ_AS_GUARD].readers++;
    for (unsigned i = inst->reads; i < (unsigned)inst->reads + inst->writes; i++) {
        warp->registers[list[i]].writers++;
        warp->registers[list[i]].by_memory = by_memory;
        warp->registers[list[i]].written = 0;
    }
}

/* One of known latency is there after a number of cycles that depends on who reads it. */
void subcore_depend_fixed(struct sm *sm, unsigned w, const struct subcore_inst *inst) {
    struct subcores *all = subcores_of(sm);
    const uint32_t *list = &all->code->registers[inst->first + inst->reads];
    const uint32_t written = (uint32_t)sm->now << WRITTEN_CLASS_BITS | inst->writes_as;
    for (unsigned i = 0; !all->code->has_control && i < inst->writes; i++)
        all->warps[w].registers[list[i]].written = written;
}

/* ---- what has come back ---- */

static void count_down(struct subcore_warp *warp, unsigned counter) {
    if (counter != TIMING_NO_COUNTER && warp->counters[counter])
        warp->counters[counter]--;
}

/* Its operands have been read. */
void subcore_read(struct subcores *all, const struct flight *flight) {
    const struct subcore_inst *inst = &all->code->insts[flight->pc];
    struct subcore_warp *warp = &all->warps[flight->warp];
    if (all->code->has_control) {
        count_down(warp, inst->said.read_counter);
        return;
    }
    const uint32_t *list = &all->code->registers[inst->first];
    for (unsigned i = 0; i < inst->reads; i++)
        warp->registers[list[i] & ~READ_AS_GUARD].readers--;
}

void subcore_written(struct subcores *all, const struct flight *flight) {
    const struct subcore_inst *inst = &all->code->insts[flight->pc];
    struct subcore_warp *warp = &all->warps[flight->warp];
    if (all->code->has_control) {
        count_down(warp, inst->said.write_counter);
        return;
    }
    const uint32_t *list = &all->code->registers[inst->first + inst->reads];
    for (unsigned i = 0; i < inst->writes; i++)
        warp->registers[list[i]].writers--;
}
