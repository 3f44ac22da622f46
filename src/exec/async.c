/* SPDX-License-Identifier: Apache-2.0 */
/* Asynchronous copies from global to shared memory, and the barriers in shared memory that wait for them and for threads.
 * A copy is done when it issues, which programs cannot tell from later: they may look at what it brings only behind a wait. In time the wait
 * takes as long as the data. */
#include <string.h>

#include "base/bits.h"
#include "exec/core.h"
#include "exec/state.h"

/* ---- copies ---- */

enum { COPY_BYTES_MAX = 16 };

uint64_t exec_copy_target(const struct exec *exec, unsigned warp, unsigned lane, const struct step *step) {
    const struct row *row = &step->rows[1];
    return (uint32_t)(step->target + (row->present ? exec_read(exec, warp, row, lane) : 0));
}

/* Bytes that the lane reads; what is left of the copy is zeros. */
static uint32_t source_bytes(const struct exec *exec, unsigned warp, unsigned lane, const struct step *step) {
    const struct row *row = &step->rows[2];
    if (step->src_count < 3)
        return step->access_bytes;
    const uint64_t value = exec_read(exec, warp, row, lane);
    if (step->inst->mode == MODE_IGNORE)
        return value ? 0 : step->access_bytes;
    return value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

/* Parts whose sizes are powers of two, the largest first: each lies as its size asks. */
static bool read_source(struct exec *exec, unsigned warp, unsigned lane, const struct step *step, uint32_t bytes,
                        uint8_t *value) {
    const uint64_t address = exec_address(exec, warp, lane, step);
    for (uint32_t at = 0, size = COPY_BYTES_MAX; at < bytes; size /= 2) {
        if (bytes - at < size)
            continue;
        const uint8_t *from = exec_translate(exec, warp, lane, step, address + at, size);
        if (!from)
            return false;
        memcpy(value + at, from, size);
        at += size;
    }
    if (exec->core && bytes)
        exec_timed_bytes(exec, address, bytes, value);
    return true;
}

static bool copy_lane(struct exec *exec, unsigned warp, unsigned lane, const struct step *step, uint32_t bytes) {
    const uint32_t size = step->access_bytes;
    const uint64_t from = exec_address(exec, warp, lane, step), to = exec_copy_target(exec, warp, lane, step);
    uint8_t value[COPY_BYTES_MAX] = {0};
    if (bytes > size)
        return exec_fail(exec, warp, lane, step, "cp.async of %u bytes is to read %u", (unsigned)size, (unsigned)bytes);
    if ((bytes && from % size) || to % size)
        return exec_fail(exec, warp, lane, step,
                         "cp.async of %u bytes from address 0x%llx to shared address 0x%llx is misaligned",
                         (unsigned)size, (unsigned long long)from, (unsigned long long)to);
    if (!range_within(to, size, exec->shared_bytes))
        return exec_fail(exec, warp, lane, step,
                         "cp.async of %u bytes to shared address 0x%llx, which has only 0x%llx bytes", (unsigned)size,
                         (unsigned long long)to, (unsigned long long)exec->shared_bytes);
    if (!read_source(exec, warp, lane, step, bytes, value))
        return false;
    memcpy(exec->shared + to, value, size);
    return true;
}

static bool copy(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes) {
    uint32_t reading = 0;
    for (BITS_EACH(lane, lanes)) {
        const uint32_t bytes = source_bytes(exec, warp, lane, step);
        if (!copy_lane(exec, warp, lane, step, bytes))
            return false;
        reading |= (uint32_t)(bytes != 0) << lane;
    }
    if (exec->core)
        exec_timed_copy(exec, warp, step, reading, step->access_bytes);
    return true;
}

/* ---- barriers ---- */

/* The word in memory, whose format is ours: PTX leaves it open. Arrivals that are missing, those of every phase, bytes that are
 * missing, the parity of the phase; and that there is a barrier. */
enum { COUNT_BITS = 20, BYTES_BITS = 22, COUNT_MAX = (1 << COUNT_BITS) - 1 };

struct barrier_word {
    uint32_t pending, expected;
    int32_t bytes;
    bool odd, is_there;
};

static struct barrier_word unpack(uint64_t word) {
    const uint32_t sign = UINT32_C(1) << (BYTES_BITS - 1), mask = (UINT32_C(1) << BYTES_BITS) - 1;
    const uint32_t bytes = (uint32_t)(word >> 2 * COUNT_BITS) & mask;
    return (struct barrier_word){.pending = (uint32_t)word & COUNT_MAX,
                                 .expected = (uint32_t)(word >> COUNT_BITS) & COUNT_MAX,
                                 .bytes = (int32_t)((bytes ^ sign) - sign),
                                 .odd = (word >> 62 & 1) != 0,
                                 .is_there = (word >> 63) != 0};
}

static uint64_t pack(const struct barrier_word *barrier) {
    const uint32_t mask = (UINT32_C(1) << BYTES_BITS) - 1;
    return (uint64_t)barrier->pending | (uint64_t)barrier->expected << COUNT_BITS |
           (uint64_t)((uint32_t)barrier->bytes & mask) << 2 * COUNT_BITS | (uint64_t)barrier->odd << 62 |
           (uint64_t)barrier->is_there << 63;
}

/* The phase is over when nobody and nothing is missing. */
static void settle(struct barrier_word *barrier) {
    if (barrier->pending || barrier->bytes)
        return;
    barrier->odd = !barrier->odd;
    barrier->pending = barrier->expected;
}

/* What is wrong with so many arrivals; NULL: nothing, and they are counted. */
static const char *arrive(struct barrier_word *barrier, uint32_t count, bool drops, bool completes) {
    if (!count || count > barrier->pending)
        return "arrivals that its phase does not wait for";
    if (drops && count > barrier->expected)
        return "drops of threads that it does not count";
    if (!completes && count == barrier->pending && !barrier->bytes)
        return "the last arrival of a phase, which .noComplete excludes";
    barrier->pending -= count;
    barrier->expected -= drops ? count : 0;
    settle(barrier);
    return NULL;
}

static const char *expect(struct barrier_word *barrier, int64_t bytes) {
    const int64_t sum = barrier->bytes + bytes;
    if (sum > COUNT_MAX || sum < -COUNT_MAX)
        return "more bytes than it can count";
    barrier->bytes = (int32_t)sum;
    return NULL;
}

/* What becomes of the barrier; a text: why nothing does. */
static const char *change(enum mode mode, struct barrier_word *barrier, uint32_t b, bool has_b) {
    const uint32_t count = has_b ? b : 1;
    const char *wrong = NULL;
    if (mode == MODE_INIT) {
        if (!b || b > COUNT_MAX)
            return "a count that is not from 1 to 2^20 - 1";
        *barrier = (struct barrier_word){.pending = b, .expected = b, .is_there = true};
        return NULL;
    }
    if (!barrier->is_there)
        return "no barrier there: none was initialised";
    switch (mode) {
    case MODE_INVAL: *barrier = (struct barrier_word){0}; return NULL;
    case MODE_ARRIVE: return arrive(barrier, count, false, true);
    case MODE_NO_COMPLETE: return arrive(barrier, count, false, false);
    case MODE_DROP: return arrive(barrier, count, true, true);
    case MODE_DROP_NO_COMPLETE: return arrive(barrier, count, true, false);
    case MODE_ARRIVE_EXPECT_TX:
    case MODE_DROP_EXPECT_TX:
        wrong = expect(barrier, b);
        return wrong ? wrong : arrive(barrier, 1, mode == MODE_DROP_EXPECT_TX, true);
    case MODE_EXPECT_TX: return expect(barrier, b);
    case MODE_COMPLETE_TX:
        wrong = expect(barrier, -(int64_t)b);
        if (!wrong)
            settle(barrier);
        return wrong;
    case MODE_COPIES_NO_INC: return arrive(barrier, 1, false, true);
    default: return NULL; /* waits; and copies that count one more arrival, which has then come */
    }
}

static bool is_wait(enum mode mode) { return mode >= MODE_TEST_WAIT && mode <= MODE_TRY_PARITY; }

static bool barrier_lane(struct exec *exec, unsigned warp, unsigned lane, const struct step *step) {
    const enum mode mode = (enum mode)step->inst->mode;
    const uint64_t address = exec_address(exec, warp, lane, step);
    if (step->address.space == SPACE_GENERIC && address - SHARED_WINDOW >= WINDOW_BYTES && !exec_is_of_cluster(address))
        return exec_fail(exec, warp, lane, step, "mbarrier at address 0x%llx, which is not in shared memory",
                         (unsigned long long)address);
    uint8_t *memory = exec_translate(exec, warp, lane, step, address, sizeof(uint64_t));
    if (!memory)
        return false;
    const struct row *rows = step->rows + step->dst_count;
    const bool has_b = step->src_count > 1;
    const uint64_t b = has_b ? exec_read(exec, warp, &rows[1], lane) : 0;
    uint64_t word;
    memcpy(&word, memory, sizeof word);
    struct barrier_word barrier = unpack(word);
    const char *wrong = change(mode, &barrier, (uint32_t)b, has_b);
    if (wrong)
        return exec_fail(exec, warp, lane, step, "mbarrier at address 0x%llx: %s", (unsigned long long)address, wrong);
    const uint64_t after = pack(&barrier);
    memcpy(memory, &after, sizeof after);
    exec->counts->progress += after != word;
    if (!step->dst_count)
        return true;
    const bool by_parity = mode == MODE_TEST_PARITY || mode == MODE_TRY_PARITY;
    const bool awaited = by_parity ? (b & 1) != 0 : unpack(b).odd;
    exec_write(exec, warp, &step->rows[0], lane, is_wait(mode) ? barrier.odd != awaited : word);
    return true;
}

const char *exec_complete_bytes(struct exec *exec, uint32_t address, uint32_t bytes) {
    uint64_t word;
    uint32_t at = 0;
    const struct exec *owner = exec_shared_owner(exec, address, sizeof word, &at);
    if (address % sizeof word || !owner)
        return "no such place in shared memory";
    if (owner->ended)
        return "its block has ended";
    memcpy(&word, owner->shared + at, sizeof word);
    struct barrier_word barrier = unpack(word);
    const char *wrong = change(MODE_COMPLETE_TX, &barrier, bytes, true);
    word = pack(&barrier);
    if (!wrong)
        memcpy(owner->shared + at, &word, sizeof word);
    return wrong;
}

const char *exec_barrier_change(const struct step *step, uint8_t *memory, uint64_t b, uint64_t *progress) {
    uint64_t word;
    memcpy(&word, memory, sizeof word);
    struct barrier_word barrier = unpack(word);
    const char *wrong = change((enum mode)step->inst->mode, &barrier, (uint32_t)b, step->src_count > 1);
    const uint64_t after = wrong ? word : pack(&barrier);
    memcpy(memory, &after, sizeof after);
    *progress += after != word;
    return wrong;
}

/* The addresses that were noted are placed already. */
static uint32_t far_lanes(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes) {
    for (BITS_EACH(lane, lanes))
        exec->core->access->address[lane] = exec_address(exec, warp, lane, step);
    return exec_far_lanes(exec, step, lanes);
}

bool exec_async_step(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes) {
    if (step->inst->op == OP_CP_ASYNC)
        return copy(exec, warp, step, lanes);
    if (step->inst->op == OP_BULK)
        return exec_bulk_step(exec, warp, step, lanes);
    if (step->inst->op == OP_TENSORMAP)
        return exec_tensor_map_step(exec, warp, step, lanes);
    if (exec->bulk.count)
        exec_bulk_settle(exec);
    if (exec->core)
        exec_timed_shared(exec, warp, step, lanes, ACCESS_ATOMIC, sizeof(uint64_t));
    const uint32_t far = exec->gang ? far_lanes(exec, warp, step, lanes) : 0;
    for (BITS_EACH(lane, lanes & ~far))
        if (!barrier_lane(exec, warp, lane, step))
            return false;
    return !far || exec_far_access(exec, warp, step, far, ACCESS_ATOMIC, sizeof(uint64_t));
}
