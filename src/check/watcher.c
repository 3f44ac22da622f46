/* SPDX-License-Identifier: Apache-2.0 */
/* What a check does when a launch tells it of accesses, barriers, fences and warp-level operations. */
#include <inttypes.h>
#include <string.h>

#include "check/race.h"
#include "check/state.h"
#include "exec/step.h"

/* Bulk copies, and cond_acc and st_snoop, which no GPU has, write and do not tell: then nobody knows what was not written. */
static bool tells_all_writes(const struct linked *linked) {
    for (uint32_t pc = 0; pc < linked->module->code_count; pc++) {
        const struct inst *inst = linked->steps[pc].inst; /* NULL: the kernel does not reach it */
        if (inst && (inst->op == OP_COND_ACC || inst->op == OP_ST_SNOOP || inst->op == OP_BULK))
            return false;
    }
    return true;
}

/* The block under way that the issue belongs to. */
static struct block_watch *place_of(struct check *check, const struct watch_issue *issue) {
    struct block_watch *place = *issue->place;
    const struct exec_launch *launch = issue->launch;
    if (!place) {
        place = ARENA_NEW(&check->launch, struct block_watch);
        place->threads = launch->block[0] * launch->block[1] * launch->block[2];
        place->warps = exec_warps_of(launch);
        place->warp_size = launch->warp_size;
        place->slots = LANES_MAX * place->warps;
        place->lanes = ARENA_ARRAY(&check->launch, uint32_t, (size_t)place->warps * LANES_MAX * LANES_MAX);
        place->pairs = ARENA_ARRAY(&check->launch, uint32_t, (size_t)place->warps * place->warps);
        for (unsigned i = 0; i < BARRIERS; i++)
            place->barriers[i].row = ARENA_ARRAY(&check->launch, uint32_t, place->warps);
        place->shared_bytes = issue->shared_bytes;
        place->block = UINT64_MAX;
        *issue->place = place;
        check->knows_writes = tells_all_writes(issue->linked);
        check->holdings.lost |= !check->knows_writes;
    }
    if (place->block != issue->block) {
        place->block = issue->block;
        place->first_thread = (uint32_t)(issue->block * place->slots);
        order_begin_block(&check->order, place);
    }
    return place;
}

static void on_access(void *self, const struct watch_issue *issue, const struct watch_access *access) {
    struct check *check = self;
    race_access(check, place_of(check, issue), issue, access);
}

static void on_meet(void *self, const struct watch_issue *issue, uint32_t lanes) {
    struct check *check = self;
    struct block_watch *place = place_of(check, issue);
    const unsigned left = place->threads - place->warp_size * issue->warp;
    const uint32_t all = bits_low(left < place->warp_size ? left : place->warp_size);
    order_meet(&check->order, place, issue->warp, lanes, lanes == all);
}

static void on_fence(void *self, const struct watch_issue *issue) {
    struct check *check = self;
    struct block_watch *place = place_of(check, issue);
    for (BITS_EACH(lane, issue->lanes)) {
        const struct party party = party_of(place, issue->warp, lane);
        order_fence(&check->order, &party, issue->inst);
    }
}

enum barrier_sort { BARRIER_DIVERGENT, BARRIER_ENDED };

static void find_barrier(struct check *check, const struct watch_issue *issue, enum barrier_sort sort,
                         const char *message) {
    const struct finding_key key = {FINDING_BARRIER, sort, NO_PC, false};
    const struct check_site at = {issue, bits_first(issue->lanes), 0};
    bool is_new;
    struct finding *finding = finding_of(check, &key, &at, &is_new);
    if (finding && is_new)
        finding->message = message;
}

static void on_arrive(void *self, const struct watch_issue *issue, unsigned barrier, uint32_t absent) {
    struct check *check = self;
    struct block_watch *place = place_of(check, issue);
    check->waits = place, check->waits_barrier = barrier;
    const struct comers comers = {issue->warp, barrier, issue->lanes};
    order_arrive(&check->order, place, &comers, issue->inst->mode == MODE_ARRIVE);
    place->barriers[barrier].pc = issue->pc;
    if (absent && issue->inst->flags & FLAG_ALIGNED && check->options.barriers)
        find_barrier(check, issue, BARRIER_DIVERGENT,
                     arena_printf(&check->arena,
                                  "barrier %u is reached by lanes 0x%08x of a warp without lanes 0x%08x: it stands in "
                                  "divergent code",
                                  barrier, (unsigned)issue->lanes, (unsigned)absent));
}

