/* SPDX-License-Identifier: Apache-2.0 */
/* Memory lane by lane: every space, every fault, every width. lanes.c comes here when its fast path cannot. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/bits.h"
#include "exec/footprint.h"
#include "exec/kernel_heap.h"
#include "exec/scalar.h"
#include "exec/scalar_bits.h"
#include "exec/state.h"

bool exec_fail(struct exec *exec, unsigned warp, unsigned lane, const struct step *step, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(exec->fault.message, sizeof exec->fault.message, format, args);
    va_end(args);
    exec->fault.warp = warp;
    exec->fault.lane = lane;
    exec->fault.pc = (uint32_t)(step - exec->linked->steps);
    return false;
}

uint64_t exec_read(const struct exec *exec, unsigned warp, const struct row *row, unsigned lane) {
    if (!row->present)
        return 0;
    const uint8_t *values = exec_row(exec, warp, row);
    uint64_t value = 0;
    if (row->bytes == 0) {
        uint32_t word;
        memcpy(&word, values, sizeof word);
        return (word >> lane & 1) ^ row->negated;
    }
    if (row->is_pair) {
        uint32_t halves[2];
        memcpy(&halves[0], values + sizeof *halves * lane, sizeof *halves);
        memcpy(&halves[1], values + sizeof *halves * (LANES_MAX + lane), sizeof *halves);
        return (uint64_t)halves[1] << 32 | halves[0];
    }
    memcpy(&value, values + (size_t)row->bytes * lane, row->bytes);
    return value;
}

void exec_write(struct exec *exec, unsigned warp, const struct row *row, unsigned lane, uint64_t value) {
    if (!row->present)
        return;
    uint8_t *values = exec_row(exec, warp, row);
    if (row->bytes == 0) {
        uint32_t word;
        memcpy(&word, values, sizeof word);
        word = (word & ~(UINT32_C(1) << lane)) | (value ? UINT32_C(1) << lane : 0);
        memcpy(values, &word, sizeof word);
        return;
    }
    if (row->is_pair) {
        const uint32_t halves[2] = {(uint32_t)value, (uint32_t)(value >> 32)};
        memcpy(values + sizeof *halves * lane, &halves[0], sizeof *halves);
        memcpy(values + sizeof *halves * (LANES_MAX + lane), &halves[1], sizeof *halves);
        return;
    }
    memcpy(values + (size_t)row->bytes * lane, &value, row->bytes);
}

uint64_t exec_address(const struct exec *exec, unsigned warp, unsigned lane, const struct step *step) {
    const struct address *address = &step->address;
    uint64_t value = address->offset;
    if (address->row.present) {
        value += exec_read(exec, warp, &address->row, lane);
        if (address->high.present)
            value += exec_read(exec, warp, &address->high, lane) << 32;
        else if (address->row.bytes == 4)
            value = (uint32_t)value;
    }
    if (address->in_frame)
        value += exec_frame_pointer(exec, 32 * warp + lane);
    return value;
}

static bool comes_before(const struct outside *one, const struct outside *other) {
    if (one->block != other->block)
        return one->block < other->block;
    if (one->thread != other->thread)
        return one->thread < other->thread;
    return one->address < other->address;
}

void exec_outside_add(struct outside *into, const struct outside *from) {
    if (!from->count)
        return;
    const uint64_t count = into->count + from->count;
    if (!into->count || comes_before(from, into))
        *into = *from;
    into->count = count;
}

/* What an access outside is said to be, of an instruction of that name. */
static void describe_outside(const struct outside *one, const char *name, const struct memory *memory, char *out,
                             size_t size) {
    if (one->space != SPACE_GLOBAL) {
        snprintf(out, size, "%s of %u bytes at %s address 0x%" PRIx64 ", which has only 0x%" PRIx64 " bytes", name,
                 (unsigned)one->bytes, one->space == SPACE_PARAM ? "parameter" : space_name(one->space), one->address,
                 one->limit);
        return;
    }
    if (kernel_heap_holds(memory, one->address)) {
        snprintf(out, size,
                 "%s of %u bytes at address 0x%" PRIx64 " of the heap, outside every block that malloc gave out", name,
                 (unsigned)one->bytes, one->address);
        return;
    }
    const struct allocation *kept = memory_find_kept(memory, one->address);
    if (kept) {
        snprintf(out, size, "%s of %u bytes at byte %" PRIu64 " of '%s', which was freed", name, (unsigned)one->bytes,
                 one->address - kept->start, kept->name);
        return;
    }
    const struct allocation *found = memory_find(memory, one->address);
    const struct allocation *near = found ? found : memory_nearest(memory, one->address);
    if (near)
        snprintf(out, size,
                 "%s of %u bytes at address 0x%" PRIx64 " outside every allocation; the nearest is '%s', 0x%" PRIx64
                 " to 0x%" PRIx64,
                 name, (unsigned)one->bytes, one->address, near->name, near->start, near->end);
    else
        snprintf(out, size, "%s of %u bytes at address 0x%" PRIx64 ": nothing is allocated", name, (unsigned)one->bytes,
                 one->address);
}

