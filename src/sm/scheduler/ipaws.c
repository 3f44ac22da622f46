/* SPDX-License-Identifier: Apache-2.0 */
/* Adaptive scheduling by the pattern of issues (iPAWS; HPCA 2016): greedy then oldest, or round-robin, whichever suits.
 *
 * Read in the abstract: one of the two is chosen by whether issues are concentrated on few warps. Ours, for the rules of sampling were not seen: it samples by greedy then oldest; a quarter
 * of the scheduler's warps, those that issued most, hold the share that is compared; what is chosen holds for a period, and then it samples again. Its forms over CCWS and Mascar are not here. */
#include "sm/scheduler/scheduler.h"

#define IPAWS_PARAMS(PARAM)                                                                                            \
    PARAM(sample, "ipaws.sample", U32, "1000", "0", "1000000", "issues",                                               \
          "of a scheduler that are a sample (ours); 0: none, and round-robin")                                         \
    PARAM(period, "ipaws.period", U32, "20000", "1", "100000000", "issues", "that the choice holds for (ours)")        \
    PARAM(share, "ipaws.share", U32, "60", "0", "101", "%",                                                            \
          "of the sample's issues that a quarter of its warps have: from here on greedy then oldest, below "           \
          "round-robin (ours)")
#define IPAWS_STATS(STAT)                                                                                              \
    STAT(samples, "samples", "taken")                                                                                  \
    STAT(greedy, "samples", "after which greedy then oldest was chosen")

struct ipaws_params {
#define PARAM PARAM_FIELD
    IPAWS_PARAMS(PARAM)
#undef PARAM
};
static const struct param_description params_table[] = {
#define PARAM(field, ...) PARAM_ENTRY(struct ipaws_params, field, __VA_ARGS__)
    IPAWS_PARAMS(PARAM)
#undef PARAM
        PARAM_END};

struct ipaws_stats {
#define STAT(field, unit, help) uint64_t field;
    IPAWS_STATS(STAT)
#undef STAT
};
static const struct stat_description stats_table[] = {
#define STAT(field, unit, help) STAT_ENTRY(struct ipaws_stats, field, unit, help)
    IPAWS_STATS(STAT)
#undef STAT
        STAT_END};

struct ipaws {
    const struct ipaws_params *params;
    struct ipaws_stats stats;
    unsigned last, warps;
    uint32_t left;        /* issues of the sample, or of the choice */
    bool samples, greedy; /* greedy: is chosen */
    uint32_t *issues;     /* [warp]: of the sample */
};

static void *ipaws_create(struct arena *arena, const struct scheduler_shape *shape) {
    struct ipaws *self = ARENA_NEW(arena, struct ipaws);
    self->params = shape->params;
    self->warps = shape->warps;
    self->last = self->params->sample ? set_first(shape->mine) : shape->warps - 1;
    self->samples = self->params->sample != 0;
    self->left = self->params->sample;
    self->issues = ARENA_ARRAY(arena, uint32_t, shape->warps);
    return self;
}

/* Issues of the quarter, rounded up, of the warps with any that have most; they are forgotten. */
static uint64_t take_quarter(struct ipaws *self) {
    unsigned any = 0;
    for (unsigned w = 0; w < self->warps; w++)
        any += self->issues[w] != 0;
    uint64_t sum = 0;
    for (unsigned n = 0; n < (any + 3) / 4; n++) {
        unsigned most = 0;
        for (unsigned w = 1; w < self->warps; w++)
            most = self->issues[w] > self->issues[most] ? w : most;
        sum += self->issues[most];
        self->issues[most] = 0;
    }
    for (unsigned w = 0; w < self->warps; w++)
        self->issues[w] = 0;
    return sum;
}

/* A sample, or the time of a choice, is over. */
static void turn_over(struct ipaws *self) {
    if (self->samples) {
        self->greedy = 100 * take_quarter(self) >= (uint64_t)self->params->share * self->params->sample;
        self->stats.samples++;
        self->stats.greedy += self->greedy;
    }
    self->samples = !self->samples;
    self->left = self->samples ? self->params->sample : self->params->period;
}

static unsigned ipaws_pick(void *state, const struct scheduler_view *view) {
    struct ipaws *self = state;
    const bool greedy = self->samples || self->greedy;
    self->last = greedy ? set_greedy(view->ready, self->last, view->older) : set_next(view->ready, self->last);
    if (self->samples)
        self->issues[self->last]++;
    if (self->params->sample && --self->left == 0)
        turn_over(self);
    return self->last;
}

static const void *ipaws_statistics(const void *self) { return &((const struct ipaws *)self)->stats; }

const struct scheduler_ops SCHEDULER_NAME(ipaws) = {
    .name = "ipaws",
    .help = "as gto where few warps have most issues of a sample, else as rr",
    .create = ipaws_create,
    .pick = ipaws_pick,
    .own = {.params = params_table,
            .params_bytes = sizeof(struct ipaws_params),
            .stats = stats_table,
            .stats_bytes = sizeof(struct ipaws_stats),
            .statistics = ipaws_statistics}};
