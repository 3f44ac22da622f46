/* SPDX-License-Identifier: Apache-2.0 */
/* Shared memory of other blocks of a cluster, in time. Their SMs run at the same time, perhaps on other host threads: an access binds its
 * operands at issue, is performed between rounds when its message has been served there, and registers have what it found when the reply is
 * back, as with atomics. Messages of an SM to another stay in order, and so do a thread's accesses to a block. */
#include "base/bits.h"
#include "exec/bulk.h"
#include "exec/core.h"
#include "exec/scalar.h"
#include "exec/state.h"

/* Where those of a cluster's blocks begin, counted as addresses of shared memory are. */
#define FAR (CLUSTER_WINDOW - SHARED_WINDOW)

/* Counted from the memory of rank 0; UINT64_MAX: it does not lead to a cluster's. */
static uint64_t offset_of(const struct step *step, uint64_t address) {
    if (step->address.space == SPACE_SHARED)
        return address - FAR;
    return step->address.space == SPACE_GENERIC ? address - CLUSTER_WINDOW : UINT64_MAX;
}

static bool leads_away(const struct exec *exec, uint64_t offset) {
    return offset < exec->cluster_count * CLUSTER_BLOCK_BYTES && offset / CLUSTER_BLOCK_BYTES != exec->rank;
}

uint32_t exec_far_lanes(const struct exec *exec, const struct step *step, uint32_t lanes) {
    uint32_t far = 0;
    for (BITS_EACH(lane, exec->gang ? lanes : 0))
        far |= (uint32_t)leads_away(exec, offset_of(step, exec->core->access->address[lane])) << lane;
    return far;
}

bool exec_is_far(const struct exec *exec, uint32_t address) {
    return exec->gang && leads_away(exec, (uint64_t)address - FAR);
}

/* ---- at issue ---- */

/* False: outside, or misaligned; `good`: the launch goes on without the lane all the same. */
static bool is_there(struct exec *exec, unsigned warp, unsigned lane, const struct step *step, uint32_t bytes,
                     bool *good) {
    const uint64_t address = exec->core->access->address[lane], offset = offset_of(step, address);
    if (!(address & (bytes - 1)) && range_within(offset % CLUSTER_BLOCK_BYTES, bytes, exec->shared_bytes))
        return true;
    *good = exec_translate(exec, warp, lane, step, address, bytes) != NULL;
    for (unsigned k = 0; *good && k < step->dst_count; k++)
        exec_write(exec, warp, &step->rows[k], lane, 0);
    return false;
}

/* Why an access cannot be performed there; NULL: it can. */
static const char *refusal(const struct step *step, enum access_kind kind) {
    const enum op op = step->inst->op;
    if (kind != ACCESS_ATOMIC)
        return NULL;
    if (op == OP_MBARRIER)
        return step->inst->mode >= MODE_TEST_WAIT && step->inst->mode <= MODE_TRY_PARITY
                   ? "a test of another block's mbarrier"
                   : NULL;
    if ((op != OP_ATOM && op != OP_RED) || step->dst_count > 1 || step->src_count > 3 || step->access_bytes > 8)
        return "such an atomic of another block's shared memory";
    return NULL;
}

static void bind_operands(const struct exec *exec, unsigned warp, unsigned lane, const struct step *step,
                          enum access_kind kind, struct far_values *into) {
    const struct row *sources = step->rows + step->dst_count;
    const unsigned count = kind == ACCESS_LOAD ? 0 : step->src_count - 1u;
    for (unsigned k = 0; k < FAR_ELEMENTS; k++)
        into->of[k][lane] = k < count ? exec_read(exec, warp, &sources[1 + k], lane) : 0;
}

static struct ticket *take_ticket(struct exec *exec, const struct step *step, uint32_t *number) {
    struct core *core = exec->core;
    *number = core_take_ticket(core);
    if (*number == NO_TICKET)
        return NULL;
    struct ticket *ticket = &core->tickets.items[*number];
    if (!ticket->far)
        ticket->far = ARENA_NEW(core->arena, struct far_values);
    ticket->is_far = true, ticket->step = step, ticket->lanes = 0;
    return ticket;
}

