/* Blackjack: a thread is a table with one player, one dealer and a deck of 52 cards in local memory, and plays its hands
 * one after another. The player follows a fixed strategy (hit, stand or double), the dealer draws to 17 and stands on a
 * soft 17. The deck is shuffled when few cards are left. */
#define DECK 52
#define CUT 17 /* the two longest hands take 16 cards */

uint next_random(uint x) { /* xorshift32 (Marsaglia 2003) */
    x ^= x << 13;
    x ^= x >> 17;
    return x ^ x << 5;
}

/* Card 0..51 is worth 2..10, 10 for jack, queen and king, 11 for an ace. */
int worth(uint card) {
    const int rank = card % 13;
    if (rank == 12)
        return 11;
    return rank < 8 ? rank + 2 : 10;
}

/* Adds a card to a hand: an ace counts 11 as long as the hand does not exceed 21 with it. */
void take(uint card, int *total, int *soft) {
    const int value = worth(card);
    *total += value;
    if (value == 11)
        ++*soft;
    while (*total > 21 && *soft > 0) {
        *total -= 10;
        --*soft;
    }
}

bool wants_card(int total, int soft, int upcard) {
    if (soft)
        return total <= 17 || (total == 18 && upcard >= 9);
    if (total <= 11)
        return true;
    if (total == 12)
        return upcard < 4 || upcard > 6;
    return total <= 16 && upcard > 6;
}

bool wants_double(int total, int soft, int upcard) {
    if (soft)
        return total >= 16 && total <= 18 && upcard >= 4 && upcard <= 6;
    if (total == 11)
        return upcard <= 10;
    if (total == 10)
        return upcard <= 9;
    return total == 9 && upcard >= 3 && upcard <= 6;
}

/* results: of every thread hands won, lost, pushed, and what the player has gained in half stakes. */
kernel void blackjack(global const uint *seeds, global int4 *results, uint hands, local uchar *decks) {
    local uchar *deck = decks + get_local_id(0) * DECK; /* 13 words: the same card of all decks lies in different banks */
    uint random = seeds[get_global_id(0)], left = 0;
    int4 result = 0;
    for (uint i = 0; i < DECK; i++)
        deck[i] = (uchar)i;
    for (uint hand = 0; hand < hands; hand++) {
        if (left < CUT) {
            for (uint i = DECK - 1; i > 0; i--) {
                random = next_random(random);
                const uint j = mul_hi(random, i + 1);
                const uchar card = deck[i];
                deck[i] = deck[j];
                deck[j] = card;
            }
            left = DECK;
        }
        int player = 0, player_soft = 0, dealer = 0, dealer_soft = 0, stake = 2;
        take(deck[--left], &player, &player_soft);
        take(deck[--left], &dealer, &dealer_soft);
        take(deck[--left], &player, &player_soft);
        const int upcard = dealer;
        const uint hidden = deck[--left];
        int gain;
        if (player == 21) { /* a natural: at once, and half as much again unless the dealer has one */
            take(hidden, &dealer, &dealer_soft);
            gain = dealer == 21 ? 0 : 3;
        } else {
            if (wants_double(player, player_soft, upcard)) {
                stake = 4;
                take(deck[--left], &player, &player_soft);
            } else {
                while (wants_card(player, player_soft, upcard))
                    take(deck[--left], &player, &player_soft);
            }
            if (player > 21) {
                gain = -stake;
            } else {
                take(hidden, &dealer, &dealer_soft);
                const bool natural = dealer == 21;
                while (dealer < 17)
                    take(deck[--left], &dealer, &dealer_soft);
                if (natural || (dealer <= 21 && dealer > player))
                    gain = -stake;
                else
                    gain = dealer == player ? 0 : stake;
            }
        }
        if (gain > 0)
            result.x++;
        else if (gain < 0)
            result.y++;
        else
            result.z++;
        result.w += gain;
    }
    results[get_global_id(0)] = result;
}
// SPDX-License-Identifier: Apache-2.0
