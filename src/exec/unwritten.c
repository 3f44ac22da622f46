/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/unwritten.h"

#include <string.h>

#include "base/bits.h"
#include "base/memory.h"
#include "exec/scalar.h"
#include "isa/analysis.h"

struct unwritten {
    uint8_t *frames;         /* as those of the executor: bits that nobody has written */
    const uint8_t *starting; /* a frame at the start of a block */
    uint8_t *written;        /* as the executor's local memory: 0xff where it is */
    uint64_t local_bytes;    /* of each thread's, that are followed: the kernel's own variables */
};

/* ---- which kernels ---- */

static bool is_followed(const struct function *function, uint32_t r) {
    const uint64_t *first = function->cfg ? function->cfg->unwritten : NULL;
    return first && (first[r / 64] >> (r % 64) & 1);
}

/* Local variables of the kernel: what calls hand over is written by whoever calls. */
static bool is_local_load(const struct linked *linked, const struct inst *inst) {
    return inst->op == OP_LD && linked->kernel->local_bytes &&
           (inst->space == SPACE_LOCAL || inst->space == SPACE_GENERIC);
}

bool unwritten_matters(const struct linked *linked) {
    const struct function *kernel = linked->kernel;
    if (linked->has_recursion)
        return false;
    for (uint32_t r = 0; r < kernel->reg_count; r++)
        if (is_followed(kernel, r) && linked->layouts[kernel->index].registers[r].present)
            return true;
    for (uint32_t pc = 0; pc < linked->module->code_count; pc++)
        if (linked->steps[pc].inst && is_local_load(linked, linked->steps[pc].inst))
            return true;
    return false;
}

static uint32_t row_bytes(const struct row *row) {
    return row->bytes ? row->bytes * LANES_MAX : (uint32_t)sizeof(uint32_t);
}

static const uint8_t *frame_at_start(struct arena *arena, const struct linked *linked) {
    const struct function *kernel = linked->kernel;
    uint8_t *frame = arena_alloc_aligned(arena, linked->frame_bytes, 64);
    for (uint32_t r = 0; r < kernel->reg_count; r++) {
        const struct row *row = &linked->layouts[kernel->index].registers[r];
        if (row->present && is_followed(kernel, r))
            memset(frame + row->offset, 0xff, row_bytes(row));
    }
    for (uint32_t pc = 0; pc < linked->module->code_count; pc++) { /* a clock is read outside of here */
        const struct step *step = &linked->steps[pc];
        if (step->inst && step->kind == KIND_CLOCK)
            memset(frame + step->rows[0].offset, 0, row_bytes(&step->rows[0]));
    }
    return frame;
}

struct unwritten *unwritten_create(struct arena *arena, const struct exec *exec) {
    const struct linked *linked = exec->linked;
    struct unwritten *unwritten = ARENA_NEW(arena, struct unwritten);
    unwritten->frames = arena_alloc_aligned(arena, (size_t)exec->warps * linked->frame_bytes, 64);
    unwritten->starting = frame_at_start(arena, linked);
    unwritten->local_bytes = linked->kernel->local_bytes;
    unwritten->written = arena_alloc_aligned(arena, (size_t)exec->warps * LANES_MAX * exec->local_bytes, 64);
    return unwritten;
}

void unwritten_start(struct exec *exec) {
    const struct unwritten *unwritten = exec->unwritten;
    const size_t bytes = exec->linked->frame_bytes;
    for (unsigned warp = 0; warp < exec->warps; warp++)
        memcpy(unwritten->frames + warp * bytes, unwritten->starting, bytes);
    memory_clear(unwritten->written, (size_t)exec->warps * LANES_MAX * exec->local_bytes);
}

/* ---- bits of rows ---- */

static uint8_t *bits_of(const struct exec *exec, unsigned warp, const struct row *row) {
    return exec->unwritten->frames + (size_t)warp * exec->linked->frame_bytes + row->offset;
}