/* One access of any thread, in a space that has `limit` bytes. */
static struct outside outside_at(enum space space, uint64_t address, uint32_t bytes, uint64_t limit) {
    return (struct outside){
        .count = 1, .address = address, .limit = limit, .space = (uint8_t)space, .bytes = (uint8_t)bytes};
}

/* There is nothing where the lane's access leads: the launch stops, or goes on with nowhere. */
static uint8_t *leave(struct exec *exec, unsigned warp, unsigned lane, const struct step *step, struct outside one) {
    one.block = exec->block;
    one.thread = exec->launch->warp_size * warp + lane;
    char text[sizeof exec->fault.message];
    if (exec->launch->watch) {
        describe_outside(&one, op_name(step->inst->op), exec->memory, text, sizeof text);
        exec->refused_at = one.address;
        exec_refuse(exec, warp, lane, step, WATCH_OUTSIDE, text);
        return memset(exec->nowhere, 0, sizeof exec->nowhere);
    }
    if (exec->counts->outside) {
        exec_outside_add(&exec->counts->outside[step - exec->linked->steps], &one);
        return memset(exec->nowhere, 0, sizeof exec->nowhere);
    }
    describe_outside(&one, op_name(step->inst->op), exec->memory, text, sizeof text);
    exec_fail(exec, warp, lane, step, "%s", text);
    return NULL;
}

uint64_t exec_report_outside(const struct linked *linked, const struct exec_launch *launch, const struct memory *memory,
                             const struct exec_counts *counts, struct report *report) {
    const struct module *module = linked->module;
    const uint32_t *grid = launch->grid, *block = launch->block;
    uint64_t total = 0;
    char where[256], what[256];
    for (uint32_t pc = 0; counts->outside && pc < module->code_count; pc++) {
        const struct outside *one = &counts->outside[pc];
        if (!one->count)
            continue;
        total += one->count;
        describe_outside(one, op_name(module->code[pc].op), memory, what, sizeof what);
        report_add(report, STATUS_OK,
                   "%s: warning: kernel '%s': %s\n  in block (%u, %u, %u), thread (%u, %u, %u); %" PRIu64
                   " such accesses of this instruction had no effect (memory.out_of_bounds=warn)",
                   module_where(module, pc, where, sizeof where), linked->kernel->name, what,
                   (unsigned)(one->block % grid[0]), (unsigned)(one->block / grid[0] % grid[1]),
                   (unsigned)(one->block / grid[0] / grid[1]), one->thread % block[0],
                   one->thread / block[0] % block[1], one->thread / block[0] / block[1], one->count);
    }
    return total;
}

static bool reads(const struct inst *inst) {
    return inst->op == OP_LD || inst->op == OP_LD_SNOOP || inst->op == OP_CP_ASYNC || inst->op == OP_TEX ||
           inst->op == OP_SULD || inst->op == OP_TILE_LOAD ||
           (inst->op == OP_BULK && (inst->mode == MODE_BULK_LOAD || inst->rank));
}

uint8_t *exec_translate_global(struct exec *exec, unsigned warp, unsigned lane, const struct step *step,
                               uint64_t address, uint32_t bytes) {
    const struct allocation *found = memory_find(exec->memory, address);
    struct site site = {found ? found->start : 0, found ? found->end : 0};
    const bool in_heap = kernel_heap_holds(exec->memory, address);
    if (in_heap && !kernel_heap_find(exec->memory->heap, address, &site.low, &site.high))
        found = NULL;
    if (found && range_within(address - site.low, bytes, site.high - site.low)) {
        struct footprint *footprint = exec->memory->footprint;
        if (footprint)
            footprint_note(reads(step->inst) ? footprint->loaded : footprint->stored, address, bytes);
        if (!in_heap) /* blocks of the heap come and go */
            exec->sites[step - exec->linked->steps] = site;
        return memory_host(exec->memory, address);
    }
    return leave(exec, warp, lane, step, outside_at(SPACE_GLOBAL, address, bytes, 0));
}

