/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/timed.h"

#include <string.h>

#include "base/bits.h"
#include "exec/core.h"
#include "exec/lanes.h"
#include "exec/scalar.h"

/* ---- accesses ---- */

/* Where the address of a lane leads. */
static enum space resolve(const struct step *step, uint64_t address) {
    if (step->address.space != SPACE_GENERIC)
        return step->address.space;
    if (address - SHARED_WINDOW < WINDOW_BYTES || exec_is_of_cluster(address))
        return SPACE_SHARED;
    if (address - PARAM_WINDOW < WINDOW_BYTES)
        return SPACE_PARAM;
    return address - LOCAL_WINDOW < WINDOW_BYTES ? SPACE_LOCAL : SPACE_GLOBAL;
}

/* Local memory as the machine lays it out: word k of all threads of a warp side by side. */
static uint64_t local_place(const struct exec *exec, const struct core *core, unsigned warp, unsigned lane,
                            uint64_t offset) {
    const uint64_t place = (uint64_t)core->number * core->place_count + exec->place;
    const uint64_t thread_bytes = exec->local_bytes, warp_index = place * core->warps_per_place + warp;
    const uint64_t row = (warp_index * thread_bytes + offset / 4 * 4) * exec->launch->warp_size;
    return (UINT64_C(1) << 40) + row + 4u * lane + offset % 4;
}

static void begin_access(struct access *access, enum access_kind kind, uint32_t bytes) {
    access->kind = (uint8_t)kind;
    access->bytes = (uint8_t)bytes;
    access->packed = false;
    access->lanes = 0;
    access->ticket = NO_TICKET;
}

static void note_access(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes,
                        enum access_kind kind, uint32_t bytes) {
    struct access *access = exec->core->access;
    begin_access(access, kind, bytes);
    access->lanes = lanes;
    for (BITS_EACH(lane, lanes))
        access->address[lane] = exec_address(exec, warp, lane, step);
    const enum space space = resolve(step, access->address[bits_first(lanes)]);
    access->space = (uint8_t)(step->inst->space == SPACE_CONST ? SPACE_CONST : space);
}

/* After the access is bound: addresses as the memory system counts them, without those that lead nowhere. */
static void place_addresses(struct exec *exec, unsigned warp, struct access *access) {
    if (!access->lanes)
        access->kind = ACCESS_NONE;
    if (access->space == SPACE_SHARED || access->space == SPACE_PARAM) {
        for (BITS_EACH(lane, access->lanes))
            access->address[lane] &= WINDOW_BYTES - 1;
    } else if (access->space == SPACE_LOCAL) {
        for (BITS_EACH(lane, access->lanes))
            access->address[lane] =
                local_place(exec, exec->core, warp, lane, access->address[lane] & (WINDOW_BYTES - 1));
    }
}

bool exec_timed_load(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes) {
    struct core *core = exec->core;
    const uint32_t element = step->access_bytes, bytes = element * step->dst_count;
    note_access(exec, warp, step, lanes, ACCESS_LOAD, bytes);
    const uint32_t far = exec_far_lanes(exec, step, lanes);
    if (far)
        return (far == lanes || exec_timed_load(exec, warp, step, lanes & ~far)) &&
               exec_far_access(exec, warp, step, far, ACCESS_LOAD, bytes);
    for (BITS_EACH(lane, lanes)) {
        const uint64_t address = core->access->address[lane];
        const uint8_t *from = exec_translate(exec, warp, lane, step, address, bytes);
        uint8_t own[64];
        if (!from)
            return false;
        if (from == exec->nowhere)
            core->access->lanes &= ~(UINT32_C(1) << lane);
        else if (core->log.count && core_may_be_logged(core, address) && resolve(step, address) == SPACE_GLOBAL) {
            memcpy(own, from, bytes);
            core_overlay(core, address, bytes, own);
            from = own;
        }
        for (unsigned k = 0; k < step->dst_count; k++) {
            uint64_t value = 0;
            memcpy(&value, from + (size_t)k * element, element);
            exec_write(exec, warp, &step->rows[k], lane, exec_extend_loaded(step, value));
        }
    }
    place_addresses(exec, warp, core->access);
    return true;
}

