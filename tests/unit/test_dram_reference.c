/* SPDX-License-Identifier: Apache-2.0 */
/* mem/dram against the reference data: completion cycles, command traces, totals and hand formulas. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <unistd.h>

#include "unit/dram_drive.h"

#define FOLDER HEDDLE_REFERENCE_DIR "/dram/"

static const char *const sets[] = {"gddr3", "gddr5", "gddr5bg", "hbm2"};
static const char *const streams[] = {"seq_read",        "rand_read", "rand_lowload", "conflict_unique", "pingpong_ab",
                                      "rowhit_bursts",   "rw_mix70",  "bursty",       "index_open",      "index_dep",
                                      "bank_interleave", "rw_turn",   "starve"};
enum { SETS = 4, STREAMS = 13, FIELDS_MAX = 24 };

/* Big, and needed one at a time. */
static struct stream stream;
static struct outcome outcome, other;

struct csv {
    FILE *file;
    char line[1024], header[1024];
    char *fields[FIELDS_MAX], *names[FIELDS_MAX];
    unsigned count, columns;
};

static unsigned csv_split(char *line, char **fields) {
    unsigned count = 0;
    line[strcspn(line, "\r\n")] = 0;
    for (char *rest = line; rest && count < FIELDS_MAX;)
        fields[count++] = strsep(&rest, ",");
    return count;
}

static void csv_open(struct csv *csv, const char *path) {
    csv->file = fopen(path, "r");
    if (!csv->file)
        fail_msg("cannot read %s", path);
    assert_non_null(fgets(csv->header, sizeof csv->header, csv->file));
    csv->columns = csv_split(csv->header, csv->names);
}

static bool csv_next(struct csv *csv) {
    if (!fgets(csv->line, sizeof csv->line, csv->file)) {
        fclose(csv->file);
        return false;
    }
    csv->count = csv_split(csv->line, csv->fields);
    return true;
}

static const char *csv_get(const struct csv *csv, const char *name) {
    for (unsigned i = 0; i < csv->columns && i < csv->count; i++)
        if (strcmp(csv->names[i], name) == 0)
            return csv->fields[i];
    fail_msg("no column %s", name);
    return "";
}

static uint64_t csv_number(const struct csv *csv, const char *name) { return strtoull(csv_get(csv, name), NULL, 0); }

static uint32_t timing_value(const char *set, const char *parameter) {
    struct csv csv;
    uint32_t value = UINT32_MAX;
    for (csv_open(&csv, FOLDER "timing_sets.csv"); csv_next(&csv);)
        if (strcmp(csv.fields[0], parameter) == 0)
            value = (uint32_t)csv_number(&csv, set);
    assert_int_not_equal(value, UINT32_MAX);
    return value;
}

static void load_set(const char *set, struct dram_params *params) {
    struct arena arena = {0};
    drive_defaults(params, &arena);
    arena_free(&arena);
    params->cl = timing_value(set, "CL");
    params->wl = timing_value(set, "WL");
    params->rcd_read = timing_value(set, "RCDRD");
    params->rcd_write = timing_value(set, "RCDWR");
    params->rp = timing_value(set, "RP");
    params->ras = timing_value(set, "RAS");
    params->rc = timing_value(set, "RC");
    params->rrd = timing_value(set, "RRDS");
    params->rrd_group = timing_value(set, "RRDL");
    params->ccd = timing_value(set, "CCDS");
    params->ccd_group = timing_value(set, "CCDL");
    params->wtr = timing_value(set, "WTRS");
    params->wtr_group = timing_value(set, "WTRL");
    params->rtw = timing_value(set, "RTW");
    params->wr = timing_value(set, "WR");
    params->rtp = timing_value(set, "RTP");
    params->faw = timing_value(set, "FAW");
    params->burst_clocks = timing_value(set, "BLC");
    params->burst_bytes = timing_value(set, "bytes_per_request");
    params->chips = 1;
    params->queue_limit = 1;
    struct csv csv;
    for (csv_open(&csv, FOLDER "address_mapping.csv"); csv_next(&csv);) {
        if (strcmp(csv.fields[0], set) != 0)
            continue;
        unsigned group_bits = (unsigned)csv_number(&csv, "bank_group_bits");
        struct address_masks masks = address_masks_contiguous((unsigned)csv_number(&csv, "offset_bits"),
                                                              (unsigned)csv_number(&csv, "column_bits"),
                                                              group_bits + (unsigned)csv_number(&csv, "bank_bits"),
                                                              (unsigned)csv_number(&csv, "row_bits"));
        params->column_mask = masks.column;
        params->bank_mask = masks.bank;
        params->row_mask = masks.row;
        params->bank_groups = 1U << group_bits;
    }
    assert_int_equal(dram_check(params, NULL), STATUS_OK);
}