/* Shared memory of a block of the cluster. */
static uint8_t *translate_far(struct exec *exec, unsigned warp, unsigned lane, const struct step *step,
                              uint64_t address, uint32_t bytes) {
    uint32_t at;
    const struct exec *owner = exec_shared_owner(exec, address, bytes, &at);
    if (!owner)
        return leave(exec, warp, lane, step, outside_at(SPACE_SHARED, address, bytes, exec->shared_bytes));
    if (owner->ended) {
        exec_fail(exec, warp, lane, step,
                  "%s at shared address 0x%" PRIx64
                  ": block %u of the cluster has ended, and its shared memory with it",
                  op_name(step->inst->op), address, (unsigned)owner->rank);
        return NULL;
    }
    return owner->shared + at;
}

uint8_t *exec_translate(struct exec *exec, unsigned warp, unsigned lane, const struct step *step, uint64_t address,
                        uint32_t bytes) {
    if (address & (bytes - 1)) {
        exec_fail(exec, warp, lane, step, "%s of %u bytes at address 0x%" PRIx64 " is misaligned",
                  op_name(step->inst->op), bytes, address);
        if (!exec->launch->watch)
            return NULL;
        exec_refuse(exec, warp, lane, step, WATCH_MISALIGNED, exec->fault.message);
        return memset(exec->nowhere, 0, sizeof exec->nowhere);
    }
    enum space space = step->address.space;
    if (space == SPACE_GENERIC && address < GLOBAL_BASE) {
        if (address - SHARED_WINDOW < WINDOW_BYTES || (exec->cluster && exec_is_of_cluster(address)))
            space = SPACE_SHARED, address -= SHARED_WINDOW + exec->linked->kernel->shared_base;
        else if (address - LOCAL_WINDOW < WINDOW_BYTES)
            space = SPACE_LOCAL, address -= LOCAL_WINDOW;
        else if (address - PARAM_WINDOW < WINDOW_BYTES && reads(step->inst))
            space = SPACE_PARAM, address -= PARAM_WINDOW;
    }
    switch (space) {
    case SPACE_SHARED:
        if (exec->cluster && !range_within(address, bytes, exec->shared_bytes))
            return translate_far(exec, warp, lane, step, address, bytes);
        if (!range_within(address, bytes, exec->shared_bytes))
            return leave(exec, warp, lane, step, outside_at(space, address, bytes, exec->shared_bytes));
        return exec->shared + address;
    case SPACE_LOCAL:
        if (!range_within(address, bytes, exec->local_bytes))
            return leave(exec, warp, lane, step, outside_at(space, address, bytes, exec->local_bytes));
        if (address + bytes > exec->local_touched)
            exec->local_touched = (uint32_t)(address + bytes);
        return exec->local + (size_t)exec->local_bytes * (32 * warp + lane) + address;
    case SPACE_PARAM: {
        const uint32_t limit = exec->linked->kernel->param_bytes;
        if (!range_within(address, bytes, limit))
            return leave(exec, warp, lane, step, outside_at(space, address, bytes, limit));
        return exec->uniform + exec->linked->uniform_bytes + address;
    }
    default: return exec_translate_global(exec, warp, lane, step, address, bytes);
    }
}

bool exec_load_step(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes) {
    const uint32_t bytes = step->access_bytes;
    for (BITS_EACH(lane, lanes)) {
        const uint64_t address = exec_address(exec, warp, lane, step);
        const uint8_t *memory = exec_translate(exec, warp, lane, step, address, bytes * step->dst_count);
        if (!memory)
            return false;
        for (unsigned k = 0; k < step->dst_count; k++) {
            uint64_t value = 0;
            memcpy(&value, memory + (size_t)k * bytes, bytes);
            exec_write(exec, warp, &step->rows[k], lane, exec_extend_loaded(step, value));
        }
    }
    return true;
}

bool exec_store_step(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes) {
    const uint32_t bytes = step->access_bytes, count = step->src_count - 1u;
    for (BITS_EACH(lane, lanes)) {
        const uint64_t address = exec_address(exec, warp, lane, step);
        uint8_t *memory = exec_translate(exec, warp, lane, step, address, bytes * count);
        if (!memory)
            return false;
        for (unsigned k = 0; k < count; k++) {
            const uint64_t value = exec_read(exec, warp, &step->rows[1 + k], lane);
            memcpy(memory + (size_t)k * bytes, &value, bytes);
        }
    }
    return true;
}

bool exec_accumulate_step(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes,
                          const uint64_t *address) {
    for (BITS_EACH(lane, lanes)) {
        uint8_t *memory = exec_translate(exec, warp, lane, step, address[lane], step->access_bytes);
        if (!memory)
            return false;
        const uint64_t value = exec_read(exec, warp, &step->rows[3], lane);
        memcpy(memory, &value, step->access_bytes);
    }
    return true;
}

