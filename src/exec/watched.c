/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of a watched launch: what they do goes lane by lane, and the watch is told. */
#include "exec/watch.h"

#include <stdio.h>
#include <string.h>

#include "base/bits.h"
#include "exec/delayed.h"
#include "exec/fragment.h"
#include "exec/unwritten.h"

/* The watch is told of steps of this kind. */
static bool is_told(const struct step *step, enum kind kind) {
    switch (kind) {
    case KIND_LOAD:
    case KIND_STORE:
    case KIND_ATOMIC: return step->address.space != SPACE_LOCAL && step->address.space != SPACE_PARAM;
    case KIND_ASYNC: return true;
    case KIND_WARP: return step->inst->op != OP_ACTIVEMASK && step->inst->op != OP_COND_ACC;
    case KIND_NOTHING: return step->inst->op == OP_MEMBAR;
    default: return false;
    }
}

static bool is_cluster_arrival(const struct step *step) {
    return step->inst->op == OP_BAR && step->inst->scope == SCOPE_CLUSTER && step->inst->mode == MODE_ARRIVE;
}

/* What a step does to what is known of values; clocks are read elsewhere. */
static void follow(struct step *step) {
    if (step->kind == KIND_BRANCH && step->guarded)
        step->kind = KIND_WATCHED_BRANCH;
    else if (step->kind == KIND_BRANCH_INDEXED)
        step->kind = KIND_WATCHED_INDEXED;
    else if (step->kind == KIND_EXIT && step->guarded)
        step->kind = KIND_WATCHED_EXIT;
    else if (step->kind < KIND_WATCHED && step->kind != KIND_CLOCK && step->kind != KIND_NOTHING)
        step->inner = step->kind, step->kind = KIND_WATCHED;
}

/* The watch is told of what the step does. */
static void tell_of(struct linked *linked, struct step *step) {
    if (is_told(step, (enum kind)step->kind))
        step->inner = step->kind, step->kind = KIND_WATCHED;
    else if (step->kind == KIND_BARRIER)
        step->kind = KIND_WATCHED_BARRIER;
    if (is_cluster_arrival(step)) { /* a fence: the wait behind it is a barrier that all have to come to */
        step->inner = KIND_NOTHING;
        step->kind = step->inst->order == ORDER_RELEASE ? KIND_WATCHED : KIND_NOTHING;
    }
    if (linked->is_followed)
        follow(step);
}

void exec_watch_link(struct linked *linked, const struct exec_watch *watch) {
    linked->is_watched = true;
    linked->asks_accesses = watch->accesses;
    linked->asks_unwritten = watch->accesses && watch->registers;
    linked->is_followed = linked->asks_unwritten && unwritten_matters(linked);
    for (uint32_t pc = 0; pc < linked->module->code_count; pc++) {
        struct step *step = &linked->steps[pc];
        if (step->inst && watch->accesses)
            tell_of(linked, step);
    }
}

bool exec_watch_fits(const struct linked *linked, const struct exec_watch *watch) {
    const bool accesses = watch && watch->accesses;
    return linked->is_watched == (watch != NULL) && linked->asks_accesses == accesses &&
           linked->asks_unwritten == (accesses && watch->registers);
}

static struct watch_issue issue_of(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes) {
    return (struct watch_issue){.linked = exec->linked,
                                .launch = exec->launch,
                                .memory = exec->memory,
                                .block = exec->block,
                                .warp = warp,
                                .pc = (uint32_t)(step - exec->linked->steps),
                                .lanes = lanes,
                                .inst = step->inst,
                                .shared_bytes = exec->shared_bytes,
                                .refused_at = exec->refused_at,
                                .place = &exec->watched};
}

void exec_refuse(struct exec *exec, unsigned warp, unsigned lane, const struct step *step, enum watch_refusal why,
                 const char *message) {
    const struct exec_watch *watch = exec->launch->watch;
    const struct watch_issue issue = issue_of(exec, warp, step, UINT32_C(1) << lane);
    watch->refuse(watch->self, &issue, lane, why, message);
}

