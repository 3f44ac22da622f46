/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/why_print.h"

#include "cli/commands.h"
#include "cli/summary.h"
#include "result/lines.h"

enum status why_open_machine(void *self, struct machine *machine, struct report *report) {
    return arguments_machine(((const struct why_session *)self)->arguments, NULL, machine, report);
}

void why_show_progress(void *self, unsigned runs, unsigned of) {
    if (((const struct why_session *)self)->shows)
        print(stderr, runs < of ? "\r%u of %u runs" : "\r                \r", runs, of);
}

static const char *percent(struct arena *arena, double part) { return arena_printf(arena, "%.1f %%", 100 * part); }

static void add_row(struct table *table, const struct why *why, unsigned place) {
    const struct why_part *part = &why->parts[why->order[place]];
    struct arena *arena = table->arena;
    table_add(table, place < why->worth ? arena_printf(arena, "%u", place + 1) : "");
    table_add(table, part->ideal->title);
    table_add(table, part->status ? "-" : with_commas(arena, part->cycles));
    table_add(table, part->status ? "-" : percent(arena, part->gain));
    table_add(table, part->status ? "-" : percent(arena, part->own));
    table_add(table, part->status || !part->cycles
                         ? "-"
                         : arena_printf(arena, "%.2f x", (double)why->cycles / (double)part->cycles));
}

static void print_table(const struct why *why, struct arena *arena, FILE *to) {
    static const char *const heading[] = {"act", "if there were", "cycles", "time saved", "its own", "faster"};
    struct table table = {.arena = arena, .columns = 6, .left = 1u << 1, .elastic = -1};
    for (unsigned i = 0; i < table.columns; i++)
        table_add(&table, heading[i]);
    for (unsigned i = 0; i < IDEAL_COUNT; i++)
        add_row(&table, why, i);
    print(to, "%s on %s: %s cycles; in %.0f %% of the schedulers' slots something issued\n\n", why->base->file->name,
          why->base->machine->name, with_commas(arena, why->cycles), 100 * why->issued);
    table_print(&table, to);
    fputs("\n  its own: what no narrower part gains already. Gains overlap and do not add up.\n", to);
    for (unsigned i = 0; i < IDEAL_COUNT; i++) {
        const struct why_part *part = &why->parts[i];
        if (part->status)
            print(to, "  %s was not run: %s", part->ideal->title, part->message);
        else if (!part->same_memory)
            print(
                to,
                "  With %s the launch leaves other values in memory: its result depends on the order of its threads.\n",
                part->ideal->title);
    }
}

/* Lines with less of the gain are not shown. */
#define LEAST_SHARE 0.05

static void print_lines(const struct why *why, const struct why_part *part, unsigned most, struct arena *arena,
                        FILE *to) {
    struct table table = {.arena = arena, .columns = 4, .left = 1u << 3 | 3, .elastic = 1};
    static const char *const heading[] = {"line", "source", "of the gain", "waits for"};
    for (unsigned i = 0; i < table.columns; i++)
        table_add(&table, heading[i]);
    for (unsigned i = 0; i < part->line_count && i < most && part->lines[i].share >= LEAST_SHARE; i++) {
        const struct why_line *line = &part->lines[i];
        const struct line_stats at = {.file = line->file, .line = line->line};
        summary_add_line(&table, why->base, &at);
        table_add(&table, percent(arena, line->share));
        table_add(&table, line->wait);
    }
    if (part->line_count && most)
        table_print(&table, to);
}

static void print_acts(const struct why *why, unsigned most, struct arena *arena, FILE *to) {
    for (unsigned i = 0; i < why->worth; i++) {
        const struct why_part *part = &why->parts[why->order[i]];
        fputc('\n', to);
        text_wrap(arena_printf(arena, "%u. %s would save %.0f %%: %s.", i + 1, part->ideal->title, 100 * part->gain,
                               part->act),
                  3, to);
        print_lines(why, part, most, arena, to);
    }
    if (!why->worth && !why_units_are_the_limit(&why->units))
        text_wrap(arena_printf(arena,
                               "\nNone of these parts alone would save %.0f %%: the launch is held by the instructions "
                               "it issues, or by how they wait for each other.",
                               100 * WHY_LEAST_GAIN),
                  0, to);
}

