/* SPDX-License-Identifier: Apache-2.0 */
/* Operations among the threads of a warp. */
#include "base/bits.h"
#include "exec/state.h"
#include "simt/barrier.h"

/* The rendezvous of a .sync form: every named lane that has not ended must be here. A stack cannot bring the others
 * while this group waits, so the launch could never go on. */
static bool members_present(struct exec *exec, unsigned warp, const struct step *step, unsigned lane, uint32_t absent) {
    if (!absent)
        return true;
    exec->fault.absent = absent;
    return exec_fail(
        exec, warp, lane, step,
        "deadlock: %s waits for lanes 0x%08x of its member mask, which have diverged from this group at an "
        "earlier branch and run only after it",
        op_name(step->inst->op), (unsigned)absent);
}

/* Which source the member mask is. */
static unsigned mask_source(enum op op) {
    if (op == OP_SHFL || op == OP_TREE_TRAVERSE || op == OP_COND_ACC)
        return 3;
    return op == OP_BAR_WARP || op == OP_ELECT ? 0 : 1;
}

uint32_t exec_members(const struct exec *exec, unsigned warp, uint32_t pc, unsigned lane) {
    const struct step *step = &exec->linked->steps[pc];
    if (inst_is_of_whole_warp(step->inst))
        return UINT32_MAX;
    const struct row *row = &step->rows[step->dst_count + mask_source(step->inst->op)];
    return step->inst->flags & FLAG_SYNC && row->present ? (uint32_t)exec_read(exec, warp, row, lane) : 0;
}

/* The set that the lane names; false: a deadlock. elsewhere: lanes that have not ended and are not in the group. */
static bool members_of(struct exec *exec, unsigned warp, const struct step *step, unsigned lane, uint32_t elsewhere,
                       uint32_t *members) {
    const struct row *row = &step->rows[step->dst_count + mask_source(step->inst->op)];
    *members = UINT32_MAX;
    if (!(step->inst->flags & FLAG_SYNC) || !row->present)
        return true;
    *members = exec_members(exec, warp, (uint32_t)(step - exec->linked->steps), lane);
    return members_present(exec, warp, step, lane, *members & elsewhere);
}

/* Lanes whose predicate, one of the sources, holds. */
static uint32_t holds(const struct exec *exec, unsigned warp, const struct step *step, unsigned source,
                      uint32_t lanes) {
    uint32_t yes = 0;
    for (BITS_EACH(lane, lanes))
        yes |= (uint32_t)exec_read(exec, warp, &step->rows[step->dst_count + source], lane) << lane;
    return yes;
}

static void vote(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes) {
    const uint32_t yes = holds(exec, warp, step, 0, lanes);
    uint64_t value;
    switch ((enum mode)step->inst->mode) {
    case MODE_ALL: value = yes == lanes; break;
    case MODE_ANY: value = yes != 0; break;
    case MODE_UNI: value = yes == 0 || yes == lanes; break;
    default: value = yes; break;
    }
    for (BITS_EACH(target, lanes))
        exec_write(exec, warp, &step->rows[0], target, value);
}

static void match(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes) {
    const struct row *value = &step->rows[step->dst_count];
    const bool all = step->inst->mode == MODE_ALL;
    uint32_t result[LANES_MAX];
    for (BITS_EACH(lane, lanes)) {
        result[lane] = 0;
        for (BITS_EACH(other, lanes))
            if (exec_read(exec, warp, value, other) == exec_read(exec, warp, value, lane))
                result[lane] |= UINT32_C(1) << other;
    }
    for (BITS_EACH(target, lanes)) {
        const bool agreed = result[target] == lanes;
        exec_write(exec, warp, &step->rows[0], target, all && !agreed ? 0 : result[target]);
        if (step->dst_count > 1)
            exec_write(exec, warp, &step->rows[1], target, agreed);
    }
}

/* [PTX ISA, shfl]: segments of the warp by mask and clamp, both in c. A source lane that takes no part gives an
 * undefined value on hardware; here the lane's own. Lanes that come together take part whether their mask names them or not, which PTX leaves
 * open: native code has no mask in its SHFL, and programs rely on it (HeCBench's btree). */
