/* SPDX-License-Identifier: Apache-2.0 */
/* Bulk copies between global and shared memory, each of one thread. Their bytes move when they issue, which programs cannot tell from
 * later; the barrier in memory that a load completes hears of them when they would have come. In time that is as the machine says: such
 * copies take no part in the traffic of caches and DRAM. */
#include <inttypes.h>
#include <string.h>

#include "base/bits.h"
#include "exec/bulk.h"
#include "exec/core.h"
#include "exec/scalar.h"
#include "exec/state.h"

enum { BULK_PART = 16 }; /* bytes that addresses and sizes are multiples of */
enum bulk_source {
    BULK_ADDRESS,
    BULK_SHARED,
    BULK_SHARED_OFFSET,
    BULK_BYTES,
    BULK_BARRIER,
    BULK_BARRIER_OFFSET,
    BULK_MASK
};

static struct bulk bulk_of(const struct exec *exec, unsigned warp, unsigned lane, const struct step *step) {
    const struct row *rows = step->rows;
    struct bulk bulk = {.address = exec_address(exec, warp, lane, step)};
    bulk.shared = (uint32_t)(exec_read(exec, warp, &rows[BULK_SHARED], lane) +
                             exec_read(exec, warp, &rows[BULK_SHARED_OFFSET], lane));
    bulk.bytes = (uint32_t)exec_read(exec, warp, &rows[BULK_BYTES], lane);
    if (step->src_count > BULK_BARRIER)
        bulk.barrier = (uint32_t)(exec_read(exec, warp, &rows[BULK_BARRIER], lane) +
                                  exec_read(exec, warp, &rows[BULK_BARRIER_OFFSET], lane));
    return bulk;
}

/* False: a fault. */
static bool check(struct exec *exec, unsigned warp, unsigned lane, const struct step *step, const struct bulk *bulk) {
    if (bulk->bytes % BULK_PART || bulk->address % BULK_PART || bulk->shared % BULK_PART)
        return exec_fail(
            exec, warp, lane, step,
            "cp.async.bulk of %u bytes at address 0x%llx and shared address 0x%x: all three must be multiples of %d",
            (unsigned)bulk->bytes, (unsigned long long)bulk->address, (unsigned)bulk->shared, BULK_PART);
    return true;
}

uint8_t *bulk_shared(struct exec *exec, unsigned warp, unsigned lane, const struct step *step,
                     const struct bulk *bulk) {
    uint32_t at;
    const struct exec *owner = exec_shared_owner(exec, bulk->shared, bulk->bytes, &at);
    if (owner && !owner->ended)
        return owner->shared + at;
    if (owner)
        exec_fail(exec, warp, lane, step, "cp.async.bulk to block %u of the cluster, which has ended",
                  (unsigned)owner->rank);
    else
        exec_fail(exec, warp, lane, step, "cp.async.bulk of %u bytes at shared address 0x%x, which has only 0x%x bytes",
                  (unsigned)bulk->bytes, (unsigned)bulk->shared, (unsigned)exec->shared_bytes);
    return NULL;
}

void bulk_reduce(const struct inst *inst, uint8_t *memory, const uint8_t *from, uint32_t bytes) {
    const uint32_t size = type_bytes((enum type)inst->stype);
    for (uint32_t at = 0; at < bytes; at += size) {
        uint64_t old = 0, value = 0;
        memcpy(&old, memory + at, size), memcpy(&value, from + at, size);
        const uint64_t new =
            scalar_atomic((enum atom)inst->atom, (enum type)inst->stype, inst->stype == TYPE_F32, old, value, 0);
        memcpy(memory + at, &new, size);
    }
}

/* Of global memory in time: performed there, at the end of the round. */
static void log_reductions(struct exec *exec, const struct inst *inst, uint64_t address, const uint8_t *from) {
    const uint32_t size = type_bytes((enum type)inst->stype);
    for (uint32_t at = 0; at < BULK_PART; at += size) {
        uint64_t value = 0;
        memcpy(&value, from + at, size);
        core_log_reduction(exec->core, address + at, value, (enum atom)inst->atom, (enum type)inst->stype);
    }
}