static bool has_bits(const struct exec *exec, unsigned warp, const struct row *row) {
    if (!row->present || row->base != BASE_FRAME)
        return false;
    const uint8_t *at = bits_of(exec, warp, row);
    uint64_t any = 0;
    if (!row->bytes) {
        uint32_t word;
        memcpy(&word, at, sizeof word);
        return word != 0;
    }
    for (uint32_t i = 0; i < row_bytes(row); i += (uint32_t)sizeof any) {
        uint64_t word;
        memcpy(&word, at + i, sizeof word);
        any |= word;
    }
    return any != 0;
}

static uint64_t bits_get(const struct exec *exec, unsigned warp, const struct row *row, unsigned lane) {
    if (!row->present || row->base != BASE_FRAME)
        return 0;
    const uint8_t *at = bits_of(exec, warp, row);
    uint64_t value = 0;
    if (!row->bytes) {
        uint32_t word;
        memcpy(&word, at, sizeof word);
        return word >> lane & 1;
    }
    memcpy(&value, at + (size_t)row->bytes * lane, row->bytes);
    return value;
}

static void bits_put(const struct exec *exec, unsigned warp, const struct row *row, unsigned lane, uint64_t value) {
    if (!row->present || row->base != BASE_FRAME)
        return;
    uint8_t *at = bits_of(exec, warp, row);
    if (!row->bytes) {
        uint32_t word;
        memcpy(&word, at, sizeof word);
        word = (word & ~(UINT32_C(1) << lane)) | (value ? UINT32_C(1) << lane : 0);
        memcpy(at, &word, sizeof word);
        return;
    }
    memcpy(at + (size_t)row->bytes * lane, &value, row->bytes);
}

static uint32_t lanes_with_bits(const struct exec *exec, unsigned warp, const struct row *row, uint32_t lanes) {
    uint32_t found = 0;
    if (has_bits(exec, warp, row))
        for (BITS_EACH(lane, lanes))
            found |= (uint32_t)(bits_get(exec, warp, row, lane) != 0) << lane;
    return found;
}

/* The lanes have written all destinations. */
static void write_all(const struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes) {
    for (unsigned k = 0; k < step->dst_count; k++)
        if (has_bits(exec, warp, &step->rows[k]))
            for (BITS_EACH(lane, lanes))
                bits_put(exec, warp, &step->rows[k], lane, 0);
    if (step->inst->flags & FLAG_CARRY_OUT)
        for (BITS_EACH(lane, lanes))
            bits_put(exec, warp, &step->carry, lane, 0);
}

static void taint_all(const struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes) {
    for (BITS_EACH(lane, lanes)) {
        for (unsigned k = 0; k < step->dst_count; k++)
            bits_put(exec, warp, &step->rows[k], lane, UINT64_MAX);
        if (step->inst->flags & FLAG_CARRY_OUT)
            bits_put(exec, warp, &step->carry, lane, 1);
    }
}

static uint32_t guard_bits(const struct exec *exec, unsigned warp, const struct step *step) {
    uint32_t word = 0;
    const struct row row = {.present = true, .offset = step->guard_offset};
    if (step->guarded)
        memcpy(&word, bits_of(exec, warp, &row), sizeof word);
    return word;
}

static void tell(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes, enum watch_use use) {
    for (BITS_EACH(lane, lanes))
        exec_tell_unwritten(exec, warp, step, lane, use);
}

/* ---- operations ---- */

struct operands {
    unsigned count;
    uint64_t value[4], bits[4];
    bool is_predicate[4];
    unsigned carry, carry_bit;
};

static struct operands operands_of(const struct exec *exec, unsigned warp, const struct step *step, unsigned lane) {
    struct operands all = {.count = step->src_count < 4 ? step->src_count : 4};
    const struct row *sources = step->rows + step->dst_count;
    for (unsigned k = 0; k < all.count; k++) {
        all.value[k] = exec_read(exec, warp, &sources[k], lane);
        all.bits[k] = bits_get(exec, warp, &sources[k], lane);
        all.is_predicate[k] = sources[k].present && sources[k].bytes == 0;
    }
    if (step->inst->flags & FLAG_CARRY_IN) {
        all.carry = (unsigned)exec_read(exec, warp, &step->carry, lane);
        all.carry_bit = (unsigned)bits_get(exec, warp, &step->carry, lane);
    }
    return all;
}

static struct scalar evaluate(const struct inst *inst, const uint64_t value[4], unsigned carry) {
    return scalar_evaluate(inst, value[0], value[1], value[2], value[3], carry);
}

