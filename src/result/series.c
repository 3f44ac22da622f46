/* SPDX-License-Identifier: Apache-2.0 */
/* What a result file says of a launch over its cycles and by SM, and of how its numbers are spread. */
#include <stdio.h>

#include "result/timed.h"

static json_t *list(const struct series *series, unsigned i) {
    json_t *values = json_array();
    for (uint32_t k = 0; k < series->count; k++)
        json_array_append_new(values, result_count(series->values[i][k]));
    return values;
}

static void add_lists(json_t *into, const struct series *series, bool by_sm) {
    for (unsigned i = 0; i < SERIES_COUNT; i++)
        if (!by_sm || series_is_of_sm(i))
            json_object_set_new(into, series_table[i].name, list(series, i));
}

static const char *const of_bank[DRAM_BANK_COUNTERS] = {
    [DRAM_COLUMN_COMMANDS] = "column_commands", [DRAM_ACTIVATES] = "activates"};

static json_t *banks_json(const struct series *series) {
    json_t *out = json_object();
    const uint32_t banks = series_banks(series->columns);
    for (unsigned counter = 0; counter < DRAM_BANK_COUNTERS; counter++) {
        json_t *lists = json_array();
        for (uint32_t b = 0; b < banks; b++)
            json_array_append_new(lists, list(series, SERIES_COUNT + counter * banks + b));
        json_object_set_new(out, of_bank[counter], lists);
    }
    return out;
}

json_t *result_series(const struct series *series) {
    json_t *out = json_object();
    json_object_set_new(out, "interval", result_count(series->interval));
    json_object_set_new(out, "intervals", result_count(series->count));
    add_lists(out, series, false);
    json_object_set_new(out, "dram_banks", banks_json(series));
    return out;
}

json_t *result_sms(const struct series *sms) {
    json_t *out = json_object();
    json_object_set_new(out, "count", result_count(sms->count));
    add_lists(out, sms, true);
    return out;
}

void result_add_series_units(json_t *into) {
    json_object_set_new(into, "series.interval", json_string("cycles"));
    json_object_set_new(into, "series.intervals", json_string("intervals"));
    for (unsigned i = 0; i < SERIES_COUNT; i++) {
        char key[96];
        snprintf(key, sizeof key, "series.%s", series_table[i].name);
        json_object_set_new(into, key, json_string(series_table[i].unit));
    }
    for (unsigned counter = 0; counter < DRAM_BANK_COUNTERS; counter++) {
        char key[96];
        snprintf(key, sizeof key, "series.dram_banks.%s", of_bank[counter]);
        json_object_set_new(into, key, json_string("commands"));
    }
}

static json_t *bucket_json(const struct histogram_description *histogram, unsigned i, uint64_t count) {
    uint64_t first, last;
    histogram_range(histogram, i, &first, &last);
    json_t *out = json_array();
    json_array_append_new(out, result_count(first));
    json_array_append_new(out, last == UINT64_MAX ? json_null() : result_count(last));
    json_array_append_new(out, result_count(count));
    return out;
}

static void add_histograms(json_t *into, const void *histograms, const struct histogram_description *table) {
    for (const struct histogram_description *histogram = table; histogram->name; histogram++) {
        const uint64_t *counts = histogram_counts(histograms, histogram);
        json_t *entry = json_object(), *buckets = json_array();
        uint64_t sum = 0;
        for (unsigned i = 0; i < histogram->buckets; i++) {
            sum += counts[i];
            if (counts[i])
                json_array_append_new(buckets, bucket_json(histogram, i, counts[i]));
        }
        json_object_set_new(entry, "count", result_count(sum));
        json_object_set_new(entry, "buckets", buckets);
        json_object_set_new(into, histogram->name, entry);
    }
}

json_t *result_histograms(const struct gpu_stats *timed) {
    json_t *out = json_object();
    add_histograms(out, &timed->histograms, sm_histogram_table);
    add_histograms(out, &timed->dram_histograms, dram_histogram_table);
    return out;
}

static void add_units(json_t *into, const struct histogram_description *table) {
    for (const struct histogram_description *histogram = table; histogram->name; histogram++) {
        char key[96];
        snprintf(key, sizeof key, "histograms.%s", histogram->name);
        json_object_set_new(into, key, json_string(histogram->unit));
    }
}

void result_add_histogram_units(json_t *into) {
    add_units(into, sm_histogram_table);
    add_units(into, dram_histogram_table);
}
