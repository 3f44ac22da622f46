/* SPDX-License-Identifier: Apache-2.0 */
/* Compaction adequacy prediction (CAPRI; Rhu and Erez, ISCA 2012) over thread block compaction: warps wait only where it pays.
 *
 * A table knows of every branch at which a warp has diverged whether compaction needed fewer warps there the last time, and only
 * where it did do warps wait (read in the abstract). The table's size, and that a branch enters it when a warp first diverges
 * there, are recalled and not read. The rest is ours: a new branch counts as adequate, so that it is as under divergent-only;
 * outcomes are in warps as they come to the branch, because in warps of the program every branch within a compacted side would be
 * adequate; only warps that diverge are counted, because only they would wait.
 *
 * A warp that diverges where compaction is not foretold to pay goes on by itself, with a stack as `pdom` has, until all its threads
 * have come to the branch's reconvergence PC; it waits at no branch within, since its partners are elsewhere. Meanwhile such
 * warps are counted lane by lane as they pass the branch, so that it is known whether waiting would have been better: when all
 * warps beside them have passed it, when one passes it again, or when warps were formed anew. Branches of a function whose threads
 * meet only where it returns are not foretold, and brx, calls and returns neither: there all wait as under divergent-only. */
#include "divergence/tbc.h"

#define ENTRY_NONE UINT32_MAX

struct capri_entry {
    uint32_t pc; /* NO_PC: it is free */
    bool adequate;
};

/* Of a branch that is not foretold to be adequate, in a block: who has passed it. */
struct capri_tally {
    uint32_t pc, formation; /* the branch, and block.formations then */
    uint64_t seen;          /* places of warps */
    unsigned before;        /* warps with threads, of both sides */
    uint8_t lanes[2][LANES_MAX];
};

struct capri {
    enum tbc_predictor predictor;
    void *stacks; /* of warps that are apart, by the first thread of each */
    unsigned entries, next;
    struct capri_entry *table;
    uint32_t *entry_of;          /* by PC; ENTRY_NONE */
    struct capri_tally *tallies; /* [block][entry] */
};

struct capri *capri_create(struct arena *arena, const struct divergence_shape *shape) {
    const struct tbc_params *params = shape->params;
    struct capri *capri = ARENA_NEW(arena, struct capri);
    unsigned branches = 0;
    capri->predictor = params->predictor;
    capri->stacks = pdom_create_stacks(arena, shape, shape->warps * shape->warp_size);
    capri->entry_of = ARENA_ARRAY(arena, uint32_t, shape->code_count);
    for (uint32_t pc = 0; pc < shape->code_count; pc++) {
        capri->entry_of[pc] = ENTRY_NONE;
        branches += inst_may_diverge(&shape->code[pc]);
    }
    capri->entries =
        params->predictor_entries && params->predictor_entries < branches ? params->predictor_entries : branches;
    capri->table = ARENA_ARRAY(arena, struct capri_entry, capri->entries);
    for (unsigned i = 0; i < capri->entries; i++)
        capri->table[i].pc = NO_PC;
    capri->tallies =
        ARENA_ARRAY(arena, struct capri_tally, (size_t)capri->entries * (shape->warps / shape->warps_per_block));
    return capri;
}

/* ---- the table ---- */

static struct capri_entry *find(const struct capri *capri, uint32_t pc) {
    return capri->entry_of[pc] == ENTRY_NONE ? NULL : &capri->table[capri->entry_of[pc]];
}

/* The oldest gives way. */
static struct capri_entry *enter(struct tbc *tbc, uint32_t pc) {
    struct capri *capri = tbc->capri;
    struct capri_entry *entry = &capri->table[capri->next];
    if (entry->pc != NO_PC)
        capri->entry_of[entry->pc] = ENTRY_NONE;
    else
        tbc->stats.predictor_largest++;
    capri->entry_of[pc] = capri->next;
    capri->next = (capri->next + 1) % capri->entries;
    *entry = (struct capri_entry){.pc = pc, .adequate = true};
    return entry;
}

/* ---- outcomes ---- */

static unsigned fullest(const uint8_t lanes[LANES_MAX]) {
    unsigned most = 0;
    for (unsigned lane = 0; lane < LANES_MAX; lane++)
        most = lanes[lane] > most ? lanes[lane] : most;
    return most;
}

static void count(struct capri_tally *tally, uint32_t lanes, unsigned side) {
    for (BITS_EACH(lane, lanes))
        tally->lanes[side][lane]++;
    tally->before += lanes != 0;
}

/* A branch that was foretold so has been passed. */
static void judge(struct tbc *tbc, struct capri_entry *entry, const struct capri_tally *tally, bool foretold) {
    if (!tally->before)
        return;
    entry->adequate = fullest(tally->lanes[0]) + fullest(tally->lanes[1]) < tally->before;
    tbc->stats.foretold++;
    tbc->stats.right += entry->adequate == foretold;
}

static bool all_have_passed(const struct tbc_level *level, uint64_t seen) {
    for (unsigned i = 0; i < level->formed; i++)
        if (level->warps[i].lanes && !(seen >> i & 1))
            return false;
    return true;
}

