// SPDX-License-Identifier: Apache-2.0
// refused: heddle cc: synchronising a whole grid is not built
#include <cooperative_groups.h>
__global__ void kernel() { cooperative_groups::this_grid().sync(); }
int main() { return 0; }
