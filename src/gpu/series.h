/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of a launch over its cycles, in a bounded number of equal intervals. Samples are taken at multiples of the
 * interval; when there is no room for more, every second one is dropped and the interval doubles, so that a launch of any
 * length has at most SERIES_SAMPLES intervals and at least half as many, unless it is shorter. */
#ifndef HEDDLE_GPU_SERIES_H
#define HEDDLE_GPU_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "mem/dram.h"
#include "sm/sm.h"

enum series_part { SERIES_SM, SERIES_L1, SERIES_L2, SERIES_DRAM, SERIES_GPU, SERIES_PARTS };
enum series_kind { SERIES_FLOW, SERIES_LEVEL };
enum { SERIES_SAMPLES = 256 };

enum {
    SERIES_COUNT = 0
#define SERIES(name, part, field, kind, unit, help) +1
#include "gpu/gpu_series.def"
#undef SERIES
};
/* Behind them, what each bank of the DRAM counted, summed over channels: all banks of the first counter, then of the next. */
enum { SERIES_COLUMNS = SERIES_COUNT + DRAM_BANK_COUNTERS * DRAM_BANKS_MAX };

struct series_description {
    const char *name, *unit, *help;
    enum series_part part;
    enum series_kind kind;
    size_t offset; /* of the counter in the part's statistics */
};
extern const struct series_description series_table[SERIES_COUNT];

/* What no part counts. */
struct series_levels {
    uint64_t threads_unfinished, blocks_resident;
    uint64_t warps[WAIT_COUNT]; /* in issue slots, by what they wait for */
};

/* While a launch runs: what was counted from its beginning to the end of each interval. */
struct series_recorder {
    uint64_t interval, due;          /* due: cycle of the next sample, UINT64_MAX: never */
    uint32_t count, columns;         /* columns: as many as the machine has */
    uint64_t origin[SERIES_COLUMNS]; /* the counters at the beginning: L2 and DRAM outlive launches */
    uint64_t *samples;               /* a row of columns each */
    unsigned first[SERIES_PARTS];    /* the first series of each part */
};

/* When it is over: entry k of a series is of the cycles [k * interval, (k + 1) * interval), the last up to the end. The same
 * for whole launches by SM: entry k is of SM k, and what neither SMs nor L1s count is NULL. */
struct series {
    uint64_t interval; /* cycles */
    uint32_t count, columns;
    uint64_t *values[SERIES_COLUMNS];
};

/* Banks behind the named series. */
static inline uint32_t series_banks(uint32_t columns) { return (columns - SERIES_COUNT) / DRAM_BANK_COUNTERS; }

/* Whether an SM or its L1 counts it. */
static inline bool series_is_of_sm(unsigned i) {
    return i < SERIES_COUNT && (series_table[i].part == SERIES_SM || series_table[i].part == SERIES_L1);
}
/* What it holds, copied to another arena. */
void series_copy(struct series *series, struct arena *arena);
/* banks: of a DRAM channel; 0: its model has none. */
void series_create(struct series_recorder *recorder, struct arena *arena, uint32_t banks);
/* A launch begins. interval: cycles, 0: no samples. */
void series_begin(struct series_recorder *recorder, uint64_t interval, const uint64_t origin[SERIES_COLUMNS]);
/* Adds the counters of one part's statistics. first: the part's first series. */
void series_read(uint64_t values[SERIES_COUNT], unsigned first, const void *stats);
/* The counters as of cycle `due`. */
void series_sample(struct series_recorder *recorder, const uint64_t values[SERIES_COLUMNS]);
/* The counters as of the launch's last cycle; what is kept lives in the arena. */
void series_end(struct series_recorder *recorder, uint64_t cycle, const uint64_t values[SERIES_COLUMNS],
                struct arena *arena, struct series *out);

#endif
