/* SPDX-License-Identifier: Apache-2.0 */
/* One way through the machine: links in, a crossbar, links out. Its cycles are those of clock.interconnect. */
#ifndef HEDDLE_GPU_NET_H
#define HEDDLE_GPU_NET_H

#include "gpu/gpu.h"

enum { NET_MESSAGE_BYTES = 128 }; /* of data, at most */

struct net {
    struct crossbar *crossbar;
    struct link **in, **out;
    uint32_t inputs, outputs;
    uint32_t input_words, output_words;            /* of masks */
    bool one_clock;                                /* of both ends and the crossbar */
    struct clock_ratio clock, in_clock, out_clock; /* of the crossbar and of those at the other ends of links */
    uint64_t now;
    bool to_slices;   /* or requests between SMs */
    bool between_sms; /* their shared memories: addresses have the SM above 32 bits */
    bool routed;      /* net_route tells where messages go */
    const struct address_map *map;
    uint32_t slices;   /* of a partition */
    uint64_t *pending; /* inputs with something on their link, as the last exchange told */
    uint64_t *stuck;   /* of these, those whose next message found no room in the crossbar */
};

/* Of the machine's links, which are made as new. `to_slices`: from SMs to L2 slices, else the other way. */
enum status net_create(struct net *net, struct arena *arena, const struct gpu *gpu, bool to_slices,
                       struct report *report);
/* To slices, with several host threads: where goes what SMs [from, to) sent, which who runs an SM finds out, so that the crossbar need not: it
 * is one part, and the longest. In every epoch of an SM, when it is over. */
void net_route(const struct net *net, uint32_t from, uint32_t to);
/* Between SMs, on their clock, over these links of each. */
struct net_ends {
    struct link **in, **out;
    bool requests; /* else replies */
};
enum status net_create_between_sms(struct net *net, struct arena *arena, const struct gpu *gpu,
                                   const struct net_ends *ends, struct report *report);
void net_run(struct net *net, uint64_t from, uint64_t to);
/* Between epochs: the first cycle at which there is something to do; any cycle up to `enough` stands for all of them. */
uint64_t net_next(const struct net *net, uint64_t enough);
void net_exchange(struct net *net);
/* The same in so many pieces, in any order or at the same time. */
uint32_t net_words(const struct net *net);
void net_exchange_word(struct net *net, uint32_t word);
bool net_is_idle(const struct net *net);

#endif
