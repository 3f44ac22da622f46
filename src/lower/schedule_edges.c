/* SPDX-License-Identifier: Apache-2.0 */
/* What depends on what in a block of instructions for sm_75 on: units that are written and read, memory that may be the same, and
 * barriers. */
#include "lower/distance_turing.h"
#include "lower/schedule_turing.h"

/* How an instruction may move past others. */
enum movement {
    MOVES_FREELY, /* as its units allow */
    MOVES_LOAD,   /* not past stores to what it may read */
    MOVES_STORE,
    MOVES_WARP,    /* among lanes: in order with its like and with barriers */
    MOVES_ORDERED, /* barriers, atomics, accesses that are not weak: not past memory, nor past its like */
    MOVES_NOT,     /* nothing passes it */
};

enum { SPACES_SHARED = 1, SPACES_LOCAL = 2, SPACES_GLOBAL = 4, SPACES_ALL = 7 };

/* What an instruction does to memory. */
struct memory_touch {
    enum movement movement;
    uint8_t spaces;
    uint32_t base, versions[2]; /* unit of the address, and the nodes that wrote its words last; NO_UNIT: none */
    int64_t offset;
    unsigned bytes;
};

/* By unit, while edges are found. */
struct unit_state {
    uint32_t writer, value; /* of the block so far; NO_NODE: none, the value is that of the start */
    uint32_t readers;       /* of the value: a list */
};

struct reader_link {
    uint32_t node, next;
};

struct edge_search {
    struct schedule *s;
    struct unit_state *units;
    struct {
        struct reader_link *items;
        unsigned count, capacity;
    } readers;
    struct memory_touch *touches; /* by node */
    uint32_t fence;               /* the last that nothing passes */
};

static void add_edge(struct edge_search *e, uint32_t from, uint32_t to, uint32_t cycles) {
    struct schedule *s = e->s;
    if (from == NO_NODE || from == to)
        return;
    *ARENA_PUSH(s->arena, &s->edges) = (struct schedule_edge){to, cycles, s->nodes[from].edges};
    s->nodes[from].edges = s->edges.count - 1;
    s->nodes[to].waits++;
}

static const struct turing_inst *inst_of(const struct edge_search *e, uint32_t node) {
    return e->s->block->code.items[node].turing;
}

/* ---- units ---- */

static uint32_t latency(const struct turing_inst *from, unsigned word, bool is_predicate, enum turing_reader reader) {
    if (!turing_is_fixed(from))
        return turing_usual_latency(from);
    const enum turing_result result = is_predicate ? TURING_RESULT_PREDICATE
                                      : word       ? TURING_RESULT_HIGH
                                                   : TURING_RESULT_WORD;
    return turing_distance(from, result, reader);
}

static uint32_t new_value(struct edge_search *e, uint32_t unit) {
    struct schedule *s = e->s;
    *ARENA_PUSH(s->arena, &s->values) =
        (struct schedule_value){.is_predicate = s->machine->units.items[unit].is_predicate};
    return s->values.count - 1;
}

static bool has_value(const uint32_t *values, unsigned count, uint32_t value) {
    for (unsigned i = 0; i < count; i++)
        if (values[i] == value)
            return true;
    return false;
}

static bool read_unit(struct edge_search *e, uint32_t node, uint32_t unit, unsigned word, enum turing_reader reader) {
    struct schedule_node *n = &e->s->nodes[node];
    struct unit_state *state = &e->units[unit];
    const bool is_predicate = e->s->machine->units.items[unit].is_predicate;
    if (state->writer != NO_NODE)
        add_edge(e, state->writer, node, latency(inst_of(e, state->writer), word, is_predicate, reader));
    if (has_value(n->reads, n->read_count, state->value))
        return true;
    if (n->read_count == SCHEDULE_TOUCHED_MAX)
        return false;
    n->reads[n->read_count++] = state->value;
    e->s->values.items[state->value].reads++;
    *ARENA_PUSH(e->s->arena, &e->readers) = (struct reader_link){node, state->readers};
    state->readers = e->readers.count - 1;
    return true;
}

static bool write_unit(struct edge_search *e, uint32_t node, uint32_t unit) {
    struct schedule_node *n = &e->s->nodes[node];
    struct unit_state *state = &e->units[unit];
    for (uint32_t r = state->readers; r != NO_NODE; r = e->readers.items[r].next)
        add_edge(e, e->readers.items[r].node, node, 1);
    add_edge(e, state->writer, node, 1);
    if (n->write_count == SCHEDULE_TOUCHED_MAX)
        return false;
    state->writer = node, state->readers = NO_NODE;
    state->value = new_value(e, unit);
    n->writes[n->write_count++] = state->value;
    return true;
}

