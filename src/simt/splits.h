/* SPDX-License-Identifier: Apache-2.0 */
/* Splits of a warp and the entries that they meet at, as a tree: what mechanisms share that have several paths of a warp in flight.
 *
 * A leaf is a split, which may issue from a slot of its own; a node between waits for what is below it. What happens to a leaf is what
 * happens to the top of the stack (simt/stack.h) that leads to it. A loop adds no entry, a side that begins at the meeting no split.
 * `stacked`: sides that diverge run one after the other, as on a stack, by their ranks; what was divided has one rank and runs at a time. A
 * side all of whose splits wait for other threads lets those below run. */
#ifndef HEDDLE_SIMT_SPLITS_H
#define HEDDLE_SIMT_SPLITS_H

#include <string.h>

#include "simt/stack.h"

/* Lanes alone bound it: 32 splits, and 31 entries, each with at least two sides. */
enum { SPLIT_NODES = 64, SPLIT_NONE = 255, SPLIT_CHAIN = 2 * SPLIT_NODES + 8 };

struct split_node {
    struct stack_entry entry;
    uint64_t order;   /* when it was made */
    uint8_t parent;   /* SPLIT_NONE: the first, or a part of it */
    uint8_t children; /* 0: a split */
    uint8_t path;     /* a split's slot; SPLIT_NONE: it waits for one */
    uint8_t rank;     /* stacked: those of higher rank with the same parent run first */
};

struct split_warp {
    struct split_node nodes[SPLIT_NODES];
    uint64_t used;  /* nodes, a bit each */
    uint64_t held;  /* splits that wait for another split */
    uint32_t waits; /* lanes that wait for other threads */
    uint32_t alive;
    uint8_t at[LANES_MAX]; /* of each slot: its split, SPLIT_NONE */
};

struct splits {
    struct stack_family family;
    unsigned count, stride; /* slots of a warp, and from slot to slot */
    bool stacked, newest;   /* newest: which split gets a slot that is free; else the oldest */
    uint64_t made;          /* nodes */
    struct split_warp *warps;
    const uint32_t *ends;         /* by PC: where a straight run ends, as far as the code tells */
    struct stack chain;           /* from the first node to a split, while that changes */
    uint8_t numbers[SPLIT_CHAIN]; /* of its entries; SPLIT_NONE: stands for other splits below the entry under it */
};

static inline void splits_create(struct splits *self, struct arena *arena, const struct inst *code, unsigned warps,
                                 unsigned paths) {
    self->family = (struct stack_family){.arena = arena, .code = code};
    self->count = paths ? paths : 1;
    self->stride = warps;
    self->warps = ARENA_ARRAY(arena, struct split_warp, warps);
    self->chain = (struct stack){.family = &self->family, .rows = 1, .capacity = SPLIT_CHAIN};
    self->chain.entries = ARENA_ARRAY(arena, struct stack_entry, SPLIT_CHAIN);
}

/* ---- slots ---- */

static inline bool splits_is_leaf(const struct split_node *node) { return node->children == 0; }

static inline bool splits_waits(const struct split_warp *warp, unsigned n) {
    return warp->held >> n & 1 || warp->waits & warp->nodes[n].entry.lanes[0];
}

/* Does nothing of higher rank run before it? */
static inline bool splits_on_top(const struct split_warp *warp, unsigned n) {
    uint32_t awake = 0;
    for (uint64_t rest = warp->used; rest; rest &= rest - 1) {
        const unsigned other = bits_first64(rest);
        if (splits_is_leaf(&warp->nodes[other]) && !splits_waits(warp, other))
            awake |= warp->nodes[other].entry.lanes[0];
    }
    for (; n != SPLIT_NONE; n = warp->nodes[n].parent)
        for (uint64_t rest = warp->used; rest; rest &= rest - 1) {
            const struct split_node *other = &warp->nodes[bits_first64(rest)];
            if (other->rank > warp->nodes[n].rank && other->parent == warp->nodes[n].parent &&
                other->entry.lanes[0] & awake)
                return false;
        }
    return true;
}

static inline bool splits_can_run(const struct splits *self, const struct split_warp *warp, unsigned n) {
    return splits_is_leaf(&warp->nodes[n]) && !splits_waits(warp, n) &&
           (!self->stacked || !(warp->used & (warp->used - 1)) || splits_on_top(warp, n));
}

