/* SPDX-License-Identifier: Apache-2.0 */
#include "mem/clock.h"

struct clock_ratio clock_ratio(uint64_t khz, uint64_t other_khz) {
    uint64_t divisor = khz;
    for (uint64_t rest = other_khz; rest;) {
        const uint64_t next = divisor % rest;
        divisor = rest;
        rest = next;
    }
    return (struct clock_ratio){.ticks = khz / divisor, .cycles = other_khz / divisor};
}
