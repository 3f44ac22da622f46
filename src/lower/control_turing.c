/* SPDX-License-Identifier: Apache-2.0 */
/* What a compiler for sm_75 on says of time: results of a known latency are waited for by the cycles between instructions, all
 * others by scoreboards. What is under way at the start of a block is the worst of all ways to it. */
#include "lower/distance_turing.h"
#include "lower/layout_turing.h"

#include <string.h>

enum {
    REGISTERS = 256,
    PREDICATES = 8,
    UNIFORMS = 64,
    PREDICATE = REGISTERS,
    UNIFORM = PREDICATE + PREDICATES,
    PLACES = UNIFORM + UNIFORMS, /* of values: registers, predicates, uniform registers */
    SCOREBOARDS = 6,
    STALL_MAX = 15,
    BRANCH_STALL = 5,
    STAYS_BELOW = 12, /* ptxas 13 never stays with a warp from so many cycles on (90,000 instructions of sm_86) */
};

/* What instructions before have under way. */
struct pending {
    uint8_t cycles[TURING_READERS][PLACES]; /* until a value of known latency is there for a reader */
    uint8_t writes[PLACES];                 /* scoreboards of those who write it */
    uint8_t reads[PLACES];                  /* of those who have still to read it */
};

struct control_block {
    uint32_t start, end;
    struct pending in;
    bool is_reached;
};

/* Values that an instruction reads and writes. */
struct touched_values {
    uint16_t reads[24], writes[12];
    unsigned read_count, write_count;
    bool has_guard;            /* the first that is read is one */
    enum turing_reader reader; /* of all others */
    uint16_t high;             /* the upper word of the pair that is written; PLACES: none is */
};

static unsigned width_of(const struct turing_inst *inst, unsigned n) {
    const struct turing_row *row = turing_row(inst->row);
    const bool is_memory = inst->operands[n].kind == TURING_MEMORY;
    if (is_memory)
        return turing_modifier(inst, TURING_WORDS_E) > 0 ? 2 : 1;
    const int size = turing_modifier(inst, TURING_WORDS_SIZE),
              constant = turing_modifier(inst, TURING_WORDS_SIZE_CONSTANT);
    if (row->unit == TURING_UNIT_MEM || row->unit == TURING_UNIT_UNIFORM) {
        const int words = size >= 0 ? size : constant;
        const int atomic = turing_modifier(inst, TURING_WORDS_ATOMIC_TYPE),
                  cas = turing_modifier(inst, TURING_WORDS_CAS_TYPE);
        if (words == 5 || atomic == 2 || atomic == 5 || atomic == 6 || cas == 2)
            return 2;
        return words == 6 ? 4 : 1;
    }
    if (row->unit == TURING_UNIT_FP64 || row->unit == TURING_UNIT_XU_WIDE)
        return 2;
    const bool is_wide = inst->row == TURING_IMAD_WIDE;
    return is_wide && (n == 0 || n == 4) ? 2 : 1;
}

static void add_value(uint16_t *values, unsigned *count, unsigned limit, unsigned value, unsigned width) {
    for (unsigned w = 0; w < width && *count < limit; w++)
        values[(*count)++] = (uint16_t)(value + w);
}

