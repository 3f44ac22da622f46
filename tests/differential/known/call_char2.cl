/* LLVM 19's NVPTX back end ends with an error, or loses the second element, where a call passes or returns a char2.
 * Heddle's compile/repair_pairs.c has an i16 in its place. in[0] = 1: (5, -3), its second element -3, of (-3, 5) 5. */
__attribute__((noinline)) char second(int a, char2 b) { return a ? b.s1 : b.s0; }
__attribute__((noinline)) char2 turn(char2 a) { return a.yx; }
kernel void test(global ulong *out, global const uint *in)
{
    int one = (int)in[0];
    char2 a = (char2)((char)(4 + one), (char)(-4 + one));
    out[0] = (ulong)(long)second(one, a);
    out[1] = (ulong)(long)turn(a).s1;
    out[2] = (ulong)(long)second(one, turn(a));
    out[3] = (ulong)(long)turn(turn(a)).s1;
}
// SPDX-License-Identifier: Apache-2.0
