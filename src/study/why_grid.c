/* SPDX-License-Identifier: Apache-2.0 */
/* What no ideal part shows: launches that have fewer blocks than the machine has SMs. */
#include "study/why.h"

static uint64_t blocks_of(const struct launch *launch) {
    return (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
}

void why_look_at_grids(const struct run *base, struct why_grid *out) {
    double idle = 0, all = 0;
    *out = (struct why_grid){.sms = base->machine->sm_count, .launches = base->done};
    for (unsigned i = 0; i < base->done; i++) {
        const uint64_t blocks = blocks_of(&base->launches[i]);
        const double cycles = (double)base->results[i].timed->cycles;
        all += cycles * out->sms;
        if (blocks >= out->sms)
            continue;
        idle += cycles * (double)(out->sms - blocks);
        out->fewest = out->small && out->fewest < blocks ? out->fewest : blocks;
        out->most = out->most > blocks ? out->most : blocks;
        out->small++;
    }
    out->idle = all > 0 ? idle / all : 0;
}
