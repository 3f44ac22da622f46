/* AES-128 decryption in CBC mode by the inverse cipher as FIPS 197 writes it (section 5.3), byte by byte: a thread takes every
 * so many-th block of 16 bytes. The inverse S-box is in local memory; a column of the state is a word, row 0 lowest. */

/* The product in GF(2^8) of a byte and a constant (section 4.2). */
uint multiply(uint a, uint factor) {
    uint product = 0;
    for (; factor; factor >>= 1) {
        if (factor & 1)
            product ^= a;
        a = (a << 1 ^ (a >> 7) * 0x1b) & 255;
    }
    return product;
}

/* InvShiftRows and InvSubBytes of a column: from that of row 0 and those of which it gets the other rows. */
uint substitute(local const uchar *inverse, uint a, uint b, uint c, uint d) {
    return inverse[a & 255] | (uint)inverse[b >> 8 & 255] << 8 | (uint)inverse[c >> 16 & 255] << 16 |
           (uint)inverse[d >> 24] << 24;
}

/* InvMixColumns of a column. */
uint mix(uint column) {
    const uint a = column & 255, b = column >> 8 & 255, c = column >> 16 & 255, d = column >> 24;
    return (multiply(a, 14) ^ multiply(b, 11) ^ multiply(c, 13) ^ multiply(d, 9)) |
           (multiply(a, 9) ^ multiply(b, 14) ^ multiply(c, 11) ^ multiply(d, 13)) << 8 |
           (multiply(a, 13) ^ multiply(b, 9) ^ multiply(c, 14) ^ multiply(d, 11)) << 16 |
           (multiply(a, 11) ^ multiply(b, 13) ^ multiply(c, 9) ^ multiply(d, 14)) << 24;
}

/* cipher: the initial vector, then the blocks. keys: of the 11 additions in the order in which decryption adds them, a word
 * a column. */
kernel void aes_decrypt(global const uint4 *cipher, global uint4 *plain, uint blocks, constant uint *keys,
                        global const uchar *inverse_from) {
    local uchar inverse[256];
    for (uint i = get_local_id(0); i < 256; i += get_local_size(0))
        inverse[i] = inverse_from[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint block = get_global_id(0); block < blocks; block += get_global_size(0)) {
        uint4 s = cipher[block + 1] ^ (uint4)(keys[0], keys[1], keys[2], keys[3]), t = 0;
#pragma unroll 1
        for (uint round = 1; round <= 10; round++) {
#pragma unroll 1 /* all of it is in a small instruction cache */
            for (uint column = 0; column < 4; column++) {
                uint next = substitute(inverse, s.x, s.w, s.z, s.y) ^ keys[4 * round + column];
                if (round < 10)
                    next = mix(next);
                t = (uint4)(t.yzw, next);
                s = s.yzwx;
            }
            s = t;
        }
        plain[block] = s ^ cipher[block];
    }
}
// SPDX-License-Identifier: Apache-2.0
