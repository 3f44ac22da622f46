/* SPDX-License-Identifier: Apache-2.0 */
/* A branch predictor outside Heddle's tree: a branch goes where it went last, by a bit for each entry of a table. */
#include <heddle-plugin.h>

struct onebit_state {
    const struct predictor_shape *shape;
    bool *taken;
};

/* predictor.entries of them, or one for each branch of the program. */
static uint64_t entries_of(const struct predictor_shape *shape) { return predictor_places(shape, shape->entries, 0); }

static uint64_t onebit_bytes(const struct predictor_shape *shape) { return entries_of(shape) + 1; }

static void *onebit_create(struct arena *arena, const struct predictor_shape *shape) {
    struct onebit_state *self = ARENA_NEW(arena, struct onebit_state);
    self->shape = shape;
    self->taken = arena_alloc(arena, onebit_bytes(shape));
    return self;
}

static bool *entry_of(const struct onebit_state *self, uint32_t pc) {
    return &self->taken[predictor_place(self->shape, self->shape->entries, pc, 0, 0)];
}

static bool onebit_predict(const void *state, uint32_t pc) { return *entry_of(state, pc); }

static void onebit_update(void *state, uint32_t pc, bool taken) { *entry_of(state, pc) = taken; }

static uint32_t onebit_learn(void *state, uint32_t pc, uint32_t lanes, uint32_t taken) {
    return predictor_lanes(state, pc, lanes, taken, onebit_predict, onebit_update);
}

static void onebit_cost(const struct predictor_shape *shape, struct predictor_hardware of, struct cost *out) {
    predictor_cost_table(out, "branch bits", "taken 1", shape->entries, 1, of);
}

static const struct predictor_ops onebit_ops = {.name = "onebit",
                                                .help = "where the branch went last",
                                                .create = onebit_create,
                                                .predict = onebit_predict,
                                                .learn = onebit_learn,
                                                .bytes = onebit_bytes,
                                                .cost = onebit_cost};

HEDDLE_PLUGIN(.predictors = (const struct predictor_ops *const[]){&onebit_ops, NULL});
