/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/cost.h"

/* A program counter, as the seeds have it: [000] takes 24 bits, [001] 32. */
enum { PC_BITS = 24, SLIP_PC_BITS = 32 };

void cost_add(struct cost *cost, enum cost_kind kind, const char *name, const char *fields, uint64_t entries,
              struct cost_array array) {
    *ARENA_PUSH(cost->arena, cost) =
        (struct cost_structure){.name = name, .fields = fields, .kind = kind, .entries = entries, .arrays = {array}};
}

unsigned cost_entry_bits(const struct cost_structure *structure) {
    return structure->arrays[0].banks * structure->arrays[0].bits +
           structure->arrays[1].banks * structure->arrays[1].bits;
}

uint64_t cost_bits(const struct cost_structure *structure) {
    return structure->kind == COST_SPLIT ? 0 : structure->entries * cost_entry_bits(structure);
}

unsigned cost_count_bits(uint64_t count) {
    unsigned bits = 0;
    for (; count; count >>= 1)
        bits++;
    return bits;
}

const char *cost_ports(const struct cost_structure *structure, struct arena *arena) {
    const struct cost_array *first = &structure->arrays[0], *second = &structure->arrays[1];
    if (structure->kind == COST_REGISTERS)
        return "registers";
    const char *all = arena_printf(arena, "%uR %uW", first->reads, first->writes);
    if (first->banks > 1)
        all = arena_printf(arena, "%u x %s", first->banks, all);
    return second->banks ? arena_printf(arena, "%s, %u x %uR %uW", all, second->banks, second->reads, second->writes)
                         : all;
}

unsigned cost_index_bits(uint64_t count) { return count > 1 ? cost_count_bits(count - 1) : 1; }

/* Twice the warp size holds every way its threads can diverge. Ports are ours: one update of a warp at a time. */
void cost_stacks(const struct cost_shape *shape, struct cost *out) {
    cost_add(out, COST_MEMORY, "stacks",
             arena_printf(out->arena, "next PC %u, reconvergence PC %u, mask %u", PC_BITS, PC_BITS, shape->warp_size),
             (uint64_t)shape->warps * 2 * shape->warp_size,
             (struct cost_array){1, 2 * PC_BITS + shape->warp_size, 1, 1});
}

static uint64_t or_table(uint64_t size, uint64_t table) { return size ? size : table; }

/* Two lookups at a time, for the two sides of a branch: two ports of each kind. */
static void add_table(struct cost *out, const char *name, const char *fields, uint64_t entries, unsigned bits) {
    cost_add(out, COST_CACHE, name, fields, entries, (struct cost_array){1, bits, 2, 2});
    out->items[out->count - 1].tag_bits = PC_BITS;
}

/* The majority policy's order [000 §4.4]. */
static void add_heap(const struct cost_shape *shape, uint64_t heap, uint64_t lut, unsigned pool_bits,
                     struct cost *out) {
    const unsigned valid = 1, heap_bits = cost_index_bits(heap) + valid, lut_bits = cost_index_bits(lut) + valid;
    const unsigned list_bits = pool_bits + valid, count_bits = cost_count_bits(shape->threads);
    add_table(out, "MHeap LUT", arena_printf(out->arena, "PC %u, MH# %u", PC_BITS, heap_bits), lut,
              PC_BITS + heap_bits);
    cost_add(out, COST_MEMORY, "max-heap",
             arena_printf(out->arena, "PC %u, CNT %u, WPH %u, WPT %u, LUT# %u", PC_BITS, count_bits, list_bits,
                          list_bits, lut_bits),
             heap, (struct cost_array){1, PC_BITS + count_bits + 2 * list_bits + lut_bits, 2, 2});
}

/* A register file that is read by a row for each lane [000 ch. 7, 002 §4.5]. */
static void add_decoders(const struct cost_shape *shape, struct cost *out) {
    cost_add(out, COST_SPLIT, "register file decoders", "one for each lane", shape->registers,
             (struct cost_array){shape->lanes, 32, 2, 1});
}

