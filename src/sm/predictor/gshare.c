/* SPDX-License-Identifier: Apache-2.0 */
/* Two-bit counters, indexed by the PC and the last outcomes of any branch, one upon the other by exclusive or
 * (S. McFarling 1993). */
#include "sm/predictor/predictor.h"

struct gshare {
    const struct predictor_shape *shape;
    struct predictor_counters counters;
    uint32_t history;
};

static uint64_t gshare_bytes(const struct predictor_shape *shape) {
    return predictor_places(shape, shape->entries, shape->history_bits) / 4 + 1;
}

static void *gshare_create(struct arena *arena, const struct predictor_shape *shape) {
    struct gshare *self = ARENA_NEW(arena, struct gshare);
    self->shape = shape;
    self->counters.bytes = arena_alloc(arena, gshare_bytes(shape));
    self->counters.initial = (uint8_t)shape->initial;
    return self;
}

static uint32_t place(const struct gshare *self, uint32_t pc) {
    return predictor_place(self->shape, self->shape->entries, pc, self->history, self->shape->history_bits);
}

static bool gshare_predict(const void *state, uint32_t pc) {
    const struct gshare *self = state;
    return predictor_counter(&self->counters, place(self, pc)) >= 2;
}

static void gshare_update(void *state, uint32_t pc, bool taken) {
    struct gshare *self = state;
    predictor_move(&self->counters, place(self, pc), taken);
}

static uint32_t gshare_learn(void *state, uint32_t pc, uint32_t lanes, uint32_t taken) {
    struct gshare *self = state;
    const uint32_t wrong = predictor_lanes(self, pc, lanes, taken, gshare_predict, gshare_update);
    self->history = predictor_shift(self->history, self->shape->history_bits, predictor_most(lanes, taken));
    return wrong;
}

static void gshare_cost(const struct predictor_shape *shape, struct predictor_hardware of, struct cost *out) {
    predictor_cost_table(out, "branch counters", "counter 2", shape->entries, 2, of);
    predictor_cost_history(out, shape->history_bits, of);
}

const struct predictor_ops predictor_gshare = {.name = "gshare",
                                               .help = "two-bit counters, by PC and the last outcomes of all branches",
                                               .create = gshare_create,
                                               .predict = gshare_predict,
                                               .learn = gshare_learn,
                                               .bytes = gshare_bytes,
                                               .cost = gshare_cost};
