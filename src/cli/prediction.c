/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/prediction.h"

#include "cli/commands.h"
#include "cli/table.h"

static double share(uint64_t part, uint64_t whole) { return whole ? 100.0 * (double)part / (double)whole : 0; }

void prediction_print(const struct meter *meter, uint64_t messages, struct arena *arena, FILE *to) {
    static const unsigned threads[METER_COUNTS] = METER_THREADS;
    const uint64_t all = meter->work_ns + meter->exchange_ns + meter->serial_ns;
    const double epochs = meter->epochs ? (double)meter->epochs : 1;
    struct table table = {.arena = arena, .columns = 3, .elastic = -1};
    print(to, "\n  one host thread, measured part by part: %.3f s in %s epochs of up to %llu parts\n",
          (double)all / 1e9, with_commas(arena, meter->epochs), (unsigned long long)meter->parts);
    print(to,
          "  parts %.1f %% of it, links %.1f %%, serial %.1f %%; an epoch: %.1f µs of work, its longest part %.1f µs, "
          "%.1f "
          "messages\n",
          share(meter->work_ns, all), share(meter->exchange_ns, all), share(meter->serial_ns, all),
          (double)meter->work_ns / epochs / 1e3, (double)meter->longest_ns / epochs / 1e3,
          (double)messages / (double)(meter->epochs + meter->disturbed));
    if (meter->disturbed)
        print(to, "  %s further epochs are left out: the host had something else to do in them\n",
              with_commas(arena, meter->disturbed));
    print(to, "  epochs with less work than host.alone_ns, which one thread runs: %.1f %%\n\n",
          share(meter->alone, meter->epochs));
    table_add(&table, "host threads"), table_add(&table, "speed-up, least"), table_add(&table, "most");
    for (unsigned i = 0; i < METER_COUNTS; i++) {
        table_add(&table, arena_printf(arena, "%u", threads[i]));
        table_add(&table, arena_printf(arena, "%.2f", meter_gain_least(meter, i)));
        table_add(&table, arena_printf(arena, "%.2f", meter_gain_most(meter, i)));
    }
    table_print(&table, to);
    print(to, "\n  predicted from these parts, without what threads take to wake and meet; docs/speed.md\n");
}
