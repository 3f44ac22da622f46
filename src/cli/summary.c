#include "cli/summary.h"
#include "cli/commands.h"
#include "cli/table.h"
#include "device/lines.h"
#include "device/result.h"
#include <stdlib.h>
#include <string.h>

/* Launches of one kernel and shape share a row. */
struct row {
    const struct launch *launch;
    unsigned launches;
    struct run_stats stats;
};

static const char *sizes_text(struct arena *arena, const uint32_t sizes[3]) {
    if (sizes[2] > 1)
        return arena_printf(arena, "%u x %u x %u", sizes[0], sizes[1], sizes[2]);
    if (sizes[1] > 1)
        return arena_printf(arena, "%u x %u", sizes[0], sizes[1]);
    return arena_printf(arena, "%u", sizes[0]);
}

static const char *percent(struct arena *arena, double part, double whole) {
    return whole > 0 ? arena_printf(arena, "%.1f %%", 100 * part / whole) : "-";
}

static bool same_shape(const struct launch *a, const struct launch *b) {
    return a->kernel == b->kernel && memcmp(a->grid, b->grid, sizeof a->grid) == 0 &&
           memcmp(a->block, b->block, sizeof a->block) == 0;
}

static unsigned collect_rows(const struct run *run, struct row *rows) {
    unsigned count = 0;
    for (unsigned i = 0; i < run->done; i++) {
        unsigned k = 0;
        while (k < count && !same_shape(rows[k].launch, &run->launches[i]))
            k++;
        if (k == count)
            rows[count++] = (struct row){.launch = &run->launches[i]};
        rows[k].launches++;
        stat_merge(&rows[k].stats, &run->results[i].stats, run_stats_table);
    }
    return count;
}

static void add_row(struct table *table, const char *name, const char *grid, const char *block,
                    const struct run_stats *stats) {
    struct arena *arena = table->arena;
    table_add(table, name);
    table_add(table, grid);
    table_add(table, block);
    table_add(table, with_commas(arena, stats->warp_instructions));
    table_add(table, with_commas(arena, stats->thread_instructions));
    table_add(table, percent(arena, (double)stats->active_lanes, (double)stats->lane_slots));
    table_add(table, with_commas(arena, stats->branches));
    table_add(table, with_commas(arena, stats->divergent_branches));
}

static void print_launches(const struct run *run, struct arena *arena, FILE *to) {
    static const char *const heading[] = {"kernel",        "grid",      "block",    "warp instr.",
                                          "thread instr.", "SIMD eff.", "branches", "divergent"};
    struct row *rows = ARENA_ARRAY(arena, struct row, run->done);
    unsigned count = collect_rows(run, rows);
    struct table table = {.arena = arena, .columns = 8, .left = 1, .elastic = 0};
    for (unsigned i = 0; i < table.columns; i++)
        table_add(&table, heading[i]);
    for (unsigned i = 0; i < count; i++) {
        const char *name = bind_source_name(arena, rows[i].launch->kernel->name);
        if (rows[i].launches > 1)
            name = arena_printf(arena, "%s, %u launches", name, rows[i].launches);
        add_row(&table, name, sizes_text(arena, rows[i].launch->grid), sizes_text(arena, rows[i].launch->block),
                &rows[i].stats);
    }
    if (count > 1) {
        struct run_stats total;
        result_total(run, &total);
        add_row(&table, "total", "", "", &total);
    }
    table_print(&table, to);
}

static int by_work(const void *a, const void *b) {
    const struct line_stats *left = a, *right = b;
    if (left->sum.threads != right->sum.threads)
        return left->sum.threads > right->sum.threads ? -1 : 1;
    if (left->file != right->file)
        return left->file < right->file ? -1 : 1;
    return (left->line > right->line) - (left->line < right->line);
}

