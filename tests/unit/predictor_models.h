/* SPDX-License-Identifier: Apache-2.0 */
/* Branch predictors once more, each written from its publication, to hold those of src/sm/predictor against. */
#ifndef HEDDLE_TESTS_PREDICTOR_MODELS_H
#define HEDDLE_TESTS_PREDICTOR_MODELS_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sm/predictor/predictor.h"

/* ---- models: one thread's branch at a time, nothing packed ---- */

enum { PCS = 64, SHARERS = 64 * 32, HISTORIES = 256, TABLE = 1024 };
/* A byte, and tags too (PCs are below 64): a thread has a model of its own, and starting them takes most of the time. */
enum __attribute__((packed)) state { STRONG_NOT, WEAK_NOT, WEAK_TAKEN, STRONG_TAKEN };
static const enum state after[4][2] = {
    {STRONG_NOT, WEAK_NOT}, {STRONG_NOT, WEAK_TAKEN}, {WEAK_NOT, STRONG_TAKEN}, {WEAK_TAKEN, STRONG_TAKEN}};
static bool says_taken(unsigned state) { return state == WEAK_TAKEN || state == STRONG_TAKEN; }

struct exception {
    bool used;
    uint8_t tag;
    enum state state;
};

/* Tables without limits are told apart by PC and history. */
struct model {
    enum state limited[TABLE], all[PCS][HISTORIES];
    bool outcomes[16];                                         /* of any branch, the newest first */
    bool own[PCS][16];                                         /* of the branch, or of what shares its place */
    struct exception limited_taken[TABLE], limited_not[TABLE]; /* exceptions of branches that are taken, and not */
    struct exception all_taken[PCS][HISTORIES], all_not[PCS][HISTORIES];
    enum state banks[3][TABLE], all_banks[3][PCS][HISTORIES]; /* bi-mode: not taken, taken; e-gskew: as they vote */
    bool is_known[PCS], first[PCS];                           /* agree: the first outcome at a place */
    bool last[PCS];                                           /* filter: the last one, and its equals in a row */
    uint32_t in_a_row[PCS];
};

struct settings {
    const char *name;
    uint32_t entries, histories, caches, history_bits, tag_bits, initial, filter_bits;
};

static uint32_t as_number(const bool *outcomes, uint32_t bits) {
    uint32_t number = 0;
    for (uint32_t i = 0; i < bits; i++)
        number += outcomes[i] ? 1u << i : 0;
    return number;
}

static void remember(bool *outcomes, bool taken) {
    memmove(outcomes + 1, outcomes, 15 * sizeof *outcomes);
    outcomes[0] = taken;
}

static void model_start(struct model *model, const struct settings *s) {
    memset(model, 0, sizeof *model);
    for (unsigned i = 0; i < TABLE; i++)
        model->limited[i] = (enum state)s->initial;
    for (unsigned i = 0; i < PCS * HISTORIES; i++)
        model->all[i / HISTORIES][i % HISTORIES] = (enum state)s->initial;
    for (unsigned bank = 0; bank < 3; bank++) {
        const enum state begin =
            strcmp(s->name, "bi-mode") == 0 ? (bank == 1 ? WEAK_TAKEN : WEAK_NOT) : (enum state)s->initial;
        for (unsigned i = 0; i < TABLE; i++)
            model->banks[bank][i] = begin;
        for (unsigned i = 0; i < PCS * HISTORIES; i++)
            model->all_banks[bank][i / HISTORIES][i % HISTORIES] = begin;
    }
    for (unsigned i = 0; i < PCS; i++)
        model->last[i] = says_taken(s->initial);
}

static bool *own_history(struct model *model, const struct settings *s, uint32_t pc) {
    return model->own[s->histories ? pc % s->histories : pc];
}

static enum state *counter_of(struct model *model, const struct settings *s, uint32_t pc) {
    const uint32_t global = as_number(model->outcomes, s->history_bits),
                   own = as_number(own_history(model, s, pc), s->history_bits);
    if (strcmp(s->name, "gshare") == 0)
        return s->entries ? &model->limited[(pc ^ global) % s->entries] : &model->all[pc][global];
    if (strcmp(s->name, "two-level") == 0)
        return s->entries ? &model->limited[own % s->entries] : &model->all[pc][own];
    return s->entries ? &model->limited[pc % s->entries] : &model->all[pc][0];
}

