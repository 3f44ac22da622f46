/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/energy.h"
#include "cli/commands.h"
#include "cli/table.h"

const char *const energy_part_names[ENERGY_PARTS] = {
    "fetch, decode, scheduling", "register files", "operations of lanes", "shared memory, L1, constants",
    "L2 and crossbars",          "DRAM",           "static power"};

/* Events are in the order of the parts: each ends behind its last. */
static const enum energy_event ends[ENERGY_PARTS] = {
    [PART_ISSUE] = ENERGY_issue,  [PART_REGISTERS] = ENERGY_register, [PART_LANES] = ENERGY_shuffle,
    [PART_SM_MEMORY] = ENERGY_l1, [PART_L2] = ENERGY_crossbar,        [PART_DRAM] = ENERGY_dram_row,
    [PART_STATIC] = ENERGY_board};

double energy_part(const struct energy *energy, enum energy_part part) {
    double sum = 0;
    for (unsigned i = part ? ends[part - 1] + 1u : 0; i <= (unsigned)ends[part]; i++)
        sum += energy->nanojoules[i];
    return sum;
}

enum status energy_check(const struct machine *machine, struct report *report) {
    if (energy_is_known(&machine->energy))
        return STATUS_OK;
    return report_add(report, STATUS_INVALID,
                      "--energy: machine '%s' has no energies; its file names a table of them by 'energy: NAME', or "
                      "--set energy.issue=... and the like give them (docs/energy.md)",
                      machine->name);
}

void energy_print_error(const char *of, unsigned judged, double error, FILE *to) {
    print(to, "  %s%serror", of ? of : "", of ? ": " : "");
    if (judged)
        print(to, " of the energy: %.0f %% in the mean over the power of %u kernels of a card (docs/energy.md)\n",
              error, judged);
    else
        fputs(" of the energy: not known: these energies were not compared with any card (docs/energy.md)\n", to);
}

void energy_print(const struct machine *machine, const struct gpu_stats *timed, const struct run_stats *stats,
                  struct arena *arena, FILE *to) {
    struct energy energy;
    struct table table = {.arena = arena, .columns = 3, .left = 1, .elastic = -1};
    if (!result_energy(machine, timed, stats, &energy))
        return;
    table_add(&table, "energy");
    table_add(&table, "µJ");
    table_add(&table, "share");
    for (unsigned i = 0; i < ENERGY_PARTS; i++) {
        const double part = energy_part(&energy, (enum energy_part)i);
        table_add(&table, energy_part_names[i]);
        table_add(&table, arena_printf(arena, "%.3f", part * 1e-3));
        table_add(&table, arena_printf(arena, "%.1f %%", 100 * part / energy.total_nanojoules));
    }
    table_add(&table, "all");
    table_add(&table, arena_printf(arena, "%.3f", energy.total_nanojoules * 1e-3));
    table_add(&table, "");
    fputc('\n', to);
    table_print(&table, to);
    print(to, "  %.1f W over %.3f µs\n", energy.watts, energy.seconds * 1e6);
    energy_print_error(NULL, machine->energy.judged, machine->energy.error, to);
}
