/* SPDX-License-Identifier: Apache-2.0 */
/* The scoreboard by thread (thread_board.c): groups warp by warp, and which registers of which lanes wait for a write. */
#ifndef HEDDLE_SM_THREAD_BOARD_H
#define HEDDLE_SM_THREAD_BOARD_H

#include "simt/threads_warps.h"
#include "sm/regroup.h"

/* ---- groups by warps ---- */

/* The lanes at home of these lanes' threads, all of one warp. */
static inline uint32_t board_find_home(const uint16_t *threads, uint32_t lanes) {
    uint32_t home = 0;
    for (BITS_EACH(lane, lanes))
        home |= UINT32_C(1) << threads[lane] % LANES_MAX;
    return home;
}

static inline void board_divide(struct board_group *group, const uint16_t *threads, uint32_t lanes) {
    group->in_place = threads_all_in_place(threads, LANES_MAX, lanes);
    group->count = 0;
    if (bits_is_power_of_two(lanes)) {
        const unsigned thread = threads[bits_first(lanes)];
        group->parts[group->count++] = (struct board_part){UINT32_C(1) << thread % LANES_MAX, thread / LANES_MAX};
        return;
    }
    const struct threads_warps warps = threads_find_warps(threads, LANES_MAX);
    for (uint32_t rest = lanes, here; rest; rest &= ~here) {
        const unsigned warp = threads[bits_first(rest)] / LANES_MAX;
        here = rest & threads_in_warp(&warps, warp);
        group->parts[group->count++] =
            (struct board_part){group->in_place ? here : board_find_home(threads, here), warp};
    }
}

/* Of these lanes of the group those whose threads the part has; as lanes of their warp. */
static inline uint32_t board_home_of(const struct board_group *group, const struct board_part *part,
                                     const uint16_t *threads, uint32_t lanes) {
    if (group->in_place)
        return lanes & part->home;
    return board_find_home(threads, lanes & threads_of(threads, part->warp, LANES_MAX));
}

/* And back: of these lanes of the group those whose threads are these of the part. */
static inline uint32_t board_lanes_of(const struct board_group *group, const struct board_part *part,
                                      const uint16_t *threads, uint32_t lanes, uint32_t home) {
    uint32_t with = 0;
    if (group->in_place)
        return lanes & home;
    for (BITS_EACH(lane, lanes & threads_of(threads, part->warp, LANES_MAX)))
        with |= (home >> threads[lane] % LANES_MAX & 1) << lane;
    return with;
}

/* ---- registers ---- */

static inline struct lanes_pending *board_masks(const struct sm *sm, unsigned w, unsigned word) {
    const struct thread_board *board = sm->regroup->board;
    return board->lanes + (size_t)w * board->registers + (size_t)word * 64;
}

static inline uint64_t *board_word(const struct sm *sm, unsigned w, unsigned word) {
    return &sm->regroup->board->words[(size_t)w * sm->register_words + word];
}

/* Some lane waits for these registers. */
static inline void board_mark(struct sm *sm, unsigned w, unsigned word, uint64_t registers) {
    uint64_t *marks = board_word(sm, w, word);
    sm->regroup->board->marked[w] += !*marks;
    *marks |= registers;
}

static inline void board_set(struct sm *sm, unsigned w, const struct timed_word *word, uint32_t lanes, bool memory) {
    if (!word->written)
        return;
    board_mark(sm, w, word->word, word->written);
    lanes_set(board_masks(sm, w, word->word), word->written, lanes, memory);
}

static inline void board_clear(struct sm *sm, unsigned w, const struct timed_word *word, uint32_t lanes) {
    uint64_t *marks = board_word(sm, w, word->word);
    const uint64_t before = *marks;
    *marks &= ~lanes_clear(board_masks(sm, w, word->word), word->written, lanes);
    sm->regroup->board->marked[w] -= before && !*marks;
}

static inline struct timed_word board_first_word(const struct timed *timed) {
    return (struct timed_word){timed->word, timed->all, timed->written};
}

