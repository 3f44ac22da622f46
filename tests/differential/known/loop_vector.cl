/* LLVM 19's InstCombine (scalarizePHI) swaps the operands of what a loop does to a vector of which one element is used
 * afterwards: 3 - v becomes v - 3. Heddle runs what clang 19 compiles, so its result is wrong too; without optimisation
 * (-O0) it is right. in[0] = 10, one turn: 3 - 10 is -7, c0e00000; 10 - 3 would be 7, 40e00000. */
kernel void test(global ulong *out, global const uint *in)
{
    float4 v = (float4)(convert_float(in[0]));
    for (uint i = 0; i < in[1]; i++)
        v = (float4)(3.0f) - v;
    out[0] = as_uint(v.s1);
}
// SPDX-License-Identifier: Apache-2.0
