/* SPDX-License-Identifier: Apache-2.0 */
#include "study/sample.h"

#include <string.h>

#include "base/rng.h"
#include "base/text.h"
#include "study/estimate.h"
#include "study/sample_groups.h"

enum {
    PILOT = 5,         /* launches of a group that are timed before anything is known of it */
    WHOLE_LAUNCHES = 8 /* a group of so many is timed whole */
};

static const double confidence = 0.95;
/* Rounds aim at a little less than the error that is allowed, so that there are few of them. */
static const double aim = 0.85;

/* What a launch of the sample is to its group. */
struct stratum {
    uint32_t population;                  /* launches that are drawn from: without those timed in any case */
    uint32_t *drawn;                      /* launches in the order in which they are drawn */
    uint32_t timed, wanted;               /* the first so many */
    uint32_t certain, *always;            /* timed in any case */
    double *x, *y;                        /* of drawn: warp instructions, cycles */
    double cost, unit, deviation, pooled; /* cycles of a launch, and what it deviates by */
};

struct sample {
    struct arena *arena;
    const struct sample_launch *launches;
    uint32_t count, rounds, end;
    struct sample_request request;
    struct sample_groups groups;
    struct stratum *strata; /* by group */
    bool *is_wanted;
    uint64_t *cycles; /* by launch; 0: not timed yet */
    struct estimate_stratum *views;
};

enum status sample_read(const char *text, struct sample_request *out, struct report *report) {
    static const char name[] = "error=";
    const size_t length = strlen(text), skip = sizeof name - 1;
    char number[32];
    double percent = -1;
    const bool is_percent = length > skip + 1 && length - skip < sizeof number && text[length - 1] == '%';
    if (is_percent && strncmp(text, name, skip) == 0) {
        memcpy(number, text + skip, length - skip - 1);
        number[length - skip - 1] = 0;
        percent = text_to_f64(number, &percent) ? percent : -1;
    }
    if (!(percent >= 0 && percent < 100))
        return report_add(report, STATUS_INVALID,
                          "--sample takes error=N%%, such as error=1%%, from 0%% to below 100%%, not '%s'", text);
    out->error = percent / 100;
    return STATUS_OK;
}

enum status sample_check_module(const struct module *module, struct report *report) {
    for (uint32_t pc = 0; pc < module->code_count; pc++) {
        const struct inst *inst = &module->code[pc];
        for (unsigned i = 0; i < inst->src_count; i++) {
            const unsigned special = inst->src[i].kind == OPERAND_SPECIAL ? inst->src[i].reg : SPECIAL_CLOCK - 1;
            if (special < SPECIAL_CLOCK || special > SPECIAL_GLOBALTIMER_HI)
                continue;
            const struct function *function = module_function_at(module, pc);
            return report_add(
                report, STATUS_INVALID,
                "--sample: '%s' reads %s, and launches without time have no clock: what it does may depend on "
                "time; run it without --sample",
                function ? function->name : module->name, special_name((enum special)special));
        }
    }
    return STATUS_OK;
}

/* ---- the plan ---- */

static double instructions_of(const struct sample *sample, uint32_t launch) {
    return (double)sample->launches[launch].stats.warp_instructions;
}

/* By launch: which kernel it is of, from 0. Groups of a kernel stand side by side. */
static uint32_t number_kernels(const struct sample *sample, uint32_t *kernels) {
    const uint32_t *order = sample->groups.order;
    uint32_t number = 0;
    for (uint32_t i = 0; i < sample->count; i++) {
        const bool is_next = i && strcmp(sample->launches[order[i]].kernel, sample->launches[order[i - 1]].kernel) != 0;
        number += is_next;
        kernels[order[i]] = number;
    }
    return number + 1;
}

