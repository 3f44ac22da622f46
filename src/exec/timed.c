#include "exec/timed.h"

#include <string.h>

#include "base/bits.h"
#include "exec/scalar.h"
#include "exec/state.h"

enum { FILTER_WORDS = 64, SECTOR_SHIFT = 5 };

/* A store of this epoch, seen by this SM alone. */
struct logged {
    uint64_t address, value;
    uint32_t bytes;
};

/* An atomic on its way: operands bound at issue, old values bound in memory. */
struct ticket {
    bool busy;
    unsigned warp;
    const struct step *step;
    uint32_t lanes;
    uint64_t address[LANES_MAX], b[LANES_MAX], c[LANES_MAX], old[LANES_MAX];
};

struct core {
    struct exec **places;
    unsigned place_count, warps_per_place;
    struct memory *memory;
    struct logged *log;
    uint32_t log_count, log_limit;
    uint64_t filter[FILTER_WORDS]; /* sectors that the log may hold */
    struct ticket *tickets;
    uint32_t ticket_count, next_ticket;
    struct access *access; /* of the step under way */
};

/* ---- the log ---- */

static uint32_t filter_bit(uint64_t address) { return (uint32_t)(address >> SECTOR_SHIFT) % (64 * FILTER_WORDS); }

static bool may_be_logged(const struct core *core, uint64_t address) {
    const uint32_t bit = filter_bit(address);
    return (core->filter[bit / 64] >> bit % 64 & 1) != 0;
}

static void log_store(struct core *core, uint64_t address, uint64_t value, uint32_t bytes) {
    core->log[core->log_count++] = (struct logged){address, value, bytes};
    const uint32_t bit = filter_bit(address);
    core->filter[bit / 64] |= UINT64_C(1) << bit % 64;
}

/* What this SM stored lies over what memory holds, oldest first. */
static void overlay(const struct core *core, uint64_t address, uint32_t bytes, uint8_t *value) {
    for (uint32_t i = 0; i < core->log_count; i++) {
        const struct logged *entry = &core->log[i];
        if (entry->address >= address + bytes || address >= entry->address + entry->bytes)
            continue;
        for (uint32_t k = 0; k < entry->bytes; k++)
            if (entry->address + k >= address && entry->address + k < address + bytes)
                value[entry->address + k - address] = (uint8_t)(entry->value >> (8 * k));
    }
}

static void core_publish(void *self) {
    struct core *core = self;
    if (!core->log_count)
        return;
    for (uint32_t i = 0; i < core->log_count; i++)
        memcpy(memory_host(core->memory, core->log[i].address), &core->log[i].value, core->log[i].bytes);
    core->log_count = 0;
    memset(core->filter, 0, sizeof core->filter);
}

/* ---- accesses ---- */

/* Where the address of a lane leads. */
static enum space resolve(const struct step *step, uint64_t address) {
    if (step->address.space != SPACE_GENERIC)
        return step->address.space;
    if (address - SHARED_WINDOW < WINDOW_BYTES)
        return SPACE_SHARED;
    return address - LOCAL_WINDOW < WINDOW_BYTES ? SPACE_LOCAL : SPACE_GLOBAL;
}

/* Local memory as the machine lays it out: word k of all threads of a warp side by side. */
static uint64_t local_place(const struct exec *exec, const struct core *core, unsigned warp, unsigned lane, uint64_t offset) {
    const uint64_t thread_bytes = exec->local_bytes, warp_index = (uint64_t)exec->place * core->warps_per_place + warp;
    return (UINT64_C(1) << 40) + (warp_index * thread_bytes + offset / 4 * 4) * LANES_MAX + 4u * lane + offset % 4;
}

static void note_access(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes, enum access_kind kind,
                        uint32_t bytes) {
    struct access *access = exec->core->access;
    access->kind = (uint8_t)kind;
    access->bytes = (uint8_t)bytes;
    access->lanes = lanes;
    access->ticket = NO_TICKET;
    for (BITS_EACH(lane, lanes))
        access->address[lane] = exec_address(exec, warp, lane, step);
    const enum space space = resolve(step, access->address[bits_first(lanes)]);
    access->space = (uint8_t)(step->inst->space == SPACE_CONST ? SPACE_CONST : space);
}

