/* Thread block compaction (Fung and Aamodt, HPCA 2011), as [002 §5.2] compares with it: the warps of a block share one
 * stack; at every control-flow instruction that threads decide on their own, and where they reconverge, they wait for
 * each other, and new warps are made of the block's active threads, lane by lane: the first warp has the first active
 * thread of each lane, the second the second.
 *
 * Between two such points all warps of a block follow the same path, each at its own pace. When the last of them has
 * issued the instruction that ends it, the stack goes on and the new warps are formed; they issue when all threads of the
 * block's entry are back. With all threads active the warps are those of the program again. */
#include <assert.h>

#include "divergence/divergence.h"

#define STACK_ROWS 64
#include "isa/stack.h"
_Static_assert(STACK_ROWS >= ISSUE_SLOTS_MAX, "a row for every warp");

struct tbc_stats {
    uint64_t meetings, partings, formed, before, depth;
};
/* clang-format off */
static const struct stat_description tbc_stats_table[] = {
    STAT_ENTRY(struct tbc_stats, meetings, "meetings", "times that the warps of a block have waited for each other")
    STAT_ENTRY(struct tbc_stats, partings, "meetings", "of these, times after which the stack was deeper")
    STAT_ENTRY(struct tbc_stats, formed, "warps", "warps formed of the active threads then")
    STAT_ENTRY(struct tbc_stats, before, "warps", "warps of the program that had active threads then")
    LARGEST_ENTRY(struct tbc_stats, depth, "entries", "deepest stack of a block")
    STAT_END};
/* clang-format on */

/* A compacted warp. */
struct compacted {
    uint32_t pc, lanes;
    unsigned out; /* threads in the pipeline, or waiting for others */
    bool memory;  /* that they wait for */
    bool arrived; /* where the block's warps wait for each other */
    uint16_t threads[LANES_MAX];
};

struct block {
    struct stack stack;
    struct compacted *warps; /* [row] */
    unsigned formed, left;   /* warps; those that have not arrived */
    unsigned out;            /* threads */
    bool held, memory;       /* until all threads are back; they wait for memory */
    uint32_t pc;             /* where the path ends */
    struct stack_gathered gathered;
};

struct tbc {
    struct stack_family family;
    const struct inst *code;
    unsigned rows, warp_size;
    uint32_t *alive; /* by warp */
    uint8_t *home;   /* by thread: the compacted warp it is in */
    struct block *blocks;
    unsigned block_count;
    struct tbc_stats stats;
};

static void *tbc_create(struct arena *arena, const struct divergence_shape *shape) {
    struct tbc *tbc = ARENA_NEW(arena, struct tbc);
    tbc->family = (struct stack_family){.arena = arena, .code = shape->code};
    tbc->code = shape->code;
    tbc->rows = shape->warps_per_block, tbc->warp_size = shape->warp_size;
    tbc->block_count = shape->warps / shape->warps_per_block;
    tbc->alive = ARENA_ARRAY(arena, uint32_t, shape->warps);
    tbc->home = ARENA_ARRAY(arena, uint8_t, (size_t)shape->warps * shape->warp_size);
    tbc->blocks = ARENA_ARRAY(arena, struct block, tbc->block_count);
    for (unsigned i = 0; i < tbc->block_count; i++) {
        struct block *block = &tbc->blocks[i];
        stack_create(&block->stack, &tbc->family, tbc->rows);
        block->warps = ARENA_ARRAY(arena, struct compacted, tbc->rows);
        block->gathered.next = ARENA_ARRAY(arena, uint32_t, (size_t)tbc->rows * LANES_MAX);
    }
    return tbc;
}

static uint64_t slots_of(const struct tbc *tbc, unsigned number) { return bits_low64(tbc->rows) << number * tbc->rows; }

