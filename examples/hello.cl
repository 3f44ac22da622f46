// printf from a kernel. Text appears when the launch is over, ordered by block and thread, so that it is the same in
// every run.

__kernel void hello(void) {
    if (get_local_id(0) % 16 == 0)
        printf("thread %d of block %d is lane %d of its warp\n", (int)get_local_id(0), (int)get_group_id(0),
               (int)get_local_id(0) % 32);
}
// SPDX-License-Identifier: Apache-2.0