/* After the access is bound: addresses as the memory system counts them. */
static void place_addresses(struct exec *exec, unsigned warp, struct access *access) {
    if (access->space == SPACE_SHARED) {
        for (BITS_EACH(lane, access->lanes))
            access->address[lane] &= WINDOW_BYTES - 1;
    } else if (access->space == SPACE_LOCAL) {
        for (BITS_EACH(lane, access->lanes))
            access->address[lane] = local_place(exec, exec->core, warp, lane, access->address[lane] & (WINDOW_BYTES - 1));
    }
}

static uint64_t extend_loaded(const struct step *step, uint64_t value) {
    if (!type_is_signed(step->inst->type) || step->access_bytes == 8)
        return value;
    const uint64_t sign = UINT64_C(1) << (8 * step->access_bytes - 1);
    return (value ^ sign) - sign;
}

bool exec_timed_load(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes) {
    struct core *core = exec->core;
    const uint32_t element = step->access_bytes, bytes = element * step->dst_count;
    note_access(exec, warp, step, lanes, ACCESS_LOAD, bytes);
    for (BITS_EACH(lane, lanes)) {
        const uint64_t address = core->access->address[lane];
        const uint8_t *from = exec_translate(exec, warp, lane, step, address, bytes);
        uint8_t own[64];
        if (!from)
            return false;
        if (core->log_count && may_be_logged(core, address) && resolve(step, address) == SPACE_GLOBAL) {
            memcpy(own, from, bytes);
            overlay(core, address, bytes, own);
            from = own;
        }
        for (unsigned k = 0; k < step->dst_count; k++) {
            uint64_t value = 0;
            memcpy(&value, from + (size_t)k * element, element);
            exec_write(exec, warp, &step->rows[k], lane, extend_loaded(step, value));
        }
    }
    place_addresses(exec, warp, core->access);
    return true;
}

bool exec_timed_store(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes) {
    struct core *core = exec->core;
    const uint32_t element = step->access_bytes, count = step->src_count - 1u;
    note_access(exec, warp, step, lanes, ACCESS_STORE, element * count);
    for (BITS_EACH(lane, lanes)) {
        const uint64_t address = core->access->address[lane];
        uint8_t *to = exec_translate(exec, warp, lane, step, address, element * count);
        if (!to)
            return false;
        const bool global = resolve(step, address) == SPACE_GLOBAL;
        for (unsigned k = 0; k < count; k++) {
            const uint64_t value = exec_read(exec, warp, &step->rows[1 + k], lane);
            if (global)
                log_store(core, address + (uint64_t)k * element, value, element);
            else
                memcpy(to + (size_t)k * element, &value, element);
        }
        exec->counts->progress += global;
    }
    place_addresses(exec, warp, core->access);
    return true;
}

static uint32_t take_ticket(struct core *core) {
    for (uint32_t i = 0; i < core->ticket_count; i++) {
        const uint32_t ticket = (core->next_ticket + i) % core->ticket_count;
        if (!core->tickets[ticket].busy) {
            core->next_ticket = ticket + 1;
            return ticket;
        }
    }
    return NO_TICKET;
}

/* Shared memory is the SM's own: at once. Global memory: operands are bound now, the rest happens below. */
bool exec_timed_atomic(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes) {
    struct core *core = exec->core;
    note_access(exec, warp, step, lanes, ACCESS_ATOMIC, step->access_bytes);
    struct access *access = core->access;
    if (access->space != SPACE_GLOBAL) {
        if (!exec_atomic_step(exec, warp, step, lanes))
            return false;
        place_addresses(exec, warp, access);
        return true;
    }
    const uint32_t number = take_ticket(core);
    if (number == NO_TICKET)
        return exec_fail(exec, warp, bits_first(lanes), step, "more atomics on their way than the model holds");
    struct ticket *ticket = &core->tickets[number];
    const struct row *sources = step->rows + step->dst_count;
    ticket->busy = true;
    ticket->warp = (unsigned)(exec->place * core->warps_per_place) + warp;
    ticket->step = step, ticket->lanes = lanes;
    for (BITS_EACH(lane, lanes)) {
        if (!exec_translate(exec, warp, lane, step, access->address[lane], step->access_bytes))
            return false;
        ticket->address[lane] = access->address[lane];
        ticket->b[lane] = exec_read(exec, warp, &sources[1], lane);
        ticket->c[lane] = exec_read(exec, warp, &sources[2], lane);
    }
    access->ticket = number;
    return true;
}

