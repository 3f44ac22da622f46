/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/comparison.h"
#include "cli/commands.h"
#include "cli/energy.h"
#include "cli/summary.h"
#include "result/result.h"
#include <math.h>
#include <string.h>

/* A figure of the table, and how it stands beside the first variant's: a share by its difference in points, the others
 * in percent. */
enum figure_kind { COUNT, RATE, SHARE };

struct figure {
    const char *heading;
    enum figure_kind kind;
    double value; /* NAN: there is none */
};

/* Figures of one variant, in the order of the columns. */
struct figure_row {
    struct figure figures[TABLE_COLUMNS_MAX - 1];
    unsigned count;
};

static void add(struct figure_row *row, const char *heading, enum figure_kind kind, double value) {
    row->figures[row->count++] = (struct figure){heading, kind, value};
}

static double quotient(uint64_t part, uint64_t whole) { return whole ? (double)part / (double)whole : NAN; }

static void add_share(struct figure_row *row, const char *heading, uint64_t part, uint64_t whole) {
    add(row, heading, SHARE, 100 * quotient(part, whole));
}

/* Where the time went: lanes of the groups issued in quarters of a warp, and the slots in which nothing was. */
static void time_row(const struct variant *variant, struct figure_row *row) {
    static const char *const quarters[] = {"W1-8", "W9-16", "W17-24", "W25-32"};
    const struct gpu_stats *timed = &variant->timed;
    add(row, "cycles", COUNT, (double)timed->cycles);
    add(row, "IPC", RATE, quotient(variant->stats.thread_instructions, timed->cycles));
    add_share(row, "SIMD %", variant->stats.active_lanes, variant->stats.lane_slots);
    for (unsigned i = 0; i < CYCLE_CLASSES_ISSUED; i += 2)
        add_share(row, quarters[i / 2], timed->sm.in_slots[i] + timed->sm.in_slots[i + 1], timed->sm.slots);
    add_share(row, "memory", timed->sm.memory, timed->sm.slots);
    add_share(row, "idle", timed->sm.idle, timed->sm.slots);
    add_share(row, "stall", timed->sm.stall, timed->sm.slots);
}

/* Accesses that a cache did not refuse: one refused comes again. */
static uint64_t served(const struct cache_stats *cache) { return cache->accesses - summary_refused(cache); }

static void memory_row(const struct variant *variant, struct figure_row *row) {
    const struct gpu_stats *timed = &variant->timed;
    add(row, "accesses", COUNT, (double)timed->sm.global_accesses);
    add(row, "transactions", COUNT, (double)timed->sm.transactions);
    add_share(row, "L1 miss %", timed->l1.misses, served(&timed->l1));
    add_share(row, "pending %", timed->l1.pending, served(&timed->l1));
    add_share(row, "L2 miss %", timed->l2.misses, served(&timed->l2));
    add(row, "DRAM bytes", COUNT, (double)timed->dram.bytes);
    add_share(row, "row hit %", timed->dram.row_hits, timed->dram.requests);
    add_share(row, "bandwidth %", timed->dram.bus_busy_cycles, timed->dram_cycles);
}

/* Energy beside time, and its parts in percent. */
static void energy_row(const struct variant *variant, struct figure_row *row) {
    static const char *const headings[ENERGY_PARTS] = {"issue %", "registers %", "lanes %", "SM memory %",
                                                       "L2 %",    "DRAM %",      "static %"};
    const struct energy *energy = &variant->energy;
    add(row, "µs", RATE, energy->seconds * 1e6);
    add(row, "µJ", RATE, energy->total_nanojoules * 1e-3);
    add(row, "W", RATE, energy->watts);
    for (unsigned i = 0; i < ENERGY_PARTS; i++) {
        const double part = energy_part(energy, (enum energy_part)i);
        add(row, headings[i], SHARE, energy->total_nanojoules > 0 ? 100 * part / energy->total_nanojoules : NAN);
    }
}

