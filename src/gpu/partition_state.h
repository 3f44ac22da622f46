/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a partition: its slices, the requests in them and the replies that wait to leave. */
#ifndef HEDDLE_GPU_PARTITION_STATE_H
#define HEDDLE_GPU_PARTITION_STATE_H

#include <stdalign.h>

#include "gpu/channel.h"
#include "gpu/partition.h"
#include "gpu/slice_map.h"

enum { WAITING_MAX = 1024, LINE_BYTES = SLICE_MAP_LINE_BYTES, SECTOR_BYTES = 32, SECTORS = 4 };
/* So many requests ahead are mapped to lines and their sets expected, and so many their lines. */
enum { EXPECT_SETS = 2, EXPECT_LINES = 1, EXPECT_RING = 4 };
#define NOBODY UINT32_MAX

/* A request in the slice. Of a size that is quickly counted in, as more below. */
struct slice_request {
    alignas(64) struct packet packet;
    uint32_t next;       /* list of free ones */
    uint32_t atoms_left; /* asked for below */
    bool accepted;       /* every atom has been looked up */
    bool is_far;         /* of an SM of the other half */
    bool goes_far;       /* some of it was not in that SM's half */
};

struct reply {
    uint64_t ready;
    uint32_t waiting;
};

/* Replies in order of time. */
struct ring {
    uint64_t next; /* when the first is ready; NO_CYCLE: there is none */
    struct reply *items;
    uint32_t head, count;
};

struct slice {
    uint32_t number;
    uint64_t next; /* no later than the first cycle at which it has something to do, as far as it knows in this epoch */
    struct cache *l2;
    struct link *in, *out;
    struct slice_request *waiting;
    uint32_t free, waiting_used; /* used: the first so many have been, once; behind the free list come the others */
    uint32_t current;            /* whose atoms are being looked up */
    uint32_t rest;               /* sectors of it left */
    bool blocked, early_write;
    bool one_by_one; /* the current request's sectors are looked up so */
    bool no_mshr;    /* why look_up_sectors did nothing */
    bool place_known;
    bool row_hint;           /* of the current request */
    struct dram_place place; /* of the current request's line, once known */
    uint64_t line;           /* of the current request, in the slice */
    uint64_t device_line;    /* the same in device memory */
    uint64_t lookup_free;    /* the first cycle at which it may look up again */
    struct cache_blocked reason;
    struct ring hits, fills; /* replies by two ways */
    bool far;                /* cache_is_far: requests to come are expected */
    /* far: lines in the slice of requests on the link, by number, up to before `mapped`. */
    uint64_t mapped, coming[EXPECT_RING];
    /* The last sectors that were looked up in one step, the first of them in cycle `early_cycle`. */
    uint64_t early_cycle;
    struct cache_sectors early;
};

/* An atomic that has been served and changes memory at the round's end. */
struct served {
    uint32_t sm, ticket, lanes;
};

struct partition {
    uint64_t now; /* the last cycle it was run for */
    struct channel *channel;
    struct slice *slices, *slices_end;
    uint32_t room_blocked; /* slices that wait for room in the channel's queue */
    bool by_sectors;       /* sectors of a request are looked up in one step, ahead of their cycles */
    bool l2_enabled;
    bool ideal_bandwidth; /* slices look up whatever has come at once */
    bool fills_plainly;   /* it has an L2, and no halves */
    uint32_t l2_latency, atomic_lanes;
    uint32_t far_cycles, half, half_sms; /* l2.far_cycles; which half it is in, and the SMs of the first */
    const struct executor *executors;
    /* Of this round, in order of service. Room for those that waited when it began and those accepted in it, for each
     * slice: what is accepted was on its link by then, for no credit comes back within a round. */
    struct served *served;
    uint32_t served_count;
    struct slice_map map;
};

#endif