/* The split that waits for a slot and gets the next one; SPLIT_NONE: there is none. */
static inline unsigned splits_next(const struct splits *self, const struct split_warp *warp) {
    unsigned best = SPLIT_NONE;
    for (uint64_t rest = warp->used; rest; rest &= rest - 1) {
        const unsigned n = bits_first64(rest);
        const struct split_node *node = &warp->nodes[n];
        if (node->path != SPLIT_NONE || !splits_can_run(self, warp, n))
            continue;
        const bool newer = best != SPLIT_NONE && node->order > warp->nodes[best].order;
        if (best == SPLIT_NONE || newer == self->newest)
            best = n;
    }
    return best;
}

static inline void splits_leave_slot(struct split_warp *warp, struct split_node *node) {
    if (node->path != SPLIT_NONE)
        warp->at[node->path] = SPLIT_NONE;
    node->path = SPLIT_NONE;
}

/* Of these slots: splits that wait for others give theirs up where another wants one, and those that others run before anyway. */
static inline void splits_fill(const struct splits *self, struct split_warp *warp, uint64_t slots) {
    for (unsigned k = 0; k < self->count; k++) {
        const unsigned here = warp->at[k];
        if (!(slots >> k & 1) || (here != SPLIT_NONE && splits_can_run(self, warp, here)))
            continue;
        if (here != SPLIT_NONE && !splits_waits(warp, here))
            splits_leave_slot(warp, &warp->nodes[here]);
        const unsigned n = splits_next(self, warp);
        if (n == SPLIT_NONE)
            break;
        if (warp->at[k] != SPLIT_NONE)
            splits_leave_slot(warp, &warp->nodes[warp->at[k]]);
        warp->at[k] = (uint8_t)n, warp->nodes[n].path = (uint8_t)k;
    }
}

static inline void splits_start(struct splits *self, unsigned number, uint32_t pc, uint32_t lanes) {
    struct split_warp *warp = &self->warps[number];
    warp->waits = 0, warp->held = 0, warp->alive = lanes;
    warp->used = lanes ? 1 : 0;
    memset(warp->at, SPLIT_NONE, sizeof warp->at);
    warp->nodes[0] = (struct split_node){.entry = {.pc = pc, .lanes = {lanes}, .reconverge = NO_PC, .resume = NO_PC},
                                         .parent = SPLIT_NONE,
                                         .path = SPLIT_NONE};
    splits_fill(self, warp, 1);
}

/* The split in a slot; SPLIT_NONE: there is none. */
static inline unsigned splits_in(struct splits *self, unsigned slot, struct split_warp **warp) {
    const unsigned path = slot / self->stride;
    *warp = &self->warps[slot - path * self->stride];
    return (*warp)->at[path];
}

/* What the slot could issue: divergence_ops.offer. */
static inline bool splits_offer(struct splits *self, unsigned slot, struct group *out) {
    struct split_warp *warp;
    const unsigned split = splits_in(self, slot, &warp);
    if (split == SPLIT_NONE || !splits_can_run(self, warp, split))
        return false;
    const struct stack_entry *entry = &warp->nodes[split].entry;
    out->pc = entry->pc;
    out->lanes = entry->lanes[0];
    out->stop_pc = stack_run_end(entry, self->ends);
    out->threads = NULL;
    return true;
}

/* Slots whose splits could run. */
static inline unsigned splits_offered(const struct splits *self, const struct split_warp *warp) {
    unsigned offered = 0;
    for (unsigned k = 0; k < self->count; k++)
        offered += warp->at[k] != SPLIT_NONE && splits_can_run(self, warp, warp->at[k]);
    return offered;
}

/* ---- the tree ---- */

static inline void splits_put_entry(struct splits *self, const struct stack_entry *entry, unsigned number) {
    self->numbers[self->chain.count] = (uint8_t)number;
    self->chain.entries[self->chain.count++] = *entry;
}

/* The stack that leads to the split. Between a node and the next an entry that neither arrives nor ends stands for its other children: what
 * the stack would pop then waits for them. */
static inline void splits_build_chain(struct splits *self, const struct split_warp *warp, unsigned split) {
    struct stack_entry others = {.pc = 0, .reconverge = 1};
    uint8_t way[SPLIT_NODES];
    unsigned length = 0;
    for (unsigned n = split; n != SPLIT_NONE; n = warp->nodes[n].parent)
        way[length++] = (uint8_t)n;
    self->chain.count = 0;
    while (length-- > 0) {
        const struct split_node *node = &warp->nodes[way[length]];
        splits_put_entry(self, &node->entry, way[length]);
        others.lanes[0] = node->entry.lanes[0] & ~warp->nodes[split].entry.lanes[0];
        if (node->children > 1)
            splits_put_entry(self, &others, SPLIT_NONE);
    }
}