static struct touched_values touched_by(const struct turing_inst *inst) {
    struct touched_values touched = {.reader = turing_reader_of(inst), .high = PLACES};
    const struct turing_row *row = turing_row(inst->row);
    touched.has_guard = inst->guard != TURING_PT;
    if (inst->guard != TURING_PT)
        add_value(touched.reads, &touched.read_count, 24, PREDICATE + inst->guard, 1);
    for (unsigned n = 0; row->operands[n].shape; n++) {
        const struct turing_operand *operand = &inst->operands[n];
        const bool written = row->operands[n].shape == TURING_SHAPE_OUT ||
                             (row->operands[n].at == 16 && (row->operands[n].shape == TURING_SHAPE_REGISTER ||
                                                            row->operands[n].shape == TURING_SHAPE_UNIFORM));
        unsigned value = PLACES;
        if (operand->kind == TURING_PREDICATE && operand->reg != TURING_PT)
            value = PREDICATE + operand->reg;
        else if (operand->kind == TURING_UNIFORM && operand->reg != TURING_URZ)
            value = UNIFORM + operand->reg;
        else if ((operand->kind == TURING_REGISTER || operand->kind == TURING_MEMORY ||
                  (operand->kind == TURING_CONSTANT && row->operands[n].shape == TURING_SHAPE_CONSTANT_INDEXED)) &&
                 operand->reg != TURING_RZ)
            value = operand->reg;
        if (value < REGISTERS && written && width_of(inst, n) == 2)
            touched.high = (uint16_t)(value + 1);
        if (value < PLACES && written)
            add_value(touched.writes, &touched.write_count, 12, value, width_of(inst, n));
        else if (value < PLACES)
            add_value(touched.reads, &touched.read_count, 24, value, width_of(inst, n));
        if (operand->uniform)
            add_value(touched.reads, &touched.read_count, 24, UNIFORM + operand->ureg, 2);
    }
    return touched;
}

/* ---- one instruction ---- */

/* Scoreboards that it must wait for, and cycles that are still missing. */
static unsigned wait_of(const struct pending *pending, const struct touched_values *touched, unsigned *missing) {
    unsigned mask = 0;
    *missing = 0;
    for (unsigned i = 0; i < touched->read_count; i++) {
        const unsigned value = touched->reads[i];
        const enum turing_reader reader = i == 0 && touched->has_guard ? TURING_READER_GUARD : touched->reader;
        mask |= pending->writes[value];
        *missing = pending->cycles[reader][value] > *missing ? pending->cycles[reader][value] : *missing;
    }
    for (unsigned i = 0; i < touched->write_count; i++)
        mask |= pending->writes[touched->writes[i]] | pending->reads[touched->writes[i]];
    return mask;
}

static void pass(struct pending *pending, unsigned cycles, unsigned mask) {
    for (unsigned r = 0; r < TURING_READERS && cycles; r++)
        for (unsigned i = 0; i < PLACES; i++)
            pending->cycles[r][i] = (uint8_t)(pending->cycles[r][i] > cycles ? pending->cycles[r][i] - cycles : 0);
    for (unsigned i = 0; i < PLACES && mask; i++)
        pending->writes[i] &= (uint8_t)~mask, pending->reads[i] &= (uint8_t)~mask;
}

static enum turing_result result_of(const struct touched_values *touched, unsigned value) {
    return value >= UNIFORM         ? TURING_RESULT_UNIFORM
           : value >= PREDICATE     ? TURING_RESULT_PREDICATE
           : value == touched->high ? TURING_RESULT_HIGH
                                    : TURING_RESULT_WORD;
}

static void begin(struct pending *pending, const struct turing_inst *inst, const struct touched_values *touched) {
    const struct turing_control *control = &inst->control;
    for (unsigned i = 0; i < touched->write_count; i++) {
        const unsigned value = touched->writes[i];
        for (unsigned r = 0; r < TURING_READERS && turing_is_fixed(inst); r++)
            pending->cycles[r][value] =
                (uint8_t)turing_distance(inst, result_of(touched, value), (enum turing_reader)r);
        if (turing_is_fixed(inst))
            continue;
        if (control->write_barrier < SCOREBOARDS)
            pending->writes[touched->writes[i]] |= (uint8_t)(1u << control->write_barrier);
    }
    const unsigned reader = control->read_barrier < SCOREBOARDS ? control->read_barrier : control->write_barrier;
    for (unsigned i = 0; i < touched->read_count && reader < SCOREBOARDS; i++)
        pending->reads[touched->reads[i]] |= (uint8_t)(1u << reader);
}

/* ---- all of it ---- */

static bool ends_block(const struct turing_inst *inst) {
    return inst->row == TURING_BRA || inst->row == TURING_EXIT || inst->row == TURING_BSYNC;
}

static bool has_one_of(const uint16_t *values, unsigned count, const uint16_t *others, unsigned other_count) {
    for (unsigned i = 0; i < count; i++)
        for (unsigned k = 0; k < other_count; k++)
            if (values[i] == others[k])
                return true;
    return false;
}

