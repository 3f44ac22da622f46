// SPDX-License-Identifier: Apache-2.0
// refused: heddle cc: texture references are not built
texture<float, 1, cudaReadModeElementType> reference;
int main() { return 0; }
