/* SPDX-License-Identifier: Apache-2.0 */
/* The large warp microarchitecture [002 chapter 4]: fewer, larger warps of consecutive threads, each with one PC and one
 * stack, that are cut into sub-warps of the lanes' width anew for every instruction.
 *
 * A large warp is rows of threads; row r, column c is thread c of its r-th warp. An instruction is issued as sub-warps,
 * one in a turn: in each column the first row whose thread is active, has not had it and is not in the pipeline (a bit
 * per thread, the interlock). The outcomes are gathered; with the last sub-warp they go to the stack. The next
 * instruction begins when the first sub-warp has completed; when all have after control flow whose outcome they all
 * decide, after loads and atomics of global memory, and after what waits for other threads. */
#include "divergence/lwm.h"

#include <assert.h>
#include <string.h>

#include "isa/uniform.h"

/* clang-format off */
static const struct param_description lwm_params_table[] = {
    PARAM_ENTRY(struct lwm_params, size, "lwm.size", U32, "256", "32", "2048", "threads", "of a large warp, a multiple of sm.warp_size; the last of a block may be smaller")
    PARAM_ENTRY(struct lwm_params, refetch, "lwm.refetch", CHOICE, "first-sub-warp", "first-sub-warp|all", "", "", "the next instruction begins when the first sub-warp of the one before has completed, unless it needs all; or always when all have")
    PARAM_ENTRY(struct lwm_params, jump, "lwm.jump", BOOL, "true", "", "", "", "a branch without a guard is issued for one sub-warp only")
    PARAM_ENTRY(struct lwm_params, memory_rows, "lwm.memory_rows", BOOL, "true", "", "", "", "accesses to global memory are issued row by row, without packing, as coalesced as they were written")
    PARAM_ENTRY(struct lwm_params, guards, "lwm.guards", BOOL, "true", "", "", "", "sub-warps of an instruction with a guard are packed of the threads for which it holds")
    PARAM_ENTRY(struct lwm_params, scalar, "lwm.scalar", BOOL, "false", "", "", "", "an instruction whose operands are known to be the same in all threads of the large warp, a condition and its branch too, is issued for one sub-warp only; needs time")
    PARAM_ENTRY(struct lwm_params, registers, "lwm.register_file", CHOICE, "column", "column|ideal", "", "", "column: a sub-warp has one thread of each column; ideal: any threads together")
    PARAM_END};

static const struct stat_description lwm_stats_table[] = {
    STAT_ENTRY(struct lwm_stats, instructions, "instructions", "instructions that large warps have issued")
    STAT_ENTRY(struct lwm_stats, sub_warps, "groups", "sub-warps issued for them")
    RATIO_ENTRY(struct lwm_stats, sub_warps_per_instruction, sub_warps, instructions, 1, "", "sub-warps of an instruction")
    STAT_ENTRY(struct lwm_stats, jumps, "threads", "threads that branches without a guard did not issue for")
    STAT_ENTRY(struct lwm_stats, scalars, "instructions", "instructions with the same operands in all threads, issued for one sub-warp (lwm.scalar)")
    STAT_ENTRY(struct lwm_stats, scalar_threads, "threads", "threads that these did not issue for")
    STAT_ENTRY(struct lwm_stats, unguarded, "threads", "threads left out because their guard did not hold")
    LARGEST_ENTRY(struct lwm_stats, depth, "entries", "deepest stack of a large warp")
    LARGEST_ENTRY(struct lwm_stats, in_flight, "groups", "most sub-warps of one large warp in flight")
    STAT_END};
/* clang-format on */

static enum status lwm_check(const void *values, struct report *report) {
    const struct lwm_params *params = values;
    if (params->size % LANES_MAX)
        return report_add(report, STATUS_INVALID, "lwm.size=%u: a large warp has whole rows; use a multiple of %u",
                          (unsigned)params->size, (unsigned)LANES_MAX);
    return STATUS_OK;
}

/* Of a large warp at most. */
static unsigned rows_of(const struct divergence_shape *shape) {
    return ((const struct lwm_params *)shape->params)->size / shape->width;
}

/* A large warp keeps its slot. */
static unsigned lwm_slots(const struct divergence_shape *shape) {
    const unsigned rows = rows_of(shape);
    return shape->warps / shape->warps_per_block * ((shape->warps_per_block + rows - 1) / rows);
}