static struct exception *exception_of(struct model *model, const struct settings *s, uint32_t pc, bool rule) {
    const uint32_t history = as_number(model->outcomes, s->history_bits);
    if (!s->caches)
        return rule ? &model->all_taken[pc][history] : &model->all_not[pc][history];
    return (rule ? model->limited_taken : model->limited_not) + (pc ^ history) % s->caches;
}

/* What predictors count of their own, over all models. */
static struct { uint64_t exceptions, exceptions_right, filtered; } model_counts;

/* Was it mispredicted? */
static bool model_yags(struct model *model, const struct settings *s, uint32_t pc, bool taken) {
    enum state *counter = counter_of(model, s, pc);
    const bool rule = says_taken(*counter);
    const uint8_t tag = (uint8_t)(pc % (1u << s->tag_bits));
    struct exception *found = exception_of(model, s, pc, rule);
    const bool hit = found->used && (!s->caches || found->tag == tag);
    const bool predicted = hit ? says_taken(found->state) : rule;
    model_counts.exceptions += hit;
    model_counts.exceptions_right += hit && predicted == taken;
    if (hit)
        found->state = after[found->state][taken];
    else if (rule && !taken)
        *found = (struct exception){true, tag, WEAK_NOT};
    else if (!rule && taken)
        *found = (struct exception){true, tag, WEAK_TAKEN};
    if (!(rule != taken && predicted == taken))
        *counter = after[*counter][taken];
    return predicted != taken;
}

/* A counter of gshare's, in a table of its own. */
static enum state *shared_counter(struct model *model, const struct settings *s, uint32_t pc, unsigned bank) {
    const uint32_t history = as_number(model->outcomes, s->history_bits);
    return s->entries ? &model->banks[bank][(pc ^ history) % s->entries] : &model->all_banks[bank][pc][history];
}

/* Counters begin at s->initial, which stands for agreement here: where that is a state of "not taken", the states
 * of the low half agree. */
static bool model_agree(struct model *model, const struct settings *s, uint32_t pc, bool taken) {
    const uint32_t at = s->histories ? pc % s->histories : pc;
    const bool was_known = model->is_known[at];
    enum state *counter = shared_counter(model, s, pc, 0);
    const bool mirrored = !says_taken(s->initial);
    const bool agrees = says_taken(*counter) != mirrored;
    const bool bias = was_known ? model->first[at] : says_taken(s->initial);
    if (!was_known)
        model->is_known[at] = true, model->first[at] = taken;
    *counter = after[*counter][(model->first[at] == taken) != mirrored];
    return (agrees ? bias : !bias) != taken;
}

static bool model_bi_mode(struct model *model, const struct settings *s, uint32_t pc, bool taken) {
    enum state *choice = s->entries ? &model->limited[pc % s->entries] : &model->all[pc][0];
    const unsigned mode = says_taken(*choice) ? 1 : 0;
    enum state *counter = shared_counter(model, s, pc, mode);
    const bool wrong = says_taken(*counter) != taken;
    *counter = after[*counter][taken];
    if (wrong || (mode == 1) == taken)
        *choice = after[*choice][taken];
    return wrong;
}

/* Bits of a word in an array, the lowest first, through the functions of the publication one bit at a time. */
static uint32_t skew(uint64_t word, unsigned bits, bool second) {
    bool v1[32] = {0}, v2[32] = {0};
    uint32_t index = 0;
    for (unsigned i = 0; i < 64; i++)
        if (word >> i & 1) {
            bool *at = i < bits ? &v1[i] : &v2[i % bits];
            *at = !*at;
        }
    for (unsigned i = 0; i < bits; i++) {
        const bool *h = second ? v2 : v1, *inverse = second ? v1 : v2, *plain = second ? v2 : v1;
        bool mixed = h[i], unmixed = inverse[i];
        if (bits > 1) {
            mixed = i + 1 < bits ? h[i + 1] : h[bits - 1] != h[0];
            unmixed = i > 0 ? inverse[i - 1] : inverse[bits - 1] != inverse[bits - 2];
        }
        index += (mixed != unmixed) != plain[i] ? 1u << i : 0;
    }
    return index;
}

