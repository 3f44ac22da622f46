/* Oclgrind 21.10 (as libclc, whose version Heddle replaces) saturates 0 - LONG_MIN to the wrong end: 2^63 is above the
 * range, so the nearest value is LONG_MAX. */
kernel void test(global ulong *out, global const ulong *in)
{
    out[0] = as_ulong(sub_sat(as_long(in[0]), as_long(in[1])));
}
// SPDX-License-Identifier: Apache-2.0
