/* SPDX-License-Identifier: Apache-2.0 */
/* Each access is held against the cell's last write, and a write against the last reads. PTX ISA, memory consistency model:
 * two accesses of which one writes race unless one is ordered before the other, or both are strong and each is in the other's
 * scope. */
#include "check/race.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "check/known.h"
#include "exec/step.h"

/* One lane's access to one cell. */
struct racer {
    struct check *check;
    const struct check_site *site;
    const struct watch_access *access;
    struct party party;
    uint32_t flags;   /* enum trace_flag */
    uint32_t since;   /* traces up to then are of launches before, or of the block that had this shared memory before */
    uint32_t settled; /* and what traces up to then did comes before all that may follow */
    uint32_t written; /* what was written before then counts as written by nobody; 0: nobody asks */
    bool writes;
};

static bool is_strong(const struct inst *inst) { return inst->order != ORDER_WEAK || inst_is_atomic(inst); }

static uint32_t flags_of(const struct inst *inst) {
    const bool is_atomic = inst_is_atomic(inst);
    uint32_t flags = is_atomic ? TRACE_ATOMIC : 0;
    if (is_strong(inst))
        flags |= TRACE_STRONG | (inst->scope == SCOPE_NONE || inst->scope >= SCOPE_GPU ? TRACE_WIDE : 0);
    return flags;
}

/* ---- words ---- */

/* Number in its block of a thread, by its number in the launch. */
static uint32_t thread_of(const struct block_watch *place, uint32_t number) {
    return number % place->slots / LANES_MAX * place->warp_size + number % LANES_MAX;
}

static const char *missing_of(const struct racer *racer, const struct trace *before) {
    const struct block_watch *place = racer->party.place;
    const uint32_t other = before->thread - place->first_thread;
    const uint64_t block = before->thread / place->slots;
    const struct thread_sync *sync =
        place->syncs ? &place->syncs[racer->party.thread - place->first_thread] : &(struct thread_sync){0};
    if (known_covers(&sync->pending, block, before->thread, before->time) ||
        known_covers(&sync->wide, block, before->thread, before->time))
        return sync->narrow ? "a fence of device scope (__threadfence, membar.gl) where there is one of block scope: "
                              "the other thread is another block's"
                            : "a fence (__threadfence, membar) between the load of the flag and this access";
    const bool both_strong = (racer->flags & before->info >> TRACE_SHIFT & TRACE_STRONG) != 0;
    if (other >= place->slots)
        return sync->narrow || both_strong
                   ? "device scope: a fence or atomic of block scope does not order threads of different blocks"
                   : "an order between blocks: atomics, a flag with fences of device scope on both sides, or "
                     "two launches; a barrier holds for its block alone";
    if (other / LANES_MAX == racer->party.warp)
        return "__syncwarp() (bar.warp.sync) or a block barrier between them: lanes of a warp do not run in lockstep";
    return "a block barrier between them (__syncthreads(), barrier())";
}

/* The variable of shared memory there, or NULL where it is not known or several share the place. */
static const char *shared_name(const struct watch_issue *issue, uint64_t address) {
    const struct module *module = issue->linked->module;
    const char *name = NULL;
    for (unsigned i = 0; i < module->variable_count; i++) {
        const struct symbol *symbol = module->variables[i];
        if (symbol->space != SPACE_SHARED || address - symbol->offset >= symbol->bytes)
            continue;
        if (symbol->function && symbol->function != issue->linked->kernel)
            continue;
        if (name)
            return NULL;
        name = symbol->name;
    }
    return name;
}

static const char *place_text(const struct racer *racer, uint64_t address, char *out, size_t size) {
    const struct watch_issue *issue = racer->site->issue;
    if (racer->access->space == SPACE_SHARED) {
        const char *name = shared_name(issue, address);
        snprintf(out, size, "%u bytes at shared address 0x%" PRIx64 "%s%s%s", (unsigned)racer->access->bytes, address,
                 name ? " ('" : "", name ? name : "", name ? "')" : "");
        return out;
    }
    const struct allocation *found = memory_find(issue->memory, address);
    if (found)
        snprintf(out, size, "%u bytes at byte %" PRIu64 " of '%s'", (unsigned)racer->access->bytes,
                 address - found->start, found->name);
    else
        snprintf(out, size, "%u bytes at address 0x%" PRIx64, (unsigned)racer->access->bytes, address);
    return out;
}

/* A write that left the value as it was does no harm; an atomic one has read it, too, so what it read must have stayed. */
static bool leaves_value(const struct racer *racer, const struct trace *before, bool before_writes) {
    const uint32_t info = before->info >> TRACE_SHIFT;
    const bool before_silent = before_writes && info & TRACE_SILENT;
    if (!racer->writes)
        return before_silent;
    return racer->flags & TRACE_SILENT && (before_silent || !before_writes || !(racer->flags & TRACE_ATOMIC));
}

