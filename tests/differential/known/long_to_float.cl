/* Oclgrind 21.10 converts long to float through double and so rounds twice. 0x4000004000000001 lies just above the
 * middle of two floats: the nearest is 0x4000008000000000, 0x5e800001; the double loses the last 1 and leaves a tie. */
kernel void test(global ulong *out, global const long *in)
{
    out[0] = as_uint(convert_float(in[0]));
}
// SPDX-License-Identifier: Apache-2.0