static void *lwm_create(struct arena *arena, const struct divergence_shape *shape) {
    struct lwm *lwm = ARENA_NEW(arena, struct lwm);
    const unsigned threads = shape->warps * shape->warp_size;
    lwm->family = (struct stack_family){.arena = arena, .code = shape->code};
    lwm->code = shape->code, lwm->executor = shape->executor;
    lwm->params = *(const struct lwm_params *)shape->params;
    lwm->warps_per_block = shape->warps_per_block, lwm->warp_size = shape->warp_size;
    lwm->width = shape->width, lwm->apart = shape->apart;
    lwm->rows_max = rows_of(shape);
    lwm->per_block = (shape->warps_per_block + lwm->rows_max - 1) / lwm->rows_max;
    lwm->count = lwm_slots(shape);
    lwm->uniform_words = lwm->params.scalar ? uniform_words(shape->code, shape->code_count) : 0;
    lwm->alive = ARENA_ARRAY(arena, uint32_t, shape->warps);
    lwm->busy = ARENA_ARRAY(arena, uint32_t, shape->warps);
    lwm->leader = ARENA_ARRAY(arena, uint16_t, threads);
    lwm->whole = ARENA_ARRAY(arena, uint32_t, threads);
    lwm->out = ARENA_ARRAY(arena, uint8_t, threads);
    lwm->serial = ARENA_ARRAY(arena, uint32_t, threads);
    if (shape->apart && lwm->params.registers == LWM_REGISTERS_COLUMN)
        lwm->sent = arena_alloc_aligned(arena, threads * sizeof *lwm->sent, 64);
    lwm->large = ARENA_ARRAY(arena, struct lwm_large, lwm->count);
    for (unsigned i = 0; i < lwm->count; i++) {
        const unsigned before = i % lwm->per_block * lwm->rows_max, left = shape->warps_per_block - before;
        struct lwm_large *large = &lwm->large[i];
        large->rows = left < lwm->rows_max ? left : lwm->rows_max;
        large->busy = &lwm->busy[i / lwm->per_block * lwm->warps_per_block + before];
        stack_create(&large->stack, &lwm->family, large->rows);
        large->uniform = ARENA_ARRAY(arena, uint64_t, lwm->uniform_words);
        large->leaders = ARENA_ARRAY(arena, uint16_t, lwm->sent ? (size_t)large->rows * LANES_MAX : 0);
        large->gathered.next = ARENA_ARRAY(arena, uint32_t, (size_t)large->rows * LANES_MAX);
    }
    return lwm;
}

/* The rows of a large warp begin one after another, all before it issues. */
static uint64_t lwm_start(void *self, unsigned warp, uint32_t pc, uint32_t lanes) {
    struct lwm *lwm = self;
    struct lwm_large *large = &lwm->large[lwm_large_of(lwm, warp)];
    const unsigned row = lwm_row_of(lwm, warp);
    lwm->alive[warp] = lanes;
    if (!large->stack.count && lanes) {
        const uint32_t none[STACK_ROWS] = {0};
        large->busy_count = large->leader_count = 0;
        large->needs_all = large->memory = large->packed = large->begun = false;
        large->completed = true;
        memset(large->uniform, 0, lwm->uniform_words * sizeof *large->uniform);
        stack_begin(&large->stack, pc, none);
    }
    if (lanes)
        large->stack.entries[0].lanes[row] = lanes;
    large->packed = false;
    return UINT64_C(1) << lwm_large_of(lwm, warp);
}

/* Where the large warp goes on; while threads of it may still not. */
static uint32_t lwm_ahead(const void *self, unsigned slot, bool *memory) {
    const struct lwm *lwm = self;
    if (slot >= lwm->count || !lwm->large[slot].stack.count)
        return NO_PC;
    const struct lwm_large *large = &lwm->large[slot];
    *memory = large->memory && large->busy_count;
    return stack_top(&large->stack)->pc;
}

/* ---- outcomes ---- */

/* The threads of one warp among `rest`, which are taken from it; as lanes of the warp. */
static inline uint32_t take_part(const struct lwm *lwm, const uint16_t *threads, const struct threads_warps *warps,
                                 uint32_t *rest, unsigned *warp) {
    *warp = threads[bits_first(*rest)] / lwm->warp_size;
    const uint32_t lanes = *rest & threads_in_warp(warps, *warp);
    uint32_t home = 0;
    *rest &= ~lanes;
    if (lwm->params.registers == LWM_REGISTERS_COLUMN)
        return lanes;
    for (BITS_EACH(lane, lanes))
        home |= UINT32_C(1) << threads[lane] % lwm->warp_size;
    return home;
}

