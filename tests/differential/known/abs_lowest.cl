/* abs of the smallest int is 2^31, which the unsigned type it returns holds and an int does not. The libraries of PoCL
 * 3.1 and libclc (whose version Heddle replaces) negate in the signed type, which LLVM takes for undefined there, and so
 * for a positive number. C gives 2: of -5, 5 and the smallest int, two have an absolute value that an int holds. */
kernel void test(global ulong *out, global const ulong *in)
{
    uint small = 0;
    for (int i = 0; i < 3; i++)
        small += as_int(abs(as_int((uint)in[i]))) >= 0;
    out[0] = small;
}
// SPDX-License-Identifier: Apache-2.0
