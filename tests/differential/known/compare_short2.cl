/* LLVM 19's NVPTX back end cannot select a comparison of two short2 (src/compile/repair.c). in[0] = (1, 2) and
 * in[1] = (1, 3): equal gives (-1, 0), 0000ffff, less (0, -1), ffff0000. */
kernel void test(global ulong *out, global const short2 *in)
{
    out[0] = as_uint(in[0] == in[1]);
    out[1] = as_uint(in[0] < in[1]);
}
// SPDX-License-Identifier: Apache-2.0