/* The sub-warp that was offered, row by row: nobody of it goes elsewhere, or all to one place. */
static void gather_rows(struct lwm_large *large, uint32_t taken) {
    for (const struct lwm_part *part = large->parts; part < large->parts + large->part_count; part++) {
        const unsigned row = part->row;
        assert(!(part->lanes & ~(large->remaining[row] & ~large->busy[row])));
        large->remaining[row] &= ~part->lanes;
        large->busy[row] |= part->lanes;
        large->gathered.taken[row] |= part->lanes & taken;
    }
}

static void gather(struct lwm *lwm, struct lwm_large *large, unsigned first, const struct group *group,
                   const struct executed *executed) {
    const bool branches = executed->flow == FLOW_BRANCH && lwm->params.registers == LWM_REGISTERS_COLUMN;
    if (branches)
        large->gathered.flow = FLOW_BRANCH, large->gathered.target = executed->target;
    /* nobody goes elsewhere, or all to one place, each in its column: by masks */
    if (branches || (executed->flow == FLOW_NEXT && !inst_is_control(&lwm->code[executed->pc]))) {
        if (lwm->params.registers == LWM_REGISTERS_COLUMN && large->offered == group->lanes) {
            gather_rows(large, branches ? executed->taken : 0);
            return;
        }
        const struct threads_warps warps = threads_find_warps(group->threads, lwm->warp_size);
        for (uint32_t rest = group->lanes, here; rest;) {
            unsigned row; /* of the SM, then of the large warp */
            here = take_part(lwm, group->threads, &warps, &rest, &row);
            row -= first / lwm->warp_size;
            assert(!(here & ~(large->remaining[row] & ~large->busy[row])));
            large->remaining[row] &= ~here;
            large->busy[row] |= here;
            large->gathered.taken[row] |= branches ? here & executed->taken : 0;
        }
        return;
    }
    for (BITS_EACH(lane, group->lanes)) {
        const unsigned thread = group->threads[lane] - first, row = thread / lwm->warp_size;
        const unsigned column = thread % lwm->warp_size;
        const uint32_t bit = UINT32_C(1) << column;
        assert(!(large->busy[row] & bit) && large->remaining[row] & bit);
        large->remaining[row] &= ~bit;
        if (stack_gather(&large->gathered, row, column, executed, lane) && executed->flow == FLOW_EXIT)
            lwm->alive[group->threads[lane] / lwm->warp_size] &= ~bit;
        else
            large->busy[row] |= bit;
    }
}

/* The sub-warp is in the pipeline until its last thread is back. */
static void send(struct lwm *lwm, struct lwm_large *large, const struct group *group, uint32_t going) {
    if (!going) {
        large->completed = true;
        return;
    }
    const uint16_t leader = group->threads[bits_first(going)];
    const bool whole = lwm->sent || (!lwm->apart && divergence_returns_whole(&lwm->code[group->pc]));
    lwm->whole[leader] = whole ? going : 0;
    if (lwm->sent) {
        memcpy(lwm->sent[leader], group->threads, sizeof *lwm->sent);
        large->leaders[large->leader_count++] = leader;
    }
    for (BITS_EACH(lane, whole ? 0 : going))
        lwm->leader[group->threads[lane]] = leader;
    lwm->out[leader] = (uint8_t)bits_count(going);
    lwm->serial[leader] = large->serial;
    large->busy_count += bits_count(going);
    large->in_flight++;
    if (large->in_flight > lwm->stats.in_flight)
        lwm->stats.in_flight = large->in_flight;
}

/* Where threads go is known only when all have executed it; threads that wait for others have not executed it yet when
 * others have completed; a large warp of which a part waits for memory waits as a whole (ours). */
static bool needs_all(const struct lwm *lwm, const struct inst *inst) {
    if (lwm->params.refetch == REFETCH_ALL || inst_is_of_warps(inst) || divergence_waits_for_memory(inst))
        return true;
    if (inst->op == OP_BAR || inst->op == OP_EXIT)
        return inst->guard >= 0 || inst->dst_count;
    return inst_is_control(inst) && !lwm_is_jump(inst) &&
           !(inst->op == OP_CALL && inst->guard < 0 && inst->call->callee);
}

