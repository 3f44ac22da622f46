/* SPDX-License-Identifier: Apache-2.0 */
/* Two-bit saturating counters, a table indexed by PC (J. E. Smith 1981) [004 §IV-A]. */
#include "sm/predictor/predictor.h"

struct smith {
    const struct predictor_shape *shape;
    struct predictor_counters counters;
};

/* Beyond the program's end nothing is ever asked for. */
static uint64_t smith_bytes(const struct predictor_shape *shape) {
    const uint64_t places = predictor_places(shape, shape->entries, 0);
    return (places < shape->code_count ? places : shape->code_count) / 4 + 1;
}

static void *smith_create(struct arena *arena, const struct predictor_shape *shape) {
    struct smith *self = ARENA_NEW(arena, struct smith);
    self->shape = shape;
    self->counters.bytes = arena_alloc(arena, smith_bytes(shape));
    self->counters.initial = (uint8_t)shape->initial;
    return self;
}

static bool smith_predict(const void *state, uint32_t pc) {
    const struct smith *self = state;
    return predictor_counter(&self->counters, predictor_place(self->shape, self->shape->entries, pc, 0, 0)) >= 2;
}

static void smith_update(void *state, uint32_t pc, bool taken) {
    struct smith *self = state;
    predictor_move(&self->counters, predictor_place(self->shape, self->shape->entries, pc, 0, 0), taken);
}

static uint32_t smith_learn(void *self, uint32_t pc, uint32_t lanes, uint32_t taken) {
    return predictor_lanes(self, pc, lanes, taken, smith_predict, smith_update);
}

static void smith_cost(const struct predictor_shape *shape, struct predictor_hardware of, struct cost *out) {
    predictor_cost_table(out, "branch counters", "counter 2", shape->entries, 2, of);
}

const struct predictor_ops predictor_smith = {.name = "smith",
                                              .help = "two-bit counters, by PC",
                                              .create = smith_create,
                                              .predict = smith_predict,
                                              .learn = smith_learn,
                                              .bytes = smith_bytes,
                                              .cost = smith_cost};