static void core_perform(void *self, uint32_t number, uint32_t lanes) {
    struct core *core = self;
    struct ticket *ticket = &core->tickets[number];
    struct exec *exec = core->places[ticket->warp / core->warps_per_place];
    const uint32_t bytes = ticket->step->access_bytes;
    const uint64_t mask = bytes == 8 ? UINT64_MAX : (UINT64_C(1) << (8 * bytes)) - 1;
    for (BITS_EACH(lane, lanes & ticket->lanes)) {
        uint8_t *memory = memory_host(core->memory, ticket->address[lane]);
        uint64_t old = 0;
        memcpy(&old, memory, bytes);
        const uint64_t new = scalar_atomic(
            ticket->step->inst->atom, ticket->step->inst->type, ticket->step->inst->type == TYPE_F32, old,
            ticket->b[lane] & mask, ticket->c[lane] & mask);
        memcpy(memory, &new, bytes);
        ticket->old[lane] = old;
        exec->counts->progress += new != old;
    }
}

static void core_finish(void *self, uint32_t number) {
    struct core *core = self;
    struct ticket *ticket = &core->tickets[number];
    struct exec *exec = core->places[ticket->warp / core->warps_per_place];
    if (ticket->step->dst_count)
        for (BITS_EACH(lane, ticket->lanes))
            exec_write(exec, ticket->warp % core->warps_per_place, &ticket->step->rows[0], lane, ticket->old[lane]);
    ticket->busy = false;
}

/* ---- the executor ---- */

static void core_start(void *self, unsigned place, uint64_t block) {
    struct core *core = self;
    exec_start(core->places[place], block);
}

static uint32_t core_lanes(const void *self, unsigned warp) {
    const struct core *core = self;
    return exec_warp_lanes(core->places[warp / core->warps_per_place], warp % core->warps_per_place);
}

static void core_step(void *self, unsigned warp, const struct group *group, uint32_t alive, uint64_t cycle,
                      struct executed *out, struct access *access) {
    struct core *core = self;
    struct exec *exec = core->places[warp / core->warps_per_place];
    access->kind = ACCESS_NONE;
    core->access = access;
    exec->clock = cycle;
    exec_run(exec, warp % core->warps_per_place, group, alive, 1, out);
}

static void core_barrier_result(void *self, unsigned warp, uint32_t pc, uint32_t lanes, uint32_t arrived_true, bool all,
                                bool any) {
    struct core *core = self;
    exec_barrier_result(core->places[warp / core->warps_per_place], warp % core->warps_per_place, pc, lanes, arrived_true,
                        all, any);
}

struct core *core_create(struct arena *arena, const struct linked *linked, const struct exec_launch *launch,
                         struct memory *memory, struct exec_counts *counts, struct exec_output *output,
                         const struct core_shape *shape) {
    struct core *core = ARENA_NEW(arena, struct core);
    core->place_count = shape->places;
    core->places = ARENA_ARRAY(arena, struct exec *, shape->places);
    core->memory = memory;
    for (unsigned i = 0; i < shape->places; i++) {
        core->places[i] = exec_create(arena, linked, launch, memory, counts, output);
        core->places[i]->core = core;
        core->places[i]->place = i;
    }
    core->warps_per_place = exec_warps(core->places[0]);
    core->log_limit = shape->stores_per_epoch;
    core->log = ARENA_ARRAY(arena, struct logged, core->log_limit);
    core->ticket_count = shape->tickets;
    core->tickets = ARENA_ARRAY(arena, struct ticket, shape->tickets);
    return core;
}

struct executor core_executor(struct core *core) {
    return (struct executor){.self = core,
                             .start = core_start,
                             .lanes = core_lanes,
                             .step = core_step,
                             .barrier_result = core_barrier_result,
                             .perform = core_perform,
                             .finish = core_finish,
                             .publish = core_publish};
}

const struct exec *core_exec(const struct core *core, unsigned warp) { return core->places[warp / core->warps_per_place]; }