bool exec_timed_store(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes) {
    struct core *core = exec->core;
    const uint32_t element = step->access_bytes, count = step->src_count - 1u;
    note_access(exec, warp, step, lanes, ACCESS_STORE, element * count);
    const uint32_t far = exec_far_lanes(exec, step, lanes);
    if (far)
        return (far == lanes || exec_timed_store(exec, warp, step, lanes & ~far)) &&
               exec_far_access(exec, warp, step, far, ACCESS_STORE, element * count);
    for (BITS_EACH(lane, lanes)) {
        const uint64_t address = core->access->address[lane];
        uint8_t *to = exec_translate(exec, warp, lane, step, address, element * count);
        if (!to)
            return false;
        if (to == exec->nowhere) {
            core->access->lanes &= ~(UINT32_C(1) << lane);
            continue;
        }
        const bool global = resolve(step, address) == SPACE_GLOBAL;
        for (unsigned k = 0; k < count; k++) {
            const uint64_t value = exec_read(exec, warp, &step->rows[1 + k], lane);
            if (global)
                core_log(core, address + (uint64_t)k * element, value, element);
            else
                memcpy(to + (size_t)k * element, &value, element);
        }
        exec->counts->progress += global;
    }
    place_addresses(exec, warp, core->access);
    return true;
}

/* Lanes that name different sets come one set after another: one access of them all. */
bool exec_timed_accumulate(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes,
                           const uint64_t *address) {
    struct core *core = exec->core;
    struct access *access = core->access;
    if (access->kind == ACCESS_NONE)
        begin_access(access, ACCESS_STORE, step->access_bytes);
    for (BITS_EACH(lane, lanes)) {
        uint8_t *to = exec_translate(exec, warp, lane, step, address[lane], step->access_bytes);
        if (!to)
            return false;
        if (to == exec->nowhere)
            continue;
        const uint64_t value = exec_read(exec, warp, &step->rows[3], lane);
        const enum space space = resolve(step, address[lane]);
        access->space = (uint8_t)space;
        if (space == SPACE_GLOBAL)
            core_log(core, address[lane], value, step->access_bytes);
        else
            memcpy(to, &value, step->access_bytes);
        access->address[lane] = space == SPACE_SHARED ? address[lane] & (WINDOW_BYTES - 1) : address[lane];
        exec->counts->progress += space == SPACE_GLOBAL;
        access->lanes |= UINT32_C(1) << lane;
    }
    if (!access->lanes)
        access->kind = ACCESS_NONE;
    return true;
}

void exec_timed_copy(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes, uint32_t bytes) {
    if (lanes)
        note_access(exec, warp, step, lanes, ACCESS_LOAD, bytes);
    else
        begin_access(exec->core->access, ACCESS_NONE, bytes);
}

void exec_timed_bytes(const struct exec *exec, uint64_t address, uint32_t bytes, uint8_t *value) {
    if (exec->core->log.count && core_may_be_logged(exec->core, address))
        core_overlay(exec->core, address, bytes, value);
}

void exec_timed_shared(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes, enum access_kind kind,
                       uint32_t bytes) {
    if (!lanes) {
        begin_access(exec->core->access, ACCESS_NONE, bytes);
        return;
    }
    note_access(exec, warp, step, lanes, kind, bytes);
    place_addresses(exec, warp, exec->core->access);
}

void exec_timed_pieces(struct exec *exec, unsigned warp, const struct step *step, const uint64_t *address,
                       uint32_t bytes) {
    struct access *access = exec->core->access;
    note_access(exec, warp, step, UINT32_MAX, step->inst->op == OP_TILE_LOAD ? ACCESS_LOAD : ACCESS_STORE, bytes);
    memcpy(access->address, address, sizeof access->address);
    place_addresses(exec, warp, access);
}

