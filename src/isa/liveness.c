/* SPDX-License-Identifier: Apache-2.0 */
/* Liveness of registers as segments of program points.
 * A register counts at a point when some path leads on to a use without an unguarded write in between, and some
 * path from a write leads there. (The second half matters for PTX: a register written under complementary guards,
 * or only on the way into a loop, would otherwise be live back to the entry.)
 * Registers are taken in strips so that the bit matrices of a function with very many blocks and registers stay
 * within a budget; ordinary functions are one strip. */
#include "isa/flow.h"

#include <string.h>

#include "base/bits.h"

enum { WORD_BITS = 64, MATRIX_BYTES_MAX = 16 << 20, SEGMENTS_MAX = 1 << 22 };

uint32_t register_units(enum type type) {
    if (type == TYPE_PRED)
        return 0;
    unsigned bytes = type_bytes(type);
    return bytes > 4 ? bytes / 4 : 1;
}

struct strip {
    const struct module *module;
    const struct function *function;
    const struct cfg *cfg;
    uint32_t first_reg, reg_count;
    size_t words;
    uint64_t *live_in, *exposed, *killed; /* per block: needed on entry, read before written, surely written */
    uint64_t *defined_in, *written;       /* per block: written on some path to it, written in it */
    uint64_t *live;                       /* while walking: registers with an open segment */
    uint32_t *open_last;                  /* last point of the open segment */
    uint32_t *first_write, *write_stamp;  /* first write in the block being walked; stamp = block + 1 */
    uint32_t *written_at;                 /* PC + 1 of the last write met in the walk */
    uint32_t *queue, queue_head, queue_tail;
    struct changed {
        bool queued;
        size_t low, high; /* words of the block's row that changed since it was last handed on: [low, high) */
    } * changed;
    struct liveness *out;
    struct arena *scratch;
};

static uint64_t *row(const struct strip *strip, uint64_t *matrix, uint32_t block) {
    return matrix + (size_t)block * strip->words;
}
static bool bit_test(const uint64_t *set, uint32_t bit) { return (set[bit / WORD_BITS] >> bit % WORD_BITS & 1) != 0; }
static void bit_set(uint64_t *set, uint32_t bit) { set[bit / WORD_BITS] |= UINT64_C(1) << bit % WORD_BITS; }
static void bit_clear(uint64_t *set, uint32_t bit) { set[bit / WORD_BITS] &= ~(UINT64_C(1) << bit % WORD_BITS); }

/* The next of all registers that are read or written, *at first 0: guard first, then sources, then destinations, of each the
 * lower half first; false when there are no more. out->reg is relative to the strip. */
struct mention {
    uint32_t reg;
    bool write;
};
static bool next_mention(const struct strip *strip, const struct inst *inst, unsigned *at, struct mention *out) {
    const unsigned sources = inst->src_count, operands = sources + inst->dst_count;
    for (;;) {
        const unsigned n = (*at)++, half = n & 1, i = n / 2; /* operand i - 1 */
        uint32_t reg = (uint32_t)inst->guard;
        if (i > operands)
            return false;
        out->write = i > sources;
        if (i) {
            const struct operand *operand = i > sources ? &inst->dst[i - 1 - sources] : &inst->src[i - 1];
            if (half >= operand_registers(operand))
                continue;
            out->write &= operand->kind == OPERAND_REG;
            reg = operand->reg + half;
        } else if (inst->guard < 0 || half) {
            continue;
        }
        if (reg < strip->first_reg || reg - strip->first_reg >= strip->reg_count)
            continue;
        out->reg = reg - strip->first_reg;
        return true;
    }
}

/* exposed, killed, written of every reachable block. */
static void scan_blocks(struct strip *strip) {
    for (uint32_t b = 0; b < strip->cfg->block_count; b++) {
        const struct block *block = &strip->cfg->blocks[b];
        if (!block->reachable)
            continue;
        uint64_t *exposed = row(strip, strip->exposed, b), *killed = row(strip, strip->killed, b);
        uint64_t *written = row(strip, strip->written, b);
        for (uint32_t pc = block->first_pc; pc < block->end_pc; pc++) {
            const struct inst *inst = &strip->module->code[pc];
            struct mention mention;
            for (unsigned at = 0; next_mention(strip, inst, &at, &mention);) {
                if (!mention.write) {
                    if (!bit_test(killed, mention.reg))
                        bit_set(exposed, mention.reg);
                    continue;
                }
                bit_set(written, mention.reg);
                if (inst->guard < 0)
                    bit_set(killed, mention.reg);
            }
        }
    }
}