static void on_leave(void *self, const struct watch_issue *issue, unsigned barrier, uint32_t alive) {
    struct check *check = self;
    struct block_watch *place = place_of(check, issue);
    bool is_full;
    const struct comers comers = {issue->warp, barrier, issue->lanes};
    const bool is_first = order_leave(&check->order, place, &comers, alive, &is_full);
    if (is_first && is_full && alive < place->threads && check->options.all_must_come && check->options.barriers)
        find_barrier(check, issue, BARRIER_ENDED,
                     arena_printf(&check->arena,
                                  "%u of %u work-items of the group have ended and never reach barrier %u",
                                  place->threads - alive, place->threads, barrier));
}

static void on_refuse(void *self, const struct watch_issue *issue, unsigned lane, enum watch_refusal why,
                      const char *message) {
    struct check *check = self;
    const bool of_warps = inst_is_of_warps(issue->inst), of_barriers = issue->inst->op == OP_BAR;
    const enum finding_kind kind = why < WATCH_NOT_NAMED ? FINDING_MEMORY
                                   : of_warps            ? FINDING_CONVERGENCE
                                   : of_barriers         ? FINDING_BARRIER
                                                         : FINDING_STOPPED;
    check->stopped_here |= why == WATCH_STOPPED;
    if (kind == FINDING_MEMORY && !check->options.memory)
        return;
    const struct finding_key key = {kind, (unsigned)why, NO_PC, false};
    const struct check_site at = {issue, lane, 0};
    bool is_new;
    struct finding *finding = finding_of(check, &key, &at, &is_new);
    if (!finding || !is_new)
        return;
    finding->message = arena_strdup(&check->arena, message);
    if (why == WATCH_OUTSIDE)
        finding->allocation = allocation_of(check, issue->refused_at);
}

static void on_unwritten(void *self, const struct watch_issue *issue, unsigned lane, enum watch_use use) {
    static const char *const uses[] = {"a branch or what a predicate guards", "an address", "what is stored"};
    struct check *check = self;
    const struct finding_key key = {FINDING_UNINITIALISED, UNWRITTEN_VALUE + (unsigned)use, NO_PC, false};
    const struct check_site at = {issue, lane, 0};
    bool is_new;
    struct finding *finding = finding_of(check, &key, &at, &is_new);
    if (finding && is_new)
        finding->message =
            arena_printf(&check->arena, "%s depends on a register or local memory that the thread has not written",
                         uses[use]);
}

static void on_written(void *self, uint64_t address, uint64_t bytes) {
    struct check *check = self;
    holdings_write(&check->holdings, address, bytes);
}

static void on_copied(void *self, uint64_t to, uint64_t from, uint64_t bytes) {
    struct check *check = self;
    holdings_copy(&check->holdings, to, from, bytes);
}

struct check *check_create(const struct check_options *options) {
    struct arena arena = {0};
    struct check *check = ARENA_NEW(&arena, struct check);
    check->arena = arena;
    check->options = *options;
    check->launches = options->launches;
    check->order = (struct causality){.arena = &check->launch, .now = 1};
    check->watch = (struct exec_watch){.self = check,
                                       .accesses = options->races || options->uninitialised || options->barriers,
                                       .access = on_access,
                                       .meet = on_meet,
                                       .fence = on_fence,
                                       .arrive = on_arrive,
                                       .leave = on_leave,
                                       .registers = options->uninitialised,
                                       .refuse = on_refuse,
                                       .unwritten = on_unwritten};
    check->listener = (struct memory_listener){.self = check, .written = on_written, .copied = on_copied};
    return check;
}

void check_free(struct check *check) {
    struct arena arena = check->arena;
    shadow_free(&check->shadow);
    holdings_close(&check->holdings);
    arena_free(&check->launch);
    arena_free(&arena);
}

const struct exec_watch *check_watch(struct check *check) { return &check->watch; }
const struct memory_listener *check_listener(struct check *check) { return &check->listener; }

void check_all_must_come(struct check *check, bool all_must_come) { check->options.all_must_come = all_must_come; }

void check_begin(struct check *check) {
    enum { TIME_MAX = 1 << 30 };
    arena_reset(&check->launch);
    check->launches++;
    if (check->order.now > TIME_MAX) { /* all that was is ordered before the launch: time begins anew */
        shadow_free(&check->shadow);
        check->shadow = (struct shadow){0};
        check->order.now = 1;
    }
    check->order.variables.items = NULL;
    check->order.variables.count = check->order.variables.capacity = 0;
    check->order.launch_start = check->order.now++;
    check->stopped_here = false;
    check->waits = NULL;
}
