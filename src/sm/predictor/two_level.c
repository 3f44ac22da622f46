/* SPDX-License-Identifier: Apache-2.0 */
/* Two levels (T.-Y. Yeh, Y. N. Patt 1991): the last outcomes of each branch, by PC, lead into a table of two-bit counters
 * that all branches share; without limits each branch has such a table of its own. */
#include "sm/predictor/predictor.h"

struct two_level_predictor {
    const struct predictor_shape *shape;
    struct predictor_counters counters;
    uint16_t *histories;
};

static uint64_t history_count(const struct predictor_shape *shape) {
    return predictor_places(shape, shape->histories, 0) + 1;
}

static uint64_t counter_bytes(const struct predictor_shape *shape) {
    return predictor_places(shape, shape->entries, shape->history_bits) / 4 + 1;
}

static uint64_t two_level_bytes(const struct predictor_shape *shape) {
    return counter_bytes(shape) + history_count(shape) * sizeof(uint16_t);
}

static void *two_level_create(struct arena *arena, const struct predictor_shape *shape) {
    struct two_level_predictor *self = ARENA_NEW(arena, struct two_level_predictor);
    self->shape = shape;
    self->counters.bytes = arena_alloc(arena, counter_bytes(shape));
    self->counters.initial = (uint8_t)shape->initial;
    self->histories = ARENA_ARRAY(arena, uint16_t, history_count(shape));
    return self;
}

static uint16_t *history_of(const struct two_level_predictor *self, uint32_t pc) {
    return &self->histories[predictor_place(self->shape, self->shape->histories, pc, 0, 0)];
}

static uint32_t place(const struct two_level_predictor *self, uint32_t pc) {
    const struct predictor_shape *shape = self->shape;
    /* limited: only the history leads there */
    return predictor_place(shape, shape->entries, shape->entries ? 0 : pc, *history_of(self, pc), shape->history_bits);
}

static bool two_level_predict(const void *state, uint32_t pc) {
    const struct two_level_predictor *self = state;
    return predictor_counter(&self->counters, place(self, pc)) >= 2;
}

static void two_level_update(void *state, uint32_t pc, bool taken) {
    struct two_level_predictor *self = state;
    predictor_move(&self->counters, place(self, pc), taken);
}

static uint32_t two_level_learn(void *state, uint32_t pc, uint32_t lanes, uint32_t taken) {
    struct two_level_predictor *self = state;
    const uint32_t wrong = predictor_lanes(self, pc, lanes, taken, two_level_predict, two_level_update);
    uint16_t *history = history_of(self, pc);
    *history = (uint16_t)predictor_shift(*history, self->shape->history_bits, predictor_most(lanes, taken));
    return wrong;
}

static void two_level_cost(const struct predictor_shape *shape, struct predictor_hardware of, struct cost *out) {
    predictor_cost_table(out, "branch histories", arena_printf(out->arena, "outcomes %u", shape->history_bits),
                         shape->histories, shape->history_bits, of);
    predictor_cost_table(out, "branch counters", "counter 2", shape->entries, 2, of);
}

const struct predictor_ops predictor_two_level = {.name = "two-level",
                                                  .help = "two-bit counters, by the last outcomes of the branch itself",
                                                  .create = two_level_create,
                                                  .predict = two_level_predict,
                                                  .learn = two_level_learn,
                                                  .bytes = two_level_bytes,
                                                  .cost = two_level_cost};