/* A queue of blocks, each in it at most once, with the words that are news. */
static void push(struct strip *strip, uint32_t block, size_t low, size_t high) {
    struct changed *changed = &strip->changed[block];
    if (changed->queued) {
        changed->low = low < changed->low ? low : changed->low;
        changed->high = high > changed->high ? high : changed->high;
        return;
    }
    *changed = (struct changed){.queued = true, .low = low, .high = high};
    strip->queue[strip->queue_tail] = block;
    strip->queue_tail = (strip->queue_tail + 1) % (strip->cfg->block_count + 1);
}

/* A block whose row changed, and the words that did. */
struct news {
    uint32_t block;
    size_t low, high;
};

/* False: the queue is empty. */
static bool pop(struct strip *strip, struct news *news) {
    if (strip->queue_head == strip->queue_tail)
        return false;
    uint32_t block = strip->queue[strip->queue_head];
    *news = (struct news){block, strip->changed[block].low, strip->changed[block].high};
    strip->changed[block].queued = false;
    strip->queue_head = (strip->queue_head + 1) % (strip->cfg->block_count + 1);
    return true;
}

/* The block's row of the matrix |= (the row of the news | also) & ~without, over the words that changed; pushes the
 * block when its row grew. */
static void flow_into(struct strip *strip, uint32_t block, uint64_t *matrix, const struct news *news,
                      const uint64_t *also, const uint64_t *without) {
    uint64_t *into = row(strip, matrix, block);
    const uint64_t *from = row(strip, matrix, news->block);
    size_t low = SIZE_MAX, high = 0;
    for (size_t w = news->low; w < news->high; w++) {
        uint64_t add = (from[w] | (also ? also[w] : 0)) & ~(without ? without[w] : 0) & ~into[w];
        if (!add)
            continue;
        into[w] |= add;
        low = w < low ? w : low;
        high = w + 1;
    }
    if (high)
        push(strip, block, low, high);
}

/* live_in = exposed | (union of the successors' live_in & ~killed). Every block starts with its own exposed and
 * hands what is new to its predecessors. */
static void solve_backward(struct strip *strip) {
    for (uint32_t b = strip->cfg->block_count; b-- > 0;)
        if (strip->cfg->blocks[b].reachable) {
            memcpy(row(strip, strip->live_in, b), row(strip, strip->exposed, b), strip->words * sizeof(uint64_t));
            push(strip, b, 0, strip->words);
        }
    for (struct news news; pop(strip, &news);) {
        const struct block *block = &strip->cfg->blocks[news.block];
        for (uint32_t i = 0; i < block->predecessor_count; i++) {
            uint32_t p = block->predecessors[i];
            if (strip->cfg->blocks[p].reachable)
                flow_into(strip, p, strip->live_in, &news, NULL, row(strip, strip->killed, p));
        }
    }
}

/* defined_in = union of the predecessors' defined_in | written. */
static void solve_forward(struct strip *strip) {
    for (uint32_t b = 0; b < strip->cfg->block_count; b++)
        if (strip->cfg->blocks[b].reachable)
            push(strip, b, 0, strip->words);
    for (struct news news; pop(strip, &news);) {
        const struct block *block = &strip->cfg->blocks[news.block];
        for (uint32_t i = 0; i < block->successor_count; i++)
            if (block->successors[i] < strip->cfg->block_count)
                flow_into(strip, block->successors[i], strip->defined_in, &news, row(strip, strip->written, news.block),
                          NULL);
    }
}

