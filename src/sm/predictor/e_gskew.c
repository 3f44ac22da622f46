/* SPDX-License-Identifier: Apache-2.0 */
/* The enhanced skewed predictor (P. Michaud, A. Seznec, R. Uhlig 1997), of a kind that YAGS builds upon [004 §II-A]: three tables of
 * two-bit counters vote. One is indexed by PC; the others by PC and the last outcomes of all branches through two
 * different hashes, so that branches that meet in one table do not meet in the other. Each table has predictor.entries
 * counters. Ours: what is beyond twice the bits of an index is folded upon it, where the publication drops it; and a
 * size that is no power of two hashes for the next one and takes the remainder. */
#include "sm/predictor/predictor.h"

enum { BANKS = 3 };

struct e_gskew {
    const struct predictor_shape *shape;
    struct predictor_counters banks[BANKS]; /* the first is by PC */
    unsigned index_bits;                    /* of tables with limits; at least 1 */
    uint32_t history;
};

static uint64_t bank_bytes(const struct predictor_shape *shape, unsigned bank) {
    return predictor_places(shape, shape->entries, bank ? shape->history_bits : 0) / 4 + 1;
}

static uint64_t e_gskew_bytes(const struct predictor_shape *shape) {
    return bank_bytes(shape, 0) + bank_bytes(shape, 1) + bank_bytes(shape, 2);
}

static void *e_gskew_create(struct arena *arena, const struct predictor_shape *shape) {
    struct e_gskew *self = ARENA_NEW(arena, struct e_gskew);
    self->shape = shape;
    for (self->index_bits = 1; 1u << self->index_bits < shape->entries;)
        self->index_bits++;
    for (unsigned i = 0; i < BANKS; i++) {
        self->banks[i].bytes = arena_alloc(arena, bank_bytes(shape, i));
        self->banks[i].initial = (uint8_t)shape->initial;
    }
    return self;
}

/* H of the publication: shifted down by one, the new highest bit being the exclusive or of the old highest and lowest. */
static uint32_t mix(uint32_t value, unsigned bits) {
    const uint32_t top = (value >> (bits - 1) ^ value) & 1u;
    return bits == 1 ? value : value >> 1 | top << (bits - 1);
}

/* Its inverse: shifted up by one, the new lowest bit being the exclusive or of the old two highest. */
static uint32_t unmix(uint32_t value, unsigned bits) {
    return bits == 1 ? value : (value << 1 & bits_low(bits)) | ((value >> (bits - 1) ^ value >> (bits - 2)) & 1u);
}

static uint32_t place(const struct e_gskew *self, unsigned bank, uint32_t pc) {
    const struct predictor_shape *shape = self->shape;
    const unsigned bits = self->index_bits;
    if (bank == 0)
        return predictor_place(shape, shape->entries, pc, 0, 0);
    if (!shape->entries)
        return predictor_place(shape, 0, pc, self->history, shape->history_bits);
    uint64_t rest = (uint64_t)pc << shape->history_bits | self->history;
    const uint32_t low = (uint32_t)rest & bits_low(bits);
    uint32_t high = 0;
    while (rest >>= bits)
        high ^= (uint32_t)rest & bits_low(bits);
    const uint32_t index =
        bank == 1 ? mix(low, bits) ^ unmix(high, bits) ^ low : unmix(low, bits) ^ mix(high, bits) ^ high;
    return index % shape->entries;
}

static bool vote(const struct e_gskew *self, unsigned bank, uint32_t pc) {
    return predictor_counter(&self->banks[bank], place(self, bank, pc)) >= 2;
}

static bool e_gskew_predict(const void *self, uint32_t pc) {
    return vote(self, 0, pc) + vote(self, 1, pc) + vote(self, 2, pc) >= 2;
}

/* A table that was outvoted, and wrong, keeps what it holds: it is another branch's. */
static void e_gskew_update(void *state, uint32_t pc, bool taken) {
    struct e_gskew *self = state;
    const bool was_wrong = e_gskew_predict(self, pc) != taken;
    for (unsigned i = 0; i < BANKS; i++)
        if (was_wrong || vote(self, i, pc) == taken)
            predictor_move(&self->banks[i], place(self, i, pc), taken);
}

static uint32_t e_gskew_learn(void *state, uint32_t pc, uint32_t lanes, uint32_t taken) {
    struct e_gskew *self = state;
    const uint32_t wrong = predictor_lanes(self, pc, lanes, taken, e_gskew_predict, e_gskew_update);
    self->history = predictor_shift(self->history, self->shape->history_bits, predictor_most(lanes, taken));
    return wrong;
}

static void e_gskew_cost(const struct predictor_shape *shape, struct predictor_hardware of, struct cost *out) {
    predictor_cost_table(out, "branch counters, by PC", "counter 2", shape->entries, 2, of);
    predictor_cost_table(out, "branch counters, first hash", "counter 2", shape->entries, 2, of);
    predictor_cost_table(out, "branch counters, second hash", "counter 2", shape->entries, 2, of);
    predictor_cost_history(out, shape->history_bits, of);
}

const struct predictor_ops predictor_e_gskew = {
    .name = "e-gskew",
    .help = "three tables of two-bit counters vote, one by PC, two by hashes of PC and the last outcomes",
    .create = e_gskew_create,
    .predict = e_gskew_predict,
    .learn = e_gskew_learn,
    .bytes = e_gskew_bytes,
    .cost = e_gskew_cost};
