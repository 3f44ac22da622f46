/* libclc (whose version Heddle replaces) multiplies the low halves of two long in a signed type, which overflows; where
 * LLVM knows a number to be negative it makes use of that. -3 * -3 is 9, so the high half is 0. */
kernel void test(global ulong *out, global const uint *in)
{
    long x = (short)in[0];
    if (x < -2)
        out[0] = as_ulong(mul_hi((long4)(x), (long4)(x)).s1);
}
// SPDX-License-Identifier: Apache-2.0