void cost_formation(const struct cost_shape *shape, const struct cost_formation *sizes, struct cost *out) {
    const uint64_t lut = or_table(sizes->lut_entries, 64), pool = or_table(sizes->pool_entries, 128);
    const unsigned width = shape->warp_size, thread_bits = cost_index_bits(shape->threads);
    const unsigned pool_bits = cost_index_bits(pool), policy_bits = 10; /* table 7.1: "scheduler data" */
    cost_add(out, COST_REGISTERS, "warp-update registers",
             arena_printf(out->arena, "TID %u x %u, PC %u, REQ %u", thread_bits, width, PC_BITS, width), 2,
             (struct cost_array){1, thread_bits * width + PC_BITS + width, 0, 0});
    add_table(out, "PC-warp LUT", arena_printf(out->arena, "PC %u, OCC %u, IDX %u", PC_BITS, width, pool_bits), lut,
              PC_BITS + width + pool_bits);
    cost_add(out, COST_MEMORY, "warp pool",
             arena_printf(out->arena, "TID %u x %u, PC %u, policy %u", thread_bits, width, PC_BITS, policy_bits), pool,
             (struct cost_array){width, thread_bits, 1, 1});
    out->items[out->count - 1].arrays[1] = (struct cost_array){1, PC_BITS + policy_bits, 1, 2};
    cost_add(out, COST_MEMORY, "warp allocator", arena_printf(out->arena, "IDX %u", pool_bits), pool,
             (struct cost_array){1, pool_bits, 1, 1});
    if (sizes->sorts)
        add_heap(shape, or_table(sizes->heap_entries, 64), or_table(sizes->mheap_lut_entries, 128), pool_bits, out);
    add_decoders(shape, out);
}

/* The copy that sub-warps are taken from, a buffer for each side of a branch, and who is in flight. */
void cost_large_warps(const struct cost_shape *shape, unsigned large_warp_threads, struct cost *out) {
    const struct cost_array mask = {1, large_warp_threads, 0, 0};
    const char *fields = arena_printf(out->arena, "mask %u", large_warp_threads);
    cost_add(out, COST_REGISTERS, "active mask copy", fields, 1, mask);
    cost_add(out, COST_REGISTERS, "branch mask buffers", fields, 2, mask);
    cost_add(out, COST_REGISTERS, "in-flight bits", "bit 1", shape->threads, (struct cost_array){1, 1, 0, 0});
    add_decoders(shape, out);
}

void cost_scalar_registers(const struct cost_shape *shape, unsigned large_warp_threads, struct cost *out) {
    const uint64_t registers = shape->registers / shape->threads;
    const uint64_t large_warps = (shape->threads + large_warp_threads - 1) / large_warp_threads;
    cost_add(out, COST_MEMORY, "scalar registers", "value 32", large_warps * registers,
             (struct cost_array){1, 32, 2, 1});
    cost_add(out, COST_REGISTERS, "scalar bits", "bit 1", large_warps * registers, (struct cost_array){1, 1, 0, 0});
}

void cost_slip(const struct cost_shape *shape, unsigned entries_per_warp, struct cost *out) {
    const uint64_t entries = (uint64_t)entries_per_warp * shape->warps,
                   threads = (uint64_t)shape->warps * shape->warp_size;
    cost_add(out, COST_MEMORY, "memory divergence table",
             arena_printf(out->arena, "PC %u, mask %u", SLIP_PC_BITS, shape->warp_size), entries,
             (struct cost_array){1, SLIP_PC_BITS + shape->warp_size, 1, 1});
    cost_add(out, COST_MEMORY, "slip counters", "counter 8", threads, (struct cost_array){1, 8, 1, 1});
    cost_add(out, COST_REGISTERS, "slip-limit masks", arena_printf(out->arena, "mask %u", shape->warp_size),
             shape->warps, (struct cost_array){1, shape->warp_size, 0, 0});
    cost_add(out, COST_REGISTERS, "maximum slip", "counter 8", 1, (struct cost_array){1, 8, 0, 0});
}

void cost_thread_pcs(const struct cost_shape *shape, unsigned state_bits, struct cost *out) {
    cost_add(out, COST_MEMORY, "thread PCs",
             arena_printf(out->arena, "(PC %u, state %u) x %u", PC_BITS, state_bits, shape->warp_size), shape->warps,
             (struct cost_array){shape->warp_size, PC_BITS + state_bits, 1, 1});
}

void cost_convergence_barriers(const struct cost_shape *shape, unsigned registers_per_warp, struct cost *out) {
    cost_add(out, COST_MEMORY, "convergence barriers",
             arena_printf(out->arena, "mask %u, PC %u", shape->warp_size, PC_BITS),
             (uint64_t)shape->warps * registers_per_warp, (struct cost_array){1, shape->warp_size + PC_BITS, 1, 1});
}

