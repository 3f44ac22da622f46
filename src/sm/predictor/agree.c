/* SPDX-License-Identifier: Apache-2.0 */
/* Agree (E. Sprangle, R. S. Chappell, M. Alsup, Y. N. Patt 1997), which YAGS builds upon [004 §II-A]: each branch has a bias
 * bit, the direction that it took first; two-bit counters, indexed as gshare's, say whether it agrees with its bias. Two
 * branches that meet in a counter then mostly move it the same way. Ours: bias bits lie in a table of
 * predictor.histories entries by PC without tags, where the publication has them in its branch target buffer; before
 * the first outcome the bias is the direction of predictor.initial, and counters begin agreeing, as strongly as that. */
#include "sm/predictor/predictor.h"

enum bias { BIAS_UNKNOWN, BIAS_NOT_TAKEN, BIAS_TAKEN };

struct agree {
    const struct predictor_shape *shape;
    struct predictor_counters agreeing;
    uint8_t *biases; /* enum bias */
    uint32_t history;
};

static uint64_t bias_count(const struct predictor_shape *shape) {
    return predictor_places(shape, shape->histories, 0) + 1;
}

static uint64_t counter_bytes(const struct predictor_shape *shape) {
    return predictor_places(shape, shape->entries, shape->history_bits) / 4 + 1;
}

static uint64_t agree_bytes(const struct predictor_shape *shape) { return bias_count(shape) + counter_bytes(shape); }

static void *agree_create(struct arena *arena, const struct predictor_shape *shape) {
    struct agree *self = ARENA_NEW(arena, struct agree);
    const bool is_strong = shape->initial == 0 || shape->initial == 3;
    self->shape = shape;
    self->agreeing.bytes = arena_alloc(arena, counter_bytes(shape));
    self->agreeing.initial = is_strong ? 3 : 2;
    self->biases = ARENA_ARRAY(arena, uint8_t, bias_count(shape));
    return self;
}

static uint32_t place(const struct agree *self, uint32_t pc) {
    return predictor_place(self->shape, self->shape->entries, pc, self->history, self->shape->history_bits);
}

static uint8_t *bias_of(const struct agree *self, uint32_t pc) {
    return &self->biases[predictor_place(self->shape, self->shape->histories, pc, 0, 0)];
}

static bool agree_predict(const void *state, uint32_t pc) {
    const struct agree *self = state;
    const enum bias bias = *bias_of(self, pc);
    const bool is_taken = bias == BIAS_UNKNOWN ? self->shape->initial >= 2 : bias == BIAS_TAKEN;
    return (predictor_counter(&self->agreeing, place(self, pc)) >= 2) == is_taken;
}

static void agree_update(void *state, uint32_t pc, bool taken) {
    struct agree *self = state;
    uint8_t *bias = bias_of(self, pc);
    if (*bias == BIAS_UNKNOWN)
        *bias = taken ? BIAS_TAKEN : BIAS_NOT_TAKEN;
    predictor_move(&self->agreeing, place(self, pc), (*bias == BIAS_TAKEN) == taken);
}

static uint32_t agree_learn(void *state, uint32_t pc, uint32_t lanes, uint32_t taken) {
    struct agree *self = state;
    const uint32_t wrong = predictor_lanes(self, pc, lanes, taken, agree_predict, agree_update);
    self->history = predictor_shift(self->history, self->shape->history_bits, predictor_most(lanes, taken));
    return wrong;
}

static void agree_cost(const struct predictor_shape *shape, struct predictor_hardware of, struct cost *out) {
    predictor_cost_table(out, "branch biases", "direction 1, known 1", shape->histories, 2, of);
    predictor_cost_table(out, "branch counters", "counter 2", shape->entries, 2, of);
    predictor_cost_history(out, shape->history_bits, of);
}

const struct predictor_ops predictor_agree = {
    .name = "agree",
    .help = "whether a branch goes as it did at first: two-bit counters, as gshare's",
    .create = agree_create,
    .predict = agree_predict,
    .learn = agree_learn,
    .bytes = agree_bytes,
    .cost = agree_cost};
