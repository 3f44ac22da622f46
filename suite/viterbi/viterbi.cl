/* Viterbi decoding of the convolutional code of rate 1/2 and constraint length 3 with generators 7 and 5, hard decisions: a
 * thread decodes a frame. Its metrics and the last 64 steps of its survivors are in local memory; every 32 steps it goes
 * 64 steps back from the best state, and of these the first 32 are bits that can be given out. */
#define STATES 4 /* the last two bits of the message, the newest lowest */
#define WINDOW 64
#define WORDS (2 * STATES + WINDOW / 8 + 1) /* of a thread; odd, so that threads of a warp are in different banks */
#define FAR 0x40000000

/* The two bits that the code has for `bit` after `state`. */
uint encode(uint state, uint bit) {
    const uint window = state << 1 | bit;
    return (popcount(window & 7) & 1) << 1 | (popcount(window & 5) & 1);
}

/* From `state` before step `end` back to step `begin`: the state there; *bits: what the last 32 of the steps gone decode to. */
uint trace_back(local const uint *survivors, uint state, uint end, uint begin, uint *bits) {
    for (uint step = end; step-- > begin;) {
        const uint four = survivors[step / 8 % (WINDOW / 8)] >> step % 8 * STATES;
        *bits = *bits << 1 | (state & 1);
        state = state >> 1 | (four >> state & 1) << 1;
    }
    return state;
}

/* received: 16 symbols a word, the first lowest, word i of frame f at i * frames + f; decoded: as received, 32 bits a word. The
 * message ends with two zeroes. steps: a multiple of 32, at least 64. */
kernel void viterbi(global const uint *received, global uint *decoded, uint steps, local uint *scratch) {
    const uint frame = get_global_id(0), frames = get_global_size(0);
    local uint *metrics = scratch + get_local_id(0) * WORDS, *survivors = metrics + 2 * STATES;
    metrics[0] = 0;
    for (uint state = 1; state < STATES; state++)
        metrics[state] = FAR;
    uint symbols = 0, history = 0, bits = 0;
    for (uint step = 0; step < steps; step++) {
        if (step % 16 == 0)
            symbols = received[step / 16 * frames + frame];
        const uint symbol = symbols & 3;
        symbols >>= 2;
        local uint *from = metrics + step % 2 * STATES, *to = metrics + (step + 1) % 2 * STATES;
        for (uint state = 0; state < STATES; state++)
            to[state] = FAR;
        uint four = 0;
        for (uint state = 0; state < STATES; state++)
            for (uint bit = 0; bit < 2; bit++) {
                const uint next = (state << 1 | bit) % STATES;
                const uint metric = from[state] + popcount(symbol ^ encode(state, bit));
                if (metric < to[next]) {
                    to[next] = metric;
                    four = (four & ~(1u << next)) | (state >> 1) << next;
                }
            }
        history = history >> STATES | four << 7 * STATES;
        if (step % 8 == 7)
            survivors[step / 8 % (WINDOW / 8)] = history;
        if (step % 32 == 31 && step >= WINDOW - 1 && step + 1 < steps) {
            uint best = 0;
            for (uint state = 1; state < STATES; state++)
                if (to[state] < to[best])
                    best = state;
            best = trace_back(survivors, best, step + 1, step - 31, &bits);
            trace_back(survivors, best, step - 31, step - 63, &bits);
            decoded[(step - 63) / 32 * frames + frame] = bits;
        }
    }
    const uint middle = trace_back(survivors, 0, steps, steps - 32, &bits);
    decoded[(steps / 32 - 1) * frames + frame] = bits;
    trace_back(survivors, middle, steps - 32, steps - 64, &bits);
    decoded[(steps / 32 - 2) * frames + frame] = bits;
}
// SPDX-License-Identifier: Apache-2.0