/* The last sub-warp of the instruction has been issued. */
static void end_instruction(struct lwm *lwm, struct lwm_large *large, uint32_t pc) {
    const struct inst *inst = &lwm->code[pc];
    large->needs_all = large->scalar ? lwm->params.refetch == REFETCH_ALL : needs_all(lwm, inst);
    large->memory = divergence_waits_for_memory(inst);
    if (lwm->uniform_words && (inst->op == OP_CALL || inst->op == OP_RET)) /* other registers from here on */
        memset(large->uniform, 0, lwm->uniform_words * sizeof *large->uniform);
    else if (lwm->uniform_words && (!large->scalar || large->holds))
        uniform_wrote(large->uniform, inst, large->scalar);
    large->begun = large->packed = false;
    stack_issued(&large->stack, &large->gathered);
    if (large->stack.count > lwm->stats.depth)
        lwm->stats.depth = large->stack.count;
}

/* All other threads do what one sub-warp has done. */
static void follow(struct lwm *lwm, unsigned slot, const struct group *group, const struct executed *executed) {
    struct lwm_large *large = &lwm->large[slot];
    for (unsigned row = 0; row < large->rows; row++) {
        const uint32_t lanes = large->remaining[row];
        if (!lanes)
            continue;
        const uint32_t taken =
            lwm->executor->follow(lwm->executor->self, lwm_first_warp(lwm, slot) + row, group->pc, lanes);
        assert(executed->flow != FLOW_BRANCH || taken == (executed->taken ? lanes : 0));
        (void)taken;
        lwm->stats.scalar_threads += bits_count(lanes);
    }
    if (executed->flow == FLOW_BRANCH && executed->taken)
        memcpy(large->gathered.taken, stack_top(&large->stack)->lanes, large->rows * sizeof(uint32_t));
    lwm->stats.scalars++;
}

static uint64_t lwm_issued(void *self, unsigned slot, const struct group *group, const struct executed *executed) {
    struct lwm *lwm = self;
    struct lwm_large *large = &lwm->large[slot];
    const unsigned first = lwm_first_warp(lwm, slot) * lwm->warp_size;
    if (!large->begun) {
        large->begun = true, large->completed = false;
        large->serial++;
        lwm->stats.instructions++;
    }
    lwm->stats.sub_warps++;
    gather(lwm, large, first, group, executed);
    large->offered = 0;
    send(lwm, large, group, executed->flow == FLOW_EXIT ? group->lanes & ~executed->taken : group->lanes);
    if (large->scalar)
        follow(lwm, slot, group, executed);
    else if (large->once && lwm_is_jump(&lwm->code[group->pc])) {
        /* every thread goes where these have gone */
        memcpy(large->gathered.taken, stack_top(&large->stack)->lanes, large->rows * sizeof(uint32_t));
        lwm->stats.jumps += group->also;
    }
    while (large->first_row < large->rows && !large->remaining[large->first_row])
        large->first_row++;
    if (large->once || large->first_row == large->rows)
        end_instruction(lwm, large, group->pc);
    return UINT64_C(1) << slot;
}

/* So many threads of a sub-warp are back; the bit of its large warp. */
static uint64_t come_back(struct lwm *lwm, unsigned leader, unsigned count) {
    const unsigned number = lwm_large_of(lwm, leader / lwm->warp_size);
    struct lwm_large *large = &lwm->large[number];
    large->busy_count -= count;
    lwm->out[leader] = (uint8_t)(lwm->out[leader] - count);
    if (!lwm->out[leader]) {
        large->in_flight--;
        large->completed |= lwm->serial[leader] == large->serial;
    }
    return UINT64_C(1) << number;
}

/* The sub-warp comes back as it went, or its threads know their leader from now on. */
static void forget_sent(struct lwm *lwm, struct lwm_large *large, unsigned place, bool whole) {
    const uint16_t leader = large->leaders[place];
    for (BITS_EACH(lane, whole ? 0 : lwm->whole[leader]))
        lwm->leader[lwm->sent[leader][lane]] = leader;
    lwm->whole[leader] = 0;
    large->leaders[place] = large->leaders[--large->leader_count];
}

/* Are these all threads of a sub-warp? Others of which some are among them come back in parts. */
static bool find_sent(struct lwm *lwm, struct lwm_large *large, const uint16_t *threads, uint32_t lanes) {
    const unsigned first = threads[bits_first(lanes)];
    unsigned place = 0;
    if (lwm->whole[first] == lanes && !(lanes & ~threads_equal(threads, lwm->sent[first]))) {
        while (large->leaders[place] != first)
            place++;
        forget_sent(lwm, large, place, true);
        return true;
    }
    while (place < large->leader_count) {
        const uint16_t leader = large->leaders[place];
        if (lanes & lwm->whole[leader] & threads_equal(threads, lwm->sent[leader]))
            forget_sent(lwm, large, place, false);
        else
            place++;
    }
    return false;
}

