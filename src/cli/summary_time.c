/* SPDX-License-Identifier: Apache-2.0 */
/* The part of a summary that a run in time has: cycles, stalls, memory. */
#include "cli/commands.h"
#include "cli/energy.h"
#include "cli/summary.h"
#include "result/result.h"
#include <stdlib.h>

uint64_t summary_refused(const struct cache_stats *cache) {
    return cache->blocked_mshr + cache->blocked_merge + cache->blocked_ways + cache->blocked_room;
}

/* Where too little to be shown is a dash. */
static const char *share(struct arena *arena, uint64_t part, uint64_t whole) {
    const double percents = whole ? 100.0 * (double)part / (double)whole : 0;
    return percents >= 0.05 ? arena_printf(arena, "%.1f", percents) : "-";
}

static void print_classes(const struct sm_stats *sm, struct arena *arena, FILE *to) {
    struct table table = {.arena = arena, .columns = CYCLE_CLASSES, .elastic = -1};
    for (unsigned i = 0; i < CYCLE_CLASSES; i++)
        table_add(&table, cycle_class_names[i]);
    for (unsigned i = 0; i < CYCLE_CLASSES; i++)
        table_add(&table, share(arena, cycle_class(sm->in_slots, i), sm->slots));
    fputs("\n  where the schedulers' slots went, in %: issued with so many lanes, or not\n", to);
    table_print(&table, to);
    if (sm->stall * 1000 < sm->slots)
        return;
    fputs("  of the stalls, for want of", to);
    const char *before = " ";
    for (unsigned i = 0; i < SLOT_STALL_COUNT; i++) {
        const uint64_t slots = sm->in_slots[SLOT_STALL + i];
        if (slots)
            print(to, "%s%s %s %%", before, stall_stage_names[i], share(arena, slots, sm->stall)), before = ", ";
    }
    fputc('\n', to);
}

static void add_cache(struct table *table, const char *name, const struct cache_stats *cache) {
    const uint64_t refused = summary_refused(cache), served = cache->accesses - refused;
    table_add(table, name);
    table_add(table, with_commas(table->arena, served));
    table_add(table, summary_percent(table->arena, cache->hits, served));
    table_add(table, summary_percent(table->arena, cache->pending, served));
    table_add(table, summary_percent(table->arena, cache->misses, served));
    table_add(table, with_commas(table->arena, refused));
    table_add(table, "");
}

/* What the texture units looked up, in the L1 or in caches of theirs; what was on its way is a miss. */
static void add_texels(struct table *table, const struct sm_stats *sm) {
    table_add(table, "texels");
    table_add(table, with_commas(table->arena, sm->texture_sectors));
    table_add(table, summary_percent(table->arena, sm->texture_hits, sm->texture_sectors));
    table_add(table, "");
    table_add(table, summary_percent(table->arena, sm->texture_misses, sm->texture_sectors));
    table_add(table, "");
    table_add(table, "");
}

static void print_memory(const struct gpu_stats *sum, struct arena *arena, FILE *to) {
    static const char *const heading[] = {"memory", "accesses", "hits", "pending", "misses", "refused", "bandwidth"};
    struct table table = {.arena = arena, .columns = 7, .left = 1, .elastic = -1};
    for (unsigned i = 0; i < table.columns; i++)
        table_add(&table, heading[i]);
    add_cache(&table, "L1", &sum->l1);
    if (sum->sm.texture_requests)
        add_texels(&table, &sum->sm);
    add_cache(&table, "L2", &sum->l2);
    table_add(&table, "DRAM rows");
    table_add(&table, with_commas(arena, sum->dram.requests));
    table_add(&table, summary_percent(arena, sum->dram.row_hits, sum->dram.requests));
    table_add(&table, "");
    table_add(&table, summary_percent(arena, sum->dram.row_misses, sum->dram.requests));
    table_add(&table, "");
    table_add(&table, summary_percent(arena, sum->dram.bus_busy_cycles, sum->dram_cycles));
    fputc('\n', to);
    table_print(&table, to);
}

