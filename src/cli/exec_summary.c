/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/exec_summary.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/summary.h"
#include "result/result.h"

static uint64_t count_of(const json_t *object, const char *key) {
    return (uint64_t)json_integer_value(json_object_get(object, key));
}

static const char *text_of(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

/* What a line or a kernel is sorted by: slots of the schedulers in time, else what threads did. */
static uint64_t weight(const json_t *object) {
    const json_t *classes = json_object_get(object, "cycle_classes");
    uint64_t sum = 0;
    for (unsigned i = 0; classes && i < CYCLE_CLASSES; i++)
        sum += count_of(classes, cycle_class_names[i]);
    return classes ? sum : count_of(object, "thread_instructions");
}

/* Equal ones by name: kernels have one, lines a file and a number. */
static int by_weight(const void *a, const void *b) {
    const json_t *left = *(json_t *const *)a, *right = *(json_t *const *)b;
    const uint64_t one = weight(left), other = weight(right);
    if (one != other)
        return one > other ? -1 : 1;
    int order = strcmp(text_of(left, "kernel"), text_of(right, "kernel"));
    order = order ? order : strcmp(text_of(left, "file"), text_of(right, "file"));
    const uint64_t line = count_of(left, "line"), other_line = count_of(right, "line");
    return order ? order : (line > other_line) - (line < other_line);
}

static json_t **sorted(const json_t *list, struct arena *arena, unsigned *count) {
    *count = (unsigned)json_array_size(list);
    json_t **items = ARENA_ARRAY(arena, json_t *, *count + 1u);
    for (unsigned i = 0; i < *count; i++)
        items[i] = json_array_get(list, i);
    qsort(items, *count, sizeof *items, by_weight);
    return items;
}

static void add_kernel(struct table *table, const json_t *kernel, const char *name, bool in_time, uint64_t all_cycles) {
    struct arena *arena = table->arena;
    const uint64_t cycles = count_of(kernel, "cycles"), threads = count_of(kernel, "thread_instructions");
    table_add(table, name);
    table_add(table, with_commas(arena, count_of(kernel, "launches")));
    if (in_time) {
        table_add(table, with_commas(arena, cycles));
        table_add(table, summary_percent(arena, cycles, all_cycles));
        table_add(table, cycles ? arena_printf(arena, "%.1f", (double)threads / (double)cycles) : "-");
    }
    table_add(table, with_commas(arena, count_of(kernel, "warp_instructions")));
    table_add(table, with_commas(arena, threads));
    table_add(table, summary_percent(arena, count_of(kernel, "active_lanes"), count_of(kernel, "lane_slots")));
    table_add(table, with_commas(arena, count_of(kernel, "divergent_branches")));
}

enum { KERNELS_SHOWN = 20 };

static void print_kernels(const struct session_sum *sum, struct arena *arena, FILE *to) {
    static const char *const functional[] = {"kernel",        "launches",  "warp instr.",
                                             "thread instr.", "SIMD eff.", "divergent"};
    static const char *const timed[] = {"kernel",      "launches",      "cycles",    "of all",   "IPC",
                                        "warp instr.", "thread instr.", "SIMD eff.", "divergent"};
    struct table table = {.arena = arena, .columns = sum->in_time ? 9 : 6, .left = 1, .elastic = 0};
    const json_t *total = json_object_get(sum->document, "total");
    unsigned count;
    json_t **kernels = sorted(json_object_get(sum->document, "kernels"), arena, &count);
    for (unsigned i = 0; i < table.columns; i++)
        table_add(&table, sum->in_time ? timed[i] : functional[i]);
    for (unsigned i = 0; i < count && i < KERNELS_SHOWN; i++)
        add_kernel(&table, kernels[i], text_of(kernels[i], "kernel"), sum->in_time, count_of(total, "cycles"));
    if (count > 1)
        add_kernel(&table, total, count > KERNELS_SHOWN ? arena_printf(arena, "all %u kernels", count) : "total",
                   sum->in_time, count_of(total, "cycles"));
    table_print(&table, to);
}

static void print_lines(const struct session_sum *sum, struct arena *arena, unsigned limit, FILE *to) {
    static const char *const heading[] = {"line", "source", "", "SIMD eff.", "divergent"};
    const json_t *total = json_object_get(sum->document, "total");
    const uint64_t all = sum->in_time ? sum->timed.sm.slots : count_of(total, "thread_instructions");
    unsigned count;
    json_t **lines = sorted(json_object_get(total, "lines"), arena, &count);
    struct table table = {.arena = arena, .columns = 5, .left = 3, .elastic = 1, .optional = 1u << 4};
    for (unsigned i = 0; i < table.columns; i++)
        table_add(&table, i == 2 ? (sum->in_time ? "slots" : "work") : heading[i]);
    for (unsigned i = 0; i < count && i < limit; i++) {
        const uint64_t issues = count_of(lines[i], "warp_instructions");
        table_add(&table, arena_printf(arena, "%s:%llu", text_of(lines[i], "file"),
                                       (unsigned long long)count_of(lines[i], "line")));
        table_add(&table, summary_trimmed(arena, text_of(lines[i], "text")));
        table_add(&table, summary_percent(arena, weight(lines[i]), all));
        const double full = json_real_value(json_object_get(lines[i], "simd_efficiency"));
        table_add(&table, issues ? arena_printf(arena, "%.1f %%", 100 * full) : "-");
        table_add(&table, with_commas(arena, count_of(lines[i], "divergent")));
    }
    fputs(sum->in_time ? "\n  lines by the schedulers' slots in which they issued, or the oldest warp waited at them\n"
                       : "\n  lines by thread instructions\n",
          to);
    if (count && limit)
        table_print(&table, to);
}

void exec_summary_print(const struct session_sum *sum, const char *program, const struct machine *machine,
                        double seconds, unsigned lines, FILE *to) {
    struct arena arena = {0};
    print(to, "\n%.200s on %s, %s\n\n", program, machine->name, sum->in_time ? "in time" : "functional: without time");
    print_kernels(sum, &arena, to);
    if (sum->in_time)
        summary_time_sum(&sum->timed, &arena, to);
    print_lines(sum, &arena, lines, to);
    print(to, "\n  %s launch%s", with_commas(&arena, sum->launches), sum->launches == 1 ? "" : "es");
    if (sum->untimed)
        print(to, ", %s more without time", with_commas(&arena, sum->untimed));
    if (sum->in_time && sum->launches)
        print(to, ", %.6f s of simulated time", (double)sum->timed.cycles / ((double)machine->gpu.sm_khz * 1000.0));
    print(to, "; %.3f s\n", seconds);
    arena_free(&arena);
}
