/* The OpenCL C specification (6.2.3.3) has NaN converted to 0 in saturated conversions, as a "should"; Oclgrind 21.10
 * gives the smallest value for int. The generator therefore keeps NaN out of conversions to integers. */
kernel void test(global ulong *out, global const uint *in)
{
    float x = as_float(in[0]);
    out[0] = (ulong)(uint)convert_int_sat(x - x);
}
// SPDX-License-Identifier: Apache-2.0