static void shuffle(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes) {
    const struct row *rows = step->rows + step->dst_count;
    uint64_t value[LANES_MAX];
    bool in_range[LANES_MAX];
    for (BITS_EACH(lane, lanes)) {
        const uint32_t b = (uint32_t)exec_read(exec, warp, &rows[1], lane) & 31;
        const uint32_t c = (uint32_t)exec_read(exec, warp, &rows[2], lane), clamp = c & 31, segment = c >> 8 & 31;
        const uint32_t highest = (lane & segment) | (clamp & ~segment), lowest = lane & segment;
        int64_t from;
        switch ((enum mode)step->inst->mode) {
        case MODE_UP:
            from = (int64_t)lane - b;
            in_range[lane] = from >= (int64_t)highest;
            break;
        case MODE_DOWN:
            from = (int64_t)lane + b;
            in_range[lane] = from <= (int64_t)highest;
            break;
        case MODE_BFLY:
            from = (int64_t)(lane ^ b);
            in_range[lane] = from <= (int64_t)highest;
            break;
        default:
            from = (int64_t)(lowest | (b & ~segment));
            in_range[lane] = from <= (int64_t)highest;
            break;
        }
        unsigned source = in_range[lane] ? (unsigned)from & 31 : lane;
        if (!bits_test(lanes, source))
            source = lane;
        value[lane] = exec_read(exec, warp, &rows[0], source);
    }
    for (BITS_EACH(target, lanes)) {
        exec_write(exec, warp, &step->rows[0], target, value[target]);
        if (step->dst_count > 1)
            exec_write(exec, warp, &step->rows[1], target, in_range[target]);
    }
}

static uint32_t reduce(const struct inst *inst, uint32_t x, uint32_t y) {
    const bool is_signed = type_is_signed(inst->type);
    const bool less = is_signed ? (int32_t)x < (int32_t)y : x < y;
    switch ((enum atom)inst->atom) {
    case ATOM_ADD: return x + y;
    case ATOM_MIN: return less ? x : y;
    case ATOM_MAX: return less ? y : x;
    case ATOM_AND: return x & y;
    case ATOM_OR: return x | y;
    default: return x ^ y;
    }
}

static void redux(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes) {
    const struct row *value = &step->rows[step->dst_count];
    const unsigned first = bits_first(lanes);
    uint32_t result = (uint32_t)exec_read(exec, warp, value, first);
    for (BITS_EACH(lane, lanes & (lanes - 1)))
        result = reduce(step->inst, result, (uint32_t)exec_read(exec, warp, value, lane));
    for (BITS_EACH(target, lanes))
        exec_write(exec, warp, &step->rows[0], target, result);
}

/* The sum of the predicates, shifted, is the way to the next node [002 §7.2.1]. As shl, a shift of the width or more
 * leaves nothing. */
static void tree_traverse(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes) {
    const uint64_t sum = bits_count(holds(exec, warp, step, 1, lanes));
    const unsigned width = 8 * type_bytes(step->inst->type);
    for (BITS_EACH(lane, lanes)) {
        const uint64_t base = exec_read(exec, warp, &step->rows[1], lane);
        const uint32_t shift = (uint32_t)exec_read(exec, warp, &step->rows[3], lane);
        exec_write(exec, warp, &step->rows[0], lane, base + (shift < width ? sum << shift : 0));
    }
}

/* The exclusive prefix sum of the predicates gives each lane its place behind its own base [002 §7.1]. */
static bool cond_acc(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes) {
    const uint32_t yes = holds(exec, warp, step, 1, lanes);
    uint64_t address[LANES_MAX], offset = 0;
    for (BITS_EACH(lane, yes)) {
        address[lane] = exec_address(exec, warp, lane, step) + offset;
        offset += step->access_bytes;
    }
    if (yes && !(exec->core ? exec_timed_accumulate : exec_accumulate_step)(exec, warp, step, yes, address))
        return false;
    for (BITS_EACH(target, lanes))
        exec_write(exec, warp, &step->rows[0], target, bits_count(yes));
    return true;
}

/* What PTX allows: barriers 0 to 15, a count of whole warps. A count beyond the block's could never be met; one that only
 * rounds a last warp up means every thread. */