static inline unsigned splits_add(struct splits *self, struct split_warp *warp, const struct stack_entry *entry,
                                  unsigned parent, unsigned rank) {
    const unsigned n = bits_first64(~warp->used);
    warp->used |= UINT64_C(1) << n;
    warp->nodes[n] = (struct split_node){.entry = *entry,
                                         .order = ++self->made,
                                         .parent = (uint8_t)parent,
                                         .path = SPLIT_NONE,
                                         .rank = (uint8_t)(self->stacked ? rank : 0)};
    if (parent != SPLIT_NONE)
        warp->nodes[parent].children++;
    return n;
}

static inline void splits_remove(struct split_warp *warp, unsigned n) {
    struct split_node *node = &warp->nodes[n];
    splits_leave_slot(warp, node);
    if (node->parent != SPLIT_NONE)
        warp->nodes[node->parent].children--;
    warp->used &= ~(UINT64_C(1) << n), warp->held &= ~(UINT64_C(1) << n);
}

static inline void splits_give_slot(struct split_warp *warp, unsigned n, unsigned path) {
    splits_leave_slot(warp, &warp->nodes[n]);
    warp->nodes[n].path = (uint8_t)path;
    warp->at[path] = (uint8_t)n;
}

/* Are there others of its rank with the same parent: was it divided? */
static inline bool splits_is_part(const struct split_warp *warp, unsigned n) {
    for (uint64_t rest = warp->used & ~(UINT64_C(1) << n); rest; rest &= rest - 1) {
        const struct split_node *other = &warp->nodes[bits_first64(rest)];
        if (other->parent == warp->nodes[n].parent && other->rank == warp->nodes[n].rank)
            return true;
    }
    return false;
}

/* Its sides, the chain's entries from `first` on, take its place or wait for it to go on with them. */
static inline uint64_t splits_take_sides(struct splits *self, struct split_warp *warp, unsigned split, unsigned length,
                                         uint32_t lanes) {
    const struct stack *chain = &self->chain;
    const struct stack_entry *here = &chain->entries[length - 1];
    struct split_node *node = &warp->nodes[split];
    const unsigned path = node->path;
    const bool meets_with_others = here->lanes[0] != lanes; /* with those that wait at the entry below already */
    unsigned under = node->parent, first = length - 1, last = SPLIT_NONE, rank = node->rank;
    uint64_t moved = 0;
    if (meets_with_others && self->stacked && chain->count == length) { /* the others have arrived there */
        node->entry = *here;
        return UINT64_C(1) << split;
    }
    if (!meets_with_others || (self->stacked && splits_is_part(warp, split))) { /* it waits for its sides */
        splits_leave_slot(warp, node);
        under = split, rank = 0;
        first = meets_with_others ? first : length;
        if (meets_with_others)
            node->entry.pc = here->reconverge, node->entry.depth = here->reconverge_depth, node->entry.resume = NO_PC;
        else
            node->entry = *here;
    } else
        splits_remove(warp, split);
    for (unsigned i = first; i < chain->count; i++) {
        last = splits_add(self, warp, &chain->entries[i], under, rank++);
        moved |= UINT64_C(1) << last;
    }
    splits_give_slot(warp, last, path); /* the one that a stack would run first */
    return moved;
}

/* What the chain has become goes back to the tree: `length` entries were in it, the last of them the split's, which had these lanes.
 * The splits that have got somewhere by it. */