static bool find_unit_edges(struct edge_search *e, uint32_t node) {
    const struct machine_inst *inst = &e->s->block->code.items[node];
    const enum turing_reader reader = turing_reader_of(inst->turing);
    const bool keeps = keeps_old(inst);
    bool fits = true;
    for (unsigned k = 0; k < inst->native.operand_count; k++)
        for (unsigned w = 0; inst->units[k] != NO_UNIT && w < width_of(inst, k); w++)
            if (!machine_writes(e->s->machine, inst, k) || keeps)
                fits = fits && read_unit(e, node, inst->units[k] + w, w, reader);
    if (inst->guard != NO_UNIT)
        fits = fits && read_unit(e, node, inst->guard, 0, TURING_READER_GUARD);
    for (unsigned k = 0; k < inst->native.operand_count; k++)
        for (unsigned w = 0; inst->units[k] != NO_UNIT && w < width_of(inst, k); w++)
            if (machine_writes(e->s->machine, inst, k))
                fits = fits && write_unit(e, node, inst->units[k] + w);
    return fits;
}

/* ---- memory ---- */

static bool is_constant_load(const struct machine_inst *inst) {
    return inst->turing->row == TURING_LDC ||
           (inst->at && inst->at->op == OP_LD && (inst->at->space == SPACE_CONST || inst->at->cache == CACHE_NC));
}

static unsigned bytes_of(const struct turing_inst *inst) {
    static const uint8_t bytes[] = {1, 1, 2, 2, 4, 8, 16, 16};
    const int size = turing_modifier(inst, TURING_WORDS_SIZE);
    return size >= 0 && size < 8 ? bytes[size] : 16;
}

static struct memory_touch access_touch(const struct edge_search *e, const struct machine_inst *inst, bool is_store,
                                        unsigned spaces) {
    struct memory_touch touch = {.movement = is_store ? MOVES_STORE : MOVES_LOAD,
                                 .spaces = (uint8_t)spaces,
                                 .base = NO_UNIT};
    if (inst->at && inst->at->order != ORDER_WEAK)
        touch.movement = MOVES_ORDERED;
    else if (!is_store && is_constant_load(inst))
        touch.movement = MOVES_FREELY;
    for (unsigned k = 0; k < inst->native.operand_count; k++)
        if (inst->turing->operands[k].kind == TURING_MEMORY) {
            touch.base = inst->units[k], touch.offset = inst->turing->operands[k].value;
            for (unsigned w = 0; touch.base != NO_UNIT && w < width_of(inst, k); w++)
                touch.versions[w] = e->units[touch.base + w].writer;
        }
    touch.bytes = bytes_of(inst->turing);
    return touch;
}

/* Special registers that change while a thread runs are no plain values. */
static enum movement special_movement(const struct turing_inst *inst) {
    const int64_t number = inst->operands[1].value;
    const bool is_place = number == 0x00 || (number >= 0x21 && number <= 0x27) || (number >= 0x38 && number <= 0x3c);
    return is_place ? MOVES_FREELY : MOVES_NOT;
}

static bool is_arithmetic(const struct turing_inst *inst) {
    const struct turing_row *row = turing_row(inst->row);
    switch ((enum turing_unit)row->unit) {
    case TURING_UNIT_ALU:
    case TURING_UNIT_FMA:
    case TURING_UNIT_FP64:
    case TURING_UNIT_HALF:
    case TURING_UNIT_HALF_TENSOR:
    case TURING_UNIT_TENSOR:
    case TURING_UNIT_XU:
    case TURING_UNIT_XU_WIDE: break;
    default: return false;
    }
    for (unsigned k = 0; row->operands[k].shape; k++)
        if (inst->operands[k].kind == TURING_UNIFORM || inst->operands[k].kind == TURING_UPREDICATE ||
            inst->operands[k].kind == TURING_PREDICATES || inst->operands[k].uniform)
            return false;
    return inst->row != TURING_CS2R;
}

static struct memory_touch touch_of(const struct edge_search *e, const struct machine_inst *inst) {
    switch ((enum turing_row_id)inst->turing->row) {
    case TURING_LDS: return access_touch(e, inst, false, SPACES_SHARED);
    case TURING_LDL: return access_touch(e, inst, false, SPACES_LOCAL);
    case TURING_LDG: return access_touch(e, inst, false, SPACES_GLOBAL);
    case TURING_LD: return access_touch(e, inst, false, SPACES_ALL);
    case TURING_LDC: return (struct memory_touch){.movement = MOVES_FREELY};
    case TURING_STS: return access_touch(e, inst, true, SPACES_SHARED);
    case TURING_STL: return access_touch(e, inst, true, SPACES_LOCAL);
    case TURING_STG: return access_touch(e, inst, true, SPACES_GLOBAL);
    case TURING_ST: return access_touch(e, inst, true, SPACES_ALL);
    case TURING_S2R: return (struct memory_touch){.movement = special_movement(inst->turing)};
    case TURING_SHFL:
    case TURING_SHFL_RR:
    case TURING_SHFL_RI:
    case TURING_SHFL_IR:
    case TURING_VOTE:
    case TURING_MATCH: return (struct memory_touch){.movement = MOVES_WARP};
    default: break;
    }
    if (is_arithmetic(inst->turing))
        return (struct memory_touch){.movement = MOVES_FREELY};
    const enum turing_unit unit = (enum turing_unit)turing_row(inst->turing->row)->unit;
    const bool is_ordered = unit == TURING_UNIT_MEM || unit == TURING_UNIT_MIO || unit == TURING_UNIT_BAR;
    return (struct memory_touch){.movement = is_ordered ? MOVES_ORDERED : MOVES_NOT};
}

