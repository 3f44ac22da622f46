/* N queens: in how many ways can n queens stand on a board of n x n so that none attacks another? A thread per beginning of a
 * solution, the queens of the first rows, tries all that goes on from there, with a stack of its own in private memory.
 * Masks have a bit for each column: taken, and attacked along either diagonal. */
#define ROWS_MAX 20

kernel void count_solutions(global const uint *columns, global const uint *falling, global const uint *rising,
                            uint beginnings, int rows_left, uint board, global uint *solutions) {
    const uint me = get_global_id(0);
    if (me >= beginnings)
        return;
    uint taken[ROWS_MAX], down[ROWS_MAX], up[ROWS_MAX], free_columns[ROWS_MAX];
    uint found = 0;
    int row = 0;
    taken[0] = columns[me], down[0] = falling[me], up[0] = rising[me];
    free_columns[0] = board & ~(taken[0] | down[0] | up[0]);
    while (row >= 0) {
        const uint choices = free_columns[row];
        if (choices == 0) {
            row--;
            continue;
        }
        const uint queen = choices & -choices;
        free_columns[row] = choices ^ queen;
        if (row + 1 == rows_left) {
            found++;
            continue;
        }
        taken[row + 1] = taken[row] | queen;
        down[row + 1] = (down[row] | queen) << 1;
        up[row + 1] = (up[row] | queen) >> 1;
        row++;
        free_columns[row] = board & ~(taken[row] | down[row] | up[row]);
    }
    solutions[me] = found;
}
// SPDX-License-Identifier: Apache-2.0
