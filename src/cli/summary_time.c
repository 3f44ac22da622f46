#include "cli/commands.h"
#include "cli/summary.h"
#include "device/result.h"
#include <stdlib.h>

static const char *percent(struct arena *arena, uint64_t part, uint64_t whole) {
    return whole ? arena_printf(arena, "%.1f %%", 100.0 * (double)part / (double)whole) : "-";
}

static void print_classes(const struct sm_stats *sm, struct arena *arena, FILE *to) {
    struct table table = {.arena = arena, .columns = CYCLE_CLASSES + 1, .left = 1, .elastic = -1};
    table_add(&table, "slots");
    for (unsigned i = 0; i < CYCLE_CLASSES; i++)
        table_add(&table, cycle_class_names[i]);
    table_add(&table, "%");
    for (unsigned i = 0; i < CYCLE_CLASSES; i++) {
        const uint64_t slots = cycle_class(sm, i);
        table_add(&table, slots ? arena_printf(arena, "%.1f", 100.0 * (double)slots / (double)sm->slots) : "-");
    }
    fputc('\n', to);
    table_print(&table, to);
}

static void add_cache(struct table *table, const char *name, const struct cache_stats *cache) {
    const uint64_t blocked = cache->blocked_mshr + cache->blocked_merge + cache->blocked_ways + cache->blocked_room;
    const uint64_t served = cache->accesses - blocked; /* one that is refused comes again */
    table_add(table, name);
    table_add(table, with_commas(table->arena, served));
    table_add(table, percent(table->arena, cache->hits, served));
    table_add(table, percent(table->arena, cache->pending, served));
    table_add(table, percent(table->arena, cache->misses, served));
    table_add(table, with_commas(table->arena, blocked));
    table_add(table, "");
}

static void print_memory(const struct gpu_stats *sum, struct arena *arena, FILE *to) {
    static const char *const heading[] = {"memory", "accesses", "hits", "pending", "misses", "refused", "bandwidth"};
    struct table table = {.arena = arena, .columns = 7, .left = 1, .elastic = -1};
    for (unsigned i = 0; i < table.columns; i++)
        table_add(&table, heading[i]);
    add_cache(&table, "L1", &sum->l1);
    add_cache(&table, "L2", &sum->l2);
    table_add(&table, "DRAM rows");
    table_add(&table, with_commas(arena, sum->dram.requests));
    table_add(&table, percent(arena, sum->dram.row_hits, sum->dram.requests));
    table_add(&table, "");
    table_add(&table, percent(arena, sum->dram.row_misses, sum->dram.requests));
    table_add(&table, "");
    table_add(&table, percent(arena, sum->dram.bus_busy_cycles, sum->dram_cycles));
    fputc('\n', to);
    table_print(&table, to);
}

void summary_time_print(const struct run *run, struct arena *arena, FILE *to) {
    struct gpu_stats sum;
    if (!result_total_timed(run, &sum, arena))
        return;
    print_classes(&sum.sm, arena, to);
    print_memory(&sum, arena, to);
}

static uint64_t waits_of(const struct line_stats *line) {
    uint64_t sum = 0;
    for (unsigned k = 0; k < WAIT_COUNT; k++)
        sum += line->timed.waits[k];
    return sum;
}

static int by_wait(const void *a, const void *b) {
    const struct line_stats *left = a, *right = b;
    const uint64_t one = waits_of(left), other = waits_of(right);
    if (one != other)
        return one > other ? -1 : 1;
    if (left->file != right->file)
        return left->file < right->file ? -1 : 1;
    return (left->line > right->line) - (left->line < right->line);
}

/* Every number is a share of all the waiting there was, so that a row's reasons add up to its first column. */
void summary_time_lines(struct run *run, const struct gpu_stats *timed, struct line_stats *lines, unsigned count,
                        unsigned shown, struct arena *arena, FILE *to) {
    uint64_t totals[WAIT_COUNT], all = 0;
    result_waits(timed, run->module->code_count, totals);
    unsigned reasons = 0;
    for (unsigned k = 0; k < WAIT_COUNT; k++) {
        all += totals[k];
        reasons += totals[k] != 0;
    }
    qsort(lines, count, sizeof *lines, by_wait);
    struct table table = {.arena = arena, .columns = reasons + 4, .left = 3, .elastic = 1};
    table_add(&table, "line");
    table_add(&table, "source");
    table_add(&table, "waits %");
    for (unsigned k = 0; k < WAIT_COUNT; k++)
        if (totals[k])
            table_add(&table, sm_wait_names[k]);
    table_add(&table, "SIMD eff.");
    for (unsigned i = 0; i < shown; i++) {
        const struct line_stats *line = &lines[i];
        const uint64_t waited = waits_of(line);
        summary_add_line(&table, run, line);
        table_add(&table, all ? arena_printf(arena, "%.1f", 100.0 * (double)waited / (double)all) : "-");
        for (unsigned k = 0; k < WAIT_COUNT; k++) {
            if (!totals[k])
                continue;
            const double share = 100.0 * (double)line->timed.waits[k] / (double)all;
            table_add(&table, share >= 0.05 ? arena_printf(arena, "%.1f", share) : "-");
        }
        table_add(&table, percent(arena, line->sum.lanes, line->sum.issues * run->machine->warp_size));
    }
    fputc('\n', to);
    table_print(&table, to);
}