uint32_t core_take_ticket(struct core *core) {
    const uint32_t ticket = core->free_ticket;
    if (ticket != NO_TICKET) {
        core->free_ticket = core->tickets.items[ticket].next;
        core->tickets.items[ticket].is_far = false;
        return ticket;
    }
    if (core->tickets.count == core->ticket_limit)
        return NO_TICKET;
    core->tickets.items = arena_grow(core->arena, core->tickets.items, core->tickets.count, &core->tickets.capacity,
                                     sizeof *core->tickets.items);
    core->tickets.items[core->tickets.count].is_far = false;
    core->tickets.items[core->tickets.count].far = NULL;
    return core->tickets.count++;
}

void core_free_ticket(struct core *core, uint32_t ticket) {
    core->tickets.items[ticket].next = core->free_ticket;
    core->free_ticket = ticket;
}

/* Lanes whose addresses, which may be generic, lead to memory of the SM's own. */
static uint32_t own_lanes(const struct step *step, const struct access *access) {
    uint32_t own = 0;
    for (BITS_EACH(lane, access->lanes))
        own |= (uint32_t)(resolve(step, access->address[lane]) != SPACE_GLOBAL) << lane;
    return own;
}

/* Shared memory is the SM's own: at once. Global memory: operands are bound now, the rest happens below. */
bool exec_timed_atomic(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes) {
    struct core *core = exec->core;
    const enum op op = step->inst->op;
    note_access(exec, warp, step, lanes,
                op == OP_LD   ? ACCESS_LOAD
                : op == OP_ST ? ACCESS_STORE
                              : ACCESS_ATOMIC,
                step->access_bytes);
    struct access *access = core->access;
    const uint32_t far = exec_far_lanes(exec, step, lanes), own = own_lanes(step, access) & ~far;
    if (far && (own | far) != lanes)
        return exec_fail(exec, warp, bits_first(far), step,
                         "unsupported in time: one atomic of global memory and of another block's shared memory");
    if (own && !exec_atomic_step(exec, warp, step, own))
        return false;
    if (far)
        return exec_far_access(exec, warp, step, far, ACCESS_ATOMIC, step->access_bytes);
    if (own == lanes) {
        place_addresses(exec, warp, access);
        return true;
    }
    lanes = access->lanes = lanes & ~own;
    access->space = SPACE_GLOBAL;
    const uint32_t number = core_take_ticket(core);
    if (number == NO_TICKET)
        return exec_fail(exec, warp, bits_first(lanes), step, "more atomics in flight than the model holds");
    struct ticket *ticket = &core->tickets.items[number];
    const struct row *sources = step->rows + step->dst_count;
    const unsigned first_thread = (exec->place * core->warps_per_place + warp) * LANES_MAX;
    ticket->step = step, ticket->lanes = lanes;
    for (BITS_EACH(lane, lanes)) {
        const uint8_t *memory = exec_translate(exec, warp, lane, step, access->address[lane], step->access_bytes);
        if (!memory)
            return false;
        if (memory == exec->nowhere) {
            ticket->lanes &= ~(UINT32_C(1) << lane);
            if (step->dst_count)
                exec_write(exec, warp, &step->rows[0], lane, 0);
            continue;
        }
        ticket->thread[lane] = (uint16_t)(first_thread + lane);
        ticket->address[lane] = access->address[lane];
        ticket->b[lane] = exec_read(exec, warp, &sources[1], lane);
        ticket->c[lane] = exec_read(exec, warp, &sources[2], lane);
    }
    access->lanes = ticket->lanes;
    access->ticket = number;
    if (!access->lanes) {
        access->kind = ACCESS_NONE;
        core_free_ticket(core, number);
    }
    return true;
}

static void core_perform(void *self, uint32_t number, uint32_t lanes) {
    struct core *core = self;
    struct ticket *ticket = &core->tickets.items[number];
    if (ticket->is_far) {
        core_perform_far(core, ticket, lanes & ticket->lanes);
        return;
    }
    if (ticket->step->intrinsic != INTRINSIC_NONE) {
        core_perform_heap(core, ticket, lanes & ticket->lanes);
        return;
    }
    const uint32_t bytes = ticket->step->access_bytes;
    const uint64_t mask = bytes == 8 ? UINT64_MAX : (UINT64_C(1) << (8 * bytes)) - 1;
    for (BITS_EACH(lane, lanes & ticket->lanes)) {
        uint8_t *memory = memory_host(core->memory, ticket->address[lane]);
        uint64_t old = 0;
        memcpy(&old, memory, bytes);
        const uint64_t new =
            scalar_atomic(ticket->step->inst->atom, ticket->step->inst->type, ticket->step->inst->type == TYPE_F32, old,
                          ticket->b[lane] & mask, ticket->c[lane] & mask);
        memcpy(memory, &new, bytes);
        ticket->old[lane] = old;
        core->counts->progress += new != old;
    }
}

