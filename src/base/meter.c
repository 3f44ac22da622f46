/* SPDX-License-Identifier: Apache-2.0 */
#include "base/meter.h"

#include <time.h>

#include "base/team.h"

/* Of the processor, for this thread: it stands while the host runs something else. To ask is slow. */
static uint64_t processor_ns(void) {
    struct timespec now;
    return clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) == 0
               ? (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec
               : 0;
}

void meter_begin(struct meter *meter) {
    meter->cpu_ns = processor_ns();
    meter->at_ns = team_clock_ns();
}

static uint64_t lap(struct meter *meter) {
    const uint64_t now = team_clock_ns(), taken = now - meter->at_ns;
    meter->at_ns = now;
    return taken;
}

void meter_part(struct meter *meter) {
    const uint64_t taken = lap(meter);
    meter->epoch_work_ns += taken, meter->epoch_parts++;
    meter->epoch_longest_ns = taken > meter->epoch_longest_ns ? taken : meter->epoch_longest_ns;
}

/* Parts in any order on threads that take the next one when they are free need at least max(longest, work / n) and at most
 * work / n + longest * (1 - 1 / n) (Graham's bound for lists). */
void meter_epoch(struct meter *meter, uint64_t alone_ns) {
    enum { SLACK_NS = 1000 };
    static const unsigned threads[METER_COUNTS] = METER_THREADS;
    const double work = (double)meter->epoch_work_ns, longest = (double)meter->epoch_longest_ns;
    const uint64_t exchange_ns = lap(meter);
    const uint64_t whole_ns = meter->epoch_work_ns + exchange_ns, parts = meter->epoch_parts;
    const uint64_t cpu_at = processor_ns(), cpu_ns = cpu_at - meter->cpu_ns;
    meter->cpu_ns = cpu_at;
    meter->epoch_work_ns = meter->epoch_longest_ns = meter->epoch_parts = 0;
    if (whole_ns > cpu_ns + cpu_ns / 8 + SLACK_NS) {
        meter->disturbed++;
        return;
    }
    const double exchange = (double)exchange_ns;
    const uint64_t work_ns = whole_ns - exchange_ns;
    const bool is_alone = work_ns < alone_ns;
    for (unsigned i = 0; i < METER_COUNTS; i++) {
        const double n = threads[i], even = work / n;
        meter->least_ns[i] += is_alone ? work + exchange : (even > longest ? even : longest) + exchange / n;
        meter->most_ns[i] += is_alone ? work + exchange : even + longest * (1 - 1 / n) + exchange / n;
    }
    meter->epochs++, meter->alone += is_alone;
    meter->work_ns += work_ns, meter->longest_ns += (uint64_t)longest;
    meter->exchange_ns += exchange_ns;
    meter->parts = parts > meter->parts ? parts : meter->parts;
}

void meter_serial(struct meter *meter) { meter->serial_ns += processor_ns() - meter->cpu_ns; }

static double gain(const struct meter *meter, double epochs_ns) {
    const double one = (double)(meter->work_ns + meter->exchange_ns + meter->serial_ns);
    const double many = epochs_ns + (double)meter->serial_ns;
    return many > 0 ? one / many : 1;
}

double meter_gain_least(const struct meter *meter, unsigned count) { return gain(meter, meter->most_ns[count]); }

double meter_gain_most(const struct meter *meter, unsigned count) { return gain(meter, meter->least_ns[count]); }
