/* SPDX-License-Identifier: Apache-2.0 */
#include "sm/predictor/predictor.h"

#include <string.h>

#include "base/added.h"

const struct stat_description predictor_stats_table[] = {
#define STAT(field, unit, help) STAT_ENTRY(struct predictor_stats, field, unit, help)
#define RATIO(name, numerator, denominator, scale, unit, help)                                                         \
    RATIO_ENTRY(struct predictor_stats, name, numerator, denominator, scale, unit, help)
#include "sm/predictor/predictor_stats.def"
#undef STAT
#undef RATIO
    STAT_END};

#define PREDICTOR(id) extern const struct predictor_ops predictor_##id;
#include "sm/predictor/predictors.def"
#undef PREDICTOR

static const struct predictor_ops *const predictors[] = {
#define PREDICTOR(id) &predictor_##id,
#include "sm/predictor/predictors.def"
#undef PREDICTOR
};

const struct predictor_ops *predictor_at(unsigned number) {
    enum { OWN = sizeof predictors / sizeof predictors[0] };
    return number < OWN ? predictors[number] : added_at(ADDED_PREDICTOR, number - OWN);
}

enum status predictor_find(const char *name, const struct predictor_ops **out, struct report *report) {
    *out = NULL;
    if (strcmp(name, "none") == 0)
        return STATUS_OK;
    for (unsigned i = 0; (*out = predictor_at(i)); i++)
        if (strcmp((*out)->name, name) == 0)
            return STATUS_OK;
    report_add(report, STATUS_INVALID, "sm.predictor=%s: no such predictor; there are:", name);
    for (unsigned i = 0; predictor_at(i); i++)
        report_add(report, STATUS_INVALID, "  %s: %s", predictor_at(i)->name, predictor_at(i)->help);
    return report_add(report, STATUS_INVALID, "  none: branches are not predicted");
}

static void number_branches(struct predictor_shape *shape, struct arena *arena, const struct inst *code) {
    uint32_t *branches = ARENA_ARRAY(arena, uint32_t, shape->code_count);
    shape->branch_count = 0;
    for (uint32_t pc = 0; pc < shape->code_count; pc++)
        branches[pc] = inst_jumps(&code[pc]) && code[pc].guard >= 0 ? shape->branch_count++ : NO_BRANCH;
    shape->branches = branches;
}

enum status predictor_create(struct predictor **out, struct arena *arena, const struct predictor_parts *parts,
                             struct report *report) {
    const struct predictor_ops *ops = parts->ops;
    const enum predictor_sharing sharing = parts->sharing;
    enum { MIB = 1 << 20, MIB_MAX = 64 };
    const unsigned sharers = sharing == PREDICTOR_OF_SM     ? 1
                             : sharing == PREDICTOR_OF_WARP ? parts->warps
                                                            : parts->warps * LANES_MAX;
    struct predictor *predictor = *out = ARENA_NEW(arena, struct predictor);
    predictor->ops = ops, predictor->sharing = sharing, predictor->shape = *parts->keys;
    predictor->shape.code_count = parts->code_count;
    number_branches(&predictor->shape, arena, parts->code);
    if (!ops || !ops->create)
        return STATUS_OK;
    const uint64_t bytes = ops->bytes(&predictor->shape) * sharers;
    if (bytes > (uint64_t)MIB_MAX * MIB)
        return report_add(
            report, STATUS_INVALID,
            "sm.predictor=%s: the tables of an SM's %u predictors take %llu MiB of the host's memory, more "
            "than %u; share them (predictor.sharing), or make them smaller (predictor.entries, "
            "predictor.cache_entries, predictor.history_bits)",
            ops->name, sharers, (unsigned long long)(bytes / MIB), (unsigned)MIB_MAX);
    predictor->selves = ARENA_ARRAY(arena, void *, sharers);
    predictor->sharers = sharers;
    for (unsigned i = 0; i < sharers; i++)
        predictor->selves[i] = ops->create(arena, &predictor->shape);
    return STATUS_OK;
}

void predictor_add_own_statistics(const struct predictor *predictor, void *sum) {
    for (unsigned i = 0; i < predictor->sharers; i++)
        stat_merge(sum, predictor->ops->own.statistics(predictor->selves[i]), predictor->ops->own.stats);
}

void predictor_cost(const struct predictor_ops *ops, enum predictor_sharing sharing, const struct predictor_shape *keys,
                    const struct cost_shape *shape, struct cost *out) {
    const struct predictor_hardware of = {.count = sharing == PREDICTOR_OF_SM ? 1 : shape->warps,
                                          .lanes = sharing == PREDICTOR_OF_THREAD ? shape->warp_size : 1};
    if (ops && ops->cost)
        ops->cost(keys, of, out);
}

/* The predictor of a lane's thread. */
static unsigned sharer_of(const struct predictor *predictor, unsigned slot, const uint16_t *threads, unsigned lane) {
    const unsigned thread = threads ? threads[lane] : slot * LANES_MAX + lane;
    return predictor->sharing == PREDICTOR_OF_SM     ? 0
           : predictor->sharing == PREDICTOR_OF_WARP ? thread / LANES_MAX
                                                     : thread;
}

/* Lanes whose threads ask the same predictor as the first of them. */
static uint32_t lanes_of_one(const struct predictor *predictor, unsigned slot, const uint16_t *threads,
                             uint32_t lanes) {
    if (predictor->sharing == PREDICTOR_OF_SM || (predictor->sharing == PREDICTOR_OF_WARP && !threads))
        return lanes;
    if (predictor->sharing == PREDICTOR_OF_THREAD)
        return lanes & (0 - lanes);
    const unsigned first = sharer_of(predictor, slot, threads, bits_first(lanes));
    uint32_t same = 0;
    for (BITS_EACH(lane, lanes))
        same |= (uint32_t)(sharer_of(predictor, slot, threads, lane) == first) << lane;
    return same;
}

bool predictor_branched(struct predictor *predictor, unsigned slot, const uint16_t *threads,
                        const struct executed *executed, bool *taken) {
    const struct predictor_ops *ops = predictor->ops;
    if (predictor->shape.branches[executed->pc] == NO_BRANCH)
        return false;
    predictor->stats.branches++;
    if (!ops)
        return true;
    uint32_t wrong = 0, yes = 0;
    for (uint32_t rest = ops->knows ? 0 : executed->lanes, lanes; rest; rest &= ~lanes) {
        lanes = lanes_of_one(predictor, slot, threads, rest);
        void *self =
            predictor->selves ? predictor->selves[sharer_of(predictor, slot, threads, bits_first(lanes))] : NULL;
        yes |= ops->predict(self, executed->pc) ? lanes : 0;
        wrong |= ops->learn(self, executed->pc, lanes, executed->taken & lanes);
    }
    *taken = predictor_most(executed->lanes, yes);
    predictor->stats.thread_branches += bits_count(executed->lanes);
    predictor->stats.thread_right += bits_count(executed->lanes & ~wrong);
    predictor->stats.thread_wrong += bits_count(wrong);
    return true;
}