void exec_tell_unwritten(struct exec *exec, unsigned warp, const struct step *step, unsigned lane, enum watch_use use) {
    const struct exec_watch *watch = exec->launch->watch;
    const struct watch_issue issue = issue_of(exec, warp, step, UINT32_C(1) << lane);
    watch->unwritten(watch->self, &issue, lane, use);
}

/* ---- memory ---- */

struct lane_memory {
    uint32_t bytes; /* of one lane */
    uint32_t there; /* lanes whose access leads somewhere, and not nowhere */
    uint64_t address[LANES_MAX];
    uint8_t *memory[LANES_MAX];
};

/* For all lanes of a set: without asking for each where it is every lane. */
#define LANES_EACH(i, lanes, ...)                                                                                      \
    do {                                                                                                               \
        if ((lanes) == UINT32_MAX) {                                                                                   \
            for (unsigned i = 0; i < LANES_MAX; i++) {                                                                 \
                __VA_ARGS__;                                                                                           \
            }                                                                                                          \
        } else {                                                                                                       \
            for (BITS_EACH(i, lanes)) {                                                                                \
                __VA_ARGS__;                                                                                           \
            }                                                                                                          \
        }                                                                                                              \
    } while (0)

/* Addresses of the lanes; those of others mean nothing. */
static void find_addresses(const struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes,
                           uint64_t *out) {
    const struct address *address = &step->address;
    const uint64_t offset = address->offset;
    const bool is_plain = address->row.present && !address->high.present && !address->in_frame && !address->row.is_pair;
    const uint8_t *row = is_plain ? exec_row(exec, warp, &address->row) : NULL;
    if (row && address->row.bytes == 8)
        for (unsigned i = 0; i < LANES_MAX; i++) {
            uint64_t value;
            memcpy(&value, row + sizeof value * i, sizeof value);
            out[i] = value + offset;
        }
    else if (row && address->row.bytes == 4)
        for (unsigned i = 0; i < LANES_MAX; i++) {
            uint32_t value;
            memcpy(&value, row + sizeof value * i, sizeof value);
            out[i] = (uint32_t)(value + offset);
        }
    else
        for (BITS_EACH(lane, lanes))
            out[lane] = exec_address(exec, warp, lane, step);
}

struct lane_window {
    uint64_t low, bytes;
    uint8_t *memory; /* the host's, of the first byte */
};

/* Memory behind each lane's access where all of them lie in the window and are aligned; false: not all do. */
static bool find_in_window(const struct lane_window *window, uint32_t lanes, struct lane_memory *at) {
    const uint64_t low = window->low, last = window->bytes - at->bytes;
    uint8_t *const memory = window->memory;
    uint64_t outside = 0, bits = 0; /* outside: its highest bit, of differences that must not be below 0 */
    if (at->bytes > window->bytes)
        return false;
    LANES_EACH(i, lanes, outside |= (at->address[i] - low) | (last - (at->address[i] - low)); bits |= at->address[i]);
    if (outside >> 63 || bits & (at->bytes - 1))
        return false;
    LANES_EACH(i, lanes, at->memory[i] = memory + (at->address[i] - low));
    at->there |= lanes;
    return true;
}

/* The block's shared memory, or the allocation that the instruction used last. */
static struct lane_window window_of(const struct exec *exec, const struct step *step) {
    const struct site *site = &exec->sites[step - exec->linked->steps];
    if (step->address.space == SPACE_SHARED)
        return (struct lane_window){0, exec->shared_bytes, exec->shared};
    return (struct lane_window){site->low, site->high - site->low,
                                site->high ? memory_host(exec->memory, site->low) : NULL};
}