static void core_finish(void *self, uint32_t number) {
    struct core *core = self;
    struct ticket *ticket = &core->tickets.items[number];
    if (ticket->is_far)
        core_finish_far(core, ticket);
    else if (ticket->step->dst_count)
        for (BITS_EACH(lane, ticket->lanes)) {
            const struct core_warp *home = &core->warps[ticket->thread[lane] / LANES_MAX];
            exec_write(home->exec, home->number, &ticket->step->rows[0], ticket->thread[lane] % LANES_MAX,
                       ticket->old[lane]);
        }
    if (ticket->step->intrinsic != INTRINSIC_NONE)
        core_finish_heap(core, ticket);
    core_free_ticket(core, number);
}

/* Lanes whose data are not near. Their addresses are those of an access all the same. */
static bool find_missing(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes, uint32_t *missed) {
    const struct core *core = exec->core;
    *missed = 0;
    for (BITS_EACH(lane, core && core->holds ? lanes : 0)) {
        const uint64_t address = exec_address(exec, warp, lane, step);
        if (core->holds(core->near, address))
            continue;
        if (!exec_translate(exec, warp, lane, step, address, step->access_bytes))
            return false;
        *missed |= UINT32_C(1) << lane;
    }
    return true;
}

bool exec_snoop_step(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes) {
    const bool loads = step->inst->op == OP_LD_SNOOP;
    const struct row *answer = &step->rows[loads ? 1 : 2];
    struct core *core = exec->core;
    uint32_t missed;
    if (!find_missing(exec, warp, step, lanes, &missed))
        return false;
    const uint32_t near = lanes & ~missed;
    bool done = true;
    if (core && !near)
        begin_access(core->access, ACCESS_NONE, step->access_bytes);
    else if (core)
        done = loads ? exec_timed_load(exec, warp, step, near) : exec_timed_store(exec, warp, step, near);
    else
        done = loads ? exec_load_step(exec, warp, step, near) : exec_store_step(exec, warp, step, near);
    if (!done)
        return false;
    if (core && lanes) {
        struct access *access = core->access;
        access->kind = (uint8_t)(loads ? ACCESS_SNOOPED_LOAD : ACCESS_SNOOPED_STORE);
        access->space = SPACE_GLOBAL;
        access->missed = missed;
        for (BITS_EACH(lane, missed))
            access->address[lane] = exec_address(exec, warp, lane, step);
    }
    for (BITS_EACH(lane, lanes))
        exec_write(exec, warp, answer, lane, missed >> lane & 1);
    return true;
}

/* ---- the executor ---- */

/* The executor of a place is made when its first block comes: most launches fill few. */
static struct exec *create_place(struct core *core, unsigned place) {
    if (!core->sites)
        core->sites = ARENA_ARRAY(core->arena, struct site, core->linked->module->code_count);
    const struct exec like = {.linked = core->linked,
                              .launch = core->launch,
                              .memory = core->memory,
                              .counts = core->counts,
                              .output = &core->output,
                              .uniform = core->uniform,
                              .sites = core->sites,
                              .core = core,
                              .place = place};
    struct exec *exec = exec_create_like(core->arena, &like);
    for (unsigned i = 0; i < core->warps_per_place; i++)
        core->warps[place * core->warps_per_place + i] = (struct core_warp){exec, exec_frame(exec, i), i};
    return exec;
}

static void core_start(void *self, unsigned place, uint64_t block) {
    struct core *core = self;
    if (!core->places[place])
        core->places[place] = create_place(core, place);
    exec_start(core->places[place], block);
}