static void emit(struct strip *strip, uint32_t reg, uint32_t first, uint32_t last) {
    struct liveness *out = strip->out;
    uint32_t whole = reg + strip->first_reg;
    enum type type = (enum type)strip->function->reg_types[whole];
    /* The sums are kept as differences until the end; unsigned wrap-around cancels. */
    uint32_t *sums = type == TYPE_PRED ? out->predicates : out->units;
    uint32_t amount = type == TYPE_PRED ? 1 : register_units(type);
    sums[first] += amount;
    sums[last + 1] -= amount;
    if (out->count == SEGMENTS_MAX)
        out->complete = false;
    if (out->complete)
        *ARENA_PUSH(strip->scratch, out) = (struct live_segment){.reg = whole, .first = first, .last = last};
}

static void close_segment(struct strip *strip, uint32_t reg, uint32_t first) {
    emit(strip, reg, first, strip->open_last[reg]);
    bit_clear(strip->live, reg);
}

static bool defined_before(const struct strip *strip, uint32_t block, uint32_t reg, uint32_t pc) {
    return bit_test(row(strip, strip->defined_in, block), reg) ||
           (strip->write_stamp[reg] == block + 1 && strip->first_write[reg] < pc);
}

/* Makes `live` what is needed after the block, given that it holds what is needed at the start of the block that
 * follows in PC order; a register needed in both keeps its segment open. */
static void enter_from_below(struct strip *strip, uint32_t b) {
    const struct block *block = &strip->cfg->blocks[b];
    uint32_t end = 2 * (block->end_pc - strip->function->first_pc);
    for (size_t w = 0; w < strip->words; w++) {
        uint64_t needed = 0;
        for (uint32_t i = 0; i < block->successor_count; i++)
            if (block->successors[i] < strip->cfg->block_count)
                needed |= row(strip, strip->live_in, block->successors[i])[w];
        needed &= row(strip, strip->defined_in, b)[w] | row(strip, strip->written, b)[w];
        for (uint64_t gone = strip->live[w] & ~needed; gone; gone &= gone - 1)
            close_segment(strip, (uint32_t)(w * WORD_BITS) + bits_first64(gone), end);
        for (uint64_t new = needed & ~strip->live[w]; new; new &= new - 1)
            strip->open_last[w * WORD_BITS + bits_first64(new)] = end - 1;
        strip->live[w] = needed;
    }
}

static void walk_inst(struct strip *strip, uint32_t b, uint32_t pc) {
    const struct inst *inst = &strip->module->code[pc];
    uint32_t before = 2 * (pc - strip->function->first_pc), after = before + 1;
    struct mention mention;
    for (unsigned at = 0; next_mention(strip, inst, &at, &mention);) {
        if (!mention.write || strip->written_at[mention.reg] == pc + 1)
            continue; /* {r, r} writes r once */
        strip->written_at[mention.reg] = pc + 1;
        if (!bit_test(strip->live, mention.reg))
            /* Written and never read: it still has to go somewhere. */
            emit(strip, mention.reg, after, after);
        else if (inst->guard < 0 || !defined_before(strip, b, mention.reg, pc))
            close_segment(strip, mention.reg, after);
    }
    for (unsigned at = 0; next_mention(strip, inst, &at, &mention);)
        if (!mention.write && !bit_test(strip->live, mention.reg) && defined_before(strip, b, mention.reg, pc)) {
            strip->open_last[mention.reg] = before;
            bit_set(strip->live, mention.reg);
        }
}

static void close_all(struct strip *strip, uint32_t first) {
    for (size_t w = 0; w < strip->words; w++)
        for (uint64_t rest = strip->live[w]; rest; rest &= rest - 1)
            close_segment(strip, (uint32_t)(w * WORD_BITS) + bits_first64(rest), first);
}

static void walk_blocks(struct strip *strip) {
    uint32_t start = strip->function->first_pc;
    for (uint32_t b = strip->cfg->block_count; b-- > 0;) {
        const struct block *block = &strip->cfg->blocks[b];
        if (!block->reachable) {
            close_all(strip, 2 * (block->end_pc - start));
            continue;
        }
        enter_from_below(strip, b);
        for (uint32_t pc = block->first_pc; pc < block->end_pc; pc++) {
            struct mention mention;
            for (unsigned at = 0; next_mention(strip, &strip->module->code[pc], &at, &mention);)
                if (mention.write && strip->write_stamp[mention.reg] != b + 1) {
                    strip->write_stamp[mention.reg] = b + 1;
                    strip->first_write[mention.reg] = pc;
                }
        }
        for (uint32_t pc = block->end_pc; pc-- > block->first_pc;)
            walk_inst(strip, b, pc);
    }
    close_all(strip, 0);
}

