/* Optimised, LLVM 14 makes `s & 3` an integer of two bits, which Oclgrind 21.10 does not cut to its width, so no case
 * matches. oracle.c builds with -cl-opt-disable for Oclgrind; this shows that it is enough. C gives 5 6 7 7. */
ulong pick(uint s) { return (s & 3) == 0 ? 5 : (s & 3) == 1 ? 6 : 7; }
kernel void test(global ulong *out, global const uint *in)
{
    for (int i = 0; i < 4; i++)
        out[i] = pick(in[i]);
}
// SPDX-License-Identifier: Apache-2.0
