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
    uint64_t address[LANES_MAX];
    uint8_t *memory[LANES_MAX];
};

/* Addresses of the lanes; those of others mean nothing. */
static void find_addresses(const struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes,
                           uint64_t *out) {
    const struct address *address = &step->address;
    const uint64_t offset = address->offset;
    const bool is_plain = address->row.present && !address->high.present && !address->in_frame && !address->row.is_pair;
    const uint8_t *row = is_plain ? exec_row(exec, warp, &address->row) : NULL;
    if (row && address->row.bytes == 8) {
        memcpy(out, row, LANES_MAX * sizeof *out);
        for (unsigned i = 0; i < LANES_MAX; i++)
            out[i] += offset;
    } else if (row && address->row.bytes == 4) {
        uint32_t low[LANES_MAX];
        memcpy(low, row, sizeof low);
        for (unsigned i = 0; i < LANES_MAX; i++)
            out[i] = (uint32_t)(low[i] + offset);
    } else
        for (BITS_EACH(lane, lanes))
            out[lane] = exec_address(exec, warp, lane, step);
}

/* Memory of the host behind each lane's access, as exec_translate has it; false: the launch stops. */
static bool find_memory(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes,
                        struct lane_memory *at) {
    const bool is_shared = step->address.space == SPACE_SHARED;
    const struct site *site = &exec->sites[step - exec->linked->steps];
    for (BITS_EACH(lane, lanes)) {
        const uint64_t address = at->address[lane], low = is_shared ? 0 : site->low;
        const uint64_t size = is_shared ? exec->shared_bytes : site->high - low;
        if (!(address & (at->bytes - 1)) && range_within(address - low, at->bytes, size))
            at->memory[lane] = is_shared ? exec->shared + address : memory_host(exec->memory, address);
        else
            at->memory[lane] = exec_translate(exec, warp, lane, step, address, at->bytes);
        if (!at->memory[lane])
            return false;
    }
    return true;
}

/* A lane's access, sorted by where it leads: shared memory's own byte, or the global address. */
static enum space resolve(const struct exec *exec, const struct step *step, uint64_t *address) {
    if (step->address.space != SPACE_GENERIC)
        return step->address.space;
    if (*address - SHARED_WINDOW < WINDOW_BYTES) {
        *address -= SHARED_WINDOW + exec->linked->kernel->shared_base;
        return SPACE_SHARED;
    }
    if (*address - PARAM_WINDOW < WINDOW_BYTES)
        return SPACE_PARAM;
    return *address - LOCAL_WINDOW < WINDOW_BYTES ? SPACE_LOCAL : SPACE_GLOBAL;
}

static void load_lanes(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes,
                       const struct lane_memory *at) {
    const uint32_t bytes = step->access_bytes;
    for (unsigned k = 0; k < step->dst_count; k++) {
        const struct row *row = &step->rows[k];
        uint8_t *to = step->plain ? exec_row(exec, warp, row) : NULL;
        for (BITS_EACH(lane, lanes)) {
            const uint8_t *memory = at->memory[lane] + (size_t)k * bytes;
            uint64_t value = 0;
            if (to && bytes == 4)
                memcpy(to + 4u * lane, memory, 4);
            else if (to && bytes == 8)
                memcpy(to + 8u * lane, memory, 8);
            else {
                memcpy(&value, memory, bytes);
                exec_write(exec, warp, row, lane, exec_extend_loaded(step, value));
            }
        }
    }
}

/* Lanes behind whose store memory holds something else than before. */
static uint32_t store_lanes(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes,
                            const struct lane_memory *at) {
    const uint32_t bytes = step->access_bytes;
    const bool delays = exec->launch->watch->delays != NULL;
    uint32_t changed = 0;
    for (BITS_EACH(lane, lanes))
        for (unsigned k = 0; k + 1 < step->src_count; k++) {
            const struct row *row = &step->rows[1 + k];
            uint8_t *memory = at->memory[lane] + (size_t)k * bytes;
            if (delays && at->memory[lane] != exec->nowhere) {
                delayed_put(exec, LANES_MAX * warp + lane, memory, exec_read(exec, warp, row, lane), bytes);
                continue;
            }
            if (step->plain && bytes == 4) {
                uint32_t before, value;
                memcpy(&before, memory, 4);
                memcpy(&value, exec_row(exec, warp, row) + 4u * lane, 4);
                memcpy(memory, &value, 4);
                changed |= (uint32_t)(before != value) << lane;
                continue;
            }
            const uint64_t value = exec_read(exec, warp, row, lane);
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

/* Tells of the accesses, those of each space together. */
static void tell_accesses(struct exec *exec, const struct watch_issue *issue, const struct lane_memory *at,
                          uint32_t changed) {
    const struct exec_watch *watch = exec->launch->watch;
    const struct step *step = &exec->linked->steps[issue->pc];
    struct watch_access to[2]; /* global, shared */
    to[0].lanes = to[1].lanes = 0;
    for (BITS_EACH(lane, issue->lanes)) {
        uint64_t address = at->address[lane];
        const enum space space = resolve(exec, step, &address);
        if (at->memory[lane] == exec->nowhere || space == SPACE_LOCAL || space == SPACE_PARAM)
            continue;
        struct watch_access *access = &to[space == SPACE_SHARED];
        access->address[lane] = address;
        access->lanes |= UINT32_C(1) << lane;
    }
    for (unsigned i = 0; i < 2; i++) {
        if (!to[i].lanes)
            continue;
        to[i].changed = changed & to[i].lanes;
        to[i].space = i ? SPACE_SHARED : SPACE_GLOBAL;
        to[i].bytes = (uint8_t)at->bytes;
        to[i].memory = at->memory;
        watch->access(watch->self, issue, &to[i]);
    }
    if (step->inner == KIND_STORE)
        exec->counts->progress += to[0].lanes != 0;
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
    struct watch_access access = {.space = SPACE_SHARED, .bytes = (uint8_t)bytes, .changed = lanes};
    for (BITS_EACH(lane, lanes)) {
        uint64_t address = step->inst->op == OP_CP_ASYNC ? exec_copy_target(exec, warp, lane, step)
                                                         : exec_address(exec, warp, lane, step);
        if (step->inst->op != OP_CP_ASYNC && resolve(exec, step, &address) != SPACE_SHARED)
            continue;
        if (!range_within(address, bytes, exec->shared_bytes))
            continue;
        access.address[lane] = address;
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