/* Only predicates are not written: what all their values have in common is. */
static struct scalar over_predicates(const struct inst *inst, const struct operands *all) {
    struct scalar first = {0}, differs = {0};
    for (unsigned choice = 0; choice < 16; choice++) {
        uint64_t value[4];
        bool is_new = true;
        for (unsigned k = 0; k < 4; k++) {
            value[k] = all->bits[k] ? choice >> k & 1 : all->value[k];
            is_new &= all->bits[k] || !(choice >> k & 1);
        }
        if (!is_new)
            continue;
        const struct scalar result = evaluate(inst, value, all->carry);
        if (choice == 0)
            first = result;
        differs.d |= result.d ^ first.d;
        differs.d2 |= result.d2 ^ first.d2;
    }
    return differs;
}

/* Sources whose bits go into the result as they are; the others say where to. */
static unsigned moved_sources(const struct inst *inst) {
    switch ((enum op)inst->op) {
    case OP_MOV:
    case OP_CVTA:
    case OP_SHL:
    case OP_SHR:
    case OP_BFE:
    case OP_BREV: return 1;
    case OP_CVT:
        return type_is_float(inst->type) || type_is_float(inst->stype) || inst->flags & FLAG_SAT || inst->src_count > 1
                   ? 0
                   : 1;
    case OP_SELP:
    case OP_SLCT:
    case OP_SHF:
    case OP_PRMT:
    case OP_BFI: return 3;
    default: return 0;
    }
}

/* A product with a written power of two moves the bits of the other factor, as a shift does: compilers write either. */
static unsigned moved_factor(const struct inst *inst, const struct operands *all) {
    if (inst->op != OP_MUL || type_is_float(inst->type))
        return 0;
    const unsigned sign = 8 * type_bytes(inst->type) - 1;
    for (unsigned k = 0; k < 2; k++) {
        const uint64_t by = all->value[k] & ((UINT64_C(2) << sign) - 1);
        if (!all->bits[k] && bits_count64(by) == 1 && !(by >> sign))
            return 2u >> k;
    }
    return 0;
}

/* Bits of the result that are not written: d, and d2 of what has two results. */
static struct scalar result_bits(const struct inst *inst, const struct operands *all) {
    const struct scalar everything = {.d = UINT64_MAX, .d2 = 1};
    const uint64_t *v = all->value, *u = all->bits;
    bool only_predicates = !all->carry_bit;
    unsigned tainted = 0;
    for (unsigned k = 0; k < all->count; k++) {
        only_predicates &= !u[k] || all->is_predicate[k];
        tainted |= (unsigned)(u[k] != 0) << k;
    }
    if (only_predicates)
        return over_predicates(inst, all);
    switch ((enum op)inst->op) {
    case OP_AND: return (struct scalar){.d = (u[0] & u[1]) | (u[0] & v[1]) | (u[1] & v[0])};
    case OP_OR: return (struct scalar){.d = (u[0] & u[1]) | (u[0] & ~v[1]) | (u[1] & ~v[0])};
    case OP_XOR:
    case OP_NOT: return (struct scalar){.d = u[0] | u[1]};
    case OP_LOP3: return (struct scalar){.d = u[0] | u[1] | u[2]};
    default: break;
    }
    const unsigned moved = moved_sources(inst) | moved_factor(inst, all);
    if (!moved || tainted & ~moved)
        return everything;
    uint64_t value[4];
    for (unsigned k = 0; k < 4; k++)
        value[k] = moved >> k & 1 ? u[k] : v[k];
    return evaluate(inst, value, all->carry);
}

static void operate(const struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes, uint32_t tainted) {
    write_all(exec, warp, step, lanes & ~tainted);
    for (BITS_EACH(lane, tainted)) {
        const struct operands all = operands_of(exec, warp, step, lane);
        const struct scalar bits = result_bits(step->inst, &all);
        bits_put(exec, warp, &step->rows[0], lane, bits.d);
        if (step->dst_count > 1)
            bits_put(exec, warp, &step->rows[1], lane, bits.d2);
        if (step->inst->flags & FLAG_CARRY_OUT)
            bits_put(exec, warp, &step->carry, lane, bits.d2);
    }
}

