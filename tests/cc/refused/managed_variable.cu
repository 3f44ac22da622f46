// SPDX-License-Identifier: Apache-2.0
// refused: heddle cc: __managed__ variables are not built
__managed__ int shared_by_both;
__global__ void kernel() { shared_by_both = 1; }
int main() { return 0; }