/* "ds3_fifo1", "ds3_frfcfs32", "own_frfcfs8"...: false for the models whose rule is another one. */
static bool load_model(const char *model, struct dram_params *params) {
    unsigned window;
    char rest;
    params->command_order = DRAM_OLDEST_FIRST;
    if (strcmp(model, "ds3_fifo1") == 0) {
        params->scheduler = DRAM_FIFO;
        params->window = 1;
        return true;
    }
    if (sscanf(model, "ds3_frfcfs%u%c", &window, &rest) != 1 && sscanf(model, "own_frfcfs%u%c", &window, &rest) != 1)
        return false;
    params->scheduler = DRAM_FR_FCFS;
    params->window = window;
    return true;
}

static void load_stream(const char *set, const char *name) {
    char path[512];
    struct csv csv;
    snprintf(path, sizeof path, FOLDER "streams/%s/%s.csv", set, name);
    stream.count = 0;
    for (csv_open(&csv, path); csv_next(&csv);) {
        stream.dependent = csv.columns > 3;
        stream.items[stream.count++] = (struct stream_item){
            .cycle = csv_number(&csv, "cycle"),
            .address = csv_number(&csv, "addr"),
            .write = csv_get(&csv, "rw")[0] == 'W',
            .after = stream.dependent ? strtoll(csv_get(&csv, "dep"), NULL, 0) : -1,
            .gap = stream.dependent ? csv_number(&csv, "gap") : 0,
        };
    }
    assert_true(stream.count > 400);
}

static void check_legal(const char *set, const char *name, const char *model) {
    if (outcome.checker.violations)
        fail_msg("%s %s %s: %lu violations, the first: %s", set, name, model, outcome.checker.violations,
                 outcome.checker.first);
}

static unsigned compare_requests(const char *set, const char *name, const char *model) {
    char path[512], accepted[64], done[64];
    struct csv csv;
    unsigned differences = 0, row = 0;
    snprintf(path, sizeof path, FOLDER "per_request/%s/%s.csv", set, name);
    snprintf(accepted, sizeof accepted, "%s_acc", model);
    snprintf(done, sizeof done, "%s_done", model);
    for (csv_open(&csv, path); csv_next(&csv); row++) {
        uint64_t a = csv_number(&csv, accepted), d = csv_number(&csv, done);
        if ((a != outcome.accepted[row] || d != outcome.done[row]) && differences++ == 0)
            print_error("%s %s %s request %u: accepted %" PRIu64 " done %" PRIu64 ", reference %" PRIu64 " %" PRIu64
                        "\n",
                        set, name, model, row, outcome.accepted[row], outcome.done[row], a, d);
    }
    assert_int_equal(row, stream.count);
    return differences;
}

static void dram_requests_equal_reference(void **state) {
    (void)state;
    static const char *const models[] = {"ds3_frfcfs32", "ds3_fifo1"};
    unsigned differences = 0, requests = 0, runs = 0;
    for (unsigned s = 0; s < SETS; s++)
        for (unsigned n = 0; n < STREAMS; n++)
            for (unsigned m = 0; m < 2; m++) {
                struct dram_params params;
                load_set(sets[s], &params);
                assert_true(load_model(models[m], &params));
                load_stream(sets[s], streams[n]);
                drive_run(&params, &stream, false, &outcome);
                check_legal(sets[s], streams[n], models[m]);
                differences += compare_requests(sets[s], streams[n], models[m]);
                requests += stream.count;
                runs++;
            }
    print_message("%u runs, %u requests: %u differ in accept or completion cycle\n", runs, requests, differences);
    assert_int_equal(runs, 104);
    assert_int_equal(differences, 0);
}