static bool move_part(struct exec *exec, unsigned warp, unsigned lane, const struct step *step, uint64_t address,
                      uint8_t *shared) {
    const bool loads = step->inst->mode == MODE_BULK_LOAD, is_global = step->inst->space == SPACE_GLOBAL;
    if (!is_global && exec_is_far(exec, (uint32_t)address))
        return exec_far_put(exec, warp, lane, step, &(struct far_bytes){(uint32_t)address, BULK_PART, shared, 0});
    uint8_t *memory = exec_translate(exec, warp, lane, step, address, BULK_PART);
    if (!memory)
        return false;
    const bool logs = exec->core && is_global && memory != exec->nowhere;
    if (loads) {
        memcpy(shared, memory, BULK_PART);
        if (logs)
            exec_timed_bytes(exec, address, BULK_PART, shared);
        return true;
    }
    if (step->inst->atom != ATOM_NONE) {
        if (logs)
            log_reductions(exec, step->inst, address, shared);
        else
            bulk_reduce(step->inst, memory, shared, BULK_PART);
        exec->counts->progress += is_global;
        return true;
    }
    if (!logs) {
        memmove(memory, shared, BULK_PART);
        return true;
    }
    exec->counts->progress++;
    for (unsigned at = 0; at < BULK_PART; at += 8) {
        uint64_t word;
        memcpy(&word, shared + at, sizeof word);
        core_log(exec->core, address + at, word, sizeof word);
    }
    return true;
}

/* ---- when a load is done ---- */

uint64_t bulk_turn(const struct exec *exec, uint32_t bytes) {
    const struct exec_launch *launch = exec->launch;
    struct core *core = exec->core;
    const uint64_t start = core->bulk_free > exec->clock ? core->bulk_free : exec->clock;
    const uint32_t transfer = (bytes + launch->bulk_bytes - 1) / launch->bulk_bytes;
    core->bulk_free = start + (transfer > launch->bulk_interval ? transfer : launch->bulk_interval);
    return start + transfer + launch->bulk_latency;
}

void bulk_add(struct exec *exec, struct bulk_pending one) {
    if (exec->bulk.count == exec->bulk.capacity)
        exec->bulk.items = arena_grow(exec->core->arena, exec->bulk.items, exec->bulk.count, &exec->bulk.capacity,
                                      sizeof *exec->bulk.items);
    exec->bulk.items[exec->bulk.count++] = one;
}

bool bulk_complete(struct exec *exec, unsigned warp, unsigned lane, const struct step *step, const struct bulk *bulk) {
    if (!exec->core) {
        const char *wrong = exec_complete_bytes(exec, bulk->barrier, bulk->bytes);
        exec->counts->progress++;
        return wrong ? exec_fail(exec, warp, lane, step, "cp.async.bulk: mbarrier at shared address 0x%x: %s",
                                 (unsigned)bulk->barrier, wrong)
                     : true;
    }
    const uint64_t done = bulk->done ? bulk->done : bulk_turn(exec, bulk->bytes);
    if (exec_is_far(exec, bulk->barrier))
        return exec_far_complete(exec, warp, lane, step,
                                 &(struct far_bytes){bulk->barrier, bulk->bytes, NULL,
                                                     done + exec->launch->far_cycles});
    bulk_add(exec, (struct bulk_pending){done, bulk->barrier, bulk->bytes});
    return true;
}

void exec_bulk_settle(struct exec *exec) {
    unsigned left = 0;
    for (unsigned i = 0; i < exec->bulk.count; i++) {
        const struct bulk_pending one = exec->bulk.items[i];
        if (one.cycle > exec->clock)
            exec->bulk.items[left++] = one;
        else if (!exec_complete_bytes(exec, one.barrier, one.bytes)) /* one that has been invalidated hears nothing */
            exec->counts->progress++;
    }
    exec->bulk.count = left;
}

/* A load to another block's memory, in time. */
static bool copy_far(struct exec *exec, unsigned warp, unsigned lane, const struct step *step,
                     const struct bulk *bulk) {
    for (uint32_t at = 0; at < bulk->bytes; at += BULK_PART) {
        uint8_t part[BULK_PART];
        if (!move_part(exec, warp, lane, step, bulk->address + at, part) ||
            !exec_far_put(exec, warp, lane, step, &(struct far_bytes){bulk->shared + at, BULK_PART, part, 0}))
            return false;
    }
    return bulk_complete(exec, warp, lane, step, bulk);
}