static void print_clusters(const struct dsm_stats *dsm, struct arena *arena, FILE *to) {
    print(to,
          "\n  clusters: %s accesses to shared memory of other blocks, %s messages there, %s bytes there and %s back\n",
          with_commas(arena, dsm->accesses), with_commas(arena, dsm->requests), with_commas(arena, dsm->request_bytes),
          with_commas(arena, dsm->reply_bytes));
    print(to,
          "  %s barriers of clusters by block, %s cycles each from a block's last arrival; %s cycles without room to "
          "send\n",
          with_commas(arena, dsm->barriers),
          with_commas(arena, dsm->barriers ? dsm->barrier_cycles / dsm->barriers : 0),
          with_commas(arena, dsm->blocked_cycles));
}

void summary_time_sum(const struct gpu_stats *sum, struct arena *arena, FILE *to) {
    print_classes(&sum->sm, arena, to);
    print_memory(sum, arena, to);
    if (sum->has_clusters)
        print_clusters(&sum->dsm, arena, to);
}

void summary_time_print(const struct run *run, bool energy, struct arena *arena, FILE *to) {
    struct gpu_stats sum;
    struct run_stats stats;
    if (!result_total_timed(run, NULL, &sum, arena))
        return;
    summary_time_sum(&sum, arena, to);
    result_total(run, NULL, &stats);
    if (energy)
        energy_print(run->machine, &sum, &stats, arena, to);
}

static int by_slots(const void *a, const void *b) {
    const struct line_stats *left = a, *right = b;
    const uint64_t one = lines_slots(&left->timed), other = lines_slots(&right->timed);
    if (one != other)
        return one > other ? -1 : 1;
    if (left->file != right->file)
        return left->file < right->file ? -1 : 1;
    return (left->line > right->line) - (left->line < right->line);
}

/* Shares of all slots there were, so that a row's classes add up to its first number. */
static void add_slots(struct table *table, const struct sm_inst_stats *stats, uint64_t all) {
    uint64_t issued = 0;
    for (unsigned i = 0; i < CYCLE_CLASSES_ISSUED; i++)
        issued += cycle_class(stats->slots, i);
    table_add(table, share(table->arena, lines_slots(stats), all));
    table_add(table, share(table->arena, issued, all));
    for (unsigned i = CYCLE_CLASSES_ISSUED; i < CYCLE_CLASSES; i++)
        table_add(table, share(table->arena, cycle_class(stats->slots, i), all));
}

/* What warps waited for longest before they issued an instruction of the line. */
static const char *main_wait(struct arena *arena, const struct sm_inst_stats *stats) {
    const unsigned most = lines_main_wait(stats);
    uint64_t sum = 0;
    for (unsigned i = 0; i < WAIT_COUNT; i++)
        sum += stats->waits[i];
    if (!sum)
        return "-";
    return arena_printf(arena, "%s %.0f %%", sm_wait_names[most], 100.0 * (double)stats->waits[most] / (double)sum);
}

void summary_time_lines(struct run *run, const struct gpu_stats *timed, const struct summary_lines *lines,
                        struct arena *arena, FILE *to) {
    static const char *const heading[] = {"line", "source", "slots", "issued",   "memory",
                                          "idle", "stall",  "SIMD",  "waits for"};
    const uint64_t all = timed->sm.slots;
    const struct sm_inst_stats *nobody = &timed->nobody;
    qsort(lines->items, lines->count, sizeof *lines->items, by_slots);
    struct table table = {
        .arena = arena, .columns = 9, .left = 1u << 8 | 3, .elastic = 1, .optional = 1u << 7 | 1u << 8};
    for (unsigned i = 0; i < table.columns; i++)
        table_add(&table, heading[i]);
    for (unsigned i = 0; i < lines->shown; i++) {
        const struct line_stats *line = &lines->items[i];
        summary_add_line(&table, run, line);
        add_slots(&table, &line->timed, all);
        table_add(&table, share(arena, line->sum.lanes, line->sum.issues * run->machine->warp_size));
        table_add(&table, main_wait(arena, &line->timed));
    }
    if (lines_slots(nobody) * 1000 >= all) {
        table_add(&table, "-");
        table_add(&table, "(schedulers without a warp)");
        add_slots(&table, nobody, all);
        table_add(&table, "");
        table_add(&table, "");
    }
    fputs("\n  the same by line: slots in which it issued, or the oldest warp waited at it\n", to);
    table_print(&table, to);
}
