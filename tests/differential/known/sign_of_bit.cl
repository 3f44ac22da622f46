/* LLVM 19's NVPTX back end converts a bit with a sign, -1, to +1.0 unless it comes straight from a comparison
 * (src/compile/repair.c). in[0] = 31: (31, 104, -32768, 1) != 31 is (0, -1, -1, -1); element in[1] = 2 of it is
 * -1, as a double bff0000000000000, as a float bf800000. */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
kernel void test(global ulong *out, global const uint *in)
{
    short4 c = (short4)(31, 104, -32768, 1) != (short4)((short)in[0]);
    short bit = shuffle(c, (ushort2)((ushort)in[1])).s1;
    out[0] = as_ulong(convert_double(bit));
    out[1] = as_uint(convert_float(bit));
}
// SPDX-License-Identifier: Apache-2.0
