/* AES-128 decryption in CBC mode by the equivalent inverse cipher (FIPS 197, section 5.3.5): a thread takes every so many-th
 * block of 16 bytes. The table, which does what InvSubBytes and InvMixColumns do to a byte in row 0, is in local memory beside
 * the inverse S-box; a column of the state is a word, row 0 lowest. */

uint mix_column(local const uint *table, uint a, uint b, uint c, uint d) {
    return table[a & 255] ^ rotate(table[b >> 8 & 255], 8u) ^ rotate(table[c >> 16 & 255], 16u) ^
           rotate(table[d >> 24], 24u);
}

uint substitute_column(local const uchar *inverse, uint a, uint b, uint c, uint d) {
    return inverse[a & 255] | (uint)inverse[b >> 8 & 255] << 8 | (uint)inverse[c >> 16 & 255] << 16 |
           (uint)inverse[d >> 24] << 24;
}

/* cipher: the initial vector, then the blocks. keys: of the 11 additions in the order in which decryption adds them. */
kernel void aes_decrypt(global const uint4 *cipher, global uint4 *plain, uint blocks, constant uint4 *keys,
                        global const uint *table_from, global const uchar *inverse_from) {
    local uint table[256];
    local uchar inverse[256];
    for (uint i = get_local_id(0); i < 256; i += get_local_size(0)) {
        table[i] = table_from[i];
        inverse[i] = inverse_from[i];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint block = get_global_id(0); block < blocks; block += get_global_size(0)) {
        uint4 s = cipher[block + 1] ^ keys[0], t;
        for (uint round = 1; round < 10; round++) {
            t.x = mix_column(table, s.x, s.w, s.z, s.y);
            t.y = mix_column(table, s.y, s.x, s.w, s.z);
            t.z = mix_column(table, s.z, s.y, s.x, s.w);
            t.w = mix_column(table, s.w, s.z, s.y, s.x);
            s = t ^ keys[round];
        }
        t.x = substitute_column(inverse, s.x, s.w, s.z, s.y);
        t.y = substitute_column(inverse, s.y, s.x, s.w, s.z);
        t.z = substitute_column(inverse, s.z, s.y, s.x, s.w);
        t.w = substitute_column(inverse, s.w, s.z, s.y, s.x);
        plain[block] = t ^ keys[10] ^ cipher[block];
    }
}