static const char *verb(bool is_atomic, bool writes) { return is_atomic ? "atomic" : writes ? "store" : "load"; }

static __attribute__((noinline)) void find_race(const struct racer *racer, const struct trace *before,
                                                bool before_writes) {
    struct check *check = racer->check;
    const bool is_same_value = leaves_value(racer, before, before_writes);
    const struct finding_key key = {FINDING_RACE, 0, before->info % SHADOW_PCS, is_same_value};
    bool is_new;
    struct finding *finding = finding_of(check, &key, racer->site, &is_new);
    if (!finding || !is_new)
        return;
    const struct block_watch *place = racer->party.place;
    char where[160], other[256];
    const bool other_atomic = (before->info >> TRACE_SHIFT & TRACE_ATOMIC) != 0;
    finding->has_other = true;
    finding->other = (struct finding_access){.pc = key.other_pc,
                                             .block = before->thread / place->slots,
                                             .thread = thread_of(place, before->thread),
                                             .is_write = before_writes,
                                             .is_atomic = other_atomic};
    finding->missing = missing_of(racer, before);
    if (racer->access->space == SPACE_GLOBAL)
        finding->allocation = allocation_of(check, racer->access->address[racer->site->lane]);
    finding->message = arena_printf(&check->arena, "%s of %s and the %s at %s are not ordered%s",
                                    verb(racer->flags & TRACE_ATOMIC, racer->writes),
                                    place_text(racer, racer->access->address[racer->site->lane], where, sizeof where),
                                    verb(other_atomic, before_writes),
                                    module_where(racer->site->issue->linked->module, key.other_pc, other, sizeof other),
                                    is_same_value ? "; the value stays the same" : "");
}

static __attribute__((noinline)) void find_unwritten(const struct racer *racer) {
    const bool is_shared = racer->access->space == SPACE_SHARED;
    const uint64_t address = racer->access->address[racer->site->lane];
    const struct finding_key key = {FINDING_UNINITIALISED, is_shared ? UNWRITTEN_SHARED : UNWRITTEN_GLOBAL, NO_PC,
                                    false};
    bool is_new;
    char where[160];
    struct finding *finding = finding_of(racer->check, &key, racer->site, &is_new);
    if (!finding || !is_new)
        return;
    finding->allocation = is_shared ? NULL : allocation_of(racer->check, address);
    finding->message =
        arena_printf(&racer->check->arena, "%s of %s, which %s written", verb(racer->flags & TRACE_ATOMIC, false),
                     place_text(racer, address, where, sizeof where),
                     is_shared ? "no thread of the block has" : "neither the host nor a kernel has");
}

/* Two volatile accesses to shared memory, each by several lanes of the same warp at once: they do not race by PTX's model, but
 * which comes first only lockstep says. A flag is written by one lane. */
static __attribute__((noinline)) void find_lockstep(const struct racer *racer, const struct trace *before,
                                                    bool before_writes) {
    const struct finding_key key = {FINDING_CONVERGENCE, WATCH_REFUSALS, before->info % SHADOW_PCS, false};
    bool is_new;
    char where[160], other[256];
    struct finding *finding = finding_of(racer->check, &key, racer->site, &is_new);
    if (!finding || !is_new)
        return;
    const struct block_watch *place = racer->party.place;
    finding->has_other = true;
    finding->other.block = before->thread / place->slots, finding->other.thread = thread_of(place, before->thread);
    finding->other.is_write = before_writes;
    finding->missing = "__syncwarp() (bar.warp.sync) between them: volatile does not make lanes of a warp wait";
    finding->message =
        arena_printf(&racer->check->arena, "volatile %s of %s and the %s at %s are ordered by lockstep alone",
                     verb(false, racer->writes),
                     place_text(racer, racer->access->address[racer->site->lane], where, sizeof where),
                     verb(false, before_writes),
                     module_where(racer->site->issue->linked->module, key.other_pc, other, sizeof other));
}

static bool counts_on_lockstep(const struct racer *racer, const struct trace *before, bool before_writes) {
    const struct block_watch *place = racer->party.place;
    const uint32_t info = before->info >> TRACE_SHIFT, both = racer->flags & info;
    const bool is_silent = racer->writes ? (racer->flags & TRACE_SILENT) != 0 : before_writes && info & TRACE_SILENT;
    return racer->check->options.barriers && both & TRACE_TOGETHER && !((racer->flags | info) & TRACE_ATOMIC) &&
           racer->access->space == SPACE_SHARED && !is_silent &&
           (before->thread - place->first_thread) / LANES_MAX == racer->party.warp;
}

/* ---- cells ---- */

