/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of analysis.h, for analysis.c and the tests. All work iteratively and near-linearly: the code of a
 * hostile module may have 10^5 blocks. `scratch` holds what is not part of the result. */
#ifndef HEDDLE_ISA_FLOW_H
#define HEDDLE_ISA_FLOW_H

#include "isa/analysis.h"

/* A directed graph in compressed rows: the successors of v are to[start[v]] .. to[start[v + 1] - 1]. */
struct graph {
    uint32_t node_count;
    uint32_t *start, *to;
};

/* The same graph with every edge turned round. */
struct graph graph_reverse(const struct graph *graph, struct arena *arena);
/* dominator[v] = immediate dominator of v for paths from root; root's is root; NO_PC where root does not reach. */
void graph_dominators(const struct graph *graph, uint32_t root, uint32_t *dominator, struct arena *scratch);

/* Blocks with their edges and reachability, in the module's arena. */
enum status cfg_build(struct module *module, struct function *function, struct cfg *cfg, struct arena *scratch,
                      struct report *report);
/* The graph of the blocks; node block_count is the virtual exit. */
struct graph cfg_graph(const struct cfg *cfg, struct arena *arena);
/* post_dominator of every block, reachable or not. */
void cfg_post_dominators(struct cfg *cfg, struct arena *scratch);
/* loop_head, loop_depth, loop_count, irreducible. */
void cfg_loops(struct cfg *cfg, struct arena *scratch);
/* place, by the depth of loops. */
void cfg_place(struct cfg *cfg, struct arena *scratch);

/* Where registers hold a value that is still needed. Every instruction i of the function (counted from its first)
 * has a point before it, 2i, and one after it, 2i + 1. */
struct live_segment {
    uint32_t reg;
    uint32_t first, last; /* points, both included */
};
struct liveness {
    struct live_segment *items; /* no two of one register overlap */
    unsigned count, capacity;
    bool complete; /* false: more segments than were kept; the sums below are right nevertheless */
    uint32_t point_count;
    uint32_t *units, *predicates; /* live at each point */
    uint64_t *unwritten;          /* bit per register: may be read before it is written */
};
struct liveness liveness_compute(const struct module *module, const struct function *function, const struct cfg *cfg,
                                 struct arena *scratch);
/* 32-bit units a register of that type takes; 0 for predicates. */
uint32_t register_units(enum type type);
/* cfg->registers and live_peak of every block. across[i], where not NULL: for every call of the function, in PC
 * order, the units that stay live across it. */
void registers_estimate(const struct module *module, const struct function *function, struct cfg *cfg, uint32_t *across,
                        struct arena *scratch);

#endif
