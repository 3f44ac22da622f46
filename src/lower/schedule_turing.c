/* SPDX-License-Identifier: Apache-2.0 */
/* List scheduling for sm_75 on, block by block and before registers are given: of the instructions whose operands are there the one
 * with the longest way behind it. Where more values would be live than the occupancy of the kernel allows, the ones that
 * free registers come first; a block that still needs more than before stays as it was. */
#include "lower/schedule_turing.h"

#include "base/bits.h"

enum {
    FULL_OCCUPANCY = 40,    /* registers of a thread with which an SM of 65,536 holds all of its 48 warps */
    REGISTER_STEP = 8,      /* warps get registers in steps of so many a thread */
    ODD_WORDS = 2,          /* kept free: pairs and groups of four leave holes */
    PREDICATES_AT_ONCE = 6, /* of 7 */
    ATTEMPTS = 4,           /* with more registers to spare each */
};

/* What an instruction makes more of than it ends. */
static void change_of(const struct schedule *s, const struct schedule_node *node, int32_t change[SCHEDULE_CLASSES]) {
    change[SCHEDULE_WORDS] = change[SCHEDULE_PREDICATES] = 0;
    for (unsigned i = 0; i < node->read_count; i++) {
        const struct schedule_value *value = &s->values.items[node->reads[i]];
        change[value->is_predicate] -= value->reads == 1 && !value->is_live_out;
    }
    for (unsigned i = 0; i < node->write_count; i++) {
        const struct schedule_value *value = &s->values.items[node->writes[i]];
        change[value->is_predicate] += value->reads || value->is_live_out;
    }
}

/* The scheduler between two instructions. */
struct schedule_state {
    struct schedule *s;
    uint32_t *ready;
    unsigned ready_count;
    uint32_t cycle;
    int32_t live[SCHEDULE_CLASSES], most[SCHEDULE_CLASSES];
};

struct schedule_choice {
    unsigned place; /* in `ready` */
    uint32_t node;
    bool exceeds, is_late; /* more live than the limit; its operands are not there yet */
    uint32_t wait, height;
    int32_t words;
};

static struct schedule_choice choice_of(const struct schedule_state *state, unsigned place) {
    const struct schedule *s = state->s;
    const uint32_t n = state->ready[place];
    const struct schedule_node *node = &s->nodes[n];
    int32_t change[SCHEDULE_CLASSES];
    change_of(s, node, change);
    struct schedule_choice choice = {
        .place = place, .node = n, .height = node->height, .words = change[SCHEDULE_WORDS]};
    for (unsigned c = 0; c < SCHEDULE_CLASSES; c++)
        choice.exceeds |= change[c] > 0 && state->live[c] + change[c] > s->limit[c];
    choice.wait = node->earliest > state->cycle ? node->earliest - state->cycle : 0;
    choice.is_late = choice.wait > 0;
    return choice;
}

static bool is_better(const struct schedule_choice *a, const struct schedule_choice *b) {
    if (a->exceeds != b->exceeds)
        return b->exceeds;
    if (a->exceeds && a->words != b->words)
        return a->words < b->words;
    if (a->exceeds)
        return a->node < b->node;
    if (a->is_late != b->is_late)
        return b->is_late;
    if (a->is_late && a->wait != b->wait)
        return a->wait < b->wait;
    if (a->height != b->height)
        return a->height > b->height;
    return a->node < b->node;
}

static void issue(struct schedule_state *state, const struct schedule_choice *choice) {
    struct schedule *s = state->s;
    struct schedule_node *node = &s->nodes[choice->node];
    int32_t change[SCHEDULE_CLASSES];
    change_of(s, node, change);
    for (unsigned i = 0; i < node->read_count; i++)
        s->values.items[node->reads[i]].reads--;
    for (unsigned c = 0; c < SCHEDULE_CLASSES; c++) {
        state->live[c] += change[c];
        state->most[c] = state->live[c] > state->most[c] ? state->live[c] : state->most[c];
    }
    state->ready[choice->place] = state->ready[--state->ready_count];
    state->cycle += choice->wait;
    for (uint32_t k = node->edges; k != NO_NODE; k = s->edges.items[k].next) {
        const struct schedule_edge *edge = &s->edges.items[k];
        struct schedule_node *to = &s->nodes[edge->to];
        const uint32_t at = state->cycle + edge->cycles;
        to->earliest = at > to->earliest ? at : to->earliest;
        if (--to->waits == 0)
            state->ready[state->ready_count++] = edge->to;
    }
    state->cycle++;
}

/* Values that are live at once in the order that the block has. */
static void count_most(struct schedule *s, int32_t most[SCHEDULE_CLASSES]) {
    int32_t live[SCHEDULE_CLASSES] = {s->live[0], s->live[1]}, change[SCHEDULE_CLASSES];
    uint32_t *reads = ARENA_ARRAY(s->arena, uint32_t, s->values.count + 1u);
    for (unsigned i = 0; i < s->values.count; i++)
        reads[i] = s->values.items[i].reads;
    most[0] = live[0], most[1] = live[1];
    for (unsigned i = 0; i < s->block->code.count; i++) {
        const struct schedule_node *node = &s->nodes[i];
        change_of(s, node, change);
        for (unsigned k = 0; k < node->read_count; k++)
            s->values.items[node->reads[k]].reads--;
        for (unsigned c = 0; c < SCHEDULE_CLASSES; c++) {
            live[c] += change[c];
            most[c] = live[c] > most[c] ? live[c] : most[c];
        }
    }
    for (unsigned i = 0; i < s->values.count; i++)
        s->values.items[i].reads = reads[i];
}

