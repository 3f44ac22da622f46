/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as bytes, seven bits in each, the lowest first; what is negative as well as positive with its sign lowest. */
#ifndef HEDDLE_TRACE_BYTES_H
#define HEDDLE_TRACE_BYTES_H

#include <stdbool.h>
#include <stdint.h>

enum { NUMBER_BYTES_MAX = 10 };

/* Bytes to be read; `good` turns false at the first that is not there. */
struct bytes_reader {
    const uint8_t *data;
    uint64_t at, end;
    bool good;
};

/* Where bytes are written to; there is room for all of them. */
struct bytes_writer {
    uint8_t *to;
    uint64_t at;
};

static inline void byte_put(struct bytes_writer *out, unsigned byte) { out->to[out->at++] = (uint8_t)byte; }

static inline void number_put(struct bytes_writer *out, uint64_t value) {
    for (; value > 0x7f; value >>= 7)
        byte_put(out, (unsigned)(value & 0x7f) | 0x80);
    byte_put(out, (unsigned)value);
}

static inline uint64_t number_take(struct bytes_reader *from) {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && from->at < from->end; shift += 7) {
        const uint8_t byte = from->data[from->at++];
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return value;
    }
    from->good = false;
    return 0;
}

static inline uint8_t byte_take(struct bytes_reader *from) {
    if (from->at < from->end)
        return from->data[from->at++];
    from->good = false;
    return 0;
}

/* A number of at most 32 bits. */
static inline uint32_t word_take(struct bytes_reader *from) {
    const uint64_t value = number_take(from);
    from->good &= value <= UINT32_MAX;
    return (uint32_t)value;
}

/* From one number to the next, which may be lower. */
static inline uint64_t step_of(uint64_t from, uint64_t to) {
    const uint64_t by = to - from;
    return by << 1 ^ (by >> 63 ? UINT64_MAX : 0);
}

static inline uint64_t step_from(uint64_t from, uint64_t step) {
    return from + (step >> 1 ^ (step & 1 ? UINT64_MAX : 0));
}

#endif