/* Every path has a lane at least, and each but the first has come from a branch. */
void cost_split_stacks(const struct cost_shape *shape, unsigned registers, unsigned pc_bits, struct cost *out) {
    const unsigned lanes = shape->warp_size, register_bits = cost_index_bits(registers), valid = 1;
    cost_add(out, COST_MEMORY, "warp-split stacks", arena_printf(out->arena, "PC %u, mask %u", pc_bits, lanes),
             (uint64_t)shape->warps * lanes, (struct cost_array){1, pc_bits + lanes, 1, 1});
    cost_add(out, COST_MEMORY, "reconvergence stacks",
             arena_printf(out->arena, "PC %u, register %u", pc_bits, register_bits),
             (uint64_t)shape->warps * (lanes - 1), (struct cost_array){1, pc_bits + register_bits, 1, 1});
    cost_add(out, COST_MEMORY, "convergence barriers", arena_printf(out->arena, "mask %u, valid %u", lanes, valid),
             (uint64_t)shape->warps * registers, (struct cost_array){1, lanes + valid, 1, 1});
    cost_add(out, COST_MEMORY, "warps", arena_printf(out->arena, "waiting %u, finished %u", lanes, lanes), shape->warps,
             (struct cost_array){1, 2 * lanes, 1, 1});
}

/* One entry holds what two of cost_stacks do. Registers of a warp: its part of the file. */
void cost_dual_paths(const struct cost_shape *shape, struct cost *out) {
    const unsigned side = PC_BITS + shape->warp_size, valid = 1;
    const uint64_t registers = shape->threads ? shape->registers / shape->threads : 0;
    cost_add(out, COST_MEMORY, "stacks",
             arena_printf(out->arena, "2 x (PC %u, mask %u, valid %u), reconvergence PC %u", PC_BITS, shape->warp_size,
                          valid, PC_BITS),
             (uint64_t)shape->warps * shape->warp_size, (struct cost_array){1, 2 * (side + valid) + PC_BITS, 1, 1});
    cost_add(out, COST_REGISTERS, "scoreboards", "2 x (pending 1, shadow 1)", shape->warps * registers,
             (struct cost_array){1, 4, 1, 1});
}

void cost_multi_paths(const struct cost_shape *shape, struct cost *out) {
    enum { SPLITS = 33, ENTRIES = 32, INDEX = 5, VALID = 1 };
    const unsigned lanes = shape->warp_size, both = 2 * PC_BITS;
    const uint64_t registers = shape->threads ? shape->registers / shape->threads : 0;
    cost_add(out, COST_MEMORY, "splits",
             arena_printf(out->arena, "PC %u, RPC %u, entry %u, mask %u, valid 1", PC_BITS, PC_BITS, INDEX, lanes),
             (uint64_t)shape->warps * SPLITS, (struct cost_array){1, both + INDEX + lanes + VALID, 1, 1});
    cost_add(out, COST_MEMORY, "reconvergence entries",
             arena_printf(out->arena, "PC %u, RPC %u, outer %u, mask %u, pending %u, valid 1", PC_BITS, PC_BITS, INDEX,
                          lanes, lanes),
             (uint64_t)shape->warps * ENTRIES, (struct cost_array){1, both + INDEX + 2 * lanes + VALID, 1, 1});
    cost_add(out, COST_REGISTERS, "scoreboards", arena_printf(out->arena, "mask %u", lanes), shape->warps * registers,
             (struct cost_array){1, lanes, 1, 1});
}

void cost_warp_splits(const struct cost_shape *shape, uint64_t entries, bool by_lane, struct cost *out) {
    enum { STATE = 2, LEVEL = 5, VALID = 1 };
    const unsigned lanes = shape->warp_size, warp = cost_index_bits(shape->warps);
    const uint64_t registers = shape->threads ? shape->registers / shape->threads : 0;
    cost_add(out, COST_MEMORY, "warp-split table",
             arena_printf(out->arena, "valid 1, warp %u, PC %u, mask %u%s, state %u, level %u", warp, PC_BITS, lanes,
                          by_lane ? arena_printf(out->arena, ", waiting %u", lanes) : "", STATE, LEVEL),
             entries, (struct cost_array){1, VALID + warp + PC_BITS + lanes * (1 + by_lane) + STATE + LEVEL, 1, 1});
    cost_add(out, COST_REGISTERS, "scoreboards", arena_printf(out->arena, "mask %u", lanes), shape->warps * registers,
             (struct cost_array){1, lanes, 1, 1});
}

