/* LLVM 19's NVPTX back end loads an element of a vector in private memory, with a computed index, from generic memory
 * (src/compile/repair.c). in[0] = 1 writes (5, 6, 7, 8) behind (1, 2, 3, 4): element in[1] = 2 of vector 1 is 7,
 * element in[2] = 3 of vector 0 is 4. */
kernel void test(global ulong *out, global const uint *in)
{
    ulong4 v[2];
    v[0] = (ulong4)(1, 2, 3, 4);
    v[in[0]] = (ulong4)(5, 6, 7, 8);
    out[0] = shuffle(v[in[0]], (ulong2)(in[1])).s1;
    out[1] = shuffle(v[in[0] - 1], (ulong2)(in[2])).s1;
}
// SPDX-License-Identifier: Apache-2.0
