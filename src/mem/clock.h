/* SPDX-License-Identifier: Apache-2.0 */
/* A clock told by another one at the exact ratio of their frequencies, in integers: nothing is rounded twice, nothing
 * drifts. Both begin together; tick t begins in cycle ceil(t * cycles / ticks) of the other. Good for as many cycles as
 * the product with 10^8, the largest frequency in kHz, leaves in 64 bits: 1.8 * 10^11 at the worst of ratios. */
#ifndef HEDDLE_MEM_CLOCK_H
#define HEDDLE_MEM_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct clock_ratio {
    uint64_t ticks, cycles; /* so many ticks in so many cycles, without a common divisor */
};

/* Neither may be 0. */
struct clock_ratio clock_ratio(uint64_t khz, uint64_t other_khz);

/* Every tick is a cycle. */
static inline bool clock_is_same(const struct clock_ratio *clock) { return clock->ticks == clock->cycles; }

/* The last tick that has begun by this cycle. */
static inline uint64_t clock_last_tick(const struct clock_ratio *clock, uint64_t cycle) {
    return cycle * clock->ticks / clock->cycles;
}

/* The first tick that begins in this cycle or a later one. */
static inline uint64_t clock_first_tick(const struct clock_ratio *clock, uint64_t cycle) {
    return clock_is_same(clock) || !cycle ? cycle : clock_last_tick(clock, cycle - 1) + 1;
}

/* The cycle in which this tick begins. */
static inline uint64_t clock_cycle(const struct clock_ratio *clock, uint64_t tick) {
    return (tick * clock->cycles + clock->ticks - 1) / clock->ticks;
}

#endif
