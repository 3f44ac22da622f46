/* Needleman-Wunsch: the score of the best global alignment of all beginnings of two sequences. A group fills a tile of the
 * matrix, a thread a column of it, one row behind its left neighbour: a wave goes from corner to corner. The tiles of an
 * anti-diagonal are independent, a launch each. The matrix is stored by anti-diagonals, so that a wave lies together. */
#ifndef TILE
#define TILE 256 /* columns, rows, and threads of a group */
#endif
#define MATCH 5
#define MISMATCH (-4)
#define GAP 7

#define AT(row, column) (((row) + (column)) * (length + 1) + (column))

/* first_tile: row of tiles of the diagonal's first, topmost one; diagonal: sum of a tile's row and column, in tiles. */
kernel void needleman_tiles(global const char *across, global const char *down, global int *scores, uint length,
                            uint diagonal, uint first_tile) {
    local int wave[2][TILE + 1];
    local char letters[TILE];
    const uint me = get_local_id(0), tile_row = first_tile + get_group_id(0);
    const uint top = tile_row * TILE, column = (diagonal - tile_row) * TILE + me + 1;
    const char letter = across[column - 1];
    int up = scores[AT(top, column)], corner = scores[AT(top, column - 1)];
    letters[me] = down[top + me];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = 0; step < 2 * TILE - 1; step++) {
        const uint row = step - me; /* wraps while the wave has not come */
        if (row < TILE) {
            const int left = me ? wave[step % 2][me - 1] : scores[AT(top + row + 1, column - 1)];
            int best = corner + (letters[row] == letter ? MATCH : MISMATCH);
            best = max(best, max(left, up) - GAP);
            scores[AT(top + row + 1, column)] = best;
            wave[(step + 1) % 2][me] = best;
            corner = left;
            up = best;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
// SPDX-License-Identifier: Apache-2.0