/* The text without its indentation, control characters as blanks. */
static const char *trimmed(struct arena *arena, const char *text) {
    char *copy = arena_strdup(arena, text + strspn(text, " \t"));
    for (char *c = copy; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = ' ';
    return copy;
}

/* Counts per instruction over all launches. */
static struct inst_stats *sum_instructions(const struct run *run, struct arena *arena, uint64_t *threads) {
    struct inst_stats *sum = ARENA_ARRAY(arena, struct inst_stats, run->module->code_count);
    for (unsigned i = 0; i < run->done; i++)
        for (uint32_t pc = 0; run->results[i].instructions && pc < run->module->code_count; pc++) {
            const struct inst_stats *one = &run->results[i].instructions[pc];
            sum[pc].issues += one->issues;
            sum[pc].lanes += one->lanes;
            sum[pc].threads += one->threads;
            sum[pc].divergent += one->divergent;
            *threads += one->threads;
        }
    return sum;
}

static void print_lines(struct run *run, struct arena *arena, unsigned limit, FILE *to) {
    static const char *const heading[] = {"line", "source", "thread instr.", "share", "SIMD eff.", "divergent"};
    uint64_t all = 0;
    unsigned count;
    struct line_stats *lines = lines_collect(run->module, sum_instructions(run, arena, &all), arena, &count);
    if (!count || !limit)
        return;
    qsort(lines, count, sizeof *lines, by_work);
    unsigned shown = count < limit ? count : limit;
    struct table table = {.arena = arena, .columns = 6, .left = 3, .elastic = 1};
    for (unsigned i = 0; i < table.columns; i++)
        table_add(&table, heading[i]);
    for (unsigned i = 0; i < shown; i++) {
        const struct line_stats *line = &lines[i];
        table_add(&table, arena_printf(arena, "%s:%u", lines_file_name(run->module, line->file), line->line));
        table_add(&table, trimmed(arena, source_line(&run->sources, line->file, line->line)));
        table_add(&table, with_commas(arena, line->sum.threads));
        table_add(&table, percent(arena, (double)line->sum.threads, (double)all));
        table_add(&table, percent(arena, (double)line->sum.lanes, (double)line->sum.issues * run->machine->warp_size));
        table_add(&table, with_commas(arena, line->sum.divergent));
    }
    fputc('\n', to);
    table_print(&table, to);
    if (shown < count)
        fprintf(to, "  and %u more lines; --lines %u shows all\n", count - shown, count);
}

static void print_checks(const struct run *run, struct arena *arena, FILE *to) {
    static const char *const kinds[] = {"equals", "hash", "sum"};
    for (unsigned i = 0; run->checked && i < run->file->check_count; i++) {
        const struct launch_check *check = &run->file->checks[i];
        const struct check_result *result = &run->checks[i];
        fprintf(to, "%s  check %s %s: ", i ? "" : "\n", run->file->buffers[check->buffer].name, kinds[check->kind]);
        if (check->kind != LAUNCH_CHECK_EQUALS)
            fprintf(to, "%s\n", result->passed ? "as expected" : "NOT as expected");
        else if (result->passed)
            fprintf(to, "all %s elements as expected\n", with_commas(arena, result->compared));
        else
            fprintf(to, "%s of %s elements NOT as expected\n", with_commas(arena, result->mismatches),
                    with_commas(arena, result->compared));
    }
}

static void print_next_step(const struct run *run, FILE *to) {
    struct run_stats total;
    result_total(run, &total);
    const char *name = run->file->name;
    if (run->failed)
        fprintf(to, "\nNext: heddle run %s --dump %s=out.npy to look at what was computed.\n", name,
                run->file->buffers[run->file->checks[0].buffer].name);
    else if (run->file->buffer_count && run->file->check_count == 0)
        fprintf(to, "\nNext: nothing was checked. Add to %s:\n  check:\n    - {buffer: %s, equals: {value: 0}}\n", name,
                run->file->buffers[0].name);
    else if (total.divergent_branches)
        fprintf(to, "\nNext: heddle show %s --cfg shows where lanes part and where they meet again.\n", name);
    else
        fprintf(to, "\nNext: heddle run %s -o result.json keeps every count, per line and per instruction.\n", name);
}

static double share_of(uint64_t part, uint64_t whole) { return whole ? 100.0 * (double)part / (double)whole : 0; }

static void print_cache(const char *name, const struct cache_stats *cache, FILE *to) {
    fprintf(to, "  %-8s %llu accesses: %.1f %% hits, %.1f %% misses, %.1f %% pending\n", name,
            (unsigned long long)cache->accesses, share_of(cache->hits, cache->accesses),
            share_of(cache->misses, cache->accesses), share_of(cache->pending, cache->accesses));
}

/* Where the cycles went, over all launches. */
static void print_time(const struct run *run, const struct run_stats *total, FILE *to) {
    struct gpu_stats sum = {0};
    for (unsigned i = 0; i < run->done; i++) {
        const struct gpu_stats *one = run->results[i].timed;
        if (!one)
            return;
        sum.cycles += one->cycles;
        sum.dram_cycles += one->dram_cycles;
        stat_merge(&sum.sm, &one->sm, sm_stats_table);
        stat_merge(&sum.l1, &one->l1, cache_stat_table);
        stat_merge(&sum.l2, &one->l2, cache_stat_table);
        stat_merge(&sum.dram, &one->dram, dram_stat_table);
    }
    const struct sm_stats *sm = &sum.sm;
    fprintf(to, "\n  time     %llu cycles, %.1f thread instructions a cycle\n", (unsigned long long)sum.cycles,
            sum.cycles ? (double)total->thread_instructions / (double)sum.cycles : 0);
    fprintf(to, "  slots    %.1f %% issued, %.1f %% all wait for memory, %.1f %% idle, %.1f %% stalled\n",
            share_of(sm->slots - sm->memory - sm->idle - sm->stall, sm->slots), share_of(sm->memory, sm->slots),
            share_of(sm->idle, sm->slots), share_of(sm->stall, sm->slots));
    print_cache("L1", &sum.l1, to);
    print_cache("L2", &sum.l2, to);
    fprintf(to, "  DRAM     %llu requests: %.1f %% row hits, %.1f %% of the bandwidth\n",
            (unsigned long long)sum.dram.requests, share_of(sum.dram.row_hits, sum.dram.requests),
            share_of(sum.dram.bus_busy_cycles, sum.dram_cycles));
}

void summary_print(struct run *run, double seconds, unsigned lines, FILE *to) {
    struct arena arena = {0};
    struct run_stats total;
    result_total(run, &total);
    fprintf(to, "%s on %s, functional\n\n", run->file->name, run->machine->name);
    print_launches(run, &arena, to);
    print_time(run, &total, to);
    print_lines(run, &arena, lines, to);
    print_checks(run, &arena, to);
    fprintf(to, "\n  %.3f s, %.1f million warp instructions a second\n", seconds,
            seconds > 0 ? (double)total.warp_instructions / seconds * 1e-6 : 0);
    if (run->checked)
        print_next_step(run, to);
    arena_free(&arena);
}
