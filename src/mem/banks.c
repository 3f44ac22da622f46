#include "mem/banks.h"

#include <inttypes.h>
#include <string.h>

#include "base/bits.h"
#include "mem/distinct.h"

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

/* Distinct words, and how many of them each bank has. */
struct load {
    struct distinct words;
    uint32_t worst;
    uint8_t words_of[BANKS_MAX];
};

static void load_clear(struct load *load, const struct banks *banks) {
    distinct_clear(&load->words);
    memset(load->words_of, 0, banks->count);
    load->worst = 0;
}

static void load_add(struct load *load, const struct banks *banks, uint64_t word) {
    uint32_t before = load->words.count;
    distinct_add(&load->words, word);
    if (load->words.count == before)
        return;
    uint32_t here = ++load->words_of[word & (banks->count - 1)];
    if (here > load->worst)
        load->worst = here;
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
    uint64_t stride = address[1] - address[0], expected = address[0], difference = 0;
    for (unsigned i = 0; i < BANKS_LANES; i++, expected += stride)
        difference |= address[i] ^ expected;
    uint64_t word_bytes = UINT64_C(1) << banks->word_shift;
    /* A lane's bytes must not reach over a boundary of its own width. */
    if (difference || (bytes & (bytes - 1)) || ((address[0] | stride) & (bytes - 1)))
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

uint32_t banks_passes(const struct banks *banks, const uint64_t address[BANKS_LANES], uint32_t bytes, uint32_t mask) {
    uint32_t parts = (bytes - 1) >> banks->word_shift;
    parts = parts >= 8 ? 16 : parts >= 4 ? 8 : parts >= 2 ? 4 : parts >= 1 ? 2 : 1;
    if (mask == UINT32_MAX) {
        uint32_t passes = strided_passes(banks, address, bytes, parts);
        if (passes)
            return passes;
    }
    uint32_t lanes = BANKS_LANES / parts, passes = 0;
    struct load load;
    for (uint32_t part = 0; part < parts; part++) {
        uint32_t active = mask & bits_low(lanes) << part * lanes;
        if (active == 0)
            continue;
        load_clear(&load, banks);
        for (BITS_EACH(lane, active)) {
            uint64_t last = (address[lane] + bytes - 1) >> banks->word_shift;
            for (uint64_t word = address[lane] >> banks->word_shift; word <= last; word++)
                load_add(&load, banks, word);
        }
        passes += load.worst;
    }
    return passes;
}
