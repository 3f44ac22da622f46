/* SPDX-License-Identifier: Apache-2.0 */
/* heddle cost: what hardware a mechanism takes. */
#include "cli/commands.h"
#include "cli/table.h"
#include "cost/cost.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct option options[] = {
    OPTION_DIVERGENCE,
    OPTION_GPU,
    OPTION_SET,
    {"core", 0, NULL, "show the area of the whole core instead, and what the mechanism's structures add to it"},
    {"model", 0, NULL,
     "show the area model instead: its fit, and how well it predicts the areas that it was fitted to"},
    OPTION_END,
};

static const char *area(struct arena *arena, double mm2) { return mm2 > 0 ? arena_printf(arena, "%.4f", mm2) : ""; }

/* Of all structures together; in print only if every one is that has any. */
struct sum {
    uint64_t bits, printed_bits;
    double mm2, printed_mm2;
    bool some_bits_unpublished, some_area_unpublished;
};

static void add_structure(struct table *table, const struct cost_structure *structure, const struct cost_model *model,
                          struct sum *sum) {
    const struct cost_published *published = cost_find_published(structure);
    const uint64_t bits = cost_bits(structure), printed = published ? published->printed_bits : 0;
    const double mm2 = cost_area_mm2(model, structure), printed_mm2 = published ? published->area_mm2 : 0;
    table_add(table, structure->name);
    table_add(table, structure->fields);
    table_add(table, structure->kind == COST_SPLIT ? "" : with_commas(table->arena, structure->entries));
    table_add(table, bits ? with_commas(table->arena, bits) : "");
    table_add(table, cost_ports(structure, table->arena));
    table_add(table, area(table->arena, mm2));
    table_add(table, printed ? with_commas(table->arena, printed) : "");
    table_add(table, area(table->arena, printed_mm2));
    sum->bits += bits, sum->printed_bits += printed;
    sum->mm2 += mm2, sum->printed_mm2 += printed_mm2;
    sum->some_bits_unpublished |= bits && !printed;
    sum->some_area_unpublished |= !(printed_mm2 > 0);
}

static void add_sum(struct table *table, const struct sum *sum) {
    const char *const cells[] = {"all, of an SM",
                                 "",
                                 "",
                                 with_commas(table->arena, sum->bits),
                                 "",
                                 area(table->arena, sum->mm2),
                                 sum->some_bits_unpublished ? "" : with_commas(table->arena, sum->printed_bits),
                                 sum->some_area_unpublished ? "" : area(table->arena, sum->printed_mm2)};
    for (unsigned i = 0; i < table->columns; i++)
        table_add(table, cells[i]);
}

/* Where what is printed comes from, and where a table contradicts the fields that it lists. */
static void print_sources(const struct cost *cost, struct arena *arena) {
    const char *last = "";
    for (unsigned i = 0; i < cost->count; i++) {
        const struct cost_published *published = cost_find_published(&cost->items[i]);
        if (published && published->source != last)
            print(stdout, "  in print: %s\n", last = published->source);
        if (published && published->printed_bits && published->printed_bits != published->bits)
            print(stdout, "  %s: %s bits stand there, its fields give %s\n", published->name,
                  with_commas(arena, published->printed_bits), with_commas(arena, published->bits));
        if (published && published->cells_mm2 > 0) {
            const double bit = cost_cells_mm2(&cost->items[i]) / (double)published->bits;
            print(stdout, "  %s: %.3f mm² stand there, at %d nm: %.1f bits an entry; its fields give %u, %.3f mm²\n",
                  published->name, published->cells_mm2, COST_CELLS_NM,
                  published->cells_mm2 / bit / (double)cost->items[i].entries, cost_entry_bits(&cost->items[i]),
                  cost_cells_mm2(&cost->items[i]));
        }
    }
}

static void print_structures(const struct cost *cost, const struct cost_model *model, const struct machine *machine,
                             struct arena *arena) {
    static const char *const heading[] = {"structure", "entry, bits", "entries",  "bits",
                                          "ports",     "mm²",         "in print", "mm²"};
    struct table table = {.arena = arena, .columns = 8, .left = 1 | 2 | 16, .elastic = -1};
    struct sum sum = {0};
    for (unsigned i = 0; i < table.columns; i++)
        table_add(&table, heading[i]);
    for (unsigned i = 0; i < cost->count; i++)
        add_structure(&table, &cost->items[i], model, &sum);
    add_sum(&table, &sum);
    table_print(&table, stdout);
    print(stdout, "\n  %s bits are %s bytes; %u SMs: %.2f mm² at 90 nm\n", with_commas(arena, sum.bits),
          with_commas(arena, (sum.bits + 7) / 8), machine->sm_count, sum.mm2 * machine->sm_count);
    print_sources(cost, arena);
}

static void add_part(struct table *table, const char *name, const char *count, double mm2, const char *printed) {
    table_add(table, name);
    table_add(table, count);
    table_add(table, area(table->arena, mm2));
    table_add(table, printed);
}

