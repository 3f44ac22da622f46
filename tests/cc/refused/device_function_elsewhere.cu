// SPDX-License-Identifier: Apache-2.0
// refused: the device function _Z9elsewherei is defined elsewhere, which needs -rdc=true
__device__ int elsewhere(int x);
__global__ void kernel(int *out) { *out = elsewhere(*out); }
int main() { return 0; }