static bool is_shared_access(const struct step *step, uint64_t address) {
    const enum space space = step->address.space;
    return space == SPACE_SHARED ||
           (space == SPACE_GENERIC && (address - SHARED_WINDOW < WINDOW_BYTES || exec_is_of_cluster(address)));
}

/* A load takes the lock of its word where that is free, lane after lane, and says who has got it; a store gives it back.
 * Other accesses do not look at locks. */
static bool lock_step(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes) {
    uint8_t *locks = exec->shared + exec->shared_bytes;
    for (BITS_EACH(lane, lanes)) {
        const uint64_t address = exec_address(exec, warp, lane, step);
        uint8_t *memory = exec_translate(exec, warp, lane, step, address, LOCKED_BYTES);
        if (!memory)
            return false;
        uint8_t none = 0; /* what is nowhere is locked by nobody */
        uint8_t *lock = memory == exec->nowhere ? &none : &locks[(size_t)(memory - exec->shared) / LOCKED_BYTES];
        uint32_t old;
        memcpy(&old, memory, sizeof old);
        if (step->inst->op == OP_LD) {
            exec_write(exec, warp, &step->rows[0], lane, old);
            exec_write(exec, warp, &step->rows[1], lane, *lock ? 0 : UINT32_MAX);
            *lock = 1;
            continue;
        }
        const uint32_t new = (uint32_t)exec_read(exec, warp, &step->rows[1], lane);
        memcpy(memory, &new, sizeof new);
        exec->counts->progress += new != old &&memory != exec->nowhere; /* as below */
        *lock = 0;
    }
    return true;
}

/* PTX: an f32 addition flushes subnormals on global memory and keeps them on shared memory. */
bool exec_atomic_step(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes) {
    const struct inst *inst = step->inst;
    if (inst->op == OP_LD || inst->op == OP_ST)
        return lock_step(exec, warp, step, lanes);
    const uint32_t bytes = step->access_bytes;
    const struct row *sources = step->rows + step->dst_count;
    for (BITS_EACH(lane, lanes)) {
        const uint64_t address = exec_address(exec, warp, lane, step);
        uint8_t *memory = exec_translate(exec, warp, lane, step, address, bytes);
        if (!memory)
            return false;
        uint64_t old = 0, mask = bytes == 8 ? UINT64_MAX : (UINT64_C(1) << (8 * bytes)) - 1;
        memcpy(&old, memory, bytes);
        const uint64_t b = exec_read(exec, warp, &sources[1], lane) & mask;
        const uint64_t c = exec_read(exec, warp, &sources[2], lane) & mask;
        const bool ftz = inst->type == TYPE_F32 && !is_shared_access(step, address);
        const uint64_t new = scalar_atomic(inst->atom, inst->type, ftz, old, b, c);
        memcpy(memory, &new, bytes);
        /* A compare-and-swap that fails, or a value that stays, is a spin: not progress. */
        if (new != old && memory != exec->nowhere)
            exec->counts->progress++;
        if (step->dst_count)
            exec_write(exec, warp, &step->rows[0], lane, old);
    }
    return true;
}

bool exec_scalar_step(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes) {
    const struct inst *inst = step->inst;
    const struct row *sources = step->rows + step->dst_count;
    for (BITS_EACH(lane, lanes)) {
        uint64_t value[4] = {0, 0, 0, 0};
        for (unsigned k = 0; k < step->src_count && k < 4; k++)
            value[k] = exec_read(exec, warp, &sources[k], lane);
        const unsigned carry = inst->flags & FLAG_CARRY_IN ? (unsigned)exec_read(exec, warp, &step->carry, lane) : 0;
        const struct scalar result = scalar_evaluate(inst, value[0], value[1], value[2], value[3], carry);
        exec_write(exec, warp, &step->rows[0], lane, result.d);
        if (step->dst_count > 1)
            exec_write(exec, warp, &step->rows[1], lane, result.d2);
        if (inst->flags & FLAG_CARRY_OUT)
            exec_write(exec, warp, &step->carry, lane, result.d2);
    }
    return true;
}

