/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/series.h"

#include <string.h>

#include "gpu/gpu.h"

#define STATS_SM struct sm_stats
#define STATS_L1 struct cache_stats
#define STATS_L2 struct cache_stats
#define STATS_DRAM struct dram_stats
#define STATS_GPU struct series_levels

const struct series_description series_table[SERIES_COUNT] = {
#define SERIES(name, part, field, kind, unit, help)                                                                    \
    {name, unit, help, SERIES_##part, SERIES_##kind, offsetof(STATS_##part, field)},
#include "gpu/gpu_series.def"
#undef SERIES
};

void series_copy(struct series *series, struct arena *arena) {
    for (unsigned i = 0; i < series->columns; i++)
        if (series->values[i])
            series->values[i] = arena_copy(arena, series->values[i], series->count * sizeof *series->values[i]);
}

void series_create(struct series_recorder *recorder, struct arena *arena, uint32_t banks) {
    recorder->columns = SERIES_COUNT + DRAM_BANK_COUNTERS * banks;
    recorder->samples = arena_alloc(arena, SERIES_SAMPLES * recorder->columns * sizeof *recorder->samples);
    for (unsigned i = SERIES_COUNT; i-- > 0;)
        recorder->first[series_table[i].part] = i;
}

void series_begin(struct series_recorder *recorder, uint64_t interval, const uint64_t origin[SERIES_COLUMNS]) {
    recorder->interval = interval;
    recorder->due = interval ? interval : UINT64_MAX;
    recorder->count = 0;
    memcpy(recorder->origin, origin, recorder->columns * sizeof *origin);
}

void series_read(uint64_t values[SERIES_COUNT], unsigned first, const void *stats) {
    const enum series_part part = series_table[first].part;
    for (unsigned i = first; i < SERIES_COUNT && series_table[i].part == part; i++) {
        uint64_t counter;
        memcpy(&counter, (const char *)stats + series_table[i].offset, sizeof counter);
        values[i] += counter;
    }
}

static uint64_t *row(const struct series_recorder *recorder, uint32_t k) {
    return recorder->samples + (size_t)k * recorder->columns;
}

static void add_sample(struct series_recorder *recorder, const uint64_t values[SERIES_COLUMNS]) {
    uint64_t *sample = row(recorder, recorder->count++);
    for (unsigned i = 0; i < recorder->columns; i++)
        sample[i] = values[i] - recorder->origin[i];
}

void series_sample(struct series_recorder *recorder, const uint64_t values[SERIES_COLUMNS]) {
    add_sample(recorder, values);
    if (recorder->count == SERIES_SAMPLES) {
        recorder->count /= 2;
        for (uint32_t k = 0; k < recorder->count; k++)
            memcpy(row(recorder, k), row(recorder, 2 * k + 1), recorder->columns * sizeof *recorder->samples);
        recorder->interval *= 2;
    }
    recorder->due = (recorder->count + 1) * recorder->interval;
}

void series_end(struct series_recorder *recorder, uint64_t cycle, const uint64_t values[SERIES_COLUMNS],
                struct arena *arena, struct series *out) {
    *out = (struct series){.interval = recorder->interval, .columns = recorder->columns};
    if (!recorder->interval)
        return;
    if (cycle > recorder->count * recorder->interval)
        add_sample(recorder, values);
    out->count = recorder->count;
    for (unsigned i = 0; i < out->columns; i++) {
        const bool flows = i >= SERIES_COUNT || series_table[i].kind == SERIES_FLOW;
        out->values[i] = ARENA_ARRAY(arena, uint64_t, out->count);
        for (uint32_t k = 0; k < out->count; k++)
            out->values[i][k] = row(recorder, k)[i] - (k && flows ? row(recorder, k - 1)[i] : 0);
    }
}
