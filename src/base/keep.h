/* SPDX-License-Identifier: Apache-2.0 */
/* State written as bytes and read back, for checkpoints. One function of each part does both, so that what is read is what was
 * written, in the order of the calls. Bytes that are read are hostile: every number has its bounds, and `good` turns false at the
 * first that is not there or beyond them; from then on all are 0, and loops over counts that were read end at once. */
#ifndef HEDDLE_BASE_KEEP_H
#define HEDDLE_BASE_KEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zero-initialise, then keep_to_write or keep_to_read. */
struct keep {
    bool writes, good;
    const char *lacks; /* the first part that cannot be kept, for a message; NULL: none */
    const char *name;  /* of that, where it has one; else "" */
    uint8_t *items;    /* written so far */
    size_t count, capacity;
    const uint8_t *data; /* to be read */
    size_t at, end;
};

void keep_to_write(struct keep *keep);
void keep_to_read(struct keep *keep, const void *data, size_t bytes);
/* Of what was written. */
void keep_free(struct keep *keep);

/* At most `most`. */
void keep_u64(struct keep *keep, uint64_t *value, uint64_t most);
void keep_u32(struct keep *keep, uint32_t *value, uint32_t most);
void keep_u16(struct keep *keep, uint16_t *value, uint16_t most);
void keep_u8(struct keep *keep, uint8_t *value, uint8_t most);
void keep_bool(struct keep *keep, bool *value);
/* So many of any value: statistics, which are structs of nothing else. */
void keep_counts(struct keep *keep, void *counts, size_t bytes);
/* A cycle within 2^40 after `now`, or any before it, or UINT64_MAX (never). */
void keep_cycle(struct keep *keep, uint64_t *value, uint64_t now);
void keep_bytes(struct keep *keep, void *data, size_t bytes);
/* Something that is not as it may be. */
static inline void keep_check(struct keep *keep, bool holds) { keep->good &= holds; }
/* The part has no way to be kept. */
void keep_refuse_named(struct keep *keep, const char *part, const char *name);
static inline void keep_refuse(struct keep *keep, const char *part) { keep_refuse_named(keep, part, ""); }

#endif