/* The next instruction that writes one of the values, or reads one where `reads`; where there is none up to the end of the block,
 * that end. */
static unsigned next_touch(const struct turing_code *code, unsigned at, const uint16_t *values, unsigned count,
                           bool reads) {
    enum { FAR = 256 };
    unsigned i = at + 1;
    for (; i < code->code.count && i < at + FAR; i++) {
        const struct touched_values touched = touched_by(&code->code.items[i]);
        if (has_one_of(values, count, touched.writes, touched.write_count) ||
            (reads && has_one_of(values, count, touched.reads, touched.read_count)))
            return i;
        if (ends_block(&code->code.items[i]))
            break;
    }
    return i;
}

/* One that the instruction at `waiter` waits for anyway, or that is free, or whose end is nearest. Each holds where it ends. */
static uint8_t take_scoreboard(unsigned ends[SCOREBOARDS], unsigned at, unsigned waiter) {
    unsigned best = 0, least = UINT32_MAX;
    for (unsigned s = 0; s < SCOREBOARDS; s++) {
        const bool is_free = ends[s] <= at;
        const unsigned far = ends[s] > waiter ? ends[s] - waiter : waiter - ends[s];
        const unsigned rank = is_free ? 1 : far ? far + 1 : 0;
        if (rank < least)
            best = s, least = rank;
    }
    ends[best] = ends[best] <= at || waiter < ends[best] ? waiter : ends[best];
    return (uint8_t)best;
}

static void give_scoreboards(struct turing_code *code) {
    unsigned ends[SCOREBOARDS] = {0};
    for (unsigned i = 0; i < code->code.count; i++) {
        struct turing_inst *inst = &code->code.items[i];
        const enum turing_unit unit = (enum turing_unit)turing_row(inst->row)->unit;
        if (turing_is_fixed(inst) || unit == TURING_UNIT_BRANCH || unit == TURING_UNIT_BAR)
            continue;
        const struct touched_values touched = touched_by(inst);
        const unsigned read = next_touch(code, i, touched.reads, touched.read_count, false);
        const unsigned written = next_touch(code, i, touched.writes, touched.write_count, true);
        if (touched.write_count)
            inst->control.write_barrier = take_scoreboard(ends, i, written);
        if (touched.read_count && (!touched.write_count || read < written))
            inst->control.read_barrier = take_scoreboard(ends, i, read);
        if (inst->control.read_barrier == inst->control.write_barrier) /* it is released by the later of the two */
            inst->control.read_barrier = TURING_NO_BARRIER;
    }
}

static bool join(struct control_block *block, const struct pending *pending) {
    struct pending before = block->in;
    for (unsigned r = 0; r < TURING_READERS; r++)
        for (unsigned i = 0; i < PLACES; i++)
            if (pending->cycles[r][i] > block->in.cycles[r][i])
                block->in.cycles[r][i] = pending->cycles[r][i];
    for (unsigned i = 0; i < PLACES; i++)
        block->in.writes[i] |= pending->writes[i], block->in.reads[i] |= pending->reads[i];
    const bool changed = !block->is_reached || memcmp(&before, &block->in, sizeof before) != 0;
    block->is_reached = true;
    return changed;
}

/* Cycles that the first instructions of the blocks behind lack. */
static unsigned missing_behind(const struct turing_code *code, const struct pending *pending,
                               const struct control_block *const behind[2]) {
    unsigned most = 0;
    for (unsigned k = 0; k < 2; k++) {
        if (!behind[k])
            continue;
        const struct touched_values touched = touched_by(&code->code.items[behind[k]->start]);
        unsigned missing;
        wait_of(pending, &touched, &missing);
        most = missing > most ? missing : most;
    }
    return most;
}

