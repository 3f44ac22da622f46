/* SPDX-License-Identifier: Apache-2.0 */
/* Variable warp sizing: what the mechanism's files share. */
#ifndef HEDDLE_DIVERGENCE_VWS_H
#define HEDDLE_DIVERGENCE_VWS_H

#define STACK_ROWS 1
#include "divergence/divergence.h"
#include "simt/stack.h"

enum {
    SLICES_MAX = 8,
    HANDED_ON = 128 /* branches of a group in a slot while another waits for one */
};

#define VWS_STATS(STAT, LARGEST)                                                                                       \
    STAT(gang_issues, "instructions", "of gangs")                                                                      \
    STAT(alone_issues, "instructions", "of warps on their own")                                                        \
    STAT(splits, "splits", "gangs whose warps went to several PCs")                                                    \
    STAT(memory_splits, "splits", "gangs that loads divided: some of their warps had their data")                      \
    STAT(joins, "joins", "groups that became one with another at their PC")                                            \
    STAT(beside, "instructions", "issued beside the first of their turn")                                              \
    STAT(handed_on, "slots", "issue slots that a group gave up for one without")                                       \
    LARGEST(groups_largest, "groups", "gangs and warps on their own of an original gang at a time")                    \
    LARGEST(gangs_largest, "gangs", "of an original gang at a time")

struct vws_stats {
#define FIELD(field, unit, help) uint64_t field;
    VWS_STATS(FIELD, FIELD)
#undef FIELD
};

enum { REFORM_NONE, REFORM_ELASTIC };
enum { SPLIT_NEVER, SPLIT_IMPATIENT, SPLIT_GROUP };
enum { ORDER_BIG, ORDER_LITTLE, ORDER_LOWEST, ORDER_ANY };

struct vws_params {
    uint32_t base, gangs, reform, memory, order, paths, l0_bytes, pc_bits;
};

/* A gang, or a warp on its own: those of its slices are at one PC. */
struct vws_group {
    uint8_t members; /* slices; 0: it is nobody's */
    uint32_t tells;  /* branches since it got its slot */
    uint32_t since;  /* when it lost its slot, or began, by its warp's clock */
};

struct vws_warp {
    struct stack slices[SLICES_MAX];
    struct vws_group groups[SLICES_MAX]; /* the first `count` of the mechanism are in issue slots */
    uint32_t waits;                      /* lanes */
    uint32_t clock;                      /* counts who has to wait for a slot */
};

struct vws {
    struct vws_warp *warps;
    struct stack_family family;
    const uint32_t *ends; /* by PC, of straight runs */
    const struct vws_params *params;
    unsigned slices, count, stride;
    struct vws_stats stats;
};

static inline uint32_t lanes_of(const struct vws *self, unsigned slice) {
    return self->slices == 1 ? UINT32_MAX : ((UINT32_C(1) << self->params->base) - 1) << slice * self->params->base;
}

static inline unsigned slice_of(const struct vws *self, unsigned lane) { return lane / self->params->base; }

static inline struct stack_entry *top_of(struct vws_warp *warp, unsigned slice) {
    return stack_top(&warp->slices[slice]);
}

static inline unsigned first_of(const struct vws_group *group) { return bits_first(group->members); }

static inline bool is_gang(const struct vws_group *group) { return (group->members & (group->members - 1)) != 0; }

static inline uint32_t pc_of(struct vws_warp *warp, const struct vws_group *group) {
    return top_of(warp, first_of(group))->pc;
}

/* The lanes that would issue: the tops of its warps. */
uint32_t vws_group_lanes(struct vws_warp *warp, const struct vws_group *group);
/* It has warps, none of which waits for others. */
bool vws_can_run(struct vws_warp *warp, const struct vws_group *group);
/* A place for one more: there are never more groups than slices. */
unsigned vws_free_place(const struct vws_warp *warp);
/* For the counters of the most at a time. */
void vws_count_groups(struct vws *self, const struct vws_warp *warp);
/* Slots of groups that cannot run, or have run for long, go to those without. */
void vws_fill_slots(struct vws *self, struct vws_warp *warp);
/* Where a side waits for others, the other side of its branch goes on. */
void vws_let_sibling_go(struct vws_warp *warp, unsigned slice);
/* The members of a group that are not all at one PC are groups of their own; those that go on behind the instruction keep its place. Were there several? */
bool vws_part_group(struct vws_warp *warp, unsigned path, uint32_t after);
/* Groups at one PC that wait for nothing become one, twice at most; the earlier place is kept. */
void vws_reform(struct vws *self, struct vws_warp *warp);

#endif