bool exec_far_access(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes, enum access_kind kind,
                     uint32_t bytes) {
    struct core *core = exec->core;
    struct access *access = core->access;
    const char *why = refusal(step, kind);
    uint32_t number;
    struct ticket *ticket = why ? NULL : take_ticket(exec, step, &number);
    if (!ticket)
        return exec_fail(exec, warp, bits_first(lanes), step, "unsupported in time: %s",
                         why ? why : "more accesses on their way than the model holds");
    for (BITS_EACH(lane, lanes)) {
        bool good = true;
        access->address[lane] = exec_address(exec, warp, lane, step);
        if (!is_there(exec, warp, lane, step, bytes, &good)) {
            if (!good)
                return false;
            continue;
        }
        const uint64_t offset = offset_of(step, access->address[lane]);
        ticket->lanes |= UINT32_C(1) << lane;
        ticket->thread[lane] = (uint16_t)((exec->place * core->warps_per_place + warp) * LANES_MAX + lane);
        ticket->address[lane] = offset;
        bind_operands(exec, warp, lane, step, kind, ticket->far);
        access->address[lane] = (uint64_t)exec->gang->sm[offset / CLUSTER_BLOCK_BYTES] << 32 | offset;
    }
    access->kind = ticket->lanes ? ACCESS_FAR : ACCESS_NONE, access->far = (uint8_t)kind;
    access->bytes = (uint8_t)bytes, access->packed = false, access->space = SPACE_GLOBAL;
    access->lanes = ticket->lanes, access->missed = 0;
    access->ticket = ticket->lanes ? number : NO_TICKET;
    if (!ticket->lanes)
        core_free_ticket(core, number);
    return true;
}

void core_move_far(struct ticket *to, unsigned at, const struct ticket *from, unsigned lane, struct core *core) {
    if (!from->is_far)
        return;
    if (!to->far)
        to->far = ARENA_NEW(core->arena, struct far_values);
    to->is_far = true;
    for (unsigned k = 0; k < FAR_ELEMENTS; k++)
        to->far->of[k][at] = from->far->of[k][lane];
}

static bool add_piece(struct exec *exec, unsigned warp, unsigned lane, const struct step *step, uint32_t address,
                      const struct far_piece *what) {
    struct core *core = exec->core;
    struct far_piece piece = *what;
    const uint64_t offset = (uint64_t)address - FAR;
    piece.cluster = exec->gang, piece.step = step;
    piece.block = exec->block, piece.thread = exec->launch->warp_size * warp + lane;
    piece.rank = (uint32_t)(offset / CLUSTER_BLOCK_BYTES), piece.at = (uint32_t)(offset % CLUSTER_BLOCK_BYTES);
    if (!range_within(piece.at, piece.is_barrier ? sizeof(uint64_t) : piece.bytes, exec->shared_bytes))
        return exec_fail(exec, warp, lane, step, "%s of %u bytes at shared address 0x%x, beyond 0x%x of block %u",
                         op_name(step->inst->op), (unsigned)piece.bytes, (unsigned)piece.at,
                         (unsigned)exec->shared_bytes, (unsigned)piece.rank);
    if (core->pieces.count == core->pieces.capacity)
        core->pieces.items = arena_grow(core->arena, core->pieces.items, core->pieces.count, &core->pieces.capacity,
                                        sizeof *core->pieces.items);
    core->pieces.items[core->pieces.count++] = piece;
    exec->counts->progress++;
    return true;
}

bool exec_far_put(struct exec *exec, unsigned warp, unsigned lane, const struct step *step,
                  const struct far_bytes *bytes) {
    struct far_piece piece = {.bytes = bytes->bytes,
                              .atom = (uint8_t)step->inst->atom,
                              .type = (uint8_t)step->inst->stype};
    memcpy(piece.value, bytes->value, bytes->bytes);
    return add_piece(exec, warp, lane, step, bytes->address, &piece);
}

bool exec_far_complete(struct exec *exec, unsigned warp, unsigned lane, const struct step *step,
                       const struct far_bytes *bytes) {
    const struct far_piece piece = {.bytes = bytes->bytes, .is_barrier = true, .cycle = bytes->cycle};
    return add_piece(exec, warp, lane, step, bytes->address, &piece);
}

/* ---- between rounds ---- */

static const char ended[] = "has ended, and its shared memory with it";

static void note_fault(struct core *core, const struct ticket *ticket, unsigned lane, const char *what) {
    const struct core_warp *home = &core->warps[ticket->thread[lane] / LANES_MAX];
    if (!core->far_fault.found)
        core->far_fault = (struct far_fault){.found = true,
                                             .block = home->exec->block,
                                             .thread = home->exec->launch->warp_size * home->number +
                                                       ticket->thread[lane] % LANES_MAX,
                                             .pc = (uint32_t)(ticket->step - core->linked->steps),
                                             .rank = (uint32_t)(ticket->address[lane] / CLUSTER_BLOCK_BYTES),
                                             .what = what};
}

