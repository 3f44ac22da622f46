/* SPDX-License-Identifier: Apache-2.0 */
/* Which way a conditional branch goes, guessed before it is known: one file per predictor, chosen by exact name. An SM has
 * one predictor, one for each warp slot or one for each thread slot; they begin anew with a launch. */
#ifndef HEDDLE_SM_PREDICTOR_PREDICTOR_H
#define HEDDLE_SM_PREDICTOR_PREDICTOR_H

#include "base/arena.h"
#include "base/bits.h"
#include "base/stat.h"
#include "base/status.h"
#include "cost/own.h"
#include "simt/executor.h"

enum predictor_sharing { PREDICTOR_OF_SM, PREDICTOR_OF_WARP, PREDICTOR_OF_THREAD };

/* What one predictor is made by: keys predictor.*, and the program. */
struct predictor_shape {
    uint32_t entries;       /* counters of its table; 0: one for each branch and history, so that none collide */
    uint32_t histories;     /* branches whose own outcomes are kept; 0: all */
    uint32_t cache_entries; /* of each cache of exceptions; 0: one for each branch and history */
    uint32_t history_bits, tag_bits, filter_bits;
    uint32_t initial;   /* state of counters: 0 and 1 predict not taken, 2 and 3 taken */
    const void *params; /* values of the predictor's own keys */
    uint32_t code_count, branch_count;
    const uint32_t *branches; /* by PC: the number of the conditional branch there, NO_BRANCH: none */
};
#define NO_BRANCH UINT32_MAX

/* Predictors alike in one SM: so many, and each once more for every lane. */
struct predictor_hardware {
    uint64_t count;
    unsigned lanes;
};

struct predictor_ops {
    const char *name, *help;
    bool knows; /* an oracle: it is never wrong, about threads and groups, and has none of the rest */
    /* One predictor; NULL: it holds nothing, and `self` is NULL. `shape` lives as long. */
    void *(*create)(struct arena *arena, const struct predictor_shape *shape);
    bool (*predict)(const void *self, uint32_t pc);
    /* Lanes branch at pc one after another, the lowest first, each predicted before it and learnt from behind it:
     * those that were mispredicted. A history moves on once, by where most of them went. */
    uint32_t (*learn)(void *self, uint32_t pc, uint32_t lanes, uint32_t taken);
    /* Host bytes that create takes. */
    uint64_t (*bytes)(const struct predictor_shape *shape);
    /* Structures of the hardware; NULL: none. */
    void (*cost)(const struct predictor_shape *shape, struct predictor_hardware of, struct cost *out);
    /* Keys and counters of its own; own.statistics is asked of each predictor that was created. own.cost: hardware that an SM has
     * once, however predictors are shared. */
    struct own own;
};

struct predictor_stats {
#define STAT(field, unit, help) uint64_t field;
#define RATIO(...)
#include "sm/predictor/predictor_stats.def"
#undef STAT
#undef RATIO
};
extern const struct stat_description predictor_stats_table[];

/* The predictors of an SM. */
struct predictor {
    const struct predictor_ops *ops; /* NULL: none; branches are counted all the same */
    enum predictor_sharing sharing;
    struct predictor_shape shape;
    unsigned sharers;
    void **selves; /* by sharer */
    struct predictor_stats stats;
};

/* Our own, then those of plug-ins; NULL: there are not so many. */
const struct predictor_ops *predictor_at(unsigned number);
/* Those of that exact name; "none" gives NULL in `out`. Unknown: those that there are stand in the report. */
enum status predictor_find(const char *name, const struct predictor_ops **out, struct report *report);
/* What predictors of an SM are made of. */
struct predictor_parts {
    const struct predictor_ops *ops;
    enum predictor_sharing sharing;
    const struct predictor_shape *keys; /* the program's part of the shape is filled in */
    const struct inst *code;
    uint32_t code_count;
    unsigned warps; /* slots */
};
enum status predictor_create(struct predictor **out, struct arena *arena, const struct predictor_parts *parts,
                             struct report *report);
/* A group has branched; `threads` as group.threads, `slot` where it is NULL. False: not on a condition. *taken: where the
 * group was predicted to go, before anything was learnt: by most of its threads' predictors. */
bool predictor_branched(struct predictor *predictor, unsigned slot, const uint16_t *threads,
                        const struct executed *executed, bool *taken);

/* Adds what the predictors counted of their own. */
void predictor_add_own_statistics(const struct predictor *predictor, void *sum);
/* The structures of an SM; entries 0: of a table without limits. */
void predictor_cost(const struct predictor_ops *ops, enum predictor_sharing sharing, const struct predictor_shape *keys,
                    const struct cost_shape *shape, struct cost *out);

/* ---- for predictors ---- */

static inline uint32_t predictor_lanes(void *self, uint32_t pc, uint32_t lanes, uint32_t taken,
                                       bool (*predict)(const void *self, uint32_t pc),
                                       void (*update)(void *self, uint32_t pc, bool taken)) {
    uint32_t wrong = 0;
    for (BITS_EACH(lane, lanes)) {
        const bool outcome = bits_test(taken, lane);
        wrong |= (uint32_t)(predict(self, pc) != outcome) << lane;
        update(self, pc, outcome);
    }
    return wrong;
}

static inline bool predictor_most(uint32_t lanes, uint32_t taken) { return 2 * bits_count(taken) > bits_count(lanes); }

static inline uint32_t predictor_shift(uint32_t history, unsigned bits, bool taken) {
    return (history << 1 | taken) & bits_low(bits);
}

/* Saturating counters of two bits, four to a byte. They differ from the initial state by what is kept, so that zeroed
 * memory is a new table. */
struct predictor_counters {
    uint8_t *bytes;
    uint8_t initial;
};

static inline unsigned predictor_count(unsigned state, bool taken) {
    return taken ? state + (state < 3) : state - (state > 0);
}

static inline unsigned predictor_counter(const struct predictor_counters *counters, uint32_t i) {
    return ((unsigned)counters->bytes[i / 4] >> i % 4 * 2 & 3u) ^ counters->initial;
}

static inline void predictor_move(struct predictor_counters *counters, uint32_t i, bool taken) {
    const unsigned state = predictor_counter(counters, i), change = state ^ predictor_count(state, taken);
    counters->bytes[i / 4] ^= (uint8_t)(change << i % 4 * 2);
}

/* Where a branch with this history stands in a table of so many entries, and how many there are. */
static inline uint32_t predictor_place(const struct predictor_shape *shape, uint32_t entries, uint32_t pc,
                                       uint32_t history, unsigned history_bits) {
    return entries ? (pc ^ history) % entries : shape->branches[pc] << history_bits | history;
}
static inline uint64_t predictor_places(const struct predictor_shape *shape, uint32_t entries, unsigned history_bits) {
    return entries ? entries : (uint64_t)shape->branch_count << history_bits;
}

/* So many entries of each predictor, read and written by index. */
static inline void predictor_cost_table(struct cost *out, const char *name, const char *fields, uint64_t entries,
                                        unsigned bits, struct predictor_hardware of) {
    cost_add(out, COST_MEMORY, name, fields, of.count * entries, (struct cost_array){of.lanes, bits, 1, 1});
}
static inline void predictor_cost_history(struct cost *out, unsigned bits, struct predictor_hardware of) {
    cost_add(out, COST_REGISTERS, "branch history", arena_printf(out->arena, "outcomes %u", bits), of.count,
             (struct cost_array){of.lanes, bits, 0, 0});
}

#endif
