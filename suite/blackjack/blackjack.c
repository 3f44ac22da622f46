/* SPDX-License-Identifier: Apache-2.0 */
/* Host side of blackjack: the same shuffles, but hands are lists of cards whose worth is found by trying all values of the
 * aces, and the player looks the strategy up in the chart that players learn. */
#include "workload.h"

#include <string.h>

enum { BLOCK = 256, DECK = 52, CUT = 17, LONGEST = 22 };

struct hand {
    uint32_t cards, ranks[LONGEST]; /* 0..12: 2..10, jack, queen, king, ace */
};

/* The most that the hand can be worth without exceeding 21, or the least if it must; *soft: with an ace worth 11. */
static int value_hand(const struct hand *h, bool *soft) {
    int hard = 0, aces = 0;
    for (uint32_t i = 0; i < h->cards; i++) {
        const uint32_t rank = h->ranks[i];
        hard += rank == 12 ? 1 : rank > 8 ? 10 : (int)rank + 2;
        aces += rank == 12;
    }
    for (int elevens = aces; elevens > 0; elevens--)
        if (hard + 10 * elevens <= 21) {
            *soft = true;
            return hard + 10 * elevens;
        }
    *soft = false;
    return hard;
}

/* The chart: rows are totals, columns the dealer's card 2..10 and ace; h: hit, s: stand, d: double with two cards, else hit,
 * D: double with two cards, else stand. */
static char look_up(int total, bool soft, uint32_t upcard_rank) {
    static const char hard[][11] = {
        [9] = "hddddhhhhh",  [10] = "ddddddddhh", [11] = "dddddddddh", [12] = "hhssshhhhh", [13] = "ssssshhhhh",
        [14] = "ssssshhhhh", [15] = "ssssshhhhh", [16] = "ssssshhhhh", [17] = "ssssssssss", [21] = "ssssssssss",
    };
    static const char with_ace[][11] = {
        [12] = "hhhhhhhhhh", [16] = "hhdddhhhhh", [17] = "hhdddhhhhh", [18] = "ssDDDsshhh", [19] = "ssssssssss",
    };
    const uint32_t column = upcard_rank == 12 ? 9 : upcard_rank > 8 ? 8 : upcard_rank;
    if (soft)
        return with_ace[total < 16 ? 12 : total > 19 ? 19 : total][column];
    return total < 9 ? 'h' : hard[total > 17 ? 17 : total][column];
}

struct table {
    uint32_t random, left;
    uint8_t deck[DECK];
};

static void shuffle(struct table *t) {
    for (uint32_t i = DECK - 1; i > 0; i--) {
        t->random ^= t->random << 13;
        t->random ^= t->random >> 17;
        t->random ^= t->random << 5;
        const uint32_t j = (uint32_t)((uint64_t)t->random * (i + 1) >> 32);
        const uint8_t card = t->deck[i];
        t->deck[i] = t->deck[j];
        t->deck[j] = card;
    }
    t->left = DECK;
}

static void draw(struct table *t, struct hand *h) { h->ranks[h->cards++] = t->deck[--t->left] % 13; }

/* Gain in half stakes. */
static int play(struct table *t) {
    struct hand player = {0}, dealer = {0};
    bool soft;
    int stake = 2;
    draw(t, &player);
    draw(t, &dealer);
    draw(t, &player);
    draw(t, &dealer);
    const int dealt = value_hand(&dealer, &soft);
    if (value_hand(&player, &soft) == 21)
        return dealt == 21 ? 0 : 3;
    for (bool going = true; going;) {
        const int total = value_hand(&player, &soft);
        const char action = look_up(total, soft, dealer.ranks[0]);
        const bool twice = (action == 'd' || action == 'D') && player.cards == 2;
        going = action == 'h' || action == 'd' || twice;
        if (going)
            draw(t, &player);
        if (twice) {
            stake = 4;
            going = false;
        }
    }
    const int total = value_hand(&player, &soft);
    if (total > 21 || dealt == 21)
        return -stake;
    while (value_hand(&dealer, &soft) < 17)
        draw(t, &dealer);
    const int bank = value_hand(&dealer, &soft);
    return bank > 21 || bank < total ? stake : bank > total ? -stake : 0;
}

static void blackjack(struct workload *w) {
    const uint32_t threads = (uint32_t[]){512, 1024, 1024}[w->size], hands = (uint32_t[]){4, 96, 512}[w->size];
    uint32_t *seeds = WORKLOAD_NEW(w, uint32_t, threads);
    uint32_t *got = WORKLOAD_NEW(w, uint32_t, 4 * threads), *expected = WORKLOAD_NEW(w, uint32_t, 4 * threads);
    struct random r = {21};
    for (uint32_t i = 0; i < threads; i++)
        seeds[i] = 1 + random_below(&r, UINT32_MAX); /* never 0 */
    cl_mem from = workload_buffer(w, threads * sizeof *seeds, seeds);
    cl_mem to = workload_buffer(w, 4 * threads * sizeof *got, NULL);
    const size_t block = workload_warp_block(w, "blackjack", BLOCK, threads);
    workload_launch(w, "blackjack", 1, (size_t[]){threads}, &block, ARGUMENT(from), ARGUMENT(to), ARGUMENT(hands),
                    LOCAL_BYTES(block * DECK));
    workload_read(w, to, 4 * threads * sizeof *got, got);
    for (uint32_t i = 0; i < threads; i++) {
        struct table t = {.random = seeds[i]};
        uint32_t *of = expected + 4 * i;
        for (uint32_t card = 0; card < DECK; card++)
            t.deck[card] = (uint8_t)card;
        for (uint32_t hand = 0; hand < hands; hand++) {
            if (t.left < CUT)
                shuffle(&t);
            const int gain = play(&t);
            of[gain > 0 ? 0 : gain < 0 ? 1 : 2]++;
            of[3] += (uint32_t)gain;
        }
    }
    workload_equal_u32(w, "won, lost, pushed, gain", got, expected, 4 * threads);
}

int main(int argc, char **argv) { return workload_main(argc, argv, "blackjack", NULL, blackjack); }
