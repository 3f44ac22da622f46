/* Oclgrind 21.10 saturates mad_sat of long too early. In exact integers:
 *   -1 * (2^63 - 1) + 2^31 = -2^63 + 2^31 + 1, which a long holds: 0x8000000080000001.
 *   0x1e38d674559b * -1 + (-0x2f0f145ff2f3a717) = 0xd0f0cd673698034e, which it holds too. */
kernel void test(global ulong *out, global const ulong *in)
{
    for (int i = 0; i < 2; i++)
        out[i] = as_ulong(mad_sat(as_long(in[3 * i]), as_long(in[3 * i + 1]), as_long(in[3 * i + 2])));
}
// SPDX-License-Identifier: Apache-2.0
