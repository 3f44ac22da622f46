/* SPDX-License-Identifier: Apache-2.0 */
/* Bi-mode (C.-C. Lee, I.-C. K. Chen, T. N. Mudge 1997), which YAGS builds upon [004 §II-A]: two-bit counters by PC choose
 * one of two tables that are indexed as gshare's, one for branches that are mostly taken and one for the others. So
 * branches that meet in a counter mostly go the same way. Each of the three tables has predictor.entries counters; those of the two
 * begin weakly in their own direction. */
#include "sm/predictor/predictor.h"

struct bi_mode {
    const struct predictor_shape *shape;
    struct predictor_counters choice, directions[2]; /* [what the choice says] */
    uint32_t history;
};

static uint64_t choice_bytes(const struct predictor_shape *shape) {
    return predictor_places(shape, shape->entries, 0) / 4 + 1;
}

static uint64_t direction_bytes(const struct predictor_shape *shape) {
    return predictor_places(shape, shape->entries, shape->history_bits) / 4 + 1;
}

static uint64_t bi_mode_bytes(const struct predictor_shape *shape) {
    return choice_bytes(shape) + 2 * direction_bytes(shape);
}

static void *bi_mode_create(struct arena *arena, const struct predictor_shape *shape) {
    struct bi_mode *self = ARENA_NEW(arena, struct bi_mode);
    self->shape = shape;
    self->choice.bytes = arena_alloc(arena, choice_bytes(shape));
    self->choice.initial = (uint8_t)shape->initial;
    for (unsigned i = 0; i < 2; i++) {
        self->directions[i].bytes = arena_alloc(arena, direction_bytes(shape));
        self->directions[i].initial = i ? 2 : 1;
    }
    return self;
}

static uint32_t choice_place(const struct bi_mode *self, uint32_t pc) {
    return predictor_place(self->shape, self->shape->entries, pc, 0, 0);
}

static uint32_t direction_place(const struct bi_mode *self, uint32_t pc) {
    return predictor_place(self->shape, self->shape->entries, pc, self->history, self->shape->history_bits);
}

static bool chosen(const struct bi_mode *self, uint32_t pc) {
    return predictor_counter(&self->choice, choice_place(self, pc)) >= 2;
}

static bool bi_mode_predict(const void *state, uint32_t pc) {
    const struct bi_mode *self = state;
    return predictor_counter(&self->directions[chosen(self, pc)], direction_place(self, pc)) >= 2;
}

/* Only the table that was chosen learns. The choice learns unless it was wrong and its table was right. */
static void bi_mode_update(void *state, uint32_t pc, bool taken) {
    struct bi_mode *self = state;
    const bool choice = chosen(self, pc), predicted = bi_mode_predict(self, pc);
    predictor_move(&self->directions[choice], direction_place(self, pc), taken);
    if (choice == taken || predicted != taken)
        predictor_move(&self->choice, choice_place(self, pc), taken);
}

static uint32_t bi_mode_learn(void *state, uint32_t pc, uint32_t lanes, uint32_t taken) {
    struct bi_mode *self = state;
    const uint32_t wrong = predictor_lanes(self, pc, lanes, taken, bi_mode_predict, bi_mode_update);
    self->history = predictor_shift(self->history, self->shape->history_bits, predictor_most(lanes, taken));
    return wrong;
}

static void bi_mode_cost(const struct predictor_shape *shape, struct predictor_hardware of, struct cost *out) {
    predictor_cost_table(out, "branch choices", "counter 2", shape->entries, 2, of);
    predictor_cost_table(out, "branch counters, taken", "counter 2", shape->entries, 2, of);
    predictor_cost_table(out, "branch counters, not taken", "counter 2", shape->entries, 2, of);
    predictor_cost_history(out, shape->history_bits, of);
}

const struct predictor_ops predictor_bi_mode = {
    .name = "bi-mode",
    .help = "gshare twice, for branches mostly taken and mostly not, chosen by PC",
    .create = bi_mode_create,
    .predict = bi_mode_predict,
    .learn = bi_mode_learn,
    .bytes = bi_mode_bytes,
    .cost = bi_mode_cost};
