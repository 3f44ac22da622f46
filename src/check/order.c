/* SPDX-License-Identifier: Apache-2.0 */
#include "check/order.h"

#include <string.h>

#include "check/known.h"

bool order_knows_foreign(const struct causality *order, const struct party *party, uint32_t thread, uint32_t time) {
    (void)order;
    const struct block_watch *place = party->place;
    const uint64_t block = thread / place->slots;
    return known_covers(&place->foreign, block, thread, time) ||
           (place->syncs &&
            known_covers(&place->syncs[party->thread - place->first_thread].foreign, block, thread, time));
}

static void forget(struct place_barrier *barrier) {
    barrier->foreign = barrier->released = barrier->wide = (struct known){0};
}

void order_begin_block(struct causality *order, struct block_watch *place) {
    place->start = place->barrier_time = order->now++;
    place->syncs = NULL;
    place->foreign = place->released = place->wide = (struct known){0};
    for (unsigned i = 0; i < BARRIERS; i++) {
        place->barriers[i].is_open = place->barriers[i].has_passers = false;
        place->barriers[i].arrived = 0;
        forget(&place->barriers[i]);
        memset(place->barriers[i].row, 0, place->warps * sizeof(uint32_t));
    }
}

static struct thread_sync *sync_of(const struct causality *order, const struct party *party) {
    struct block_watch *place = party->place;
    if (!place->syncs)
        place->syncs = ARENA_ARRAY(order->arena, struct thread_sync, (size_t)place->warps * LANES_MAX);
    return &place->syncs[party->thread - place->first_thread];
}

static bool is_wide(enum scope scope) { return scope >= SCOPE_GPU; }

/* ---- within a block ---- */

void order_meet(struct causality *order, struct block_watch *place, unsigned warp, uint32_t lanes, bool is_whole) {
    const uint32_t now = order->now++;
    if (is_whole) {
        place->pairs[warp * place->warps + warp] = now;
    } else {
        uint32_t row[LANES_MAX] = {0}, *of_warp = &place->lanes[(size_t)warp * LANES_MAX * LANES_MAX];
        for (BITS_EACH(lane, lanes))
            for (unsigned j = 0; j < LANES_MAX; j++)
                row[j] = row[j] > of_warp[lane * LANES_MAX + j] ? row[j] : of_warp[lane * LANES_MAX + j];
        for (BITS_EACH(lane, lanes))
            row[lane] = now;
        for (BITS_EACH(lane, lanes))
            memcpy(&of_warp[lane * LANES_MAX], row, sizeof row);
    }
    if (!place->syncs)
        return;
    struct known all = {0};
    for (BITS_EACH(lane, lanes))
        known_join(order->arena, &all, &place->syncs[LANES_MAX * warp + lane].foreign);
    for (BITS_EACH(lane, all.count ? lanes : 0))
        known_join(order->arena, &place->syncs[LANES_MAX * warp + lane].foreign, &all);
}

void order_arrive(struct causality *order, struct block_watch *place, const struct comers *comers, bool passes) {
    struct place_barrier *here = &place->barriers[comers->barrier];
    const unsigned warp = comers->warp;
    if (here->is_open) {
        here->is_open = here->has_passers = false;
        here->arrived = 0;
        forget(here);
        memset(here->row, 0, place->warps * sizeof *here->row);
    }
    here->arrived += bits_count(comers->lanes);
    for (unsigned v = 0; v < place->warps; v++) {
        const uint32_t known = place->pairs[warp * place->warps + v];
        here->row[v] = here->row[v] > known ? here->row[v] : known;
    }
    here->row[warp] = order->now++;
    here->has_passers |= passes;
    for (BITS_EACH(lane, place->syncs ? comers->lanes : 0)) {
        const struct thread_sync *sync = &place->syncs[LANES_MAX * warp + lane];
        known_join(order->arena, &here->foreign, &sync->foreign);
        known_join(order->arena, &here->wide, &sync->wide);
        if (is_wide(sync->released_scope))
            known_join(order->arena, &here->released, &sync->released);
    }
}

bool order_leave(struct causality *order, struct block_watch *place, const struct comers *comers, uint32_t alive,
                 bool *is_full) {
    struct place_barrier *here = &place->barriers[comers->barrier];
    const unsigned warp = comers->warp;
    const bool is_first = !here->is_open;
    here->is_open = true;
    *is_full = here->arrived >= alive && !here->has_passers;
    if (*is_full) {
        if (is_first) {
            place->barrier_time = order->now++;
            known_join(order->arena, &place->foreign, &here->foreign);
            known_join(order->arena, &place->released, &here->released);
            known_join(order->arena, &place->wide, &here->wide);
        }
        return is_first;
    }
    for (unsigned v = 0; v < place->warps; v++) {
        uint32_t *known = &place->pairs[warp * place->warps + v];
        *known = *known > here->row[v] ? *known : here->row[v];
    }
    for (BITS_EACH(lane, here->foreign.count ? comers->lanes : 0)) {
        const struct party party = party_of(place, warp, lane);
        known_join(order->arena, &sync_of(order, &party)->foreign, &here->foreign);
    }
    return is_first;
}

/* ---- fences and atomics ---- */

static enum scope narrower(enum scope a, enum scope b) { return a < b ? a : b; }
/* Of an access: volatile is relaxed for the whole system. */
static enum scope scope_of(const struct inst *inst) {
    return inst->scope == SCOPE_NONE ? SCOPE_SYS : (enum scope)inst->scope;
}