/* A warp passes a branch without waiting. */
static void pass(struct tbc *tbc, unsigned number, unsigned place, struct capri_entry *entry,
                 const struct executed *executed) {
    struct tbc_block *block = &tbc->blocks[number];
    const struct capri *capri = tbc->capri;
    struct capri_tally *tally = &capri->tallies[(size_t)number * capri->entries + (size_t)(entry - capri->table)];
    if (tally->pc != executed->pc || tally->formation != block->formations || tally->seen >> place & 1) {
        if (tally->pc == executed->pc)
            judge(tbc, entry, tally, false);
        *tally = (struct capri_tally){.pc = executed->pc, .formation = block->formations};
    }
    tally->seen |= UINT64_C(1) << place;
    if (executed_diverges(executed)) {
        count(tally, executed->lanes & ~executed->taken, 0);
        count(tally, executed->taken, 1);
    }
    if (all_have_passed(&block->levels.items[block->stack.count - 1], tally->seen)) {
        judge(tbc, entry, tally, false);
        *tally = (struct capri_tally){.pc = executed->pc, .formation = block->formations};
    }
}

void capri_judge_party(struct tbc *tbc, unsigned number, uint32_t at) {
    struct tbc_block *block = &tbc->blocks[number];
    const struct tbc_level *level = &block->levels.items[block->stack.count - 1];
    struct capri_entry *entry = find(tbc->capri, at);
    struct capri_tally tally = {0};
    if (!entry)
        return;
    for (unsigned i = 0; i < level->formed; i++) {
        const struct tbc_warp *warp = &level->warps[i];
        uint32_t taken = 0;
        if (!warp->lanes || !warp->arrived || warp->at != at)
            continue;
        for (BITS_EACH(lane, warp->lanes)) {
            const unsigned row = warp->threads[lane] / tbc->warp_size - number * tbc->rows;
            taken |= (block->gathered.taken[row] >> warp->threads[lane] % tbc->warp_size & 1) << lane;
        }
        count(&tally, warp->lanes & ~taken, 0);
        count(&tally, taken, 1);
    }
    judge(tbc, entry, &tally, true);
}

/* ---- warps that are apart ---- */

static void go_apart(struct tbc *tbc, struct tbc_warp *warp, uint32_t pc) {
    warp->apart = true;
    warp->stack = warp->threads[bits_first(warp->lanes)];
    divergence_pdom.start(tbc->capri->stacks, warp->stack, pc, warp->lanes);
}

bool capri_waits(struct tbc *tbc, unsigned number, unsigned place, const struct executed *executed) {
    struct capri *capri = tbc->capri;
    const struct tbc_block *block = &tbc->blocks[number];
    const bool diverges = executed_diverges(executed);
    struct capri_entry *entry = find(capri, executed->pc);
    if (diverges && tbc->code[executed->pc].reconverge == NO_PC && stack_top(&block->stack)->depth)
        return true;
    if (!entry && diverges)
        entry = enter(tbc, executed->pc);
    if (!entry || entry->adequate || capri->predictor == PREDICTOR_ALWAYS)
        return diverges;
    pass(tbc, number, place, entry, executed);
    if (!diverges)
        return false;
    go_apart(tbc, &block->levels.items[block->stack.count - 1].warps[place], executed->pc);
    tbc->stats.apart++;
    return false;
}

void capri_issued(struct tbc *tbc, unsigned number, struct tbc_warp *warp, const struct group *group,
                  const struct executed *executed) {
    struct capri *capri = tbc->capri;
    struct group next;
    warp->arrived = false;
    divergence_pdom.issued(capri->stacks, warp->stack, group, executed);
    if (!divergence_pdom.offer(capri->stacks, warp->stack, &next)) { /* all have ended */
        warp->apart = false;
        return;
    }
    warp->pc = next.pc, warp->active = next.lanes;
    if (pdom_depth(capri->stacks, warp->stack) > 1 || capri->predictor == PREDICTOR_NEVER)
        return;
    warp->apart = false; /* where the branch reconverges */
    warp->arrived = tbc_is_end(&tbc->blocks[number].stack, warp->pc);
}

void capri_start(struct tbc *tbc, unsigned number) {
    const struct tbc_level *level = &tbc->blocks[number].levels.items[0];
    for (unsigned i = 0; tbc->capri->predictor == PREDICTOR_NEVER && i < level->formed; i++)
        go_apart(tbc, &level->warps[i], level->warps[i].pc);
}

/* ---- looking at it ---- */

void capri_where(const struct tbc *tbc, const struct tbc_warp *warp, uint32_t pcs[LANES_MAX]) {
    divergence_pdom.where(tbc->capri->stacks, warp->stack, pcs);
}

unsigned capri_show(const struct tbc *tbc, const struct tbc_warp *warp, struct group_row *rows, unsigned most) {
    const unsigned shown = divergence_pdom.show(tbc->capri->stacks, warp->stack, rows, most);
    for (unsigned i = 0; i < shown; i++)
        rows[i].what = i ? "apart, below" : "apart", rows[i].threads = warp->threads;
    return shown;
}