static inline uint64_t splits_take_chain(struct splits *self, struct split_warp *warp, unsigned length, uint32_t lanes,
                                         bool *diverged) {
    const struct stack *chain = &self->chain;
    const unsigned split = self->numbers[length - 1], path = warp->nodes[split].path;
    for (unsigned i = 0; i < chain->count && i < length; i++)
        if (self->numbers[i] != SPLIT_NONE && i < length - 1)
            warp->nodes[self->numbers[i]].entry = chain->entries[i];
    for (unsigned i = length; i-- > chain->count;)
        if (self->numbers[i] != SPLIT_NONE)
            splits_remove(warp, self->numbers[i]);
    if (chain->count < length) { /* the last of its entry goes on in the slot that the split had */
        const unsigned top = chain->count ? self->numbers[chain->count - 1] : SPLIT_NONE;
        *diverged = false;
        if (top != SPLIT_NONE)
            splits_give_slot(warp, top, path);
        return self->stacked && top != SPLIT_NONE ? UINT64_C(1) << top : 0;
    }
    const struct stack_entry *here = &chain->entries[length - 1];
    *diverged &= chain->count != length || here->lanes[0] != lanes;
    if (*diverged)
        return splits_take_sides(self, warp, split, length, lanes);
    warp->nodes[split].entry = *here;
    return UINT64_C(1) << split;
}

/* The split has executed an instruction. Sets *diverged where its lanes did, and answers with the splits that have got somewhere by it. */
static inline uint64_t splits_issued(struct splits *self, struct split_warp *warp, unsigned split,
                                     const struct executed *executed, bool *diverged) {
    const enum flow flow = executed->flow;
    const uint32_t lanes = warp->nodes[split].entry.lanes[0];
    *diverged = flow_moves(flow);
    splits_build_chain(self, warp, split);
    const unsigned length = self->chain.count;
    stack_issued(&self->chain, executed);
    const uint64_t moved = splits_take_chain(self, warp, length, lanes, diverged);
    if (flow == FLOW_EXIT)
        warp->alive &= ~executed->taken;
    return moved;
}

/* These lanes of the split, neither none nor all, go on as a split of their own, in a slot that is free. */
static inline unsigned splits_divide(struct splits *self, struct split_warp *warp, unsigned split, uint32_t lanes) {
    struct split_node *node = &warp->nodes[split];
    struct stack_entry entry = node->entry;
    entry.lanes[0] = lanes;
    node->entry.lanes[0] &= ~lanes;
    const unsigned part = splits_add(self, warp, &entry, node->parent, node->rank);
    for (unsigned k = 0; k < self->count; k++)
        if (warp->at[k] == SPLIT_NONE) {
            splits_give_slot(warp, part, k);
            break;
        }
    return part;
}

/* Do both stand at one place, below the same parent, and wait for nobody else? */
static inline bool splits_beside(const struct split_warp *warp, unsigned a, unsigned b) {
    const struct split_node *one = &warp->nodes[a], *other = &warp->nodes[b];
    return splits_is_leaf(other) && other->parent == one->parent && other->rank == one->rank &&
           other->entry.pc == one->entry.pc && other->entry.depth == one->entry.depth &&
           !(warp->waits & (other->entry.lanes[0] | one->entry.lanes[0]));
}

/* The other's lanes go on with the split. */
static inline void splits_join(struct split_warp *warp, unsigned split, unsigned other) {
    warp->nodes[split].entry.lanes[0] |= warp->nodes[other].entry.lanes[0];
    splits_remove(warp, other);
}

/* ---- reports ---- */

static inline void splits_where(const struct split_warp *warp, uint32_t pcs[LANES_MAX]) {
    for (unsigned leaves = 0; leaves < 2;
         leaves++) /* entries first: lanes that are in none of their splits wait there */
        for (uint64_t rest = warp->used; rest; rest &= rest - 1) {
            const struct split_node *node = &warp->nodes[bits_first64(rest)];
            if (splits_is_leaf(node) == (leaves == 1))
                for (BITS_EACH(lane, node->entry.lanes[0]))
                    pcs[lane] = node->entry.pc == NO_PC ? node->entry.resume : node->entry.pc;
        }
}

static inline unsigned splits_show(const struct splits *self, unsigned number, struct group_row *rows, unsigned most) {
    const struct split_warp *warp = &self->warps[number];
    unsigned count = 0;
    for (unsigned waiting = 0; waiting < 2; waiting++)
        for (uint64_t rest = warp->used; rest && count < most; rest &= rest - 1) {
            const struct split_node *node = &warp->nodes[bits_first64(rest)];
            const bool below = self->stacked && !splits_on_top(warp, bits_first64(rest));
            if (splits_is_leaf(node) != (waiting == 1))
                rows[count++] =
                    (struct group_row){waiting ? "waits to meet"
                                       : below ? "stack"
                                               : "split",
                                       node->entry.pc, node->parent == SPLIT_NONE ? NO_PC : node->entry.reconverge,
                                       node->entry.lanes[0], NULL};
        }
    return count;
}

#endif
