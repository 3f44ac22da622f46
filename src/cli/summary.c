/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/summary.h"
#include "cli/commands.h"
#include "result/lines.h"
#include "result/result.h"
#include <stdlib.h>
#include <string.h>

/* Launches of one kernel and shape share a row. */
struct kernel_row {
    const struct launch *launch; /* NULL: of all */
    unsigned launches;
    struct run_stats stats;
    uint64_t cycles;
};

static const char *sizes_text(struct arena *arena, const uint32_t sizes[3]) {
    if (sizes[2] > 1)
        return arena_printf(arena, "%u x %u x %u", sizes[0], sizes[1], sizes[2]);
    if (sizes[1] > 1)
        return arena_printf(arena, "%u x %u", sizes[0], sizes[1]);
    return arena_printf(arena, "%u", sizes[0]);
}

const char *summary_percent(struct arena *arena, uint64_t part, uint64_t whole) {
    return whole ? arena_printf(arena, "%.1f %%", 100.0 * (double)part / (double)whole) : "-";
}

static bool same_shape(const struct launch *a, const struct launch *b) {
    return a->kernel == b->kernel && memcmp(a->grid, b->grid, sizeof a->grid) == 0 &&
           memcmp(a->block, b->block, sizeof a->block) == 0;
}

static unsigned collect_rows(const struct run *run, struct kernel_row *rows) {
    unsigned count = 0;
    for (unsigned i = 0; i < run->done; i++) {
        unsigned k = 0;
        while (k < count && !same_shape(rows[k].launch, &run->launches[i]))
            k++;
        if (k == count)
            rows[count++] = (struct kernel_row){.launch = &run->launches[i]};
        rows[k].launches++;
        stat_merge(&rows[k].stats, &run->results[i].stats, run_stats_table);
        rows[k].cycles += run->results[i].timed ? run->results[i].timed->cycles : 0;
    }
    return count;
}

/* In time cycles stand first, and branches as such give way to them. */
static void add_row(struct table *table, const char *name, const struct kernel_row *row, bool in_time) {
    struct arena *arena = table->arena;
    const struct run_stats *stats = &row->stats;
    const uint64_t cycles = row->cycles;
    table_add(table, name);
    table_add(table, row->launch ? sizes_text(arena, row->launch->grid) : "");
    table_add(table, row->launch ? sizes_text(arena, row->launch->block) : "");
    if (in_time) {
        table_add(table, with_commas(arena, cycles));
        table_add(table,
                  cycles ? arena_printf(arena, "%.1f", (double)stats->thread_instructions / (double)cycles) : "-");
    }
    table_add(table, with_commas(arena, stats->warp_instructions));
    table_add(table, with_commas(arena, stats->thread_instructions));
    table_add(table, summary_percent(arena, stats->active_lanes, stats->lane_slots));
    if (!in_time)
        table_add(table, with_commas(arena, stats->branches));
    table_add(table, with_commas(arena, stats->divergent_branches));
}