/* No part of the machine is to blame where there is nothing for it to do. */
static void print_grid(const struct why *why, struct arena *arena, FILE *to) {
    const struct why_grid *grid = &why->grid;
    if (grid->idle < WHY_LEAST_GAIN)
        return;
    const char *blocks =
        grid->fewest == grid->most
            ? arena_printf(arena, "%s block%s", with_commas(arena, grid->most), grid->most == 1 ? "" : "s")
            : arena_printf(arena, "%s to %s blocks", with_commas(arena, grid->fewest), with_commas(arena, grid->most));
    const char *who = grid->launches == 1 ? "the launch has"
                                          : arena_printf(arena, "%u of %u launches have", grid->small, grid->launches);
    fputc('\n', to);
    text_wrap(
        arena_printf(arena,
                     "The grid is too small for the machine: %s %s for %u SMs, and %.0f %% of the SMs' time goes by "
                     "without a block. Use at least %u blocks: smaller ones, or more work in a launch.",
                     who, blocks, grid->sms, 100 * grid->idle, grid->sms),
        0, to);
}

/* Nor where its units are busy: they do what the kernel asks for. */
static void print_units(const struct why *why, struct arena *arena, FILE *to) {
    const struct why_units *units = &why->units;
    if (!why_units_are_the_limit(units))
        return;
    fputc('\n', to);
    text_wrap(
        arena_printf(
            arena,
            "The %s are the limit: in %.0f %% of the schedulers' slots a warp was ready and all of them were taken, "
            "most often at %s:%u. To need them less, %s.",
            units->kind->title, 100 * units->taken, lines_file_name(why->base->module, units->file), units->line,
            units->kind->act),
        0, to);
}

/* What was decided when the kernel was compiled, where a run without it says that it costs time. */
static void print_limits(const struct why *why, struct arena *arena, FILE *to) {
    static const unsigned parts[WHY_LIMITS] = {IDEAL_registers, IDEAL_room};
    for (unsigned i = 0; i < WHY_LIMITS; i++) {
        const struct why_limit *limit = &why->limits[i];
        const struct why_part *part = &why->parts[parts[i]];
        if (!limit->launches || part->status || part->gain < WHY_LEAST_GAIN)
            continue;
        const char *takes =
            i ? arena_printf(arena, "%s bytes of shared memory a block", with_commas(arena, limit->takes))
              : arena_printf(arena, "%u registers a thread", limit->takes);
        fputc('\n', to);
        text_wrap(
            arena_printf(arena,
                         "A limit from compile time: kernel '%s' takes %s, so that %u warps are resident in an SM; "
                         "without that limit %u would be, and then %s would be the limit. For want of them %.0f %% "
                         "of the time is lost.",
                         limit->kernel, takes, limit->warps, limit->without, limit->next, 100 * part->gain),
            0, to);
    }
}

static void print_spills(const struct why *why, struct arena *arena, FILE *to) {
    const struct why_spills *spills = &why->spills;
    const struct why_part *part = &why->parts[IDEAL_spills];
    const uint64_t spilled = spills->of_kind[WHY_LOCAL_SPILL];
    const double share = spills->instructions ? (double)spilled / (double)spills->instructions : 0;
    if (!spilled || (share < WHY_LEAST_GAIN && (part->status || part->gain < WHY_LEAST_GAIN)))
        return;
    const char *costs =
        part->status ? ""
                     : arena_printf(arena, " Without them the launch would take %.0f %% less time.", 100 * part->gain);
    fputc('\n', to);
    text_wrap(
        arena_printf(arena,
                     "Registers spill: %.1f %% of the warp instructions store to local memory what found no register, "
                     "or load it again, most at %s:%u in kernel '%s' with %u registers a thread; %.0f %% of the "
                     "transactions of local and global memory are theirs.%s",
                     100 * share, lines_file_name(why->base->module, spills->file), spills->line, spills->kernel,
                     spills->registers,
                     spills->transactions ? 100 * (double)spills->spilled / (double)spills->transactions : 0.0, costs),
        0, to);
}

void why_print(const struct why *why, unsigned lines, struct arena *arena, FILE *to) {
    print_table(why, arena, to);
    print_grid(why, arena, to);
    print_units(why, arena, to);
    print_limits(why, arena, to);
    print_spills(why, arena, to);
    print_acts(why, lines, arena, to);
}