static bool may_overlap(const struct memory_touch *a, const struct memory_touch *b) {
    if (!(a->spaces & b->spaces))
        return false;
    if (a->spaces != b->spaces || a->base != b->base || a->versions[0] != b->versions[0] ||
        a->versions[1] != b->versions[1])
        return true;
    return a->offset < b->offset + (int64_t)b->bytes && b->offset < a->offset + (int64_t)a->bytes;
}

static bool stays_behind(const struct memory_touch *a, const struct memory_touch *b) {
    if (a->movement == MOVES_NOT || b->movement == MOVES_NOT)
        return true;
    if (a->movement == MOVES_FREELY || b->movement == MOVES_FREELY)
        return false;
    if (a->movement == MOVES_ORDERED || b->movement == MOVES_ORDERED)
        return true;
    if (a->movement == MOVES_WARP || b->movement == MOVES_WARP)
        return a->movement == b->movement;
    return (a->movement == MOVES_STORE || b->movement == MOVES_STORE) && may_overlap(a, b);
}

/* Back to the last that nothing passes: it is behind all before it. */
static void find_memory_edges(struct edge_search *e, uint32_t node) {
    struct memory_touch *own = &e->touches[node];
    const uint32_t first = e->fence == NO_NODE ? 0 : e->fence;
    for (uint32_t i = node; i-- > first;)
        if (stays_behind(&e->touches[i], own))
            add_edge(e, i, node, 1);
    if (own->movement == MOVES_NOT)
        e->fence = node;
}

/* ---- values and heights ---- */

static void mark_live_out(struct edge_search *e) {
    struct schedule *s = e->s;
    for (uint32_t u = 0; u < s->unit_count; u++)
        if (test_bit(s->live_out, u))
            s->values.items[e->units[u].value].is_live_out = true;
    if (s->block->end == END_BRANCH && s->block->predicate != NO_UNIT)
        s->values.items[e->units[s->block->predicate].value].is_live_out = true;
}

static void find_heights(struct schedule *s) {
    for (uint32_t i = s->block->code.count; i-- > 0;) {
        struct schedule_node *node = &s->nodes[i];
        const struct turing_inst *inst = s->block->code.items[i].turing;
        for (unsigned k = 0; k < node->write_count; k++) {
            const struct schedule_value *value = &s->values.items[node->writes[k]];
            const uint32_t cycles = value->is_live_out ? latency(inst, 0, value->is_predicate, TURING_READER_GUARD) : 0;
            node->height = cycles > node->height ? cycles : node->height;
        }
        for (uint32_t k = node->edges; k != NO_NODE; k = s->edges.items[k].next) {
            const uint32_t height = s->edges.items[k].cycles + s->nodes[s->edges.items[k].to].height;
            node->height = height > node->height ? height : node->height;
        }
    }
}

bool schedule_find_edges(struct schedule *s) {
    const uint32_t count = s->block->code.count;
    struct edge_search e = {.s = s, .fence = NO_NODE};
    s->nodes = ARENA_ARRAY(s->arena, struct schedule_node, count + 1);
    e.units = ARENA_ARRAY(s->arena, struct unit_state, s->unit_count + 1);
    e.touches = ARENA_ARRAY(s->arena, struct memory_touch, count + 1);
    s->live[SCHEDULE_WORDS] = s->live[SCHEDULE_PREDICATES] = 0;
    for (uint32_t u = 0; u < s->unit_count; u++) {
        e.units[u] = (struct unit_state){NO_NODE, new_value(&e, u), NO_NODE};
        s->live[s->machine->units.items[u].is_predicate] += test_bit(s->live_in, u);
    }
    for (uint32_t i = 0; i < count; i++)
        s->nodes[i].edges = NO_NODE;
    for (uint32_t i = 0; i < count; i++) {
        e.touches[i] = touch_of(&e, &s->block->code.items[i]);
        if (!find_unit_edges(&e, i))
            return false;
        find_memory_edges(&e, i);
    }
    mark_live_out(&e);
    find_heights(s);
    return true;
}
