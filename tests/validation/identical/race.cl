// What a thread sees depends on when others' stores and atomics reach memory. Only that it is always the same is looked at.
kernel void race(global volatile int *cells, global int *seen, int count) {
    int i = get_global_id(0), sum = 0;
    for (int n = 0; n < 24; n++) {
        int to = (i * 37 + n * 101) % count, from = (i * 61 + n * 29) % count;
        sum = sum * 31 + cells[from];
        if ((i + n) % 3 == 0)
            sum += atomic_add((global int *)&cells[to], 1);
        else
            cells[to] = sum;
    }
    seen[i] = sum;
}
// SPDX-License-Identifier: Apache-2.0
