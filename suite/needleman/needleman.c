/* SPDX-License-Identifier: Apache-2.0 */
/* Host side of Needleman-Wunsch: a piece of DNA and what evolution made of it. The host fills the matrix row by row. */
#include "workload.h"

#include <stdio.h>

enum { TILE = 256, MATCH = 5, MISMATCH = -4, GAP = 7 };

/* Bases with memory of the last: repeats are more frequent than chance, C followed by G is rare. */
static void make_dna(struct random *r, char *to, uint32_t length) {
    for (uint32_t i = 0, last = 0; i < length; i++) {
        const uint32_t draw = random_below(r, 16);
        last = draw < 3 ? last : draw % 4;
        if (i && to[i - 1] == 'C' && last == 2 && random_below(r, 4))
            last = 3;
        to[i] = "ACGT"[last];
        if (i > 40 && random_below(r, 100) == 0) /* a short tandem repeat */
            for (uint32_t n = 6 + random_below(r, 12); n && i + 1 < length; n--, i++)
                to[i + 1] = to[i - 2];
    }
}

/* One base in 12 replaced, one in 40 the start of an insertion or a deletion. */
static void mutate(struct random *r, const char *from, char *to, uint32_t length) {
    for (uint32_t i = 0, j = 0; i < length; i++, j++) {
        const uint32_t draw = random_below(r, 240);
        if (draw < 3)
            j += 1 + random_below(r, 5);
        else if (draw < 6)
            for (uint32_t n = 1 + random_below(r, 5); n && i < length - 1; n--)
                to[i++] = "ACGT"[random_below(r, 4)];
        to[i] = draw >= 220 || j >= length ? "ACGT"[random_below(r, 4)] : from[j];
    }
}

/* The matrix once more, of which two rows are kept. */
static void compare_rows(struct workload *w, const char *across, const char *down, uint32_t length,
                         const int32_t *scores) {
    int32_t *rows = WORKLOAD_NEW(w, int32_t, 2 * (length + 1));
    uint32_t *got = WORKLOAD_NEW(w, uint32_t, length + 1), *expected = WORKLOAD_NEW(w, uint32_t, length + 1);
    for (uint32_t row = 0; row <= length && !w->wrong; row++) {
        int32_t *now = rows + row % 2 * (length + 1);
        const int32_t *above = rows + (row + 1) % 2 * (length + 1);
        for (uint32_t column = 0; column <= length; column++) {
            const int32_t gap_down = row ? above[column] - GAP : INT32_MIN / 2;
            const int32_t gap_across = column ? now[column - 1] - GAP : INT32_MIN / 2;
            int32_t best = gap_down > gap_across ? gap_down : gap_across;
            if (row && column) {
                const int32_t paired = above[column - 1] + (across[column - 1] == down[row - 1] ? MATCH : MISMATCH);
                best = paired > best ? paired : best;
            }
            now[column] = row || column ? best : 0;
            got[column] = (uint32_t)scores[(size_t)(row + column) * (length + 1) + column];
            expected[column] = (uint32_t)now[column];
        }
        workload_equal_u32(w, "score in a row", got, expected, length + 1);
    }
}

static void needleman(struct workload *w) {
    const uint32_t length = (uint32_t[]){256, 2048, 2048}[w->size];
    const size_t tile = workload_warp_block(w, "needleman_tiles", TILE, length);
    const uint32_t tiles = (uint32_t)(length / tile);
    char *across = WORKLOAD_NEW(w, char, length), *down = WORKLOAD_NEW(w, char, length);
    const size_t cells = (size_t)(2 * length + 1) * (length + 1);
    int32_t *scores = WORKLOAD_NEW(w, int32_t, cells);
    struct random r = {31};
    make_dna(&r, across, length);
    mutate(&r, across, down, length);
    for (uint32_t i = 0; i <= length; i++) {
        scores[(size_t)i * (length + 1)] = -(int32_t)i * GAP;     /* row i, column 0 */
        scores[(size_t)i * (length + 1) + i] = -(int32_t)i * GAP; /* row 0, column i */
    }
    if (tile > TILE) {
        char options[32];
        snprintf(options, sizeof options, "-DTILE=%zu", tile);
        workload_rebuild(w, options);
    }
    cl_mem a = workload_buffer(w, length, across), b = workload_buffer(w, length, down);
    cl_mem matrix = workload_buffer(w, cells * sizeof *scores, scores);
    for (uint32_t diagonal = 0; diagonal < 2 * tiles - 1; diagonal++) {
        const uint32_t first = diagonal < tiles ? 0 : diagonal - tiles + 1;
        const uint32_t count = diagonal < tiles ? diagonal + 1 : 2 * tiles - 1 - diagonal;
        workload_launch(w, "needleman_tiles", 1, ((size_t[]){count * tile}), &tile, ARGUMENT(a), ARGUMENT(b),
                        ARGUMENT(matrix), ARGUMENT(length), ARGUMENT(diagonal), ARGUMENT(first));
    }
    workload_read(w, matrix, cells * sizeof *scores, scores);
    compare_rows(w, across, down, length, scores);
}

int main(int argc, char **argv) { return workload_main(argc, argv, "needleman", NULL, needleman); }
