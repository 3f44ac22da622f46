/* SPDX-License-Identifier: Apache-2.0 */
/* A cache with its MSHRs: tags only, since device memory holds the only values.
 *
 * An access touches one atom: a sector where the cache has sectors, else a line. The owner cuts what it has into atoms
 * (mem/coalesce.h), gives each to cache_access, and sends down what that says; latency, ports and banks (mem/banks.h)
 * are the owner's pipeline. When an atom asked for arrives, cache_fill says who waited. An access that is blocked
 * changes nothing and says what it waits for: the owner keeps it and offers it again when cache_unblocks says so after
 * a fill, or when there is the room it asked for. Offering it every cycle gives the same, slower; only the room needed
 * can change while it waits (another line may have become the one to leave), so an owner keeps to one of the two ways.
 *
 * Order of the tests of an access: found; on its way and can merge; on its way but full; no MSHR; all ways reserved; no
 * room below. An accepted access whose line is there makes it the most recent.
 *
 * Addresses are of whatever space the owner likes (a memory partition may use its own), below 2^60. */
#ifndef HEDDLE_MEM_CACHE_H
#define HEDDLE_MEM_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/keep.h"
#include "base/param.h"
#include "base/stat.h"
#include "base/status.h"
#include "mem/request.h"
#include "mem/set_index.h"

enum cache_write_policy { CACHE_BACK, CACHE_THROUGH, CACHE_EVICT, CACHE_LOCAL_BACK };
enum cache_write_allocate { CACHE_WRITE_NONE, CACHE_WRITE_FETCH, CACHE_WRITE_LAZY };
enum cache_allocate { CACHE_ON_MISS, CACHE_ON_FILL };

#define PARAM PARAM_FIELD
struct cache_params {
#include "mem/cache_params.def"
    const void *policy; /* values of the own keys of its replacement policy */
};
#undef PARAM

#define STAT(field, unit, help) uint64_t field;
#define SHARE(...)
struct cache_stats {
#include "mem/cache_stats.def"
};
#undef STAT
#undef SHARE

extern const struct stat_description cache_stat_table[];

enum cache_outcome {
    CACHE_HIT,     /* done after the hit latency */
    CACHE_PENDING, /* waits for a fetch that is under way */
    CACHE_MISS,    /* `down` goes below; `waits` says whether the access is over with that */
    CACHE_BLOCKED, /* nothing happened; `blocked` says why */
};

enum cache_cause { CACHE_NO_MSHR, CACHE_MERGE_LIMIT, CACHE_WAYS_RESERVED, CACHE_NO_ROOM };

struct cache_blocked {
    enum cache_cause cause;
    uint32_t room;    /* CACHE_NO_ROOM: requests that must fit below before it is worth coming again */
    uint64_t address; /* of the access */
};

enum { CACHE_DOWN_MAX = 3 };

struct cache_result {
    bool waits;                          /* the access's tag comes with a later cache_fill */
    uint8_t write_back_sectors;          /* of a write-back in `down`: its dirty sectors, bit 0 the line's first */
    uint32_t down_count;                 /* 0 unless said otherwise, also for hits */
    struct request down[CACHE_DOWN_MAX]; /* in this order: the store handed on, the fetch, the write-back */
    struct cache_blocked blocked;        /* CACHE_BLOCKED only */
};

/* What an arrival did. `tags` is readable until the next cache_access. */
struct cache_arrival {
    const uint64_t *tags; /* of every access that waited, in the order they came */
    uint32_t count;
    bool writes_back; /* allocate on fill: a dirty line made room */
    uint8_t write_back_sectors;
    struct request write_back;
};

struct cache;

/* Refuses parameters that contradict each other; messages begin with `name` ("l1"). The seed is of random replacement.
 * Allocates for the last time. */
enum status cache_create(struct cache **out, struct arena *arena, const struct cache_params *params, const char *name,
                         uint64_t seed, struct report *report);

/* `room` is how many requests the owner can send down now. A store of a cache that does not write back is handed down
 * and so is an atomic, which drops its atom: the owner follows them to their acknowledgement. In a write-back cache an
 * atomic is a store that needs the data. Tag, source, row hint and local of a fetch are those of the access; a
 * write-back has tag and source 0, its first dirty sector's address and the bytes of all dirty sectors. */
enum cache_outcome cache_access(struct cache *cache, const struct request *request, uint32_t room,
                                struct cache_result *result);
/* Sectors of 32 B of one line that an owner would offer one a cycle, the lowest first: in one step. `address` is of the
 * piece of four sectors that `sectors` numbers, bit 0 its first; a write is of whole sectors. The answer is the sectors
 * done: the first of those offered, as far as nothing can come in between. 0: none; the first has to be offered by
 * itself, or (no_mshr) is blocked for want of one, which is counted. Nothing else may ask the cache before the last would
 * have been offered; fills may come at any time, since they are of other sectors. The fetches of `misses` of a read,
 * each with its own access, and the write-back, with the first of them, are the owner's to send down; it names one tag
 * for all. */
