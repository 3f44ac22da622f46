/* The difference of 31 and the smallest int is 0x8000001f, which the unsigned type that abs_diff returns holds and an
 * int does not. PoCL 3.1's library subtracts in the signed type, which LLVM takes for undefined there: any case of the
 * switch will do. 131 times it, modulo 8, is 5: C never gets to case 6. */
kernel void test(global ulong *out, global const uint *in)
{
    for (uint i = 0; i < in[0]; i++)
        switch ((131u * abs_diff(31, (int)2147483648u)) & 7) {
        case 6: out[0] = 1;
        }
}
// SPDX-License-Identifier: Apache-2.0