static uint64_t lwm_returned(void *self, const uint16_t *threads, uint32_t lanes) {
    struct lwm *lwm = self;
    const unsigned first = threads[bits_first(lanes)], number = lwm_large_of(lwm, first / lwm->warp_size);
    const struct threads_warps warps = threads_find_warps(threads, lwm->warp_size);
    struct lwm_large *large = &lwm->large[number];
    const unsigned first_warp = lwm_first_warp(lwm, number);
    unsigned count = 0;
    uint32_t awaited = 0;
    uint64_t changed = 0;
    for (uint32_t rest = lanes, here; rest;) {
        unsigned warp;
        here = take_part(lwm, threads, &warps, &rest, &warp);
        assert(!(here & ~lwm->busy[warp]));
        lwm->busy[warp] &= ~here;
        awaited |= here & large->remaining[warp - first_warp];
    }
    if (awaited)
        large->offered = 0;
    if (lwm->sent ? find_sent(lwm, large, threads, lanes) : lwm->whole[first]) {
        assert(lwm->sent || lwm->whole[first] == lanes);
        lwm->whole[first] = 0;
        return come_back(lwm, first, bits_count(lanes));
    }
    unsigned leader = lwm->leader[first];
    for (BITS_EACH(lane, lanes)) {
        const unsigned of_this = lwm->leader[threads[lane]];
        if (of_this != leader) {
            changed |= come_back(lwm, leader, count);
            leader = of_this, count = 0;
        }
        count++;
    }
    return changed | come_back(lwm, leader, count);
}

/* ---- looking at it ---- */

static uint32_t lwm_alive(const void *self, unsigned warp) { return ((const struct lwm *)self)->alive[warp]; }

static void lwm_where(const void *self, unsigned warp, uint32_t pcs[LANES_MAX]) {
    const struct lwm *lwm = self;
    stack_where(&lwm->large[lwm_large_of(lwm, warp)].stack, lwm_row_of(lwm, warp), pcs);
}

static unsigned lwm_show(const void *self, unsigned warp, struct group_row *rows, unsigned most) {
    const struct lwm *lwm = self;
    return stack_show(&lwm->large[lwm_large_of(lwm, warp)].stack, lwm_row_of(lwm, warp), rows, most);
}

static const void *lwm_statistics(const void *self) { return &((const struct lwm *)self)->stats; }

/* Beyond its stacks, as the seed counts. */
static void lwm_cost(const void *values, const struct cost_shape *shape, struct cost *out) {
    const struct lwm_params *params = values;
    cost_large_warps(shape, params->size, out);
    if (params->scalar)
        cost_scalar_registers(shape, params->size, out);
}

static unsigned lwm_warp_threads(const void *values) { return ((const struct lwm_params *)values)->size; }

/* Where an instruction begins when all threads are back, when they come does not matter. */
static const char *lwm_needs_time(const void *values) {
    if (((const struct lwm_params *)values)->scalar)
        return "with lwm.scalar one sub-warp stands for all";
    if (((const struct lwm_params *)values)->refetch == REFETCH_ALL)
        return NULL;
    return "with lwm.refetch=first-sub-warp sub-warps are packed of threads that are not in the pipeline; "
           "lwm.refetch=all needs no time";
}

/* Threads that others stand for have registers written that no flight is known for. */
static const char *lwm_one_in_flight(const void *values) {
    return ((const struct lwm_params *)values)->scalar ? "with lwm.scalar one sub-warp stands for all" : NULL;
}

static const struct divergence_forming forming = {
    .needs_time = lwm_needs_time,
    .one_in_flight = lwm_one_in_flight,
    .returns_together = true,
    .slots = lwm_slots,
    .warp_threads = lwm_warp_threads,
    .ahead = lwm_ahead,
    .returned = lwm_returned,
};

const struct divergence_ops divergence_lwm = {
    .name = "lwm",
    .help = "large warps: sub-warps of the lanes' width are packed for every instruction out of one stack's threads",
    .own.params = lwm_params_table,
    .own.params_bytes = sizeof(struct lwm_params),
    .own.stats = lwm_stats_table,
    .own.stats_bytes = sizeof(struct lwm_stats),
    .own.statistics = lwm_statistics,
    .own.check = lwm_check,
    .own.cost = lwm_cost,
    .create = lwm_create,
    .start = lwm_start,
    .offer = lwm_offer,
    .issued = lwm_issued,
    .forming = &forming,
    .alive = lwm_alive,
    .where = lwm_where,
    .show = lwm_show,
};