/* The trace is another thread's, of this launch. */
static inline void compare(const struct racer *racer, const struct trace *before, bool before_writes) {
    const struct causality *order = &racer->check->order;
    if (order_knows(order, &racer->party, before->thread, before->time))
        return;
    const uint32_t both = racer->flags & before->info >> TRACE_SHIFT;
    const bool same_block = before->thread - racer->party.place->first_thread < racer->party.place->slots;
    if (both & TRACE_STRONG && (both & TRACE_WIDE || same_block)) {
        if (counts_on_lockstep(racer, before, before_writes))
            find_lockstep(racer, before, before_writes);
        return;
    }
    find_race(racer, before, before_writes);
}

/* The thread reads too. Two readers are kept, of different blocks or, else, warps where there are such. `settled`: reads up to
 * then come before whatever any thread that can come here does now. */
static inline void note_read(const struct block_watch *place, struct cell *cell, const struct trace *now,
                             uint32_t settled) {
    struct trace *last = &cell->read, *other = &cell->other;
    if (last->thread == now->thread || last->time <= settled) {
        *last = *now;
        return;
    }
    if (other->time <= settled || other->thread == now->thread) {
        *other = *last;
        *last = *now;
        return;
    }
    const bool near_last = last->thread - place->first_thread < place->slots;
    const bool near_other = other->thread - place->first_thread < place->slots;
    if (!near_last)
        *other = *last;
    else if (near_other && ((last->thread ^ other->thread) >= LANES_MAX || (last->thread ^ now->thread) < LANES_MAX))
        return; /* two warps are there already, or this one would be no other */
    *last = *now;
}

static void touch(const struct racer *racer, struct cell *cell) {
    const struct causality *order = &racer->check->order;
    const uint32_t since = racer->since;
    const struct trace now = {racer->party.thread, order->now, racer->site->issue->pc | racer->flags << TRACE_SHIFT};
    const bool is_races = racer->check->options.races;
    if (cell->write.thread != now.thread && cell->write.time > since && is_races)
        compare(racer, &cell->write, true);
    if (!racer->writes) {
        note_read(racer->party.place, cell, &now, racer->settled);
        return;
    }
    if (cell->read.thread != now.thread && cell->read.time > since && is_races)
        compare(racer, &cell->read, false);
    if (cell->other.thread != now.thread && cell->other.time > since && is_races)
        compare(racer, &cell->other, false);
    if (racer->flags & TRACE_SILENT && racer->flags & TRACE_ATOMIC) { /* polls: the write that they wait for stays */
        note_read(racer->party.place, cell, &now, racer->settled);
        return;
    }
    cell->write = now;
    cell->read.time = cell->other.time = 0;
}

/* Which address a fence and a flag speak of: of shared memory, that of its block. */
static uint64_t key_of(const struct block_watch *place, const struct watch_access *access, unsigned lane) {
    const uint64_t word = access->address[lane] / 4;
    return access->space == SPACE_SHARED ? UINT64_C(1) << 63 | place->block << 18 | word : word;
}

static inline struct cells cells_of(const struct racer *racer, unsigned lane) {
    const struct watch_access *access = racer->access;
    return access->space == SPACE_SHARED
               ? shadow_shared(&racer->check->launch, racer->party.place, access->address[lane], access->bytes)
               : shadow_global(&racer->check->shadow, access->address[lane], access->bytes);
}

/* One lane's access, whatever it is. */
static __attribute__((noinline)) void race_lane(struct racer *racer, struct check_site *site, unsigned lane) {
    struct check *check = racer->check;
    struct block_watch *place = racer->party.place;
    const struct watch_access *access = racer->access;
    const struct inst *inst = site->issue->inst;
    const uint32_t flags = racer->flags;
    const bool strong = is_strong(inst);
    const struct cells cells = cells_of(racer, lane);
    if (!cells.first)
        return;
    site->lane = lane;
    site->again = cells_words(&cells) - 1;
    racer->party = party_of(place, racer->party.warp, lane);
    racer->flags |= racer->writes && !(access->changed >> lane & 1) ? TRACE_SILENT : 0u;
    if (strong && !inst_only_stores(inst))
        order_acquire(&check->order, &racer->party, key_of(place, access, lane), inst);
    for (unsigned i = 0; i < cells.count; i++) {
        if (cells.first[i].write.time < racer->written && !inst_only_stores(inst))
            find_unwritten(racer);
        touch(racer, &cells.first[i]);
    }
    if (strong && racer->writes)
        order_release(&check->order, &racer->party, key_of(place, access, lane), inst, !inst_is_atomic(inst));
    racer->flags = flags;
    site->again = 0;
}

/* What is seen of a trace at a glance. */
struct glance {
    uint32_t settled, barrier_time, first_thread, slots;
};

static inline struct glance glance_of(const struct racer *racer) {
    const struct block_watch *place = racer->party.place;
    return (struct glance){racer->settled, place->barrier_time, place->first_thread, place->slots};
}