/* Memory of the host behind each lane's access, as exec_translate has it; false: the launch stops. */
static bool find_memory(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes,
                        struct lane_memory *at) {
    const struct lane_window window = window_of(exec, step);
    at->there = 0;
    if (find_in_window(&window, lanes, at))
        return true;
    for (BITS_EACH(lane, lanes)) {
        const struct lane_window now = window_of(exec, step);
        if (find_in_window(&now, UINT32_C(1) << lane, at))
            continue;
        at->memory[lane] = exec_translate(exec, warp, lane, step, at->address[lane], at->bytes);
        if (!at->memory[lane])
            return false;
        at->there |= (uint32_t)(at->memory[lane] != exec->nowhere) << lane;
    }
    return true;
}

/* A lane's access, sorted by where it leads: shared memory's own byte, or the global address. */
static enum space resolve(const struct exec *exec, const struct step *step, uint64_t *address) {
    if (step->address.space != SPACE_GENERIC)
        return step->address.space;
    if (*address >= GLOBAL_BASE)
        return SPACE_GLOBAL;
    if (*address - SHARED_WINDOW < WINDOW_BYTES) {
        *address -= SHARED_WINDOW + exec->linked->kernel->shared_base;
        return SPACE_SHARED;
    }
    if (*address - PARAM_WINDOW < WINDOW_BYTES)
        return SPACE_PARAM;
    return *address - LOCAL_WINDOW < WINDOW_BYTES ? SPACE_LOCAL : SPACE_GLOBAL;
}

/* One element of each lane's access, of a constant number of bytes, that lies `at` bytes into it. */
static inline __attribute__((always_inline)) void load_row(uint8_t *row, uint32_t lanes, uint8_t *const *memory,
                                                           size_t at, size_t bytes) {
    LANES_EACH(i, lanes, memcpy(row + bytes * i, memory[i] + at, bytes));
}

static void load_lanes(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes,
                       const struct lane_memory *at) {
    const uint32_t bytes = step->access_bytes;
    for (unsigned k = 0; k < step->dst_count; k++) {
        const struct row *row = &step->rows[k];
        if (step->plain && bytes == 4)
            load_row(exec_row(exec, warp, row), lanes, at->memory, 4u * k, 4);
        else if (step->plain && bytes == 8)
            load_row(exec_row(exec, warp, row), lanes, at->memory, 8u * k, 8);
        else
            for (BITS_EACH(lane, lanes)) {
                uint64_t value = 0;
                memcpy(&value, at->memory[lane] + (size_t)k * bytes, bytes);
                exec_write(exec, warp, row, lane, exec_extend_loaded(step, value));
            }
    }
}

static inline __attribute__((always_inline)) bool store_one(uint8_t *memory, const uint8_t *from, size_t bytes) {
    uint64_t before = 0, value = 0;
    memcpy(&before, memory, bytes);
    memcpy(&value, from, bytes);
    memcpy(memory, &value, bytes);
    return before != value;
}

/* As load_row: lanes, one after another, behind whose store memory holds something else than before. */
static inline __attribute__((always_inline)) uint32_t store_row(const uint8_t *row, uint32_t lanes,
                                                                uint8_t *const *memory, size_t at, size_t bytes) {
    uint32_t changed = 0;
    LANES_EACH(i, lanes, changed |= (uint32_t)store_one(memory[i] + at, row + bytes * i, bytes) << i);
    return changed;
}

/* One element after another: lanes that meet in one have met in the same of all. */
static uint32_t store_rows(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes,
                           const struct lane_memory *at) {
    uint32_t changed = 0;
    for (unsigned k = 0; k + 1 < step->src_count; k++) {
        const uint8_t *row = exec_row(exec, warp, &step->rows[1 + k]);
        changed |= step->access_bytes == 4 ? store_row(row, lanes, at->memory, 4u * k, 4)
                                           : store_row(row, lanes, at->memory, 8u * k, 8);
    }
    return changed;
}

