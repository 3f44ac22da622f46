/* SPDX-License-Identifier: Apache-2.0 */
/* A branch predictor outside Heddle's tree: a branch goes where it went last, by a bit for each entry of a table. It has a key and a
 * counter of its own. */
#include <heddle-plugin.h>

struct onebit_params {
    bool begins_taken;
};
static const struct param_description params_table[] = {PARAM_ENTRY(struct onebit_params, begins_taken,
                                                                    "onebit.begins_taken", BOOL, "false", "", "", "",
                                                                    "what a branch does the first time") PARAM_END};

struct onebit_stats {
    uint64_t turns;
};
static const struct stat_description stats_table[] = {
    STAT_ENTRY(struct onebit_stats, turns, "branches", "thread branches that changed their bit") STAT_END};

struct onebit_state {
    const struct predictor_shape *shape;
    bool *taken;
    struct onebit_stats stats;
};

/* predictor.entries of them, or one for each branch of the program. */
static uint64_t entries_of(const struct predictor_shape *shape) { return predictor_places(shape, shape->entries, 0); }

static uint64_t onebit_bytes(const struct predictor_shape *shape) { return entries_of(shape) + 1; }

static void *onebit_create(struct arena *arena, const struct predictor_shape *shape) {
    struct onebit_state *self = ARENA_NEW(arena, struct onebit_state);
    self->shape = shape;
    self->taken = arena_alloc(arena, onebit_bytes(shape));
    for (uint64_t i = 0; i < entries_of(shape); i++)
        self->taken[i] = ((const struct onebit_params *)shape->params)->begins_taken;
    return self;
}

static bool *entry_of(const struct onebit_state *self, uint32_t pc) {
    return &self->taken[predictor_place(self->shape, self->shape->entries, pc, 0, 0)];
}

static bool onebit_predict(const void *state, uint32_t pc) { return *entry_of(state, pc); }

static void onebit_update(void *state, uint32_t pc, bool taken) {
    struct onebit_state *self = state;
    self->stats.turns += *entry_of(self, pc) != taken;
    *entry_of(self, pc) = taken;
}

static uint32_t onebit_learn(void *state, uint32_t pc, uint32_t lanes, uint32_t taken) {
    return predictor_lanes(state, pc, lanes, taken, onebit_predict, onebit_update);
}

static void onebit_cost(const struct predictor_shape *shape, struct predictor_hardware of, struct cost *out) {
    predictor_cost_table(out, "branch bits", "taken 1", shape->entries, 1, of);
}

static const void *onebit_statistics(const void *state) { return &((const struct onebit_state *)state)->stats; }

static const struct predictor_ops onebit_ops = {.name = "onebit",
                                                .help = "where the branch went last",
                                                .create = onebit_create,
                                                .predict = onebit_predict,
                                                .learn = onebit_learn,
                                                .bytes = onebit_bytes,
                                                .cost = onebit_cost,
                                                .own.params = params_table,
                                                .own.params_bytes = sizeof(struct onebit_params),
                                                .own.stats = stats_table,
                                                .own.stats_bytes = sizeof(struct onebit_stats),
                                                .own.statistics = onebit_statistics};

HEDDLE_PLUGIN(.predictors = (const struct predictor_ops *const[]){&onebit_ops, NULL});