static void allocate_strip(struct strip *strip, struct arena *scratch) {
    size_t blocks = strip->cfg->block_count, cells = blocks * strip->words, regs = strip->words * WORD_BITS;
    strip->live_in = ARENA_ARRAY(scratch, uint64_t, cells);
    strip->exposed = ARENA_ARRAY(scratch, uint64_t, cells);
    strip->killed = ARENA_ARRAY(scratch, uint64_t, cells);
    strip->defined_in = ARENA_ARRAY(scratch, uint64_t, cells);
    strip->written = ARENA_ARRAY(scratch, uint64_t, cells);
    strip->live = ARENA_ARRAY(scratch, uint64_t, strip->words);
    strip->open_last = ARENA_ARRAY(scratch, uint32_t, regs);
    strip->first_write = ARENA_ARRAY(scratch, uint32_t, regs);
    strip->write_stamp = ARENA_ARRAY(scratch, uint32_t, regs);
    strip->written_at = ARENA_ARRAY(scratch, uint32_t, regs);
    strip->queue = ARENA_ARRAY(scratch, uint32_t, blocks + 1);
    strip->changed = ARENA_ARRAY(scratch, struct changed, blocks);
}

/* The walk leaves `live` empty, the queue is empty and overwrites live_in; the rest starts from zero. */
static void compute_strip(struct strip *strip) {
    size_t cells = strip->cfg->block_count * strip->words, regs = strip->words * WORD_BITS;
    memset(strip->exposed, 0, cells * sizeof(uint64_t));
    memset(strip->killed, 0, cells * sizeof(uint64_t));
    memset(strip->defined_in, 0, cells * sizeof(uint64_t));
    memset(strip->written, 0, cells * sizeof(uint64_t));
    memset(strip->write_stamp, 0, regs * sizeof(uint32_t));
    memset(strip->written_at, 0, regs * sizeof(uint32_t));
    scan_blocks(strip);
    solve_backward(strip);
    size_t rest = bits_round_up(strip->reg_count, WORD_BITS) / WORD_BITS;
    memcpy(strip->out->unwritten + strip->first_reg / WORD_BITS, row(strip, strip->live_in, 0),
           rest * sizeof(uint64_t));
    solve_forward(strip);
    walk_blocks(strip);
}

struct liveness liveness_compute(const struct module *module, const struct function *function, const struct cfg *cfg,
                                 struct arena *scratch) {
    struct liveness out = {.complete = true};
    out.point_count = 2 * (function->end_pc - function->first_pc);
    out.units = ARENA_ARRAY(scratch, uint32_t, (size_t)out.point_count + 1);
    out.predicates = ARENA_ARRAY(scratch, uint32_t, (size_t)out.point_count + 1);
    if (!cfg->block_count || !function->reg_count)
        return out;
    size_t words = MATRIX_BYTES_MAX / sizeof(uint64_t) / cfg->block_count;
    size_t needed = ((size_t)function->reg_count + WORD_BITS - 1) / WORD_BITS;
    words = words < 1 ? 1 : words > needed ? needed : words;
    out.unwritten = ARENA_ARRAY(scratch, uint64_t, needed);
    struct strip strip = {
        .module = module, .function = function, .cfg = cfg, .words = words, .out = &out, .scratch = scratch};
    allocate_strip(&strip, scratch);
    for (size_t reg = 0; reg < function->reg_count; reg += words * WORD_BITS) {
        size_t rest = function->reg_count - reg, width = words * WORD_BITS;
        strip.first_reg = (uint32_t)reg;
        strip.reg_count = (uint32_t)(rest < width ? rest : width);
        compute_strip(&strip);
    }
    for (uint32_t p = 0; p < out.point_count; p++) {
        out.units[p + 1] += out.units[p];
        out.predicates[p + 1] += out.predicates[p];
    }
    return out;
}
