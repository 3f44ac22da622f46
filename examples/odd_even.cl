// Odd and even threads take turns at two tasks: with i + thread even a row of the table is summed, else a column.
// Every warp diverges in every iteration, whatever the data. Reconverging at the end of the if it does one task after
// the other; if the odd threads ran one iteration ahead, all could do the same one together.
// "heddle oracle examples/odd_even" says what that would be worth.
#define SIDE 32

kernel void odd_even(global const int *table, global int *out, uint iterations) {
    uint thread = get_global_id(0);
    int sum = 0;
    for (uint i = 0; i < iterations; i++) {
        uint at = (thread + i) % SIDE;
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