static void dram_commands_equal_reference(void **state) {
    (void)state;
    static const char *const kinds[] = {"RD", "WR", "ACT", "PRE"};
    unsigned traces = 0, commands = 0;
    for (unsigned s = 0; s < SETS; s++)
        for (unsigned n = 0; n < STREAMS; n++) {
            char path[512];
            snprintf(path, sizeof path, FOLDER "command_traces/%s_%s_frfcfs32.csv", sets[s], streams[n]);
            if (access(path, R_OK) != 0)
                continue;
            struct dram_params params;
            load_set(sets[s], &params);
            load_model("ds3_frfcfs32", &params);
            load_stream(sets[s], streams[n]);
            drive_run(&params, &stream, false, &outcome);
            struct csv csv;
            unsigned row = 0;
            for (csv_open(&csv, path); csv_next(&csv); row++) {
                assert_true(row < outcome.commands);
                const struct dram_command *command = &outcome.trace[row];
                assert_int_equal(command->cycle, csv_number(&csv, "cycle"));
                assert_string_equal(kinds[command->kind], csv_get(&csv, "cmd"));
                assert_int_equal(command->bank, csv_number(&csv, "flat_bank"));
                assert_int_equal(command->row, csv_number(&csv, "row"));
                assert_int_equal(command->column, csv_number(&csv, "col"));
            }
            assert_int_equal(row, outcome.commands);
            traces++;
            commands += row;
        }
    print_message("%u traces, %u commands equal\n", traces, commands);
    assert_int_equal(traces, 14);
}

/* Every line of the summary whose rule is ours: windows of 8, 16, 32 and 64, and the serial FIFO. */
static void dram_totals_equal_reference(void **state) {
    (void)state;
    struct csv csv;
    unsigned lines = 0;
    for (csv_open(&csv, FOLDER "results_summary.csv"); csv_next(&csv);) {
        const char *set = csv_get(&csv, "set"), *name = csv_get(&csv, "stream"), *model = csv_get(&csv, "model");
        struct dram_params params;
        load_set(set, &params);
        if (!load_model(model, &params))
            continue;
        load_stream(set, name);
        drive_run(&params, &stream, false, &outcome);
        check_legal(set, name, model);
        const struct dram_stats *stats = &outcome.stats;
        double read_latency = stats->reads ? (double)stats->read_cycles / (double)stats->reads : 0;
        if (outcome.drain != csv_number(&csv, "drain_cycles") || stats->activates != csv_number(&csv, "acts") ||
            stats->precharges != csv_number(&csv, "pres") || stats->reads != csv_number(&csv, "reads") ||
            stats->writes != csv_number(&csv, "writes") ||
            fabs(read_latency - strtod(csv_get(&csv, "avg_read_lat"), NULL)) > 0.0006 ||
            stats->row_hits != stats->requests - stats->activates ||
            stats->bus_busy_cycles != stats->requests * params.burst_clocks)
            fail_msg("%s %s %s: drain %" PRIu64 " activates %" PRIu64 " precharges %" PRIu64 " read latency %.3f", set,
                     name, model, outcome.drain, stats->activates, stats->precharges, read_latency);
        lines++;
    }
    print_message("%u lines of the summary equal\n", lines);
    assert_int_equal(lines, SETS * STREAMS * 5);
}

/* Drain within 2 % of the other simulator where the reference says the rule does not matter. */
static void dram_drain_is_near_the_second_simulator(void **state) {
    (void)state;
    static const char *const near[] = {"seq_read", "rowhit_bursts", "bank_interleave", "rand_read", "bursty"};
    struct csv csv;
    double worst = 0;
    for (csv_open(&csv, FOLDER "results_summary.csv"); csv_next(&csv);) {
        const char *set = csv_get(&csv, "set"), *name = csv_get(&csv, "stream");
        bool wanted = false;
        for (unsigned i = 0; i < 5; i++)
            wanted = wanted || strcmp(near[i], name) == 0;
        if (!wanted || strcmp(csv_get(&csv, "model"), "ram2_rowhit") != 0)
            continue;
        struct dram_params params;
        load_set(set, &params);
        load_model("ds3_frfcfs32", &params);
        load_stream(set, name);
        drive_run(&params, &stream, false, &outcome);
        double reference = (double)csv_number(&csv, "drain_cycles");
        double difference = fabs((double)outcome.drain - reference) / reference;
        worst = difference > worst ? difference : worst;
    }
    print_message("worst drain difference %.2f %%\n", worst * 100);
    assert_true(worst <= 0.02);
}

