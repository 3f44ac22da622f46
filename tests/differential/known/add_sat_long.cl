/* Oclgrind 21.10 misses that LONG_MIN + LONG_MIN overflows: -2^64 is below the range, so the nearest value is
 * LONG_MIN. */
kernel void test(global ulong *out, global const ulong *in)
{
    out[0] = as_ulong(add_sat(as_long(in[0]), as_long(in[1])));
}
// SPDX-License-Identifier: Apache-2.0
