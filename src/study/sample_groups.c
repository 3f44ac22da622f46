/* SPDX-License-Identifier: Apache-2.0 */
#include "study/sample_groups.h"

#include <stdlib.h>
#include <string.h>

#include "study/estimate.h"

/* What launches of a group may differ by, as the coefficient of variation; small groups by more, for what is drawn of them says less
 * than their size costs. */
static const double differ_most = 0.15, differ_most_of_few = 0.5;

enum { FEATURES = 12 };

/* What a launch did, by class, so that the ones that matter are of like size. Sectors and accesses weigh as the instructions that take
 * about as long. */
static void features_of(const struct sample_launch *launch, double out[FEATURES]) {
    const struct run_stats *s = &launch->stats;
    const double warp = 32;
    const double all[FEATURES] = {
        (double)s->warp_instructions,
        (double)s->thread_instructions / warp,
        (double)s->divergent_branches * 4,
        (double)(s->memory_reads + s->memory_writes) * 4,
        (double)s->atomics * 8,
        (double)s->barriers * 4,
        (double)s->blocks * 8,
        (double)launch->footprint_bytes / 32,
        (double)(s->lanes_int_add + s->lanes_int_mul + s->lanes_int_mad + s->lanes_int_div) / warp,
        (double)(s->lanes_fp_add + s->lanes_fp_mul + s->lanes_fp_mad + s->lanes_fp_div) / warp,
        (double)(s->lanes_dp + s->lanes_dp_div) * 2 / warp,
        (double)(s->lanes_sfu + s->lanes_cvt + s->lanes_shuffle) * 4 / warp,
    };
    memcpy(out, all, sizeof all);
}

struct keyed {
    const struct sample_launch *launches;
    uint32_t launch;
    double value;
};

static int compare_kinds(const struct sample_launch *a, const struct sample_launch *b) {
    const int order = strcmp(a->kernel, b->kernel);
    if (order)
        return order;
    for (unsigned i = 0; i < 3; i++)
        if (a->block[i] != b->block[i])
            return a->block[i] < b->block[i] ? -1 : 1;
    return (a->shared_bytes > b->shared_bytes) - (a->shared_bytes < b->shared_bytes);
}

static int by_kind(const void *a, const void *b) {
    const struct keyed *one = a, *other = b;
    const int order = compare_kinds(&one->launches[one->launch], &other->launches[other->launch]);
    return order ? order : (one->launch > other->launch) - (one->launch < other->launch);
}

static int by_value(const void *a, const void *b) {
    const struct keyed *one = a, *other = b;
    if (one->value != other->value)
        return one->value < other->value ? -1 : 1;
    return (one->launch > other->launch) - (one->launch < other->launch);
}

struct splitter {
    struct arena *arena;
    const struct sample_launch *launches;
    struct sample_groups *groups;
    double (*features)[FEATURES]; /* by launch */
    struct keyed *keyed;          /* of the group under way */
};

static double mean_of(const struct splitter *s, const uint32_t *order, uint32_t count, unsigned feature) {
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += s->features[order[i]][feature];
    return sum / count;
}

/* The feature by which the launches differ most, and by how much. One that is little beside the instructions matters little. */
static double worst_feature(const struct splitter *s, const uint32_t *order, uint32_t count, unsigned *worst) {
    const double instructions = mean_of(s, order, count, 0);
    double most = 0;
    for (unsigned f = 0; f < FEATURES; f++) {
        const double mean = mean_of(s, order, count, f);
        const double base = mean > instructions / 4 ? mean : instructions / 4;
        double squares = 0;
        for (uint32_t i = 0; i < count; i++)
            squares += (s->features[order[i]][f] - mean) * (s->features[order[i]][f] - mean);
        const double differ = base > 0 ? estimate_root(squares / count) / base : 0;
        if (differ > most)
            most = differ, *worst = f;
    }
    return most;
}

/* Where the values, in order, are cut so that the squares of what is left are least. */
static uint32_t best_cut(const struct keyed *keyed, uint32_t count) {
    double all = 0, left = 0, most = -1;
    uint32_t best = count / 2;
    for (uint32_t i = 0; i < count; i++)
        all += keyed[i].value;
    for (uint32_t cut = 1; cut < count; cut++) {
        left += keyed[cut - 1].value;
        if (keyed[cut - 1].value == keyed[cut].value)
            continue;
        const double right = all - left, between = left * left / cut + right * right / (count - cut);
        if (between > most)
            most = between, best = cut;
    }
    return best;
}

static int ascending(const void *a, const void *b) {
    const uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
    return (one > other) - (one < other);
}

/* Splits [first, first + count) until what is left is alike. */
static void split(struct splitter *s, uint32_t first, uint32_t count) {
    while (count) {
        uint32_t *order = s->groups->order + first;
        unsigned feature = 0;
        const double differ = worst_feature(s, order, count, &feature);
        if (count < 3 || differ <= (count < SAMPLE_SPLIT_LEAST ? differ_most_of_few : differ_most)) {
            qsort(order, count, sizeof *order, ascending);
            *ARENA_PUSH(s->arena, s->groups) = (struct sample_group){first, count};
            return;
        }
        for (uint32_t i = 0; i < count; i++)
            s->keyed[i] = (struct keyed){s->launches, order[i], s->features[order[i]][feature]};
        qsort(s->keyed, count, sizeof *s->keyed, by_value);
        const uint32_t cut = best_cut(s->keyed, count);
        for (uint32_t i = 0; i < count; i++)
            order[i] = s->keyed[i].launch;
        /* the larger part is next, so that those that wait are few */
        const bool is_low = cut < count - cut;
        split(s, is_low ? first : first + cut, is_low ? cut : count - cut);
        first += is_low ? cut : 0, count = is_low ? count - cut : cut;
    }
}

static int by_first(const void *a, const void *b) { return ascending(a, b); }

void sample_groups_make(struct arena *arena, const struct sample_launch *launches, uint32_t count,
                        struct sample_groups *out) {
    struct splitter s = {arena, launches, out, arena_calloc(arena, count, sizeof *s.features),
                         ARENA_ARRAY(arena, struct keyed, count)};
    *out = (struct sample_groups){.order = ARENA_ARRAY(arena, uint32_t, count)};
    for (uint32_t i = 0; i < count; i++) {
        features_of(&launches[i], s.features[i]);
        s.keyed[i] = (struct keyed){launches, i, 0};
    }
    qsort(s.keyed, count, sizeof *s.keyed, by_kind);
    for (uint32_t i = 0; i < count; i++)
        out->order[i] = s.keyed[i].launch;
    for (uint32_t first = 0, end; first < count; first = end) {
        const struct sample_launch *kind = &launches[out->order[first]];
        for (end = first + 1; end < count && compare_kinds(kind, &launches[out->order[end]]) == 0;)
            end++;
        split(&s, first, end - first);
    }
    /* whatever came first in splitting, groups stand as their launches do in `order` */
    qsort(out->items, out->count, sizeof *out->items, by_first);
}