/* Launches that find an SM whose caches have nothing of their kernel yet: blocks go to SMs in turn. */
static void find_firsts(const struct sample *sample, bool *firsts) {
    const uint32_t sms = sample->request.sms ? sample->request.sms : 1;
    uint32_t *kernels = ARENA_ARRAY(sample->arena, uint32_t, sample->count), at = 0;
    bool *seen = ARENA_ARRAY(sample->arena, bool, (size_t)number_kernels(sample, kernels) * sms);
    for (uint32_t i = 0; i < sample->count; i++) {
        const uint64_t blocks = sample->launches[i].stats.blocks;
        for (uint32_t k = 0; k < sms && k < blocks; k++) {
            bool *here = &seen[(size_t)kernels[i] * sms + (at + k) % sms];
            firsts[i] |= !*here;
            *here = true;
        }
        at = sample->request.rotates ? (uint32_t)((at + blocks) % sms) : 0;
    }
}

static void make_stratum(struct sample *sample, unsigned number, const bool *firsts) {
    const struct sample_group *group = &sample->groups.items[number];
    struct stratum *s = &sample->strata[number];
    const bool whole = group->count <= WHOLE_LAUNCHES || sample->request.error <= 0;
    struct rng rng;
    *s = (struct stratum){.drawn = ARENA_ARRAY(sample->arena, uint32_t, group->count),
                          .always = ARENA_ARRAY(sample->arena, uint32_t, group->count),
                          .x = ARENA_ARRAY(sample->arena, double, group->count),
                          .y = ARENA_ARRAY(sample->arena, double, group->count)};
    double instructions = 0;
    for (uint32_t i = 0; i < group->count; i++) {
        const uint32_t launch = sample->groups.order[group->first + i];
        if (whole || firsts[launch])
            s->always[s->certain++] = launch;
        else
            s->drawn[s->population++] = launch;
        instructions += instructions_of(sample, launch);
    }
    rng_seed(&rng, sample->request.seed * UINT64_C(0x9e3779b97f4a7c15) + number);
    for (uint32_t i = s->population; i > 1; i--) {
        const uint32_t other = (uint32_t)rng_below(&rng, i), kept = s->drawn[i - 1];
        s->drawn[i - 1] = s->drawn[other], s->drawn[other] = kept;
    }
    for (uint32_t i = 0; i < s->population; i++)
        s->x[i] = instructions_of(sample, s->drawn[i]);
    s->cost = instructions / group->count + 1;
    s->wanted = s->population < PILOT ? s->population : PILOT;
}

struct sample *sample_create(struct arena *arena, const struct sample_launch *launches, uint32_t count,
                             const struct sample_request *request) {
    struct sample *sample = ARENA_NEW(arena, struct sample);
    *sample = (struct sample){.arena = arena, .launches = launches, .count = count, .request = *request};
    sample->is_wanted = ARENA_ARRAY(arena, bool, count);
    sample->cycles = ARENA_ARRAY(arena, uint64_t, count);
    sample_groups_make(arena, launches, count, &sample->groups);
    sample->strata = ARENA_ARRAY(arena, struct stratum, sample->groups.count);
    sample->views = ARENA_ARRAY(arena, struct estimate_stratum, sample->groups.count);
    bool *firsts = ARENA_ARRAY(arena, bool, count);
    find_firsts(sample, firsts);
    for (unsigned i = 0; i < sample->groups.count; i++)
        make_stratum(sample, i, firsts);
    return sample;
}

bool sample_is_whole(const struct sample *sample) {
    for (unsigned i = 0; i < sample->groups.count; i++)
        if (sample->strata[i].wanted < sample->strata[i].population)
            return false;
    return true;
}

/* What was measured of the launches that are drawn from. */
static struct estimate_stratum view(struct sample *sample, unsigned number) {
    struct stratum *s = &sample->strata[number];
    struct estimate_stratum out = {.population = s->population, .sampled = s->timed, .x = s->x, .y = s->y};
    for (uint32_t i = 0; i < s->population; i++)
        out.x_total += s->x[i];
    for (uint32_t i = 0; i < s->timed; i++)
        s->y[i] = (double)sample->cycles[s->drawn[i]];
    return out;
}

static double certain_cycles(const struct sample *sample, unsigned number) {
    double sum = 0;
    for (uint32_t i = 0; i < sample->strata[number].certain; i++)
        sum += (double)sample->cycles[sample->strata[number].always[i]];
    return sum;
}

