/* SPDX-License-Identifier: Apache-2.0 */
#include "mem/banks.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base/bits.h"

enum status banks_create(struct banks *banks, uint32_t count, uint32_t word_bytes, const char *name,
                         struct report *report) {
    if (!bits_is_power_of_two(count) || count > BANKS_MAX)
        return report_add(report, STATUS_INVALID, "%s.banks is %" PRIu32 ": use a power of two up to %d", name, count,
                          BANKS_MAX);
    if (!bits_is_power_of_two(word_bytes))
        return report_add(report, STATUS_INVALID, "%s.bank_bytes is %" PRIu32 ": use a power of two", name, word_bytes);
    *banks = (struct banks){count, bits_first(word_bytes)};
    return STATUS_OK;
}

/* The distinct words of each bank, as chains; the longest is what counts. Few are long unless many lanes conflict. */
struct load {
    uint32_t count, worst;
    uint8_t heads[BANKS_MAX];             /* index of the bank's last word, plus 1; 0: none */
    uint8_t earlier[BANKS_ADDRESSES_MAX]; /* by word: the one before it in the bank, likewise */
    uint64_t words[BANKS_ADDRESSES_MAX];
};

static void load_clear(struct load *load, const struct banks *banks) {
    memset(load->heads, 0, banks->count);
    load->count = load->worst = 0;
}

static inline void load_add(struct load *load, const struct banks *banks, uint64_t word) {
    uint8_t *head = &load->heads[word & (banks->count - 1)];
    uint32_t length = 1;
    for (uint32_t at = *head; at; at = load->earlier[at - 1], length++)
        if (load->words[at - 1] == word)
            return;
    load->words[load->count] = word;
    load->earlier[load->count] = *head;
    *head = (uint8_t)++load->count;
    if (length > load->worst)
        load->worst = length;
}

uint32_t banks_worst(const struct banks *banks, const uint64_t *address, uint32_t count) {
    struct load load;
    load_clear(&load, banks);
    for (uint32_t i = 0; i < count; i++)
        load_add(&load, banks, address[i] >> banks->word_shift);
    return load.worst;
}

/* Passes of 32 lanes whose addresses are equally far apart, 0 where no rule is known. */
static uint32_t strided_passes(const struct banks *banks, const uint64_t address[BANKS_LANES], uint32_t bytes,
                               uint32_t parts) {
    uint64_t stride = address[1] - address[0], expected = address[0];
    for (unsigned i = 0; i < BANKS_LANES; i += 4, expected += 4 * stride)
        if (address[i] != expected || address[i + 1] != expected + stride || address[i + 2] != expected + 2 * stride ||
            address[i + 3] != expected + 3 * stride)
            return 0;
    uint64_t word_bytes = UINT64_C(1) << banks->word_shift;
    /* A lane's bytes must not reach over a boundary of its own width. */
    if ((bytes & (bytes - 1)) || ((address[0] | stride) & (bytes - 1)))
        return 0;
    if (stride == 0 && (bytes < word_bytes ? 1 : bytes >> banks->word_shift) <= banks->count)
        return parts;
    /* No gaps: the words of a part follow each other. */
    uint64_t span = (BANKS_LANES / parts - 1) * stride + bytes - 1 + (address[0] & (word_bytes - 1));
    if (stride <= (bytes > word_bytes ? bytes : word_bytes) && span >> banks->word_shift < banks->count)
        return parts;
    if (parts > 1 || stride & (word_bytes - 1))
        return 0;
    /* Words a stride apart come round to the same bank after count / gcd(stride, count) of them. */
    uint64_t words = stride >> banks->word_shift;
    uint64_t step = words & -words;
    if (step >= banks->count)
        return BANKS_LANES;
    uint32_t period = banks->count / (uint32_t)step;
    return (BANKS_LANES + period - 1) / period;
}

/* No bank is asked for two words? Each remembers the last it was asked for, then everyone looks whether it is theirs: no
 * branch that the host could guess wrong. Of aligned accesses within a word. */
static bool is_one_pass(const struct banks *banks, const uint64_t address[BANKS_LANES], uint32_t bytes, uint32_t mask) {
    uint64_t last[BANKS_MAX], others = 0, unaligned = 0;
    const unsigned shift = banks->word_shift;
    const uint64_t bank_mask = banks->count - 1;
    if (mask == UINT32_MAX) {
        for (unsigned i = 0; i < BANKS_LANES; i++)
            last[address[i] >> shift & bank_mask] = address[i];
        for (unsigned i = 0; i < BANKS_LANES; i++)
            others |= last[address[i] >> shift & bank_mask] ^ address[i], unaligned |= address[i];
    } else {
        for (BITS_EACH(i, mask))
            last[address[i] >> shift & bank_mask] = address[i];
        for (BITS_EACH(i, mask))
            others |= last[address[i] >> shift & bank_mask] ^ address[i], unaligned |= address[i];
    }
    return !(others >> shift) && !(unaligned & (bytes - 1));
}

/* Into how many parts an access goes: a power of two. */
static inline uint32_t parts_of(const struct banks *banks, uint32_t bytes) {
    const uint32_t parts = (bytes - 1) >> banks->word_shift;
    return parts >= 8 ? 16 : parts >= 4 ? 8 : parts >= 2 ? 4 : parts >= 1 ? 2 : 1;
}

/* The worst bank of each part, added up. */
static uint32_t count_passes(const struct banks *banks, const uint64_t address[BANKS_LANES], uint32_t bytes,
                             uint32_t mask, uint32_t parts) {
    const uint32_t lanes = BANKS_LANES / parts;
    uint32_t passes = 0;
    struct load load;
    for (uint32_t part = 0; part < parts; part++) {
        uint32_t active = mask & bits_low(lanes) << part * lanes;
        if (active == 0)
            continue;
        load_clear(&load, banks);
        for (uint32_t rest = active; rest; rest &= rest - 1) {
            uint64_t at = address[bits_first(rest)], last = (at + bytes - 1) >> banks->word_shift;
            for (uint64_t word = at >> banks->word_shift; word <= last; word++)
                load_add(&load, banks, word);
        }
        passes += load.worst;
    }
    return passes;
}

uint32_t banks_passes(const struct banks *banks, const uint64_t address[BANKS_LANES], uint32_t bytes, uint32_t mask) {
    const uint32_t parts = parts_of(banks, bytes);
    if (mask == UINT32_MAX) {
        uint32_t passes = strided_passes(banks, address, bytes, parts);
        if (passes)
            return passes;
    }
    if (parts == 1 && mask && !(bytes & (bytes - 1)) && is_one_pass(banks, address, bytes, mask))
        return 1;
    return count_passes(banks, address, bytes, mask, parts);
}

/* Active lanes have the address of the lane `apart` from theirs, as far as that one is active. */
static bool is_paired(const uint64_t address[BANKS_LANES], uint32_t mask, unsigned apart) {
    for (BITS_EACH(lane, mask))
        if (mask >> (lane ^ apart) & 1 && address[lane] != address[lane ^ apart])
            return false;
    return true;
}

uint32_t banks_passes_paired(const struct banks *banks, const uint64_t address[BANKS_LANES], uint32_t bytes,
                             uint32_t mask) {
    const uint32_t parts = parts_of(banks, bytes);
    if (parts == 1 || !(is_paired(address, mask, 1) || is_paired(address, mask, 2)))
        return banks_passes(banks, address, bytes, mask);
    return count_passes(banks, address, bytes, mask, parts / 2);
}