static void print_launches(const struct run *run, struct arena *arena, FILE *to) {
    static const char *const functional[] = {"kernel",        "grid",      "block",    "warp instr.",
                                             "thread instr.", "SIMD eff.", "branches", "divergent"};
    static const char *const timed[] = {"kernel",      "grid",          "block",     "cycles",   "IPC",
                                        "warp instr.", "thread instr.", "SIMD eff.", "divergent"};
    const bool in_time = run->options.in_time;
    struct kernel_row *rows = ARENA_ARRAY(arena, struct kernel_row, run->done);
    unsigned count = collect_rows(run, rows);
    struct table table = {.arena = arena, .columns = in_time ? 9 : 8, .left = 1, .elastic = 0};
    table.optional = in_time ? 1u << 6 | 1u << 8 : 1u << 6; /* thread instructions, divergent branches; branches */
    for (unsigned i = 0; i < table.columns; i++)
        table_add(&table, in_time ? timed[i] : functional[i]);
    struct kernel_row total = {0};
    for (unsigned i = 0; i < count; i++) {
        const char *name = bind_source_name(arena, rows[i].launch->kernel->name);
        if (rows[i].launches > 1)
            name = arena_printf(arena, "%s, %u launches", name, rows[i].launches);
        add_row(&table, name, &rows[i], in_time);
        total.cycles += rows[i].cycles;
    }
    if (count > 1) {
        result_total(run, NULL, &total.stats);
        add_row(&table, "total", &total, in_time);
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

const char *summary_trimmed(struct arena *arena, const char *text) {
    char *copy = arena_strdup(arena, text + strspn(text, " \t"));
    for (char *c = copy; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = ' ';
    return copy;
}

void summary_add_line(struct table *table, struct run *run, const struct line_stats *line) {
    struct arena *arena = table->arena;
    table_add(table, arena_printf(arena, "%s:%u", lines_file_name(run->module, line->file), line->line));
    table_add(table, summary_trimmed(arena, source_line(&run->sources, line->file, line->line)));
}

/* What lines of a functional run show: work and how full its groups were. */
static void add_work(struct table *table, const struct line_stats *line, uint64_t all, uint32_t warp_size) {
    struct arena *arena = table->arena;
    table_add(table, with_commas(arena, line->sum.threads));
    table_add(table, summary_percent(arena, line->sum.threads, all));
    table_add(table, summary_percent(arena, line->sum.lanes, line->sum.issues * warp_size));
    table_add(table, with_commas(arena, line->sum.divergent));
}

static void print_lines(struct run *run, struct arena *arena, unsigned limit, FILE *to) {
    static const char *const heading[] = {"line", "source", "thread instr.", "share", "SIMD eff.", "divergent"};
    unsigned count;
    struct run_stats total;
    struct gpu_stats timed;
    result_total(run, NULL, &total);
    const struct inst_stats *sum = result_total_instructions(run, NULL, arena);
    const bool in_time = result_total_timed(run, NULL, &timed, arena);
    struct line_stats *lines = lines_collect(run->module, sum, in_time ? timed.instructions : NULL, arena, &count);
    if (!count || !limit)
        return;
    unsigned shown = count < limit ? count : limit;
    if (in_time) {
        summary_time_lines(run, &timed, &(struct summary_lines){lines, count, shown}, arena, to);
    } else {
        qsort(lines, count, sizeof *lines, by_work);
        struct table table = {.arena = arena, .columns = 6, .left = 3, .elastic = 1, .optional = 1u << 2};
        for (unsigned i = 0; i < table.columns; i++)
            table_add(&table, heading[i]);
        for (unsigned i = 0; i < shown; i++) {
            summary_add_line(&table, run, &lines[i]);
            add_work(&table, &lines[i], total.thread_instructions, run->machine->warp_size);
        }
        fputc('\n', to);
        table_print(&table, to);
    }
    if (shown < count)
        print(to, "  and %u more lines; --lines %u shows all\n", count - shown, count);
}

static void print_checks(const struct run *run, struct arena *arena, FILE *to) {
    static const char *const kinds[] = {"equals", "hash", "sum"};
    for (unsigned i = 0; run->checked && i < run->file->check_count; i++) {
        const struct launch_check *check = &run->file->checks[i];
        const struct check_result *result = &run->checks[i];
        print(to, "%s  check %s %s: ", i ? "" : "\n", run->file->buffers[check->buffer].name, kinds[check->kind]);
        if (check->kind != LAUNCH_CHECK_EQUALS)
            print(to, "%s\n", result->passed ? "as expected" : "NOT as expected");
        else if (result->passed)
            print(to, "all %s elements as expected\n", with_commas(arena, result->compared));
        else
            print(to, "%s of %s elements NOT as expected\n", with_commas(arena, result->mismatches),
                  with_commas(arena, result->compared));
    }
}

static void print_next_step(const struct run *run, struct arena *arena, FILE *to) {
    struct run_stats total;
    result_total(run, NULL, &total);
    const char *name = run->file->name, *next;
    if (run->failed)
        next = arena_printf(arena, "heddle run %s --dump %s=out.npy to look at what was computed.", name,
                            run->file->buffers[run->file->checks[0].buffer].name);
    else if (run->file->buffer_count && run->file->check_count == 0 && !run->file->is_part)
        next = arena_printf(arena, "nothing was checked. Add to %s:\n  check:\n    - {buffer: %s, equals: {value: 0}}",
                            name, run->file->buffers[0].name);
    else if (run->options.in_time && !total.divergent_branches)
        next =
            arena_printf(arena, "heddle run %s --set sm.scheduler=gto,rr,two-level compares schedulers on one table.",
                         name);
    else if (total.divergent_branches)
        next = arena_printf(arena, "heddle show %s --cfg shows where lanes diverge and where they reconverge.", name);
    else
        next =
            arena_printf(arena, "heddle run %s -o result.json keeps every count, per line and per instruction.", name);
    text_wrap(arena_printf(arena, "\nNext: %s", next), 0, to);
}

void summary_print(struct run *run, double seconds, unsigned lines, bool energy, FILE *to) {
    struct arena arena = {0};
    struct run_stats total;
    result_total(run, NULL, &total);
    print(to, "%s on %s, %s\n\n", run->file->name, run->machine->name,
          run->options.in_time ? "in time"
          : run->sample        ? "sampled: what follows is of all launches, without time"
                               : "functional: without time");
    const char *note = run->options.in_time ? machine_note(run->machine, &arena) : NULL;
    if (note) {
        print(to, "  ");
        text_wrap(note, 2, to);
        print(to, "\n");
    }
    print_launches(run, &arena, to);
    summary_time_print(run, energy, &arena, to);
    print_lines(run, &arena, lines, to);
    print_checks(run, &arena, to);
    print(to, "\n  %.3f s, %.1f million warp instructions a second\n", seconds,
          seconds > 0 ? (double)total.warp_instructions / seconds * 1e-6 : 0);
    if (run->checked)
        print_next_step(run, &arena, to);
    arena_free(&arena);
}