/* What launches of a group deviate by: as its sample says, and as those of all groups together, relative to the launch, where its own is
 * small. Who draws until the interval is narrow stops where a sample happens to spread little; what others spread keeps that in bounds. */
static void find_deviations(struct sample *sample) {
    double pooled = 0;
    uint32_t freedom = 0;
    for (unsigned i = 0; i < sample->groups.count; i++) {
        const struct estimate_stratum *v = &sample->views[i];
        const struct stratified one = estimate_one(v, confidence);
        const double n = v->sampled, all = v->population;
        struct stratum *s = &sample->strata[i];
        s->unit = all > 0 ? one.total / all : 0;
        s->deviation = 0;
        if (v->sampled >= v->population || s->unit <= 0)
            continue;
        s->deviation = estimate_root(one.variance * n / (all * all * (1 - n / all)));
        pooled += (n - 1) * s->deviation / s->unit * s->deviation / s->unit, freedom += v->sampled - 1;
    }
    for (unsigned i = 0; i < sample->groups.count && freedom; i++) {
        struct stratum *s = &sample->strata[i];
        const double own = s->timed > 1 ? s->timed - 1 : 1;
        if (s->timed < s->population)
            s->pooled =
                estimate_root((own * s->deviation * s->deviation + pooled / freedom * s->unit * s->unit) / (own + 1));
    }
}

/* The interval is the wider of that of the groups' own deviations and that of the pooled ones. */
static struct stratified estimate_now(struct sample *sample) {
    double variance = 0;
    for (unsigned i = 0; i < sample->groups.count; i++)
        sample->views[i] = view(sample, i);
    struct stratified out = estimate_total(sample->views, sample->groups.count, confidence);
    find_deviations(sample);
    for (unsigned i = 0; i < sample->groups.count; i++) {
        const struct stratum *s = &sample->strata[i];
        const double all = s->population;
        out.total += certain_cycles(sample, i);
        if (s->timed < s->population)
            variance += all * all * s->pooled * s->pooled * (1.0 / s->timed - 1 / all);
    }
    if (out.freedom && variance > out.variance) {
        out.variance = variance;
        out.half_width = estimate_student(out.freedom, confidence) * estimate_root(variance);
    }
    return out;
}

/* More of every group that needs it; at least one launch altogether. */
static void plan(struct sample *sample, const struct stratified *now) {
    const unsigned count = sample->groups.count;
    struct estimate_need *needs = ARENA_ARRAY(sample->arena, struct estimate_need, count);
    const double target = now->total * sample->request.error * aim;
    const double t = estimate_student(now->freedom ? now->freedom : 1, confidence);
    bool more = false;
    unsigned widest = 0;
    for (unsigned i = 0; i < count; i++) {
        const struct stratum *s = &sample->strata[i];
        needs[i] = (struct estimate_need){
            .population = s->population, .least = s->timed, .deviation = s->pooled, .cost = s->cost};
        if (s->timed < s->population &&
            (sample->strata[widest].timed >= sample->strata[widest].population ||
             s->population * needs[i].deviation > sample->strata[widest].population * needs[widest].deviation))
            widest = i;
    }
    /* with more launches t is smaller, but by how much is not known yet: in the middle between now and very many */
    const double expected = now->freedom > 30 ? t : (t + 1.96) / 2;
    estimate_sizes(needs, count, target / expected * (target / expected));
    for (unsigned i = 0; i < count; i++) {
        struct stratum *s = &sample->strata[i];
        s->wanted = needs[i].wanted > s->population ? s->population : needs[i].wanted;
        more |= s->wanted > s->timed;
    }
    if (!more)
        sample->strata[widest].wanted += sample->strata[widest].timed < sample->strata[widest].population;
}

/* ---- rounds ---- */

static void want(struct sample *sample, uint32_t launch) {
    sample->is_wanted[launch] = true;
    if (launch >= sample->end)
        sample->end = launch + 1;
}

