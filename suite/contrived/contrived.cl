/* The contrived loop: odd and even threads take turns at two tasks. A thread adds up a row of the table where its
 * number and the iteration are odd together, else it folds a column. Every warp parts in every iteration, whatever the
 * data; if the odd threads ran one iteration ahead, all could do the same task together. */
#define SIDE 32

kernel void contrived(global const int *table, global int *out, uint iterations) {
    const uint thread = get_global_id(0);
    int sum = 0;
    for (uint i = 0; i < iterations; i++) {
        const uint at = (thread + i) % SIDE;
        if ((i + thread) & 1) {
            for (uint x = 0; x < SIDE; x++)
                sum += table[at * SIDE + x];
        } else {
            for (uint y = 0; y < SIDE; y++)
                sum ^= table[y * SIDE + at];
        }
    }
    out[thread] = sum;
}
// SPDX-License-Identifier: Apache-2.0