/* New warps of the threads of the top, one for each row that the fullest lane fills. */
static void form(struct tbc *tbc, unsigned number) {
    struct block *block = &tbc->blocks[number];
    uint8_t filled[LANES_MAX] = {0};
    block->formed = 0;
    if (!block->stack.count)
        return;
    const struct stack_entry *top = stack_top(&block->stack);
    for (unsigned row = 0; row < tbc->rows; row++)
        for (BITS_EACH(lane, top->lanes[row])) {
            const unsigned thread = (number * tbc->rows + row) * tbc->warp_size + lane, warp = filled[lane]++;
            if (warp == block->formed)
                block->warps[block->formed++] = (struct compacted){.pc = top->pc};
            block->warps[warp].lanes |= UINT32_C(1) << lane;
            block->warps[warp].threads[lane] = (uint16_t)thread;
            tbc->home[thread] = (uint8_t)warp;
        }
    stack_gather_begin(&block->stack, &block->gathered);
    block->left = block->formed;
    block->held = block->out != 0;
}

/* Warps of a block begin one after another, all before one of them issues. */
static uint64_t tbc_start(void *self, unsigned warp, uint32_t pc, uint32_t lanes) {
    struct tbc *tbc = self;
    const unsigned number = warp / tbc->rows;
    struct block *block = &tbc->blocks[number];
    tbc->alive[warp] = lanes;
    if (!lanes)
        return 0;
    if (!block->stack.count) {
        const uint32_t none[STACK_ROWS] = {0};
        block->out = 0;
        stack_begin(&block->stack, pc, none);
    }
    block->stack.entries[0].lanes[warp % tbc->rows] = lanes;
    form(tbc, number);
    return slots_of(tbc, number);
}

static const struct compacted *warp_at(const struct tbc *tbc, unsigned slot) {
    const struct block *block = &tbc->blocks[slot / tbc->rows];
    if (slot / tbc->rows >= tbc->block_count || slot % tbc->rows >= block->formed)
        return NULL;
    return block->warps[slot % tbc->rows].arrived ? NULL : &block->warps[slot % tbc->rows];
}

static bool tbc_offer(void *self, unsigned slot, struct group *out) {
    struct tbc *tbc = self;
    const struct compacted *warp = warp_at(tbc, slot);
    if (!warp || warp->out || tbc->blocks[slot / tbc->rows].held)
        return false;
    *out = (struct group){.pc = warp->pc, .lanes = warp->lanes, .stop_pc = NO_PC, .threads = warp->threads};
    return true;
}

static uint32_t tbc_ahead(const void *self, unsigned slot, bool *memory) {
    const struct tbc *tbc = self;
    const struct compacted *warp = warp_at(tbc, slot);
    if (!warp)
        return NO_PC;
    *memory = warp->out ? warp->memory : tbc->blocks[slot / tbc->rows].memory;
    return warp->pc;
}

/* Control flow of which threads decide on their own; calls and returns too, so that one depth holds for all. */
static bool ends_path(const struct inst *inst) {
    return op_is_control(inst->op) && !(inst->op == OP_BRA && inst->guard < 0);
}

static void gather(struct tbc *tbc, unsigned number, const struct group *group, const struct executed *executed) {
    struct block *block = &tbc->blocks[number];
    const unsigned first = number * tbc->rows * tbc->warp_size;
    for (BITS_EACH(lane, group->lanes)) {
        const unsigned thread = group->threads[lane] - first, row = thread / tbc->warp_size;
        const unsigned column = thread % tbc->warp_size;
        if (stack_gather(&block->gathered, row, column, executed, lane) && executed->flow == FLOW_EXIT)
            tbc->alive[number * tbc->rows + row] &= ~(UINT32_C(1) << column);
    }
}

/* All warps have come to the end of their path: the stack goes on, with new warps. */
static void meet(struct tbc *tbc, unsigned number, bool gathered) {
    struct block *block = &tbc->blocks[number];
    const unsigned deep = block->stack.count;
    if (gathered) {
        block->gathered.pc = block->pc;
        stack_issued(&block->stack, &block->gathered);
    } else {
        stack_top(&block->stack)->pc = block->pc;
        stack_settle(&block->stack);
    }
    form(tbc, number);
    tbc->stats.meetings++;
    tbc->stats.partings += block->stack.count > deep;
    tbc->stats.formed += block->formed;
    if (!block->stack.count)
        return;
    for (unsigned row = 0; row < tbc->rows; row++)
        tbc->stats.before += stack_top(&block->stack)->lanes[row] != 0;
    tbc->stats.depth = block->stack.count > tbc->stats.depth ? block->stack.count : tbc->stats.depth;
}

