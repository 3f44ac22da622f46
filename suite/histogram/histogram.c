/* SPDX-License-Identifier: Apache-2.0 */
/* Host side of the histogram: text of a made-up language with the letter frequencies of English, in sentences and lines. */
#include "workload.h"

enum { BLOCK = 256, BINS = 256 };

/* Thousandths of the letters a to z in English prose. */
static const uint8_t shares[26] = {82, 15, 28, 43, 127, 22, 20, 61, 70, 2,  8, 40, 24,
                                   67, 75, 19, 1,  60,  63, 91, 28, 10, 24, 1, 20, 1};

static char draw_letter(struct random *r) {
    uint32_t left = random_below(r, 1002), letter = 0;
    while (letter < 25 && left >= shares[letter])
        left -= shares[letter++];
    return (char)('a' + letter);
}

static void make_text(char *text, uint32_t length) {
    struct random r = {77};
    uint32_t line = 0;
    for (uint32_t at = 0, capital = 1; at < length;) {
        const uint32_t letters = 1 + random_below(&r, 5) + random_below(&r, 5);
        for (uint32_t i = 0; i < letters && at < length; i++, line++) {
            const char letter = draw_letter(&r);
            text[at++] = (char)(capital ? letter - 'a' + 'A' : letter);
            capital = 0;
        }
        const uint32_t draw = random_below(&r, 64);
        capital = draw < 5;
        if (at < length && draw < 12)
            text[at++] = capital ? draw == 4 ? '?' : '.' : ',';
        if (at < length)
            text[at++] = line > 64 ? '\n' : ' ';
        line = line > 64 ? 0 : line + 1;
    }
}

static void histogram(struct workload *w) {
    const uint32_t length = (uint32_t[]){1 << 17, 1 << 24, 1 << 24}[w->size], words = length / 4;
    const size_t threads = w->size == SIZE_TEST ? 2 * BLOCK : 4 * BLOCK;
    char *text = WORKLOAD_NEW(w, char, length);
    uint32_t got[BINS], expected[BINS] = {0}, *pairs = WORKLOAD_NEW(w, uint32_t, BINS * BINS);
    make_text(text, length);
    cl_mem from = workload_buffer(w, length, text), total = workload_buffer(w, sizeof got, NULL);
    const size_t block = workload_warp_block(w, "histogram", BLOCK, threads);
    workload_launch(w, "histogram", 1, &threads, &block, ARGUMENT(from), ARGUMENT(words), ARGUMENT(total));
    workload_read(w, total, sizeof got, got);
    /* Pairs are counted, and letters in pairs. */
    for (uint32_t i = 0; i < length; i += 2)
        pairs[(uint8_t)text[i] * BINS + (uint8_t)text[i + 1]]++;
    for (uint32_t i = 0; i < BINS * BINS; i++) {
        expected[i / BINS] += pairs[i];
        expected[i % BINS] += pairs[i];
    }
    workload_equal_u32(w, "bin", got, expected, BINS);
}

int main(int argc, char **argv) { return workload_main(argc, argv, "histogram", NULL, histogram); }