/* States: active, ready, blocked, stalled, inactive. */
void cost_subwarps(const struct cost_shape *shape, unsigned subwarps, struct cost *out) {
    enum { STATE = 3, BARRIERS = 16 };
    const uint64_t registers = shape->threads ? shape->registers / shape->threads : 0;
    const unsigned index = cost_index_bits(registers ? registers : 1);
    cost_thread_pcs(shape, STATE, out);
    cost_convergence_barriers(shape, BARRIERS, out);
    cost_add(out, COST_REGISTERS, "stalls", arena_printf(out->arena, "%u x register %u", subwarps, index), shape->warps,
             (struct cost_array){subwarps, index, 1, 1});
    cost_add(out, COST_REGISTERS, "scoreboards", arena_printf(out->arena, "%u x pending 1", subwarps),
             shape->warps * registers, (struct cost_array){1, subwarps, 1, 1});
}

/* Every path has a lane at least. */
void cost_hot_and_cold(const struct cost_shape *shape, unsigned hot, struct cost *out) {
    enum { VALID = 1 };
    const unsigned lanes = shape->warp_size, path = PC_BITS + lanes + VALID;
    const uint64_t registers = shape->threads ? shape->registers / shape->threads : 0;
    const char *fields = arena_printf(out->arena, "PC %u, mask %u, valid %u", PC_BITS, lanes, (unsigned)VALID);
    cost_add(out, COST_REGISTERS, "hot paths", fields, (uint64_t)shape->warps * hot,
             (struct cost_array){1, path, 1, 1});
    cost_add(out, COST_MEMORY, "cold paths", fields, (uint64_t)shape->warps * (lanes - hot),
             (struct cost_array){1, path, 1, 1});
    if (hot > 1)
        cost_add(out, COST_REGISTERS, "scoreboards", arena_printf(out->arena, "mask %u", lanes),
                 shape->warps * registers, (struct cost_array){1, lanes, 1, 1});
}

/* The sizes of table 2 are those of 32 original gangs of 8 warps: 4 gangs of each, a decoded instruction of 128 bits for each warp, and for the 32
 * warps of a slice a scoreboard of 1,800 bits. The stacks are ours: a warp's has two entries a thread, as cost_stacks. */
void cost_slices(const struct cost_shape *shape, const struct cost_slicing *slicing, struct cost *out) {
    enum { GANGS = 4, INSTRUCTION = 128, SCOREBOARDS = 1800, STUDY_WARPS = 32, VALID = 1 };
    const unsigned slices = shape->warp_size > slicing->base ? shape->warp_size / slicing->base : 1;
    const uint64_t warps = (uint64_t)shape->warps * slices;
    const unsigned gang = cost_index_bits((uint64_t)shape->warps * GANGS);
    cost_add(out, COST_MEMORY, "stacks",
             arena_printf(out->arena, "PC %u, mask %u, reconvergence PC %u", PC_BITS, slicing->base, PC_BITS),
             warps * 2 * slicing->base, (struct cost_array){1, 2 * PC_BITS + slicing->base, 1, 1});
    cost_add(out, COST_MEMORY, "gang table",
             arena_printf(out->arena, "gang %u, warps %u, PC %u, valid %u, ready %u", gang, slices, slicing->pc_bits,
                          (unsigned)VALID, slices),
             (uint64_t)shape->warps * GANGS,
             (struct cost_array){1, gang + 2 * slices + slicing->pc_bits + VALID, 1, 1});
    cost_add(out, COST_MEMORY, "instruction buffers", arena_printf(out->arena, "instruction %u", (unsigned)INSTRUCTION),
             warps, (struct cost_array){1, INSTRUCTION, 1, 1});
    cost_add(out, COST_MEMORY, "L0 instruction caches", "byte 8", (uint64_t)slices * slicing->l0_bytes,
             (struct cost_array){1, 8, 1, 1});
    cost_add(out, COST_REGISTERS, "scoreboards", "of a slice", slices,
             (struct cost_array){1, (SCOREBOARDS * shape->warps + STUDY_WARPS - 1) / STUDY_WARPS, 1, 1});
}