/* Through a block; what it says of time is written down. Returns what is under way behind it. */
static struct pending walk(struct turing_code *code, const struct control_block *block,
                           const struct control_block *const behind[2]) {
    struct pending pending = block->in;
    for (unsigned i = block->start; i < block->end; i++) {
        struct turing_inst *inst = &code->code.items[i];
        const struct touched_values touched = touched_by(inst);
        unsigned missing;
        const unsigned mask = wait_of(&pending, &touched, &missing);
        if (missing && i > block->start) {
            struct turing_control *before = &code->code.items[i - 1].control;
            const unsigned more = before->stall + missing <= STALL_MAX ? missing : (unsigned)STALL_MAX - before->stall;
            before->stall = (uint8_t)(before->stall + more);
            pass(&pending, missing, 0);
        }
        inst->control.wait_mask = (uint8_t)mask;
        inst->control.stall = ends_block(inst) ? BRANCH_STALL : 1;
        pass(&pending, 0, mask);
        begin(&pending, inst, &touched);
        if (i + 1 == block->end) {
            const unsigned lack = missing_behind(code, &pending, behind);
            inst->control.stall = (uint8_t)(lack > inst->control.stall ? lack : inst->control.stall);
        }
        pass(&pending, inst->control.stall, 0);
    }
    return pending;
}

static uint32_t block_at(const struct control_block *blocks, uint32_t count, uint32_t inst) {
    uint32_t b = 0;
    while (b + 1 < count && blocks[b + 1].start <= inst)
        b++;
    return b;
}

/* What a block needs before its first instruction is waited for at the end of those that lead to it. */
static struct control_block *find_blocks(const struct turing_code *code, uint32_t *count) {
    uint8_t *leads = ARENA_ARRAY(code->arena, uint8_t, code->code.count + 1u);
    leads[0] = 1;
    for (unsigned i = 0; i < code->code.count; i++) {
        if (code->targets.items[i] != NO_BLOCK)
            leads[code->targets.items[i]] = 1;
        if (ends_block(&code->code.items[i]))
            leads[i + 1] = 1;
    }
    unsigned starts = 0;
    for (unsigned i = 0; i < code->code.count; i++)
        starts += leads[i];
    struct control_block *blocks = ARENA_ARRAY(code->arena, struct control_block, starts + 1u);
    *count = 0;
    for (unsigned i = 0; i < code->code.count; i++) {
        if (leads[i])
            blocks[(*count)++].start = i;
        blocks[*count - 1].end = i + 1;
    }
    return blocks;
}

/* Blocks that one leads to. */
static void find_ways(const struct turing_code *code, const struct control_block *blocks, uint32_t count, uint32_t b,
                      uint32_t to[2]) {
    const unsigned last = blocks[b].end - 1;
    const struct turing_inst *inst = &code->code.items[last];
    const bool leaves = inst->row == TURING_BRA || inst->row == TURING_EXIT;
    to[0] = inst->row == TURING_BRA ? block_at(blocks, count, code->targets.items[last]) : NO_BLOCK;
    to[1] = b + 1 < count && (!leaves || inst->guard != TURING_PT) ? b + 1 : NO_BLOCK;
}

void turing_give_control(struct turing_code *code) {
    uint32_t count;
    give_scoreboards(code);
    struct control_block *blocks = find_blocks(code, &count);
    uint8_t *waits = ARENA_ARRAY(code->arena, uint8_t, count + 1);
    if (!count)
        return;
    blocks[0].is_reached = true;
    waits[0] = 1;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = 0; b < count; b++) {
            if (!waits[b])
                continue;
            waits[b] = false;
            uint32_t to[2];
            find_ways(code, blocks, count, b, to);
            const struct control_block *const behind[2] = {to[0] == NO_BLOCK ? NULL : &blocks[to[0]],
                                                           to[1] == NO_BLOCK ? NULL : &blocks[to[1]]};
            const struct pending out = walk(code, &blocks[b], behind);
            for (unsigned k = 0; k < 2; k++)
                if (to[k] != NO_BLOCK && join(&blocks[to[k]], &out))
                    waits[to[k]] = 1, changed = true;
        }
    }
    for (unsigned i = 0; i < code->code.count; i++)
        code->code.items[i].control.stays = code->code.items[i].control.stall < STAYS_BELOW;
}