static void dram_meets_the_formulas(void **state) {
    (void)state;
    struct csv csv;
    unsigned checked = 0;
    for (csv_open(&csv, FOLDER "analytic_bounds.csv"); csv_next(&csv);) {
        const char *quantity = csv_get(&csv, "quantity"), *kind = csv_get(&csv, "kind");
        if (strncmp(quantity, "drain", 5) != 0)
            continue;
        struct dram_params params;
        load_set(csv_get(&csv, "set"), &params);
        load_stream(csv_get(&csv, "set"), csv_get(&csv, "stream"));
        uint64_t value = csv_number(&csv, "analytic_value");
        load_model("ds3_fifo1", &params);
        drive_run(&params, &stream, false, &outcome);
        load_model("ds3_frfcfs32", &params);
        drive_run(&params, &stream, false, &other);
        if (strcmp(kind, "exact") == 0 || strcmp(kind, "exact for FIFO") == 0)
            assert_int_equal(outcome.drain, value);
        if (strcmp(kind, "exact") == 0)
            assert_int_equal(other.drain, value);
        if (strncmp(kind, "lower bound", 11) == 0)
            assert_true(outcome.drain >= value && other.drain >= value);
        checked++;
    }
    assert_true(checked >= 4 * 6);
}

/* Unloaded latency of a hit, a closed row and a conflict, whatever the scheduler and the order. */
static void dram_unloaded_latency_is_exact(void **state) {
    (void)state;
    for (unsigned s = 0; s < SETS; s++)
        for (unsigned variant = 0; variant < 4; variant++) {
            struct dram_params params;
            load_set(sets[s], &params);
            params.scheduler = variant & 1;
            params.command_order = variant >> 1;
            load_stream(sets[s], "rand_lowload");
            drive_run(&params, &stream, false, &outcome);
            char path[512];
            struct csv csv;
            snprintf(path, sizeof path, FOLDER "per_request/%s/rand_lowload.csv", sets[s]);
            unsigned row = 0;
            for (csv_open(&csv, path); csv_next(&csv); row++) {
                const char *class = csv_get(&csv, "row_class");
                uint64_t expected = 1 + params.cl + params.burst_clocks;
                expected += strcmp(class, "hit") == 0 ? 0 : params.rcd_read;
                expected += strcmp(class, "conflict") == 0 ? params.rp : 0;
                assert_int_equal(outcome.done[row] - outcome.accepted[row], expected);
            }
        }
}

/* A sleeping channel is the same channel: every stream, set, scheduler and order. */
static void dram_every_cycle_equals_named_cycles(void **state) {
    (void)state;
    for (unsigned s = 0; s < SETS; s++)
        for (unsigned n = 0; n < STREAMS; n++)
            for (unsigned variant = 0; variant < 4; variant++) {
                if (strcmp(streams[n], "index_open") == 0 && variant > 0)
                    continue;
                struct dram_params params;
                load_set(sets[s], &params);
                params.scheduler = variant & 1;
                params.command_order = variant >> 1;
                load_stream(sets[s], streams[n]);
                drive_run(&params, &stream, false, &outcome);
                drive_run(&params, &stream, true, &other);
                check_legal(sets[s], streams[n], variant & 1 ? "fr-fcfs" : "fifo");
                assert_int_equal(outcome.commands, other.commands);
                for (unsigned i = 0; i < stream.count; i++)
                    assert_true(outcome.done[i] == other.done[i] && outcome.accepted[i] == other.accepted[i]);
                assert_memory_equal(&outcome.stats, &other.stats, sizeof outcome.stats);
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dram_requests_equal_reference),
        cmocka_unit_test(dram_commands_equal_reference),
        cmocka_unit_test(dram_totals_equal_reference),
        cmocka_unit_test(dram_drain_is_near_the_second_simulator),
        cmocka_unit_test(dram_meets_the_formulas),
        cmocka_unit_test(dram_unloaded_latency_is_exact),
        cmocka_unit_test(dram_every_cycle_equals_named_cycles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
