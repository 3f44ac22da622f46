/* SPDX-License-Identifier: Apache-2.0 */
/* sm.pipeline control-bits: sub-cores made of their keys. */
#include "sm/subcore.h"

static enum status create_l0(struct sm *sm, struct subcore *core, struct report *report) {
    const uint32_t lines = sm->params.l0i_bytes / CODE_LINE_BYTES;
    if (!sm->params.l0i_bytes)
        return STATUS_OK;
    core->ways = sm->params.l0i_ways;
    core->sets = lines / core->ways;
    if (!core->sets || !bits_is_power_of_two(core->sets) ||
        core->sets * core->ways * CODE_LINE_BYTES != sm->params.l0i_bytes)
        return report_add(
            report, STATUS_INVALID,
            "sm.l0i.size_bytes is %u: lines of %d bytes in %u ways (sm.l0i.ways) need a power of two of sets",
            sm->params.l0i_bytes, CODE_LINE_BYTES, core->ways);
    core->tags = ARENA_ARRAY(sm->arena, uint32_t, lines);
    core->used = ARENA_ARRAY(sm->arena, uint32_t, lines);
    return STATUS_OK;
}

static enum status create_constants(struct sm *sm, struct subcore *core, struct report *report) {
    const uint32_t bytes = sm->params.constant_l0_bytes, ways = sm->params.constant_l0_ways;
    if (!bytes)
        return STATUS_OK;
    core->constant_sets = bytes / CONSTANT_LINE_BYTES / ways;
    if (!bits_is_power_of_two(core->constant_sets) || core->constant_sets * ways * CONSTANT_LINE_BYTES != bytes)
        return report_add(
            report, STATUS_INVALID,
            "sm.const_l0.size_bytes is %u: lines of %d bytes in %u ways (sm.const_l0.ways) need a power of two of sets",
            bytes, CONSTANT_LINE_BYTES, ways);
    core->constants = ARENA_ARRAY(sm->arena, uint32_t, core->constant_sets * ways);
    return STATUS_OK;
}

static enum status check_subcores(const struct sm *sm, const struct sm_parts *parts, struct report *report) {
    if (parts->code->snoops)
        return report_add(report, STATUS_INVALID,
                          "sm.pipeline=control-bits: ld_snoop and st_snoop need sm.pipeline=scoreboard, barrel or "
                          "one-cycle");
    if (cache_atom_bytes(sm->instruction) != CODE_LINE_BYTES && sm->params.l0i_bytes)
        return report_add(report, STATUS_INVALID,
                          "sm.pipeline=control-bits: lines of instruction_cache have %d bytes, not %u", CODE_LINE_BYTES,
                          cache_atom_bytes(sm->instruction));
    return STATUS_OK;
}

enum status subcore_create(struct sm *sm, const struct sm_parts *parts, struct report *report) {
    struct subcores *all = sm->cores = arena_alloc_aligned(sm->arena, sizeof *all, 64);
    enum status status = check_subcores(sm, parts, report);
    all->code = parts->code->subcore;
    sm->holding = 0; /* of each sub-core: `standing` */
    sm->queue_mask = QUEUE_MAX - 1;
    for (unsigned s = 0; s < sm->params.schedulers && status == STATUS_OK; s++) {
        struct subcore *core = &all->of[s];
        core->standing = SET_SLOTS;
        core->last = s;
        core->room = sm->params.memory_queue + 1; /* and the latch */
        core->queue = ARENA_ARRAY(sm->arena, struct subcore_access, core->room + SUBCORE_PARTS);
        status = create_l0(sm, core, report);
        if (status == STATUS_OK)
            status = create_constants(sm, core, report);
    }
    const uint32_t registers = all->code->has_control ? 0 : all->code->register_count;
    struct subcore_register *file = ARENA_ARRAY(sm->arena, struct subcore_register, (size_t)registers * sm->slot_count);
    for (unsigned w = 0; w < sm->slot_count; w++) {
        all->warps[w].registers = file + (size_t)w * registers;
        all->warps[w].pipe = PIPES;
    }
    return status;
}
