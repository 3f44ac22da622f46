/* SPDX-License-Identifier: Apache-2.0 */
/* YAGS (A. N. Eden, T. Mudge 1998): two-bit counters by PC say what a branch does as a rule; of those that are taken as a
 * rule, a small cache keeps when they are not, found by PC and the last outcomes of any branch, and another the
 * exceptions of the others. Caches have one way; a new entry begins weakly on the side of its cache (ours). */
#include "sm/predictor/predictor.h"

struct yags_stats {
    uint64_t exceptions, exceptions_right;
};
static const struct stat_description stats_table[] = {
    STAT_ENTRY(struct yags_stats, exceptions, "branches",
               "thread branches predicted by an entry of a cache of exceptions")
        STAT_ENTRY(struct yags_stats, exceptions_right, "branches", "of these, the entry was right") STAT_END};

struct yags {
    const struct predictor_shape *shape;
    struct predictor_counters rule;
    uint16_t *exceptions[2]; /* [what the rule says]: tag, counter, and the lowest bit where there is an entry */
    uint32_t history;
    struct yags_stats stats;
};

static uint64_t cache_count(const struct predictor_shape *shape) {
    return predictor_places(shape, shape->cache_entries, shape->history_bits);
}

static uint64_t rule_bytes(const struct predictor_shape *shape) {
    return predictor_places(shape, shape->entries, 0) / 4 + 1;
}

static uint64_t yags_bytes(const struct predictor_shape *shape) {
    return rule_bytes(shape) + 2 * cache_count(shape) * sizeof(uint16_t);
}

static void *yags_create(struct arena *arena, const struct predictor_shape *shape) {
    struct yags *self = ARENA_NEW(arena, struct yags);
    self->shape = shape;
    self->rule.bytes = arena_alloc(arena, rule_bytes(shape));
    self->rule.initial = (uint8_t)shape->initial;
    for (unsigned i = 0; i < 2; i++)
        self->exceptions[i] = ARENA_ARRAY(arena, uint16_t, cache_count(shape));
    return self;
}

static uint32_t rule_place(const struct yags *self, uint32_t pc) {
    return predictor_place(self->shape, self->shape->entries, pc, 0, 0);
}

static uint16_t *exception_of(const struct yags *self, bool rule, uint32_t pc) {
    return &self->exceptions[rule][predictor_place(self->shape, self->shape->cache_entries, pc, self->history,
                                                   self->shape->history_bits)];
}

static uint16_t entry(const struct yags *self, uint32_t pc, unsigned counter) {
    return (uint16_t)((pc & bits_low(self->shape->tag_bits)) << 3 | counter << 1 | 1);
}

/* An entry of the same tag, whatever its counter. Without limits an entry is nobody else's. */
static bool is_hit(const struct yags *self, uint32_t pc, uint16_t found) {
    return found && (!self->shape->cache_entries || (found | 6) == entry(self, pc, 3));
}

static bool yags_predict(const void *state, uint32_t pc) {
    const struct yags *self = state;
    const bool rule = predictor_counter(&self->rule, rule_place(self, pc)) >= 2;
    const uint16_t found = *exception_of(self, rule, pc);
    return is_hit(self, pc, found) ? (found >> 1 & 3) >= 2 : rule;
}

/* The cache that was asked learns if it had an entry, and takes one where the rule did not hold. The rule learns unless
 * it was wrong and its exception was right. */
static void yags_update(void *state, uint32_t pc, bool taken) {
    struct yags *self = state;
    const bool rule = predictor_counter(&self->rule, rule_place(self, pc)) >= 2, predicted = yags_predict(self, pc);
    uint16_t *found = exception_of(self, rule, pc);
    const bool hit = is_hit(self, pc, *found);
    self->stats.exceptions += hit;
    self->stats.exceptions_right += hit && predicted == taken;
    if (hit)
        *found = entry(self, pc, predictor_count(*found >> 1 & 3u, taken));
    else if (rule != taken)
        *found = entry(self, pc, taken ? 2 : 1);
    if (rule == taken || predicted != taken)
        predictor_move(&self->rule, rule_place(self, pc), taken);
}

static uint32_t yags_learn(void *state, uint32_t pc, uint32_t lanes, uint32_t taken) {
    struct yags *self = state;
    const uint32_t wrong = predictor_lanes(self, pc, lanes, taken, yags_predict, yags_update);
    self->history = predictor_shift(self->history, self->shape->history_bits, predictor_most(lanes, taken));
    return wrong;
}

static void yags_cost(const struct predictor_shape *shape, struct predictor_hardware of, struct cost *out) {
    const unsigned bits = shape->tag_bits + 2 + 1;
    predictor_cost_table(out, "branch counters", "counter 2", shape->entries, 2, of);
    const char *fields = arena_printf(out->arena, "tag %u, counter 2, used 1", shape->tag_bits);
    predictor_cost_table(out, "exceptions of taken", fields, shape->cache_entries, bits, of);
    predictor_cost_table(out, "exceptions of not taken", fields, shape->cache_entries, bits, of);
    predictor_cost_history(out, shape->history_bits, of);
}

static const void *yags_statistics(const void *self) { return &((const struct yags *)self)->stats; }

const struct predictor_ops predictor_yags = {
    .name = "yags",
    .help = "two-bit counters, by PC, and caches of their exceptions",
    .create = yags_create,
    .predict = yags_predict,
    .learn = yags_learn,
    .bytes = yags_bytes,
    .cost = yags_cost,
    .own = {.stats = stats_table, .stats_bytes = sizeof(struct yags_stats), .statistics = yags_statistics}};