/* Lanes behind whose store memory holds something else than before. */
static uint32_t store_lanes(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes,
                            const struct lane_memory *at) {
    const uint32_t bytes = step->access_bytes;
    const bool delays = exec->launch->watch->delays != NULL;
    uint32_t changed = 0;
    if (step->plain && bytes >= 4 && !delays)
        return store_rows(exec, warp, step, lanes, at);
    for (BITS_EACH(lane, lanes))
        for (unsigned k = 0; k + 1 < step->src_count; k++) {
            uint8_t *memory = at->memory[lane] + (size_t)k * bytes;
            const uint64_t value = exec_read(exec, warp, &step->rows[1 + k], lane);
            if (delays && at->memory[lane] != exec->nowhere) {
                delayed_put(exec, LANES_MAX * warp + lane, memory, value, bytes);
                continue;
            }
            changed |= (uint32_t)(memcmp(memory, &value, bytes) != 0) << lane;
            memcpy(memory, &value, bytes);
        }
    return changed;
}

static bool atomic_lane(struct exec *exec, unsigned warp, const struct step *step, unsigned lane,
                        const uint8_t *memory) {
    uint64_t before = 0, after = 0;
    memcpy(&before, memory, step->access_bytes);
    exec_atomic_step(exec, warp, step, UINT32_C(1) << lane);
    memcpy(&after, memory, step->access_bytes);
    return before != after;
}

/* Tells of the accesses of these lanes, which are of one space; changed: as in struct watch_access, of any lanes. */
static void tell_some(struct exec *exec, const struct watch_issue *issue, const struct lane_memory *at,
                      const uint64_t *address, struct watch_access some) {
    const struct exec_watch *watch = exec->launch->watch;
    if (!some.lanes)
        return;
    some.changed &= some.lanes;
    some.bytes = (uint8_t)at->bytes, some.address = address, some.memory = at->memory;
    watch->access(watch->self, issue, &some);
    exec->counts->progress += some.space == SPACE_GLOBAL && exec->linked->steps[issue->pc].inner == KIND_STORE;
}

/* Tells of the accesses, those of each space together. */
static void tell_accesses(struct exec *exec, const struct watch_issue *issue, const struct lane_memory *at,
                          uint32_t changed) {
    const struct step *step = &exec->linked->steps[issue->pc];
    const uint32_t lanes = issue->lanes & at->there;
    uint32_t global = 0, shared = 0;
    uint64_t address[LANES_MAX];
    if (step->address.space == SPACE_GLOBAL || step->address.space == SPACE_SHARED) {
        tell_some(exec, issue, at, at->address,
                  (struct watch_access){.space = step->address.space, .lanes = lanes, .changed = changed});
        return;
    }
    for (BITS_EACH(lane, lanes)) {
        address[lane] = at->address[lane];
        const enum space space = resolve(exec, step, &address[lane]);
        global |= (uint32_t)(space == SPACE_GLOBAL) << lane;
        shared |= (uint32_t)(space == SPACE_SHARED) << lane;
    }
    tell_some(exec, issue, at, address,
              (struct watch_access){.space = SPACE_GLOBAL, .lanes = global, .changed = changed});
    tell_some(exec, issue, at, address,
              (struct watch_access){.space = SPACE_SHARED, .lanes = shared, .changed = changed});
}

/* Stores that have waited go before what may follow them. */
static void hurry(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes,
                  const struct lane_memory *at) {
    const uint8_t order = step->inst->order;
    if (order == ORDER_RELEASE || order == ORDER_ACQ_REL || order == ORDER_SC)
        delayed_release(exec, warp, lanes);
    for (BITS_EACH(lane, step->inner == KIND_STORE ? 0 : lanes))
        delayed_access(exec, LANES_MAX * warp + lane, at->memory[lane], at->bytes);
}

