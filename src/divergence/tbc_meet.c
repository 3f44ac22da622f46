/* SPDX-License-Identifier: Apache-2.0 */
/* Thread block compaction: warps of a block meet, the stack goes on, and new warps are formed. */
#include "divergence/tbc.h"

#include <string.h>

/* The level of an entry; as the stack they grow only where recursion diverges at every depth. */
static struct tbc_level *level_of(const struct tbc *tbc, struct tbc_block *block, unsigned entry) {
    while (block->levels.count <= entry) {
        struct tbc_level *level = ARENA_PUSH(tbc->family.arena, &block->levels);
        level->warps = ARENA_ARRAY(tbc->family.arena, struct tbc_warp, tbc->rows);
        level->away = ARENA_ARRAY(tbc->family.arena, uint32_t, tbc->rows);
    }
    return &block->levels.items[entry];
}

/* ---- warps ---- */

/* New warps of these threads of the top, one for each row that the fullest lane fills, in places that are free. */
static void form(struct tbc *tbc, unsigned number, const uint32_t *mask, uint32_t pc, bool arrived) {
    struct tbc_block *block = &tbc->blocks[number];
    const unsigned entry = block->stack.count - 1;
    struct tbc_level *level = level_of(tbc, block, entry);
    uint8_t filled[LANES_MAX] = {0}, places[STACK_ROWS];
    unsigned made = 0, free = 0;
    block->formations++;
    for (unsigned row = 0; row < tbc->rows; row++) {
        tbc->stats.before += mask[row] != 0;
        for (BITS_EACH(column, mask[row])) {
            const unsigned lane = column ^ tbc->flips[row], nth = filled[lane]++;
            const unsigned thread = (number * tbc->rows + row) * tbc->warp_size + column;
            if (nth == made) {
                while (free < level->formed && level->warps[free].lanes)
                    free++;
                level->warps[free] = (struct tbc_warp){.pc = pc, .arrived = arrived, .at = NO_PC};
                places[made++] = (uint8_t)free;
            }
            struct tbc_warp *warp = &level->warps[places[nth]];
            warp->lanes |= UINT32_C(1) << lane; /* so that its place is taken */
            warp->active = warp->lanes;
            warp->threads[lane] = (uint16_t)thread;
            tbc->home[thread] = places[nth], tbc->home_level[thread] = (uint16_t)entry;
            level->formed = free >= level->formed ? free + 1 : level->formed;
        }
    }
    tbc->stats.formed += made;
}

void tbc_form_top(struct tbc *tbc, unsigned number) {
    struct tbc_block *block = &tbc->blocks[number];
    const struct stack_entry *top = stack_top(&block->stack);
    struct tbc_level *level = level_of(tbc, block, block->stack.count - 1);
    level->formed = 0, level->parked = false;
    form(tbc, number, top->lanes, top->pc, false);
}

/* ---- meetings ---- */

/* Does every warp wait? The lowest instruction at which one waits for the others, NO_PC: none does; whether all stand
 * where the path ends. */
static bool all_wait(const struct tbc *tbc, const struct tbc_level *level, uint32_t *at, bool *end) {
    *at = NO_PC, *end = true;
    for (unsigned i = 0; i < level->formed; i++) {
        const struct tbc_warp *warp = &level->warps[i];
        if (!tbc_is_waiting(tbc, warp))
            return false;
        *at = warp->lanes && warp->arrived && warp->at < *at ? warp->at : *at;
        *end &= !warp->lanes || warp->arrived;
    }
    *end &= *at == NO_PC;
    return true;
}

/* No warp issues before these threads are back. */
static void hold(const struct tbc *tbc, struct tbc_block *block, const uint32_t *mask) {
    block->held = 0;
    for (unsigned row = 0; row < tbc->rows; row++) {
        block->pending[row] |= mask[row] & block->out[row];
        block->held += bits_count(block->pending[row]);
    }
}

/* What those that wait at the instruction did; they leave their places. */
static void gather_party(const struct tbc *tbc, struct tbc_block *block, struct tbc_level *level, unsigned first,
                         uint32_t at) {
    struct stack_gathered *gathered = &block->gathered;
    gathered->flow = FLOW_NEXT, gathered->pc = at;
    memset(gathered->lanes, 0, sizeof gathered->lanes);
    for (unsigned i = 0; i < level->formed; i++) {
        struct tbc_warp *warp = &level->warps[i];
        if (!warp->lanes || !warp->arrived || warp->at != at)
            continue;
        if (warp->flow != FLOW_NEXT)
            gathered->flow = warp->flow, gathered->target = warp->target;
        tbc_add_rows(tbc, first, warp->threads, warp->lanes, gathered->lanes);
        warp->lanes = 0;
    }
}