static bool model_e_gskew(struct model *model, const struct settings *s, uint32_t pc, bool taken) {
    const uint32_t history = as_number(model->outcomes, s->history_bits);
    enum state *voters[3];
    unsigned bits = 1, votes = 0;
    while (s->entries > 1u << bits)
        bits++;
    for (unsigned i = 0; i < 3; i++) {
        const uint32_t at = i == 0 ? pc : skew(((uint64_t)pc << s->history_bits) + history, bits, i == 2);
        voters[i] = s->entries ? &model->banks[i][at % s->entries] : &model->all_banks[i][pc][i ? history : 0];
        votes += says_taken(*voters[i]);
    }
    const bool wrong = (votes >= 2) != taken;
    for (unsigned i = 0; i < 3; i++)
        if (wrong || says_taken(*voters[i]) == taken)
            *voters[i] = after[*voters[i]][taken];
    return wrong;
}

static bool model_filter(struct model *model, const struct settings *s, uint32_t pc, bool taken) {
    const uint32_t at = s->histories ? pc % s->histories : pc, full = (1u << s->filter_bits) - 1;
    enum state *counter = shared_counter(model, s, pc, 0);
    const bool passes = model->in_a_row[at] >= full;
    const bool predicted = passes ? model->last[at] : says_taken(*counter);
    model_counts.filtered += passes;
    if (!passes)
        *counter = after[*counter][taken];
    model->in_a_row[at] = model->last[at] == taken ? model->in_a_row[at] + 1 : 0;
    model->last[at] = taken;
    return predicted != taken;
}

static bool model_step(struct model *model, const struct settings *s, uint32_t pc, bool taken) {
    if (strcmp(s->name, "perfect") == 0)
        return false;
    if (strcmp(s->name, "always-taken") == 0)
        return !taken;
    if (strcmp(s->name, "yags") == 0)
        return model_yags(model, s, pc, taken);
    if (strcmp(s->name, "agree") == 0)
        return model_agree(model, s, pc, taken);
    if (strcmp(s->name, "bi-mode") == 0)
        return model_bi_mode(model, s, pc, taken);
    if (strcmp(s->name, "e-gskew") == 0)
        return model_e_gskew(model, s, pc, taken);
    if (strcmp(s->name, "filter") == 0)
        return model_filter(model, s, pc, taken);
    enum state *counter = counter_of(model, s, pc);
    const bool wrong = says_taken(*counter) != taken;
    *counter = after[*counter][taken];
    return wrong;
}

/* Lanes of one model's threads. Histories move on behind them, by where more than half went. */
static uint32_t model_lanes(struct model *model, const struct settings *s, uint32_t pc, uint32_t lanes,
                            uint32_t taken) {
    uint32_t wrong = 0;
    int balance = 0;
    for (unsigned lane = 0; lane < 32; lane++)
        if (lanes >> lane & 1) {
            wrong |= (uint32_t)model_step(model, s, pc, taken >> lane & 1) << lane;
            balance += taken >> lane & 1 ? 1 : -1;
        }
    remember(model->outcomes, balance > 0);
    remember(own_history(model, s, pc), balance > 0);
    return wrong;
}

/* Each sharer's model, made when it is first asked. */
static struct model *models[SHARERS];

static void forget_models(void) {
    for (unsigned i = 0; i < SHARERS; i++) {
        free(models[i]);
        models[i] = NULL;
    }
}

static uint32_t model_group(const struct settings *s, enum predictor_sharing sharing, const uint16_t *threads,
                            uint32_t pc, uint32_t lanes, uint32_t taken) {
    uint32_t wrong = 0, done = 0;
    for (unsigned first = 0; first < 32; first++) {
        if (!(lanes & ~done) || !((lanes & ~done) >> first & 1))
            continue;
        const unsigned per = sharing == PREDICTOR_OF_THREAD ? 1 : sharing == PREDICTOR_OF_WARP ? 32 : SHARERS;
        const unsigned sharer = threads[first] / per;
        uint32_t same = 0;
        for (unsigned lane = 0; lane < 32; lane++)
            same |= (lanes >> lane & 1) && threads[lane] / per == sharer ? 1u << lane : 0;
        if (!models[sharer]) {
            models[sharer] = malloc(sizeof *models[sharer]);
            assert_non_null(models[sharer]);
            model_start(models[sharer], s);
        }
        wrong |= model_lanes(models[sharer], s, pc, same, taken & same);
        done |= same;
    }
    return wrong;
}

#endif