static bool memory_step(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes) {
    const unsigned count = step->inner == KIND_LOAD    ? step->dst_count
                           : step->inner == KIND_STORE ? step->src_count - 1u
                                                       : 1;
    struct lane_memory at;
    uint32_t changed = 0;
    at.bytes = step->access_bytes * count;
    find_addresses(exec, warp, step, lanes, at.address);
    if (!find_memory(exec, warp, step, lanes, &at))
        return false;
    if (exec->launch->watch->delays)
        hurry(exec, warp, step, lanes, &at);
    if (step->inner == KIND_LOAD)
        load_lanes(exec, warp, step, lanes, &at);
    else if (step->inner == KIND_STORE)
        changed = store_lanes(exec, warp, step, lanes, &at);
    else
        for (BITS_EACH(lane, lanes))
            if (at.memory[lane] != exec->nowhere)
                changed |= (uint32_t)atomic_lane(exec, warp, step, lane, at.memory[lane]) << lane;
    const struct watch_issue issue = issue_of(exec, warp, step, lanes);
    tell_accesses(exec, &issue, &at, changed);
    return true;
}

/* ---- waiting ---- */

/* Lanes that name the same set have met; those of a form without one have met with all of the group. */
static void tell_meetings(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes) {
    const struct exec_watch *watch = exec->launch->watch;
    const struct watch_issue issue = issue_of(exec, warp, step, lanes);
    while (lanes) {
        const uint32_t named = exec_members(exec, warp, issue.pc, bits_first(lanes));
        uint32_t here = 0;
        for (BITS_EACH(lane, lanes))
            here |= (uint32_t)(exec_members(exec, warp, issue.pc, lane) == named) << lane;
        lanes &= ~here;
        if (named && here & ~named) {
            char message[128];
            snprintf(message, sizeof message, "%s: lanes 0x%08x are not in their own member mask 0x%08x",
                     op_name(step->inst->op), (unsigned)(here & ~named), (unsigned)named);
            exec_refuse(exec, warp, bits_first(here & ~named), step, WATCH_NOT_NAMED, message);
        }
        watch->meet(watch->self, &issue, named ? here & named : here);
    }
}

/* Accesses to shared memory of what is no load, store or atomic of its own: rows of matrices, copies, barriers in memory. */
static void tell_shared(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes, uint32_t bytes) {
    const struct exec_watch *watch = exec->launch->watch;
    const struct watch_issue issue = issue_of(exec, warp, step, lanes);
    uint64_t addresses[LANES_MAX];
    struct watch_access access = {
        .space = SPACE_SHARED, .bytes = (uint8_t)bytes, .changed = lanes, .address = addresses};
    for (BITS_EACH(lane, lanes)) {
        uint64_t address = step->inst->op == OP_CP_ASYNC ? exec_copy_target(exec, warp, lane, step)
                                                         : exec_address(exec, warp, lane, step);
        if (step->inst->op != OP_CP_ASYNC && resolve(exec, step, &address) != SPACE_SHARED)
            continue;
        if (!range_within(address, bytes, exec->shared_bytes))
            continue;
        addresses[lane] = address;
        access.lanes |= UINT32_C(1) << lane;
    }
    if (access.lanes)
        watch->access(watch->self, &issue, &access);
}

/* wmma.load and wmma.store: the accesses that the pieces of the lanes consist of, one after another, before it or when it is done. */
static bool tile_accesses(struct exec *exec, unsigned warp, const struct step *step, const struct tile_pieces *pieces,
                          bool is_done) {
    const struct watch_issue issue = issue_of(exec, warp, step, UINT32_MAX);
    for (uint32_t at = 0; at < pieces->bytes; at += pieces->access_bytes) {
        struct lane_memory memory = {.bytes = pieces->access_bytes};
        for (unsigned lane = 0; lane < LANES_MAX; lane++)
            memory.address[lane] = pieces->address[lane] + at;
        if (!find_memory(exec, warp, step, UINT32_MAX, &memory))
            return false;
        if (is_done)
            tell_accesses(exec, &issue, &memory, UINT32_MAX);
        else if (exec->launch->watch->delays)
            hurry(exec, warp, step, UINT32_MAX, &memory);
    }
    return true;
}