static bool copy(struct exec *exec, unsigned warp, unsigned lane, const struct step *step, const struct bulk *bulk) {
    if (step->inst->mode == MODE_BULK_LOAD && exec_is_far(exec, bulk->shared))
        return copy_far(exec, warp, lane, step, bulk);
    uint8_t *shared = bulk_shared(exec, warp, lane, step, bulk);
    if (!shared)
        return false;
    for (uint32_t at = 0; at < bulk->bytes; at += BULK_PART)
        if (!move_part(exec, warp, lane, step, bulk->address + at, shared + at))
            return false;
    return step->src_count <= BULK_BARRIER || bulk_complete(exec, warp, lane, step, bulk);
}

/* Brings the same bytes to the same place of each block that the mask names, and tells the barrier at the same place there. */
static bool copy_to_all(struct exec *exec, unsigned warp, unsigned lane, const struct step *step,
                        const struct bulk *bulk, uint32_t mask) {
    const uint64_t done = exec->core && mask ? bulk_turn(exec, bulk->bytes) : 0;
    for (BITS_EACH(rank, mask)) {
        struct bulk one = *bulk;
        one.done = done;
        if (!exec_shared_name(exec, rank, &one.shared) || !exec_shared_name(exec, rank, &one.barrier))
            return exec_fail(exec, warp, lane, step,
                             "cp.async.bulk to block %u of the cluster, which has no such block", rank);
        if (!copy(exec, warp, lane, step, &one))
            return false;
    }
    return true;
}

/* st.async and red.async: of values that the lane holds, to be counted in bytes by a barrier. */
static bool put(struct exec *exec, unsigned warp, unsigned lane, const struct step *step) {
    enum { PUT_BARRIER = 1, PUT_VALUES = 3 };
    const struct inst *inst = step->inst;
    const uint32_t size = type_bytes((enum type)inst->stype), count = step->src_count - PUT_VALUES;
    const uint64_t address = exec_address(exec, warp, lane, step);
    const bool generic = inst->space == SPACE_GENERIC;
    if (generic && address - SHARED_WINDOW >= WINDOW_BYTES && !exec_is_of_cluster(address))
        return exec_fail(exec, warp, lane, step, "%s at address 0x%" PRIx64 ", which is not in shared memory",
                         inst->atom == ATOM_NONE ? "st.async" : "red.async", address);
    const uint32_t window = generic ? (uint32_t)SHARED_WINDOW : 0, shared = (uint32_t)address - window;
    struct bulk bulk = {.bytes = size * count};
    const bool far = exec_is_far(exec, shared);
    uint8_t *memory = far ? NULL : exec_translate(exec, warp, lane, step, address, bulk.bytes);
    if (!far && !memory)
        return false;
    bulk.barrier = (uint32_t)(exec_read(exec, warp, &step->rows[PUT_BARRIER], lane) +
                              exec_read(exec, warp, &step->rows[PUT_BARRIER + 1], lane)) -
                   window;
    for (uint32_t k = 0; k < count; k++) {
        const uint64_t value = exec_read(exec, warp, &step->rows[PUT_VALUES + k], lane);
        uint8_t bytes[sizeof value];
        memcpy(bytes, &value, sizeof value);
        if (far && !exec_far_put(exec, warp, lane, step, &(struct far_bytes){shared + k * size, size, bytes, 0}))
            return false;
        if (far)
            continue;
        if (inst->atom != ATOM_NONE)
            bulk_reduce(inst, memory + k * size, bytes, size);
        else
            memcpy(memory + k * size, bytes, size);
    }
    return bulk_complete(exec, warp, lane, step, &bulk);
}

bool exec_bulk_step(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes) {
    if (exec->core)
        exec_timed_copy(exec, warp, step, 0, 0);
    if (step->inst->rank)
        return exec_tensor_copy_step(exec, warp, step, lanes);
    for (BITS_EACH(lane, step->inst->mode == MODE_BULK_VALUES ? lanes : 0))
        if (!put(exec, warp, lane, step))
            return false;
    for (BITS_EACH(lane, step->inst->mode == MODE_BULK_VALUES ? 0 : lanes)) {
        const struct bulk bulk = bulk_of(exec, warp, lane, step);
        if (!check(exec, warp, lane, step, &bulk))
            return false;
        const bool spreads = step->src_count > BULK_MASK;
        const uint32_t mask = spreads ? (uint32_t)exec_read(exec, warp, &step->rows[BULK_MASK], lane) & UINT16_MAX : 0;
        if (!(spreads ? copy_to_all(exec, warp, lane, step, &bulk, mask) : copy(exec, warp, lane, step, &bulk)))
            return false;
    }
    return true;
}
