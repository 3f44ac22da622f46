/* SPDX-License-Identifier: Apache-2.0 */
/* The filter (P.-Y. Chang, M. Evers, Y. N. Patt 1996), which YAGS builds upon [004 §II-A]: of each branch a direction bit and a
 * counter say where it went last and how often in a row. A branch whose counter is full is predicted by the bit and passes
 * gshare's counters by; the others are gshare's. Ours: the table of predictor.histories entries by PC has no tags,
 * where the publication has it in its branch target buffer; predictor.filter_bits is the counter's width; with none
 * every branch is predicted to go where it went last. */
#include "sm/predictor/predictor.h"

struct filter_stats {
    uint64_t filtered;
};
static const struct stat_description stats_table[] = {
    STAT_ENTRY(struct filter_stats, filtered, "branches",
               "thread branches predicted by the direction of a full counter, past gshare") STAT_END};

struct filter {
    const struct predictor_shape *shape;
    struct predictor_counters counters;
    uint16_t *runs; /* direction (1: other than predictor.initial has it), and how often in a row above it */
    uint32_t history;
    struct filter_stats stats;
};

static uint64_t run_count(const struct predictor_shape *shape) {
    return predictor_places(shape, shape->histories, 0) + 1;
}

static uint64_t counter_bytes(const struct predictor_shape *shape) {
    return predictor_places(shape, shape->entries, shape->history_bits) / 4 + 1;
}

static uint64_t filter_bytes(const struct predictor_shape *shape) {
    return run_count(shape) * sizeof(uint16_t) + counter_bytes(shape);
}

static void *filter_create(struct arena *arena, const struct predictor_shape *shape) {
    struct filter *self = ARENA_NEW(arena, struct filter);
    self->shape = shape;
    self->counters.bytes = arena_alloc(arena, counter_bytes(shape));
    self->counters.initial = (uint8_t)shape->initial;
    self->runs = ARENA_ARRAY(arena, uint16_t, run_count(shape));
    return self;
}

static uint32_t place(const struct filter *self, uint32_t pc) {
    return predictor_place(self->shape, self->shape->entries, pc, self->history, self->shape->history_bits);
}

static uint16_t *run_of(const struct filter *self, uint32_t pc) {
    return &self->runs[predictor_place(self->shape, self->shape->histories, pc, 0, 0)];
}

static bool direction_of(const struct filter *self, uint16_t run) { return (run & 1) != (self->shape->initial >= 2); }

static bool is_full(const struct filter *self, uint16_t run) { return run >> 1 == bits_low(self->shape->filter_bits); }

static bool filter_predict(const void *state, uint32_t pc) {
    const struct filter *self = state;
    const uint16_t run = *run_of(self, pc);
    return is_full(self, run) ? direction_of(self, run) : predictor_counter(&self->counters, place(self, pc)) >= 2;
}

static void filter_update(void *state, uint32_t pc, bool taken) {
    struct filter *self = state;
    uint16_t *run = run_of(self, pc);
    if (is_full(self, *run))
        self->stats.filtered++;
    else
        predictor_move(&self->counters, place(self, pc), taken);
    if (direction_of(self, *run) != taken)
        *run = (*run & 1) ^ 1;
    else if (!is_full(self, *run))
        *run = (uint16_t)(*run + 2);
}

static uint32_t filter_learn(void *state, uint32_t pc, uint32_t lanes, uint32_t taken) {
    struct filter *self = state;
    const uint32_t wrong = predictor_lanes(self, pc, lanes, taken, filter_predict, filter_update);
    self->history = predictor_shift(self->history, self->shape->history_bits, predictor_most(lanes, taken));
    return wrong;
}

static void filter_cost(const struct predictor_shape *shape, struct predictor_hardware of, struct cost *out) {
    predictor_cost_table(out, "branch runs", arena_printf(out->arena, "direction 1, counter %u", shape->filter_bits),
                         shape->histories, 1 + shape->filter_bits, of);
    predictor_cost_table(out, "branch counters", "counter 2", shape->entries, 2, of);
    predictor_cost_history(out, shape->history_bits, of);
}

static const void *filter_statistics(const void *self) { return &((const struct filter *)self)->stats; }

const struct predictor_ops predictor_filter = {
    .name = "filter",
    .help = "gshare without the branches that went one way many times in a row",
    .create = filter_create,
    .predict = filter_predict,
    .learn = filter_learn,
    .bytes = filter_bytes,
    .cost = filter_cost,
    .own = {.stats = stats_table, .stats_bytes = sizeof(struct filter_stats), .statistics = filter_statistics}};