static uint32_t core_lanes(const void *self, unsigned warp) {
    const struct core_warp *at = &((const struct core *)self)->warps[warp];
    return exec_warp_lanes(at->exec, at->number);
}

static uint32_t core_members(const void *self, unsigned thread, uint32_t pc) {
    const struct core *core = self;
    const struct core_warp *at = &core->warps[thread / LANES_MAX];
    return exec_members(at->exec, at->number, pc, thread % LANES_MAX);
}

static uint32_t core_guard(const void *self, unsigned warp, uint32_t pc) {
    const struct core *core = self;
    const struct core_warp *at = &core->warps[warp];
    return exec_guard(at->exec, at->number, pc);
}

static void core_give(void *self, unsigned warp, uint32_t pc, uint32_t lanes, uint32_t value) {
    const struct core_warp *at = &((const struct core *)self)->warps[warp];
    exec_give(at->exec, at->number, pc, lanes, value);
}

static void core_look(void *self, const void *near, bool (*holds)(const void *near, uint64_t address)) {
    struct core *core = self;
    core->near = near, core->holds = holds;
}

static uint32_t core_follow(void *self, unsigned warp, uint32_t pc, uint32_t lanes) {
    struct core *core = self;
    const struct core_warp *at = &core->warps[warp];
    const struct group group = {.pc = pc, .lanes = lanes, .stop_pc = NO_PC};
    const int64_t width = bits_count(lanes);
    struct exec_counts *counts = at->exec->counts;
    struct executed done;
    struct access nobodys;
    core->access = &nobodys;
    exec_run(at->exec, at->number, &group, lanes, 1, &done);
    counts->issues[pc]--, counts->issues[pc + 1]++;
    counts->lanes[pc] -= width, counts->lanes[pc + 1] += width;
    if (!at->exec->linked->steps[pc].guarded) /* else those for which the guard holds have been counted */
        counts->threads[pc] += (uint64_t)width;
    return done.flow == FLOW_BRANCH ? done.taken : 0;
}

static void core_barrier_result(void *self, unsigned warp, uint32_t pc, uint32_t lanes,
                                const struct barrier_result *result) {
    const struct core_warp *at = &((struct core *)self)->warps[warp];
    exec_barrier_result(at->exec, at->number, pc, lanes, result);
}

static void core_count_in(void *self, unsigned thread) {
    struct core *core = self;
    core->counts = &core->threads[thread];
    for (unsigned i = 0; i < core->place_count; i++)
        if (core->places[i])
            core->places[i]->counts = core->counts;
}

struct core *core_create(struct arena *arena, const struct core_common *common, uint32_t number) {
    struct core *core = ARENA_NEW(arena, struct core);
    core->arena = arena, core->linked = common->linked, core->launch = common->launch, core->memory = common->memory;
    core->threads = core->counts = common->counts, core->output.arena = arena, core->uniform = common->uniform;
    core->output.limit_bytes = common->launch->print_bytes;
    core->place_count = common->places, core->number = number;
    core->warps_per_place = exec_warps_of(common->launch);
    core->places = ARENA_ARRAY(arena, struct exec *, common->places);
    core->warps = ARENA_ARRAY(arena, struct core_warp, (size_t)common->places * core->warps_per_place);
    core->free_ticket = NO_TICKET;
    core->ticket_limit = common->tickets;
    return core;
}

struct executor core_executor(struct core *core) {
    return (struct executor){.self = core,
                             .start = core_start,
                             .join = core_join,
                             .lanes = core_lanes,
                             .step = core->linked->lanes->step_core,
                             .follow = core_follow,
                             .look = core_look,
                             .members = core_members,
                             .guard = core_guard,
                             .give = core_give,
                             .barrier_result = core_barrier_result,
                             .perform = core_perform,
                             .finish = core_finish,
                             .publish = core_publish,
                             .unpublished = &core->log.count,
                             .count_in = core_count_in};
}

const struct exec *core_exec(const struct core *core, unsigned warp) { return core->warps[warp].exec; }
const struct exec_output *core_output(const struct core *core) { return &core->output; }