/* All that the party knows now, itself among it, is added. */
static void snapshot(const struct causality *order, const struct party *party, struct known *out) {
    const struct block_watch *place = party->place;
    known_join(order->arena, out, &place->foreign);
    if (place->syncs)
        known_join(order->arena, out, &place->syncs[party->thread - place->first_thread].foreign);
    known_add(order->arena, out, KNOWN_BLOCK | place->block, place->barrier_time);
    for (unsigned v = 0; v < place->warps; v++) {
        const uint32_t time = place->pairs[party->warp * place->warps + v];
        for (unsigned j = 0; time > place->barrier_time && j < place->warp_size; j++)
            known_add(order->arena, out, place->first_thread + LANES_MAX * v + j, time);
    }
    const uint32_t *lanes = &place->lanes[(size_t)(party->warp * LANES_MAX + party->lane) * LANES_MAX];
    for (unsigned j = 0; j < place->warp_size; j++)
        if (lanes[j] > place->barrier_time)
            known_add(order->arena, out, place->first_thread + LANES_MAX * party->warp + j, lanes[j]);
    known_add(order->arena, out, party->thread, order->now);
}

void order_fence(struct causality *order, const struct party *party, const struct inst *inst) {
    struct thread_sync *sync = sync_of(order, party);
    const enum scope scope = scope_of(inst);
    known_join(order->arena, &sync->foreign, &sync->pending);
    sync->pending.count = 0;
    if (is_wide(scope)) {
        known_join(order->arena, &sync->foreign, &sync->wide);
        known_join(order->arena, &sync->foreign, &party->place->wide);
        sync->wide.count = 0;
    } else
        sync->narrow |= sync->wide.count != 0;
    sync->released.count = 0;
    snapshot(order, party, &sync->released);
    sync->released_scope = (uint8_t)scope;
    order->now++;
}

static uint64_t hash(uint64_t key) { return key * UINT64_C(0x9e3779b97f4a7c15) >> 20; }

static struct sync_variable *find_in(struct sync_variable *items, unsigned capacity, uint64_t key) {
    for (uint64_t at = hash(key);; at++) {
        struct sync_variable *one = &items[at & (capacity - 1)];
        if (!one->key || one->key == key)
            return one;
    }
}

/* NULL: nothing was released there, and it is not to be made. */
static struct sync_variable *variable_of(struct causality *order, uint64_t key, bool make) {
    unsigned capacity = order->variables.capacity;
    struct sync_variable *one = capacity ? find_in(order->variables.items, capacity, key) : NULL;
    if (one && one->key)
        return one;
    if (!make)
        return NULL;
    if (2 * order->variables.count >= capacity) {
        struct sync_variable *old = order->variables.items;
        order->variables.capacity = capacity ? 2 * capacity : 64;
        order->variables.items = ARENA_ARRAY(order->arena, struct sync_variable, order->variables.capacity);
        for (unsigned i = 0; i < capacity; i++)
            if (old[i].key)
                *find_in(order->variables.items, order->variables.capacity, old[i].key) = old[i];
    }
    one = find_in(order->variables.items, order->variables.capacity, key);
    one->key = key;
    order->variables.count++;
    return one;
}

/* what: what is released; NULL: all that the party knows now. */
static void add_release(struct causality *order, const struct party *party, struct sync_variable *variable,
                        enum scope scope, const struct known *what) {
    struct sync_release *to = NULL;
    for (unsigned i = 0; i < variable->count && !to; i++)
        if (variable->items[i].block == party->place->block && is_wide(variable->items[i].scope) == is_wide(scope))
            to = &variable->items[i];
    if (!to) {
        to = ARENA_PUSH(order->arena, variable);
        *to = (struct sync_release){.block = party->place->block, .scope = (uint8_t)scope};
    }
    if (what)
        known_join(order->arena, &to->known, what);
    else
        snapshot(order, party, &to->known);
}

void order_release(struct causality *order, const struct party *party, uint64_t key, const struct inst *inst,
                   bool replaces) {
    const bool releases = inst->order == ORDER_RELEASE || inst->order == ORDER_ACQ_REL || inst->order == ORDER_SC;
    const struct block_watch *place = party->place;
    const struct thread_sync *sync =
        place->syncs ? &place->syncs[party->thread - place->first_thread] : &(struct thread_sync){0};
    const bool has_fence = sync->released_scope != SCOPE_NONE, of_block = place->released.count != 0;
    struct sync_variable *variable = variable_of(order, key, releases || has_fence || of_block);
    if (!variable)
        return;
    if (replaces)
        variable->count = 0;
    if (releases || has_fence)
        add_release(order, party, variable, releases ? scope_of(inst) : narrower(scope_of(inst), sync->released_scope),
                    releases ? NULL : &sync->released);
    if (of_block && !releases)
        add_release(order, party, variable, scope_of(inst), &place->released);
    order->now += releases;
}

void order_acquire(struct causality *order, const struct party *party, uint64_t key, const struct inst *inst) {
    const struct sync_variable *variable = variable_of(order, key, false);
    if (!variable || !variable->count)
        return;
    const bool acquires = inst->order == ORDER_ACQUIRE || inst->order == ORDER_ACQ_REL || inst->order == ORDER_SC;
    struct thread_sync *sync = sync_of(order, party);
    for (unsigned i = 0; i < variable->count; i++) {
        const struct sync_release *from = &variable->items[i];
        const bool is_own = from->block == party->place->block;
        if (!is_own && !(is_wide(from->scope) && is_wide(scope_of(inst)))) {
            sync->narrow = true;
            continue;
        }
        known_join(order->arena, acquires ? &sync->foreign : is_own ? &sync->pending : &sync->wide, &from->known);
    }
}
