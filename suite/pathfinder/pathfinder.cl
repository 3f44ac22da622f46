/* Cheapest way down a grid, row by row, to each cell: its own cost and the smallest of the three above. A launch does several rows: a
 * work-group keeps a stretch of them in local memory, of which a cell less at each end is right after each row. */
#define BLOCK 256

bool within(int x, int least, int most) { return x >= least && x <= most; }

kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1))) void
pathfinder(int rows, global const int *cost, global const int *from, global int *to, int columns, int start, int border) {
    local int before[BLOCK], after[BLOCK];
    const int x = get_local_id(0);
    const int first = (BLOCK - 2 * rows) * (int)get_group_id(0) - border, last = first + BLOCK - 1;
    const int column = first + x;
    /* The part of the stretch that lies on the grid. */
    const int least = first < 0 ? -first : 0, most = last > columns - 1 ? BLOCK - 1 - (last - columns + 1) : BLOCK - 1;
    const int west = max(x - 1, least), east = min(x + 1, most);
    const bool valid = within(x, least, most);
    if (within(column, 0, columns - 1))
        before[x] = from[column];
    barrier(CLK_LOCAL_MEM_FENCE);
    bool computed = false;
    for (int i = 0; i < rows; i++) {
        computed = false;
        if (within(x, i + 1, BLOCK - i - 2) && valid) {
            computed = true;
            const int shortest = min(min(before[west], before[x]), before[east]);
            after[x] = shortest + cost[columns * (start + i) + column];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (i == rows - 1)
            break;
        if (computed)
            before[x] = after[x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (computed)
        to[column] = after[x];
}
// SPDX-License-Identifier: Apache-2.0
