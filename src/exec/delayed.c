/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/delayed.h"

#include <string.h>

#include "base/bits.h"
#include "exec/state.h"
#include "exec/watch.h"

static void let_go(struct exec_delays *delays, unsigned i) {
    memcpy(delays->items[i].memory, &delays->items[i].value, delays->items[i].bytes);
    delays->count--;
    memmove(&delays->items[i], &delays->items[i + 1], (delays->count - i) * sizeof *delays->items);
}

static bool overlaps(const struct delayed_store *one, const uint8_t *memory, unsigned bytes) {
    const uintptr_t a = (uintptr_t)one->memory, b = (uintptr_t)memory;
    return a < b + bytes && b < a + one->bytes;
}

void delayed_access(struct exec *exec, unsigned thread, const uint8_t *memory, unsigned bytes) {
    struct exec_delays *delays = exec->launch->watch->delays;
    delays->steps++;
    for (unsigned i = 0; i < delays->count;) {
        const struct delayed_store *one = &delays->items[i];
        const bool is_own = one->block == exec->block && one->thread == thread && overlaps(one, memory, bytes);
        if (is_own || delays->steps - one->since > DELAYED_STEPS_MAX)
            let_go(delays, i);
        else
            i++;
    }
}

void delayed_put(struct exec *exec, unsigned thread, uint8_t *memory, uint64_t value, unsigned bytes) {
    struct exec_delays *delays = exec->launch->watch->delays;
    delayed_access(exec, thread, memory, bytes);
    if (rng_below(&delays->rng, 256) >= delays->chance) {
        memcpy(memory, &value, bytes);
        return;
    }
    if (delays->count == DELAYED_MAX)
        let_go(delays, 0);
    delays->items[delays->count++] = (struct delayed_store){.memory = memory,
                                                            .value = value,
                                                            .since = delays->steps,
                                                            .block = exec->block,
                                                            .thread = thread,
                                                            .bytes = bytes};
}

void delayed_release(struct exec *exec, unsigned warp, uint32_t lanes) {
    struct exec_delays *delays = exec->launch->watch->delays;
    for (unsigned i = 0; i < delays->count;) {
        const struct delayed_store *one = &delays->items[i];
        if (one->block == exec->block && one->thread / LANES_MAX == warp && lanes >> one->thread % LANES_MAX & 1)
            let_go(delays, i);
        else
            i++;
    }
}

void delayed_block_end(struct exec *exec) {
    struct exec_delays *delays = exec->launch->watch->delays;
    for (unsigned i = 0; i < delays->count;)
        if ((uintptr_t)delays->items[i].memory - (uintptr_t)exec->shared < exec->shared_bytes)
            let_go(delays, i);
        else
            i++;
}

void delayed_end(struct exec_delays *delays) {
    while (delays->count)
        let_go(delays, 0);
}
