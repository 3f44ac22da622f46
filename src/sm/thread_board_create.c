/* SPDX-License-Identifier: Apache-2.0 */
/* The scoreboard by thread (thread_board.c) is made. */
#include "sm/flight.h"
#include "sm/regroup.h"

static bool has_fences(const struct sm *sm) {
    for (uint32_t pc = 0; pc < sm->module->code_count; pc++)
        if (sm->timed[pc].order == ORDER_FENCE)
            return true;
    return false;
}

struct thread_board *sm_board_create(struct sm *sm) {
    struct thread_board *board = ARENA_NEW(sm->arena, struct thread_board);
    const size_t warps = sm->warp_count, threads = warps * LANES_MAX;
    board->registers = sm->register_words * 64;
    board->words = ARENA_ARRAY(sm->arena, uint64_t, warps * sm->register_words);
    board->marked = ARENA_ARRAY(sm->arena, uint32_t, warps);
    board->lanes = ARENA_ARRAY(sm->arena, struct lanes_pending, warps * board->registers);
    board->tracked = ARENA_ARRAY(sm->arena, uint32_t, FLIGHTS_MAX);
    board->groups = ARENA_ARRAY(sm->arena, struct board_group, FLIGHTS_MAX);
    board->next = ARENA_ARRAY(sm->arena, uint32_t, threads);
    board->from = ARENA_ARRAY(sm->arena, uint8_t, threads);
    board->fences = has_fences(sm);
    board->memory = ARENA_ARRAY(sm->arena, struct lane_counts, board->fences ? warps : 1);
    board->atomics = ARENA_ARRAY(sm->arena, struct lane_counts, warps);
    board->away = ARENA_ARRAY(sm->arena, struct board_away, warps);
    board->troop_of = ARENA_ARRAY(sm->arena, uint8_t, threads);
    board->troops = arena_alloc_aligned(sm->arena, TROOPS_MAX * sizeof *board->troops, 64);
    for (unsigned i = 0; i < TROOPS_MAX; i++)
        board->troops[i] =
            (struct board_troop){.pending = ARENA_ARRAY(sm->arena, struct sm_pending, sm->register_words),
                                 .free = i + 1 < TROOPS_MAX ? i + 1 : NO_TROOP};
    board->guards = ARENA_ARRAY(sm->arena, uint16_t, threads * sm->guards.count);
    return board;
}
