/* SPDX-License-Identifier: Apache-2.0 */
/* Host side of Viterbi decoding: random messages, encoded, with bits flipped by a channel whose noise comes in bursts. A decoded
 * frame is right when its code is as near to what was received as any code is; how near that is, the host finds from the end
 * of the frame to its begin. */
#include "workload.h"

enum { SYMBOLS_PER_WORD = 16 };

static uint32_t parity(uint32_t x) {
    x ^= x >> 2;
    return (x ^ x >> 1) & 1;
}

/* Shift register of three, newest bit highest: by the taps of the generators 111 and 101. */
static uint32_t shift_in(uint32_t *shifted, uint32_t bit) {
    *shifted = *shifted >> 1 | bit << 2;
    return parity(*shifted & 7) << 1 | parity(*shifted & 5);
}

static uint32_t differing(uint32_t a, uint32_t b) { return ((a ^ b) & 1) + ((a ^ b) >> 1); }

struct stream {
    uint32_t frames, steps, *received;
};

static uint32_t get_symbol(const struct stream *s, uint32_t frame, uint32_t step) {
    return s->received[step / SYMBOLS_PER_WORD * s->frames + frame] >> step % SYMBOLS_PER_WORD * 2 & 3;
}

/* A flip in 50 bits, in bursts one in 8. */
static struct stream make_stream(struct workload *w, uint32_t frames, uint32_t steps) {
    struct stream s = {frames, steps, WORKLOAD_NEW(w, uint32_t, (size_t)frames * steps / SYMBOLS_PER_WORD)};
    struct random r = {9};
    for (uint32_t frame = 0; frame < frames; frame++)
        for (uint32_t step = 0, shifted = 0, burst = 0; step < steps; step++) {
            uint32_t symbol = shift_in(&shifted, step + 2 < steps ? random_below(&r, 2) : 0);
            burst = burst ? burst - 1 : random_below(&r, 256) == 0 ? 12 : 0;
            symbol ^= random_below(&r, burst ? 8 : 50) == 0 ? 1 : 0;
            symbol ^= random_below(&r, burst ? 8 : 50) == 0 ? 2 : 0;
            s.received[step / SYMBOLS_PER_WORD * frames + frame] |= symbol << step % SYMBOLS_PER_WORD * 2;
        }
    return s;
}

/* The least number of flips that any message explains, from the end of the frame, where the register is empty but for its
 * oldest bit. */
static uint32_t find_nearest(const struct stream *s, uint32_t frame) {
    uint32_t ahead[8];
    for (uint32_t i = 0; i < 8; i++)
        ahead[i] = i > 1 ? UINT32_MAX / 2 : 0;
    for (uint32_t step = s->steps; step-- > 0;) {
        uint32_t before[8];
        for (uint32_t shifted = 0; shifted < 8; shifted++) {
            before[shifted] = UINT32_MAX;
            for (uint32_t bit = 0; bit < 2; bit++) {
                uint32_t after = shifted;
                const uint32_t flips = differing(shift_in(&after, bit), get_symbol(s, frame, step)) + ahead[after];
                before[shifted] = flips < before[shifted] ? flips : before[shifted];
            }
        }
        for (uint32_t i = 0; i < 8; i++)
            ahead[i] = before[i];
    }
    return ahead[0];
}

static void viterbi(struct workload *w) {
    const uint32_t frames = w->size == SIZE_TEST ? 256 : 1024;
    const size_t block = w->size == SIZE_TEST ? 128 : workload_warp_block(w, "viterbi", 256, frames);
    const struct stream s = make_stream(w, frames, (uint32_t[]){96, 512, 2048}[w->size]);
    const size_t words = (size_t)frames * s.steps / 32;
    uint32_t *decoded = WORKLOAD_NEW(w, uint32_t, words), *flips = WORKLOAD_NEW(w, uint32_t, frames);
    uint32_t *expected = WORKLOAD_NEW(w, uint32_t, frames);
    cl_mem received = workload_buffer(w, 2 * words * sizeof(uint32_t), s.received);
    cl_mem to = workload_buffer(w, words * sizeof(uint32_t), NULL);
    workload_launch(w, "viterbi", 1, (size_t[]){frames}, &block, ARGUMENT(received), ARGUMENT(to), ARGUMENT(s.steps),
                    LOCAL_BYTES(block * 17 * sizeof(uint32_t)));
    workload_read(w, to, words * sizeof(uint32_t), decoded);
    for (uint32_t frame = 0; frame < frames; frame++) {
        uint32_t shifted = 0;
        for (uint32_t step = 0; step < s.steps; step++) {
            const uint32_t bit = decoded[step / 32 * frames + frame] >> step % 32 & 1;
            flips[frame] += differing(shift_in(&shifted, bit), get_symbol(&s, frame, step));
        }
        workload_expect(w, shifted <= 1, "the message ends with two zeroes");
        expected[frame] = find_nearest(&s, frame);
    }
    workload_equal_u32(w, "flips", flips, expected, frames);
}

int main(int argc, char **argv) { return workload_main(argc, argv, "viterbi", NULL, viterbi); }
