// SPDX-License-Identifier: Apache-2.0
// refused: heddle cc: texture references of two and three dimensions are not built
texture<float, 2, cudaReadModeElementType> reference;
int main() { return 0; }