static uint64_t tbc_issued(void *self, unsigned slot, const struct group *group, const struct executed *executed) {
    struct tbc *tbc = self;
    const unsigned number = slot / tbc->rows;
    struct block *block = &tbc->blocks[number];
    struct compacted *warp = &block->warps[slot % tbc->rows];
    const struct stack_entry *top = stack_top(&block->stack);
    const bool gathered = ends_path(&tbc->code[group->pc]);
    assert(!warp->out && !warp->arrived);
    warp->out = bits_count(executed->flow == FLOW_EXIT ? group->lanes & ~executed->taken : group->lanes);
    block->out += warp->out;
    block->memory = warp->memory = divergence_waits_for_memory(&tbc->code[group->pc]);
    warp->pc = executed->flow == FLOW_BRANCH ? executed->target : executed->pc + 1;
    if (gathered)
        gather(tbc, number, group, executed);
    warp->arrived =
        gathered || (block->stack.count > 1 && warp->pc == top->reconverge && top->depth == top->reconverge_depth);
    if (!warp->arrived)
        return UINT64_C(1) << slot;
    block->pc = gathered ? group->pc : warp->pc;
    if (--block->left)
        return UINT64_C(1) << slot;
    meet(tbc, number, gathered);
    return slots_of(tbc, number);
}

static uint64_t tbc_returned(void *self, const uint16_t *threads, uint32_t lanes) {
    struct tbc *tbc = self;
    uint64_t changed = 0;
    for (BITS_EACH(lane, lanes)) {
        const unsigned thread = threads[lane], number = thread / tbc->warp_size / tbc->rows;
        struct block *block = &tbc->blocks[number];
        assert(block->out);
        block->out--;
        if (block->held) {
            block->held = block->out != 0;
            changed |= block->held ? 0 : slots_of(tbc, number);
            continue;
        }
        struct compacted *warp = &block->warps[tbc->home[thread]];
        if (--warp->out == 0)
            changed |= UINT64_C(1) << (number * tbc->rows + tbc->home[thread]);
    }
    return changed;
}

static uint32_t tbc_alive(const void *self, unsigned warp) { return ((const struct tbc *)self)->alive[warp]; }

static void tbc_where(const void *self, unsigned warp, uint32_t pcs[LANES_MAX]) {
    const struct tbc *tbc = self;
    const struct block *block = &tbc->blocks[warp / tbc->rows];
    stack_where(&block->stack, warp % tbc->rows, pcs);
    for (unsigned i = 0; i < block->formed; i++)
        for (BITS_EACH(lane, block->warps[i].lanes))
            if (block->warps[i].threads[lane] / tbc->warp_size == warp && !block->warps[i].arrived)
                pcs[lane] = block->warps[i].pc;
}

static unsigned tbc_show(const void *self, unsigned warp, struct group_row *rows, unsigned most) {
    const struct tbc *tbc = self;
    return stack_show(&tbc->blocks[warp / tbc->rows].stack, warp % tbc->rows, rows, most);
}

static const void *tbc_statistics(const void *self) { return &((const struct tbc *)self)->stats; }

const struct divergence_ops divergence_tbc = {
    .name = "tbc",
    .help = "thread block compaction: a stack per block; its warps wait for each other at branches and are formed anew",
    .regroups = true,
    .returns_together = true,
    .stats = tbc_stats_table,
    .stats_bytes = sizeof(struct tbc_stats),
    .statistics = tbc_statistics,
    .create = tbc_create,
    .start = tbc_start,
    .offer = tbc_offer,
    .issued = tbc_issued,
    .ahead = tbc_ahead,
    .returned = tbc_returned,
    .alive = tbc_alive,
    .where = tbc_where,
    .show = tbc_show,
};