/* As exec_move_step. */
static void move(const struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes) {
    const struct row *sources = step->rows + step->dst_count;
    const unsigned parts = step->dst_count > step->src_count ? step->dst_count : step->src_count;
    const unsigned bits = 8 * type_bytes(step->inst->type) / parts;
    const uint64_t mask = bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    for (BITS_EACH(lane, lanes)) {
        uint64_t whole = step->src_count == 1 ? bits_get(exec, warp, &sources[0], lane) : 0;
        for (unsigned k = 0; k < parts && step->src_count > 1; k++)
            whole |= (bits_get(exec, warp, &sources[k], lane) & mask) << (bits * k);
        for (unsigned k = 0; k < step->dst_count; k++)
            bits_put(exec, warp, &step->rows[k], lane, step->dst_count == 1 ? whole : whole >> (bits * k) & mask);
    }
}

/* A shuffle once more, of the bits. */
static void shuffle(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes) {
    const struct row *source = &step->rows[step->dst_count];
    const size_t bytes = source->bytes * (size_t)LANES_MAX;
    uint8_t value[8 * LANES_MAX], result[8 * LANES_MAX], second[8 * LANES_MAX];
    const struct row *to = &step->rows[0], *in_range = &step->rows[1];
    memcpy(value, exec_row(exec, warp, source), bytes);
    memcpy(result, exec_row(exec, warp, to), row_bytes(to));
    if (step->dst_count > 1 && in_range->present)
        memcpy(second, exec_row(exec, warp, in_range), row_bytes(in_range));
    memcpy(exec_row(exec, warp, source), bits_of(exec, warp, source), bytes);
    const bool is_done = exec_warp_step(exec, warp, step, lanes, lanes, lanes);
    for (BITS_EACH(lane, is_done ? lanes : 0))
        bits_put(exec, warp, to, lane, exec_read(exec, warp, to, lane));
    memcpy(exec_row(exec, warp, to), result, row_bytes(to));
    memcpy(exec_row(exec, warp, source), value, bytes);
    if (step->dst_count > 1 && in_range->present) {
        memcpy(exec_row(exec, warp, in_range), second, row_bytes(in_range));
        for (BITS_EACH(lane, lanes))
            bits_put(exec, warp, in_range, lane, 0);
    }
}

static void exchange(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes, uint32_t tainted) {
    const struct row *sources = step->rows + step->dst_count;
    uint32_t others = 0;
    for (unsigned k = 1; k < step->src_count; k++)
        others |= lanes_with_bits(exec, warp, &sources[k], lanes);
    if (step->inst->op == OP_SHFL && has_bits(exec, warp, &sources[0]) && !others)
        shuffle(exec, warp, step, lanes);
    else if (tainted)
        taint_all(exec, warp, step, lanes);
    else
        write_all(exec, warp, step, lanes);
}

/* ---- memory ---- */

/* Where the thread's access to a local variable of the kernel stands among what is written; NULL: it is another. */
static uint8_t *written_at(const struct exec *exec, unsigned warp, unsigned lane, const struct step *step,
                           uint32_t bytes) {
    uint64_t address = exec_address(exec, warp, lane, step);
    if (step->inst->space == SPACE_GENERIC)
        address -= LOCAL_WINDOW;
    else if (step->inst->space != SPACE_LOCAL)
        return NULL;
    if (!range_within(address, bytes, exec->unwritten->local_bytes))
        return NULL;
    return exec->unwritten->written + (size_t)exec->local_bytes * (LANES_MAX * warp + lane) + address;
}

static uint32_t address_bits(const struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes) {
    return lanes_with_bits(exec, warp, &step->address.row, lanes) |
           lanes_with_bits(exec, warp, &step->address.high, lanes);
}

