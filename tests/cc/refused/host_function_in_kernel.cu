// SPDX-License-Identifier: Apache-2.0
// refused: call to __host__ function from __global__ function
static int host_only(int x) { return x; }
__global__ void kernel(int *out) { *out = host_only(1); }
int main() { return 0; }