/* Two tokens a thread, as cost_stacks has entries. A while mask has a lane that waits, and one more is in the loop. */
void cost_token_stacks(const struct cost_shape *shape, unsigned types, struct cost *out) {
    const unsigned type_bits = cost_index_bits(types), lanes = shape->warp_size;
    cost_add(out, COST_MEMORY, "token stacks",
             arena_printf(out->arena, "type %u, mask %u, PC %u", type_bits, lanes, PC_BITS),
             (uint64_t)shape->warps * 2 * lanes, (struct cost_array){1, type_bits + lanes + PC_BITS, 1, 1});
    cost_add(out, COST_MEMORY, "while masks", arena_printf(out->arena, "mask %u, PC %u", lanes, PC_BITS),
             (uint64_t)shape->warps * (lanes - 1), (struct cost_array){1, lanes + PC_BITS, 1, 1});
    cost_add(out, COST_MEMORY, "warps",
             arena_printf(out->arena, "active mask %u, PC %u, disable mask %u", lanes, PC_BITS, lanes), shape->warps,
             (struct cost_array){1, 2 * lanes + PC_BITS, 1, 1});
}

void cost_split_warps(const struct cost_shape *shape, struct cost *out) {
    const unsigned warp_bits = cost_index_bits(shape->warps);
    cost_add(out, COST_MEMORY, "warp pool",
             arena_printf(out->arena, "PC %u, mask %u, warp %u", PC_BITS, shape->warp_size, warp_bits), shape->threads,
             (struct cost_array){1, PC_BITS + shape->warp_size + warp_bits, 1, 1});
}

/* A block's stack is that of a warp with a mask as wide as the block. A thread of a warp is told by its lane and its row,
 * the warp of the program it began in. As blocks get smaller there are more stacks of less depth and width: the largest
 * block is what it is built for. */
void cost_block_compaction(const struct cost_shape *shape, uint64_t warps, struct cost *out) {
    const unsigned block = shape->block_warps * shape->warp_size, row_bits = cost_index_bits(shape->block_warps);
    const unsigned valid = 1, arrived = 1;
    cost_add(out, COST_MEMORY, "block stacks",
             arena_printf(out->arena, "next PC %u, reconvergence PC %u, mask %u", PC_BITS, PC_BITS, block),
             2 * (uint64_t)shape->threads, (struct cost_array){1, 2 * PC_BITS + block, 1, 1});
    cost_add(out, COST_MEMORY, "compacted warps",
             arena_printf(out->arena, "(row %u, valid %u) x %u, PC %u, arrived %u", row_bits, valid, shape->warp_size,
                          PC_BITS, arrived),
             warps, (struct cost_array){shape->warp_size, row_bits + valid, 1, 1});
    out->items[out->count - 1].arrays[1] = (struct cost_array){1, PC_BITS + arrived, 1, 1};
    cost_add(out, COST_REGISTERS, "threads to compact", arena_printf(out->arena, "mask %u", block), 1,
             (struct cost_array){1, block, 0, 0});
    cost_add(out, COST_REGISTERS, "branch outcomes", "taken 1", shape->threads, (struct cost_array){1, 1, 0, 0});
    cost_add(out, COST_REGISTERS, "threads in flight", "bit 1", shape->threads, (struct cost_array){1, 1, 0, 0});
    add_decoders(shape, out);
}

/* Size by recollection of the publication; the counters are as many as the rules ask for, ports ours. */
void cost_adequacy(const struct cost_shape *shape, uint64_t branches, struct cost *out) {
    const unsigned history = 1, valid = 1, blocks = shape->warps / shape->block_warps;
    const unsigned counter = cost_count_bits(shape->block_warps);
    branches = or_table(branches, 64);
    cost_add(out, COST_CACHE, "adequacy table",
             arena_printf(out->arena, "valid %u, PC %u, history %u", valid, PC_BITS, history), branches,
             (struct cost_array){1, valid + PC_BITS + history, 1, 1});
    out->items[out->count - 1].tag_bits = PC_BITS;
    cost_add(out, COST_MEMORY, "warps that passed",
             arena_printf(out->arena, "(threads %u) x %u x 2 sides, warps %u, seen %u", counter, shape->warp_size,
                          counter + 1, shape->block_warps),
             branches * (blocks ? blocks : 1), (struct cost_array){2 * shape->warp_size, counter, 1, 1});
    out->items[out->count - 1].arrays[1] = (struct cost_array){1, counter + 1 + shape->block_warps, 1, 1};
    cost_stacks(shape, out);
}
