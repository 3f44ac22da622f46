/* Temperature of a chip, a step in time: a thread takes every so many-th cell of the grid, and from its temperature, its
 * power, the temperatures of its four neighbours and of the air above the cell's temperature a step later. Beyond the edge
 * it is as warm as at the edge. */
kernel void hotspot_step(global const float *temperature, global const float *power, global float *next, uint columns,
                         uint rows, float of_power, float across, float down, float above, float air) {
    for (uint cell = get_global_id(0); cell < columns * rows; cell += get_global_size(0)) {
        const uint column = cell % columns, row = cell / columns;
        const float here = temperature[cell];
        const float north = row > 0 ? temperature[cell - columns] : here;
        const float south = row < rows - 1 ? temperature[cell + columns] : here;
        const float west = column > 0 ? temperature[cell - 1] : here;
        const float east = column < columns - 1 ? temperature[cell + 1] : here;
        next[cell] = here + (of_power * power[cell] + down * (north + south - 2 * here) +
                             across * (east + west - 2 * here) + above * (air - here));
    }
}
// SPDX-License-Identifier: Apache-2.0