static void load(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes) {
    const uint32_t bytes = step->access_bytes, wild = address_bits(exec, warp, step, lanes);
    tell(exec, warp, step, wild, WATCH_ADDRESS);
    for (BITS_EACH(lane, lanes & ~wild)) {
        const uint8_t *written = written_at(exec, warp, lane, step, bytes * step->dst_count);
        if (!written)
            continue;
        lanes &= ~(UINT32_C(1) << lane);
        for (unsigned k = 0; k < step->dst_count; k++) {
            uint64_t is_written = 0;
            memcpy(&is_written, written + (size_t)k * bytes, bytes);
            const uint64_t mask = bytes == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * bytes) - 1;
            bits_put(exec, warp, &step->rows[k], lane, exec_extend_loaded(step, ~is_written & mask));
        }
    }
    write_all(exec, warp, step, lanes);
}

/* What leaves the thread is told of where its lowest byte is not written: padding of structures lies above what is, or, where a structure is handed over to a
 * function, goes byte by byte. */
static void store(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes) {
    const uint32_t bytes = step->access_bytes, wild = address_bits(exec, warp, step, lanes);
    const uint32_t guarded = guard_bits(exec, warp, step) & lanes;
    const bool is_padding = step->inst->space == SPACE_PARAM && bytes == 1;
    uint32_t stored = 0;
    tell(exec, warp, step, wild, WATCH_ADDRESS);
    tell(exec, warp, step, guarded, WATCH_DECISION);
    for (unsigned k = 0; k + 1 < step->src_count; k++) {
        const struct row *row = &step->rows[step->dst_count + 1 + k];
        for (BITS_EACH(lane, lanes & ~wild)) {
            uint8_t *written = written_at(exec, warp, lane, step, bytes * (step->src_count - 1u));
            const uint64_t bits = bits_get(exec, warp, row, lane);
            for (uint32_t i = 0; i < bytes && written; i++)
                written[k * bytes + i] = bits >> 8 * i & 0xff ? 0 : 0xff;
            stored |= (uint32_t)(!written && !is_padding && bits & 0xff) << lane;
        }
    }
    tell(exec, warp, step, stored, WATCH_OUTPUT);
}

/* Atomics and images: what they are given goes to memory. */
static void give(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes, uint32_t tainted) {
    const bool has_address = step->inner == KIND_ATOMIC;
    const uint32_t wild = has_address ? address_bits(exec, warp, step, lanes) : 0;
    tell(exec, warp, step, wild, WATCH_ADDRESS);
    tell(exec, warp, step, guard_bits(exec, warp, step) & lanes, WATCH_DECISION);
    tell(exec, warp, step, tainted & ~wild, has_address ? WATCH_OUTPUT : WATCH_ADDRESS);
    write_all(exec, warp, step, lanes);
}

/* ---- steps ---- */

static uint32_t tainted_lanes(const struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes) {
    uint32_t tainted = 0;
    for (unsigned k = step->inner == KIND_ATOMIC; k < step->src_count; k++)
        tainted |= lanes_with_bits(exec, warp, &step->rows[step->dst_count + k], lanes);
    if (step->inst->flags & FLAG_CARRY_IN)
        tainted |= lanes_with_bits(exec, warp, &step->carry, lanes);
    return tainted;
}

void unwritten_step(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes) {
    switch ((enum kind)step->inner) {
    case KIND_LOAD: load(exec, warp, step, lanes); break;
    case KIND_STORE: store(exec, warp, step, lanes); return;
    case KIND_ATOMIC:
    case KIND_IMAGE: give(exec, warp, step, lanes, tainted_lanes(exec, warp, step, lanes)); break;
    case KIND_WARP: exchange(exec, warp, step, lanes, tainted_lanes(exec, warp, step, lanes)); break;
    case KIND_MOVE: move(exec, warp, step, lanes); break;
    case KIND_LANES:
    case KIND_SCALAR: operate(exec, warp, step, lanes, tainted_lanes(exec, warp, step, lanes)); break;
    default: write_all(exec, warp, step, lanes); break;
    }
    const uint32_t guarded = guard_bits(exec, warp, step) & lanes;
    if (guarded)
        taint_all(exec, warp, step, guarded);
}

void unwritten_branch(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes) {
    uint32_t decided = guard_bits(exec, warp, step) & lanes;
    if (step->inst->op == OP_BRX)
        decided |= lanes_with_bits(exec, warp, &step->rows[0], lanes);
    tell(exec, warp, step, decided, WATCH_DECISION);
}

void unwritten_barrier(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes) {
    write_all(exec, warp, step, lanes);
}