/* Parts of equal width, the first the lowest bits. Sources are read before any destination is written. */
bool exec_move_step(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes) {
    const struct row *sources = step->rows + step->dst_count;
    const unsigned parts = step->dst_count > step->src_count ? step->dst_count : step->src_count;
    const unsigned bits = 8 * type_bytes(step->inst->type) / parts;
    const uint64_t mask = bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    for (BITS_EACH(lane, lanes)) {
        uint64_t whole = 0;
        if (step->src_count == 1)
            whole = exec_read(exec, warp, &sources[0], lane);
        else
            for (unsigned k = 0; k < parts; k++)
                whole |= (exec_read(exec, warp, &sources[k], lane) & mask) << (bits * k);
        if (step->dst_count == 1)
            exec_write(exec, warp, &step->rows[0], lane, whole);
        else
            for (unsigned k = 0; k < parts; k++)
                exec_write(exec, warp, &step->rows[k], lane, whole >> (bits * k) & mask);
    }
    return true;
}

bool exec_clock_step(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes, uint64_t clock) {
    const enum special special = step->inst->src[0].reg;
    if (special == SPECIAL_CLOCK_HI || special == SPECIAL_GLOBALTIMER_HI)
        clock >>= 32;
    for (BITS_EACH(lane, lanes))
        exec_write(exec, warp, &step->rows[0], lane, clock);
    return true;
}

bool exec_local_step(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes) {
    for (BITS_EACH(lane, lanes))
        exec_write(exec, warp, &step->rows[0], lane, step->address.offset + exec_frame_pointer(exec, 32 * warp + lane));
    return true;
}

void exec_combine_words(void *d, const void *a, const void *b, const void *c, uint32_t lanes, const struct step *step) {
    const struct row *rows = step->rows;
    const void *const sources[3] = {a, b, c};
    uint32_t word[3], result;
    for (unsigned i = 0; i < 3; i++) {
        memcpy(&word[i], sources[i], sizeof word[i]);
        word[i] ^= rows[1 + i].negated ? UINT32_MAX : 0;
    }
    const enum mode mode = step->inst->mode;
    result = mode == MODE_AND ? word[0] & word[1] : mode == MODE_OR ? word[0] | word[1] : word[0] ^ word[1];
    const enum boolop boolop = step->inst->boolop;
    result = boolop == BOOL_AND ? result & word[2] : boolop == BOOL_OR ? result | word[2] : result ^ word[2];
    uint32_t before;
    memcpy(&before, d, sizeof before);
    result = (before & ~lanes) | (result & lanes);
    memcpy(d, &result, sizeof result);
}

void exec_logic_words(void *d, const void *a, const void *b, const void *c, uint32_t lanes, const struct step *step) {
    const void *const sources[3] = {a, b, c};
    uint32_t word[3], before;
    for (unsigned i = 0; i < 3; i++) {
        memcpy(&word[i], sources[i], sizeof word[i]);
        word[i] ^= step->rows[1 + i].negated ? UINT32_MAX : 0;
    }
    memcpy(&before, d, sizeof before);
    const uint32_t result = (uint32_t)bit_logic(word[0], word[1], word[2], step->inst->src[3].imm);
    before = (before & ~lanes) | (result & lanes);
    memcpy(d, &before, sizeof before);
}

bool exec_inner_step(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes, uint32_t active,
                     uint32_t alive) {
    if (!lanes)
        return true;
    switch ((enum kind)step->inner) {
    case KIND_LANES: {
        uint8_t *const bases[2] = {exec_frame(exec, warp), exec->uniform};
        step->run(bases[step->base[0]] + step->offset[0], bases[step->base[1]] + step->offset[1],
                  bases[step->base[2]] + step->offset[2], bases[step->base[3]] + step->offset[3], lanes, step);
        return true;
    }
    case KIND_SCALAR: return exec_scalar_step(exec, warp, step, lanes);
    case KIND_MOVE: return exec_move_step(exec, warp, step, lanes);
    case KIND_LOAD: return (exec->core ? exec_timed_load : exec_load_step)(exec, warp, step, lanes);
    case KIND_STORE: return (exec->core ? exec_timed_store : exec_store_step)(exec, warp, step, lanes);
    case KIND_ATOMIC: return (exec->core ? exec_timed_atomic : exec_atomic_step)(exec, warp, step, lanes);
    case KIND_SNOOP: return exec_snoop_step(exec, warp, step, lanes);
    case KIND_IMAGE: return exec_image_step(exec, warp, step, lanes);
    case KIND_WARP: return exec_warp_step(exec, warp, step, lanes, active, alive);
    case KIND_CLOCK: return exec_clock_step(exec, warp, step, lanes, exec->clock);
    case KIND_LOCAL: return exec_local_step(exec, warp, step, lanes);
    case KIND_ASYNC: return exec_async_step(exec, warp, step, lanes);
    case KIND_CLUSTER: return exec_cluster_step(exec, warp, step, lanes);
    default: return true;
    }
}