static bool tile_step(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes, uint32_t active,
                      uint32_t alive) {
    struct tile_pieces pieces;
    if (lanes != UINT32_MAX) /* which it refuses */
        return exec_warp_step(exec, warp, step, lanes, active, alive);
    return fragment_pieces(exec, warp, step, &pieces) && tile_accesses(exec, warp, step, &pieces, false) &&
           exec_warp_step(exec, warp, step, lanes, active, alive) && tile_accesses(exec, warp, step, &pieces, true);
}

/* The lanes whose addresses the rows of its matrices are. */
static uint32_t row_lanes(const struct step *step) {
    const unsigned count = step->inst->op == OP_LDMATRIX ? step->dst_count : step->src_count - 1u;
    return bits_low(8 * count);
}

bool exec_watched_step(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes, uint32_t active,
                       uint32_t alive) {
    const struct exec_watch *watch = exec->launch->watch;
    if (exec->unwritten) {
        unwritten_step(exec, warp, step, lanes);
        if (!is_told(step, (enum kind)step->inner))
            return exec_inner_step(exec, warp, step, lanes, active, alive);
    }
    if (watch->delays && (step->inner == KIND_WARP || step->inner == KIND_NOTHING || step->inner == KIND_ASYNC))
        delayed_release(exec, warp, lanes);
    if (step->inner == KIND_WARP && inst_moves_tile(step->inst))
        return tile_step(exec, warp, step, lanes, active, alive);
    if (step->inner == KIND_WARP) {
        const bool moves = step->inst->op == OP_LDMATRIX || step->inst->op == OP_STMATRIX;
        if (moves) /* an address may be in a register that it writes */
            tell_shared(exec, warp, step, row_lanes(step) & lanes, 16);
        if (!exec_warp_step(exec, warp, step, lanes, active, alive))
            return false;
        tell_meetings(exec, warp, step, lanes);
        return true;
    }
    if (step->inner == KIND_ASYNC) {
        if (!exec_async_step(exec, warp, step, lanes))
            return false;
        if (step->inst->op != OP_BULK && step->inst->op != OP_TENSORMAP) /* whose accesses nobody looks at */
            tell_shared(exec, warp, step, lanes, step->access_bytes);
        return true;
    }
    if (step->inner != KIND_NOTHING)
        return memory_step(exec, warp, step, lanes);
    const struct watch_issue issue = issue_of(exec, warp, step, lanes);
    watch->fence(watch->self, &issue);
    return true;
}

bool exec_watched_barrier(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes, uint32_t alive,
                          struct executed *out) {
    const struct exec_watch *watch = exec->launch->watch;
    if (exec->unwritten)
        unwritten_barrier(exec, warp, step, lanes);
    if (watch->delays)
        delayed_release(exec, warp, lanes);
    if (!exec_barrier_step(exec, warp, step, lanes, out))
        return false;
    const struct watch_issue issue = issue_of(exec, warp, step, lanes);
    watch->arrive(watch->self, &issue, out->barrier, alive & ~lanes);
    return true;
}

void exec_watch_leave(struct exec *exec, unsigned warp, uint32_t pc, uint32_t lanes, unsigned barrier, uint32_t alive) {
    const struct exec_watch *watch = exec->launch->watch;
    const struct watch_issue issue = issue_of(exec, warp, &exec->linked->steps[pc], lanes);
    if (watch->accesses)
        watch->leave(watch->self, &issue, barrier, alive);
}

void exec_watch_end(struct exec *exec) {
    if (exec->launch->watch->delays)
        delayed_block_end(exec);
}