/* Where threads of a function return to: one place for all entries of the same call. */
static void note_return(struct tbc_block *block) {
    const struct stack_gathered *gathered = &block->gathered;
    const uint32_t depth = stack_top(&block->stack)->depth;
    for (unsigned row = 0; row < stack_rows(&block->stack); row++)
        for (BITS_EACH(lane, gathered->taken[row]))
            for (unsigned i = 0; i < block->stack.count && i < block->levels.count; i++)
                if (block->stack.entries[i].depth == depth)
                    block->levels.items[i].return_pc = gathered->next[row * LANES_MAX + lane];
}

/* The party goes on in an entry of its own, the other warps of the top wait below it. */
static void send_party(struct tbc *tbc, struct tbc_block *block, struct tbc_level *level, uint32_t at) {
    const struct stack_gathered *gathered = &block->gathered;
    struct stack_entry *top = stack_top(&block->stack);
    struct stack_meeting meeting = {tbc->code[at].reconverge, top->depth, ++tbc->family.meetings};
    if (gathered->flow == FLOW_CALL)
        meeting.pc = at + 1;
    else if (gathered->flow == FLOW_RETURN)
        meeting.pc = top->reconverge, meeting.depth = top->reconverge_depth;
    level->parked = true;
    level->away_pc = gathered->flow == FLOW_RETURN ? NO_PC : meeting.pc;
    memcpy(level->away, gathered->lanes, tbc->rows * sizeof *level->away);
    top->pc = at; /* anything but where it reconverges */
    stack_push(&block->stack, at, gathered->lanes, top->depth, meeting);
}

/* Those that wait at an instruction have executed it together. */
static void go_on_at(struct tbc *tbc, unsigned number, uint32_t at) {
    struct tbc_block *block = &tbc->blocks[number];
    struct stack_gathered *gathered = &block->gathered;
    struct tbc_level *level = level_of(tbc, block, block->stack.count - 1);
    uint32_t others[STACK_ROWS];
    if (tbc->capri)
        capri_judge_party(tbc, number, at);
    gather_party(tbc, block, level, number * tbc->rows, at);
    for (unsigned row = 0; row < tbc->rows; row++) {
        others[row] = gathered->taken[row] & ~gathered->lanes[row];
        gathered->taken[row] &= gathered->lanes[row];
    }
    hold(tbc, block, gathered->lanes);
    if (gathered->flow == FLOW_RETURN)
        note_return(block);
    /* what is called has an entry of its own, whose path ends where it returns */
    if ((tbc->divergent_only && gathered->flow == FLOW_CALL) ||
        !stack_mask_equal(&block->stack, gathered->lanes, stack_top(&block->stack)->lanes))
        send_party(tbc, block, level, at);
    stack_issued(&block->stack, gathered);
    memcpy(gathered->taken, others, tbc->rows * sizeof *others);
}

/* All warps of the top stand where its path ends. */
static void go_on_below(struct tbc *tbc, unsigned number) {
    struct tbc_block *block = &tbc->blocks[number];
    struct stack_entry *top = stack_top(&block->stack);
    hold(tbc, block, top->lanes);
    if (block->stack.count > 1) {
        const bool returned = top->reconverge == NO_PC;
        top->pc = returned ? block->levels.items[block->stack.count - 1].return_pc : top->reconverge;
        top->depth = returned ? top->reconverge_depth - 1 : top->reconverge_depth;
    }
    stack_settle(&block->stack);
}

bool tbc_meet(struct tbc *tbc, unsigned number) {
    struct tbc_block *block = &tbc->blocks[number];
    uint32_t at;
    bool end, met = false;
    while (block->stack.count && all_wait(tbc, level_of(tbc, block, block->stack.count - 1), &at, &end)) {
        const unsigned deep = block->stack.count;
        if (at != NO_PC)
            go_on_at(tbc, number, at);
        else if (end)
            go_on_below(tbc, number);
        else
            break;
        met = true;
        tbc->stats.meetings++;
        tbc->stats.divergences += block->stack.count > deep;
        tbc->stats.depth = block->stack.count > tbc->stats.depth ? block->stack.count : tbc->stats.depth;
        for (unsigned i = block->stack.count; i < block->levels.count; i++)
            block->levels.items[i].parked = false;
        if (!block->stack.count)
            break;
        struct tbc_level *level = level_of(tbc, block, block->stack.count - 1);
        if (!level->parked) {
            tbc_form_top(tbc, number);
            continue;
        }
        level->parked = false;
        for (unsigned row = 0; row < tbc->rows; row++)
            level->away[row] &= stack_top(&block->stack)->lanes[row];
        form(tbc, number, level->away, level->away_pc, tbc_is_end(&block->stack, level->away_pc));
    }
    return met;
}
