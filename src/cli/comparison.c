#include "cli/comparison.h"
#include "cli/commands.h"
#include "cli/summary.h"
#include "device/result.h"

static const char *share(struct arena *arena, uint64_t part, uint64_t whole) {
    return whole ? arena_printf(arena, "%.1f", 100.0 * (double)part / (double)whole) : "-";
}

/* What `value` is beside the first row's. */
static const char *change(struct arena *arena, uint64_t value, uint64_t first, bool is_first) {
    if (is_first || !first)
        return is_first ? "" : "-";
    return arena_printf(arena, "%+.1f %%", 100.0 * ((double)value - (double)first) / (double)first);
}

static void add_timed(struct table *table, const struct variant *variant, const struct variant *first) {
    struct arena *arena = table->arena;
    const struct gpu_stats *timed = &variant->timed;
    const uint64_t cycles = timed->cycles;
    uint64_t issued = 0;
    for (unsigned i = 0; i < CYCLE_CLASSES_ISSUED; i++)
        issued += cycle_class(&timed->sm, i);
    table_add(table, with_commas(arena, cycles));
    table_add(table, change(arena, cycles, first->timed.cycles, variant == first));
    table_add(table,
              cycles ? arena_printf(arena, "%.1f", (double)variant->stats.thread_instructions / (double)cycles) : "-");
    table_add(table, share(arena, variant->stats.active_lanes, variant->stats.lane_slots));
    table_add(table, share(arena, issued, timed->sm.slots));
    table_add(table, share(arena, timed->sm.memory, timed->sm.slots));
    table_add(table, share(arena, timed->sm.idle, timed->sm.slots));
    table_add(table, share(arena, timed->sm.stall, timed->sm.slots));
    table_add(table, share(arena, timed->l1.hits, timed->l1.accesses - summary_refused(&timed->l1)));
    table_add(table, share(arena, timed->l2.hits, timed->l2.accesses - summary_refused(&timed->l2)));
    table_add(table, share(arena, timed->dram.bus_busy_cycles, timed->dram_cycles));
}

static void add_functional(struct table *table, const struct variant *variant, const struct variant *first) {
    struct arena *arena = table->arena;
    const struct run_stats *stats = &variant->stats;
    table_add(table, with_commas(arena, stats->warp_instructions));
    table_add(table, change(arena, stats->warp_instructions, first->stats.warp_instructions, variant == first));
    table_add(table, with_commas(arena, stats->thread_instructions));
    table_add(table, share(arena, stats->active_lanes, stats->lane_slots));
    table_add(table, with_commas(arena, stats->branches));
    table_add(table, with_commas(arena, stats->divergent_branches));
}

void comparison_print(const char *what, const struct variant *variants, unsigned count, bool in_time, FILE *to) {
    static const char *const timed[] = {"",         "cycles", "change",  "IPC",      "SIMD %",   "issued %",
                                        "memory %", "idle %", "stall %", "L1 hit %", "L2 hit %", "DRAM %"};
    static const char *const functional[] = {"",       "warp instr.", "change",   "thread instr.",
                                             "SIMD %", "branches",    "divergent"};
    struct arena arena = {0};
    struct table table = {.arena = &arena, .columns = in_time ? 12 : 7, .left = 1, .elastic = 0};
    table.optional = in_time ? 0xfe0 : 0x28; /* shares of slots and of memory; thread instructions, branches */
    for (unsigned i = 0; i < table.columns; i++)
        table_add(&table, i == 0 ? what : in_time ? timed[i] : functional[i]);
    for (unsigned i = 0; i < count; i++) {
        const struct variant *variant = &variants[i];
        table_add(&table, variant->outcome[0] ? arena_printf(&arena, "%s (%s)", variant->label, variant->outcome)
                                              : variant->label);
        if (in_time)
            add_timed(&table, variant, &variants[0]);
        else
            add_functional(&table, variant, &variants[0]);
    }
    table_print(&table, to);
    arena_free(&arena);
}