/* It is the thread's own, or comes before whatever that does now. */
static inline bool is_quiet(const struct glance *glance, const struct trace *before, uint32_t thread) {
    return before->time <= glance->settled || before->thread == thread ||
           (before->time <= glance->barrier_time && before->thread - glance->first_thread < glance->slots);
}

/* Weak loads, the most frequent: most find nothing, which is said without further ado. */
static void read_lanes(struct racer *racer, struct check_site *site) {
    const struct block_watch *place = racer->party.place;
    const struct glance glance = glance_of(racer);
    const uint32_t first = glance.first_thread + LANES_MAX * racer->party.warp, written = racer->written;
    const bool is_races = racer->check->options.races;
    struct trace now = {0, racer->check->order.now, site->issue->pc | racer->flags << TRACE_SHIFT};
    for (BITS_EACH(lane, racer->access->lanes)) {
        const struct cells cells = cells_of(racer, lane);
        bool is_fine = cells.first != NULL;
        now.thread = first + lane;
        for (unsigned i = 0; i < cells.count && is_fine; i++)
            is_fine = cells.first[i].write.time >= written &&
                      (!is_races || is_quiet(&glance, &cells.first[i].write, now.thread));
        if (!is_fine)
            race_lane(racer, site, lane);
        for (unsigned i = 0; i < cells.count && is_fine && is_races; i++)
            note_read(place, &cells.first[i], &now, glance.settled);
    }
}

/* Weak stores alike. */
static void write_lanes(struct racer *racer, struct check_site *site) {
    const struct glance glance = glance_of(racer);
    const uint32_t first = glance.first_thread + LANES_MAX * racer->party.warp, changed = racer->access->changed;
    const uint32_t info = site->issue->pc | racer->flags << TRACE_SHIFT;
    const bool is_races = racer->check->options.races;
    struct trace now = {0, racer->check->order.now, 0};
    for (BITS_EACH(lane, racer->access->lanes)) {
        const struct cells cells = cells_of(racer, lane);
        bool is_fine = cells.first != NULL;
        now.thread = first + lane;
        now.info = info | (changed >> lane & 1 ? 0 : (uint32_t)TRACE_SILENT << TRACE_SHIFT);
        for (unsigned i = 0; i < cells.count && is_fine && is_races; i++)
            is_fine = is_quiet(&glance, &cells.first[i].write, now.thread) &&
                      is_quiet(&glance, &cells.first[i].read, now.thread) &&
                      is_quiet(&glance, &cells.first[i].other, now.thread);
        if (!is_fine)
            race_lane(racer, site, lane);
        for (unsigned i = 0; i < cells.count && is_fine; i++) {
            cells.first[i].write = now;
            cells.first[i].read.time = cells.first[i].other.time = 0;
        }
    }
}

/* A program's memory, of which it is known what the host and kernels have written. */
static void use_holdings(struct racer *racer, struct check_site *site, bool reads) {
    struct holdings *holdings = &racer->check->holdings;
    const struct watch_access *access = racer->access;
    for (BITS_EACH(lane, access->lanes)) {
        if (!holdings_lack(holdings, access->address[lane], access->bytes))
            continue;
        site->lane = lane;
        if (reads)
            find_unwritten(racer);
        if (racer->writes)
            holdings_write(holdings, access->address[lane], access->bytes);
    }
}

void race_access(struct check *check, struct block_watch *place, const struct watch_issue *issue,
                 const struct watch_access *access) {
    const struct inst *inst = issue->inst;
    const bool is_shared = access->space == SPACE_SHARED, is_weak = !is_strong(inst);
    const bool asks_unwritten = is_shared && check->options.uninitialised && check->knows_writes;
    struct check_site site = {issue, 0, 0};
    struct racer racer = {.check = check,
                          .site = &site,
                          .access = access,
                          .party = party_of(place, issue->warp, 0),
                          .flags = flags_of(inst) | (access->lanes & (access->lanes - 1) ? TRACE_TOGETHER : 0u),
                          .since = is_shared ? place->start : check->order.launch_start,
                          .settled = is_shared ? place->barrier_time : check->order.launch_start,
                          .written = asks_unwritten ? place->start + 1 : 0,
                          .writes = !inst_only_loads(inst)};
    if (issue->pc >= SHADOW_PCS)
        return;
    if (!is_shared && check->holdings.pages.count && !check->holdings.lost && check->options.uninitialised)
        use_holdings(&racer, &site, inst->op != OP_ST);
    if (!check->options.races && !asks_unwritten) /* nobody asks who was there before */
        return;
    if (is_weak && !racer.writes)
        read_lanes(&racer, &site);
    else if (is_weak && inst_only_stores(inst))
        write_lanes(&racer, &site);
    else
        for (BITS_EACH(lane, access->lanes))
            race_lane(&racer, &site, lane);
}