struct cache_sectors {
    uint8_t hits, misses;
    uint8_t write_back_sectors; /* 0: none */
    bool line_was_there, no_mshr;
    struct request write_back;
};
/* Whether the other two may be called: sectors of 32 B, allocation on a miss, write back, lazy stores. */
bool cache_takes_sectors(const struct cache *cache);
uint32_t cache_read_sectors(struct cache *cache, uint64_t address, uint32_t sectors, uint64_t tag, uint32_t room,
                            struct cache_sectors *out);
uint32_t cache_write_sectors(struct cache *cache, uint64_t address, uint32_t sectors, uint32_t room,
                             struct cache_sectors *out);
/* Takes the sectors `late`, never the first offered, out of counts: whoever looks sees them before their time. */
void cache_sectors_uncount(struct cache_stats *stats, const struct cache_sectors *sectors, uint32_t late, bool write);
/* Bytes that come without time, and without being counted, while nothing is on its way; what makes room for them is not
 * written back. */
void cache_load(struct cache *cache, uint64_t address, uint32_t bytes);
/* Of such bytes, these were written since: dirty where the cache writes back and holds them. */
void cache_soil(struct cache *cache, uint64_t address, uint32_t bytes);
/* The atom at this address has arrived. False, and nothing done, when it was not asked for. */
bool cache_fill(struct cache *cache, uint64_t address, struct cache_arrival *arrival);
/* After the fill of `filled`: is a blocked access worth offering again? */
bool cache_unblocks(const struct cache *cache, const struct cache_blocked *blocked, uint64_t filled);

/* So many caches have more tags than the near caches of a host hold, and it is worth telling it of accesses to come. */
bool cache_is_far(const struct cache_params *params, uint64_t count);
/* This address will soon be asked for: the host may bring near what tells where its line is, and then, for which it reads
 * that, the line. */
void cache_expect_set(const struct cache *cache, uint64_t address);
void cache_expect_line(const struct cache *cache, uint64_t address);
/* Whether a read would hit now; changes nothing. */
bool cache_holds(const struct cache *cache, uint64_t address);
/* Forgets the atom at this address, unless it is dirty or on its way. */
void cache_drop(struct cache *cache, uint64_t address);
/* The line at this address, if it is there, is the first of its set to leave, after empty ones; where a policy without an order
 * decides who leaves, nothing. */
void cache_offer(struct cache *cache, uint64_t address);
/* For whoever wants to know whose lines leave. A line belongs to the owner that cache_own said before the access that took it, or,
 * allocated on fill, to owner_of the tag that asked for it first. */
enum { CACHE_NOBODY = 255 };
struct cache_watcher {
    void *self;
    void (*evicted)(void *self, uint64_t address, uint8_t owner);
    uint8_t (*owner_of)(void *self, uint64_t tag);
    uint8_t owner; /* of the lines taken next */
};
/* From now on; every line there is belongs to nobody. NULL: nobody wants to know. */
void cache_watch(struct cache *cache, const struct cache_watcher *watcher);
void cache_own(struct cache *cache, uint8_t owner);
uint8_t cache_owner(const struct cache *cache, uint64_t address);
/* Start with *cursor = 0; each call cleans one dirty line and gives its write-back, false: none is left. */
bool cache_clean(struct cache *cache, uint32_t *cursor, struct request *write_back, uint8_t *sectors);
/* Drops every line, dirty or not, but what is on its way: clean first. Counters stay. */
void cache_invalidate(struct cache *cache);
/* Counts from 0 again, its policy too; what the cache holds stays. */
void cache_reset_stats(struct cache *cache);
/* The own counters of its policy: they count from 0 again; added to a sum. Of policies without any: nothing. */
void cache_reset_policy_statistics(struct cache *cache);
void cache_add_policy_statistics(const struct cache *cache, void *sum);

uint32_t cache_sets(const struct cache *cache);
uint32_t cache_set_of(const struct cache *cache, uint64_t address);
uint32_t cache_atom_bytes(const struct cache *cache);
/* Where the line of this address begins. */
uint64_t cache_line_address(const struct cache *cache, uint64_t address);
/* Fetches under way. */
uint32_t cache_outstanding(const struct cache *cache);
/* Entries of its MSHRs that are free. */
uint32_t cache_free_mshrs(const struct cache *cache);
/* Lines that hold something, and those of them to be written back. */
void cache_count(const struct cache *cache, uint32_t *valid, uint32_t *dirty);
const struct cache_stats *cache_stats(const struct cache *cache);

/* Between launches: its lines, their order and what it has counted. Read into a cache that was just made of the same
 * parameters. */
void cache_keep(struct cache *cache, struct keep *keep);

#endif