bool sample_next(struct sample *sample) {
    if (sample->rounds) {
        const struct stratified now = estimate_now(sample);
        if (now.half_width <= sample->request.error * now.total)
            return false;
        plan(sample, &now);
    }
    memset(sample->is_wanted, 0, sample->count * sizeof *sample->is_wanted);
    sample->end = 0;
    for (unsigned i = 0; i < sample->groups.count; i++) {
        struct stratum *s = &sample->strata[i];
        for (uint32_t k = 0; k < s->certain && !sample->rounds; k++)
            want(sample, s->always[k]);
        for (; s->timed < s->wanted; s->timed++)
            want(sample, s->drawn[s->timed]);
    }
    sample->rounds++;
    return sample->end > 0;
}

bool sample_wants(const struct sample *sample, uint32_t launch) { return sample->is_wanted[launch]; }
uint32_t sample_end(const struct sample *sample) { return sample->end; }

enum status sample_timed(struct sample *sample, uint32_t launch, uint64_t cycles, const struct run_stats *stats,
                         struct report *report) {
    const struct sample_launch *profile = &sample->launches[launch];
    sample->cycles[launch] = cycles;
    if (profile->stats.thread_instructions == stats->thread_instructions &&
        profile->stats.warp_instructions == stats->warp_instructions)
        return STATUS_OK;
    return report_add(
        report, STATUS_STOPPED,
        "--sample: launch %u, kernel '%s', issued %llu warp instructions in time and %llu without: what it "
        "does depends on time or on the order of threads, and what is not timed says nothing of it; run it "
        "without --sample",
        launch + 1, profile->kernel, (unsigned long long)stats->warp_instructions,
        (unsigned long long)profile->stats.warp_instructions);
}

/* ---- the result ---- */

static void describe(struct sample *sample, unsigned number, struct result_sample_group *out) {
    const struct sample_group *group = &sample->groups.items[number];
    const uint32_t *order = sample->groups.order + group->first;
    const struct sample_launch *any = &sample->launches[order[0]];
    const struct stratified one = estimate_one(&sample->views[number], confidence);
    struct result_sample_launch *timed = ARENA_ARRAY(sample->arena, struct result_sample_launch, group->count);
    *out = (struct result_sample_group){.kernel = any->kernel,
                                        .block = {any->block[0], any->block[1], any->block[2]},
                                        .blocks_least = any->stats.blocks,
                                        .launches = group->count,
                                        .timed = timed,
                                        .cycles = one.total + certain_cycles(sample, number),
                                        .half_width = one.half_width};
    for (uint32_t i = 0; i < group->count; i++) {
        const struct run_stats *stats = &sample->launches[order[i]].stats;
        out->blocks_least = stats->blocks < out->blocks_least ? stats->blocks : out->blocks_least;
        out->blocks_most = stats->blocks > out->blocks_most ? stats->blocks : out->blocks_most;
        out->warp_instructions += stats->warp_instructions;
        if (sample->cycles[order[i]])
            timed[out->timed_count++] = (struct result_sample_launch){order[i], sample->cycles[order[i]]};
    }
}

const struct result_sample *sample_result(struct sample *sample) {
    const struct stratified now = estimate_now(sample);
    const unsigned count = sample->groups.count;
    struct result_sample *out = ARENA_NEW(sample->arena, struct result_sample);
    struct result_sample_group *groups = ARENA_ARRAY(sample->arena, struct result_sample_group, count);
    *out = (struct result_sample){.error = sample->request.error,
                                  .confidence = confidence,
                                  .cycles = now.total,
                                  .half_width = now.half_width,
                                  .seed = sample->request.seed,
                                  .launches = sample->count,
                                  .rounds = sample->rounds,
                                  .groups = groups,
                                  .group_count = count};
    for (unsigned i = 0; i < count; i++)
        describe(sample, i, &groups[i]);
    for (uint32_t i = 0; i < sample->count; i++) {
        const uint64_t instructions = sample->launches[i].stats.warp_instructions;
        out->warp_instructions += instructions;
        out->timed_launches += sample->cycles[i] != 0;
        out->timed_warp_instructions += sample->cycles[i] ? instructions : 0;
    }
    return out;
}