static void order_block(struct schedule *s, struct machine_block *block) {
    const uint32_t count = block->code.count;
    int32_t before[SCHEDULE_CLASSES];
    count_most(s, before);
    struct schedule_state state = {.s = s, .ready = ARENA_ARRAY(s->arena, uint32_t, count + 1)};
    struct machine_inst *order = ARENA_ARRAY(s->arena, struct machine_inst, count + 1);
    for (unsigned c = 0; c < SCHEDULE_CLASSES; c++)
        state.live[c] = state.most[c] = s->live[c];
    for (uint32_t i = 0; i < count; i++)
        if (!s->nodes[i].waits)
            state.ready[state.ready_count++] = i;
    for (uint32_t i = 0; i < count; i++) {
        struct schedule_choice best = choice_of(&state, 0);
        for (unsigned k = 1; k < state.ready_count; k++) {
            const struct schedule_choice other = choice_of(&state, k);
            if (is_better(&other, &best))
                best = other;
        }
        order[i] = block->code.items[best.node];
        issue(&state, &best);
    }
    for (unsigned c = 0; c < SCHEDULE_CLASSES; c++)
        if (state.most[c] > s->limit[c] && state.most[c] > before[c])
            return;
    for (uint32_t i = 0; i < count; i++)
        block->code.items[i] = order[i];
}

static void schedule_block(const struct allocator *a, uint32_t b, const int32_t limit[SCHEDULE_CLASSES]) {
    struct arena arena = {.escape = a->arena->escape};
    struct machine_block *block = &a->machine->blocks.items[b];
    uint64_t *live_out = ARENA_ARRAY(&arena, uint64_t, a->word_count + 1);
    allocate_live_out(a, b, live_out);
    struct schedule s = {.arena = &arena,
                         .machine = a->machine,
                         .block = block,
                         .live_in = &a->live_in[(size_t)b * a->word_count],
                         .live_out = live_out,
                         .unit_count = a->unit_count,
                         .limit = {limit[0], limit[1]}};
    if (block->code.count > 1 && schedule_find_edges(&s))
        order_block(&s, block);
    arena_free(&arena);
}

/* Words that are live at once, anywhere. */
static uint32_t most_words(const struct allocator *a) {
    int32_t *change = ARENA_ARRAY(a->arena, int32_t, a->points + 2), live = 0, most = 0;
    for (uint32_t u = 0; u < a->unit_count; u++)
        for (unsigned i = 0; !a->machine->units.items[u].is_predicate && i < a->ranges[u].segments.count; i++) {
            change[a->ranges[u].segments.items[i].from]++;
            change[a->ranges[u].segments.items[i].to]--;
        }
    for (uint32_t p = 0; p < a->points; p++) {
        live += change[p];
        most = live > most ? live : most;
    }
    return (uint32_t)most;
}

uint32_t schedule_turing(struct machine_kernel *machine, uint32_t spare) {
    struct arena arena = {.escape = machine->arena->escape};
    struct allocator a = {.machine = machine, .arena = &arena};
    allocate_join_copies(machine);
    allocate_begin(&a);
    const uint32_t most = most_words(&a);
    uint32_t registers = (uint32_t)bits_round_up(most + ODD_WORDS, REGISTER_STEP);
    registers = registers < FULL_OCCUPANCY ? FULL_OCCUPANCY : registers;
    if (registers > machine->register_limit)
        registers = most + 2 * ODD_WORDS <= machine->register_limit ? machine->register_limit : 0;
    const int32_t limit[SCHEDULE_CLASSES] = {(int32_t)registers - (int32_t)spare, PREDICATES_AT_ONCE};
    for (uint32_t i = 0; i < a.flow.order_count && registers; i++)
        schedule_block(&a, a.flow.order[i], limit);
    arena_free(&arena);
    return registers;
}

/* ---- with registers ---- */

/* The blocks of a kernel and their code, which allocation writes over. */
static struct machine_kernel copy_of(const struct machine_kernel *machine) {
    struct machine_kernel copy = *machine;
    copy.blocks.items =
        arena_copy(machine->arena, machine->blocks.items, machine->blocks.count * sizeof *copy.blocks.items);
    copy.blocks.capacity = copy.blocks.count;
    for (uint32_t b = 0; b < copy.blocks.count; b++) {
        struct machine_block *block = &copy.blocks.items[b];
        if (block->code.count)
            block->code.items =
                arena_copy(machine->arena, block->code.items, block->code.count * sizeof *block->code.items);
        block->code.capacity = block->code.count;
    }
    copy.units.items =
        arena_copy(machine->arena, machine->units.items, machine->units.count * sizeof *copy.units.items);
    copy.units.capacity = copy.units.count;
    return copy;
}

enum status allocate_scheduled(struct machine_kernel *machine, uint32_t *register_count) {
    const struct machine_kernel before = copy_of(machine);
    uint32_t spare = ODD_WORDS;
    for (unsigned i = 0; i < ATTEMPTS; i++) {
        const uint32_t registers = schedule_turing(machine, spare);
        if (!registers)
            break;
        const enum status status = allocate(machine, register_count);
        if (status == STATUS_OK && *register_count <= registers && machine->local_bytes == before.local_bytes)
            return status;
        spare += *register_count > registers ? *register_count - registers + 1 : ODD_WORDS;
        *machine = copy_of(&before);
    }
    *machine = before;
    return allocate(machine, register_count);
}
