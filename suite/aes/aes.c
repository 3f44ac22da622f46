/* SPDX-License-Identifier: Apache-2.0 */
/* Host side of AES decryption: it encrypts, byte by byte as FIPS 197 describes it, and expects to get back what it had. */
#include "workload.h"

#include <string.h>

enum { BLOCK = 256, BYTES = 16, ROUNDS = 10 };

static uint8_t multiply(uint32_t a, uint32_t b) { /* in GF(2^8), section 4.2 */
    uint32_t product = 0;
    for (; b; b >>= 1, a = a << 1 ^ (a & 128 ? 0x11b : 0))
        product ^= b & 1 ? a : 0;
    return (uint8_t)product;
}

/* Section 5.1.1: the inverse in the field, then the affine map. */
static void make_substitution(uint8_t *of) {
    for (uint32_t x = 0; x < 256; x++) {
        uint32_t inverse = 0, y = 0x63;
        for (uint32_t i = 1; i < 256 && !inverse; i++)
            inverse = multiply(x, i) == 1 ? i : 0;
        for (uint32_t turn = 0; turn < 5; turn++)
            y ^= inverse << turn | inverse >> (8 - turn);
        of[x] = (uint8_t)y;
    }
}

/* Section 5.2: keys of the additions 0 to ROUNDS. */
static void expand_key(const uint8_t *substitution, const uint8_t *key, uint8_t keys[ROUNDS + 1][BYTES]) {
    uint8_t *all = keys[0], constant = 1;
    memcpy(all, key, BYTES);
    for (uint32_t i = BYTES; i < (ROUNDS + 1) * BYTES; i += 4) {
        uint8_t word[4] = {all[i - 4], all[i - 3], all[i - 2], all[i - 1]};
        if (i % BYTES == 0) {
            const uint8_t first = word[0];
            for (uint32_t n = 0; n < 4; n++)
                word[n] = substitution[n < 3 ? word[n + 1] : first];
            word[0] ^= constant;
            constant = multiply(constant, 2);
        }
        for (uint32_t n = 0; n < 4; n++)
            all[i + n] = all[i + n - BYTES] ^ word[n];
    }
}

/* Section 5.1; byte 4 c + r is row r of column c. */
static void encrypt(const uint8_t *substitution, uint8_t keys[ROUNDS + 1][BYTES], uint8_t *state) {
    for (uint32_t i = 0; i < BYTES; i++)
        state[i] ^= keys[0][i];
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        uint8_t shifted[BYTES];
        for (uint32_t i = 0; i < BYTES; i++)
            shifted[i] = substitution[state[(i + i % 4 * 4) % BYTES]];
        for (uint32_t i = 0; i < BYTES; i++) {
            const uint8_t *column = shifted + i / 4 * 4;
            state[i] = round < ROUNDS ? multiply(column[i % 4], 2) ^ multiply(column[(i + 1) % 4], 3) ^
                                            column[(i + 2) % 4] ^ column[(i + 3) % 4]
                                      : shifted[i];
            state[i] ^= keys[round][i];
        }
    }
}

/* Appendix C.1. */
static bool encrypts_as_published(const uint8_t *substitution) {
    static const uint8_t published[BYTES] = {0x69, 0xc4, 0xe0, 0xd8, 0x6a, 0x7b, 0x04, 0x30,
                                             0xd8, 0xcd, 0xb7, 0x80, 0x70, 0xb4, 0xc5, 0x5a};
    uint8_t key[BYTES], state[BYTES], keys[ROUNDS + 1][BYTES];
    for (uint32_t i = 0; i < BYTES; i++) {
        key[i] = (uint8_t)i;
        state[i] = (uint8_t)(0x11 * i);
    }
    expand_key(substitution, key, keys);
    encrypt(substitution, keys, state);
    return memcmp(state, published, BYTES) == 0;
}

/* The words of the keys' columns, keys last to first. */
static void reverse_keys(uint8_t keys[ROUNDS + 1][BYTES], uint32_t *reversed) {
    for (uint32_t round = 0; round <= ROUNDS; round++)
        for (uint32_t i = 0; i < BYTES; i++)
            reversed[4 * round + i / 4] |= (uint32_t)keys[ROUNDS - round][i] << i % 4 * 8;
}

/* Records of a table with text, numbers and padding. */
static void make_plain(uint8_t *plain, uint32_t bytes) {
    struct random r = {128};
    for (uint32_t i = 0; i < bytes; i++) {
        const uint32_t field = i % 64;
        const uint32_t byte = field < 8    ? i / 64 >> field % 4 * 8
                              : field < 40 ? 'a' + random_below(&r, 26)
                              : field < 56 ? random_below(&r, 256)
                                           : 0;
        plain[i] = (uint8_t)byte;
    }
}

static void aes(struct workload *w) {
    const uint32_t blocks = (uint32_t[]){512, 8192, 16384}[w->size], bytes = blocks * BYTES;
    const size_t threads = w->size == SIZE_TEST ? 2 * BLOCK : 4 * BLOCK;
    static const uint8_t key[BYTES + 1] = "a key of 16 byte", vector[BYTES + 1] = "its first vector";
    uint8_t substitution[256], inverse[256], keys[ROUNDS + 1][BYTES];
    uint32_t reversed[4 * (ROUNDS + 1)] = {0};
    uint8_t *plain = WORKLOAD_NEW(w, uint8_t, bytes), *cipher = WORKLOAD_NEW(w, uint8_t, bytes + BYTES);
    uint8_t *got = WORKLOAD_NEW(w, uint8_t, bytes);
    make_substitution(substitution);
    workload_expect(w, encrypts_as_published(substitution), "the host encrypts as FIPS 197 does in appendix C.1");
    for (uint32_t i = 0; i < 256; i++)
        inverse[substitution[i]] = (uint8_t)i;
    expand_key(substitution, key, keys);
    reverse_keys(keys, reversed);
    make_plain(plain, bytes);
    memcpy(cipher, vector, BYTES);
    for (uint32_t at = 0; at < bytes; at += BYTES) {
        for (uint32_t i = 0; i < BYTES; i++)
            cipher[at + BYTES + i] = plain[at + i] ^ cipher[at + i];
        encrypt(substitution, keys, cipher + at + BYTES);
    }
    cl_mem from = workload_buffer(w, bytes + BYTES, cipher), to = workload_buffer(w, bytes, NULL);
    cl_mem key_words = workload_buffer(w, sizeof reversed, reversed);
    cl_mem inverses = workload_buffer(w, sizeof inverse, inverse);
    const size_t block = workload_warp_block(w, "aes_decrypt", BLOCK, threads);
    workload_launch(w, "aes_decrypt", 1, &threads, &block, ARGUMENT(from), ARGUMENT(to), ARGUMENT(blocks),
                    ARGUMENT(key_words), ARGUMENT(inverses));
    workload_read(w, to, bytes, got);
    workload_expect(w, memcmp(got, plain, bytes) == 0, "what was encrypted is decrypted");
}

int main(int argc, char **argv) { return workload_main(argc, argv, "aes", NULL, aes); }