/* Shared memory of that block; NULL: it has ended, or has not begun. */
static struct exec *find_block(const struct cluster_blocks *cluster, uint32_t rank) {
    return cluster->ended[rank] ? NULL : cluster->of[rank];
}

static const char *perform_lane(struct core *core, struct ticket *ticket, unsigned lane, uint8_t *memory) {
    const struct step *step = ticket->step;
    const struct inst *inst = step->inst;
    const uint32_t bytes = step->access_bytes;
    uint64_t(*values)[LANES_MAX] = ticket->far->of;
    if (inst->op == OP_MBARRIER) {
        const uint64_t b = values[0][lane];
        memcpy(&values[0][lane], memory, sizeof(uint64_t)); /* a name for the phase */
        return exec_barrier_change(step, memory, b, &core->counts->progress);
    }
    if (inst->op == OP_LD) {
        for (unsigned k = 0; k < step->dst_count; k++) {
            uint64_t value = 0;
            memcpy(&value, memory + (size_t)k * bytes, bytes);
            values[k][lane] = exec_extend_loaded(step, value);
        }
        return NULL;
    }
    if (inst->op == OP_ST) {
        for (unsigned k = 0; k + 1u < step->src_count; k++)
            memcpy(memory + (size_t)k * bytes, &values[k][lane], bytes);
        core->counts->progress++;
        return NULL;
    }
    const uint64_t mask = bytes == 8 ? UINT64_MAX : (UINT64_C(1) << (8 * bytes)) - 1;
    uint64_t old = 0;
    memcpy(&old, memory, bytes);
    const uint64_t new = scalar_atomic(inst->atom, inst->type, inst->type == TYPE_F32, old, values[0][lane] & mask,
                                       values[1][lane] & mask);
    memcpy(memory, &new, bytes);
    core->counts->progress += new != old;
    values[0][lane] = old;
    return NULL;
}

void core_perform_far(struct core *core, struct ticket *ticket, uint32_t lanes) {
    for (BITS_EACH(lane, lanes)) {
        const struct exec *home = core->warps[ticket->thread[lane] / LANES_MAX].exec;
        const uint32_t rank = (uint32_t)(ticket->address[lane] / CLUSTER_BLOCK_BYTES);
        struct exec *owner = find_block(home->gang, rank);
        if (!owner) {
            note_fault(core, ticket, lane, ended);
            continue;
        }
        if (ticket->step->inst->op == OP_MBARRIER && owner->bulk.count)
            exec_bulk_settle(owner);
        uint8_t *memory = owner->shared + ticket->address[lane] % CLUSTER_BLOCK_BYTES;
        const char *wrong = perform_lane(core, ticket, lane, memory);
        if (wrong)
            note_fault(core, ticket, lane, wrong);
    }
}

void core_finish_far(struct core *core, const struct ticket *ticket) {
    for (BITS_EACH(lane, ticket->lanes)) {
        const struct core_warp *home = &core->warps[ticket->thread[lane] / LANES_MAX];
        for (unsigned k = 0; k < ticket->step->dst_count; k++)
            exec_write(home->exec, home->number, &ticket->step->rows[k], ticket->thread[lane] % LANES_MAX,
                       ticket->far->of[k][lane]);
    }
}

static void publish_piece(const struct far_piece *piece, struct exec *owner) {
    uint8_t *to = owner->shared + piece->at;
    if (piece->is_barrier) {
        bulk_add(owner, (struct bulk_pending){piece->cycle, piece->at, piece->bytes});
        return;
    }
    if (piece->atom == ATOM_NONE)
        memcpy(to, piece->value, piece->bytes);
    else
        bulk_reduce(piece->step->inst, to, piece->value, piece->bytes);
}

void core_publish_far(struct core *core) {
    for (unsigned i = 0; i < core->pieces.count; i++) {
        const struct far_piece *piece = &core->pieces.items[i];
        struct exec *owner = find_block(piece->cluster, piece->rank);
        if (owner)
            publish_piece(piece, owner);
        else if (!core->far_fault.found)
            core->far_fault = (struct far_fault){.found = true,
                                                 .pc = (uint32_t)(piece->step - core->linked->steps),
                                                 .block = piece->block,
                                                 .thread = piece->thread,
                                                 .rank = piece->rank,
                                                 .what = ended};
    }
    core->pieces.count = 0;
}

void core_join(void *self, unsigned place, struct cluster_blocks *cluster) {
    struct exec *exec = ((struct core *)self)->places[place];
    exec->gang = cluster, exec->cluster = cluster->of, exec->cluster_count = cluster->count;
    cluster->of[exec->rank] = exec;
}
