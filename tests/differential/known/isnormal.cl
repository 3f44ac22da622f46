/* Oclgrind 21.10 calls denormal floats normal. C99 7.12.3.5: isnormal is false for zero, denormal, infinite and NaN.
 * Inputs: the smallest denormal, the largest, the smallest normal, 0. C gives 0 0 1 0. */
kernel void test(global ulong *out, global const uint *in)
{
    for (int i = 0; i < 4; i++)
        out[i] = (ulong)(isnormal(as_float(in[i])) != 0);
}
// SPDX-License-Identifier: Apache-2.0