static void functional_row(const struct variant *variant, struct figure_row *row) {
    const struct run_stats *stats = &variant->stats;
    add(row, "warp instr.", COUNT, (double)stats->warp_instructions);
    add(row, "thread instr.", COUNT, (double)stats->thread_instructions);
    add_share(row, "SIMD %", stats->active_lanes, stats->lane_slots);
    add_share(row, "full %", stats->full_groups, stats->warp_instructions);
    add(row, "branches", COUNT, (double)stats->branches);
    add(row, "divergent", COUNT, (double)stats->divergent_branches);
}

static const char *value_text(struct arena *arena, const struct figure *figure) {
    if (isnan(figure->value))
        return "-";
    return figure->kind == COUNT ? with_commas(arena, (uint64_t)figure->value)
                                 : arena_printf(arena, "%.1f", figure->value);
}

static const char *change_text(struct arena *arena, const struct figure *figure, const struct figure *first) {
    const double change = figure->value - first->value;
    if (figure->kind == SHARE)
        return isnan(change) ? "-" : arena_printf(arena, "%+.1f", change);
    return isnan(change) || first->value == 0 ? "-" : arena_printf(arena, "%+.1f %%", 100 * change / first->value);
}

static bool ran(const struct variant *variant) { return strcmp(variant->outcome, "needs time") != 0; }

static void print_rows(const char *what, const struct variant *variants, unsigned count,
                       void (*fill)(const struct variant *, struct figure_row *), unsigned optional, FILE *to) {
    struct arena arena = {0};
    unsigned first = 0;
    while (first + 1 < count && !ran(&variants[first]))
        first++;
    struct figure_row beside = {0};
    fill(&variants[first], &beside);
    struct table table = {.arena = &arena, .columns = beside.count + 1, .left = 1, .elastic = 0, .optional = optional};
    table_add(&table, what);
    for (unsigned i = 0; i < beside.count; i++)
        table_add(&table, beside.figures[i].heading);
    for (unsigned v = 0; v < count; v++) {
        const struct variant *variant = &variants[v];
        struct figure_row row = {0};
        fill(variant, &row);
        table_add(&table, variant->outcome[0] ? arena_printf(&arena, "%s (%s)", variant->label, variant->outcome)
                                              : variant->label);
        for (unsigned i = 0; i < row.count; i++)
            table_add(&table, ran(variant) ? value_text(&arena, &row.figures[i]) : "-");
        if (v == first || !ran(variant))
            continue;
        table_add(&table, "");
        for (unsigned i = 0; i < row.count; i++)
            table_add(&table, change_text(&arena, &row.figures[i], &beside.figures[i]));
    }
    table_print(&table, to);
    arena_free(&arena);
}

static void print_energy(const char *what, const struct variant *variants, unsigned count, FILE *to) {
    bool all = true, same = true;
    for (unsigned i = 0; i < count; i++) {
        all &= variants[i].has_energy;
        same &= variants[i].judged == variants[0].judged && variants[i].error == variants[0].error;
    }
    if (!all)
        return;
    fputc('\n', to);
    print_rows(what, variants, count, energy_row, 0x3f0, to); /* a narrow terminal shows the sum alone */
    for (unsigned i = 0; i < (same ? 1 : count); i++)
        energy_print_error(same ? NULL : variants[i].label, variants[i].judged, variants[i].error, to);
}

void comparison_print(const char *what, const struct variant *variants, unsigned count, bool in_time, FILE *to) {
    if (in_time) {
        print_rows(what, variants, count, time_row, 0xf0, to); /* a narrow terminal shows no widths of groups, ... */
        fputc('\n', to);
        print_rows(what, variants, count, memory_row, 0xf2, to); /* no accesses, pending hits, L2, rows, ... */
        print_energy(what, variants, count, to);
    } else
        print_rows(what, variants, count, functional_row, 0x34, to); /* no thread instructions, branches */
    print(to, "\n  below each row: beside the first, counts in %%, shares in points%s\n",
          in_time ? "; W1-8 to stall: % of the schedulers' slots" : "");
}