static bool check_barrier(struct exec *exec, unsigned warp, const struct step *step, unsigned lane, bool counts,
                          struct executed *out) {
    const unsigned number = out->barrier, expected = out->expected;
    if (number >= CLUSTER_BARRIER && step->inst->scope != SCOPE_CLUSTER)
        return exec_fail(exec, warp, lane, step, "barrier %u: a block has barriers 0 to %d", number,
                         CLUSTER_BARRIER - 1);
    if (!counts)
        return true;
    if (!barrier_counts_warps(expected))
        return exec_fail(exec, warp, lane, step, "barrier %u waits for %u threads, which is not a multiple of %d",
                         number, expected, LANES_MAX);
    if (expected > bits_round_up(exec->threads, LANES_MAX))
        return exec_fail(exec, warp, lane, step, "barrier %u waits for %u threads, but the block has %u", number,
                         expected, exec->threads);
    if (expected > exec->threads)
        out->expected = exec->threads;
    return true;
}

bool exec_barrier_step(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes,
                       struct executed *out) {
    const struct row *rows = step->rows + step->dst_count;
    const bool counts = rows[1].present;
    const unsigned first = bits_first(lanes);
    out->barrier = (uint32_t)exec_read(exec, warp, &rows[0], first);
    out->expected = counts ? (uint32_t)exec_read(exec, warp, &rows[1], first) : 0;
    out->predicate = 0;
    for (BITS_EACH(lane, lanes)) {
        if (exec_read(exec, warp, &rows[0], lane) != out->barrier ||
            (counts && exec_read(exec, warp, &rows[1], lane) != out->expected))
            return exec_fail(exec, warp, lane, step, "lanes %u and %u of a warp name different barriers", first, lane);
        if (rows[2].present)
            out->predicate |= (uint32_t)exec_read(exec, warp, &rows[2], lane) << lane;
    }
    return check_barrier(exec, warp, step, first, counts, out);
}

bool exec_warp_step(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes, uint32_t active,
                    uint32_t alive) {
    const enum op op = step->inst->op;
    if (op == OP_ACTIVEMASK) {
        for (BITS_EACH(target, lanes))
            exec_write(exec, warp, &step->rows[0], target, active);
        return true;
    }
    if (inst_is_of_whole_warp(step->inst))
        return members_present(exec, warp, step, bits_first(lanes), alive & ~active) &&
               exec_matrix_step(exec, warp, step, lanes);
    /* Lanes that name different sets meet set by set. */
    for (uint32_t rest = lanes; rest;) {
        const unsigned lane = bits_first(rest);
        uint32_t members;
        if (!members_of(exec, warp, step, lane, alive & ~active, &members))
            return false;
        uint32_t meeting = 0;
        for (BITS_EACH(other, rest)) {
            const struct row *row = &step->rows[step->dst_count + mask_source(op)];
            const bool same = !(step->inst->flags & FLAG_SYNC) || exec_read(exec, warp, row, other) == members;
            if (same)
                meeting |= UINT32_C(1) << other;
        }
        rest &= ~meeting;
        const uint32_t together = meeting; /* with those that their own mask leaves out */
        meeting &= members;
        if (!meeting)
            return exec_fail(exec, warp, lane, step, "%s: lane %u is not in its own member mask 0x%08x", op_name(op),
                             lane, (unsigned)members);
        switch (op) {
        case OP_VOTE: vote(exec, warp, step, meeting); break;
        case OP_MATCH: match(exec, warp, step, meeting); break;
        case OP_SHFL: shuffle(exec, warp, step, together); break;
        case OP_REDUX: redux(exec, warp, step, meeting); break;
        case OP_TREE_TRAVERSE: tree_traverse(exec, warp, step, meeting); break;
        case OP_COND_ACC:
            if (!cond_acc(exec, warp, step, meeting))
                return false;
            break;
        case OP_ELECT:
            for (BITS_EACH(target, meeting)) {
                exec_write(exec, warp, &step->rows[0], target, bits_first(meeting));
                if (step->dst_count > 1)
                    exec_write(exec, warp, &step->rows[1], target, target == bits_first(meeting));
            }
            break;
        default: break;
        }
    }
    return true;
}
