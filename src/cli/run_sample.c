/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run_sample.h"

#include "cli/summary.h"
#include "cli/table.h"

enum { GROUPS_SHOWN = 20 };

static const char *percent(struct arena *arena, double part, double whole) {
    return whole > 0 ? arena_printf(arena, "%.2f %%", 100 * part / whole) : "-";
}

static const char *cycles_text(struct arena *arena, double cycles) {
    return with_commas(arena, (uint64_t)(cycles > 0 ? cycles + 0.5 : 0));
}

static const char *range_text(struct arena *arena, uint64_t least, uint64_t most) {
    return least == most ? with_commas(arena, least)
                         : arena_printf(arena, "%s-%s", with_commas(arena, least), with_commas(arena, most));
}

static void add_group(struct table *table, const struct result_sample_group *group) {
    struct arena *arena = table->arena;
    table_add(table, group->kernel);
    table_add(table, range_text(arena, group->blocks_least, group->blocks_most));
    table_add(table, with_commas(arena, group->launches));
    table_add(table, with_commas(arena, group->timed_count));
    table_add(table, cycles_text(arena, group->cycles));
    table_add(table,
              group->timed_count == group->launches ? "all timed" : percent(arena, group->half_width, group->cycles));
}

void sample_print(const struct result_sample *sample, FILE *to) {
    static const char *const heading[] = {"kernel", "blocks", "launches", "timed", "cycles", "+-"};
    struct arena arena = {0};
    struct table table = {.arena = &arena, .columns = 6, .left = 1, .elastic = 0};
    if (sample->timed_launches == sample->launches)
        print(to, "\n  cycles %s: every launch was timed\n", cycles_text(&arena, sample->cycles));
    else
        print(to, "\n  cycles %s +- %s: with %.0f %% confidence from %s to %s\n", cycles_text(&arena, sample->cycles),
              percent(&arena, sample->half_width, sample->cycles), 100 * sample->confidence,
              cycles_text(&arena, sample->cycles - sample->half_width),
              cycles_text(&arena, sample->cycles + sample->half_width));
    print(to, "  timed %s of %s launches, which issued %s of the warp instructions; rounds: %u\n\n",
          with_commas(&arena, sample->timed_launches), with_commas(&arena, sample->launches),
          percent(&arena, (double)sample->timed_warp_instructions, (double)sample->warp_instructions), sample->rounds);
    for (unsigned i = 0; i < table.columns; i++)
        table_add(&table, heading[i]);
    for (unsigned i = 0; i < sample->group_count && i < GROUPS_SHOWN; i++)
        add_group(&table, &sample->groups[i]);
    table_print(&table, to);
    if (sample->group_count > GROUPS_SHOWN)
        print(to, "  and %u more groups; -o FILE has all\n", sample->group_count - GROUPS_SHOWN);
    arena_free(&arena);
}