/* Parts of a core without a mechanism, what the mechanism adds, and both. */
static void print_core(const struct cost *cost, const struct cost_model *model, const struct machine *machine,
                       struct arena *arena) {
    const struct cost_shape shape = machine_cost_shape(machine);
    const struct cost_core_published *printed = cost_core_find_published(&shape);
    struct table table = {.arena = arena, .columns = 4, .left = 1, .elastic = -1};
    struct cost_core core;
    double added = 0;
    cost_core_fit(&core);
    const double whole = cost_core_mm2(&core, &shape);
    for (unsigned i = 0; i < cost->count; i++)
        added += cost_scaled_mm2(cost_area_mm2(model, &cost->items[i]), COST_NM, COST_CORE_NM);
    table_add(&table, "part");
    table_add(&table, "number");
    table_add(&table, "mm²");
    table_add(&table, "in print");
    add_part(&table, "front end", "1", core.front_end, "");
    add_part(&table, "lanes", with_commas(arena, shape.lanes), shape.lanes * core.lane, "");
    add_part(&table, "threads", with_commas(arena, shape.threads), shape.threads * core.thread, "");
    add_part(&table, "core", "", whole, printed ? area(arena, printed->area_mm2) : "");
    add_part(&table, arena_printf(arena, "added by %s", machine->divergence_mechanism), "", added, "");
    add_part(&table, "both", "", whole + added, "");
    table_print(&table, stdout);
    print(stdout,
          "\n  at %u nm: a front end of %.3f mm², %.4f a lane, %.5f a thread, by three areas of Tarjan 2009, table 2;\n"
          "  the mechanism's structures as without --core, scaled from %u nm by the square; %.2f %% of the core\n",
          (unsigned)COST_CORE_NM, core.front_end, core.lane, core.thread, (unsigned)COST_NM, 100 * added / whole);
}

static double error_of(const struct cost_point *point) {
    return 100 * (point->left_out_mm2 / point->published_mm2 - 1);
}

/* Every area that the constants are fitted to, and how it comes out. */
static void print_points(const struct cost_point points[COST_POINTS], struct arena *arena) {
    static const char *const heading[] = {"CACTI's", "mm²", "fitted", "by the others", "error"};
    struct table table = {.arena = arena, .columns = 5, .left = 1, .elastic = -1};
    for (unsigned i = 0; i < table.columns; i++)
        table_add(&table, heading[i]);
    for (unsigned i = 0; i < COST_POINTS; i++) {
        table_add(&table, points[i].name);
        table_add(&table, area(arena, points[i].published_mm2));
        table_add(&table, area(arena, points[i].fitted_mm2));
        table_add(&table, area(arena, points[i].left_out_mm2));
        table_add(&table, arena_printf(arena, "%+.1f %%", error_of(&points[i])));
    }
    table_print(&table, stdout);
}

static void print_model(const struct cost_model *model, const struct cost_point points[COST_POINTS]) {
    const unsigned count = COST_POINTS;
    double sum = 0;
    unsigned worst = 0;
    for (unsigned i = 0; i < COST_POINTS; i++) {
        sum += fabs(error_of(&points[i]));
        if (fabs(error_of(&points[i])) > fabs(error_of(&points[worst])))
            worst = i;
    }
    print(stdout,
          "\n  area of a bank = ports² x (%.3f µm² x bits + %.1f µm² x sqrt(bits)); registers %.2f µm² a bit\n"
          "  fitted to %u areas by CACTI 4.2; each left out and predicted from the others: %.1f %% off in the mean,\n"
          "  %.1f %% at worst (%s); --model lists them, docs/cost.md says more\n",
          model->cell, model->edge, model->flipflop, count, sum / count, fabs(error_of(&points[worst])),
          points[worst].name);
}

static enum status print_variant(struct arguments *arguments, unsigned number, const struct cost_model *model,
                                 struct report *report) {
    struct machine machine = {0};
    struct cost cost = {.arena = &arguments->arena};
    const char *label = "";
    enum status status = arguments_variant(arguments, number, &machine, &label, report);
    if (!status)
        status = machine_cost(&machine, &cost, report);
    if (!status) {
        const bool says_more = *label && strcmp(label, machine.divergence_mechanism) != 0;
        print(stdout, "%s%s: an SM of %s, %u threads in warps of %u%s%s\n\n", number ? "\n" : "",
              machine.divergence_mechanism, machine.name, machine.max_threads, machine.warp_size, says_more ? "; " : "",
              says_more ? label : "");
        if (arguments_has(arguments, "core"))
            print_core(&cost, model, &machine, &arguments->arena);
        else if (cost.count)
            print_structures(&cost, model, &machine, &arguments->arena);
        else
            puts("  nobody has said what its hardware holds");
    }
    machine_close(&machine);
    return status;
}

static int cost_main(struct arguments *arguments) {
    struct report report = {0};
    struct cost_model model;
    struct cost_point points[COST_POINTS];
    unsigned count;
    enum status status = arguments_variants(arguments, &count, &report);
    cost_fit(&model, points);
    if (!status && arguments_has(arguments, "model"))
        print_points(points, &arguments->arena);
    else
        for (unsigned i = 0; !status && i < count; i++)
            status = print_variant(arguments, i, &model, &report);
    if (!status)
        print_model(&model, points);
    return finish(status, &report);
}

const struct command command_cost = {
    .name = "cost",
    .operands = "",
    .summary = "Show what hardware a divergence mechanism needs: structures, bits, ports, area",
    .text = "Shows one SM of the machine, sized by the mechanism's own keys. Structures of the scheduler, the branch "
            "predictor and the caches' replacement policies are included where they declare them. Lists of values are "
            "shown one after another. Where a publication has a structure of the same size, its numbers are shown too. "
            "docs/cost.md says more.",
    .examples = "heddle cost --divergence dwf,tbc --gpu fung-8800\n"
                "heddle cost --core --divergence diverge-on-miss --gpu tarjan-manycore",
    .options = options,
    .operands_min = 0,
    .operands_max = 0,
    .main = cost_main,
};