/* Do some of these lanes of the warp wait for a register? */
static inline bool board_waits(const struct sm *sm, unsigned w, uint32_t lanes) {
    uint32_t marked = sm->regroup->board->marked[w], any = 0;
    for (unsigned word = 0; marked; word++) {
        const uint64_t registers = *board_word(sm, w, word);
        marked -= registers != 0;
        for (uint64_t rest = registers; rest; rest &= rest - 1)
            any |= board_masks(sm, w, word)[bits_first64(rest)].any;
    }
    return (any & lanes) != 0;
}

/* What the troop waits for in the word each of its threads waits for. */
static inline void board_hand_over(struct sm *sm, struct board_troop *troop, unsigned word) {
    const struct board_group *group = &troop->group;
    const struct sm_pending pending = troop->pending[word];
    troop->pending[word] = (struct sm_pending){0, 0};
    if (!pending.any)
        return;
    for (const struct board_part *part = group->parts; part < group->parts + group->count; part++) {
        board_mark(sm, part->warp, word, pending.any);
        lanes_set(board_masks(sm, part->warp, word), pending.any & ~pending.memory, part->home, false);
        lanes_set(board_masks(sm, part->warp, word), pending.any & pending.memory, part->home, true);
    }
}

/* Words of the scoreboard in which the instruction writes, as struct board_troop has them. */
static inline uint64_t board_words_of(const struct timed *timed) {
    uint64_t words = timed->written ? UINT64_C(1) << timed->word % 64 : 0;
    for (unsigned i = 0; i < timed->more_count; i++)
        words |= UINT64_C(1) << timed->more[i].word % 64;
    return words;
}

/* One more of each of these lanes, or one less. */
static inline void board_count_lanes(struct lane_counts *counts, uint32_t lanes, bool more) {
    for (unsigned i = 0; lanes; i++) {
        const uint32_t carry = lanes & (more ? counts->bits[i] : ~counts->bits[i]);
        counts->bits[i] ^= lanes;
        lanes = carry;
    }
}

static inline uint32_t board_lanes_counted(const struct lane_counts *counts) {
    uint32_t lanes = 0;
    for (unsigned i = 0; i < COUNT_BITS; i++)
        lanes |= counts->bits[i];
    return lanes;
}

static inline void board_count_memory(struct sm *sm, unsigned w, uint32_t lanes, bool atomic, bool more) {
    struct thread_board *board = sm->regroup->board;
    if (board->fences)
        board_count_lanes(&board->memory[w], lanes, more);
    if (!atomic)
        return;
    board->atomics_out += more ? bits_count(lanes) : -bits_count(lanes);
    board_count_lanes(&board->atomics[w], lanes, more);
}

/* Lanes of the warp for which memory must be quieter before the instruction. */
static inline uint32_t board_unordered(const struct sm *sm, unsigned w, const struct timed *timed) {
    const struct thread_board *board = sm->regroup->board;
    if (timed->order == ORDER_FENCE)
        return board_lanes_counted(&board->memory[w]);
    if (!board->atomics_out || (timed->order != ORDER_AFTER_ATOMICS && timed->order != ORDER_COPY))
        return 0;
    return board_lanes_counted(&board->atomics[w]);
}

/* Lanes of the warp, among these, that the instruction waits for. */
static inline struct lanes_pending board_pending(const struct sm *sm, unsigned w, uint32_t lanes,
                                                 const struct timed *timed) {
    struct lanes_pending sum = {0, 0};
    lanes_add(board_masks(sm, w, timed->word), *board_word(sm, w, timed->word) & timed->all, &sum);
    for (unsigned i = 0; i < timed->more_count; i++) {
        const struct timed_word *word = &timed->more[i];
        lanes_add(board_masks(sm, w, word->word), *board_word(sm, w, word->word) & word->all, &sum);
    }
    const uint32_t unordered = timed->order == ORDER_NONE ? 0 : board_unordered(sm, w, timed);
    return (struct lanes_pending){(sum.any | unordered) & lanes, (sum.memory | unordered) & lanes};
}

#endif
