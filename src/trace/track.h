/* SPDX-License-Identifier: Apache-2.0 */
/* What one warp did, issue by issue, as bytes: what went on to the next instruction and accessed nothing is only counted. */
#ifndef HEDDLE_TRACE_TRACK_H
#define HEDDLE_TRACE_TRACK_H

#include "base/arena.h"
#include "simt/executor.h"

struct track {
    uint8_t *items;
    unsigned count, capacity; /* bytes */
    uint32_t lanes;           /* of the warp that hold threads */
};

/* Where a writer or a reader stands. Zero-initialise. */
struct track_place {
    uint32_t at;  /* reader: the next byte */
    uint32_t gap; /* writer: issues since the last entry; reader: until the next, UINT32_MAX: there is none */
    uint32_t pc;  /* of the last entry, from which the next one differs, as it does in what follows */
    uint32_t lanes;
    uint64_t address;
    bool keeps_all; /* writer: every issue is an entry, also one that anybody could guess */
};

/* One issue, beside what an executor says of it. */
struct track_issue {
    uint32_t guard;   /* lanes of the warp for which the guard holds; all: it has none */
    uint32_t members; /* lanes that it names: a .sync form, a bmov.back; 0: none */
};

/* The warp issued this. The issue is written where anybody could not guess it. */
void track_put(struct arena *arena, struct track *track, struct track_place *place, const struct track_issue *issue,
               const struct executed *executed, const struct access *access);

/* The reader stands before the first issue; false: the bytes are damaged, as below. */
bool track_begin(const struct track *track, struct track_place *place);
/* The entry at which a reader stands: place->gap is 0. */
bool track_take(const struct track *track, struct track_place *place, struct track_issue *issue,
                struct executed *executed, struct access *access);
/* The mask that the next issue of this lane at pc names; 0: it names none. */
uint32_t track_members(const struct track *track, const struct track_place *place, uint32_t pc, unsigned lane);

#endif
